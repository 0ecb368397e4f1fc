//! Checks that journal lines follow one another: no duplicates, no gaps, no clock that was set back.

use crate::replay::line_pattern::{common_length, is_same};
use crate::session::{Session, SessionModes};
use std::collections::{HashSet, VecDeque};
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

/// What the order of a journal depends on.
#[derive(Debug, Clone, Default)]
pub(crate) struct LineTrace<'l> {
    pub(crate) at: &'l [u8],
    pub(crate) us: u64,
    /// A hash of what tells one event from another: concurrent agents have events in the same millisecond.
    pub(crate) key: u64,
    /// The session before the event.
    pub(crate) before: &'l [u8],
    /// The session after the event, if it changed.
    pub(crate) after: Option<&'l [u8]>,
}

impl<'l> LineTrace<'l> {
    /// The trace of a line at `at`, with the key of its event and agent and the id of its tool call.
    pub(crate) fn new(at: &'l [u8], us: u64, event_key: u64, call: Option<&[u8]>) -> Self {
        Self { at, us, key: with_text(with_text(mixed(event_key, us), Some(at)), call), ..Self::default() }
    }

    /// The time of the line, if it has one.
    pub(crate) fn time(&self) -> Option<String> {
        std::str::from_utf8(self.at).ok().filter(|at| !at.is_empty()).map(str::to_owned)
    }
}

/// What tells the events of a kind and of an agent from others.
pub(crate) fn event_key(name: Option<&str>, agent: Option<&str>) -> u64 {
    [name, agent].into_iter().fold(0, |key, text| with_text(key, text.map(str::as_bytes)))
}

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
    seen: SeenLines,
    latest: Vec<u8>,
    lines: u64,
    /// The states after the last lines.
    states: VecDeque<SessionModes>,
    /// States that no line has led to yet, with the count and place of the line that begins with them.
    unexplained: VecDeque<(u64, FileLine, SessionModes)>,
    text: Vec<u8>,
}

impl Continuity {
    /// Compares a line with those before it.
    pub(crate) fn order(&mut self, line: &LineTrace<'_>) -> LineOrder {
        let same = common_length(line.at, &self.latest);
        let is_later = line.at.get(same..) > self.latest.get(same..);
        if !self.seen.insert(line.key, is_later) {
            return LineOrder::Duplicate;
        }
        if is_later || self.clock_went_back(line) {
            line.at.clone_into(&mut self.latest);
            return if is_later { LineOrder::InOrder } else { LineOrder::ClockWentBack };
        }
        LineOrder::InOrder
    }

    /// Whether the line was written before the previous event began, which means that the clock was set back.
    fn clock_went_back(&self, line: &LineTrace<'_>) -> bool {
        let instant = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<jiff::Timestamp>().ok();
        let (Some(began), Some(latest)) = (instant(line.at), instant(&self.latest)) else { return false };
        began.checked_add(Duration::from_micros(line.us) + SLACK).is_ok_and(|written| written < latest)
    }

    /// Follows the state from line to line; returns lines before which an event is missing.
    pub(crate) fn follow(&mut self, file: &Arc<str>, number: u64, line: &LineTrace<'_>) -> Vec<FileLine> {
        if !is_same(&self.text, line.before) {
            line.before.clone_into(&mut self.text);
            let state = modes_of(line.before).unwrap_or_default();
            if self.lines > 0 && !self.states.contains(&state) {
                self.unexplained.push_back((self.lines, (Arc::clone(file), number), state.clone()));
            }
            self.keep(state);
        }
        self.lines += 1;
        if let Some(after) = line.after.and_then(modes_of) {
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
fn modes_of(session: &[u8]) -> Option<SessionModes> {
    let mut modes = serde_json::from_slice::<Session>(session).ok()?.modes;
    for state in modes.values_mut() {
        Arc::make_mut(state).other.shift_remove("updated_at");
    }
    Some(modes)
}

/// The lines that were there before, by their keys.
#[derive(Debug, Default)]
struct SeenLines {
    /// As long as each line is later than all before it, no line needs to be looked up.
    in_order: Vec<u64>,
    looked_up: Option<HashSet<u64>>,
}

impl SeenLines {
    /// Adds a line; returns whether it is new.
    fn insert(&mut self, key: u64, is_later: bool) -> bool {
        if is_later && self.looked_up.is_none() {
            self.in_order.push(key);
            return true;
        }
        let in_order = &mut self.in_order;
        self.looked_up.get_or_insert_with(|| std::mem::take(in_order).into_iter().collect()).insert(key)
    }
}

fn with_text(hash: u64, text: Option<&[u8]>) -> u64 {
    let Some(text) = text else { return mixed(hash, u64::MAX) };
    let hash = mixed(hash, text.len() as u64);
    let number = |word: &[u8; 8]| u64::from_le_bytes(*word);
    match text.last_chunk() {
        // The last word has what is left, and some of the word before it.
        Some(last) => mixed(text.as_chunks().0.iter().map(number).fold(hash, mixed), number(last)),
        None => text.iter().map(|byte| u64::from(*byte)).fold(hash, mixed),
    }
}

/// Both halves of a product: each bit of a word reaches every bit of the hash.
#[inline(always)]
#[expect(clippy::inline_always, reason = "it is never inlined where code is optimized for size")]
fn mixed(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ 0x9e37_79b9_7f4a_7c15) * u128::from(word ^ 0xa076_1d64_78bd_642f);
    #[expect(clippy::cast_possible_truncation, reason = "the halves are taken apart")]
    let halves = (product as u64, (product >> 64) as u64);
    halves.0 ^ halves.1 ^ hash.rotate_left(23)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::line::RecordedLine;
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

    fn trace(text: &str) -> LineTrace<'_> {
        serde_json::from_str::<RecordedLine<'_>>(text).unwrap().trace()
    }

    fn missing(lines: &[String]) -> Vec<u64> {
        let mut continuity = Continuity::default();
        let mut found = Vec::new();
        for (number, text) in (1..).zip(lines) {
            found.extend(continuity.follow(&"x".into(), number, &trace(text)));
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
        let mut is_duplicate = |text: &str| continuity.order(&trace(text)) == LineOrder::Duplicate;
        assert_eq!([is_duplicate(&one), is_duplicate(&other), is_duplicate(&one)], [false, false, true]);
        let twin = one.replace("Stop", "Stap");
        assert!(!is_duplicate(&twin), "another event at the same time");
    }

    #[test]
    fn a_clock_that_went_back_is_reported_unless_an_event_took_long() {
        let mut continuity = Continuity::default();
        let mut back =
            |at: &str, us: u64| continuity.order(&trace(&line(at, us, "a", None))) == LineOrder::ClockWentBack;
        assert!(!back("2026-11-16T10:00:00Z", 1000));
        assert!(!back("2026-11-16T09:59:00Z", 65_000_000), "it began first and took a minute");
        assert!(back("2026-11-16T09:00:00Z", 1000));
        assert!(!back("2026-11-16T09:00:01Z", 1000), "reported once");
    }
}
