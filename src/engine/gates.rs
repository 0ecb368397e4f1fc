//! One gate: its check, what follows, how far its level and its patience let that go.

use super::Engine;
use crate::event::EventKind;
use crate::mode::{Action, Gate, Level, Mode, Once, Phase};
use crate::paths::hash;
use crate::session::{BlockCount, UnmetGate};
use crate::verdict::{Finding, Outcome, Truth, Verdict};
use serde_json::{Map, Value};

impl<'a> Engine<'a> {
    /// Puts a gate's check to the facts and notes what was found; true when nothing is left to object.
    pub(super) fn run_gate(&mut self, mode: &'a Mode, phase: Option<&'a Phase>, gate: &'a Gate) -> bool {
        if self.step_has_run(mode, gate) || !self.applies(mode, gate) {
            return true;
        }
        let first = gate;
        let (gate, outcome, verdict) = self.resolve(mode, gate);
        let insists = verdict == Verdict::Warn && self.catalogue.settings.enforces(&gate.id);
        let verdict = if insists { Verdict::Block } else { verdict };
        let level = self.catalogue.settings.level((&mode.name, mode.level), (&gate.id, gate.level));
        let reason = match level.cap(verdict) {
            Verdict::Pass if verdict == Verdict::Pass => String::new(),
            tempered => self.reason(mode, gate, &outcome, tempered),
        };
        let mut finding = Finding {
            mode: mode.name.clone(),
            phase: phase.map(|phase| phase.name.clone()),
            gate: gate.id.clone(),
            verdict: level.cap(verdict),
            reason,
            outcome,
            unmet: false,
        };
        // A gate that has said its word lets the event through, which does not make the evidence.
        let before = self.has_fired(mode, gate);
        let speaks = finding.verdict > Verdict::Observe;
        let spoken = speaks && before;
        if spoken {
            finding.verdict = Verdict::Pass;
        }
        if self.event.kind.is_some_and(EventKind::is_stop) {
            self.apply_patience(mode, gate, &mut finding);
        }
        // A level tempers what a gate does, not what it has seen: only evidence makes a phase done.
        let settled = verdict < Verdict::Block && !finding.unmet && !spoken;
        if finding.verdict < Verdict::Block {
            self.apply_extras(mode, gate, &finding.outcome, before);
        }
        if speaks || gate.context.is_some() && finding.outcome.truth == Truth::Passes {
            self.mark_fired(mode, gate);
        }
        if first.check.has_steps() {
            self.mark_fired(mode, first);
        }
        self.findings.push(finding);
        settled
    }

    /// Whether a gate has anything to say of this event; where that cannot be told, it has.
    pub(super) fn applies(&self, mode: &'a Mode, gate: &'a Gate) -> bool {
        let level = self.catalogue.settings.level((&mode.name, mode.level), (&gate.id, gate.level));
        level != Level::Off
            && gate.condition.as_ref().is_none_or(|given| self.evaluate(mode, given).truth != Truth::Fails)
    }

    /// Takes what a gate that lets the event through gives beside: context, words for the user, another input.
    fn apply_extras(&mut self, mode: &'a Mode, gate: &'a Gate, outcome: &Outcome, before: bool) {
        for adds in outcome.all_extras() {
            self.context.extend(adds.context.clone());
            self.messages.extend(adds.message.clone());
            self.input = adds.input.clone().or(self.input.take());
            self.allow |= adds.allow;
        }
        if outcome.truth != Truth::Passes {
            return;
        }
        if let Some(text) = gate.context.as_ref().filter(|_| !before) {
            let filled = self.scope(mode).expand(text).ok().and_then(|texts| texts.into_iter().next());
            self.context.push(filled.unwrap_or_else(|| text.clone()));
        }
        let change = gate.rewrite.as_ref().and_then(|json| serde_json::from_str::<Map<String, Value>>(json).ok());
        if let Some(change) = change {
            let given = self.input.take().or_else(|| self.event.fields.get("tool_input").cloned());
            let mut fields = given.and_then(|given| given.as_object().cloned()).unwrap_or_default();
            fields.extend(change);
            self.input = Some(Value::Object(fields));
        }
    }

    /// Whether a gate's step was to be taken once, and has been: it is not taken again, whatever came of it.
    pub(super) fn step_has_run(&self, mode: &Mode, gate: &Gate) -> bool {
        gate.check.has_steps() && self.has_fired(mode, gate)
    }

    /// The gate that decides: this one, or the one it leads to. Chains are free of cycles when they are read.
    pub(super) fn resolve(&self, mode: &'a Mode, gate: &'a Gate) -> (&'a Gate, Outcome, Verdict) {
        let mut gate = gate;
        loop {
            let outcome = self.evaluate(mode, &gate.check);
            let action = match outcome.truth {
                Truth::Passes => &gate.pass,
                Truth::Fails => &gate.fail,
                Truth::Unknown => &gate.unknown,
            };
            // A step that asks the user, or stops everything, says so itself.
            let own = outcome.all_extras().filter_map(|adds| adds.verdict).max();
            match action {
                Action::Verdict(verdict) => {
                    return (gate, outcome, own.filter(|_| *verdict > Verdict::Pass).unwrap_or(*verdict));
                }
                Action::Gate(id) => match mode.all_gates().find(|(_, other)| other.id == *id) {
                    Some((_, next)) if self.applies(mode, next) => gate = next,
                    _ => return (gate, outcome, Verdict::Pass),
                },
            }
        }
    }

    /// Whether a gate that speaks once has spoken.
    fn has_fired(&self, mode: &Mode, gate: &Gate) -> bool {
        let told = || self.after.mode_state(&mode.namespace)?.notified.get(gate.id.as_str());
        self.once_period(gate).is_some_and(|time| told() == Some(&time))
    }

    /// Notes that a gate that speaks once has spoken.
    fn mark_fired(&mut self, mode: &Mode, gate: &Gate) {
        if let Some(time) = self.once_period(gate) {
            self.state_mut(mode).notified.insert(gate.id.to_string(), time);
        }
    }

    /// The time in which a gate speaks once.
    fn once_period(&self, gate: &Gate) -> Option<String> {
        gate.once.map(|once| match once {
            Once::Session => "session".to_owned(),
            Once::Day => self.facts.clock().date,
        })
    }

    /// Counts the refusals of one agent on the same facts, and lets go when they are enough.
    fn apply_patience(&mut self, mode: &'a Mode, gate: &Gate, finding: &mut Finding) {
        let key = format!("{}@{}", gate.id, self.event.agent_id().unwrap_or("main"));
        if finding.verdict != Verdict::Block {
            self.after.modes.get_mut(&mode.namespace).and_then(|state| state.blocks.remove(&key));
            return;
        }
        let patience = self.catalogue.settings.patience(mode.patience, gate.patience);
        let facts = format!("{:016x}", hash(finding.outcome.saw.as_bytes()));
        let again = self.event.stop_hook_active();
        let hold = self.state_mut(mode).blocks.entry(key.clone()).or_default();
        // An agent that was let go and now ends another run has to answer for that one anew.
        let another_run = hold.count > patience && !again;
        if hold.facts != facts || another_run {
            *hold = BlockCount { count: 0, facts };
        }
        let count = hold.count;
        hold.count = (count + 1).min(patience + 1);
        if count >= patience {
            finding.verdict = Verdict::Pass;
            finding.unmet = true;
        }
        // While another gate still objects, a gate that has let go stays so, and says it once.
        if count == patience {
            self.give_in(mode, gate, finding);
        }
    }

    fn give_in(&mut self, mode: &'a Mode, gate: &Gate, finding: &Finding) {
        let agent = self.who.clone().unwrap_or_else(|| "the main agent".into());
        let at = self.facts.clock().at;
        let note = format!(
            "{agent} was let go with its work unmet: {} What needs it stays closed.",
            finding.outcome.sentence(&gate.message)
        );
        self.moves.push(format!("{} released unmet", gate.id));
        let state = self.state_mut(mode);
        state.unmet.push(UnmetGate { gate: gate.id.clone(), agent, at });
        state.notes.push(note);
    }

    /// What the model reads: what is missing_steps, what was seen, what to do next.
    fn reason(&self, mode: &Mode, gate: &Gate, outcome: &Outcome, verdict: Verdict) -> String {
        let mut outcome = outcome.clone();
        if outcome.truth == Truth::Unknown && !self.event.kind.is_some_and(EventKind::is_stop) {
            // What would open it is not the point while nobody can tell: the reason is.
            outcome.remedy = None;
        } else if self.event.kind.is_some_and(EventKind::is_stop) {
            if self.event.kind == Some(EventKind::SubagentStop) && verdict == Verdict::Block {
                // The parent gets the last message only, so the report has to come again.
                let remedy = outcome.remedy.map(|remedy| format!("{remedy}, then ")).unwrap_or_default();
                outcome.remedy = Some(format!("{remedy}give your full final report again"));
            }
        } else if let Some(what) = self.starting() {
            // Whoever is refused a start is not the one who has to do the missing_steps work.
            let wanted = gate.check.expectation(&self.scope(mode));
            outcome.remedy = wanted.map(|wanted| format!("{what} may start once {wanted}"));
        }
        outcome.sentence(&gate.message)
    }

    /// What is about to begin with this event.
    fn starting(&self) -> Option<String> {
        let command = || self.event.command().map(|call| format!("/{}", call.name));
        self.event.spawned().map(str::to_owned).or_else(command)
    }
}
