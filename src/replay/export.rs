//! A recording made of a journal: masked, and proved to be decided as it was.

use super::mask::{MachineIdentity, MaskCounts, MaskLevel, RecordingMasker};
use super::recording::Header;
use crate::engine::decide;
use crate::event::Event;
use crate::facts::{Facts, RecordedAnswers};
use crate::journal::JournalLine;
use crate::mode::{Catalogue, ProjectSources};
use crate::session::Session;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A recording, and what was done to make it.
pub struct RecordingExport {
    /// The first line.
    pub header: Header,
    /// The lines after it.
    pub lines: Vec<JournalLine>,
    /// What was done.
    pub report: ExportReport,
}

/// What was done to make a recording.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ExportReport {
    /// How many lines it has.
    pub lines: usize,
    /// How many of them were decided by other modes than those it carries.
    pub other_modes: usize,
    /// Lines that keep names or long prompts, because they are decided otherwise without.
    pub loosened: Vec<LineNote>,
    /// Lines that were left out.
    pub left_out: Vec<LineNote>,
    /// How often something was masked.
    pub masked: MaskCounts,
}

/// A line by when it came, and what is to be said of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LineNote {
    /// When the event came.
    pub at: String,
    /// The event's name.
    pub event: String,
    /// What is to be said.
    pub why: String,
}

impl LineNote {
    fn new(line: &JournalLine, why: &str) -> Self {
        let event = line.event.get("hook_event_name").and_then(Value::as_str).unwrap_or_default().to_owned();
        Self { at: line.at.clone(), event, why: why.to_owned() }
    }
}

/// Makes a recording of a session's lines, decided by the modes of `sources`.
#[must_use]
pub fn export(
    session: &str,
    sources: &ProjectSources,
    lines: &[JournalLine],
    identity: &MachineIdentity,
) -> RecordingExport {
    let mut desk = LineExporter {
        masks: RecordingMasker::new(identity),
        fingerprints: BTreeMap::new(),
        report: ExportReport::default(),
    };
    desk.learn(sources, lines);
    let own = sources.catalogue();
    let header = desk.header(session, sources);
    let catalogue = header.catalogue();
    let mut kept = Vec::new();
    for line in lines {
        kept.extend(desk.line(line, &own, &catalogue));
    }
    desk.report.lines = kept.len();
    RecordingExport { header, lines: kept, report: desk.report }
}

/// Whether a line's own facts lead to what it says, with these modes; else in what they differ.
pub fn holds(line: &JournalLine, catalogue: &Catalogue) -> Result<(), &'static str> {
    let again = again(line, catalogue).ok_or("its event is none")?;
    same(line, &again, line.after.as_ref().unwrap_or(&line.before))
}

fn again(line: &JournalLine, catalogue: &Catalogue) -> Option<crate::engine::Decided> {
    let event = Event::from_value(line.event.clone()).ok()?;
    let recorded = RecordedAnswers::new(line.asked.clone());
    Some(decide(&event, catalogue, &line.before, &Facts::new(&recorded)))
}

fn same(line: &JournalLine, again: &crate::engine::Decided, after: &Session) -> Result<(), &'static str> {
    if again.findings != line.findings {
        Err("its gates find something else")
    } else if again.decision != line.decision {
        Err("it is decided otherwise")
    } else if again.session != *after {
        Err("the session is left otherwise")
    } else {
        Ok(())
    }
}

struct LineExporter {
    masks: RecordingMasker,
    /// Fingerprints of what was seen, by what they are once it is masked.
    fingerprints: BTreeMap<String, String>,
    report: ExportReport,
}

impl LineExporter {
    fn learn(&mut self, sources: &ProjectSources, lines: &[JournalLine]) {
        let texts = sources.settings.iter().chain(sources.files.iter().map(|(_, text)| text));
        texts.for_each(|text| self.masks.learn_source(text));
        for line in lines {
            self.masks.learn_line(&serde_json::to_value(line).unwrap_or_default());
        }
    }

    fn header(&mut self, session: &str, sources: &ProjectSources) -> Header {
        let Self { masks, report, .. } = self;
        let mut masked = |text: &String| masks.mask_source(text, &mut report.masked);
        let mut sources = sources.clone();
        sources.settings = sources.settings.as_ref().map(&mut masked);
        for (_, text) in &mut sources.files {
            *text = masked(text);
        }
        for broken in &mut sources.unreadable {
            for (problem, line) in &mut broken.problems {
                problem.message = masked(&problem.message);
                *line = masked(line);
            }
        }
        Header::new(session, sources)
    }

    /// The line as it may be written, or none.
    fn line(&mut self, line: &JournalLine, own: &Catalogue, catalogue: &Catalogue) -> Option<JournalLine> {
        let foreign = line.modes != own.hash;
        let mut why = "it cannot be read once it is masked";
        for depth in [MaskLevel::Full, MaskLevel::SecretsAndPaths] {
            let mut tally = MaskCounts::default();
            let Some(mut masked) = self.masked(line, depth, &mut tally) else { continue };
            if foreign {
                self.report.other_modes += 1;
            } else {
                masked.modes.clone_from(&catalogue.hash);
                if let Err(other) = self.settle(&mut masked, catalogue) {
                    why = other;
                    continue;
                }
            }
            if serde_json::to_string(&masked).is_ok_and(|text| self.masks.leaks(&text)) {
                why = "a secret in it cannot be masked";
                continue;
            }
            if depth == MaskLevel::SecretsAndPaths {
                self.report.loosened.push(LineNote::new(&masked, "names and long prompts are kept"));
            }
            self.report.masked.add(tally);
            return Some(masked);
        }
        let always = !foreign && holds(line, own).is_err();
        let why = if always { "it is decided otherwise even as it stands in the journal" } else { why };
        self.report.left_out.push(LineNote::new(line, why));
        None
    }

    fn masked(&mut self, line: &JournalLine, depth: MaskLevel, tally: &mut MaskCounts) -> Option<JournalLine> {
        let value = serde_json::to_value(line).ok()?;
        serde_json::from_value(self.masks.mask_line(&value, depth, tally)).ok()
    }

    /// Decides the line again; fingerprints are those of what is seen now, else nothing may differ.
    fn settle(&mut self, line: &mut JournalLine, catalogue: &Catalogue) -> Result<(), &'static str> {
        self.renew(&mut line.before);
        let again = again(line, catalogue).ok_or("its event is none")?;
        let mut after = line.after.clone().unwrap_or_else(|| line.before.clone());
        if line.after.is_some() {
            self.renew(&mut after);
            self.compare(&mut after, &again.session);
        }
        same(line, &again, &after)?;
        line.after = line.after.is_some().then_some(after);
        Ok(())
    }

    fn renew(&self, session: &mut Session) {
        let holds = session.modes.values_mut().flat_map(|state| state.blocks.values_mut());
        for hold in holds {
            if let Some(new) = self.fingerprints.get(&hold.facts) {
                hold.facts.clone_from(new);
            }
        }
    }

    /// Takes over the fingerprints of holds that are the same otherwise.
    fn compare(&mut self, recorded: &mut Session, again: &Session) {
        for (namespace, mode_state) in &mut recorded.modes {
            let Some(other) = again.modes.get(namespace) else { continue };
            for (gate, hold) in &mut mode_state.blocks {
                if let Some(new) = other.blocks.get(gate).filter(|new| new.count == hold.count) {
                    self.fingerprints.insert(hold.facts.clone(), new.facts.clone());
                    hold.facts.clone_from(&new.facts);
                }
            }
        }
    }
}
