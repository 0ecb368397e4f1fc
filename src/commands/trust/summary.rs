//! What a project's files do, and what changed in them since a person agreed.

use super::super::line_diff::unified;
use super::super::screen::{self, TextStyle, styled};
use crate::policy::check::Check;
use crate::policy::mode::{
    BASE, BrokenFile, Catalogue, Gate, Mode, ModeOrigin, NamedProgram, Phase, ProjectSources, embedded_mode,
};
use crate::policy::settings::{Level, Settings};
use crate::state::trust::{ConfigFiles, TrustRecord};
use base::printable;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Longer texts are cut, and the rest is counted: a long line must not hide what it runs.
const LONGEST: usize = 1_000;

pub(super) fn print_files(files: &ConfigFiles) {
    let count = files.rules.len() + files.others.len();
    let noun = if count == 1 { "file that configures" } else { "files that configure" };
    screen::print_line(format!("not trusted: {count} {noun} modegate"));
    for path in files.rules.keys().chain(files.others.keys()) {
        screen::print_line(format!("  {}", shown(path)));
    }
}

pub(super) fn print_changes(record: &TrustRecord, files: &ConfigFiles) {
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

pub(super) fn changes(record: &TrustRecord, files: &ConfigFiles) -> Vec<Value> {
    let changes = differences(record, files).into_iter();
    changes.map(|change| json!({"path": change.path, "diff": change.diff()})).collect()
}

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

fn differences(record: &TrustRecord, files: &ConfigFiles) -> Vec<TrustChange> {
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
pub(super) fn broken_files(sources: &ProjectSources, files: &ConfigFiles) -> Vec<String> {
    let catalogue = sources.catalogue();
    let own = catalogue.broken.iter().filter(|broken| files.rules.contains_key(&broken.file));
    let line = |broken: &BrokenFile| {
        let fate = if broken.used { "the rest of it is used" } else { "it is ignored until it is fixed" };
        format!("`{}` is trusted as it is, with {}; {fate}", shown(&broken.file), broken.problem_count())
    };
    own.map(line).collect()
}

fn own_gates<'m>(mode: &'m Mode, shipped: Option<&Mode>) -> Vec<&'m Gate> {
    let is_own = |placed: &(GatePlace<'_>, &Gate)| !shipped.is_some_and(|mode| has_gate(mode, placed));
    placed_gates(mode).into_iter().filter(is_own).map(|(_, gate)| gate).collect()
}

/// Where a gate is in its mode: in a list, perhaps of a phase.
type GatePlace<'m> = (Option<&'m str>, &'static str);

fn phase_gates(phase: &Phase) -> impl Iterator<Item = (GatePlace<'_>, &Gate)> {
    let name = Some(phase.name.as_str());
    let before = phase.before.iter().map(move |gate| ((name, "before"), gate));
    before.chain(phase.after.iter().map(move |gate| ((name, "after"), gate)))
}

fn placed_gates(mode: &Mode) -> Vec<(GatePlace<'_>, &Gate)> {
    let before = mode.before.iter().map(|gate| ((None, "before"), gate));
    let gates = mode.gates.iter().map(|gate| ((None, "gates"), gate));
    before.chain(mode.phases.iter().flat_map(phase_gates)).chain(gates).collect()
}

fn has_gate(mode: &Mode, (place, gate): &(GatePlace<'_>, &Gate)) -> bool {
    // The built-in gates of the base mode keep their level, whatever the project's settings say.
    let level = |own: &Gate| if mode.name == BASE { gate.level } else { own.level };
    let is_same = |own: &Gate| Gate { location: gate.location, level: level(own), ..own.clone() } == **gate;
    placed_gates(mode).into_iter().any(|(own, other)| own == *place && is_same(other))
}

fn is_same_phase(left: &Phase, right: &Phase) -> bool {
    let part = |phase: &Phase| {
        let Phase { name, worker, blocks_stop, when, from, .. } = phase.clone();
        (name, worker, blocks_stop, when, from)
    };
    part(left) == part(right)
}

/// What a project's mode changes in the built-in mode that it replaces, or makes weaker.
fn changes_to_shipped(mode: &Mode, shipped: &Mode) -> Vec<String> {
    let name = shown(&mode.name);
    let commands: Vec<String> = mode.commands.iter().map(|command| shown(&format!("/{command}"))).collect();
    let commands = if commands.is_empty() { "nothing".to_owned() } else { commands.join(", ") };
    let patience = mode.patience.filter(|patience| Some(*patience) != shipped.patience);
    let stops = screen::counted(patience.unwrap_or_default() as usize, "block");
    let has_same_phases = mode.phases.len() == shipped.phases.len()
        && mode.phases.iter().zip(&shipped.phases).all(|(own, other)| is_same_phase(own, other));
    let missing = placed_gates(shipped).into_iter().filter(|placed| !has_gate(mode, placed));
    let missing: Vec<String> = missing.map(|(_, gate)| shown(gate.id.as_str())).collect();
    let level = mode.level.filter(|level| Some(*level) != shipped.level);
    let changes = [
        (mode.commands != shipped.commands, format!("starts the mode {name} with {commands}")),
        (patience.is_some(), format!("allows a stop in {name} after {stops}")),
        (!has_same_phases, format!("changes the phases of {name}: who works in them, or when")),
        (shipped.strict && !mode.strict, format!("does not keep the order of the phases of {name}")),
        (mode.namespace != shipped.namespace, format!("keeps the state of {name} under another name")),
        (
            (&mode.say, &mode.end) != (&shipped.say, &shipped.end),
            format!("changes what the model reads at the start or end of {name}"),
        ),
        (!missing.is_empty(), format!("changes or removes built-in gates of {name}: {}", missing.join(", "))),
        (level.is_some(), format!("sets the mode {name} to `{}`", level.map_or("", Level::word))),
        (mode.definitions != shipped.definitions, format!("changes variables, artifacts or agents of {name}")),
    ];
    changes.into_iter().filter(|(is_change, _)| *is_change).map(|(_, text)| text).collect()
}

fn gate_powers(gate: &Gate) -> Vec<String> {
    let mut powers = step_powers(&gate.check);
    powers.extend(gate.condition.as_ref().into_iter().flat_map(step_powers));
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

fn shown(text: &str) -> String {
    let rest = text.chars().count().saturating_sub(LONGEST);
    let cut = if rest > 0 { format!("… and {rest} more characters, see the file") } else { String::new() };
    let start: String = text.chars().take(LONGEST).collect();
    printable::lines(&start).replace('\n', "\\n") + &cut
}
