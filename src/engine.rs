//! Decides events: from an event, the modes, the session and the facts to a decision and the session after it.
//!
//! Pure and total: no I/O, no errors. A fact that cannot be found out is an answer too, and the mode file says
//! what follows from it.

mod agents;
mod brief;
mod context;
mod fork;
mod gates;
mod parallel;
mod patience;
mod progress;
mod rewritten;
mod start;
mod stop;
#[cfg(test)]
mod tests;
mod who;

pub use progress::next_opening;

use crate::facts::Facts;
use crate::facts::session::{AdmittedStart, ModeState, Session};
use crate::facts::verdict::{Decision, Finding, Outcome, Verdict};
use crate::host::event::{Event, EventKind};
use crate::host::ids::AgentName;
use crate::policy::check::{Check, Scope};
use crate::policy::mode::{BASE, Catalogue, Gate, Mode, Phase};
use serde_json::Value;
use std::sync::Arc;

/// The most notes that wait for the main agent.
const NOTES: usize = 20;

/// The decision on an event, with everything it rests on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Decided {
    /// The decision.
    pub decision: Decision,
    /// The findings of all gates that ran.
    pub findings: Vec<Finding>,
    /// The session after the event.
    pub session: Session,
    /// The agent that stops, if known.
    pub who: Option<AgentName>,
}

impl Decided {
    /// The decision in one word, for people.
    pub fn outcome(&self) -> &'static str {
        outcome(&self.decision, &self.findings)
    }
}

/// The decision in one word, for people.
pub fn outcome(decision: &Decision, findings: &[Finding]) -> &'static str {
    match decision.verdict {
        Verdict::Stop => "stopped",
        Verdict::Block => "blocked",
        Verdict::Ask => "asked",
        _ if findings.iter().any(|finding| finding.unmet) => "unfinished",
        Verdict::Warn => "warned",
        _ => "allowed",
    }
}

/// Decides `event`.
pub fn decide(event: &Event, catalogue: &Catalogue, session: &Session, facts: &Facts<'_>) -> Decided {
    let event = who::with_agent_type(event, catalogue, session, facts);
    let mut engine = Engine::new(&event, catalogue, facts, session.clone());
    if let Some(kind) = event.kind {
        engine.dispatch(kind);
    }
    engine.finish()
}

/// A change to a mode that waits until every gate has run; it is dropped when one blocks.
enum Intent<'a> {
    Activate(&'a Mode),
    Done(&'a Mode, &'a Phase),
    AwaitOthers(&'a Mode, &'a Phase),
    Skip(&'a Mode, &'a Phase),
    Admit(&'a Mode, AdmittedStart),
    Unblock(&'a Mode),
    Ran(&'a Mode, String),
    AddContext(String),
    AddNote(String),
    Brief(&'a Mode),
}

struct Engine<'a> {
    event: &'a Event,
    catalogue: &'a Catalogue,
    facts: &'a Facts<'a>,
    after: Session,
    findings: Vec<Finding>,
    context: Vec<String>,
    messages: Vec<String>,
    moves: Vec<String>,
    intents: Vec<Intent<'a>>,
    who: Option<AgentName>,
    /// The agent whose start is being decided.
    starting: Option<String>,
    /// The tool's input as gates have rewritten it.
    input: Option<Value>,
    /// The gates that were reached from one that rewrites.
    after_rewriting: Vec<(&'a Mode, &'a Gate)>,
    /// Whether rewritten input is being checked: nothing is rewritten again.
    is_second_pass: bool,
    allow: bool,
    /// Whether checks look at what the agent of this event did itself, if others work in its phase.
    by_own_work: bool,
}

impl<'a> Engine<'a> {
    fn new(event: &'a Event, catalogue: &'a Catalogue, facts: &'a Facts<'a>, after: Session) -> Self {
        Self {
            event,
            catalogue,
            facts,
            after,
            findings: Vec::new(),
            context: Vec::new(),
            messages: Vec::new(),
            moves: Vec::new(),
            intents: Vec::new(),
            who: None,
            starting: None,
            input: None,
            after_rewriting: Vec::new(),
            is_second_pass: false,
            allow: false,
            by_own_work: false,
        }
    }

    fn dispatch(&mut self, kind: EventKind) {
        self.take_over_modes(kind);
        if let Some(call) = self.event.command() {
            self.on_command(call);
        }
        match kind {
            EventKind::PreToolUse => {
                self.judge_blocked_agent();
                self.on_agent_start();
            }
            EventKind::SubagentStart => self.on_agent_started(),
            // A stop is the only thing that is left to such an agent.
            EventKind::SubagentStop if self.is_start_blocked() => return self.on_blocked_agent_stop(),
            EventKind::SubagentStop => self.on_agent_stop(),
            EventKind::PostToolUse | EventKind::PostToolUseFailure => self.on_tool_result(),
            EventKind::Stop => self.on_main_stop(),
            _ => {}
        }
        self.add_context_files(kind);
        self.run_free_gates();
        if kind == EventKind::SessionStart {
            self.brief_session();
        }
    }

    /// Runs the gates that belong to no phase.
    fn run_free_gates(&mut self) {
        let matching = self.free_gates();
        // Programs of gates after one that rewrites the tool's input get the new input.
        for gates in matching.split_inclusive(|(_, gate)| gate.rewrites()) {
            self.prepare(gates);
            for (mode, gate) in gates {
                self.run_gate(mode, None, gate);
            }
        }
        self.judge_rewritten_input();
    }

    fn free_gates(&self) -> Vec<(&'a Mode, &'a Gate)> {
        let catalogue = self.catalogue;
        let active: Vec<String> = self.active().flat_map(|mode| mode.commands.clone()).collect();
        let active: Vec<&str> = active.iter().map(String::as_str).collect();
        let mut matching: Vec<(&'a Mode, &'a Gate)> = Vec::new();
        for mode in &catalogue.modes {
            let is_active = mode.name == BASE || self.after.is_active(&mode.namespace);
            let seen = mode.gates.iter().filter(|gate| is_active || gate.always);
            let selected = seen.filter(|gate| gate.on.iter().any(|trigger| trigger.matches(self.event, &active)));
            matching.extend(selected.filter(|gate| self.applies(mode, gate)).map(|gate| (mode, gate)));
        }
        matching
    }

    /// Runs the programs and requests of several gates in parallel; their answers are used in order.
    fn prepare(&self, gates: &[(&'a Mode, &'a Gate)]) {
        let mut questions = Vec::new();
        for (mode, gate) in gates.iter().filter(|(mode, gate)| !self.step_has_run(mode, gate)) {
            gate.check.steps(&self.scope(mode), &mut questions);
        }
        if questions.len() > 1 {
            self.facts.prepare(questions);
        }
    }

    /// Folds the findings into a decision, and applies the intents unless it blocks.
    fn finish(mut self) -> Decided {
        let mut decision = Decision::of(&self.findings);
        if decision.verdict < Verdict::Block {
            self.apply_intents();
            self.forget_agents();
            self.complete_waiting_phases();
            self.deliver_notes();
        }
        self.report_broken_files();
        self.deliver_warnings();
        decision.context = self.context;
        decision.messages = self.messages;
        decision.moves = self.moves;
        if decision.verdict < Verdict::Block {
            decision.input = self.input.filter(|input| self.event.fields.get("tool_input") != Some(input));
            decision.allow = self.allow && decision.verdict < Verdict::Ask;
        }
        Decided { decision, findings: self.findings, session: self.after, who: self.who }
    }

    fn active(&self) -> impl Iterator<Item = &'a Mode> {
        let catalogue: &'a Catalogue = self.catalogue;
        let names: Vec<bool> = catalogue.modes.iter().map(|mode| self.after.is_active(&mode.namespace)).collect();
        catalogue.modes.iter().zip(names).filter(|(_, active)| *active).map(|(mode, _)| mode)
    }

    /// Returns the phase that a mode is in: its first one if the state names none, or one that no longer exists.
    fn current_phase(&self, mode: &'a Mode) -> Option<(usize, &'a Phase)> {
        let name = self.after.mode_state(&mode.namespace)?.phase.as_deref();
        name.and_then(|name| mode.phase(name)).or_else(|| mode.phase(&mode.first()?.name))
    }

    /// Returns the phase in which an agent works now: the current one if it is the agent's, else its last one before
    /// that (earlier work may be redone), else its first. In strict order only the current phase counts.
    fn phase_of_agent(&self, mode: &'a Mode, agent: &str) -> Option<&'a Phase> {
        let at = self.current_phase(mode).map_or(0, |(index, _)| index);
        let own = || mode.phases.iter().enumerate().filter(|(_, phase)| phase.worker.is_agent(agent));
        let now = own().find(|(index, _)| *index == at);
        let turn = if mode.strict && self.after.is_active(&mode.namespace) {
            now
        } else {
            now.or_else(|| own().rfind(|(index, _)| *index < at)).or_else(|| own().next())
        };
        turn.map(|(_, phase)| phase)
    }

    /// Returns the modes whose gates may run: active modes, the base mode, and modes with `scope: always` gates.
    fn modes_with_gates(&self) -> Vec<&'a Mode> {
        let always = |mode: &Mode| mode.all_gates().any(|(_, gate)| gate.always);
        let may_run = |mode: &&Mode| mode.name == BASE || self.after.is_active(&mode.namespace) || always(mode);
        self.catalogue.modes.iter().filter(may_run).collect()
    }

    fn state_mut(&mut self, mode: &Mode) -> &mut ModeState {
        Arc::make_mut(self.after.modes.entry(mode.namespace.clone()).or_default())
    }

    fn scope<'s>(&'s self, mode: &'s Mode) -> Scope<'s> {
        Scope {
            event: self.event,
            session: &self.after,
            namespace: &mode.namespace,
            definitions: &mode.definitions,
            facts: self.facts,
            input: self.input.as_ref(),
            parallel: self.parallel_agent(mode),
            starting: self.starting.as_deref(),
        }
    }

    fn evaluate(&self, mode: &Mode, check: &Check) -> Outcome {
        check.evaluate(&self.scope(mode))
    }

    /// Whether the reply to this event can give context to the main agent.
    fn reaches_parent(&self) -> bool {
        let carries = self.event.kind.is_some_and(|kind| kind.row().context && kind != EventKind::SubagentStart);
        carries && self.event.agent_id().is_none()
    }

    /// Gives the main agent the notes that wait for it, and the user the messages.
    fn deliver_notes(&mut self) {
        if !self.reaches_parent() {
            return;
        }
        for mode in &self.catalogue.modes {
            let waits = |state: &ModeState| !state.notes.is_empty() || !state.messages.is_empty();
            if self.after.mode_state(&mode.namespace).is_some_and(waits)
                && let Some(state) = self.after.mode_state_mut(&mode.namespace)
            {
                self.context.append(&mut state.notes);
                self.messages.append(&mut state.messages);
            }
        }
    }

    /// Reports files of the project that cannot be read, once per session.
    fn report_broken_files(&mut self) {
        let shown = self.event.kind.is_some_and(|kind| kind.row().message);
        if !shown || self.catalogue.broken.is_empty() {
            return;
        }
        let hash = self.catalogue.hash.clone();
        let base = self.after.base_mut();
        let before = base.notified.insert("broken-files".to_owned(), hash.clone());
        if before.as_deref() != Some(hash.as_str()) {
            let lines = self.catalogue.broken.iter().map(|broken| format!("modegate: {}", broken.summary()));
            self.messages.extend(lines);
        }
    }

    /// Delivers warnings with this event if its reply can carry them, else as a note to the main agent.
    fn deliver_warnings(&mut self) {
        let carries = self.event.kind.is_some_and(|kind| kind.row().message || kind.row().context);
        // A blocked agent comes again, and may have done the work by then.
        let blocked = self.findings.iter().any(|finding| finding.verdict >= Verdict::Block);
        for finding in self.findings.iter().filter(|finding| finding.verdict == Verdict::Warn) {
            let text = format!("modegate warns: {}", finding.reason);
            if carries {
                self.messages.push(text.clone());
                self.context.push(text);
            } else if let Some(mode) = self.catalogue.mode(&finding.mode).filter(|_| !blocked) {
                let notes = &mut Arc::make_mut(self.after.modes.entry(mode.namespace.clone()).or_default()).notes;
                if !notes.contains(&text) && notes.len() < NOTES {
                    notes.push(text);
                }
            }
        }
    }
}
