//! Judges the tool's input again after gates have rewritten it.

use super::Engine;
use crate::facts::verdict::{Finding, Verdict};
use crate::facts::{Facts, RewrittenFacts};
use crate::policy::mode::{Gate, Mode};

impl<'a> Engine<'a> {
    /// Runs the gates that rewrite nothing on the final input, if that differs from the one the tool was called with.
    ///
    /// What they find counts in addition to what was found before.
    pub(super) fn judge_rewritten_input(&mut self) {
        let is_blocked = self.findings.iter().any(|finding| finding.verdict >= Verdict::Block);
        let Some(input) = self.input.clone().filter(|_| !is_blocked) else { return };
        if self.event.fields.get("tool_input") == Some(&input) {
            return;
        }
        let event = self.event.with_input(input.clone());
        let source = RewrittenFacts::new(self.facts, &input);
        let facts = Facts::new(&source);
        let mut second = Engine {
            who: self.who.clone(),
            input: Some(input.clone()),
            after_rewriting: self.after_rewriting.clone(),
            is_second_pass: true,
            by_own_work: self.by_own_work,
            ..Engine::new(&event, self.catalogue, &facts, self.after.clone())
        };
        second.run_second_pass(&self.findings);
        let Engine { after, findings, .. } = second;
        self.after = after;
        self.findings.extend(findings);
    }

    /// Runs the gates that rewrite nothing; `before` has the findings about the original input.
    fn run_second_pass(&mut self, before: &[Finding]) {
        let gave_input = |finding: &Finding| finding.outcome.all_extras().any(|extras| extras.input.is_some());
        let has_rewritten = |mode: &Mode, gate: &Gate| {
            let is_own = |finding: &&Finding| finding.mode == mode.name && finding.gate == gate.id;
            gate.rewrites() || before.iter().filter(is_own).any(gave_input)
        };
        let mut gates = self.free_gates();
        for reached in std::mem::take(&mut self.after_rewriting) {
            if !gates.iter().any(|(_, gate)| gate.id == reached.1.id) && self.applies(reached.0, reached.1) {
                gates.push(reached);
            }
        }
        gates.retain(|(mode, gate)| !has_rewritten(mode, gate));
        self.prepare(&gates);
        for (mode, gate) in gates {
            self.judge_again(mode, gate, before);
        }
    }

    /// Runs one gate on the rewritten input, and keeps what it finds if it is new.
    fn judge_again(&mut self, mode: &'a Mode, gate: &'a Gate, before: &[Finding]) {
        if self.step_has_run(mode, gate) {
            return;
        }
        let assessment = self.assess(mode, gate);
        let gate = assessment.gate;
        let mut finding = self.finding(mode, None, assessment);
        let same = |known: &Finding| {
            (&known.mode, &known.gate, known.verdict, &known.reason)
                == (&finding.mode, &finding.gate, finding.verdict, &finding.reason)
        };
        if finding.verdict == Verdict::Pass || self.has_fired(mode, gate) || before.iter().any(same) {
            return;
        }
        self.mark_fired(mode, gate);
        finding.reason = format!("After a gate rewrote the tool's input: {}", finding.reason);
        self.findings.push(finding);
    }
}
