//! Forks: a forked conversation is a new session, which goes on with the modes of its parent.

use super::{Engine, Intent};
use crate::facts::{ForkParent, ParentSession};
use crate::host::event::EventKind;
use crate::host::ids::SessionId;
use crate::policy::mode::Mode;

/// The most ancestors that are kept.
const ANCESTORS: usize = 8;

impl<'a> Engine<'a> {
    /// Takes over the modes of the session that this one was forked from.
    ///
    /// The host may write the transcript only after the first prompt, so the question is repeated until the first stop.
    pub(super) fn take_over_modes(&mut self, kind: EventKind) {
        if !self.after.is_pending_fork() && !self.begins_as_fork(kind) {
            return;
        }
        let transcript = self.event.text("transcript_path").map(str::to_owned);
        match self.facts.fork_parent(transcript) {
            Ok(ForkParent::Found(parent)) => self.inherit(kind, parent),
            Ok(ForkParent::NotFound { active }) => self.report_unknown_parent(kind, &active),
            Ok(ForkParent::NotWritten { active }) if is_last_chance(kind) => self.report_unknown_parent(kind, &active),
            Err(_) if is_last_chance(kind) => self.report_unknown_parent(kind, &[]),
            Ok(ForkParent::NotWritten { .. }) | Err(_) => self.after.base_mut().fork_pending = true,
        }
    }

    /// Whether this event begins a forked session that has no state yet.
    fn begins_as_fork(&self, kind: EventKind) -> bool {
        let is_fork = match self.event.text("source") {
            Some("fork") => true,
            // Older hosts report `/branch` as a resumed session; unlike `--resume`, it comes from a prompt.
            Some("resume") => self.event.text("prompt_id").is_some(),
            _ => false,
        };
        kind == EventKind::SessionStart && is_fork && self.after.modes.is_empty()
    }

    fn inherit(&mut self, kind: EventKind, parent: ParentSession) {
        let ParentSession { id, ancestors, mut modes } = parent;
        let inherited = modes.remove(crate::facts::session::BASE_NAMESPACE).unwrap_or_default();
        let base = self.after.base_mut();
        base.fork_pending = false;
        base.forked_from = std::iter::once(id.clone()).chain(ancestors).take(ANCESTORS).collect();
        for (gate, period) in &inherited.notified {
            base.notified.entry(gate.clone()).or_insert_with(|| period.clone());
        }
        for (namespace, state) in modes {
            // A mode that the first prompt has activated is newer.
            self.after.modes.entry(namespace).or_insert(state);
        }
        self.report_fork(kind, &id);
    }

    /// Tells the model and the user which modes continue, and the model what each expects next.
    fn report_fork(&mut self, kind: EventKind, parent: &SessionId) {
        let active: Vec<&'a Mode> = self.active().collect();
        if active.is_empty() {
            return;
        }
        let names: Vec<String> = active.iter().map(|mode| self.mode_label(mode)).collect();
        let names = names.join(", ");
        let verb = if active.len() == 1 { "is" } else { "are" };
        let text = format!("modegate: this session was forked from {parent}, so {names} {verb} active here too.");
        let note = format!("{text} Files named after {parent} count for this session; name new files after this one.");
        self.tell(kind, note, text);
        // A session's start is briefed anyway.
        if kind != EventKind::SessionStart && self.reaches_parent() {
            self.intents.extend(active.into_iter().map(Intent::Brief));
        }
    }

    fn mode_label(&self, mode: &'a Mode) -> String {
        match self.current_phase(mode) {
            Some((_, phase)) => format!("{} mode (phase {})", mode.name, phase.name),
            None => format!("{} mode", mode.name),
        }
    }

    /// Reports that modes of the parent may be missing here, if a mode is active anywhere.
    fn report_unknown_parent(&mut self, kind: EventKind, active: &[SessionId]) {
        if self.after.is_pending_fork() {
            self.after.base_mut().fork_pending = false;
        }
        if active.is_empty() {
            return;
        }
        let ids = active.iter().map(SessionId::as_str).collect::<Vec<_>>().join(", ");
        let text = format!(
            "modegate: this session is a fork of an unknown session, so it starts without modes. Modes are active in {ids}; if one should be active here, type its command again."
        );
        self.tell(kind, text.clone(), text);
    }

    /// Tells the model and the user, with the next event that reaches them.
    fn tell(&mut self, kind: EventKind, note: String, message: String) {
        if kind == EventKind::SessionStart {
            self.context.push(note);
            self.messages.push(message);
        } else {
            let base = self.after.base_mut();
            base.notes.push(note);
            base.messages.push(message);
        }
    }
}

/// After the first turn the host has written whatever it will write.
fn is_last_chance(kind: EventKind) -> bool {
    matches!(kind, EventKind::Stop | EventKind::SessionEnd)
}
