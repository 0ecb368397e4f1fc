//! What the page shows: sessions with their events, as many as a page can have.

use super::collector::ReportedEvent;
use super::inputs::ReplayInput;
use super::summary::ReplaySummary;
use crate::mode::Catalogue;
use crate::replay::diagram::diagrams;
use crate::replay::html::page;
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

/// How large the events together may be, in bytes: a page must open, and memory must not grow with the corpus.
const LARGEST: usize = 24 * 1024 * 1024;

/// The sessions that are shown.
#[derive(Default)]
pub(super) struct HtmlData {
    sessions: Vec<HtmlSession>,
    size: usize,
    left_out: OmittedCounts,
}

#[derive(Serialize)]
struct HtmlSession {
    id: String,
    file: String,
    source: &'static str,
    events: Vec<Box<RawValue>>,
    #[serde(skip)]
    size: usize,
    /// How much there is to see: nothing, a refusal, a difference.
    #[serde(skip)]
    interest: u8,
}

#[derive(Default, Clone, Copy, Serialize)]
struct OmittedCounts {
    sessions: u64,
    events: u64,
}

impl HtmlData {
    pub(super) fn add(&mut self, input: &ReplayInput, heard: &ReportedEvent) {
        let Some(event) = heard.json.clone().and_then(|json| RawValue::from_string(json).ok()) else { return };
        let file = input.main().to_string_lossy();
        let interest = if heard.failing { 2 } else { u8::from(heard.blocked) };
        let own = |shown: &&mut HtmlSession| shown.id == heard.session && shown.file == file;
        let size = event.get().len();
        // A stream may have several sessions: they are few, and the last is meant most often.
        if let Some(shown) = self.sessions.iter_mut().rev().take(32).find(own) {
            shown.interest = shown.interest.max(interest);
            shown.size += size;
            shown.events.push(event);
        } else {
            let (id, file, source) = (heard.session.clone(), file.into_owned(), input.source.word());
            self.sessions.push(HtmlSession { id, file, source, events: vec![event], size, interest });
        }
        self.size += size;
        while self.size > LARGEST && self.sessions.len() > 1 {
            self.leave_out();
        }
        self.shorten();
    }

    /// Leaves out the session with the least to see; the last one is not yet at its end.
    fn leave_out(&mut self) {
        let done = self.sessions.iter().take(self.sessions.len().saturating_sub(1)).enumerate();
        let dullest = done.min_by_key(|(_, shown)| shown.interest).map(|(at, _)| at);
        let Some(gone) = dullest.map(|at| self.sessions.remove(at)) else { return };
        self.size -= gone.size;
        self.left_out.sessions += 1;
        self.left_out.events += gone.events.len() as u64;
    }

    /// A single session that is too large loses its later events.
    fn shorten(&mut self) {
        while self.size > LARGEST
            && let Some(shown) = self.sessions.last_mut()
            && let Some(event) = shown.events.pop()
        {
            shown.size -= event.get().len();
            self.size -= event.get().len();
            self.left_out.events += 1;
        }
    }

    /// The page.
    pub(super) fn page(self, report: &ReplaySummary, catalogue: &Catalogue) -> String {
        #[derive(Serialize)]
        struct Data<'a> {
            modegate: &'static str,
            comparison: &'static str,
            summary: crate::replay::counts::ReplayCounts,
            modes: Vec<crate::replay::diagram::ModeDiagram>,
            sessions: &'a [HtmlSession],
            problems: Vec<serde_json::Value>,
            #[serde(skip_serializing_if = "Option::is_none")]
            left_out: Option<OmittedCounts>,
        }
        let counts = report.counts;
        let problem = |problem: &crate::replay::problem::ReplayProblem| json!({"file": problem.file, "line": problem.line, "what": problem.what});
        page(&Data {
            modegate: env!("CARGO_PKG_VERSION"),
            comparison: match (counts.events == counts.new, report.other_modes > 0) {
                (true, _) => "none",
                (false, true) => "modes",
                (false, false) => "drift",
            },
            summary: counts,
            modes: diagrams(catalogue),
            sessions: &self.sessions,
            problems: report.problems.iter().map(problem).collect(),
            left_out: (self.left_out.events > 0).then_some(self.left_out),
        })
    }
}
