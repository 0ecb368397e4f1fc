//! What a project's files do, and what changed in them since a person agreed.

use super::super::line_diff::unified;
use super::super::screen::{self, TextStyle, styled};
use crate::check::Check;
use crate::mode::{BrokenFile, Catalogue, EMBEDDED, Gate, Mode, ModeOrigin, ProjectSources};
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
        let lines: Vec<String> = change.diff().lines().map(shown).collect();
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

pub(super) fn print_powers(sources: &ProjectSources) {
    let powers = powers(sources);
    if !powers.is_empty() {
        screen::print_line("with these files, modegate:");
        for power in powers {
            screen::print_line(format!("  {power}"));
        }
    }
}

/// What the project's files make modegate do that its built-in modes do not.
pub(super) fn powers(sources: &ProjectSources) -> Vec<String> {
    let catalogue = sources.catalogue();
    let mut steps: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut lines = Vec::new();
    for (mode, origin) in catalogue.entries() {
        let own = own_gates(mode);
        if let (ModeOrigin::File(file), false) = (origin, own.is_empty() && mode.phases.is_empty()) {
            let gates = screen::counted(own.len(), "gate");
            lines.push(format!("uses the mode {} with {gates} ({})", shown(&mode.name), shown(file)));
        }
        for gate in own {
            for power in gate_powers(gate) {
                steps.entry(power).or_default().push(format!("{} of {}", gate.id, mode.name));
            }
        }
    }
    lines.extend(settings_powers(&catalogue));
    lines.extend(steps.into_iter().map(|(power, gates)| format!("{power} (gate {})", shown(&gates.join(", ")))));
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

/// The gates of a mode that are not built in.
fn own_gates(mode: &Mode) -> Vec<&Gate> {
    let shipped = EMBEDDED.iter().find(|(name, _)| *name == mode.name);
    let shipped = shipped.and_then(|(_, text)| crate::mode::read(text, |_| None, &[]).ok()).map(|(mode, _)| mode);
    let is_shipped = |gate: &Gate| {
        shipped
            .as_ref()
            .is_some_and(|mode| mode.all_gates().any(|(_, own)| own.id == gate.id && own.check == gate.check))
    };
    mode.all_gates().map(|(_, gate)| gate).filter(|gate| !is_shipped(gate)).collect()
}

fn gate_powers(gate: &Gate) -> Vec<String> {
    let mut powers = Vec::new();
    for check in [Some(&gate.check), gate.condition.as_ref()].into_iter().flatten() {
        check.walk(&mut |check| match check {
            Check::Run(run) => powers.push(format!("runs `{}`", shown(&run.command))),
            Check::Http(http) => powers.push(format!("sends events to {}", shown(&http.url))),
            _ => {}
        });
    }
    if gate.rewrite.is_some() {
        powers.push("changes tool input".to_owned());
    }
    powers
}

fn settings_powers(catalogue: &Catalogue) -> Vec<String> {
    let Settings { level, levels, disable, env, .. } = &catalogue.settings;
    let word = |level| json!(level).as_str().unwrap_or_default().to_owned();
    let mut powers = Vec::new();
    powers.extend(level.map(|level| format!("sets all gates to `{}`", word(level))));
    powers.extend(levels.iter().map(|(name, level)| format!("sets {} to `{}`", shown(name), word(*level))));
    powers.extend(disable.iter().map(|mode| format!("disables the mode {}", shown(mode))));
    powers.extend(env.iter().map(|name| format!("can send the environment variable {}", shown(name))));
    powers
}

/// A text of the project on one line, without characters that a terminal would act on.
fn shown(text: &str) -> String {
    let plain = |c: char| {
        !c.is_control() && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let escaped = |c: char| if plain(c) || c == '\t' { c.to_string() } else { c.escape_unicode().to_string() };
    let rest = text.chars().count().saturating_sub(LONGEST);
    let cut = if rest > 0 { format!("… and {rest} more characters, see the file") } else { String::new() };
    text.chars().take(LONGEST).map(escaped).collect::<String>() + &cut
}
