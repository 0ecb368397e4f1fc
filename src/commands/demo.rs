//! `modegate demo`: plays a short plan session in a temporary project and prints every decision.

use super::cli_error::CliError;
use super::screen::{self, TextStyle, styled};
use super::{CliResult, hook};
use crate::facts::Question;
use crate::host::event::Event;
use crate::host::paths::ProjectPaths;
use crate::replay::report::summary::verdict_style;
use crate::state::user_folder::project_paths_in;
use clap::Args;
use jiff::SignedDuration;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

#[derive(Args)]
#[command(after_help = "Examples:\n  modegate demo\n  modegate demo --keep")]
pub(super) struct Demo {
    /// Keep the temporary project and print its path
    #[arg(long)]
    keep: bool,
}

const SESSION: &str = "demo-session";

impl Demo {
    pub(super) fn run(self) -> CliResult {
        let message = |folder: &Path, error| {
            CliError::failure(format!("the demo project in {} cannot be written: {error}", folder.display()))
        };
        let folder = tempfile::Builder::new().prefix("modegate-demo-").tempdir();
        let folder = folder.map_err(|error| message(&std::env::temp_dir(), error))?;
        let project = DemoProject { home: folder.path().join("app"), state: folder.path().join("state") };
        let played = project.play().map_err(|error| message(folder.path(), error));
        if self.keep {
            let folder = folder.keep();
            screen::print_line(format!("\nThe project is in {}", folder.join("app").display()));
        }
        played.map(|()| ExitCode::SUCCESS)
    }
}

struct DemoProject {
    home: PathBuf,
    state: PathBuf,
}

impl DemoProject {
    fn play(&self) -> io::Result<()> {
        let day = crate::world::now().date;
        let report = format!("project/MS-001_Login/research/research_{SESSION}_{day}.md");
        let plan = format!("project/MS-001_Login/plans/plan_{SESSION}_{day}.md");
        self.write("project/status.json", r#"{"current_milestone": "MS-001", "milestone_description": "Login"}"#)?;
        print_title("You type /plan.");
        self.send(json!({"hook_event_name": "UserPromptSubmit", "prompt_id": "p1", "prompt": "/plan a login page"}));
        print_title("The model starts the planner without research.");
        self.start_agent("strategic-planner");
        print_title("The research report is written, and the model starts the planner again.");
        self.write(&report, "# Research\n\nOAuth or passwords.\n")?;
        self.start_agent("strategic-planner");
        self.send(json!({"hook_event_name": "SubagentStart", "agent_id": "a1", "agent_type": "strategic-planner"}));
        print_title("The planner stops without a plan.");
        self.stop_agent("a1", "strategic-planner");
        print_title("The planner writes the plan and stops again.");
        self.write(&plan, "# Plan\n\n1. A form.\n")?;
        self.stop_agent("a1", "strategic-planner");
        print_title("The expert reads the plan, but does not add its marker.");
        self.start_agent("consulting-expert");
        self.stop_agent("a2", "consulting-expert");
        print_title("The expert adds its marker, and the mode is complete.");
        self.write(&plan, "---\nconsulted_by: consulting-expert\n---\n# Plan\n\n1. A form.\n")?;
        let path = self.home.join(&plan).to_string_lossy().into_owned();
        self.send(json!({
            "hook_event_name": "PostToolUse", "agent_id": "a2", "agent_type": "consulting-expert", "tool_name": "Write",
            "tool_input": {"file_path": path, "content": "…"}, "tool_response": {"type": "update", "filePath": path},
        }));
        self.stop_agent("a2", "consulting-expert");
        self.send(json!({"hook_event_name": "PostToolUse", "tool_name": "Agent", "tool_input": {"subagent_type": "consulting-expert"}}));
        Ok(())
    }

    fn write(&self, path: impl AsRef<Path>, text: &str) -> io::Result<()> {
        let path = self.home.join(path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)
    }

    /// The project, with its own state folder: the demo leaves nothing behind.
    fn places(&self) -> ProjectPaths {
        project_paths_in(self.home.clone(), &self.state)
    }

    fn start_agent(&self, agent: &str) {
        self.send(json!({"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": {"subagent_type": agent, "prompt": "…", "description": "…"}}));
    }

    fn stop_agent(&self, id: &str, agent: &str) {
        self.send(
            json!({"hook_event_name": "SubagentStop", "agent_id": id, "agent_type": agent, "stop_hook_active": false}),
        );
    }

    /// Sends one event through the hook and prints its questions, its outcome and what changed.
    fn send(&self, mut event: Value) {
        if let Some(fields) = event.as_object_mut() {
            fields.insert("session_id".to_owned(), SESSION.into());
            fields.insert("cwd".to_owned(), self.home.to_string_lossy().into());
        }
        let answered = hook::answer_in(event.to_string().as_bytes(), &self.places(), SignedDuration::ZERO);
        let Ok(event) = Event::from_value(event) else { return };
        print_row("event", TextStyle::Cyan, &event.described());
        let is_shown = |question: &Question| !question.is_about_words() && *question != Question::Clock;
        for (question, answer) in answered.asked.iter().filter(|(question, _)| is_shown(question)) {
            print_row("asked", TextStyle::Dim, &format!("{question} {answer}"));
        }
        let Some(decided) = &answered.decided else { return };
        let decision = &decided.decision;
        print_row(decided.outcome(), verdict_style(decision.verdict), &answered.reply.stderr);
        decision.context.iter().for_each(|text| print_row("context", TextStyle::Dim, text));
        decision.moves.iter().for_each(|text| print_row("state", TextStyle::Dim, text));
    }
}

fn print_title(text: &str) {
    screen::print_line(format!("\n{}", styled(TextStyle::Bold, text)));
}

fn print_row(label: &str, style: TextStyle, text: &str) {
    screen::print_line(format!("  {} {text}", styled(style, &format!("{label:<8}"))).trim_end());
}
