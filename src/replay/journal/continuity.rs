//! Checks that journal lines follow one another: no duplicates, no gaps, no clock that was set back.

use crate::facts::session::{Session, SessionModes};
use crate::replay::line::{RecordedLine, unescaped};
use jiff::Timestamp;
use serde_json::value::RawValue;
use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

/// How many lines later the line that led to a state may still follow: concurrent agents write in any order.
const LATE: u64 = 64;

/// How many states are kept.
const KEPT: usize = 64;

/// How far apart two clocks of one machine may be.
const SLACK: Duration = Duration::from_secs(1);

/// A line of a file.
pub(crate) type FileLine = (Arc<str>, u64);

/// What the time of a line, and the lines before it, show.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LineOrder {
    InOrder,
    /// The same line was there before.
    Duplicate,
    ClockWentBack,
}

/// The state of one session's journal so far.
#[derive(Debug, Default)]
pub(crate) struct Continuity {
    /// Hashes of the lines so far.
    seen: HashSet<u64>,
    /// The latest time of a line.
    latest: String,
    lines: u64,
    /// The states after the last lines.
    states: VecDeque<SessionModes>,
    /// States that no line has led to yet, with the count and place of the line that begins with them.
    unexplained: VecDeque<(u64, FileLine, SessionModes)>,
    /// The session before the last line.
    text: String,
}

impl Continuity {
    /// Compares a line with those before it.
    pub(crate) fn order(&mut self, line: &RecordedLine<'_>) -> LineOrder {
        if !self.seen.insert(line_hash(line)) {
            return LineOrder::Duplicate;
        }
        let at = line.at.and_then(unescaped).unwrap_or_default();
        let is_later = at > self.latest.as_str();
        let went_back = !is_later && self.clock_went_back(at, line.us.unwrap_or_default());
        if is_later || went_back {
            at.clone_into(&mut self.latest);
        }
        if went_back { LineOrder::ClockWentBack } else { LineOrder::InOrder }
    }

    /// Whether a line was written before the previous event began, which means that the clock was set back.
    fn clock_went_back(&self, at: &str, us: u64) -> bool {
        let (Ok(began), Ok(latest)) = (at.parse::<Timestamp>(), self.latest.parse::<Timestamp>()) else { return false };
        began.checked_add(Duration::from_micros(us) + SLACK).is_ok_and(|written| written < latest)
    }

    /// Follows the state from line to line; returns lines before which an event is missing.
    pub(crate) fn follow(&mut self, file: &Arc<str>, number: u64, line: &RecordedLine<'_>) -> Vec<FileLine> {
        let before = line.before.map(RawValue::get).unwrap_or_default();
        if self.text != before {
            before.clone_into(&mut self.text);
            let state = modes_of(before).unwrap_or_default();
            if self.lines > 0 && !self.states.contains(&state) {
                self.unexplained.push_back((self.lines, (Arc::clone(file), number), state.clone()));
            }
            self.keep(state);
        }
        self.lines += 1;
        if let Some(after) = line.after.map(RawValue::get).and_then(modes_of) {
            self.unexplained.retain(|(_, _, state)| *state != after);
            self.keep(after);
        }
        if self.unexplained.is_empty() {
            return Vec::new();
        }
        let overdue = self.lines.saturating_sub(LATE);
        let count = self.unexplained.iter().take_while(|(count, ..)| *count < overdue).count();
        self.unexplained.drain(..count).map(|(_, place, _)| place).collect()
    }

    /// The lines before which an event is missing, at the end of the journal.
    pub(crate) fn end(self) -> impl Iterator<Item = FileLine> {
        self.unexplained.into_iter().map(|(_, place, _)| place)
    }

    fn keep(&mut self, state: SessionModes) {
        self.states.push_back(state);
        if self.states.len() > KEPT {
            self.states.pop_front();
        }
    }
}

/// The modes of a session without the times of storage.
fn modes_of(session: &str) -> Option<SessionModes> {
    let mut modes = serde_json::from_str::<Session>(session).ok()?.modes;
    for state in modes.values_mut() {
        Arc::make_mut(state).other.shift_remove("updated_at");
    }
    Some(modes)
}

/// A hash of what tells one line from another: concurrent agents have events in the same millisecond.
fn line_hash(line: &RecordedLine<'_>) -> u64 {
    let text = |name: &str| line.event.as_ref().and_then(|event| event.get(name)?.as_str());
    let mut hasher = DefaultHasher::new();
    (line.at.map(RawValue::get), line.us).hash(&mut hasher);
    ["hook_event_name", "agent_id", "tool_use_id"].map(text).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn line(at: &str, us: u64, before: &str, after: Option<&str>) -> String {
        let session = |phase: &str| json!({"id": "s", "modes": {"plan_mode": {"is_active": true, "phase": phase}}});
        let mut line =
            json!({"v": 1, "at": at, "us": us, "event": {"hook_event_name": "Stop"}, "before": session(before)});
        if let (Value::Object(fields), Some(after)) = (&mut line, after) {
            fields.insert("after".to_owned(), session(after));
        }
        line.to_string()
    }

    fn recorded(text: &str) -> RecordedLine<'_> {
        serde_json::from_str(text).unwrap()
    }

    fn missing(lines: &[String]) -> Vec<u64> {
        let mut continuity = Continuity::default();
        let mut found = Vec::new();
        for (number, text) in (1..).zip(lines) {
            found.extend(continuity.follow(&"x".into(), number, &recorded(text)));
        }
        found.extend(continuity.end());
        found.into_iter().map(|(_, line)| line).collect()
    }

    #[test]
    fn a_state_that_no_line_leads_to_means_a_missing_event() {
        let [one, two, three] =
            [("a", Some("b")), ("b", Some("c")), ("c", None)].map(|(from, to)| line("t", 1, from, to));
        assert_eq!(missing(&[one.clone(), two.clone(), three.clone()]), Vec::<u64>::new());
        assert_eq!(missing(&[one.clone(), three.clone()]), [2]);
        assert_eq!(missing(&[one, three, two]), Vec::<u64>::new(), "concurrent agents write in any order");
    }

    #[test]
    fn the_same_line_twice_is_a_duplicate() {
        let mut continuity = Continuity::default();
        let (one, other) = (line("t1", 1, "a", None), line("t2", 1, "a", None));
        let mut is_duplicate = |text: &str| continuity.order(&recorded(text)) == LineOrder::Duplicate;
        assert_eq!([is_duplicate(&one), is_duplicate(&other), is_duplicate(&one)], [false, false, true]);
        let twin = one.replace("Stop", "Stap");
        assert!(!is_duplicate(&twin), "another event at the same time");
    }

    #[test]
    fn a_clock_that_went_back_is_reported_unless_an_event_took_long() {
        let mut continuity = Continuity::default();
        let mut back =
            |at: &str, us: u64| continuity.order(&recorded(&line(at, us, "a", None))) == LineOrder::ClockWentBack;
        assert!(!back("2026-11-16T10:00:00Z", 1000));
        assert!(!back("2026-11-16T09:59:00Z", 65_000_000), "it began first and took a minute");
        assert!(back("2026-11-16T09:00:00Z", 1000));
        assert!(!back("2026-11-16T09:00:01Z", 1000), "reported once");
    }
}
