//! Whether the lines of a journal follow one another: nothing twice, nothing missing, no time that runs back.

use super::entry::{Entry, plain};
use crate::session::{ModeState, Session};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// How many lines later a state may still turn up: agents that work at the same time write in any order.
const LATE: u64 = 64;

/// How many states are remembered.
const LAST: usize = 64;

/// How far two clocks of one machine may be apart.
const SLACK: Duration = Duration::from_secs(1);

/// What is known of a session's journal so far.
#[derive(Debug, Default)]
pub struct Continuity {
    seen: HashSet<(u64, u64, u64)>,
    latest: String,
    /// The states that the last lines have left behind.
    states: VecDeque<Modes>,
    /// States that nothing has led to yet, with their line.
    open: VecDeque<(u64, Modes)>,
    text: String,
    begun: bool,
}

type Modes = BTreeMap<String, ModeState>;

impl Continuity {
    /// Whether this very line was there before.
    pub fn is_double(&mut self, entry: &Entry<'_>) -> bool {
        let at = plain(entry.at).unwrap_or_default();
        // Agents that work at the same time have events in one millisecond.
        let mut text = DefaultHasher::new();
        for name in ["hook_event_name", "agent_id", "tool_use_id"] {
            entry.event.as_ref().and_then(|event| event.get(name)?.as_str()).hash(&mut text);
        }
        !self.seen.insert((crate::paths::hash(at.as_bytes()), entry.us.unwrap_or_default(), text.finish()))
    }

    /// Whether the line was written down before the one before it came: then the clock was set back.
    pub fn runs_back(&mut self, entry: &Entry<'_>) -> bool {
        let at = plain(entry.at).unwrap_or_default();
        if at >= self.latest.as_str() {
            at.clone_into(&mut self.latest);
            return false;
        }
        let instant = |text: &str| text.parse::<jiff::Timestamp>().ok();
        let (Some(came), Some(latest)) = (instant(at), instant(&self.latest)) else { return false };
        let took = Duration::from_micros(entry.us.unwrap_or_default());
        let back = came.checked_add(took + SLACK).is_ok_and(|written| written < latest);
        if back {
            at.clone_into(&mut self.latest);
        }
        back
    }

    /// Follows the state from line to line; gives the lines before which an event is missing.
    pub fn follow(&mut self, line: u64, entry: &Entry<'_>, before: &Session) -> Vec<u64> {
        let text = entry.before.map_or("", serde_json::value::RawValue::get);
        if self.text != text {
            text.clone_into(&mut self.text);
            let state = state(before);
            if self.begun && !self.states.contains(&state) {
                self.open.push_back((line, state.clone()));
            }
            self.remember(state);
        }
        self.begun = true;
        if let Some(after) = entry.after.and_then(|raw| serde_json::from_str::<Session>(raw.get()).ok()) {
            let after = state(&after);
            self.open.retain(|(_, open)| *open != after);
            self.remember(after);
        }
        self.overdue(line.saturating_sub(LATE))
    }

    /// The lines before which an event is missing, at the end of the journal.
    pub fn end(&mut self) -> Vec<u64> {
        self.overdue(u64::MAX)
    }

    fn remember(&mut self, state: Modes) {
        self.states.push_back(state);
        if self.states.len() > LAST {
            self.states.pop_front();
        }
    }

    fn overdue(&mut self, line: u64) -> Vec<u64> {
        let late: Vec<u64> = self.open.iter().map(|(open, _)| *open).filter(|open| *open < line).collect();
        self.open.retain(|(open, _)| *open >= line);
        late
    }
}

/// A session's standings without the times at which they were stored.
fn state(session: &Session) -> Modes {
    let mut modes = session.modes.clone();
    for mode_state in modes.values_mut() {
        mode_state.other.shift_remove("updated_at");
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
        let mut chain = Continuity::default();
        let mut found = Vec::new();
        for (index, text) in lines.iter().enumerate() {
            let entry: Entry<'_> = serde_json::from_str(text).unwrap();
            let before: Session = serde_json::from_str(entry.before.unwrap().get()).unwrap();
            found.extend(chain.follow(index as u64 + 1, &entry, &before));
        }
        found.extend(chain.end());
        found
    }

    #[test]
    fn a_state_that_nothing_led_to_tells_of_a_missing_event() {
        let [one, two, three] =
            [("a", Some("b")), ("b", Some("c")), ("c", None)].map(|(from, to)| line("t", 1, from, to));
        assert_eq!(missing(&[one.clone(), two.clone(), three.clone()]), Vec::<u64>::new());
        assert_eq!(missing(&[one.clone(), three.clone()]), [2]);
        assert_eq!(
            missing(&[one, three, two]),
            Vec::<u64>::new(),
            "agents that work at the same time write in any order"
        );
    }

    #[test]
    fn the_same_line_twice_is_a_double() {
        let mut chain = Continuity::default();
        let (one, other) = (line("t1", 1, "a", None), line("t2", 1, "a", None));
        let mut is_double = |text: &str| chain.is_double(&serde_json::from_str(text).unwrap());
        assert_eq!([is_double(&one), is_double(&other), is_double(&one)], [false, false, true]);
        let twin = one.replace("Stop", "Stap");
        assert!(!is_double(&twin), "another event at the same time");
    }

    #[test]
    fn time_runs_back_unless_an_event_took_long() {
        let mut chain = Continuity::default();
        let mut back = |at: &str, us: u64| chain.runs_back(&serde_json::from_str(&line(at, us, "a", None)).unwrap());
        assert!(!back("2026-11-16T10:00:00Z", 1000));
        assert!(!back("2026-11-16T09:59:00Z", 65_000_000), "it came first and took a minute");
        assert!(back("2026-11-16T09:00:00Z", 1000));
        assert!(!back("2026-11-16T09:00:01Z", 1000), "told once");
    }
}
