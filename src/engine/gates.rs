//! Runs gates: a gate's check, what follows from it, and its level.

use super::Engine;
use crate::facts::Unknown;
use crate::facts::verdict::{Finding, Outcome, Truth, Verdict};
use crate::host::event::EventKind;
use crate::policy::check::Scope;
use crate::policy::mode::{Action, BASE, Gate, Level, Mode, Once, Phase};
use serde_json::{Map, Value};

/// What a gate makes of an event before anything follows from it.
pub(super) struct Assessment<'a> {
    /// The gate that decides: the one that matched, or the one it leads to.
    pub(super) gate: &'a Gate,
    outcome: Outcome,
    /// The verdict by the mode file.
    verdict: Verdict,
    /// The gates that led to the one that decides, in order.
    leading: Vec<(&'a Gate, Outcome)>,
}

impl Assessment<'_> {
    /// Whether the evidence is there; the level does not count here.
    fn passes(&self) -> bool {
        self.verdict < Verdict::Block
    }
}

impl<'a> Engine<'a> {
    /// Whether the gates after a phase all pass.
    ///
    /// At a stop that the phase may block (`enforce`), gates block it, until their patience is used up. Otherwise they
    /// are only assessed, and their findings are kept once they all pass; a phase without gates never passes this way.
    pub(super) fn after_gates_pass(&mut self, mode: &'a Mode, phase: &'a Phase, enforce: bool) -> bool {
        if enforce {
            // Every gate runs, also after one that fails: the reply joins all reasons.
            let passed: Vec<bool> = phase.after.iter().map(|gate| self.run_gate(mode, Some(phase), gate)).collect();
            return passed.into_iter().all(|passed| passed);
        }
        let gates = phase.after.iter().filter(|gate| !self.step_has_run(mode, gate) && self.applies(mode, gate));
        let assessed: Vec<Assessment<'a>> = gates.map(|gate| self.assess(mode, gate)).collect();
        if assessed.is_empty() || !assessed.iter().all(Assessment::passes) {
            return false;
        }
        for assessment in assessed {
            let finding = self.finding(mode, Some(phase), assessment);
            self.findings.push(finding);
        }
        true
    }

    /// Runs a gate and records its finding; true when the evidence is there.
    pub(super) fn run_gate(&mut self, mode: &'a Mode, phase: Option<&'a Phase>, gate: &'a Gate) -> bool {
        if self.step_has_run(mode, gate) || !self.applies(mode, gate) {
            return true;
        }
        let first = gate;
        let mut assessment = self.assess(mode, gate);
        let leading = std::mem::take(&mut assessment.leading);
        let (gate, passes) = (assessment.gate, assessment.passes());
        if leading.iter().any(|(gate, _)| gate.rewrites()) {
            self.after_rewriting.push((mode, gate));
        }
        let mut finding = self.finding(mode, phase, assessment);
        let fired_before = self.has_fired(mode, gate);
        let fires = finding.verdict > Verdict::Observe;
        // A gate that fires once lets later events through.
        if fires && fired_before {
            finding.verdict = Verdict::Pass;
        }
        if self.event.kind.is_some_and(EventKind::is_stop) {
            self.apply_patience(mode, gate, &mut finding);
        }
        let passes = passes && !(fires && fired_before) && !finding.unmet;
        if finding.verdict < Verdict::Block {
            for (gate, outcome) in &leading {
                self.apply_extras(mode, gate, outcome, self.has_fired(mode, gate));
                self.mark_fired(mode, gate);
            }
            self.apply_extras(mode, gate, &finding.outcome, fired_before);
        }
        if fires || gate.context.is_some() && finding.outcome.truth == Truth::Passes {
            self.mark_fired(mode, gate);
        }
        if first.check.has_steps() {
            self.mark_fired(mode, first);
        }
        let has_passed = finding.verdict == Verdict::Pass && finding.outcome.truth == Truth::Passes && !finding.unmet;
        if mode.name == BASE && has_passed && finding.outcome.all_extras().next().is_none() {
            // Its gates check every event, and nearly all pass: what their parts saw would be half of the journal.
            finding.outcome.parts.clear();
        }
        self.findings.push(finding);
        passes
    }

    /// Evaluates a gate and those it leads to; the project's settings may turn its warning into a block.
    pub(super) fn assess(&self, mode: &'a Mode, gate: &'a Gate) -> Assessment<'a> {
        let mut assessment = self.resolve(mode, gate);
        if assessment.verdict == Verdict::Warn && self.catalogue.settings.enforces(&assessment.gate.id) {
            assessment.verdict = Verdict::Block;
        }
        assessment
    }

    pub(super) fn finding(&self, mode: &Mode, phase: Option<&Phase>, assessment: Assessment<'_>) -> Finding {
        let Assessment { gate, outcome, verdict, .. } = assessment;
        let silent = verdict == Verdict::Pass;
        let allowed = self.level(mode, gate).cap(verdict);
        Finding {
            mode: mode.name.clone(),
            phase: phase.map(|phase| phase.name.clone()),
            gate: gate.id.clone(),
            verdict: allowed,
            reason: if silent { String::new() } else { self.reason(mode, gate, &outcome, allowed) },
            outcome,
            unmet: false,
        }
    }

    /// Whether a gate applies to this event; it does where its `if` is unknown.
    pub(super) fn applies(&self, mode: &'a Mode, gate: &'a Gate) -> bool {
        let fails = |condition| self.evaluate(mode, condition).truth == Truth::Fails;
        self.level(mode, gate) != Level::Off && !gate.condition.as_ref().is_some_and(fails)
    }

    /// The level of a gate, with the project's settings.
    fn level(&self, mode: &Mode, gate: &Gate) -> Level {
        self.catalogue.settings.level((&mode.name, mode.level), (&gate.id, gate.level))
    }

    /// Applies what a gate adds to an event that it allows: context, messages, a rewritten input.
    fn apply_extras(&mut self, mode: &'a Mode, gate: &'a Gate, outcome: &Outcome, fired_before: bool) {
        for extras in outcome.all_extras() {
            extras.context.iter().for_each(|text| self.add_or_defer(text.clone()));
            self.messages.extend(extras.message.clone());
            self.allow |= extras.allow;
        }
        let input = self.input.take();
        self.input = self.rewritten(gate, outcome, input);
        if let Some(text) = gate.context.as_ref().filter(|_| !fired_before && outcome.truth == Truth::Passes) {
            let filled = self.scope(mode).expand(text).ok().and_then(|texts| texts.into_iter().next());
            self.add_or_defer(filled.unwrap_or_else(|| text.clone()));
        }
    }

    /// Returns the tool's input as a gate leaves it, if it was `input` before; `None` if no gate has changed it.
    ///
    /// Only the input of a tool that has not run yet can be changed.
    fn rewritten(&self, gate: &Gate, outcome: &Outcome, input: Option<Value>) -> Option<Value> {
        if self.event.kind != Some(EventKind::PreToolUse) {
            return None;
        }
        let input = outcome.all_extras().filter_map(|extras| extras.input.clone()).last().or(input);
        let change = gate.rewrite.as_ref().filter(|_| outcome.truth == Truth::Passes);
        let Some(change) = change.and_then(|json| serde_json::from_str::<Map<String, Value>>(json).ok()) else {
            return input;
        };
        let given = input.or_else(|| self.event.fields.get("tool_input").cloned());
        let mut fields = given.and_then(|given| given.as_object().cloned()).unwrap_or_default();
        fields.extend(change);
        Some(Value::Object(fields))
    }

    /// Whether a gate's program or request was to run once, and has; it does not run again, whatever its result.
    pub(super) fn step_has_run(&self, mode: &Mode, gate: &Gate) -> bool {
        gate.check.has_steps() && self.has_fired(mode, gate)
    }

    /// Returns the gate that decides, this one or the one it leads to; the parser rejects cycles.
    ///
    /// A gate sees the tool's input as those that led to it have left it.
    fn resolve(&self, mode: &'a Mode, gate: &'a Gate) -> Assessment<'a> {
        let (mut gate, mut leading, mut input) = (gate, Vec::new(), self.input.clone());
        loop {
            let outcome = gate.check.evaluate(&Scope { input: input.as_ref(), ..self.scope(mode) });
            let action = match outcome.truth {
                Truth::Passes => &gate.pass,
                Truth::Fails => &gate.fail,
                Truth::Unknown => &gate.unknown,
            };
            // A program may ask the user or stop everything by itself.
            let own = outcome.all_extras().filter_map(|extras| extras.verdict).max();
            match action {
                Action::Verdict(verdict) => {
                    let verdict = own.filter(|_| *verdict > Verdict::Pass).unwrap_or(*verdict);
                    return Assessment { gate, outcome, verdict, leading };
                }
                Action::Gate(id) => match mode.all_gates().find(|(_, other)| other.id == *id) {
                    Some((_, next)) if self.applies(mode, next) && !(self.is_second_pass && next.rewrites()) => {
                        input = self.rewritten(gate, &outcome, input);
                        leading.push((gate, outcome));
                        gate = next;
                    }
                    _ => return Assessment { gate, outcome, verdict: Verdict::Pass, leading },
                },
            }
        }
    }

    pub(super) fn has_fired(&self, mode: &Mode, gate: &Gate) -> bool {
        let fired = || self.after.mode_state(&mode.namespace)?.notified.get(gate.id.as_str());
        self.once_period(gate).is_some_and(|period| fired() == Some(&period))
    }

    pub(super) fn mark_fired(&mut self, mode: &Mode, gate: &Gate) {
        if let Some(period) = self.once_period(gate) {
            self.state_mut(mode).notified.insert(gate.id.to_string(), period);
        }
    }

    fn once_period(&self, gate: &Gate) -> Option<String> {
        gate.once.map(|once| match once {
            Once::Session => "session".to_owned(),
            Once::Day => self.facts.clock().date,
        })
    }

    /// Writes what the model reads: what is missing, what was seen, what to do next.
    fn reason(&self, mode: &Mode, gate: &Gate, outcome: &Outcome, verdict: Verdict) -> String {
        let mut outcome = outcome.clone();
        if outcome.truth == Truth::Unknown && !self.event.kind.is_some_and(EventKind::is_stop) {
            // While the result is unknown, the reason matters, not what would open the gate.
            outcome.remedy = None;
        } else if self.event.kind.is_some_and(EventKind::is_stop) {
            if self.event.kind == Some(EventKind::SubagentStop) && verdict == Verdict::Block {
                // The main agent gets only the last message, so the report has to come again.
                let remedy = outcome.remedy.map(|remedy| format!("{remedy}, then ")).unwrap_or_default();
                outcome.remedy = Some(format!("{remedy}give your full final report again"));
            }
        } else if let Some(what) = self.starting() {
            // Whoever starts an agent does not do the missing work: the message says what opens the gate.
            let wanted = gate.check.expectation(&self.scope(mode));
            outcome.remedy = wanted.map(|wanted| format!("{what} may start once {wanted}"));
        }
        let unreadable = Unknown::unreadable_in(&outcome.saw).filter(|_| outcome.truth == Truth::Unknown);
        if let Some(why) = unreadable {
            // The gate's own sentence would claim something that is not known.
            let saw = format!("{why}; its effects are unknown");
            return Outcome { saw: saw.into(), ..outcome }.sentence("");
        }
        let reason = outcome.sentence(&gate.message);
        let is_missing = outcome.truth == Truth::Fails && verdict >= Verdict::Warn;
        match is_missing.then(|| self.in_other_worktree(mode, gate)).flatten() {
            Some(path) => {
                format!("{reason} A matching file is in another worktree, {path}: merge that branch or copy the file.")
            }
            None => reason,
        }
    }

    /// Returns a file of another worktree that a gate needs here; it opens no gate.
    fn in_other_worktree(&self, mode: &Mode, gate: &Gate) -> Option<String> {
        let scope = self.scope(mode);
        gate.check.artifacts().into_iter().find_map(|name| scope.in_other_worktree(name))
    }

    fn starting(&self) -> Option<String> {
        let command = || self.event.command().map(|call| format!("/{}", call.name));
        let spawned = || self.event.spawned().map(str::to_owned);
        self.starting.clone().or_else(spawned).or_else(command)
    }
}
