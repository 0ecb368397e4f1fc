//! Makes Claude Code follow your workflow: reads hook events, decides them by modes, and renders the replies.
//!
//! An [`Event`] comes in; the [`Catalogue`] has the modes; [`decide`] asks the [`Facts`] and returns a [`Decided`] with
//! the [`Session`] after the event; [`reply`] renders it for the host. [`answer`] does all of this for a project on
//! disk, as `modegate hook` does. [`redecide`] replays a line of a journal.
//!
//! ```
//! use modegate::{Catalogue, Event, Facts, RecordedAnswers, Session, decide, reply};
//!
//! let event = br#"{"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "/plan a login page"}"#;
//! let event = Event::parse(event)?;
//! let modes = Catalogue::compose(None, &[]);
//! let source = RecordedAnswers::default();
//! let decided = decide(&event, &modes, &Session::default(), &Facts::new(&source));
//! assert!(decided.session.is_active("plan_mode"));
//! assert_eq!(reply(&event, &decided.decision, &decided.findings).exit, 0);
//! # Ok::<(), modegate::EventError>(())
//! ```
//!
//! `docs/ARCHITECTURE.md` describes the modules.

mod check;
mod cli;
mod engine;
mod event;
mod facts;
mod gallery;
mod hook;
mod hook_entries;
mod ids;
mod installation;
mod journal;
mod journal_files;
mod live;
mod mode;
mod mode_cache;
mod paths;
mod project_commands;
mod replay;
mod runners;
mod session;
mod settings;
mod starter;
mod store;
mod tool_effects;
mod transcript;
mod trust;
mod user_folder;
mod verdict;
mod yaml;

use base::{crash, disk, printable, process, screen, template};
use shell_effects as shell;

pub use cli::main;
pub use engine::{Decided, decide};
pub use event::{Event, EventError, EventKind};
pub use facts::{Answer, FactSource, Facts, Question, RecordedAnswers, Unknown};
pub use hook::{HookAnswer, Reply, answer, reply};
pub use ids::{AgentName, GateId, SessionId};
pub use journal::JournalLine;
pub use mode::Catalogue;
pub use session::{ModeEnding, ModeState, Session};
pub use verdict::{Decision, Finding, Outcome, Truth, Verdict};

use std::path::Path;

/// Loads the modes and settings of a project, trusted or not, with the built-in modes.
#[must_use]
pub fn load_modes(project: &Path) -> Catalogue {
    mode_cache::sources(&user_folder::project_paths(project.to_owned())).catalogue()
}

/// Decides a line of a journal again, with its own session and recorded answers.
///
/// # Errors
///
/// When the line has no valid event.
pub fn redecide(line: &JournalLine, modes: &Catalogue) -> Result<Decided, EventError> {
    let event = Event::from_value(line.event.clone())?;
    let source = RecordedAnswers::new(line.asked.clone());
    Ok(decide(&event, modes, &line.before, &Facts::new(&source)))
}

/// For this repository's own tests; not part of the public interface.
#[doc(hidden)]
pub mod internals {
    pub use crate::check::KINDS;
    pub use crate::event::{TABLE, Trigger};
    pub use crate::facts::{ChangeKind, CommitState, GitChange, frontmatter, frontmatter_of};
    pub use crate::gallery::GALLERY;
    pub use crate::hook::answer_in;
    pub use crate::hook_entries::{
        PROJECT_COMMAND, SettingsScope, plugin_hooks, required_events, with_entries, without_entries,
    };
    pub use crate::journal::{masked as masked_session, redacted};
    pub use crate::journal_files::{journals, lines};
    pub use crate::live::now;
    pub use crate::mode::{GATE, Gate, MODE, PHASE};
    pub use crate::replay::change::DecisionChange;
    pub use crate::replay::inferred::InferredFacts;
    pub use crate::replay::line::RecordedLine;
    pub use crate::replay::record::recording::Header;
    pub use crate::replay::redecision::Redecision;
    pub use crate::replay::report::html::page;
    pub use crate::replay::scenario::{Scenario, ScenarioContext, ScenarioStep, StepOutput};
    pub use crate::replay::transcript::{RebuiltSession, SkipReason, SubagentInfo, TranscriptFile, rebuild};
    pub use crate::settings::{Level, Settings};
    pub use crate::shell::{ExecContext, effects};
    pub use crate::starter::FILES;
    pub use crate::store::{StateStatus, StateSummary};
    pub use crate::transcript::{conversation_text, latest_assistant_text};
    pub use crate::user_folder::{project_paths, project_paths_in};
    pub use crate::yaml::Location;
}
