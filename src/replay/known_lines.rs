//! Lines that were decided as recorded, so that lines which differ in nothing that a decision reads need no decision.

use super::continuity::LineTrace;
use super::line::RecordedLine;
use super::line_pattern::{FreeValues, LinePattern};
use super::redecision::Comparison;
use crate::verdict::Verdict;
use serde_json::value::RawValue;
use std::sync::Arc;

/// How many lines are kept; a session has few kinds of events at a time.
const KEPT: usize = 32;

/// How many lines must be decided, or be like others, for one more to be kept: keeping one that no other is like is lost work.
const EACH: usize = 8;

/// Longer lines are not kept.
const LONGEST: usize = 32 * 1024;

/// A line that passes without a word, as recorded.
#[derive(Debug)]
pub(crate) struct KnownLine {
    pattern: LinePattern,
    pub(crate) session: String,
    /// The name of the event, its agent, and its tool call where that is fixed.
    ids: [Option<String>; 3],
    /// The session before the event, as text.
    pub(crate) before: String,
    pub(crate) other_modes: bool,
    /// Whether a tool call must have an id that the session does not have.
    is_other_call: bool,
}

impl KnownLine {
    /// What a line has in the free parts, if it is decided like this one.
    fn values<'l>(&self, line: &'l [u8]) -> Option<FreeValues<'l>> {
        let values = self.pattern.values(line)?;
        let is_in_session = |call: &str| self.before.contains(call);
        (!self.is_other_call || !values.call.is_some_and(is_in_session)).then_some(values)
    }

    /// What the journal's order says about a line with these values.
    pub(crate) fn trace<'l>(&'l self, values: &FreeValues<'l>) -> LineTrace<'l> {
        let [name, agent, call] = self.ids.each_ref().map(Option::as_deref);
        let ids = [name, agent, values.call.or(call)];
        LineTrace { before: &self.before, ..LineTrace::new(values.at, values.us, ids) }
    }
}

/// A line that is kept.
#[derive(Debug)]
struct KeptLine {
    known: Arc<KnownLine>,
    /// The kept line that came after it.
    next: usize,
    /// Whether a line was like it since a line was last dropped here.
    is_used: bool,
}

/// The lines that were decided last.
#[derive(Debug, Default)]
pub(crate) struct KnownLines {
    lines: Vec<KeptLine>,
    last: usize,
    oldest: usize,
    /// How many lines may still be kept, times [`EACH`].
    room: usize,
}

impl KnownLines {
    /// The known line that a line is decided like.
    pub(crate) fn find<'l>(&mut self, line: &'l [u8]) -> Option<(Arc<KnownLine>, FreeValues<'l>)> {
        let matches = |at: usize| self.lines.get(at).and_then(|kept| kept.known.values(line));
        // Events come in the same order again and again.
        let next = self.lines.get(self.last)?.next;
        let found = matches(next).map(|values| (next, values));
        let others = (0..self.lines.len()).filter(|at| *at != next);
        let (at, values) =
            found.or_else(|| others.into_iter().find_map(|at| matches(at).map(|values| (at, values))))?;
        self.lines.get_mut(self.last)?.next = at;
        self.last = at;
        self.room = (self.room + 1).min(KEPT * EACH);
        let kept = self.lines.get_mut(at)?;
        kept.is_used = true;
        Some((Arc::clone(&kept.known), values))
    }

    /// Keeps a line that was decided as recorded, if nobody needs to hear of it.
    pub(crate) fn keep(&mut self, text: &[u8], line: &RecordedLine<'_>, compared: &Comparison) {
        let decision = &compared.decided.decision;
        let is_silent = decision.verdict == Verdict::Pass && decision.moves.is_empty();
        self.room += 1;
        let is_room = self.lines.len() < KEPT || self.room > EACH;
        if text.len() > LONGEST || !is_silent || line.after.is_some() || !is_room {
            return;
        }
        self.room = self.room.saturating_sub(EACH);
        let event = &compared.event;
        let before = line.before.map_or("", RawValue::get);
        // Ids are compared as they are written.
        if event.fields.is_other_call() && before.contains('\\') {
            return;
        }
        let Ok(text) = std::str::from_utf8(text) else { return };
        let Some(pattern) = LinePattern::new(text, &event.fields) else { return };
        let known = Arc::new(KnownLine {
            pattern,
            session: event.session().to_owned(),
            ids: ["hook_event_name", "agent_id", "tool_use_id"].map(|name| event.text(name).map(str::to_owned)),
            before: before.to_owned(),
            other_modes: compared.other_modes,
            is_other_call: event.fields.is_other_call(),
        });
        let kept = KeptLine { known, next: 0, is_used: false };
        if self.lines.len() < KEPT {
            self.lines.push(kept);
        } else if let Some(dropped) = self.unused() {
            *dropped = kept;
        }
    }

    /// The oldest line that no line was like of late.
    fn unused(&mut self) -> Option<&mut KeptLine> {
        while let Some(kept) = self.lines.get_mut(self.oldest).filter(|kept| kept.is_used) {
            kept.is_used = false;
            self.oldest = (self.oldest + 1) % KEPT;
        }
        let oldest = self.oldest;
        self.oldest = (self.oldest + 1) % KEPT;
        self.lines.get_mut(oldest)
    }
}
