//! How modes move: activation, phases done, detours, the end.

use super::{Engine, Intent};
use crate::check::Check;
use crate::mode::{BASE, Gate, Mode, Phase, Worker};
use crate::session::{DetourOrigin, ModeEnding, ModeState};
use crate::verdict::{Finding, Outcome, Truth, Verdict};

impl<'a> Engine<'a> {
    /// Carries out what was intended, now that nothing objects.
    pub(super) fn apply_intents(&mut self) {
        for intent in std::mem::take(&mut self.intents) {
            match intent {
                Intent::Activate(mode) => self.activate(mode),
                Intent::Done(mode, phase) => self.done(mode, phase),
                Intent::Skip(mode, phase) => self.skip(mode, phase),
                Intent::Ran(mode, mark) => self.state_mut(mode).see(&mark),
                Intent::AddContext(note) => self.context.push(note),
                Intent::AddNote(note) => self.add_note(note),
                Intent::Brief(mode) => self.brief_mode(mode, ""),
            }
        }
    }

    fn add_note(&mut self, note: String) {
        let notes = &mut self.after.modes.entry(format!("{BASE}_mode")).or_default().notes;
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    fn activate(&mut self, mode: &'a Mode) {
        let head = if asks_for_head(mode) { self.facts.head().ok().map(Option::unwrap_or_default) } else { None };
        let at = self.facts.clock().at;
        let prompt = self.event.text("prompt_id").map(str::to_owned);
        let old = std::mem::take(self.state_mut(mode));
        *self.state_mut(mode) = ModeState {
            is_active: true,
            phase: mode.first().map(|phase| phase.name.clone()),
            activated_at: Some(at),
            prompt_id: prompt,
            head,
            notes: old.notes,
            notified: old.notified,
            other: old.other,
            ..ModeState::default()
        };
        self.moves.push(format!("{} mode activated", mode.name));
        self.brief_mode(mode, &mode.say);
    }

    fn skip(&mut self, mode: &'a Mode, phase: &'a Phase) {
        self.moves.push(format!("{}: {} skipped", mode.name, phase.name));
        self.state_mut(mode).skipped.push(phase.name.clone());
        self.advance(mode);
    }

    /// A phase is done: the mode moves on, or ends.
    pub(super) fn done(&mut self, mode: &'a Mode, phase: &'a Phase) {
        self.moves.push(format!("{}: {} done", mode.name, phase.name));
        let name = phase.name.clone();
        let state = self.state_mut(mode);
        if phase.when.is_some() {
            return leave_detour(state);
        }
        if !state.done.contains(&name) {
            state.done.push(name);
        }
        self.advance(mode);
    }

    /// Goes to the phase after the furthest one that is past, in strict order to the first that is not; after the
    /// last one the mode ends.
    fn advance(&mut self, mode: &'a Mode) {
        let Some(state) = self.after.mode_state(&mode.namespace) else { return };
        if mode.strict {
            let open = mode.phases.iter().find(|phase| phase.when.is_none() && !state.is_past(&phase.name));
            return match open {
                Some(next) if state.phase.as_deref() != Some(next.name.as_str()) => self.go_to(mode, next),
                Some(_) => {}
                None => self.end(mode),
            };
        }
        let furthest = mode.phases.iter().rposition(|phase| phase.when.is_none() && state.is_past(&phase.name));
        let Some(furthest) = furthest else { return };
        let current = self.current_phase(mode).map(|(index, _)| index);
        match mode.next(furthest) {
            Some(next) if current.is_none_or(|current| current <= furthest) => self.go_to(mode, next),
            Some(_) => {}
            None => self.end(mode),
        }
    }

    /// Enters a phase; the main agent is told when it is its own.
    fn go_to(&mut self, mode: &'a Mode, next: &'a Phase) {
        self.state_mut(mode).enter(&next.name);
        if next.worker == Worker::Main {
            let wanted = self
                .expectations_of(mode, &next.after)
                .map(|wanted| format!(" It is done when {wanted}."))
                .unwrap_or_default();
            let opening = format!("{} mode: next is ", mode.name);
            let note = format!("{opening}{}.{wanted}", self.phase_label(next));
            let notes = &mut self.state_mut(mode).notes;
            notes.retain(|older| !older.starts_with(&opening));
            notes.push(note);
        }
    }

    /// A mode is complete: its parent is told, and the flows it is a step of move on.
    fn end(&mut self, mode: &'a Mode) {
        self.moves.push(format!("{} mode complete", mode.name));
        let state = self.state_mut(mode);
        state.is_active = false;
        state.ended = Some(ModeEnding::Complete);
        state.blocks.clear();
        if !mode.end.is_empty() {
            state.notes.push(mode.end.clone());
        }
        let flows: Vec<&'a Mode> = self.active().collect();
        for flow in flows {
            let current = self.current_phase(flow).map(|(index, _)| index);
            let step = flow.phases.iter().enumerate().find(|(_, phase)| phase.worker.is_mode(&mode.name));
            // In strict order a step that ends ahead of its turn does not carry the flow.
            if let Some((_, step)) = step.filter(|(index, _)| !flow.strict || Some(*index) == current) {
                self.done(flow, step);
                let next =
                    self.current_phase(flow).filter(|_| self.after.is_active(&flow.namespace)).map(|(_, phase)| phase);
                let note = next.map(|next| {
                    format!("{} flow: {} is done, next is {}.", flow.name, step.name, self.phase_label(next))
                });
                self.state_mut(flow).notes.extend(note);
            }
        }
    }

    /// Moves the phases of the main agent on as far as their evidence goes.
    pub(super) fn advance_main_phases(&mut self, mode: &'a Mode) {
        for _ in 0..=mode.phases.len() {
            let Some((_, current)) = self.current_phase(mode).filter(|_| self.after.is_active(&mode.namespace)) else {
                return;
            };
            if let Some(detour) = self.detour(mode, current) {
                self.moves.push(format!("{}: {} entered", mode.name, detour.name));
                let state = self.state_mut(mode);
                state.origin = Some(DetourOrigin { phase: current.name.clone(), since: state.since });
                state.enter(&detour.name);
                continue;
            }
            let may_move = current.worker == Worker::Main || current.when.is_some();
            if !may_move || !self.is_evident(mode, current) {
                return;
            }
            self.done(mode, current);
        }
    }

    fn detour(&self, mode: &'a Mode, current: &Phase) -> Option<&'a Phase> {
        let open = |phase: &&Phase| phase.from.contains(&current.name);
        let entered = |check: &Check| self.evaluate(mode, check).truth == Truth::Passes;
        mode.phases.iter().filter(open).find(|phase| phase.when.as_ref().is_some_and(entered))
    }

    /// Whether every gate after a phase is content; if so, what they saw is noted. A phase without any never
    /// ends by itself.
    fn is_evident(&mut self, mode: &'a Mode, phase: &'a Phase) -> bool {
        let seen: Vec<(&Gate, Outcome, Verdict)> = phase.after.iter().map(|gate| self.resolve(mode, gate)).collect();
        if seen.is_empty() || seen.iter().any(|(_, _, verdict)| *verdict != Verdict::Pass) {
            return false;
        }
        let found = |(gate, outcome, verdict): (&Gate, Outcome, Verdict)| Finding {
            mode: mode.name.clone(),
            phase: Some(phase.name.clone()),
            gate: gate.id.clone(),
            verdict,
            reason: String::new(),
            outcome,
            unmet: false,
        };
        self.findings.extend(seen.into_iter().map(found));
        true
    }
}

/// Back to where the detour began, as if it had never been left: what was seen on the way counts there too.
fn leave_detour(state: &mut ModeState) {
    if let Some(DetourOrigin { phase, since }) = state.origin.take() {
        state.enter(&phase);
        state.since = since;
    }
}

fn asks_for_head(mode: &Mode) -> bool {
    let mut asks = false;
    mode.checks(&mut |check| asks |= matches!(check, Check::Clean(clean) if clean.moved));
    asks
}
