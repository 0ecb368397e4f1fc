//! Checks that journal lines follow one another: no duplicates, no gaps, no clock that was set back.

use crate::facts::session::{Session, SessionModes};
use crate::state::journal::JournalLine;
use jiff::Timestamp;
use serde_json::Value;
use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

/// How many lines later the line that led to a state may still follow: concurrent agents write in any order.
const LATE: u64 = 64;

const KEPT: usize = 64;

/// How far apart two clocks of one machine may be.
const SLACK: Duration = Duration::from_secs(1);

pub(crate) type FileLine = (Arc<str>, u64);

/// The state of one session's journal so far.
#[derive(Debug, Default)]
pub(crate) struct Continuity {
    seen: HashSet<u64>,
    latest: String,
    lines: u64,
    states: VecDeque<SessionModes>,
    /// States that no line has led to yet, with the count and place of the line that begins with them.
    unexplained: VecDeque<(u64, FileLine, SessionModes)>,
}

impl Continuity {
    /// Whether the line was there before: concurrent agents have events in the same millisecond.
    pub(crate) fn is_duplicate(&mut self, line: &JournalLine) -> bool {
        let mut hasher = DefaultHasher::new();
        (&line.at, line.us).hash(&mut hasher);
        let text = |name: &str| line.event.get(name).and_then(Value::as_str);
        ["hook_event_name", "agent_id", "tool_use_id"].map(text).hash(&mut hasher);
        !self.seen.insert(hasher.finish())
    }

    /// Whether the line was written before the previous event began, which means that the clock was set back.
    pub(crate) fn clock_went_back(&mut self, line: &JournalLine) -> bool {
        let times = || Some((line.at.parse::<Timestamp>().ok()?, self.latest.parse::<Timestamp>().ok()?));
        let is_later = line.at > self.latest;
        let went_back = !is_later
            && times().is_some_and(|(began, latest)| {
                began.checked_add(Duration::from_micros(line.us) + SLACK).is_ok_and(|written| written < latest)
            });
        if is_later || went_back {
            self.latest.clone_from(&line.at);
        }
        went_back
    }

    /// Follows the state from line to line; returns lines before which an event is missing.
    pub(crate) fn follow(&mut self, file: &Arc<str>, number: u64, line: &JournalLine) -> Vec<FileLine> {
        let before = modes_of(&line.before);
        if self.states.back() != Some(&before) {
            if self.lines > 0 && !self.states.contains(&before) {
                self.unexplained.push_back((self.lines, (Arc::clone(file), number), before.clone()));
            }
            self.keep(before);
        }
        self.lines += 1;
        if let Some(after) = line.after.as_ref().map(modes_of) {
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
fn modes_of(session: &Session) -> SessionModes {
    let mut modes = session.modes.clone();
    for state in modes.values_mut() {
        Arc::make_mut(state).other.shift_remove("updated_at");
    }
    modes
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn line(at: &str, us: u64, before: &str, after: Option<&str>) -> JournalLine {
        let session = |phase: &str| {
            let session = json!({"id": "s", "modes": {"plan_mode": {"is_active": true, "phase": phase}}});
            serde_json::from_value(session).unwrap()
        };
        JournalLine {
            at: at.to_owned(),
            us,
            event: json!({"hook_event_name": "Stop"}),
            before: session(before),
            after: after.map(session),
            ..JournalLine::default()
        }
    }

    fn missing(lines: &[JournalLine]) -> Vec<u64> {
        let mut continuity = Continuity::default();
        let mut found = Vec::new();
        for (number, line) in (1..).zip(lines) {
            found.extend(continuity.follow(&"x".into(), number, line));
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
        assert_eq!([&one, &other, &one].map(|line| continuity.is_duplicate(line)), [false, false, true]);
        let twin = JournalLine { event: json!({"hook_event_name": "Stap"}), ..one };
        assert!(!continuity.is_duplicate(&twin), "another event at the same time");
    }

    #[test]
    fn a_clock_that_went_back_is_reported_unless_an_event_took_long() {
        let mut continuity = Continuity::default();
        let mut back = |at: &str, us: u64| continuity.clock_went_back(&line(at, us, "a", None));
        assert!(!back("2026-11-16T10:00:00Z", 1000));
        assert!(!back("2026-11-16T09:59:00Z", 65_000_000), "it began first and took a minute");
        assert!(back("2026-11-16T09:00:00Z", 1000));
        assert!(!back("2026-11-16T09:00:01Z", 1000), "reported once");
    }
}
