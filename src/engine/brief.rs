//! Briefs the model before it starts, so that fewer blocks are needed.

use super::Engine;
use super::progress::next_opening;
use crate::facts::verdict::Truth;
use crate::policy::mode::{Gate, Mode, Phase, Worker};

impl<'a> Engine<'a> {
    /// Tells a gated agent before its first turn what is checked when it stops.
    pub(super) fn brief_agent(&mut self, agent: &str) {
        let modes: Vec<&'a Mode> = self.active().collect();
        for mode in modes {
            let Some(phase) = self.phase_of_agent(mode, agent) else { continue };
            self.by_own_work = true;
            let wanted = self.expectations_of(mode, &phase.after);
            let others = if self.parallel_agent(mode).is_some() {
                " Other agents work in this phase at the same time: write your own file, not theirs."
            } else {
                ""
            };
            self.by_own_work = false;
            if let Some(wanted) = wanted {
                self.context.push(format!(
                    "modegate: you work in the {} phase of {} mode. When you stop, this is checked: {wanted}. Do it before your final report.{others}",
                    phase.name, mode.name
                ));
            }
        }
    }

    /// Tells the model the session, the milestone, the active modes and what each expects next.
    pub(super) fn brief_session(&mut self) {
        let active: Vec<&'a Mode> = self.active().collect();
        let names = active.iter().map(|mode| match self.current_phase(mode) {
            Some((_, phase)) => format!("{} (phase {})", mode.name, phase.name),
            None => mode.name.clone(),
        });
        let names = names.collect::<Vec<_>>().join(", ");
        let names = if names.is_empty() { "none".to_owned() } else { names };
        let session = crate::host::paths::safe_name(&self.after.id);
        let milestone = self.milestone();
        self.context.push(format!("modegate: session {session}, milestone {milestone}, active modes: {names}."));
        if self.event.text("source") == Some("clear") {
            // The host gives a cleared conversation a new session id.
            self.context
                .push("/clear started a new session: modes that were active before are not active here.".to_owned());
        }
        for mode in active {
            self.brief_mode(mode, "");
        }
    }

    /// Tells the model what a mode expects next, after `opening`.
    pub(super) fn brief_mode(&mut self, mode: &'a Mode, opening: &str) {
        let mut parts: Vec<String> = Vec::new();
        if !opening.is_empty() {
            let session = crate::host::paths::safe_name(&self.after.id);
            parts.push(format!("{opening} Session {session}, milestone {}.", self.milestone()));
        }
        if let Some((_, phase)) = self.current_phase(mode) {
            parts.push(format!("{}{}.", next_opening(mode), self.phase_label(phase)));
            if let Some(wanted) = self.expectations_of(mode, &phase.before) {
                parts.push(format!("It starts when {wanted}."));
            }
            if let Some(wanted) = self.expectations_of(mode, &phase.after) {
                parts.push(format!("It is done when {wanted}."));
            }
        }
        if !parts.is_empty() {
            self.context.push(parts.join(" "));
        }
    }

    /// Names a phase and its worker.
    pub(super) fn phase_label(&self, phase: &Phase) -> String {
        match &phase.worker {
            Worker::Mode(_) => match self.mode_command(phase) {
                Some(command) => format!("{} ({command})", phase.name),
                None => phase.name.clone(),
            },
            worker => format!("{} ({worker})", phase.name),
        }
    }

    /// Returns the command of the mode that is a phase.
    pub(super) fn mode_command(&self, phase: &Phase) -> Option<String> {
        let Worker::Mode(name) = &phase.worker else { return None };
        Some(format!("/{}", self.catalogue.mode(name)?.commands.first()?))
    }

    /// Returns what gates ask for, as one phrase.
    pub(super) fn expectations_of(&self, mode: &Mode, gates: &[Gate]) -> Option<String> {
        let scope = self.scope(mode);
        let selected =
            |gate: &&Gate| gate.condition.as_ref().is_none_or(|given| given.evaluate(&scope).truth != Truth::Fails);
        let gates = gates.iter().filter(selected);
        let mut phrases: Vec<String> = gates.filter_map(|gate| gate.check.expectation(&scope)).collect();
        phrases.dedup();
        (!phrases.is_empty()).then(|| phrases.join("; and "))
    }

    fn milestone(&self) -> String {
        match self.facts.milestone() {
            Ok(None) => "none (files go under project/)".to_owned(),
            Ok(Some(milestone)) if milestone.description.is_empty() => format!("project/{}", milestone.id),
            Ok(Some(milestone)) => format!("project/{}_{}", milestone.id, milestone.description),
            Err(why) => format!("unknown ({why})"),
        }
    }
}
