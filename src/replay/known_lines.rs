//! Lines that were decided as recorded, so that lines which differ in nothing that a decision reads need no decision.

use crate::replay::journal::continuity::{LineTrace, event_key};
use crate::replay::line::RecordedLine;
use crate::replay::line_pattern::{FreeValues, LinePattern};
use crate::replay::redecision::Comparison;
use crate::verdict::Verdict;
use serde_json::value::RawValue;

/// How many lines are kept; a session has few kinds of events at a time.
const KEPT: usize = 32;

/// How many lines must be decided, or be like others, for one more to be kept: keeping one that no other is like is lost work.
const EACH: usize = 8;

/// Longer lines are not kept.
const LONGEST: usize = 32 * 1024;

/// A line that passes without a word, as recorded.
#[derive(Debug)]
struct KnownLine {
    pattern: LinePattern,
    /// The key of its event and agent.
    key: u64,
    /// The tool call, where that is fixed.
    call: Option<String>,
    other_modes: bool,
    /// Whether a tool call must have an id that the session does not have.
    is_other_call: bool,
    /// The kept line that came after it.
    next: usize,
    /// Whether a line was like it since a line was last dropped here.
    is_used: bool,
}

/// A line that is decided like an earlier one.
pub(crate) struct SimilarLine<'l> {
    pub(crate) length: usize,
    pub(crate) session: &'l [u8],
    /// What the journal's order says about it.
    pub(crate) trace: LineTrace<'l>,
    pub(crate) other_modes: bool,
}

impl KnownLine {
    /// The first line of a text, if it is decided like this one.
    fn similar<'l>(&mut self, text: &'l [u8]) -> Option<SimilarLine<'l>> {
        let FreeValues { at, us, call, session, before, length } = self.pattern.values(text)?;
        if self.is_other_call && call.is_some_and(|call| memchr::memmem::find(before, call).is_some()) {
            return None;
        }
        let call = call.or(self.call.as_deref().map(str::as_bytes));
        let trace = LineTrace { before, ..LineTrace::new(at, us, self.key, call) };
        Some(SimilarLine { session: session.unwrap_or_default(), trace, other_modes: self.other_modes, length })
    }
}

/// The lines that were decided last.
#[derive(Debug, Default)]
pub(crate) struct KnownLines {
    lines: Vec<KnownLine>,
    last: usize,
    oldest: usize,
    /// How many lines may still be kept, times [`EACH`].
    room: usize,
}

impl KnownLines {
    /// The first line of a text, if it is decided like a known one.
    pub(crate) fn find<'l>(&mut self, text: &'l [u8]) -> Option<SimilarLine<'l>> {
        // Events come in the same order again and again.
        let next = self.lines.get(self.last)?.next;
        let mut others = (0..self.lines.len()).filter(|at| *at != next);
        let mut similar = |at: usize| Some((at, self.lines.get_mut(at)?.similar(text)?));
        let (at, line) = similar(next).or_else(|| others.find_map(similar))?;
        self.lines.get_mut(self.last)?.next = at;
        self.last = at;
        self.room = (self.room + 1).min(KEPT * EACH);
        self.lines.get_mut(at)?.is_used = true;
        Some(line)
    }

    /// Keeps a line that was decided as recorded, if nobody needs to hear of it.
    pub(crate) fn keep(&mut self, text: &[u8], line: &RecordedLine<'_>, compared: &Comparison, reads_stamps: bool) {
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
        let Some(pattern) = LinePattern::new(text, &event.fields, reads_stamps) else { return };
        let known = KnownLine {
            pattern,
            key: event_key(event.text("hook_event_name"), event.text("agent_id")),
            call: event.text("tool_use_id").map(str::to_owned),
            other_modes: compared.other_modes,
            is_other_call: event.fields.is_other_call(),
            next: 0,
            is_used: false,
        };
        if self.lines.len() < KEPT {
            self.lines.push(known);
        } else if let Some(dropped) = self.unused() {
            *dropped = known;
        }
    }

    /// The oldest line that no line was like of late.
    fn unused(&mut self) -> Option<&mut KnownLine> {
        while let Some(kept) = self.lines.get_mut(self.oldest).filter(|kept| kept.is_used) {
            kept.is_used = false;
            self.oldest = (self.oldest + 1) % KEPT;
        }
        let oldest = self.oldest;
        self.oldest = (self.oldest + 1) % KEPT;
        self.lines.get_mut(oldest)
    }
}
