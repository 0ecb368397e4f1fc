//! What a project's files do, and what changed in them since a person agreed.

use super::super::line_diff::unified;
use super::super::screen::{self, TextStyle, styled};
use crate::check::Check;
use crate::mode::{BASE, BrokenFile, Catalogue, Gate, Mode, ModeOrigin, NamedProgram, ProjectSources, embedded_mode};
use crate::printable;
use crate::settings::Settings;
use crate::trust::{SteeringFiles, TrustRecord};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Longer texts are cut, and the rest is counted: a long line must not hide what it runs.
const LONGEST: usize = 1_000;

pub(super) fn print_files(files: &SteeringFiles) {
    let count = files.rules.len() + files.others.len();
    let noun = if count == 1 { "file that configures" } else { "files that configure" };
    screen::print_line(format!("not trusted: {count} {noun} modegate"));
    for path in files.rules.keys().chain(files.others.keys()) {
        screen::print_line(format!("  {}", shown(path)));
    }
}

/// Prints the differences from what the user agreed to.
pub(super) fn print_changes(record: &TrustRecord, files: &SteeringFiles) {
    screen::print_line("changed since you trusted it:");
    for change in differences(record, files) {
        let word = match (&change.before, &change.after) {
            (None, _) => "new",
            (_, None) => "removed",
            _ => "changed",
        };
        screen::print_line(format!("  {word:<8} {}", styled(TextStyle::Bold, &shown(&change.path))));
        // Not `lines`, which would hide a changed end of a line.
        let lines: Vec<String> = change.diff().split_terminator('\n').map(shown).collect();
        screen::print_diff(&lines.join("\n"));
    }
}

pub(super) fn changes(record: &TrustRecord, files: &SteeringFiles) -> Vec<Value> {
    let changes = differences(record, files).into_iter();
    changes.map(|change| json!({"path": change.path, "diff": change.diff()})).collect()
}

/// A file that has changed since the user agreed to it.
struct TrustChange {
    path: String,
    before: Option<String>,
    after: Option<String>,
}

impl TrustChange {
    fn diff(&self) -> String {
        unified(self.before.as_deref().unwrap_or_default(), self.after.as_deref().unwrap_or_default())
    }
}

fn differences(record: &TrustRecord, files: &SteeringFiles) -> Vec<TrustChange> {
    let names: BTreeSet<&String> = record.rules.keys().chain(files.rules.keys()).collect();
    let rules = names.into_iter().map(|name| {
        let (before, after) = (record.rules.get(name).cloned(), files.rules.get(name).cloned());
        TrustChange { path: name.clone(), before, after }
    });
    let others = record.unknown_others(files).into_iter().map(|path| {
        let after = files.others.get(&path).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        TrustChange { before: record.texts.get(&path).cloned(), after, path }
    });
    rules.filter(|change| change.before != change.after).chain(others).collect()
}

pub(super) fn print_powers(sources: &ProjectSources, replaced: &[String]) {
    let powers = powers(sources, replaced);
    if !powers.is_empty() {
        screen::print_line("with these files, modegate:");
        for power in powers {
            screen::print_line(format!("  {power}"));
        }
    }
}

/// What the project's files make modegate do that its built-in modes do not.
///
/// Its hooks take the place of the user's own that are `replaced`.
pub(super) fn powers(sources: &ProjectSources, replaced: &[String]) -> Vec<String> {
    let catalogue = sources.catalogue();
    let mut steps: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut lines: Vec<String> =
        replaced.iter().map(|name| format!("replaces your own hook {}", shown(name))).collect();
    for (mode, origin) in catalogue.entries() {
        let shipped = embedded_mode(&mode.name);
        let own = own_gates(mode, shipped.as_ref());
        if let (ModeOrigin::File(file), false) = (origin, own.is_empty() && mode.phases.is_empty()) {
            let gates = screen::counted(own.len(), "gate");
            lines.push(format!("uses the mode {} with {gates} ({})", shown(&mode.name), shown(file)));
        }
        let is_file = matches!(origin, ModeOrigin::File(_));
        lines.extend(shipped.iter().filter(|_| is_file).flat_map(|shipped| changes_to_shipped(mode, shipped)));
        for gate in own {
            for power in gate_powers(gate) {
                steps.entry(power).or_default().push(format!("gate {} of {}", gate.id, mode.name));
            }
        }
        for phase in &mode.phases {
            for power in phase.when.iter().flat_map(step_powers) {
                steps.entry(power).or_default().push(format!("phase {} of {}", phase.name, mode.name));
            }
        }
    }
    for (file, program) in catalogue.doubtful_programs(&sources.files) {
        let power = match program {
            NamedProgram::Command(command) => runs(&command),
            NamedProgram::Url(url) => sends_to(&url),
        };
        steps.entry(power).or_insert_with(|| vec![format!("named in {file}")]);
    }
    lines.extend(settings_powers(&catalogue));
    lines.extend(steps.into_iter().map(|(power, gates)| format!("{power} ({})", shown(&gates.join(", ")))));
    lines
}

/// The project's files that have problems, each with what becomes of it.
pub(super) fn broken_files(sources: &ProjectSources, files: &SteeringFiles) -> Vec<String> {
    let catalogue = sources.catalogue();
    let own = catalogue.broken.iter().filter(|broken| files.rules.contains_key(&broken.file));
    let line = |broken: &BrokenFile| {
        let fate = if broken.used { "the rest of it is used" } else { "it is ignored until it is fixed" };
        format!("`{}` is trusted as it is, with {}; {fate}", shown(&broken.file), broken.problem_count())
    };
    own.map(line).collect()
}

/// The gates of a mode that are not exactly built-in ones.
fn own_gates<'m>(mode: &'m Mode, shipped: Option<&Mode>) -> Vec<&'m Gate> {
    mode.all_gates().map(|(_, gate)| gate).filter(|gate| !shipped.is_some_and(|mode| has_gate(mode, gate))).collect()
}

/// Whether a mode has the same gate, wherever it is in its file.
fn has_gate(mode: &Mode, gate: &Gate) -> bool {
    // The built-in gates of the base mode keep their level, whatever the project's settings say.
    let level = |own: &Gate| if mode.name == BASE { gate.level } else { own.level };
    mode.all_gates().any(|(_, own)| Gate { location: gate.location, level: level(own), ..own.clone() } == *gate)
}

/// What a project's mode lacks of the built-in mode that it replaces, or makes weaker.
fn changes_to_shipped(mode: &Mode, shipped: &Mode) -> Vec<String> {
    let name = shown(&mode.name);
    let missing =
        shipped.all_gates().filter(|(_, gate)| !has_gate(mode, gate)).map(|(_, gate)| shown(gate.id.as_str()));
    let missing: Vec<String> = missing.collect();
    let mut lines = Vec::new();
    if !missing.is_empty() {
        lines.push(format!("changes or removes built-in gates of {name}: {}", missing.join(", ")));
    }
    if let Some(level) = mode.level.filter(|level| Some(*level) != shipped.level) {
        lines.push(format!("sets the mode {name} to `{}`", level.word()));
    }
    if mode.definitions != shipped.definitions {
        lines.push(format!("changes variables, artifacts or agents of {name}"));
    }
    lines
}

fn gate_powers(gate: &Gate) -> Vec<String> {
    let mut powers = step_powers(&gate.check);
    powers.extend(gate.condition.as_deref().into_iter().flat_map(step_powers));
    if gate.rewrites() {
        powers.push("changes tool input".to_owned());
    }
    powers
}

/// The programs that a check runs, and the servers that it asks.
fn step_powers(check: &Check) -> Vec<String> {
    let mut powers = Vec::new();
    check.walk(&mut |check| match check {
        Check::Run(run) => powers.push(runs(&run.command)),
        Check::Http(http) => powers.push(sends_to(&http.url)),
        _ => {}
    });
    powers
}

fn runs(command: &str) -> String {
    format!("runs `{}`", shown(command))
}

fn sends_to(url: &str) -> String {
    format!("sends events to {}", shown(url))
}

fn settings_powers(catalogue: &Catalogue) -> Vec<String> {
    let Settings { level, levels, disable, env, patience, variables, journal, .. } = &catalogue.settings;
    let mut powers = Vec::new();
    powers.extend(level.map(|level| format!("sets all gates but the built-in ones to `{}`", level.word())));
    powers.extend(levels.iter().map(|(name, level)| format!("sets {} to `{}`", shown(name), level.word())));
    powers.extend(disable.iter().map(|mode| format!("disables the mode {}", shown(mode))));
    powers.extend(env.iter().map(|name| format!("can send the environment variable {}", shown(name))));
    powers.extend(
        patience.map(|patience| format!("allows a stop after {}", screen::counted(patience as usize, "block"))),
    );
    powers.extend(
        variables
            .iter()
            .map(|(name, values)| format!("sets the variable {} to {}", shown(name), shown(&values.join(", ")))),
    );
    if !journal {
        powers.push("keeps no journal".to_owned());
    }
    powers
}

/// A text of the project on one line, without characters that a terminal would act on.
fn shown(text: &str) -> String {
    let rest = text.chars().count().saturating_sub(LONGEST);
    let cut = if rest > 0 { format!("… and {rest} more characters, see the file") } else { String::new() };
    let start: String = text.chars().take(LONGEST).collect();
    printable::lines(&start).replace('\n', "\\n") + &cut
}
