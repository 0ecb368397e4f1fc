//! Mode transitions: activation, completed phases, detours, the end of a mode.

use super::{Engine, Intent};
use crate::facts::session::{DetourOrigin, ModeEnding, ModeState};
use crate::facts::verdict::Truth;
use crate::policy::check::Check;
use crate::policy::mode::{Mode, Phase, Worker};
use std::collections::BTreeMap;

impl<'a> Engine<'a> {
    /// Applies the intents; called only when nothing blocks.
    pub(super) fn apply_intents(&mut self) {
        for intent in std::mem::take(&mut self.intents) {
            match intent {
                Intent::Activate(mode) => self.activate(mode),
                Intent::Done(mode, phase) => self.done(mode, phase),
                Intent::AwaitOthers(mode, phase) => self.await_others(mode, phase),
                Intent::Skip(mode, phase) => self.skip(mode, phase),
                Intent::Admit(mode, start) => self.admit(mode, start),
                Intent::Unblock(mode) => self.unblock(mode),
                Intent::Ran(mode, mark) => self.state_mut(mode).see(&mark),
                Intent::AddContext(note) => self.context.push(note),
                Intent::AddNote(note) => self.add_note(note),
                Intent::Brief(mode) => self.brief_mode(mode, ""),
            }
        }
    }

    fn add_note(&mut self, note: String) {
        let notes = &mut self.after.base_mut().notes;
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    fn activate(&mut self, mode: &'a Mode) {
        let head = if asks_for_head(mode) { self.facts.head().ok().map(Option::unwrap_or_default) } else { None };
        let baseline = self.baseline(mode);
        let at = self.facts.clock().at;
        let prompt = self.prompt_mark().map(str::to_owned);
        let old = std::mem::take(self.state_mut(mode));
        *self.state_mut(mode) = ModeState {
            is_active: true,
            phase: mode.first().map(|phase| phase.name.clone()),
            activated_at: Some(at),
            prompt_id: prompt,
            head,
            baseline,
            notes: old.notes,
            messages: old.messages,
            notified: old.notified,
            agents: old.agents,
            admitted: old.admitted,
            other: old.other,
            ..ModeState::default()
        };
        self.moves.push(format!("{} mode activated", mode.name));
        self.brief_mode(mode, &mode.say);
        self.warn_of_plan_mode(mode);
    }

    /// Returns the files that are uncommitted before the mode begins, for the checks that leave them out.
    fn baseline(&self, mode: &Mode) -> BTreeMap<String, String> {
        let mut paths: Vec<Vec<String>> = Vec::new();
        mode.checks(&mut |check| {
            if let Check::Clean(clean) = check {
                paths.extend(clean.baseline_paths(&self.scope(mode)));
            }
        });
        paths.sort_unstable();
        paths.dedup();
        paths.into_iter().filter_map(|paths| self.facts.baseline(paths).ok()).flatten().collect()
    }

    fn skip(&mut self, mode: &'a Mode, phase: &'a Phase) {
        self.moves.push(format!("{}: {} skipped", mode.name, phase.name));
        self.state_mut(mode).skipped.push(phase.name.clone());
        self.advance(mode);
    }

    /// Completes a phase: the mode enters its next phase, or ends.
    pub(super) fn done(&mut self, mode: &'a Mode, phase: &'a Phase) {
        self.moves.push(format!("{}: {} done", mode.name, phase.name));
        let name = phase.name.clone();
        let state = self.state_mut(mode);
        state.waiting.retain(|waiting| *waiting != name);
        if phase.when.is_some() {
            return leave_detour(state);
        }
        if !state.done.contains(&name) {
            state.done.push(name);
        }
        self.advance(mode);
    }

    /// Enters the phase after the furthest completed one, or in strict order the first that is not completed; after
    /// the last one the mode ends.
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

    /// Enters a phase, with a note to the main agent if it works there.
    fn go_to(&mut self, mode: &'a Mode, next: &'a Phase) {
        self.state_mut(mode).enter(&next.name);
        if next.worker == Worker::Main {
            let wanted = self
                .expectations_of(mode, &next.after)
                .map(|wanted| format!(" It is done when {wanted}."))
                .unwrap_or_default();
            let opening = next_opening(mode);
            let note = format!("{opening}{}.{wanted}", self.phase_label(next));
            let notes = &mut self.state_mut(mode).notes;
            notes.retain(|older| !older.starts_with(&opening));
            notes.push(note);
        }
    }

    /// Ends a mode with a note to the main agent, and advances the flows of which it is a step.
    fn end(&mut self, mode: &'a Mode) {
        self.moves.push(format!("{} mode complete", mode.name));
        let state = self.state_mut(mode);
        state.is_active = false;
        state.ended = Some(ModeEnding::Complete);
        state.blocks.clear();
        // A phase that was entered and completed by one event is not the next one any more.
        state.notes.retain(|note| !note.starts_with(&next_opening(mode)));
        if !mode.end.is_empty() {
            state.notes.push(mode.end.clone());
        }
        let flows: Vec<&'a Mode> = self.active().collect();
        for flow in flows {
            let current = self.current_phase(flow).map(|(index, _)| index);
            let step = flow.phases.iter().enumerate().find(|(_, phase)| phase.worker.is_mode(&mode.name));
            // In strict order a step that ends before its turn does not advance the flow.
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

    /// Completes phases of the main agent, and detours, as far as their gates pass.
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
            let may_advance = current.worker == Worker::Main || current.when.is_some();
            if !may_advance || !self.after_gates_pass(mode, current, false) {
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
}

/// Returns to the phase where the detour began; what was seen during the detour counts there too.
fn leave_detour(state: &mut ModeState) {
    if let Some(DetourOrigin { phase, since }) = state.origin.take() {
        state.enter(&phase);
        state.since = since;
    }
}

/// How a text about the next phase of a mode begins.
pub fn next_opening(mode: &Mode) -> String {
    format!("{} mode: next is ", mode.name)
}

fn asks_for_head(mode: &Mode) -> bool {
    let mut asks = false;
    mode.checks(&mut |check| asks |= matches!(check, Check::Clean(clean) if clean.moved));
    asks
}
