//! Agents in flight: starts that were allowed, and the agents that have started.

use super::{Engine, Intent, NOTES};
use crate::facts::session::{AdmittedStart, AgentRecord, ModeState};
use crate::facts::verdict::{Decision, Finding, Verdict};
use crate::host::event::{Event, EventKind};
use crate::host::ids::AgentId;
use crate::policy::mode::{Mode, Phase};
use std::sync::Arc;

/// The most starts that wait for their agent.
const ADMITTED: usize = 32;

impl<'a> Engine<'a> {
    /// Records, once nothing blocks this call, that it may start an agent of type `agent`.
    ///
    /// A teammate starts under its name, so a name counts too.
    pub(super) fn admit_start(&mut self, agent: &str, id: Option<&str>) {
        let name = self.event.input("name").filter(|_| id.is_none()).map(str::to_owned);
        for mode in &self.catalogue.modes {
            if self.gates_starts_of(mode, agent) || name.as_deref().is_some_and(|name| self.gates_starts_of(mode, name))
            {
                let start = AdmittedStart {
                    call: self.event.text("tool_use_id").unwrap_or_default().to_owned(),
                    agent: agent.into(),
                    name: name.clone(),
                    id: id.map(AgentId::from),
                    nested: self.event.agent_id().is_some(),
                };
                // The host may send a call twice, if two entries call modegate.
                let is_sent_again = !start.call.is_empty()
                    && self.after.mode_state(&mode.namespace).is_some_and(|state| state.admitted.contains(&start));
                if !is_sent_again {
                    self.intents.push(Intent::Admit(mode, start));
                }
            }
        }
    }

    fn gates_starts_of(&self, mode: &Mode, agent: &str) -> bool {
        let active = self.after.is_active(&mode.namespace);
        let judges = |phase: &Phase| active || phase.before.iter().any(|gate| gate.always);
        mode.phases.iter().any(|phase| phase.worker.is_agent(agent) && judges(phase))
    }

    /// Whether any mode gates starts of agents now.
    pub(super) fn gates_starts(&self) -> bool {
        let agents = |mode: &'a Mode| mode.phases.iter().filter_map(|phase| phase.worker.agent());
        self.catalogue.modes.iter().any(|mode| agents(mode).any(|agent| self.gates_starts_of(mode, agent)))
    }

    pub(super) fn admit(&mut self, mode: &Mode, start: AdmittedStart) {
        let admitted = &mut self.state_mut(mode).admitted;
        admitted.push(start);
        admitted.drain(..admitted.len().saturating_sub(ADMITTED));
    }

    /// Handles an agent that has started: it is recorded where it works, and briefed.
    ///
    /// A start that no tool call announced (a skill, a workflow) is gated here. The host cannot block it, so the
    /// agent's tools are blocked instead.
    pub(super) fn on_agent_started(&mut self) {
        let Some(agent) = self.event.text("agent_type").filter(|name| !name.is_empty()) else { return };
        let mut blocked = false;
        for mode in &self.catalogue.modes {
            let admitted = self.take_admitted(mode, agent);
            if !self.gates_starts_of(mode, agent) {
                continue;
            }
            let verdict = if admitted.is_some() { Verdict::Pass } else { self.judge_start(mode, agent) };
            // A question to the user also has to wait for a tool call.
            let start_blocked = verdict >= Verdict::Ask;
            let unlisted = admitted.as_ref().is_none_or(|start| start.nested) || self.event.teammate().is_some();
            let call = admitted.filter(|_| self.event.teammate().is_none()).and_then(AdmittedStart::awaited_call);
            if let Some(id) = self.event.agent_id().filter(|_| start_blocked || self.after.is_active(&mode.namespace)) {
                let number = if start_blocked { 0 } else { self.number_of_agent(mode, id, agent) };
                let record = AgentRecord { agent: agent.into(), call, start_blocked, unlisted, number };
                self.state_mut(mode).agents.insert(id.into(), record);
            }
            if verdict >= Verdict::Block {
                blocked = true;
                self.report_blocked_start(mode, agent);
            }
        }
        if blocked {
            let reason = Decision::of(&self.findings).reason;
            self.context.push(format!(
                "modegate: your start is blocked. {reason} Your tools are blocked until then: stop now and report this."
            ));
        } else {
            self.brief_agent(agent);
        }
    }

    /// Reports a start that could not be blocked to the main agent and to the user.
    fn report_blocked_start(&mut self, mode: &'a Mode, agent: &str) {
        let of_mode = |finding: &&Finding| finding.mode == mode.name && finding.verdict >= Verdict::Block;
        let reasons: Vec<&str> = self.findings.iter().filter(of_mode).map(|finding| finding.reason.as_str()).collect();
        let note =
            format!("{agent} has started, but its gate blocks it, so its tools are blocked: {}", reasons.join(" "));
        let message = format!("modegate: {} · {note}", mode.name);
        let state = self.state_mut(mode);
        if !state.notes.contains(&note) && state.notes.len() < NOTES {
            state.notes.push(note);
            state.messages.push(message);
        }
    }

    /// Judges the start of the agent that calls this tool again, if it was blocked.
    pub(super) fn judge_blocked_agent(&mut self) {
        let Some(id) = self.event.agent_id().filter(|id| self.after.is_start_blocked(id)) else { return };
        // This is how an agent of a workflow reports.
        if self.event.tool() == Some("StructuredOutput") {
            return;
        }
        for mode in &self.catalogue.modes {
            let record = self.after.mode_state(&mode.namespace).and_then(|state| state.agents.get(id));
            let Some(agent) = record.filter(|record| record.start_blocked).map(|record| record.agent.clone()) else {
                continue;
            };
            if !self.gates_starts_of(mode, &agent) || self.judge_start(mode, &agent) < Verdict::Ask {
                self.intents.push(Intent::Unblock(mode));
            }
        }
    }

    pub(super) fn is_start_blocked(&self) -> bool {
        self.event.agent_id().is_some_and(|id| self.after.is_start_blocked(id))
    }

    /// Handles the stop of an agent whose start is blocked: it has done nothing that could count.
    pub(super) fn on_blocked_agent_stop(&mut self) {
        let id = self.event.agent_id().unwrap_or_default();
        let record = self.after.modes.values().find_map(|state| state.agents.get(id));
        self.who = record.map(|record| record.agent.clone());
        self.moves.extend(self.who.as_ref().map(|agent| format!("{agent} stopped, its start was blocked")));
    }

    /// Lets the agent of this event work in a mode.
    pub(super) fn unblock(&mut self, mode: &'a Mode) {
        let Some(id) = self.event.agent_id() else { return };
        let is_active = self.after.is_active(&mode.namespace);
        let Some(record) = self.state_mut(mode).agents.get_mut(id) else { return };
        record.start_blocked = false;
        let agent = record.agent.clone();
        self.moves.push(format!("{}: {agent} may work", mode.name));
        if is_active {
            let number = self.number_of_agent(mode, id, &agent);
            self.state_mut(mode).agents.get_mut(id).into_iter().for_each(|record| record.number = number);
            self.brief_agent(&agent);
        } else {
            self.state_mut(mode).agents.remove(id);
        }
    }

    /// Takes the start that a mode has allowed for the agent of this event.
    fn take_admitted(&mut self, mode: &Mode, agent: &str) -> Option<AdmittedStart> {
        let id = self.event.agent_id();
        let admitted = &self.after.mode_state(&mode.namespace)?.admitted;
        let same_id = |start: &AdmittedStart| start.id.as_deref().is_some_and(|own| Some(own) == id);
        let same_type = |start: &AdmittedStart| start.id.is_none() && start.agent.is(agent);
        let at = admitted.iter().position(same_id).or_else(|| admitted.iter().position(same_type))?;
        Some(self.after.mode_state_mut(&mode.namespace)?.admitted.remove(at))
    }

    /// Forgets agents that are no longer in flight, and starts that will not happen.
    pub(super) fn forget_agents(&mut self) {
        let event = self.event;
        let forget: &dyn Fn(&mut ModeState) = match event.kind {
            Some(EventKind::SubagentStop) => &|state| {
                event.agent_id().map(|id| state.agents.remove(id));
            },
            // A tool that has run was allowed, if only by the user.
            Some(EventKind::PostToolUse) => &|state| {
                if event.response_value("success") == Some(&false.into()) {
                    drop_call(state, event);
                }
                end_call(state, event);
                if let Some(record) = event.agent_id().and_then(|id| state.agents.get_mut(id)) {
                    record.start_blocked &= event.tool() == Some("StructuredOutput");
                }
            },
            Some(EventKind::PostToolUseFailure | EventKind::PermissionDenied) => &|state| drop_call(state, event),
            Some(EventKind::Stop) => &|state| {
                let listed = event.background_agents();
                let may_run = |id: &str, record: &AgentRecord| match &listed {
                    Some(ids) => ids.contains(&id) || record.unlisted && !ids.is_empty(),
                    None => record.start_blocked,
                };
                state.agents.retain(|id, record| may_run(id, record));
                state.agents.values_mut().for_each(|record| record.call = None);
                // Some hosts start a teammate only after the main agent has stopped.
                state.admitted.retain(|_| listed.as_ref().is_some_and(|ids| !ids.is_empty()));
            },
            // A person who can type has interrupted the main agent, and with it the agents that it waited for.
            Some(EventKind::UserPromptSubmit) if !event.is_machine_prompt() => &|state| {
                state.agents.retain(|_, record| record.call.is_none());
                state.admitted.clear();
            },
            // The agents of an earlier process are gone.
            Some(EventKind::SessionStart) if event.text("source") != Some("compact") => &|state| {
                state.agents.clear();
                state.admitted.clear();
            },
            _ => return,
        };
        let has_agents = |state: &&mut Arc<ModeState>| !state.agents.is_empty() || !state.admitted.is_empty();
        self.after.modes.values_mut().filter(has_agents).for_each(|state| forget(Arc::make_mut(state)));
    }
}

/// Drops the start that a tool call was to lead to, and the agent that it waited for.
fn drop_call(state: &mut ModeState, event: &Event) {
    state.admitted.retain(|start| !event.is_call(&start.call));
    state.agents.retain(|_, record| !record.call.as_ref().is_some_and(|call| event.is_call(call)));
}

/// Records that a tool call has returned: its agent has stopped, or works in the background.
fn end_call(state: &mut ModeState, event: &Event) {
    state.admitted.iter_mut().filter(|start| event.is_call(&start.call)).for_each(|start| start.call.clear());
    let waiting = state.agents.values_mut();
    let waiting = waiting.filter(|record| record.call.as_ref().is_some_and(|call| event.is_call(call)));
    waiting.for_each(|record| record.call = None);
}
