//! What ends: an agent's work, a tool's run, the main agent's turn.

use super::who::StoppingAgent;
use super::{Engine, Intent};
use crate::check::Check;
use crate::mode::{Mode, Phase, Worker};

/// Tools that change nothing a check could ask for.
const READING: [&str; 12] = [
    "Read",
    "Grep",
    "Glob",
    "LS",
    "WebFetch",
    "WebSearch",
    "TodoWrite",
    "TaskList",
    "TaskGet",
    "ToolSearch",
    "AskUserQuestion",
    "NotebookRead",
];

impl<'a> Engine<'a> {
    /// A subagent wants to stop: its work must be there.
    pub(super) fn on_agent_stop(&mut self) {
        let agent = match self.stopping_agent() {
            StoppingAgent::Agent(agent) => agent,
            StoppingAgent::Fork => return,
            StoppingAgent::Unattributed => return self.moves.push("unattributed stop".to_owned()),
        };
        self.who = Some(agent.clone());
        let modes: Vec<&'a Mode> = self.active().collect();
        for mode in modes {
            if let Some(phase) = self.phase_of_agent(mode, &agent)
                && self.is_finished(mode, phase)
            {
                self.intents.push(Intent::Done(mode, phase));
            }
        }
        // Whoever was let go with its work unmet has not run to its end.
        if self.findings.iter().any(|finding| finding.unmet) {
            return;
        }
        for mode in self.modes_with_gates() {
            mode.checks(&mut |check| {
                if let Check::Ran(ran) = check {
                    self.intents.extend(ran.mark(&agent).map(|mark| Intent::Ran(mode, mark)));
                }
            });
        }
    }

    /// Judges every gate after a phase; all must be content.
    fn is_finished(&mut self, mode: &'a Mode, phase: &'a Phase) -> bool {
        let mut finished = true;
        for gate in &phase.after {
            finished &= self.run_gate(mode, Some(phase), gate);
        }
        finished
    }

    /// A tool ran: what it shows is noted, and phases of the main agent may move on.
    pub(super) fn on_tool_result(&mut self) {
        for mode in self.modes_with_gates() {
            self.record_observations(mode);
        }
        // A subagent may work in a tree of its own: its events say nothing of where the main agent stands.
        if self.event.agent_id().is_some() || self.event.tool().is_some_and(|tool| READING.contains(&tool)) {
            return;
        }
        for mode in self.active().collect::<Vec<_>>() {
            self.advance_main_phases(mode);
        }
    }

    /// Notes an edit or a command's result, if a check of the mode asks for it.
    fn record_observations(&mut self, mode: &'a Mode) {
        if self.happened_in_other_worktree(mode) {
            return;
        }
        let mut seen: Vec<String> = Vec::new();
        let scope = self.scope(mode);
        let edited = !self.event.edited().is_empty();
        mode.checks(&mut |check| {
            if let Check::Observed(observed) = check {
                let edit = (edited && observed.after_edit).then(|| crate::check::EDIT.to_owned());
                seen.extend(edit.into_iter().chain(observed.seen_in(&scope)).filter(|mark| !mark.is_empty()));
            }
        });
        seen.sort_unstable();
        seen.dedup();
        for mark in seen {
            self.state_mut(mode).see(&mark);
        }
    }

    /// Whether this happened in a worktree that was lent to an agent for something else than the present phase.
    fn happened_in_other_worktree(&self, mode: &'a Mode) -> bool {
        let lent =
            self.event.cwd().is_some_and(|cwd| crate::paths::worktree_owner(std::path::Path::new(cwd)).is_some());
        let worker = |agent: &str| self.current_phase(mode).is_some_and(|(_, phase)| phase.worker.is_agent(agent));
        lent && !self.event.text("agent_type").is_some_and(worker)
    }

    /// The main agent ends its turn: its phases may move on, or hold it back where they say so.
    pub(super) fn on_main_stop(&mut self) {
        let modes: Vec<&'a Mode> = self.active().collect();
        for mode in modes {
            self.advance_main_phases(mode);
            let Some((_, phase)) = self.current_phase(mode).filter(|_| self.after.is_active(&mode.namespace)) else {
                continue;
            };
            if phase.worker == Worker::Main && phase.hold && !self.event.background_work() {
                self.is_finished(mode, phase);
            }
        }
    }
}
