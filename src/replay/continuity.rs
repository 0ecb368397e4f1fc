//! Checks that journal lines follow one another: no duplicates, no gaps, no clock that was set back.

use super::line::{RecordedLine, unescaped};
use crate::session::{ModeState, Session};
use std::collections::{BTreeMap, HashSet, VecDeque};
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

/// The state of one session's journal so far.
#[derive(Debug, Default)]
pub(crate) struct Continuity {
    seen: HashSet<(u64, u64, u64)>,
    latest: String,
    lines: u64,
    /// The states after the last lines.
    states: VecDeque<SessionModes>,
    /// States that no line has led to yet, with the count and place of the line that begins with them.
    unexplained: VecDeque<(u64, FileLine, SessionModes)>,
    text: String,
}

type SessionModes = BTreeMap<String, ModeState>;

impl Continuity {
    /// Whether the same line was there before.
    pub(crate) fn is_duplicate(&mut self, line: &RecordedLine<'_>) -> bool {
        let at = unescaped(line.at).unwrap_or_default();
        // Concurrent agents have events in the same millisecond.
        let mut ids = DefaultHasher::new();
        for name in ["hook_event_name", "agent_id", "tool_use_id"] {
            line.event.as_ref().and_then(|event| event.get(name)?.as_str()).hash(&mut ids);
        }
        !self.seen.insert((crate::paths::hash(at.as_bytes()), line.us.unwrap_or_default(), ids.finish()))
    }

    /// Whether the line was written before the previous event began, which means that the clock was set back.
    pub(crate) fn clock_went_back(&mut self, line: &RecordedLine<'_>) -> bool {
        let at = unescaped(line.at).unwrap_or_default();
        if at >= self.latest.as_str() {
            at.clone_into(&mut self.latest);
            return false;
        }
        let instant = |text: &str| text.parse::<jiff::Timestamp>().ok();
        let (Some(began), Some(latest)) = (instant(at), instant(&self.latest)) else { return false };
        let took = Duration::from_micros(line.us.unwrap_or_default());
        let back = began.checked_add(took + SLACK).is_ok_and(|written| written < latest);
        if back {
            at.clone_into(&mut self.latest);
        }
        back
    }

    /// Follows the state from line to line; returns lines before which an event is missing.
    pub(crate) fn follow(&mut self, place: FileLine, line: &RecordedLine<'_>, before: &Session) -> Vec<FileLine> {
        let text = line.before.map_or("", serde_json::value::RawValue::get);
        if self.text != text {
            text.clone_into(&mut self.text);
            let state = without_times(before);
            if self.lines > 0 && !self.states.contains(&state) {
                self.unexplained.push_back((self.lines, place, state.clone()));
            }
            self.keep(state);
        }
        self.lines += 1;
        if let Some(after) = line.after.and_then(|raw| serde_json::from_str::<Session>(raw.get()).ok()) {
            let after = without_times(&after);
            self.unexplained.retain(|(_, _, state)| *state != after);
            self.keep(after);
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
fn without_times(session: &Session) -> SessionModes {
    let mut modes = session.modes.clone();
    for state in modes.values_mut() {
        state.other.shift_remove("updated_at");
    }
    modes
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

    fn missing(lines: &[String]) -> Vec<u64> {
        let mut continuity = Continuity::default();
        let mut found = Vec::new();
        for (number, text) in (1..).zip(lines) {
            let line: RecordedLine<'_> = serde_json::from_str(text).unwrap();
            let before: Session = serde_json::from_str(line.before.unwrap().get()).unwrap();
            found.extend(continuity.follow(("x".into(), number), &line, &before));
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
        let mut is_duplicate = |text: &str| continuity.is_duplicate(&serde_json::from_str(text).unwrap());
        assert_eq!([is_duplicate(&one), is_duplicate(&other), is_duplicate(&one)], [false, false, true]);
        let twin = one.replace("Stop", "Stap");
        assert!(!is_duplicate(&twin), "another event at the same time");
    }

    #[test]
    fn a_clock_that_went_back_is_reported_unless_an_event_took_long() {
        let mut continuity = Continuity::default();
        let mut back =
            |at: &str, us: u64| continuity.clock_went_back(&serde_json::from_str(&line(at, us, "a", None)).unwrap());
        assert!(!back("2026-11-16T10:00:00Z", 1000));
        assert!(!back("2026-11-16T09:59:00Z", 65_000_000), "it began first and took a minute");
        assert!(back("2026-11-16T09:00:00Z", 1000));
        assert!(!back("2026-11-16T09:00:01Z", 1000), "reported once");
    }
}
