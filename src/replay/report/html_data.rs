//! The data of the HTML report: as many sessions as fit on a page.

use crate::mode::Catalogue;
use crate::replay::change::{DecisionChange, ReplayCounts};
use crate::replay::inputs::{InputKind, ReplayInput};
use crate::replay::report::html::{diagrams, page};
use crate::replay::report::summary::ReplaySummary;
use crate::replay::result::{ReplayProblem, ReplayResult};
use crate::verdict::Verdict;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The size of all events in bytes: a page must open, and memory must not grow with the corpus.
const LARGEST: usize = 24 * 1024 * 1024;

#[derive(Default)]
pub(crate) struct HtmlData {
    pub(crate) sessions: Vec<HtmlSession>,
    size: usize,
    omitted: OmittedCounts,
}

#[derive(Serialize)]
pub(crate) struct HtmlSession {
    id: String,
    file: String,
    source: InputKind,
    events: Vec<Box<RawValue>>,
    #[serde(skip)]
    size: usize,
    /// 2 with a failing decision, 1 with a blocked one, else 0.
    #[serde(skip)]
    interest: u8,
}

#[derive(Default, Clone, Copy, Serialize)]
struct OmittedCounts {
    sessions: u64,
    events: u64,
}

impl HtmlData {
    pub(crate) fn add(&mut self, input: &ReplayInput, result: &ReplayResult, json: String) {
        let Ok(event) = RawValue::from_string(json) else { return };
        let file = input.main().to_string_lossy();
        let interest = if result.is_failing() { 2 } else { u8::from(result.verdict >= Verdict::Block) };
        let own = |shown: &&mut HtmlSession| shown.id == result.session && shown.file == file;
        let size = event.get().len();
        // A stream may have several sessions; most often the event belongs to the last one.
        if let Some(shown) = self.sessions.iter_mut().rev().take(32).find(own) {
            shown.interest = shown.interest.max(interest);
            shown.size += size;
            shown.events.push(event);
        } else {
            let (id, file, source) = (result.session.clone(), file.into_owned(), input.kind);
            self.sessions.push(HtmlSession { id, file, source, events: vec![event], size, interest });
        }
        self.size += size;
        while self.size > LARGEST && self.sessions.len() > 1 {
            self.omit_session();
        }
        self.shorten();
    }

    /// Omits the least interesting session, but not the last one, which is not complete.
    fn omit_session(&mut self) {
        let done = self.sessions.iter().take(self.sessions.len().saturating_sub(1)).enumerate();
        let least = done.min_by_key(|(_, shown)| shown.interest).map(|(at, _)| at);
        let Some(gone) = least.map(|at| self.sessions.remove(at)) else { return };
        self.size -= gone.size;
        self.omitted.sessions += 1;
        self.omitted.events += gone.events.len() as u64;
    }

    /// Omits the last events of a single session that is too large.
    fn shorten(&mut self) {
        while self.size > LARGEST
            && let Some(shown) = self.sessions.last_mut()
            && let Some(event) = shown.events.pop()
        {
            shown.size -= event.get().len();
            self.size -= event.get().len();
            self.omitted.events += 1;
        }
    }

    pub(crate) fn page(&self, summary: &ReplaySummary, catalogue: &Catalogue) -> String {
        #[derive(Serialize)]
        struct Data<'a> {
            modegate: &'static str,
            comparison: &'static str,
            summary: &'a ReplayCounts,
            modes: Vec<Value>,
            sessions: &'a [HtmlSession],
            problems: Vec<Value>,
            #[serde(skip_serializing_if = "Option::is_none")]
            left_out: Option<OmittedCounts>,
        }
        let counts = &summary.counts;
        let is_new = counts.events == counts.changed(DecisionChange::New);
        let problem =
            |problem: &ReplayProblem| json!({"file": problem.file, "line": problem.line, "what": problem.what});
        page(&Data {
            modegate: env!("CARGO_PKG_VERSION"),
            comparison: match (is_new, summary.other_modes > 0) {
                (true, _) => "none",
                (false, true) => "modes",
                (false, false) => "drift",
            },
            summary: counts,
            modes: diagrams(catalogue),
            sessions: &self.sessions,
            problems: summary.problems.iter().map(problem).collect(),
            left_out: (self.omitted.events > 0).then_some(self.omitted),
        })
    }
}
