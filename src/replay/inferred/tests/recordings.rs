//! The recordings in `fixtures/recordings`: real sessions, decided again from the file alone.

#![expect(clippy::disallowed_methods, reason = "a test reads fixtures")]

use super::InferredFacts;
use crate::engine::{Decided, decide};
use crate::facts::session::{ModeEnding, Session};
use crate::facts::verdict::Verdict;
use crate::facts::{Answer, FactSource, Facts, Question, RecordedAnswers};
use crate::host::event::Event;
use crate::replay::recording::Header;
use crate::state::journal::JournalLine;
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Each recording with the mode that it is about, by namespace.
const RECORDINGS: [(&str, &str); 7] = [
    ("explore", "explore_mode"),
    ("research", "research_mode"),
    ("plan", "plan_mode"),
    ("code", "code_mode"),
    ("code-review", "code_review_mode"),
    ("implement", "implement_flow"),
    ("demo", "plan_mode"),
];

/// A line as bytes and as a value.
struct RawLine {
    fields: BTreeMap<String, Box<RawValue>>,
    line: JournalLine,
}

impl RawLine {
    fn again(&self, header: &Header) -> Decided {
        let event = Event::from_value(self.line.event.clone()).unwrap();
        let recorded = RecordedAnswers::new(self.line.asked.clone());
        decide(&event, &header.catalogue(), &self.line.before, &Facts::new(&recorded))
    }

    /// The bytes of a field.
    fn raw(&self, field: &str) -> Option<&str> {
        self.fields.get(field).map(|raw| raw.get())
    }

    fn after(&self) -> &Session {
        self.line.after.as_ref().unwrap_or(&self.line.before)
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recordings")
}

fn read(name: &str) -> (Header, Vec<RawLine>) {
    let text = std::fs::read_to_string(folder().join(format!("{name}.jsonl"))).unwrap();
    let (header, lines) = text.split_once('\n').unwrap();
    let written =
        |line| RawLine { fields: serde_json::from_str(line).unwrap(), line: serde_json::from_str(line).unwrap() };
    (serde_json::from_str(header).unwrap(), lines.lines().map(written).collect())
}

/// Decides every line again with the agents that the lines before it lead to, and writes the recording anew.
///
/// For changes of the state's format or of the base mode: questions that are new are answered from the events.
fn rewrite(name: &str) {
    let (header, lines) = read(name);
    let path = folder().join(format!("{name}.jsonl"));
    let mut text = std::fs::read_to_string(&path).unwrap().lines().next().unwrap().to_owned();
    let mut known = Session::default();
    for mut written in lines {
        for (namespace, state) in known.modes {
            if written.line.before.modes.contains_key(&namespace)
                || !state.agents.is_empty()
                || !state.admitted.is_empty()
            {
                let own = Arc::make_mut(written.line.before.modes.entry(namespace).or_default());
                (own.agents, own.admitted) = (state.agents.clone(), state.admitted.clone());
            }
        }
        let event = Event::from_value(written.line.event.clone()).unwrap();
        let source = FilledAnswers { recorded: &written.line.asked, event: &event };
        let facts = Facts::new(&source);
        let again = decide(&event, &header.catalogue(), &written.line.before, &facts);
        let asked = facts.asked();
        let line = &mut written.line;
        line.asked = asked;
        line.after = (again.session != line.before).then(|| again.session.clone());
        (line.findings, line.decision) = (again.findings, again.decision);
        text = format!("{text}\n{}", json(line));
        known = again.session;
    }
    std::fs::write(path, text + "\n").unwrap();
}

/// Recorded answers, and those that an event itself has.
struct FilledAnswers<'a> {
    recorded: &'a [(Question, Answer)],
    event: &'a Event,
}

impl FactSource for FilledAnswers<'_> {
    fn answer(&self, question: &Question) -> Answer {
        let recorded = self.recorded.iter().find(|(asked, _)| asked == question).map(|(_, answer)| answer.clone());
        recorded.unwrap_or_else(|| InferredFacts::default().at(self.event, None).answer(question))
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

#[test]
fn every_line_is_decided_again_byte_for_byte() {
    for (name, _) in RECORDINGS {
        if std::env::var_os("MODEGATE_REWRITE_RECORDINGS").is_some() {
            rewrite(name);
        }
        let (header, lines) = read(name);
        for (number, written) in (2..).zip(&lines) {
            let again = written.again(&header);
            let place = format!("{name}.jsonl:{number}");
            assert_eq!(json(&again.findings), written.raw("findings").unwrap_or("[]"), "{place}");
            assert_eq!(json(&again.decision), written.raw("decision").unwrap(), "{place}");
            let after = written.raw("after").or_else(|| written.raw("before")).unwrap();
            assert_eq!(json(&again.session), after, "{place}");
        }
    }
}

#[test]
fn each_mode_is_activated_blocks_and_completes() {
    for (name, namespace) in RECORDINGS {
        let (header, lines) = read(name);
        let active = lines.iter().any(|written| written.after().is_active(namespace));
        assert!(active, "{name} is not activated");
        let blocked = lines.iter().filter(|written| written.line.decision.verdict >= Verdict::Block).count();
        assert!(blocked > 0, "nothing is blocked in {name}");
        let last = lines.last().unwrap().after();
        let state = last.mode_state(namespace).unwrap();
        assert_eq!((state.is_active, state.ended), (false, Some(ModeEnding::Complete)), "{name}");
        assert!(lines.iter().all(|written| written.line.before.id == header.session), "{name} is of one session");
        assert!(lines.iter().all(|written| written.line.modes == header.modes), "{name} is of one set of modes");
    }
}

#[test]
fn recordings_are_small_and_reveal_nothing_about_a_machine() {
    let mut names: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(folder()).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let Some(stem) = name.strip_suffix(".jsonl") else { continue };
        names.push(stem.to_owned());
        let text = std::fs::read_to_string(entry.path()).unwrap();
        assert!(text.len() < 350_000, "{name} has {} bytes", text.len());
        for place in ["/tmp/", "/root", "/var/folders", "/private/", "/Users/"] {
            assert!(!text.contains(place), "{place} in {name}");
        }
        for home in text.split("/home/").skip(1) {
            assert!(home.starts_with("user"), "/home/{} in {name}", home.chars().take(20).collect::<String>());
        }
    }
    names.sort();
    let mut tested = RECORDINGS.map(|(name, _)| name.to_owned());
    tested.sort();
    assert_eq!(names, tested, "every recording is tested");
}
