//! Checks the commands and agents that the modes name: they exist, and agents have the tools their gates need.

use super::context::{DoctorContext, SettingsScope};
use super::{Diagnostic, note, ok, problem};
use crate::commands::starter;
use crate::facts::{Frontmatter, frontmatter};
use crate::host::event::command::same_command;
use crate::host::ids::{AgentName, same_agent};
use crate::policy::check::Check;
use crate::policy::mode::{Phase, Worker};
use base::disk;
use serde_yaml::Value as Yaml;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Commands that Claude Code has built in, with what they lack where the project has none of that name.
const BUILT_IN_COMMANDS: [(&str, &str); 2] =
    [("plan", "does not start the mode"), ("code-review", "does not call the agent code-reviewer")];

const MAX_DEPTH: usize = 8;

pub(super) fn run(context: &DoctorContext) -> Vec<Diagnostic> {
    if let Some(note) = plugin_only(context) {
        return vec![note];
    }
    // Without hook entries that is the problem; `install` also writes the files.
    if context.calls().is_empty() {
        return Vec::new();
    }
    let mut diagnostics = commands(context);
    let files = agents(context);
    let phases = context.catalogue.modes.iter().flat_map(|mode| &mode.phases);
    let agents = phases.filter_map(|phase| match &phase.worker {
        Worker::Agent(names) => Some((phase, names)),
        _ => None,
    });
    let agents: Vec<_> = agents.collect();
    diagnostics.extend(agents.iter().flat_map(|(phase, names)| agent(context, &files, phase, names)));
    if diagnostics.is_empty() && !agents.is_empty() {
        let count = agents.len();
        let message = format!("every command has a file, and {count} agents have the tools they need");
        diagnostics.push(ok("workflow", message));
    }
    diagnostics
}

/// A project that a plugin gates and that has none of the commands: it may not want the workflow.
fn plugin_only(context: &DoctorContext) -> Option<Diagnostic> {
    let calls = context.calls();
    let is_plugins = !calls.is_empty() && calls.iter().all(|(file, _)| file.scope == SettingsScope::Plugin);
    let mut commands = context.catalogue.modes.iter().flat_map(|mode| &mode.commands);
    if !is_plugins || commands.any(|command| has_command(context, command)) {
        return None;
    }
    let file = calls.first().map(|(file, _)| file.name.as_str()).unwrap_or_default();
    let message = format!("a plugin gates this project (`{file}`), which has no command that starts a mode");
    Some(note("workflow", message, "add the commands and agents to `.claude`, if you want the modes here"))
}

fn commands(context: &DoctorContext) -> Vec<Diagnostic> {
    let mut missing: Vec<&String> = context.catalogue.modes.iter().flat_map(|mode| &mode.commands).collect();
    let mut seen = BTreeSet::new();
    missing.retain(|command| seen.insert(*command) && !has_command(context, command));
    let diagnostic = |command: &String| {
        let fix = fix(context, "commands", command);
        let built_in = BUILT_IN_COMMANDS.iter().find(|(name, _)| name == command);
        let effect = built_in.map(|(_, effect)| format!(" (Claude Code's own command {effect})")).unwrap_or_default();
        let item = format!("/{command}{effect}");
        problem("command-missing", "commands without a file in `.claude/commands`", fix).about(item)
    };
    missing.into_iter().map(diagnostic).collect()
}

/// How to get a missing file of the workflow.
fn fix(context: &DoctorContext, folder: &str, name: &str) -> String {
    let path = format!("{folder}/{name}.md");
    if context.target.claude.join(&path).exists() {
        return format!("give `.claude/{path}` a frontmatter with its `name`");
    }
    if starter::FILES.iter().any(|file| file.path == path) {
        return "run `modegate install`, which writes missing files and keeps existing ones".to_owned();
    }
    format!("write `.claude/{folder}/NAME.md` for each")
}

fn agent(context: &DoctorContext, agents: &[AgentFile], phase: &Phase, names: &[AgentName]) -> Vec<Diagnostic> {
    let is_wanted = |agent: &&AgentFile| names.iter().any(|name| name.is(&agent.name));
    let Some(agent) = agents.iter().find(is_wanted) else {
        if names.iter().any(|name| is_built_in(name)) {
            return Vec::new();
        }
        let name = names.first().map_or("", AgentName::as_str);
        let (message, fix) = ("agents without a file in `.claude/agents`", fix(context, "agents", name));
        return vec![problem("agent-missing", message, fix).about(name)];
    };
    let lacking = phase.after.iter().filter_map(|gate| Some((gate, missing_tools(agent, &gate.check)?)));
    lacking
        .map(|(gate, tools)| {
            let (name, file) = (&agent.name, context.target.short(&agent.path));
            let message = format!("{name} (`{file}`) needs {tools} to pass");
            problem("agent-tools-missing", message, format!("add {tools} to `tools` in that file"))
                .about(gate.id.as_str())
        })
        .collect()
}

/// The tools without which an agent cannot satisfy a check.
fn missing_tools(agent: &AgentFile, check: &Check) -> Option<&'static str> {
    let any = |tools: &[&str]| tools.iter().any(|tool| agent.may_use(tool));
    match check {
        Check::All(checks) => checks.iter().find_map(|check| missing_tools(agent, check)),
        Check::Any(checks) => {
            let missing: Option<Vec<&str>> = checks.iter().map(|check| missing_tools(agent, check)).collect();
            missing.and_then(|missing| missing.first().copied())
        }
        Check::Committed(_) | Check::Clean(_) | Check::Observed(_) => (!any(&["Bash", "PowerShell"])).then_some("Bash"),
        Check::File(_) | Check::Frontmatter(_) | Check::Text(_) => {
            (!any(&["Write", "Edit", "Bash"])).then_some("Write or Edit")
        }
        _ => None,
    }
}

struct AgentFile {
    path: PathBuf,
    name: String,
    /// The allowed tools; `None` for all.
    tools: Option<Vec<String>>,
    denied: Vec<String>,
}

impl AgentFile {
    fn read(path: &Path) -> Option<Self> {
        let bytes = disk::read(path, disk::SMALL).ok()?;
        let keys = match frontmatter::read(&bytes) {
            Frontmatter::Absent => return None,
            Frontmatter::Keys(keys) => keys,
            // The host accepts a colon in a description, which is not YAML.
            Frontmatter::Broken(_) => {
                let text = String::from_utf8_lossy(&bytes);
                let fields =
                    text.lines().skip(1).take_while(|line| *line != "---").filter_map(|line| line.split_once(':'));
                let fields: Vec<_> =
                    fields.map(|(key, value)| (key.into(), value.trim().trim_matches(['[', ']']).into())).collect();
                fields.into_iter().rev().collect()
            }
        };
        let list = |key: &str| keys.get(key).filter(|value| !value.is_null()).map(words);
        let name = keys.get("name").and_then(Yaml::as_str).or_else(|| path.file_stem()?.to_str())?.to_owned();
        let (tools, denied) = (list("tools"), list("disallowedTools").unwrap_or_default());
        Some(Self { path: path.to_owned(), name, tools, denied })
    }

    fn may_use(&self, tool: &str) -> bool {
        // A restricted tool counts: `Bash(git *)` can commit, and a denied `Write(secret/**)` leaves other paths.
        let named = |own: &String| own.split('(').next().unwrap_or_default().trim() == tool || own == "*";
        let has = |tools: &[String]| tools.iter().any(named);
        self.tools.as_deref().is_none_or(has) && !self.denied.iter().any(|own| own == tool)
    }
}

/// The items of a list or of comma-separated text.
fn words(value: &Yaml) -> Vec<String> {
    let texts: Vec<&str> = match value {
        Yaml::Sequence(items) => items.iter().filter_map(Yaml::as_str).collect(),
        other => other.as_str().unwrap_or_default().split(',').collect(),
    };
    texts.into_iter().map(|text| text.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}

/// The host's own agents, which have all tools.
const BUILT_IN: [&str; 6] = ["general-purpose", "Explore", "Plan", "claude", "claude-code-guide", "fork"];

fn is_built_in(name: &str) -> bool {
    BUILT_IN.iter().any(|own| same_agent(own, name))
}

fn agents(context: &DoctorContext) -> Vec<AgentFile> {
    let own = [Some(context.target.claude.join("agents")), context.user.as_ref().map(|user| user.join("agents"))];
    let own = own.into_iter().flatten().flat_map(|folder| markdown(&folder));
    let plugins = context.plugins.iter().flat_map(|root| markdown(&root.join("agents")));
    own.chain(plugins).filter_map(|path| AgentFile::read(&path)).collect()
}

/// Whether the project or the user has a command of that name, as a file or as a skill.
fn has_command(context: &DoctorContext, name: &str) -> bool {
    let folders = [Some(context.target.claude.clone()), context.user.clone()];
    // A plugin's command has another name: it starts with the plugin's.
    folders.into_iter().flatten().any(|folder| {
        let skill = folder.join("skills").join(name).join("SKILL.md").is_file();
        skill || markdown(&folder.join("commands")).iter().any(|path| is_called(path, name))
    })
}

fn is_called(path: &Path, name: &str) -> bool {
    path.file_stem().is_some_and(|stem| same_command(&stem.to_string_lossy(), name))
}

fn markdown(folder: &Path) -> Vec<PathBuf> {
    let entries =
        walkdir::WalkDir::new(folder).max_depth(MAX_DEPTH).follow_links(true).into_iter().filter_map(Result::ok);
    let files = entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path);
    files.filter(|path| path.extension().is_some_and(|end| end == "md")).collect()
}
