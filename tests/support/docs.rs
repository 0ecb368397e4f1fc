//! Runs the examples in the documents, and checks that their tables are complete.

use crate::document::{Block, Document};
use libtest_mimic::{Failed, Trial};
use modegate::{Catalogue, Event, Facts, JournalLine, RecordedAnswers, Scenario, decide};

/// Where a scenario without modes has the mode above it, as in the project of a reader.
const ABOVE: &str = ".claude/modes/above.yaml";

/// The mode that a `yaml gates` block is put into.
const AROUND: &str = "\
mode: example
artifacts: { plan: plans/*.md, report: reports/*.md }
variables: { code: src, test: make test }
phases:
  - phase: work
    main: true
    after:
";

/// The documents whose YAML blocks are tests.
const EXAMPLES: [&str; 4] = ["docs/modes.md", "docs/mode-reference.md", "docs/checks.md", "docs/gates.md"];

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for name in EXAMPLES {
        let document = Document::read(name);
        trials.extend(scenarios(&document));
        trials.push(trial("every example parses", document, every_example_parses));
    }
    let read = Document::read;
    trials.extend([
        trial("every built-in gate is listed", read("docs/gates.md"), every_built_in_gate_is_listed),
        trial("the example line leads to the same decision", read("docs/journal.md"), the_line_is_decided_again),
        trial("every question is listed", read("docs/journal.md"), every_question_is_listed),
    ]);
    trials
}

fn trial(name: &str, document: Document, test: fn(&Document) -> Result<(), Failed>) -> Trial {
    Trial::test(format!("{}: {name}", title(&document)), move || test(&document))
}

fn title(document: &Document) -> &str {
    document.name.trim_end_matches(".md")
}

/// Returns a test per scenario; one that follows a mode is played with it.
fn scenarios(document: &Document) -> Vec<Trial> {
    let mut above = String::new();
    let mut trials = Vec::new();
    for block in document.blocks() {
        match block.info.as_str() {
            "yaml mode" => above.clone_from(&block.text),
            "yaml scenario" => trials.push(scenario(document, &block, std::mem::take(&mut above))),
            _ => {}
        }
    }
    trials
}

fn scenario(document: &Document, block: &Block, above: String) -> Trial {
    let place = format!("{}:{}", document.name, block.line);
    match Scenario::parse(&block.text) {
        Err(error) => Trial::test(place, move || Err(error.into())),
        Ok(mut scenario) => {
            if !above.is_empty() && !scenario.files.keys().any(|path| path.starts_with(".claude/modes/")) {
                scenario.files.insert(ABOVE.to_owned(), above);
            }
            Trial::test(format!("{}: {}", title(document), scenario.about), move || {
                let played =
                    crate::scenario::play(&scenario).map_err(|error| format!("{place}: {}", message(&error)))?;
                played.replay()
            })
        }
    }
}

fn message(failed: &Failed) -> &str {
    failed.message().unwrap_or_default()
}

/// Parses every YAML block as what its fence says: a mode, part of one, or a list of gates.
fn every_example_parses(document: &Document) -> Result<(), Failed> {
    for block in document.blocks().iter().filter(|block| block.info.starts_with("yaml")) {
        let mode = match block.info.as_str() {
            // Unit tests read the settings.
            "yaml scenario" | "yaml settings" | "yaml user-settings" => continue,
            "yaml mode" => block.text.clone(),
            "yaml part" => format!("mode: example\n{}", block.text),
            "yaml gates" => AROUND.to_owned() + &block.text.lines().map(indented).collect::<String>(),
            other => return Err(unreadable(document, block, &other)),
        };
        let catalogue = Catalogue::compose(None, &[("example.yaml".to_owned(), mode)]);
        if !catalogue.broken.is_empty() {
            return Err(unreadable(document, block, &catalogue.broken));
        }
    }
    Ok(())
}

fn indented(line: &str) -> String {
    format!("      {line}\n")
}

fn unreadable(document: &Document, block: &Block, what: &impl std::fmt::Debug) -> Failed {
    format!("{}:{} does not parse: {what:#?}", document.name, block.line).into()
}

/// The table lists exactly the gates of the built-in base mode.
fn every_built_in_gate_is_listed(document: &Document) -> Result<(), Failed> {
    let section = document.section("## Built-in gates").ok_or("no section")?;
    let catalogue = Catalogue::compose(None, &[]);
    let shipped: Vec<String> =
        catalogue.mode("base").into_iter().flat_map(|base| base.gates.iter().map(|gate| gate.id.to_string())).collect();
    if section.rows() == shipped { Ok(()) } else { Err(format!("{:?} is not {shipped:?}", section.rows()).into()) }
}

/// The example line parses and leads to the same decision with the built-in modes.
fn the_line_is_decided_again(document: &Document) -> Result<(), Failed> {
    for block in document.blocks_of("json line") {
        let line: JournalLine = serde_json::from_str(&block.text)?;
        let event = Event::from_value(line.event)?;
        let recorded = RecordedAnswers::new(line.asked);
        let again = decide(&event, &Catalogue::compose(None, &[]), &line.before, &Facts::new(&recorded));
        let after = line.after.unwrap_or(line.before);
        if (&again.findings, &again.decision, &again.session) != (&line.findings, &line.decision, &after) {
            return Err(format!("another decision: {again:#?}").into());
        }
    }
    Ok(())
}

/// The table lists every question and answer, also those that only occur in the recordings.
fn every_question_is_listed(document: &Document) -> Result<(), Failed> {
    let section = document.section("## Questions and answers").ok_or("no section")?;
    // The error names all variants: "unknown variant `?`, expected one of `files`, `elsewhere`, …".
    let questions = serde_json::from_str::<modegate::Question>("\"?\"").unwrap_err().to_string();
    let answers = serde_json::from_str::<modegate::Answer>("\"?\"").unwrap_err().to_string();
    let names = [&questions, &answers].map(|error| error.split('`').skip(3).step_by(2));
    let names: Vec<&str> = names.into_iter().flatten().collect();
    assert!(names.contains(&"rewritten") && names.contains(&"no_text"), "{questions}\n{answers}");
    for name in names {
        if !section.contains(&format!("\"{name}\"")) {
            return Err(format!("`{name}` is not listed").into());
        }
    }
    for file in std::fs::read_dir("fixtures/recordings")? {
        let path = file?.path();
        if path.extension().is_none_or(|end| end != "jsonl") {
            continue;
        }
        for line in std::fs::read_to_string(&path)?.lines().skip(1) {
            let line: serde_json::Value = serde_json::from_str(line)?;
            let pairs = line["asked"].as_array().into_iter().flatten();
            for word in pairs.filter_map(serde_json::Value::as_array).flatten() {
                let name = word.as_str().or_else(|| Some(word.as_object()?.keys().next()?)).unwrap_or_default();
                if !section.contains(&format!("\"{name}\"")) {
                    return Err(format!("`{name}` is not listed; it is in {}", path.display()).into());
                }
            }
        }
    }
    Ok(())
}
