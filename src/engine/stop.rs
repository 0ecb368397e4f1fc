//! Stops of agents, results of tools, and the end of the main agent's turn.

use super::who::StoppingAgent;
use super::{Engine, Intent};
use crate::policy::check::Check;
use crate::policy::mode::{Mode, Worker};
use shell_effects::has_name;

/// Tools whose use cannot change what a check sees.
const READ_ONLY_TOOLS: &str = "Read Grep Glob LS WebFetch WebSearch TodoWrite TaskList TaskGet ToolSearch AskUserQuestion \
    NotebookRead";

impl<'a> Engine<'a> {
    /// Handles a subagent that wants to stop: the gates after its phase run.
    pub(super) fn on_agent_stop(&mut self) {
        let agent = match self.stopping_agent() {
            StoppingAgent::Agent(agent) => agent,
            StoppingAgent::Fork => return,
            StoppingAgent::Unattributed => return self.moves.push("unattributed stop".to_owned()),
        };
        self.who = Some(agent.clone());
        let modes: Vec<&'a Mode> = self.active().collect();
        self.by_own_work = true;
        for mode in modes {
            if let Some(phase) = self.phase_of_agent(mode, &agent)
                && self.after_gates_pass(mode, phase, true)
            {
                let others = self.other_agents_work_in(mode, phase);
                self.intents.push(if others { Intent::AwaitOthers(mode, phase) } else { Intent::Done(mode, phase) });
            }
        }
        self.by_own_work = false;
        // An agent whose gate gave in has not completed its work.
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

    /// Handles the result of a tool: records what it shows, and lets the main agent's phases advance.
    pub(super) fn on_tool_result(&mut self) {
        for mode in self.modes_with_gates() {
            self.record_observations(mode);
        }
        // A subagent may work in its own worktree, so its events do not advance the main agent's phases.
        if self.event.agent_id().is_some() || self.event.tool().is_some_and(|tool| has_name(READ_ONLY_TOOLS, tool)) {
            return;
        }
        for mode in self.active().collect::<Vec<_>>() {
            self.advance_main_phases(mode);
        }
    }

    /// Records an edit or the result of a command, if a check of the mode asks for it.
    fn record_observations(&mut self, mode: &'a Mode) {
        if self.happened_in_other_worktree(mode) {
            return;
        }
        let mut seen: Vec<String> = Vec::new();
        let mut unread = Vec::new();
        let scope = self.scope(mode);
        let edited = || !self.event.edited().is_empty();
        mode.checks(&mut |check| {
            if let Check::Observed(observed) = check {
                let edit = (observed.after_edit && edited()).then(|| crate::policy::check::EDIT.to_owned());
                seen.extend(edit);
                if let Some(run) = observed.seen_in(&scope) {
                    seen.push(run.mark);
                    unread.extend(run.unread);
                }
            }
        });
        seen.sort_unstable();
        seen.dedup();
        for mark in seen {
            self.state_mut(mode).see(&mark);
        }
        for (command, run) in unread {
            self.state_mut(mode).unread.insert(command, run);
        }
    }

    /// Whether this happened in the worktree of an agent that does not work in the current phase.
    fn happened_in_other_worktree(&self, mode: &'a Mode) -> bool {
        let is_worktree =
            self.event.cwd().is_some_and(|cwd| crate::host::paths::worktree_owner(std::path::Path::new(cwd)).is_some());
        let is_worker = |agent: &str| self.current_phase(mode).is_some_and(|(_, phase)| phase.worker.is_agent(agent));
        is_worktree && !self.event.text("agent_type").is_some_and(is_worker)
    }

    /// Handles the end of the main agent's turn: its phases advance, and those with `block: stop` may block it.
    pub(super) fn on_main_stop(&mut self) {
        let modes: Vec<&'a Mode> = self.active().collect();
        for mode in modes {
            self.advance_main_phases(mode);
            let Some((_, phase)) = self.current_phase(mode).filter(|_| self.after.is_active(&mode.namespace)) else {
                continue;
            };
            if phase.worker == Worker::Main && phase.blocks_stop && !self.event.background_work() {
                self.after_gates_pass(mode, phase, true);
            }
        }
    }
}
