//! Makes Claude Code follow your workflow: reads hook events, decides them by modes, and renders the replies.
//!
//! An [`Event`] comes in; the [`Catalogue`] has the modes; [`decide`] asks the [`Facts`] and returns a [`Decided`] with
//! the [`Session`] after the event; [`reply`] renders it for the host. [`answer`] does all of this for a project on
//! disk, as `modegate hook` does. [`redecide`] replays a line of a journal. With a [`Scenario`], a test harness of your own
//! plays the files that `modegate replay` plays.
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
/// Built for `fuzz/` only, which cannot reach what it tries otherwise.
#[cfg(any(test, fuzzing))]
#[path = "../fuzz/properties.rs"]
pub mod properties;
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
pub use replay::scenario::{Scenario, ScenarioContext, ScenarioStep, StepOutput};
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
