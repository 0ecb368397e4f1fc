//! Commands and agents that the modes name: there, and with the tools that their gates need.

use super::Diagnostic;
use super::context::DoctorContext;
use super::workflow_files::{Agent, agents, has_command, is_built_in};
use crate::check::Check;
use crate::ids::AgentName;
use crate::mode::{Mode, Phase, Worker};
use crate::starter;

/// Commands that the host has too, and that reach no hook unless the project has its own.
const TAKEN: [&str; 2] = ["plan", "code-review"];

pub(super) fn run(context: &DoctorContext) -> Vec<Diagnostic> {
    let mut diagnostics = commands(context);
    let agents = agents(context);
    let mut seen = 0;
    for mode in &context.catalogue.modes {
        for phase in &mode.phases {
            if let Worker::Agent(names) = &phase.worker {
                seen += 1;
                diagnostics.extend(agent(context, &agents, mode, phase, names));
            }
        }
    }
    if diagnostics.is_empty() && seen > 0 {
        diagnostics.push(Diagnostic::fine(
            "workflow",
            format!("every command has its file, and all of {seen} agents the tools they need"),
        ));
    }
    diagnostics
}

fn commands(context: &DoctorContext) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for mode in &context.catalogue.modes {
        for command in &mode.commands {
            if seen.contains(&command.as_str()) || has_command(context, command) {
                continue;
            }
            seen.push(command);
            let effect = if TAKEN.contains(&command.as_str()) {
                "Claude Code's own command of that name does not begin the mode"
            } else {
                "Claude Code does not know it"
            };
            let what =
                format!("/{command} of {} mode has no file `.claude/commands/{command}.md`: {effect}", mode.name);
            diagnostics.push(Diagnostic::problem(
                "command-missing",
                what,
                remedy(context, &format!("commands/{command}.md")),
            ));
        }
    }
    diagnostics
}

/// How a file of the workflow comes to be.
fn remedy(context: &DoctorContext, path: &str) -> String {
    if context.target.claude.join(path).exists() {
        return format!("give `.claude/{path}` a frontmatter with its `name`");
    }
    if starter::FILES.iter().any(|file| file.path == path) {
        return "run `modegate install`, which writes it and touches no file that is there".to_owned();
    }
    format!("write `.claude/{path}`")
}

fn agent(
    context: &DoctorContext,
    agents: &[Agent],
    mode: &Mode,
    phase: &Phase,
    names: &[AgentName],
) -> Vec<Diagnostic> {
    let is_it = |agent: &&Agent| names.iter().any(|name| name.is(&agent.name));
    let Some(agent) = agents.iter().find(is_it) else {
        if names.iter().any(|name| is_built_in(name)) {
            return Vec::new();
        }
        let name = names.first().map_or("", AgentName::as_str);
        let what = format!("{name}, the agent of {} mode's phase {}, is described nowhere", mode.name, phase.name);
        return vec![Diagnostic::problem("agent-missing", what, remedy(context, &format!("agents/{name}.md")))];
    };
    let lacking = phase.after.iter().filter_map(|gate| Some((gate, lacking(agent, &gate.check)?)));
    lacking
        .map(|(gate, tools)| {
            let (name, file) = (&agent.name, context.short(&agent.path));
            let what = format!("{name} (`{file}`) lacks the tools for its gate {}: it needs {tools}", gate.id);
            Diagnostic::problem("agent-tools", what, format!("add {tools} to `tools` in that file"))
        })
        .collect()
}

/// The tools for want of which an agent cannot satisfy a check.
fn lacking(agent: &Agent, check: &Check) -> Option<&'static str> {
    let any = |tools: &[&str]| tools.iter().any(|tool| agent.may(tool));
    match check {
        Check::All(checks) => checks.iter().find_map(|check| lacking(agent, check)),
        Check::Any(checks) => {
            let lacking: Option<Vec<&str>> = checks.iter().map(|check| lacking(agent, check)).collect();
            lacking.and_then(|lacking| lacking.first().copied())
        }
        Check::Committed(_) | Check::Clean(_) | Check::Observed(_) => (!any(&["Bash", "PowerShell"])).then_some("Bash"),
        Check::File(_) | Check::Frontmatter(_) | Check::Text(_) => {
            (!any(&["Write", "Edit", "Bash"])).then_some("Write or Edit")
        }
        _ => None,
    }
}
