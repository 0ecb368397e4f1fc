//! Agents in flight: starts that were allowed, and the agents that have started.

use super::{Engine, Intent};
use crate::event::EventKind;
use crate::mode::{Mode, Phase};
use crate::session::{AdmittedStart, AgentRecord, ModeState};

/// The most starts that wait for their agent.
const ADMITTED: usize = 32;

impl Engine<'_> {
    /// Records, once nothing blocks this call, that it may start an agent of type `agent`.
    ///
    /// A teammate starts under its name, so a name counts too.
    pub(super) fn admit_start(&mut self, agent: &str) {
        let name = self.event.input("name").map(str::to_owned);
        for mode in &self.catalogue.modes {
            if self.gates_starts_of(mode, agent) || name.as_deref().is_some_and(|name| self.gates_starts_of(mode, name))
            {
                let start = AdmittedStart {
                    call: self.event.text("tool_use_id").unwrap_or_default().to_owned(),
                    agent: agent.into(),
                    name: name.clone(),
                    id: None,
                    nested: self.event.agent_id().is_some(),
                };
                self.intents.push(Intent::Admit(mode, start));
            }
        }
    }

    /// Whether a mode judges the starts of an agent now.
    fn gates_starts_of(&self, mode: &Mode, agent: &str) -> bool {
        let active = self.after.is_active(&mode.namespace);
        let judges = |phase: &Phase| active || phase.before.iter().any(|gate| gate.always);
        mode.phases.iter().any(|phase| phase.worker.is_agent(agent) && judges(phase))
    }

    pub(super) fn admit(&mut self, mode: &Mode, start: AdmittedStart) {
        let admitted = &mut self.state_mut(mode).admitted;
        admitted.push(start);
        admitted.drain(..admitted.len().saturating_sub(ADMITTED));
    }

    /// Handles an agent that has started: it is recorded where it works, and briefed.
    pub(super) fn on_agent_started(&mut self) {
        let Some(agent) = self.event.text("agent_type").filter(|name| !name.is_empty()) else { return };
        for mode in &self.catalogue.modes {
            let admitted = self.take_admitted(mode, agent);
            let works = mode.phases.iter().any(|phase| phase.worker.is_agent(agent));
            if let Some(id) = self.event.agent_id().filter(|_| works && self.after.is_active(&mode.namespace)) {
                let unlisted = admitted.is_none_or(|start| start.nested);
                let record = AgentRecord { agent: agent.into(), start_blocked: false, unlisted };
                self.state_mut(mode).agents.insert(id.into(), record);
            }
        }
        self.brief_agent(agent);
    }

    /// Takes the start that a mode has allowed for the agent of this event.
    fn take_admitted(&mut self, mode: &Mode, agent: &str) -> Option<AdmittedStart> {
        let id = self.event.agent_id();
        let admitted = &mut self.after.modes.get_mut(&mode.namespace)?.admitted;
        let same_id = |start: &AdmittedStart| start.id.as_deref().is_some_and(|own| Some(own) == id);
        let same_type = |start: &AdmittedStart| start.id.is_none() && start.agent.is(agent);
        let at = admitted.iter().position(same_id).or_else(|| admitted.iter().position(same_type))?;
        Some(admitted.remove(at))
    }

    /// Forgets agents that are no longer in flight, and starts that will not happen.
    pub(super) fn forget_agents(&mut self) {
        let event = self.event;
        let forget: &dyn Fn(&mut ModeState) = match event.kind {
            Some(EventKind::SubagentStop) => &|state| {
                event.agent_id().map(|id| state.agents.remove(id));
            },
            Some(EventKind::PostToolUseFailure | EventKind::PermissionDenied) => &|state| {
                state.admitted.retain(|start| Some(start.call.as_str()) != event.text("tool_use_id"));
            },
            Some(EventKind::Stop) => &|state| {
                let listed = event.background_agents();
                let may_run = |id: &str, record: &AgentRecord| match &listed {
                    Some(ids) => ids.contains(&id) || record.unlisted && !ids.is_empty(),
                    None => record.start_blocked,
                };
                state.agents.retain(|id, record| may_run(id, record));
                // Some hosts start a teammate only after the main agent has stopped.
                state.admitted.retain(|_| listed.as_ref().is_some_and(|ids| !ids.is_empty()));
            },
            Some(EventKind::UserPromptSubmit) if !event.is_machine_prompt() => &|state| state.admitted.clear(),
            // The agents of an earlier process are gone.
            Some(EventKind::SessionStart) if event.text("source") != Some("compact") => &|state| {
                state.agents.clear();
                state.admitted.clear();
            },
            _ => return,
        };
        self.after.modes.values_mut().for_each(forget);
    }
}
