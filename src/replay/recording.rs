//! Recordings: the masked journal of a session with its modes.
//!
//! An export verifies that the masked lines are decided as before.

use crate::engine::Decided;
use crate::facts::session::Session;
use crate::policy::mode::{Catalogue, ProjectSources};
use crate::replay::mask::{MachineIdentity, MaskCounts, MaskLevel, RecordingMasker};
use crate::replay::redecision::{decide_line, difference};
use crate::state::journal::JournalLine;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The version of the format.
pub const VERSION: u32 = 1;

/// The first line of a recording; journal lines follow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format; no journal line has this field.
    pub recording: u32,
    /// The recorded session.
    pub session: String,
    /// The version of modegate that wrote the recording.
    pub modegate: String,
    /// The hash of the modes; lines decided by them have the same.
    pub modes: String,
    /// The sources of all modes that are not embedded.
    #[serde(flatten)]
    pub sources: ProjectSources,
}

impl Header {
    /// The header of a recording with the modes of `sources`.
    pub fn new(session: &str, sources: ProjectSources) -> Self {
        Self {
            recording: VERSION,
            session: session.to_owned(),
            modegate: env!("CARGO_PKG_VERSION").to_owned(),
            modes: sources.catalogue().hash,
            sources,
        }
    }

    /// The modes of the recording.
    pub fn catalogue(&self) -> Catalogue {
        self.sources.catalogue()
    }
}

pub(crate) struct RecordingExport {
    pub(crate) header: Header,
    pub(crate) lines: Vec<JournalLine>,
    pub(crate) report: ExportReport,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(crate) struct ExportReport {
    pub(crate) lines: usize,
    pub(crate) other_modes: usize,
    /// Lines that keep names and long prompts, because masking these would change the decision.
    pub(crate) partly_masked: Vec<LineNote>,
    pub(crate) left_out: Vec<LineNote>,
    pub(crate) masked: MaskCounts,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct LineNote {
    pub(crate) at: String,
    pub(crate) event: String,
    pub(crate) why: String,
}

impl LineNote {
    fn new(line: &JournalLine, why: &str) -> Self {
        let event = line.event.get("hook_event_name").and_then(Value::as_str).unwrap_or_default().to_owned();
        Self { at: line.at.clone(), event, why: why.to_owned() }
    }
}

/// Makes a recording of a session's lines with the modes of `sources`.
pub(crate) fn export(
    session: &str,
    sources: &ProjectSources,
    lines: &[JournalLine],
    identity: &MachineIdentity,
) -> RecordingExport {
    let mut exporter = LineExporter {
        masker: RecordingMasker::new(identity),
        fingerprints: BTreeMap::new(),
        report: ExportReport::default(),
    };
    let sources_texts = sources.settings.iter().chain(sources.files.iter().map(|(_, text)| text));
    sources_texts.for_each(|text| exporter.masker.secrets.learn_source(text));
    for line in lines {
        exporter.masker.secrets.learn_line(&serde_json::to_value(line).unwrap_or_default());
    }
    let own = sources.catalogue();
    let header = exporter.header(session, sources);
    let catalogue = header.catalogue();
    let lines: Vec<JournalLine> = lines.iter().filter_map(|line| exporter.line(line, &own, &catalogue)).collect();
    exporter.report.lines = lines.len();
    RecordingExport { header, lines, report: exporter.report }
}

struct LineExporter {
    masker: RecordingMasker,
    /// The fingerprints of blocked stops in the journal, and those of the same facts once they are masked.
    fingerprints: BTreeMap<String, String>,
    report: ExportReport,
}

impl LineExporter {
    fn header(&mut self, session: &str, sources: &ProjectSources) -> Header {
        let Self { masker, report, .. } = self;
        let mut mask = |text: &mut String| *text = masker.mask_source(text, &mut report.masked);
        let mut sources = sources.clone();
        sources.settings.iter_mut().for_each(&mut mask);
        sources.files.iter_mut().for_each(|(_, text)| mask(text));
        for (problem, line) in sources.unreadable.iter_mut().flat_map(|broken| &mut broken.problems) {
            mask(&mut problem.message);
            mask(line);
        }
        Header::new(session, sources)
    }

    /// The masked line, unless it must be left out.
    fn line(&mut self, line: &JournalLine, own: &Catalogue, masked_modes: &Catalogue) -> Option<JournalLine> {
        let catalogue = (line.modes == own.hash).then_some(masked_modes);
        let full = self.masked(line, MaskLevel::Full, catalogue);
        let partly = |error| self.masked(line, MaskLevel::SecretsAndPaths, catalogue).map_err(|_| error);
        let is_full = full.is_ok();
        match full.or_else(partly) {
            Ok((masked, counts)) => {
                self.report.masked.add(counts);
                self.report.other_modes += usize::from(catalogue.is_none());
                if !is_full {
                    self.report.partly_masked.push(LineNote::new(&masked, "names and long prompts are kept"));
                }
                Some(masked)
            }
            Err(why) => {
                let unmasked = || redecide(line, own).is_ok_and(|decided| difference(line, &decided).is_none());
                let differs_always = catalogue.is_some() && !unmasked();
                let why = if differs_always { "the decision differs even without masking" } else { why };
                self.report.left_out.push(LineNote::new(line, why));
                None
            }
        }
    }

    /// Masks a line; with a catalogue it also verifies that the masked line is decided as before.
    fn masked(
        &mut self,
        line: &JournalLine,
        level: MaskLevel,
        catalogue: Option<&Catalogue>,
    ) -> Result<(JournalLine, MaskCounts), &'static str> {
        let mut counts = MaskCounts::default();
        let value = serde_json::to_value(line).unwrap_or_default();
        let value = self.masker.mask_line(&value, level, &mut counts);
        let mut masked: JournalLine =
            serde_json::from_value(value).map_err(|_| "it is unreadable once it is masked")?;
        // Seals are for the journal of this machine, and for the text before it was masked.
        masked.seal = None;
        if let Some(catalogue) = catalogue {
            masked.modes.clone_from(&catalogue.hash);
            self.verify(&mut masked, catalogue)?;
        }
        let leaks = serde_json::to_string(&masked).is_ok_and(|text| self.masker.secrets.occur_in(&text));
        if leaks { Err("a secret in it cannot be masked") } else { Ok((masked, counts)) }
    }

    /// Decides a masked line again. Only fingerprints may differ: they are replaced by those of the masked facts.
    fn verify(&mut self, line: &mut JournalLine, catalogue: &Catalogue) -> Result<(), &'static str> {
        self.replace_fingerprints(&mut line.before);
        let decided = redecide(line, catalogue)?;
        if let Some(mut after) = line.after.take() {
            self.replace_fingerprints(&mut after);
            self.learn_fingerprints(&mut after, &decided.session);
            line.after = Some(after);
        }
        difference(line, &decided).map_or(Ok(()), Err)
    }

    fn replace_fingerprints(&self, session: &mut Session) {
        for block in session.modes.values_mut().flat_map(|state| Arc::make_mut(state).blocks.values_mut()) {
            if let Some(new) = self.fingerprints.get(&block.facts) {
                block.facts.clone_from(new);
            }
        }
    }

    /// Takes over the fingerprints of blocks that are the same otherwise.
    fn learn_fingerprints(&mut self, recorded: &mut Session, decided: &Session) {
        for (namespace, state) in &mut recorded.modes {
            let Some(other) = decided.modes.get(namespace) else { continue };
            for (gate, block) in &mut Arc::make_mut(state).blocks {
                if let Some(new) = other.blocks.get(gate).filter(|new| new.count == block.count) {
                    self.fingerprints.insert(block.facts.clone(), new.facts.clone());
                    block.facts.clone_from(&new.facts);
                }
            }
        }
    }
}

/// Decides a line again, if it has all that the modes ask.
fn redecide(line: &JournalLine, catalogue: &Catalogue) -> Result<Decided, &'static str> {
    let compared = decide_line(line.clone(), catalogue, &catalogue.hash).map_err(|_| "its event is invalid")?;
    if compared.gaps.is_empty() { Ok(compared.decided) } else { Err("it asks what was not recorded") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_contains_its_modes() {
        let file = (".claude/modes/mine.yaml".to_owned(), "mode: mine\nabout: Mine.\ncommands: [/mine]\n".to_owned());
        let sources = ProjectSources {
            settings: Some("patience: 2\n".to_owned()),
            files: vec![file],
            ..ProjectSources::default()
        };
        let header = Header::new("s1", sources);
        let again: Header = serde_json::from_str(&serde_json::to_string(&header).unwrap()).unwrap();
        assert_eq!(again, header);
        assert!(again.catalogue().mode("mine").is_some());
        assert_eq!(again.catalogue().hash, header.modes);
    }
}
