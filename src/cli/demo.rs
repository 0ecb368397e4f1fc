//! `modegate demo`: a short plan session, event by event, in a temporary project.

use super::cli_error::CliError;
use super::screen::{self, TextStyle, styled};
use super::{CliResult, hook, why};
use crate::event::Event;
use crate::facts::Answer;
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

#[derive(Args)]
pub(super) struct Demo {
    /// Keep the temporary project and say where it is
    #[arg(long)]
    keep: bool,
}

const SESSION: &str = "demo-session";

impl Demo {
    pub(super) fn run(self) -> CliResult {
        let home = std::env::temp_dir().join(format!("modegate-demo-{}", std::process::id()));
        let played = play(&home);
        if self.keep {
            screen::print_line(format!("the project is in {}", home.display()));
        } else {
            let _: io::Result<()> = fs::remove_dir_all(&home);
        }
        let message = |error| format!("the demo project in {} cannot be written: {error}", home.display());
        played.map(|()| ExitCode::SUCCESS).map_err(|error| CliError::failure(message(error)))
    }
}

fn play(home: &Path) -> io::Result<()> {
    let stage = Stage { home: home.to_owned() };
    let day = crate::live::now().date;
    let report = format!("project/MS-001_Login/research/research_{SESSION}_{day}.md");
    let plan = format!("project/MS-001_Login/plans/plan_{SESSION}_{day}.md");
    stage.write("project/status.json", r#"{"current_milestone": "MS-001", "milestone_description": "Login"}"#)?;
    tell("A person types /plan.");
    stage.event(json!({"hook_event_name": "UserPromptSubmit", "prompt_id": "p1", "prompt": "/plan a login page"}));
    tell("The model calls the planner at once, without research.");
    stage.starts("strategic-planner");
    tell("Somebody writes the research report; the model calls the planner again.");
    stage.write(&report, "# Research\n\nOAuth or passwords.\n")?;
    stage.starts("strategic-planner");
    stage.event(json!({"hook_event_name": "SubagentStart", "agent_id": "a1", "agent_type": "strategic-planner"}));
    tell("The planner says it is done. There is no plan.");
    stage.stops("a1", "strategic-planner");
    tell("It writes the plan, and says so again.");
    stage.write(&plan, "# Plan\n\n1. A form.\n")?;
    stage.stops("a1", "strategic-planner");
    tell("The expert reads the plan, and forgets the marker.");
    stage.starts("consulting-expert");
    stage.stops("a2", "consulting-expert");
    tell("It sets the marker: the plan is consulted, the mode is complete, and the parent is told.");
    stage.write(&plan, "---\nconsulted_by: consulting-expert\n---\n# Plan\n\n1. A form.\n")?;
    let path = stage.home.join(&plan).to_string_lossy().into_owned();
    stage.event(json!({
        "hook_event_name": "PostToolUse", "agent_id": "a2", "agent_type": "consulting-expert", "tool_name": "Write",
        "tool_input": {"file_path": path, "content": "…"}, "tool_response": {"type": "update", "filePath": path},
    }));
    stage.stops("a2", "consulting-expert");
    stage.event(json!({"hook_event_name": "PostToolUse", "tool_name": "Agent", "tool_input": {"subagent_type": "consulting-expert"}}));
    Ok(())
}

fn tell(text: &str) {
    screen::print_line(format!("\n{}", styled(TextStyle::Bold, text)));
}

struct Stage {
    home: PathBuf,
}

impl Stage {
    fn write(&self, path: &str, text: &str) -> io::Result<()> {
        let path = self.home.join(path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)
    }

    fn starts(&self, agent: &str) {
        self.event(json!({"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": {"subagent_type": agent, "prompt": "…", "description": "…"}}));
    }

    fn stops(&self, id: &str, agent: &str) {
        self.event(
            json!({"hook_event_name": "SubagentStop", "agent_id": id, "agent_type": agent, "stop_hook_active": false}),
        );
    }

    /// Sends one event through the hook, and shows what was asked, decided and said.
    fn event(&self, mut event: Value) {
        if let Some(fields) = event.as_object_mut() {
            fields.insert("session_id".to_owned(), SESSION.into());
            fields.insert("cwd".to_owned(), self.home.to_string_lossy().into());
        }
        let bytes = event.to_string();
        let answered = hook::answer(bytes.as_bytes(), Some(&self.home));
        let Ok(event) = Event::from_value(event) else { return };
        screen::print_line(format!("  {} {}", styled(TextStyle::Cyan, "event"), event.described()));
        for (question, answer) in answered.asked.iter().filter(|(_, answer)| !matches!(answer, Answer::Clock(_))) {
            screen::print_line(format!("  {} {question} {answer}", styled(TextStyle::Dim, "asked")));
        }
        let Some(decided) = &answered.decided else { return };
        let word = decided.outcome();
        screen::print_line(format!(
            "  {} {}",
            styled(why::verdict_style(decided.decision.verdict), word),
            answered.reply.stderr
        ));
        decided
            .decision
            .context
            .iter()
            .for_each(|text| screen::print_line(format!("  {} {text}", styled(TextStyle::Dim, "tells the model"))));
        decided
            .decision
            .moves
            .iter()
            .for_each(|text| screen::print_line(format!("  {} {text}", styled(TextStyle::Dim, "state"))));
    }
}
