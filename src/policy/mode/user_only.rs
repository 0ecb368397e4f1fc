//! What only the user's own file may do: weaken the built-in rules, and send secrets.

use super::{BASE, Check, Gate, Mode};
use crate::policy::settings::{Level, Settings};
use crate::policy::yaml::{FileProblem, Location, Node};

/// The user's own settings file, as messages name it.
pub const USER_SETTINGS: &str = "~/.claude/modegate.yaml";

/// Takes out of `settings` what a project may not set, and reports it; `user` are the user's own settings.
pub(super) fn limit_settings(settings: &mut Settings, user: &Settings, base: &Mode, text: &str) -> Vec<FileProblem> {
    let mut problems = Vec::new();
    let node = Node::parse(text).ok();
    let at = |path: [&str; 2]| node.as_ref().and_then(|node| location(node, path)).unwrap_or(Location::START);
    let is_built_in = |name: &str| base.gates.iter().any(|gate| gate.id == name);
    let own: Vec<(String, Level)> = settings
        .levels
        .iter()
        .filter(|(name, level)| user.levels.get(*name) != Some(*level))
        .map(|(name, level)| (name.clone(), *level))
        .collect();
    for (name, level) in own {
        if is_built_in(&name) && (level != Level::Enforce || user.levels.contains_key(&name)) {
            match user.levels.get(&name) {
                Some(level) => settings.levels.insert(name.clone(), *level),
                None => settings.levels.remove(&name),
            };
        } else if name != BASE || level == Level::Enforce {
            continue;
        }
        let line = format!("levels: {{ {name}: {} }}", level.word());
        problems.push(problem(at(["levels", &name]), "a project cannot weaken the built-in rules", &line));
    }
    if settings.disable.iter().any(|name| name == BASE) && !user.disable.iter().any(|name| name == BASE) {
        settings.disable.retain(|name| name != BASE);
        let message = "a project cannot switch off the built-in rules";
        problems.push(problem(at(["disable", ""]), message, "disable: [base]"));
    }
    if settings.env.len() > user.env.len() {
        let names = settings.env.iter().filter(|name| !user.env.contains(name)).cloned().collect::<Vec<_>>().join(", ");
        settings.env.clone_from(&user.env);
        if !names.is_empty() {
            let message = "a project cannot choose which environment variables are sent";
            problems.push(problem(at(["env", ""]), message, &format!("env: [{names}]")));
        }
    }
    problems
}

/// Puts the built-in gates of the base mode back where a project's file replaces them, and reports it.
pub(super) fn restore_gates(mode: &mut Mode, base: &Mode) -> Vec<FileProblem> {
    let mut problems = Vec::new();
    for (at, gate) in base.gates.iter().enumerate() {
        match mode.gates.iter_mut().find(|own| own.id == gate.id) {
            Some(own) if own == gate => {}
            Some(own) => {
                let message = format!("a project cannot replace the built-in gate `{}`", gate.id);
                let line = format!("levels: {{ {}: off }}", gate.id);
                problems.push(problem(own.location, &message, &line));
                own.clone_from(gate);
            }
            None => mode.gates.insert(at.min(mode.gates.len()), gate.clone()),
        }
    }
    problems
}

/// Environment variables that a file's checks send and the user's own file does not allow.
pub(super) fn unlisted_env(mode: &Mode, user: &Settings) -> Vec<FileProblem> {
    let mut problems = Vec::new();
    for (_, gate) in mode.all_gates() {
        let mut names = Vec::new();
        for check in [Some(&gate.check), gate.condition.as_ref()].into_iter().flatten() {
            check.walk(&mut |check| {
                if let Check::Http(http) = check {
                    names.extend(http.step.env.iter().filter(|name| !user.env.contains(name)).cloned());
                }
            });
        }
        if !names.is_empty() {
            let message = format!("the gate `{}` cannot choose which environment variables are sent", gate.id);
            problems.push(problem(gate.location, &message, &format!("env: [{}]", names.join(", "))));
        }
    }
    problems
}

/// Gives the built-in gates the level that they have with the user's settings, where others would weaken it.
pub(super) fn keep_levels(gates: &mut [Gate], mode: Option<Level>, settings: &Settings, user: &Settings, base: &Mode) {
    for gate in gates {
        let Some(built_in) = base.gates.iter().find(|own| own.id == gate.id) else { continue };
        let allowed = user.level((BASE, base.level), (&built_in.id, built_in.level));
        if settings.level((BASE, mode), (&gate.id, gate.level)) > allowed {
            gate.level = Some(allowed);
        }
    }
}

fn problem(location: Location, message: &str, line: &str) -> FileProblem {
    let hint = format!("to do this on your machine, put `{line}` in {USER_SETTINGS}");
    FileProblem { hint: Some(hint), ..FileProblem::at(location, message) }
}

fn location(node: &Node, [key, below]: [&str; 2]) -> Option<Location> {
    let value = node.get(key)?;
    let inner = value.entries().iter().find(|(name, _)| name.text() == Some(below));
    Some(inner.map_or(value.location, |(name, _)| name.location))
}
