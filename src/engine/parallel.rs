//! Agents that work in a phase at the same time: each must write its own file, and the last one completes the phase.

use super::Engine;
use crate::facts::session::AgentRecord;
use crate::policy::check::ParallelAgent;
use crate::policy::mode::{Mode, Phase};

impl<'a> Engine<'a> {
    /// Returns the number of an agent that starts, 0 if it is alone in its phase; whoever it joins gets one too.
    ///
    /// A number is given once per activation of the mode, so that no agent finds its file written by an earlier one.
    pub(super) fn number_of_agent(&mut self, mode: &'a Mode, id: &str, agent: &str) -> u32 {
        let Some(phase) = self.phase_of_agent(mode, agent) else { return 0 };
        let state = self.state_mut(mode);
        if let Some(record) = state.agents.get(id).filter(|record| record.number > 0) {
            return record.number;
        }
        let is_other = |other: &str, record: &AgentRecord| other != id && works_in(phase, record);
        let others = state.agents.iter_mut().filter(|(other, record)| is_other(other, record));
        let numbers = others.map(|(_, record)| {
            record.number = record.number.max(1);
            record.number
        });
        // Agents of an earlier activation may still be at work.
        let Some(highest) = numbers.max() else { return 0 };
        let last = state.parallel.entry(phase.name.clone()).or_default();
        *last = highest.max(*last).saturating_add(1);
        *last
    }

    /// Returns the agent of this event while its own work is checked, if others work or worked in parallel.
    pub(super) fn parallel_agent(&self, mode: &Mode) -> Option<ParallelAgent<'a>> {
        if !self.by_own_work {
            return None;
        }
        let id = self.event.agent_id()?;
        let number = self.after.mode_state(&mode.namespace)?.agents.get(id)?.number;
        (number > 0).then_some(ParallelAgent { id, number })
    }

    /// Whether agents other than that of this event work in a phase.
    ///
    /// A stop without an id may belong to any of them, so it does not wait.
    pub(super) fn other_agents_work_in(&self, mode: &Mode, phase: &Phase) -> bool {
        let Some(id) = self.event.agent_id() else { return false };
        let agents = self.after.mode_state(&mode.namespace).map(|state| &state.agents);
        agents.into_iter().flatten().any(|(other, record)| **other != *id && works_in(phase, record))
    }

    /// Keeps a phase open, although its evidence is there, until the last agent that works in it has stopped.
    pub(super) fn await_others(&mut self, mode: &'a Mode, phase: &'a Phase) {
        self.moves.push(format!("{}: {} waits for other agents", mode.name, phase.name));
        let waiting = &mut self.state_mut(mode).waiting;
        if !waiting.contains(&phase.name) {
            waiting.push(phase.name.clone());
        }
    }

    /// Completes the phases that no agent works in any more: the others have stopped, or are gone without a stop.
    pub(super) fn complete_waiting_phases(&mut self) {
        for mode in self.active().collect::<Vec<_>>() {
            let Some(state) = self.after.mode_state(&mode.namespace) else { continue };
            let in_flight = |phase: &Phase| state.agents.values().any(|record| works_in(phase, record));
            let waiting = state.waiting.iter().filter_map(|name| mode.phase(name)).map(|(_, phase)| phase);
            for phase in waiting.filter(|phase| !in_flight(phase)).collect::<Vec<_>>() {
                self.done(mode, phase);
            }
        }
    }
}

/// Whether an agent works in a phase; one whose start is blocked does not.
fn works_in(phase: &Phase, record: &AgentRecord) -> bool {
    phase.worker.is_agent(&record.agent) && !record.start_blocked
}
