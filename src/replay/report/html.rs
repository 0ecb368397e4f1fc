//! The HTML report: one self-contained file without network access.
//!
//! A script draws the page from the embedded JSON; no data is ever used as markup.

use crate::mode::{BASE, Catalogue, Gate, Mode, Phase, Worker};
use crate::printable;
use serde::Serialize;
use serde_json::{Value, json};

const PAGE: &str = include_str!("html/page.html");
const STYLE: &str = include_str!("html/page.css");
/// `html/page.js`, as `build.rs` shortens it.
const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/page.js"));

/// Renders the page that shows `data`.
///
/// Data that cannot be serialized gives a page that says so.
#[must_use]
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

/// Converts the modes of a catalogue to boxes and arrows.
pub(crate) fn diagrams(catalogue: &Catalogue) -> Vec<Value> {
    catalogue.modes.iter().map(diagram).collect()
}

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
