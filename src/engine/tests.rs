//! Decisions of the engine on recorded answers: each case is a mode, and a list of steps with their outcomes.

use super::{Decided, decide};
use crate::facts::session::Session;
use crate::facts::{Answer, Clock, FactSource, Facts, FoundFile, Question, RecordedAnswers, TextFindings};
use crate::host::event::Event;
use crate::policy::mode::Catalogue;
use serde_json::{Value, json};
use std::sync::Arc;

/// Two agents, one after the other, each with its file.
const TWO_AGENTS: &str = "
mode: x
commands: [/x]
phases:
  - phase: draft
    agent: writer
    before: [{ id: brief-exists, check: { file: brief.md }, else: Brief not found. }]
    after: [{ id: draft-exists, check: { file: draft.md }, else: Draft not written. }]
  - phase: review
    agent: reviewer
    after: [{ id: review-exists, check: { file: review.md }, else: Review not written. }]
";

/// A phase of the main agent that blocks its stop.
const MAIN_AGENT: &str = "
mode: x
commands: [/x]
phases:
  - phase: write
    main: true
    block: stop
    after: [{ id: written, check: { file: draft.md }, else: Write it first. }]
  - { phase: free, main: true }
";

struct Project {
    catalogue: Catalogue,
    session: Session,
}

impl Project {
    fn new(mode: &str, settings: &str) -> Self {
        let settings = (!settings.is_empty()).then_some(("modegate.yaml", settings));
        let catalogue = Catalogue::compose(settings, &[("x.yaml".to_owned(), mode.to_owned())]);
        assert!(catalogue.broken.is_empty(), "{:?}", catalogue.broken);
        Self { catalogue, session: Session { id: "s".into(), ..Session::default() } }
    }

    /// Decides an event while only these files exist.
    fn decide(&mut self, event: &str, files: &str) -> Decided {
        let source = RecordedAnswers::new(answers(files));
        let decided = decide(&read(event), &self.catalogue, &self.session, &Facts::new(&source));
        self.session = decided.session.clone();
        decided
    }

    fn phase(&self) -> &str {
        let state = self.session.mode_state("x_mode").filter(|state| state.is_active);
        state.map_or("-", |state| state.phase.as_deref().unwrap_or_default())
    }
}

/// Reads `/command`, `start AGENT`, `stop AGENT`, `stop`, `edit` or `bash`.
fn read(text: &str) -> Event {
    let mut event = match text.split_once(' ') {
        Some(("start", agent)) => {
            json!({"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": {"subagent_type": agent}})
        }
        Some(("stop", agent)) => json!({"hook_event_name": "SubagentStop", "agent_type": agent, "agent_id": agent}),
        _ if text == "stop" => json!({"hook_event_name": "Stop"}),
        _ if text == "edit" => {
            json!({"hook_event_name": "PostToolUse", "tool_name": "Write", "tool_input": {"file_path": "a"}})
        }
        _ if text == "bash" => {
            json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}})
        }
        _ => json!({"hook_event_name": "UserPromptSubmit", "prompt": text}),
    };
    event["session_id"] = Value::from("s");
    Event::from_value(event).expect("an event")
}

fn answers(files: &str) -> Vec<(Question, Answer)> {
    let clock = Clock { at: "2026-01-01T00:00:00Z".into(), date: "010126".into() };
    let found = |name: &str| {
        let exists = files.split_whitespace().any(|file| file == name);
        let file = FoundFile { path: name.into(), size: 1, modified: 0 };
        (Question::Files(vec![name.into()]), Answer::Files(exists.then_some(file).into_iter().collect()))
    };
    let mut answers: Vec<_> = ["brief.md", "draft.md", "review.md", "broken.md"].map(found).into();
    answers.push((Question::Clock, Answer::Clock(clock)));
    answers.push((Question::Milestone, Answer::Milestone(None)));
    answers.push((Question::Head, Answer::Head(None)));
    answers
}

/// Each step is an event, the files that exist, the expected outcome and the phase after it (`-`: not active).
#[track_caller]
fn check(mode: &str, settings: &str, steps: &[(&str, &str, &str, &str)]) {
    let mut project = Project::new(mode, settings);
    for (number, (event, files, outcome, phase)) in steps.iter().enumerate() {
        let decided = project.decide(event, files);
        let found = (decided.outcome(), project.phase());
        assert_eq!(found, (*outcome, *phase), "step {number}: {event}: {:?}", decided.decision);
    }
}

#[test]
fn an_agent_starts_when_its_before_gates_pass_and_is_done_when_its_after_gates_pass() {
    check(
        TWO_AGENTS,
        "",
        &[
            ("start writer", "", "allowed", "-"),
            ("/x", "", "allowed", "draft"),
            ("start writer", "", "blocked", "draft"),
            ("start writer", "brief.md", "allowed", "draft"),
            ("stop writer", "brief.md", "blocked", "draft"),
            ("stop Writer", "brief.md draft.md", "allowed", "review"),
            ("stop writer", "", "blocked", "review"),
            ("stop reviewer", "review.md", "allowed", "-"),
        ],
    );
}

#[test]
fn a_gate_gives_in_after_its_patience_and_the_phase_is_not_done() {
    let stop = ("stop writer", "", "blocked", "draft");
    let given_in = ("stop writer", "", "unfinished", "draft");
    check(TWO_AGENTS, "", &[("/x", "", "allowed", "draft"), stop, stop, stop, given_in]);
    check(TWO_AGENTS, "patience: 1", &[("/x", "", "allowed", "draft"), stop, given_in]);
}

#[test]
fn a_gate_that_gives_in_is_reported_where_the_host_shows_it() {
    let mut project = Project::new(TWO_AGENTS, "patience: 1");
    project.decide("/x", "");
    project.decide("stop writer", "");
    let report = "writer was allowed to stop with its work unfinished: Draft not written.";
    let stop = project.decide("stop writer", "").decision;
    assert!(stop.messages.is_empty() && stop.context.is_empty(), "{stop:?}");
    let next = project.decide("bash", "").decision;
    assert!(next.context.iter().any(|text| text.starts_with(report)), "{next:?}");
    assert!(next.messages.iter().any(|text| text.starts_with(&format!("modegate: x · {report}"))), "{next:?}");

    let mut project = Project::new(MAIN_AGENT, "patience: 1");
    project.decide("/x", "");
    project.decide("stop", "");
    let stop = project.decide("stop", "").decision;
    assert!(stop.messages.iter().any(|text| text.contains("the main agent was allowed to stop")), "{stop:?}");
}

#[test]
fn the_after_gates_of_the_main_agent_pass_by_the_same_rule() {
    check(
        MAIN_AGENT,
        "",
        &[
            ("/x", "", "allowed", "write"),
            ("edit", "", "allowed", "write"),
            ("stop", "", "blocked", "write"),
            ("edit", "draft.md", "allowed", "free"),
            ("stop", "", "allowed", "free"),
        ],
    );
    // A level limits what a gate does; the phase still waits for its evidence.
    for level in ["warn", "observe"] {
        let outcome = if level == "warn" { "warned" } else { "allowed" };
        let steps =
            [("/x", "", "allowed", "write"), ("stop", "", outcome, "write"), ("edit", "draft.md", "allowed", "free")];
        check(MAIN_AGENT, &format!("level: {level}"), &steps);
    }
    // A gate that is off or only advises does not keep a phase from finishing, for any kind of agent.
    for worker in ["main: true", "agent: writer"] {
        let stop = if worker.starts_with("main") { "stop" } else { "stop writer" };
        let mode = |extra: &str| {
            let gates = format!(
                "[{{ id: a, check: {{ file: draft.md }} }}, {{ id: b, check: {{ file: review.md }}, {extra} }}]"
            );
            format!(
                "{{ mode: x, commands: [/x], phases: [{{ phase: one, {worker}, after: {gates} }}, {{ phase: two, main: true }}] }}"
            )
        };
        let begin = ("/x", "", "allowed", "one");
        check(&mode("fail: warn"), "", &[begin, (stop, "draft.md", "warned", "two")]);
        check(&mode("level: off"), "", &[begin, (stop, "draft.md", "allowed", "two")]);
    }
}

#[test]
fn nothing_changes_when_one_gate_blocks() {
    let two_gates = TWO_AGENTS.replace(
        "phases:",
        "gates: [{ id: free, on: SubagentStop, check: { file: review.md }, else: Not yet. }]\nphases:",
    );
    check(
        &two_gates,
        "",
        &[
            ("/x", "", "allowed", "draft"),
            ("stop writer", "draft.md", "blocked", "draft"),
            ("stop writer", "draft.md review.md", "allowed", "review"),
        ],
    );
    let prerequisite =
        TWO_AGENTS.replace("phases:", "before: [{ check: { file: brief.md }, else: No brief. }]\nphases:");
    check(&prerequisite, "", &[("/x", "", "blocked", "-"), ("/x", "brief.md", "allowed", "draft")]);
}

#[test]
fn strict_order_blocks_agents_of_other_phases() {
    let strict = TWO_AGENTS.replace("phases:", "order: strict\nphases:");
    check(&strict, "", &[("/x", "", "allowed", "draft"), ("start reviewer", "", "blocked", "draft")]);
    check(TWO_AGENTS, "", &[("/x", "", "allowed", "draft"), ("start reviewer", "", "allowed", "draft")]);
}

#[test]
fn a_detour_is_entered_when_its_condition_passes_and_left_when_it_is_done() {
    let mode = "
mode: x
commands: [/x]
phases:
  - { phase: write, main: true, after: [{ check: { file: draft.md }, else: Not written. }] }
  - phase: repair
    agent: fixer
    when: { file: broken.md }
    from: [write]
    after: [{ check: { not: { file: broken.md } }, else: Still broken. }]
";
    check(
        mode,
        "",
        &[
            ("/x", "", "allowed", "write"),
            ("edit", "broken.md", "allowed", "repair"),
            ("stop fixer", "broken.md", "blocked", "repair"),
            ("stop fixer", "", "allowed", "write"),
            ("edit", "draft.md", "allowed", "-"),
        ],
    );
}

#[test]
fn a_gate_with_scope_always_runs_while_its_mode_is_inactive() {
    let always = TWO_AGENTS.replace("id: brief-exists", "scope: always, id: brief-exists");
    check(&always, "", &[("start writer", "", "blocked", "-"), ("start writer", "brief.md", "allowed", "-")]);
}

#[test]
fn a_gate_with_once_fires_once_per_session() {
    let mode = "
mode: x
commands: [/x]
gates: [{ id: hint, on: PostToolUse(Write), check: { file: brief.md }, fail: warn, once: session, else: Read the brief. }]
";
    check(
        mode,
        "",
        &[
            ("/x", "", "allowed", ""),
            ("edit", "", "warned", ""),
            ("edit", "", "allowed", ""),
            ("edit", "", "allowed", ""),
        ],
    );
}

#[test]
fn levels_limit_what_a_gate_does() {
    let start = |outcome| [("/x", "", "allowed", "draft"), ("start writer", "", outcome, "draft")];
    check(TWO_AGENTS, "level: warn", &start("warned"));
    check(TWO_AGENTS, "level: observe", &start("allowed"));
    check(TWO_AGENTS, "levels: { brief-exists: off }", &start("allowed"));
    check(TWO_AGENTS, "levels: { brief-exists: warn }", &start("warned"));
}

#[test]
fn an_unknown_result_blocks_unless_the_gate_says_otherwise() {
    let unknown = TWO_AGENTS.replace("brief.md", "never-recorded.md");
    check(&unknown, "", &[("/x", "", "allowed", "draft"), ("start writer", "", "blocked", "draft")]);
    let lenient = unknown.replace("else: Brief", "unknown: continue, else: Brief");
    check(&lenient, "", &[("/x", "", "allowed", "draft"), ("start writer", "", "allowed", "draft")]);
}

/// Answers questions about the tool call by their text, so that some conditions pass and others do not.
struct ByText;

impl FactSource for ByText {
    fn answer(&self, question: &Question) -> Answer {
        let text = serde_json::to_string(question).unwrap();
        let number = text.bytes().map(usize::from).sum::<usize>() % 3;
        match question {
            Question::Calls(programs) => Answer::Calls((number == 0).then(|| programs.join(" "))),
            Question::EventText { .. } => {
                Answer::Text(TextFindings { chars: 1, missing: (0..number).map(|at| at.to_string()).collect() })
            }
            Question::Touches(_) if number < 2 => Answer::Touches(None),
            _ => Answer::Unknown(text.as_str().into()),
        }
    }
}

#[test]
fn compiled_gates_decide_and_ask_like_those_in_the_sources() {
    let rule = |index: usize| {
        let condition = match index % 7 {
            0 => "calls: deploy".to_owned(),
            1 => "command: { matches: '^deploy-[a-z]+$' }".to_owned(),
            2 => format!("touches: {{ effects: [write], paths: [gen{index}/x] }}"),
            3 => format!("any: [{{ calls: deploy }}, {{ calls: tool-{} }}]", index % 5),
            4 => format!("not: {{ command: {{ contains: word{} }} }}", index % 11),
            5 => format!("calls: tool-{index}"),
            _ => format!("file: made-{}.md", index % 2),
        };
        let level = if index.is_multiple_of(13) { ", level: off" } else { "" };
        let on = if index.is_multiple_of(3) { "PreToolUse(Bash)" } else { "PreToolUse" };
        format!("  - {{ id: rule-{index}, on: {on}, if: {{ {condition} }}, warn: No.{level} }}\n")
    };
    let rules = format!("mode: x\ncommands: [/x]\ngates:\n{}", (0..120).map(rule).collect::<String>());
    let mut compiled = Project::new(&rules, "");
    let sources = compiled.catalogue.clone();
    for mode in &mut compiled.catalogue.modes {
        *mode = postcard::from_bytes(&postcard::to_stdvec(mode).unwrap()).unwrap();
    }
    let active = sources.mode("x").map(|mode| (mode.namespace.clone(), Arc::default())).unwrap();
    let mut session = Session { modes: [active].into(), ..compiled.session };
    session.modes.values_mut().for_each(|state| Arc::make_mut(state).is_active = true);
    for event in ["bash", "start writer"] {
        let decided = |catalogue: &Catalogue| {
            let facts = Facts::new(&ByText);
            let decided = decide(&read(event), catalogue, &session, &facts);
            (decided, facts.asked())
        };
        let (expected, asked) = decided(&sources);
        assert!(expected.findings.len() > 20 && asked.len() > 30, "{} {}", expected.findings.len(), asked.len());
        assert_eq!(decided(&compiled.catalogue), (expected, asked));
    }
}
