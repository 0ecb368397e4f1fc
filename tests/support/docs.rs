//! What the documents say is so: their examples run, and nothing that can be written is left out.

use crate::document::{Block, Document};
use libtest_mimic::{Failed, Trial};
use modegate::check;
use modegate::engine::decide;
use modegate::event::{Event, Trigger};
use modegate::facts::{Facts, Recorded};
use modegate::journal::Line;
use modegate::mode::{Catalogue, GATE, MODE, PHASE};
use modegate::replay::scenario::Scenario;
use modegate::settings::Settings;
use modegate::store::{Shape, State};

/// Stands in a scenario for the text of the mode that was shown last.
const ABOVE: &str = "(the mode above)";

/// What a list of gates is a part of.
const AROUND: &str = "\
mode: example
artifacts: { plan: plans/*.md, report: reports/*.md }
variables: { code: src, test: make test }
phases:
  - phase: work
    main: true
    after:
";

pub fn trials() -> Vec<Trial> {
    let modes = Document::read("docs/modes.md");
    let journal = Document::read("docs/journal.md");
    let gates = Document::read("docs/gates.md");
    let mut trials = scenarios(&modes);
    trials.extend(scenarios(&gates));
    let mut add = |name: &str, document: &Document, test: fn(&Document) -> Result<(), Failed>| {
        let document = document.clone();
        trials.push(Trial::test(format!("{}: {name}", title(&document)), move || test(&document)));
    };
    add("every example is read", &modes, every_example_is_read);
    add("every key and every event is told", &modes, every_key_is_told);
    add("every example is read", &gates, every_example_is_read);
    add("every kind of check has its section", &modes, every_kind_has_its_section);
    add("every rule that ships is told", &gates, every_rule_is_told);
    add("the line is decided again", &journal, the_line_is_decided_again);
    add("the state is read", &journal, the_state_is_read);
    trials
}

fn title(document: &Document) -> &str {
    document.name.trim_end_matches(".md")
}

/// A trial for each scenario, with the mode that was shown before it.
fn scenarios(document: &Document) -> Vec<Trial> {
    let mut above = String::new();
    let mut trials = Vec::new();
    for block in document.blocks() {
        match block.info.as_str() {
            "yaml mode" => above.clone_from(&block.text),
            "yaml scenario" => trials.push(scenario(document, &block, &above)),
            _ => {}
        }
    }
    trials
}

fn scenario(document: &Document, block: &Block, above: &str) -> Trial {
    let place = format!("{}:{}", document.name, block.line);
    match Scenario::parse(&block.text) {
        Err(error) => Trial::test(place, move || Err(error.into())),
        Ok(mut scenario) => {
            scenario.files.values_mut().filter(|text| *text == ABOVE).for_each(|text| above.clone_into(text));
            Trial::test(format!("{}: {}", title(document), scenario.about), move || {
                let played = crate::scenario::play(&scenario).map_err(|error| format!("{place}: {}", said(&error)))?;
                played.replay()
            })
        }
    }
}

fn said(failed: &Failed) -> &str {
    failed.message().unwrap_or_default()
}

/// Every YAML block is a scenario, a mode, a part of one, a list of gates, or settings.
fn every_example_is_read(document: &Document) -> Result<(), Failed> {
    for block in document.blocks().iter().filter(|block| block.info.starts_with("yaml")) {
        let mode = match block.info.as_str() {
            "yaml scenario" => continue,
            "yaml settings" => {
                Settings::read(&block.text).map_err(|problems| wrong(document, block, &problems))?;
                continue;
            }
            "yaml mode" => block.text.clone(),
            "yaml part" => format!("mode: example\n{}", block.text),
            "yaml gates" => AROUND.to_owned() + &block.text.lines().map(indented).collect::<String>(),
            other => return Err(wrong(document, block, &other)),
        };
        let catalogue = Catalogue::compose(None, &[("example.yaml".to_owned(), mode)]);
        if !catalogue.broken.is_empty() {
            return Err(wrong(document, block, &catalogue.broken));
        }
    }
    Ok(())
}

fn indented(line: &str) -> String {
    format!("      {line}\n")
}

fn wrong(document: &Document, block: &Block, what: &impl std::fmt::Debug) -> Failed {
    format!("{}:{} does not read: {what:#?}", document.name, block.line).into()
}

/// The tables have the keys that are read, no fewer and no more.
fn every_key_is_told(document: &Document) -> Result<(), Failed> {
    for (heading, keys) in [("## A mode", &MODE[..]), ("## A phase", &PHASE), ("## A gate", &GATE)] {
        let section = document.section(heading).ok_or(heading)?;
        let (mut told, mut read) = (section.rows(), keys.to_vec());
        told.sort_unstable();
        read.sort_unstable();
        if told != read {
            return Err(format!("{heading} tells {told:?}, but {read:?} are read").into());
        }
    }
    match Trigger::words().find(|word| !document.mentions(word)) {
        Some(word) => Err(format!("`{word}` is not mentioned").into()),
        None => Ok(()),
    }
}

/// Each kind has a section with one scenario, in which it is once the reason to refuse and once content.
fn every_kind_has_its_section(document: &Document) -> Result<(), Failed> {
    let gates = Document::read("docs/gates.md");
    for kind in check::KINDS {
        let heading = format!("### `{kind}`");
        let section = document.section(&heading).or_else(|| gates.section(&heading));
        let section = section.ok_or(format!("`{kind}` has no section"))?;
        let scenarios = section.blocks_of("yaml scenario");
        let [scenario] = scenarios.as_slice() else {
            return Err(format!("`{kind}` has {} scenarios", scenarios.len()).into());
        };
        for word in [format!("{kind}:"), ": block }".to_owned(), ": pass }".to_owned()] {
            if !scenario.text.contains(&word) {
                return Err(format!("the scenario of `{kind}` lacks {word:?}").into());
            }
        }
    }
    Ok(())
}

/// The table of gates that ship has them all, and no other.
fn every_rule_is_told(document: &Document) -> Result<(), Failed> {
    let section = document.section("## What ships").ok_or("no section")?;
    let catalogue = Catalogue::compose(None, &[]);
    let shipped: Vec<String> =
        catalogue.mode("base").into_iter().flat_map(|base| base.gates.iter().map(|gate| gate.id.clone())).collect();
    if section.rows() == shipped { Ok(()) } else { Err(format!("{:?} is not {shipped:?}", section.rows()).into()) }
}

/// The line that is shown is one, and leads to the same decision with the modes that ship.
fn the_line_is_decided_again(document: &Document) -> Result<(), Failed> {
    for block in document.blocks_of("json line") {
        let line: Line = serde_json::from_str(&block.text)?;
        let event = Event::from_value(line.event)?;
        let recorded = Recorded::new(line.asked);
        let again = decide(&event, &Catalogue::compose(None, &[]), &line.before, &Facts::new(&recorded));
        let after = line.after.unwrap_or(line.before);
        if (&again.findings, &again.decision, &again.session) != (&line.findings, &line.decision, &after) {
            return Err(format!("decided otherwise: {again:#?}").into());
        }
    }
    Ok(())
}

fn the_state_is_read(document: &Document) -> Result<(), Failed> {
    for block in document.blocks_of("json cache") {
        let state = State::parse(block.text.as_bytes());
        let session = state.session("demo-session");
        if state.shape != Shape::Sound || session.standing("plan_mode").is_none_or(|standing| standing.done.is_empty())
        {
            return Err(format!("{state:#?}").into());
        }
    }
    Ok(())
}
