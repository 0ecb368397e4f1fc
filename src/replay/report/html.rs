//! The HTML report: one self-contained file without network access, with as many sessions as fit on a page.
//!
//! A script draws the page from the embedded JSON; no data is ever used as markup.

use crate::facts::verdict::Verdict;
use crate::policy::mode::{BASE, Catalogue, Gate, Mode, Phase, Worker};
use crate::replay::change::{DecisionChange, ReplayCounts};
use crate::replay::inputs::{InputKind, ReplayInput};
use crate::replay::report::summary::ReplaySummary;
use crate::replay::result::{ReplayProblem, ReplayResult};
use base::printable;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

const PAGE: &str = include_str!("html/page.html");
const STYLE: &str = include_str!("html/page.css");
/// `html/page.js`, as `build.rs` shortens it.
const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/page.js"));

/// The size of all events in bytes: a page must open, and memory must not grow with the corpus.
const LARGEST: usize = 24 * 1024 * 1024;

#[derive(Default)]
pub(crate) struct HtmlReport {
    pub(super) sessions: Vec<HtmlSession>,
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

impl HtmlReport {
    pub(crate) fn add(&mut self, input: &ReplayInput, result: &ReplayResult, json: String) {
        let Ok(event) = RawValue::from_string(json) else { return };
        let file = input.main().to_string_lossy();
        let interest = if result.is_failing() { 2 } else { u8::from(result.now.verdict >= Verdict::Block) };
        let own = |shown: &&mut HtmlSession| shown.id == result.event.session && shown.file == file;
        let size = event.get().len();
        // A stream may have several sessions; most often the event belongs to the last one.
        if let Some(shown) = self.sessions.iter_mut().rev().take(32).find(own) {
            shown.interest = shown.interest.max(interest);
            shown.size += size;
            shown.events.push(event);
        } else {
            let (id, file, source) = (result.event.session.clone(), file.into_owned(), input.kind);
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

    pub(crate) fn render(&self, summary: &ReplaySummary, catalogue: &Catalogue) -> String {
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
            modes: catalogue.modes.iter().map(diagram).collect(),
            sessions: &self.sessions,
            problems: summary.problems.iter().map(problem).collect(),
            left_out: (self.omitted.events > 0).then_some(self.omitted),
        })
    }
}

/// Renders the page that shows `data`.
///
/// Data that cannot be serialized gives a page that says so.
pub fn page(data: &impl Serialize) -> String {
    let json = serde_json::to_string(data).unwrap_or_else(|error| {
        json!({ "problems": [{ "what": format!("the report cannot be written as JSON: {error}") }] }).to_string()
    });
    // The data goes in last, so that nothing in it is taken for a placeholder.
    PAGE.replace("{{css}}", STYLE.trim()).replace("{{js}}", SCRIPT.trim()).replace("{{data}}", &inert(&json))
}

/// Escapes JSON so that it cannot end its script element, begin a comment, or control a terminal that prints it.
///
/// These characters occur in JSON strings only, where the escape means the same character.
fn inert(json: &str) -> String {
    let json = json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    printable::lines(&json).into_owned()
}

/// Converts a mode to boxes and arrows.
fn diagram(mode: &Mode) -> Value {
    let own = mode.before.iter().chain(&mode.gates).filter(|_| mode.name != BASE);
    json!({
        "name": mode.name,
        "about": mode.about,
        "commands": mode.commands.iter().map(|command| format!("/{command}")).collect::<Vec<_>>(),
        "strict": mode.strict,
        "phases": mode.phases.iter().map(phase_diagram).collect::<Vec<_>>(),
        "gates": gate_diagrams(own),
    })
}

fn phase_diagram(phase: &Phase) -> Value {
    let worker = match &phase.worker {
        Worker::Main => "main".to_owned(),
        Worker::Mode(name) => format!("mode {name}"),
        Worker::Agent(names) => names.first().map(ToString::to_string).unwrap_or_default(),
    };
    json!({
        "name": phase.name,
        "worker": worker,
        "detour": phase.when.is_some(),
        "before": gate_diagrams(&phase.before),
        "after": gate_diagrams(&phase.after),
    })
}

fn gate_diagrams<'a>(gates: impl IntoIterator<Item = &'a Gate>) -> Vec<Value> {
    let diagram = |gate: &Gate| {
        let on: Vec<String> = gate.on.iter().map(ToString::to_string).collect();
        json!({"id": gate.id, "on": on.join(", "), "says": gate.message})
    };
    gates.into_iter().map(diagram).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// The data as a browser would find it: up to the first end of the script element.
    fn found(page: &str) -> Value {
        let (_, rest) = page.split_once(r#"<script type="application/json" id="data">"#).unwrap();
        let (json, _) = rest.split_once("</script>").unwrap();
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn no_text_breaks_out_of_the_page() {
        for text in [
            "</script><script>alert(1)</script>",
            "<!-- <script>",
            "\u{2028}\u{2029}",
            "{{js}} {{data}} {{css}}",
            "\\\"<",
        ] {
            let data = json!({ "sessions": [{ "id": text, "events": [{ "reason": text }] }] });
            let page = page(&data);
            assert_eq!(found(&page), data);
            assert_eq!(page.matches("<script").count(), 2, "{text}");
            assert_eq!(page.matches("</script").count(), 2, "{text}");
            assert!(!page.contains('\u{2028}') && !page.contains('\u{2029}'));
        }
    }

    #[test]
    fn every_placeholder_is_filled() {
        let page = page(&json!({}));
        for place in ["{{css}}", "{{js}}", "{{data}}"] {
            assert_eq!(PAGE.matches(place).count(), 1, "{place}");
            assert!(!page.contains(place), "{place}");
        }
        assert!(page.contains("color-scheme") && page.contains("\"use strict\""));
    }

    #[test]
    fn style_and_script_stay_in_their_elements() {
        assert!(!STYLE.contains("</"));
        assert!(!SCRIPT.contains("</") && !SCRIPT.contains("<!--"));
    }

    #[test]
    fn the_page_loads_nothing_and_uses_no_data_as_markup() {
        let page = page(&json!({}));
        for word in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "fetch(",
            "@import",
            "url(",
        ] {
            assert!(!page.contains(word), "{word}");
        }
        assert!(page.contains("default-src 'none'"));
        let addresses = page.match_indices("http").map(|(at, _)| page.get(at..).unwrap_or_default());
        let other_modes: Vec<&str> =
            addresses.filter(|text| text.starts_with("http://") || text.starts_with("https://")).collect();
        assert!(other_modes.iter().all(|text| text.starts_with("http://www.w3.org/2000/svg")), "{other_modes:?}");
    }

    #[test]
    fn data_that_cannot_be_serialized_is_reported() {
        let odd = std::collections::BTreeMap::from([((1, 2), "a key must be a text")]);
        let what = found(&page(&odd)).pointer("/problems/0/what").unwrap().to_string();
        assert!(what.contains("cannot be written"), "{what}");
    }
}
