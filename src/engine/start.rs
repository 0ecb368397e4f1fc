//! Starts of commands and agents.

use super::{Engine, Intent};
use crate::facts::verdict::{Finding, Outcome, Verdict};
use crate::host::event::{CommandCall, EventKind};
use crate::policy::mode::{Mode, Phase};

/// The mark of a prompt without an id whose expansion was seen.
const EXPANSION: &str = "expansion";

impl<'a> Engine<'a> {
    /// Handles a command: the `before` gates of every mode that it activates run.
    pub(super) fn on_command(&mut self, call: CommandCall<'a>) {
        let catalogue = self.catalogue;
        for mode in catalogue.modes.iter().filter(|mode| mode.activated_by(call.name)) {
            if self.is_already_activated(mode, call) {
                continue;
            }
            if !call.typed && self.is_past_step(mode, call) {
                continue;
            }
            if !call.typed && self.after.is_active(&mode.namespace) {
                // Only a person restarts an active mode; the model gets a reminder.
                self.intents.push(Intent::Brief(mode));
                continue;
            }
            self.check_flow_order(mode, call);
            for gate in &mode.before {
                self.run_gate(mode, None, gate);
            }
            self.intents.push(Intent::Activate(mode));
        }
    }

    /// Whether a mode is a completed step of an active flow with the same command.
    fn is_past_step(&self, mode: &Mode, call: CommandCall<'_>) -> bool {
        let is_past = |flow: &Mode| {
            let step = flow.phases.iter().find(|phase| phase.worker.is_mode(&mode.name));
            let state = self.after.mode_state(&flow.namespace);
            step.zip(state).is_some_and(|(step, state)| state.is_past(&step.name))
        };
        self.active().any(|flow| flow.activated_by(call.name) && is_past(flow))
    }

    /// Whether this call has already activated the mode: one prompt arrives as up to two events.
    fn is_already_activated(&self, mode: &Mode, call: CommandCall<'_>) -> bool {
        let Some(state) = self.after.mode_state(&mode.namespace) else { return false };
        let same_prompt = self.is_same_prompt(state.prompt_id.as_deref());
        // A subagent that calls its own mode's command does not restart it.
        let within = state.is_active && self.event.agent_id().is_some();
        within || same_prompt && (state.is_active || call.typed)
    }

    /// Returns what identifies the prompt of a command: its id, or on clients without prompt ids its expansion.
    pub(super) fn prompt_mark(&self) -> Option<&str> {
        let is_expansion = self.event.kind == Some(EventKind::UserPromptExpansion);
        self.event.text("prompt_id").or_else(|| is_expansion.then_some(EXPANSION))
    }

    /// Whether a command's event belongs to a prompt that was marked before.
    ///
    /// Clients without prompt ids send the expansion first, so an expansion is always a new prompt there.
    pub(super) fn is_same_prompt(&self, mark: Option<&str>) -> bool {
        let is_prompt = self.event.kind == Some(EventKind::UserPromptSubmit);
        let expected = self.event.text("prompt_id").or_else(|| is_prompt.then_some(EXPANSION));
        expected.is_some() && mark == expected
    }

    /// Checks the order of the flows of which this mode is a step: the model must keep it, a person may skip steps.
    fn check_flow_order(&mut self, mode: &'a Mode, call: CommandCall<'_>) {
        let flows: Vec<&'a Mode> = self.active().collect();
        for flow in flows {
            let Some((index, step)) =
                flow.phases.iter().enumerate().find(|(_, phase)| phase.worker.is_mode(&mode.name))
            else {
                continue;
            };
            for gate in &step.before {
                self.run_gate(flow, Some(step), gate);
            }
            let missing_steps: Vec<&'a Phase> = self.missing_steps(flow, index);
            if !flow.strict || missing_steps.is_empty() {
                continue;
            }
            let names = missing_steps.iter().map(|phase| phase.name.as_str()).collect::<Vec<_>>().join(", ");
            if call.typed {
                let note = format!("This skips steps of the {} flow: {names}.", flow.name);
                self.intents.push(Intent::AddContext(note));
                self.intents.extend(missing_steps.into_iter().map(|phase| Intent::Skip(flow, phase)));
            } else {
                let saw = format!("/{} comes too early in the {} flow: {names} not done yet", call.name, flow.name);
                let next = missing_steps
                    .first()
                    .map_or_else(String::new, |phase| format!("do {} first", self.step_command(phase)));
                self.block_order(flow, step, "Step out of order.", Outcome::fails(saw).remedied(next));
            }
        }
    }

    fn missing_steps(&self, mode: &'a Mode, index: usize) -> Vec<&'a Phase> {
        let state = self.after.mode_state(&mode.namespace);
        let past = |phase: &Phase| state.is_some_and(|state| state.is_past(&phase.name));
        mode.phases.iter().take(index).filter(|phase| phase.when.is_none() && !past(phase)).collect()
    }

    fn step_command(&self, phase: &Phase) -> String {
        self.mode_command(phase).unwrap_or_else(|| phase.name.clone())
    }

    /// Handles the start of an agent: it must be its turn, and the `before` gates of its phase run.
    pub(super) fn on_agent_start(&mut self) {
        let Some(agent) = self.event.spawned() else { return self.on_message() };
        for mode in &self.catalogue.modes {
            self.judge_start(mode, agent);
        }
        self.admit_start(agent, None);
    }

    /// Handles a message to an agent, which starts again if it has stopped.
    fn on_message(&mut self) {
        let Some(to) = self.event.addressee().filter(|_| self.gates_starts()) else { return };
        if self.after.modes.values().any(|state| state.agents.contains_key(to)) {
            return;
        }
        // An agent that cannot be found is gated once it has started.
        let transcript = self.event.text("transcript_path").map(str::to_owned);
        let Ok(Some(addressee)) = self.facts.addressee(to.to_owned(), transcript) else { return };
        if addressee.running || self.after.modes.values().any(|state| state.agents.contains_key(addressee.id.as_str()))
        {
            return;
        }
        for mode in &self.catalogue.modes {
            self.judge_start(mode, &addressee.agent);
        }
        self.admit_start(&addressee.agent, Some(&addressee.id));
    }

    /// Judges the start of an agent in one mode; returns the verdict.
    pub(super) fn judge_start(&mut self, mode: &'a Mode, agent: &str) -> Verdict {
        let earlier = self.findings.len();
        let active = self.after.is_active(&mode.namespace);
        self.starting = Some(agent.to_owned());
        if let Some(phase) = self.phase_of_agent(mode, agent) {
            for gate in phase.before.iter().filter(|gate| active || gate.always) {
                self.run_gate(mode, Some(phase), gate);
            }
        } else if let Some(own) = mode.phases.iter().find(|phase| phase.worker.is_agent(agent)) {
            self.block_out_of_turn(mode, own, agent);
        }
        self.starting = None;
        self.findings.iter().skip(earlier).map(|finding| finding.verdict).max().unwrap_or(Verdict::Pass)
    }

    fn block_out_of_turn(&mut self, mode: &'a Mode, phase: &'a Phase, agent: &str) {
        let current = self.current_phase(mode).map(|(_, phase)| phase);
        let (name, worker) =
            current.map_or_else(Default::default, |phase| (phase.name.clone(), phase.worker.to_string()));
        let saw = format!(
            "`{agent}` works in phase {}, and {} mode is in phase {name}, where {worker} works",
            phase.name, mode.name
        );
        let waits = self.after.mode_state(&mode.namespace).is_some_and(|state| state.waiting.contains(&name));
        let remedy = if waits {
            Some(format!(
                "phase {name} is done when the agents that still work in it have stopped; if none of them is running any more, end your turn first"
            ))
        } else {
            let wanted = current.and_then(|current| self.expectations_of(mode, &current.after));
            wanted.map(|wanted| format!("phase {name} is done when {wanted}"))
        };
        self.block_order(mode, phase, "Agent out of order.", Outcome { remedy, ..Outcome::fails(saw) });
    }

    /// Records that the order of a mode is violated.
    fn block_order(&mut self, mode: &'a Mode, phase: &'a Phase, opening: &str, outcome: Outcome) {
        let gate = format!("{}-keeps-its-order", mode.name);
        let level = self.catalogue.settings.level((&mode.name, mode.level), (&gate, None));
        let reason = outcome.sentence(opening);
        let phase = Some(phase.name.clone());
        let verdict = level.cap(Verdict::Block);
        self.findings.push(Finding {
            mode: mode.name.clone(),
            phase,
            gate: gate.into(),
            verdict,
            reason,
            outcome,
            unmet: false,
        });
    }
}
