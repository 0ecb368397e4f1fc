//! Tasks that a project defines itself: scripts, make targets, recipes.

use super::{ProjectCommand, ProjectFiles, Purpose};
use serde_json::Value;

const MOST_PACKAGES: usize = 100;

/// The commands of every task file in the root.
pub(super) fn commands(files: &ProjectFiles<'_>) -> Vec<ProjectCommand> {
    let mut found = package_scripts(files);
    let mut add = |names: &[&str], runner: &str, tasks: fn(&str) -> Vec<String>| {
        if let Some((source, text)) = files.first(names) {
            found.extend(named(runner, &source, tasks(&text)));
        }
    };
    add(&["Makefile", "makefile", "GNUmakefile"], "make", make_targets);
    add(&["justfile", "Justfile", ".justfile"], "just", just_recipes);
    add(&["mise.toml", ".mise.toml"], "mise run", mise_tasks);
    add(&["Taskfile.yml", "Taskfile.yaml"], "task", taskfile_tasks);
    add(&["deno.json", "deno.jsonc"], "deno task", |text| json_keys(text, "tasks"));
    add(&["composer.json"], "composer", |text| json_keys(text, "scripts"));
    found.extend(workflow_commands(files));
    found
}

/// The tasks whose names say what they are for.
fn named(runner: &str, source: &str, tasks: Vec<String>) -> Vec<ProjectCommand> {
    let command = |task: String| {
        let purpose = Purpose::of_task(&task)?;
        Some(ProjectCommand { purpose, command: format!("{runner} {task}"), source: source.to_owned() })
    };
    tasks.into_iter().filter_map(command).collect()
}

/// The scripts of `package.json`, with the package manager that the project uses.
fn package_scripts(files: &ProjectFiles<'_>) -> Vec<ProjectCommand> {
    let Some(text) = files.text("package.json") else { return Vec::new() };
    let Ok(package) = serde_json::from_str::<Value>(&text) else { return Vec::new() };
    let manager = package.get("packageManager").and_then(Value::as_str).unwrap_or_default();
    let uses = |name: &str, locks: &[&str]| manager.starts_with(name) || locks.iter().any(|lock| files.has(lock));
    let runner = if uses("pnpm", &["pnpm-lock.yaml"]) {
        "pnpm run"
    } else if uses("yarn", &["yarn.lock"]) {
        "yarn run"
    } else if uses("bun", &["bun.lock", "bun.lockb"]) {
        "bun run"
    } else {
        "npm run"
    };
    let mut found = named(runner, "package.json", scripts(&package));
    for folder in workspaces(files, &package) {
        let source = format!("{folder}/package.json");
        let package = files.text(&source).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        found.extend(named(runner, &source, scripts(&package)));
    }
    found
}

/// The names of a package's scripts, without the one of `npm init`, which only fails.
fn scripts(package: &Value) -> Vec<String> {
    let scripts = package.get("scripts").and_then(Value::as_object).into_iter().flatten();
    let real = scripts.filter(|(_, script)| !script.as_str().is_some_and(|text| text.contains("no test specified")));
    real.map(|(name, _)| name.clone()).collect()
}

/// The folders of a project's other packages: plain paths, and `*` for all folders of one.
fn workspaces(files: &ProjectFiles<'_>, package: &Value) -> Vec<String> {
    let pnpm = files.text("pnpm-workspace.yaml").and_then(|text| serde_yaml::from_str::<Value>(&text).ok());
    let listed = package.get("workspaces");
    let listed = listed.and_then(|listed| listed.get("packages")).or(listed);
    let listed = pnpm.as_ref().and_then(|pnpm| pnpm.get("packages")).or(listed);
    let globs = listed.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let folders = |glob: &str| match glob.trim_end_matches('/').trim_end_matches("/**").strip_suffix("/*") {
        Some(parent) => files.names(parent).into_iter().map(|name| format!("{parent}/{name}")).collect(),
        None => vec![glob.trim_end_matches('/').to_owned()],
    };
    let is_inside =
        |folder: &String| !folder.starts_with(['/', '!']) && !folder.contains("..") && !folder.contains('*');
    globs.flat_map(folders).filter(is_inside).take(MOST_PACKAGES).collect()
}

fn json_keys(text: &str, field: &str) -> Vec<String> {
    let value = serde_json::from_str::<Value>(text).unwrap_or_default();
    value.get(field).and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

fn make_targets(text: &str) -> Vec<String> {
    let target = |line: &str| {
        let (names, rest) = line.split_once(':')?;
        let is_rule = !line.starts_with(['\t', ' ', '#', '.']) && !rest.starts_with('=') && !names.contains('=');
        is_rule.then(|| names.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    };
    plain_names(text.lines().filter_map(target).flatten())
}

fn just_recipes(text: &str) -> Vec<String> {
    let recipe = |line: &str| {
        let (head, rest) = line.split_once(':')?;
        let is_recipe = !line.starts_with(['\t', ' ', '#', '[', '_']) && !rest.starts_with('=');
        let name = head.split_whitespace().next()?.trim_start_matches('@').to_owned();
        is_recipe.then_some(name)
    };
    plain_names(text.lines().filter_map(recipe))
}

fn mise_tasks(text: &str) -> Vec<String> {
    let Ok(table) = toml::de::DeTable::parse(text) else { return Vec::new() };
    let tasks = table.get_ref().get("tasks").and_then(|tasks| tasks.get_ref().as_table());
    tasks.into_iter().flat_map(|tasks| tasks.keys()).map(|name| name.get_ref().to_string()).collect()
}

fn taskfile_tasks(text: &str) -> Vec<String> {
    let file = serde_yaml::from_str::<Value>(text).unwrap_or_default();
    file.get("tasks").and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

/// Names that are plain words; patterns and variables are left out.
fn plain_names(names: impl Iterator<Item = String>) -> Vec<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.');
    names.filter(|name| !name.is_empty() && name.chars().all(plain)).collect()
}

/// Task commands in the workflows of GitHub Actions, such as `run: make test-ci`.
fn workflow_commands(files: &ProjectFiles<'_>) -> Vec<ProjectCommand> {
    const FOLDER: &str = ".github/workflows";
    const RUNNERS: [&str; 9] =
        ["make", "just", "task", "mise run", "npm run", "pnpm run", "yarn run", "bun run", "npm"];
    let mut found = Vec::new();
    for name in files.names(FOLDER).into_iter().filter(|name| matches!(name.rsplit('.').next(), Some("yml" | "yaml"))) {
        let source = format!("{FOLDER}/{name}");
        for line in files.text(&source).unwrap_or_default().lines() {
            let line = line.trim().trim_start_matches("- ").trim_start_matches("run:").trim();
            for runner in RUNNERS {
                let task = line.strip_prefix(runner).and_then(|rest| rest.strip_prefix(' '));
                let task = task.and_then(|rest| rest.split_whitespace().next()).map(str::to_owned);
                found.extend(named(runner, &source, plain_names(task.into_iter())));
            }
        }
    }
    found
}
