//! Ends blocks of stops: when patience is used up, and at once where the host forbids edits.

use super::Engine;
use crate::facts::session::{BlockCount, UnmetGate};
use crate::facts::verdict::{Finding, Verdict};
use crate::host::event::EventKind;
use crate::host::paths::hash;
use crate::policy::mode::{Gate, Mode};

/// Why an agent in the host's plan mode cannot do its work.
pub(super) const PLAN_MODE: &str = "Claude Code is in plan mode, which forbids edits";

impl<'a> Engine<'a> {
    /// Counts how often a gate blocked one agent on the same facts, and gives in when its patience is used up.
    ///
    /// In the host's plan mode no block helps: a gate after a phase gives in at once.
    pub(super) fn apply_patience(&mut self, mode: &'a Mode, gate: &Gate, finding: &mut Finding) {
        let key = format!("{}@{}", gate.id, self.event.agent_id().unwrap_or("main"));
        if finding.verdict != Verdict::Block {
            if self.after.mode_state(&mode.namespace).is_some_and(|state| state.blocks.contains_key(&key)) {
                self.state_mut(mode).blocks.remove(&key);
            }
            return;
        }
        let patience = self.catalogue.settings.patience(mode.patience, gate.patience);
        let facts = format!("{:016x}", hash(finding.outcome.saw.as_bytes()));
        let cannot_edit = finding.phase.is_some() && self.event.in_plan_mode();
        // The main agent stops at the end of each turn; its work is the same as before.
        let same_work = self.event.stop_hook_active() || cannot_edit && self.event.agent_id().is_none();
        let blocks = self.state_mut(mode).blocks.entry(key).or_default();
        // An agent that was allowed to stop and now ends another run is counted again.
        let another_run = blocks.count > patience && !same_work;
        if blocks.facts != facts || another_run {
            *blocks = BlockCount { count: 0, facts };
        }
        if cannot_edit {
            blocks.count = blocks.count.max(patience);
        }
        let count = blocks.count;
        blocks.count = (count + 1).min(patience + 1);
        if count >= patience {
            finding.verdict = Verdict::Pass;
            finding.unmet = true;
        }
        // While another gate still blocks, a gate that gave in reports it only once.
        if count == patience {
            let missing = finding.outcome.sentence(&gate.message);
            self.allow_unmet(mode, gate, &missing, cannot_edit);
        }
    }

    /// Records that a gate gave in, and reports it to the main agent and to the user.
    ///
    /// The host shows a message at the main agent's stop, and none at the stop of a background agent: there the
    /// message waits for the next event of the main agent.
    fn allow_unmet(&mut self, mode: &'a Mode, gate: &Gate, missing: &str, cannot_edit: bool) {
        let main = self.who.is_none();
        let agent = self.who.clone().unwrap_or_else(|| "the main agent".into());
        let at = self.facts.clock().at;
        let (why, remedy) = match (cannot_edit, main) {
            (false, _) => (String::new(), ""),
            (true, true) => (format!(", because {PLAN_MODE}"), " Leave plan mode, then go on."),
            (true, false) => (format!(", because {PLAN_MODE}"), " Leave plan mode, then run the agent again."),
        };
        let note = format!(
            "{agent} was allowed to stop with its work unfinished{why}: {missing} Steps that need it stay blocked.{remedy}"
        );
        let message = format!("modegate: {} · {note}", mode.name);
        self.moves.push(format!("{} not met", gate.id));
        if self.event.kind == Some(EventKind::Stop) {
            self.messages.push(message.clone());
        }
        let waits = self.event.kind != Some(EventKind::Stop);
        let state = self.state_mut(mode);
        state.unmet.push(UnmetGate { gate: gate.id.clone(), agent, at });
        state.notes.push(note);
        state.messages.extend(Some(message).filter(|_| waits));
    }

    /// Tells the model and the user, when a mode is activated, that its agents cannot write their files.
    pub(super) fn warn_of_plan_mode(&mut self, mode: &Mode) {
        if !self.event.in_plan_mode() || mode.phases.iter().all(|phase| phase.after.is_empty()) {
            return;
        }
        let text = format!("{PLAN_MODE}: no agent can write the files that are checked, and no phase gets done.");
        let context = format!("{text} Ask the user to leave plan mode before you start an agent.");
        if !self.context.contains(&context) {
            self.context.push(context);
            self.messages.push(format!("modegate: {} · {text} Leave plan mode first.", mode.name));
        }
    }
}
