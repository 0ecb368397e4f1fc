//! Checks the commands and agents that the modes name: they exist, and agents have the tools their gates need.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use super::Diagnostic;
use super::context::{DoctorContext, SettingsScope};
use super::workflow_files::{AgentFile, agents, has_command, is_built_in};
use crate::check::Check;
use crate::ids::AgentName;
use crate::mode::{Phase, Worker};
use crate::starter;

/// Commands that Claude Code has built in; they call no hook unless the project has its own.
const BUILT_IN_COMMANDS: [&str; 2] = ["plan", "code-review"];

pub(super) fn run(context: &DoctorContext) -> Vec<Diagnostic> {
    if let Some(note) = plugin_only(context) {
        return vec![note];
    }
    // Without hook entries that is the problem; `install` also writes the files.
    if context.calls().is_empty() {
        return Vec::new();
    }
    let mut diagnostics = commands(context);
    let agents = agents(context);
    let phases = context.catalogue.modes.iter().flat_map(|mode| &mode.phases);
    let mut count = 0;
    for phase in phases {
        if let Worker::Agent(names) = &phase.worker {
            count += 1;
            diagnostics.extend(agent(context, &agents, phase, names));
        }
    }
    if diagnostics.is_empty() && count > 0 {
        let message = format!("every command has a file, and {count} agents have the tools they need");
        diagnostics.push(Diagnostic::ok("workflow", message));
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
    Some(Diagnostic::note("workflow", message, "add the commands and agents to `.claude`, if you want the modes here"))
}

fn commands(context: &DoctorContext) -> Vec<Diagnostic> {
    let mut missing: Vec<&String> = Vec::new();
    for command in context.catalogue.modes.iter().flat_map(|mode| &mode.commands) {
        if !missing.contains(&command) && !has_command(context, command) {
            missing.push(command);
        }
    }
    let diagnostic = |command: &String| {
        let fix = fix(context, "commands", command);
        let is_built_in = BUILT_IN_COMMANDS.contains(&command.as_str());
        let effect = if is_built_in { " (Claude Code's own command does not start the mode)" } else { "" };
        let item = format!("/{command}{effect}");
        Diagnostic::problem("command-missing", "commands without a file in `.claude/commands`", fix).about(item)
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
        return vec![Diagnostic::problem("agent-missing", message, fix).about(name)];
    };
    let lacking = phase.after.iter().filter_map(|gate| Some((gate, missing_tools(agent, &gate.check)?)));
    lacking
        .map(|(gate, tools)| {
            let (name, file) = (&agent.name, context.short(&agent.path));
            let message = format!("{name} (`{file}`) needs {tools} for its gate {}", gate.id);
            Diagnostic::problem("agent-tools-missing", message, format!("add {tools} to `tools` in that file"))
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
