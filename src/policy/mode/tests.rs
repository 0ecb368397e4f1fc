//! The documents list what the readers of YAML accept, and their settings can be read.

#![expect(clippy::disallowed_methods, reason = "a test reads documents")]

#[path = "../../../tests/support/document.rs"]
mod document;

use super::read::{GATE, MODE, PHASE};
use crate::host::event::Trigger;
use crate::policy::check::KINDS;
use crate::policy::settings::Settings;
use document::{Block, Document};

/// The documents with examples.
const EXAMPLES: [&str; 4] = ["docs/modes.md", "docs/mode-reference.md", "docs/checks.md", "docs/gates.md"];

#[test]
fn settings_in_the_documents_can_be_read() {
    let mut count = 0;
    for name in EXAMPLES {
        let document = Document::read(name);
        for block in document.blocks_of("yaml settings") {
            let read = Settings::read(&block.text);
            assert!(read.is_ok(), "{name}:{}: {read:#?}", block.line);
            count += 1;
        }
        for block in document.blocks_of("yaml user-settings") {
            let read = Settings::read_user(&block.text, |_| true);
            assert!(read.is_ok(), "{name}:{}: {read:#?}", block.line);
            count += 1;
        }
    }
    assert!(count > 3, "{count}");
}

#[test]
fn the_reference_lists_exactly_the_keys_and_every_event() {
    let document = Document::read("docs/mode-reference.md");
    for (heading, keys) in [("## Mode keys", &MODE[..]), ("## Phase keys", &PHASE), ("## Gate keys", &GATE)] {
        let section = document.section(heading).expect(heading);
        let (mut listed, mut accepted) = (section.rows(), keys.to_vec());
        listed.sort_unstable();
        accepted.sort_unstable();
        assert_eq!(listed, accepted, "{heading}");
    }
    let missing: Vec<&str> = Trigger::words().filter(|word| !document.mentions(word)).collect();
    assert_eq!(missing, [""; 0]);
}

/// Each kind of check has a section with an example, and a scenario in which it fails once and passes once.
#[test]
fn every_kind_of_check_has_a_section_and_a_scenario() {
    let document = Document::read("docs/checks.md");
    for kind in KINDS {
        let section = document.section(&format!("### `{kind}`"));
        let section = section.unwrap_or_else(|| panic!("`{kind}` has no section"));
        let key = format!("{kind}:");
        let is_example = |block: &Block| block.info.starts_with("yaml") && block.text.contains(&key);
        assert!(section.blocks().iter().any(is_example), "the section of `{kind}` has no example");
        let path = format!("{}/fixtures/scenarios/checks/{kind}.yaml", env!("CARGO_MANIFEST_DIR"));
        let scenario = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        for word in [key.as_str(), ": block }", ": pass }"] {
            assert!(scenario.contains(word), "{path} lacks {word:?}");
        }
    }
}
