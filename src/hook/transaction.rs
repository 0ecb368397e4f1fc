//! Decides an event and stores the session: without a lock first, and again if another process changed the state meanwhile.

use super::event_run::EventRun;
use super::notices::Notices;
use super::project::HooksFolder;
use crate::engine::{Decided, decide};
use crate::facts::Facts;
use crate::facts::session::{ModeState, Session};
use crate::facts::verdict::{Decision, Verdict};
use crate::host::event::EventKind;
use crate::policy::mode::Catalogue;
use crate::state::journal::StateSeal;
use crate::state::mode_cache::ModeCache;
use crate::state::store::{StateStore, StoredSession};

/// A decision, with the session and the modes that it rests on.
pub(super) struct StoredDecision {
    pub(super) before: Session,
    pub(super) modes: Catalogue,
    pub(super) decided: Decided,
    /// The seal of the change, if the session changed.
    pub(super) seal: Option<StateSeal>,
    /// Whether the session changed and could not be stored.
    pub(super) is_lost: bool,
}

pub(super) struct Transaction<'a> {
    pub(super) run: &'a EventRun<'a>,
    pub(super) open_modes: &'a ModeCache<'a>,
    pub(super) store: &'a StateStore,
    pub(super) facts: &'a Facts<'a>,
}

impl Transaction<'_> {
    /// Decides the event, and stores the session if it changed.
    pub(super) fn run(&self, mut stored: StoredSession, notices: &mut Notices) -> StoredDecision {
        let before = std::mem::take(&mut stored.session);
        let mut decision = self.decide(before);
        let id = decision.before.id.clone();
        // A blocked command does not make a folder a project.
        let project = self.run.project;
        let is_project = project.hooks != HooksFolder::Missing
            || project.is_installed()
            || decision.decided.decision.verdict < Verdict::Block;
        if decision.decided.session == decision.before || id.is_empty() || !is_project {
            return decision;
        }
        let received_at = self.run.received_at;
        let at = received_at.round(jiff::Unit::Millisecond).unwrap_or(received_at).to_string();
        let revision = stored.revision;
        let changed = self.store.change(&id, &at, |fresh| {
            if fresh.revision != revision {
                decision = self.decide(fresh.session.clone());
            }
            fresh.session.modes.clone_from(&decision.decided.session.modes);
        });
        match changed {
            Ok(change) => {
                decision.seal = Some(change.seal);
                if let Some(error) = change.hidden.filter(|_| self.run.event.kind == Some(EventKind::UserPromptSubmit))
                {
                    notices.add_store_error(&error);
                }
            }
            Err(error) => {
                notices.add_store_error(&error);
                self.undo(&mut decision);
            }
        }
        decision
    }

    fn decide(&self, mut before: Session) -> StoredDecision {
        let event = self.run.event;
        // The start of a session reports all files.
        let needs_all = event.kind == Some(EventKind::SessionStart) || before.is_pending_fork();
        let modes = if needs_all || !self.open_modes.index.broken.is_empty() {
            self.open_modes.catalogue()
        } else {
            self.open_modes.needed(event, &busy_modes(&before))
        };
        self.store.add_values(&mut before);
        let decided = decide(event, &modes, &before, self.facts);
        StoredDecision { before, modes, decided, seal: None, is_lost: false }
    }

    /// Takes back what was not stored: a change that is not stored did not happen, so it is not reported.
    fn undo(&self, decision: &mut StoredDecision) {
        decision.is_lost = true;
        decision.decided.session = decision.before.clone();
        decision.decided.decision.context.clear();
        decision.decided.decision.moves.clear();
        // Without a state, blocks cannot be counted, and an agent that is blocked forever costs money.
        let event = self.run.event;
        if event.kind.is_some_and(EventKind::is_stop) && event.stop_hook_active() {
            decision.decided.decision = Decision::default();
        }
    }
}

/// The namespaces of modes that are active in a session, or have something to deliver there.
fn busy_modes(session: &Session) -> Vec<&str> {
    let is_busy = |state: &ModeState| {
        let delivers = !state.notes.is_empty() || !state.messages.is_empty() || !state.waiting.is_empty();
        state.is_active || delivers || state.agents.values().any(|record| record.start_blocked)
    };
    let busy = session.modes.iter().filter(|(_, state)| is_busy(state));
    busy.map(|(namespace, _)| namespace.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::RecordedAnswers;
    use crate::host::event::{Event, TOOLS};
    use crate::policy::mode::BASE;
    use crate::state::mode_cache::SourceScope;
    use crate::state::user_folder::project_paths_in;
    use serde_json::json;

    #[test]
    fn a_tool_call_is_decided_alike_without_the_modes_that_it_does_not_need() {
        let folder = tempfile::tempdir().unwrap();
        let places = project_paths_in(folder.path().join("app"), &folder.path().join("state"));
        let all = ModeCache::open(&places, SourceScope::All).catalogue();
        let open_modes = ModeCache::open(&places, SourceScope::All);
        let (mut fewer, answers) = (0, RecordedAnswers::default());
        let active = |phase: &str, notes: &[&str]| -> ModeState {
            serde_json::from_value(json!({"is_active": true, "phase": phase, "notes": notes})).unwrap()
        };
        for mode in all.modes.iter().filter(|mode| mode.name != BASE) {
            let phases = mode.phases.iter().map(|phase| phase.name.as_str());
            let states = phases.flat_map(|phase| [active(phase, &[]), active(phase, &["a note"])]);
            for state in states {
                let modes = [(mode.namespace.clone(), std::sync::Arc::new(state))].into();
                let session = Session { id: "s".into(), modes, ..Session::default() };
                for tool in TOOLS.iter().copied().chain(["mcp__files__write", "SlashCommand", "Task", "Unknown"]) {
                    let input = json!({"file_path": "src/a.rs", "command": "git commit", "subagent_type": "strategic-planner", "skill": mode.commands.first(), "to": "x"});
                    for agent in [None, Some("a1")] {
                        let event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": tool, "tool_input": input, "agent_id": agent});
                        let event = Event::from_value(event).unwrap();
                        let needed = open_modes.needed(&event, &busy_modes(&session));
                        let short = decide(&event, &needed, &session, &Facts::new(&answers));
                        let long = decide(&event, &all, &session, &Facts::new(&answers));
                        assert_eq!(short, long, "{} {tool}", mode.name);
                        fewer += all.modes.len() - needed.modes.len();
                    }
                }
            }
        }
        assert!(fewer > 50, "{fewer}");
    }
}
