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

mod commands;
mod engine;
mod facts;
mod hook;
mod host;
mod policy;
mod replay;
mod state;
mod world;

pub use commands::main;
pub use engine::{Decided, decide};
pub use facts::session::{ModeEnding, ModeState, Session};
pub use facts::verdict::{Decision, Finding, Outcome, Truth, Verdict};
pub use facts::{Answer, FactSource, Facts, Question, RecordedAnswers, Unknown};
pub use hook::{HookAnswer, Reply, answer, reply};
pub use host::event::{Event, EventError, EventKind};
pub use host::ids::{AgentName, GateId, SessionId};
pub use policy::mode::Catalogue;
pub use state::journal::JournalLine;

use std::path::Path;

/// Loads the modes and settings of a project, trusted or not, with the built-in modes.
#[must_use]
pub fn load_modes(project: &Path) -> Catalogue {
    state::mode_cache::sources(&state::user_folder::project_paths(project.to_owned())).catalogue()
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
    pub use crate::commands::starter::FILES;
    pub use crate::facts::{ChangeKind, CommitState, GitChange, frontmatter, frontmatter_of};
    pub use crate::hook::answer_in;
    pub use crate::host::event::{TABLE, Trigger};
    pub use crate::host::hook_entries::{
        PROJECT_COMMAND, SettingsScope, plugin_hooks, required_events, with_entries, without_entries,
    };
    pub use crate::host::transcript::{conversation_text, latest_assistant_text};
    pub use crate::policy::check::KINDS;
    pub use crate::policy::gallery::GALLERY;
    pub use crate::policy::mode::{GATE, Gate, MODE, PHASE};
    pub use crate::policy::settings::{Level, Settings};
    pub use crate::policy::yaml::Location;
    pub use crate::replay::change::DecisionChange;
    pub use crate::replay::inferred::InferredFacts;
    pub use crate::replay::recording::Header;
    pub use crate::replay::redecision::decide_line;
    pub use crate::replay::report::html::page;
    pub use crate::replay::scenario::{Scenario, ScenarioContext, ScenarioStep, StepOutput};
    pub use crate::replay::transcript::{RebuiltSession, SkipReason, SubagentInfo, TranscriptFile, rebuild};
    pub use crate::state::journal::{masked as masked_session, redacted};
    pub use crate::state::journal_files::{journals, lines};
    pub use crate::state::store::{StateStatus, StateSummary};
    pub use crate::state::user_folder::{project_paths, project_paths_in};
    pub use crate::world::now;
    pub use shell_effects::{ExecContext, effects};
}
