//! A scenario, played through the real binary and then decided again from the journal that was written.
//!
//! `fixtures/scenarios/README.md` describes the format.

use crate::project::{CommandOutput, Project, today};
use libtest_mimic::Failed;
use modegate::{Catalogue, Finding, JournalLine, Scenario, ScenarioContext, ScenarioStep, StepOutput, redecide};
use serde_json::json;
use std::path::Path;

/// A scenario that has been played.
pub struct PlayedScenario {
    project: Project,
    setting: ScenarioContext,
}

pub fn read(path: &Path) -> Result<Scenario, Failed> {
    let text = std::fs::read_to_string(path)?;
    Scenario::parse(&text).map_err(|error| Failed::from(format!("{}: {error}", path.display())))
}

pub fn play(scenario: &Scenario) -> Result<PlayedScenario, Failed> {
    let project = Project::new();
    let home = project.home().to_string_lossy().into_owned();
    let setting = ScenarioContext { home, session: scenario.session.clone(), date: today(), prompts: 0 };
    let mut played = PlayedScenario { project, setting };
    if scenario.git {
        played.project.git(&["init", "-q", "-b", "main"]);
    }
    for (path, text) in &scenario.files {
        played.project.write(path, text);
    }
    if let Some(text) = &scenario.user_settings {
        played.project.write("../.claude/modegate.yaml", text);
    }
    if scenario.git {
        played.project.shell("git add -A && git commit -q --allow-empty -m start");
    }
    for (index, step) in scenario.steps.iter().enumerate() {
        played.step(step).map_err(|error| Failed::from(format!("step {}: {error}", index + 1)))?;
    }
    Ok(played)
}

impl PlayedScenario {
    fn step(&mut self, step: &ScenarioStep) -> Result<(), String> {
        for (path, text) in step.write.iter().flatten() {
            self.project.write(path, text);
        }
        if let Some(line) = &step.shell {
            self.project.shell(&line.replace("{date}", &today()).replace("{session}", &self.setting.session));
        }
        if let Some(message) = &step.commit {
            self.project.shell(&format!("git add -A && git commit -q -m '{message}'"));
        }
        if let Some(words) = &step.command {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            return self.judge(step, "", &self.project.run(&words));
        }
        let quiet = CommandOutput { exit: 0, stdout: String::new(), stderr: String::new() };
        let Some(event) = step.event(&mut self.setting) else { return self.judge(step, "", &quiet) };
        let kind = event["hook_event_name"].as_str().unwrap_or_default().to_owned();
        let output = self.project.hook(&event);
        output.json();
        self.judge(step, &kind, &output)
    }

    fn judge(&self, step: &ScenarioStep, kind: &str, output: &CommandOutput) -> Result<(), String> {
        let CommandOutput { exit, stdout, stderr } = output;
        let state = |namespace: &str, key: &str| {
            let all: serde_json::Value =
                serde_json::from_str(&self.project.run(&["cache", "get"]).stdout).unwrap_or_default();
            all[namespace]["sessions"][&self.setting.session][key].clone()
        };
        let findings = if step.gates.is_empty() { Vec::new() } else { self.findings() };
        let came = StepOutput { kind, stdout, stderr, exit: *exit, findings: &findings, state: &state };
        match step.unmet(&came, &self.setting) {
            Some(what) => Err(format!("{what}\n  exit {exit}\n  stdout {stdout}\n  stderr {stderr}")),
            None => Ok(()),
        }
    }

    /// What the gates found at the last event, as the journal has it.
    fn findings(&self) -> Vec<Finding> {
        self.project.journal(&self.setting.session).pop().map(|line| line.findings).unwrap_or_default()
    }

    /// Decides every event of the journals again, from nothing but the journals.
    pub fn replay(&self) -> Result<(), Failed> {
        let catalogue = modegate::load_modes(&self.project.home());
        let Ok(journals) = std::fs::read_dir(self.project.home().join(".claude/hooks/sessions")) else { return Ok(()) };
        for journal in journals {
            for text in std::fs::read_to_string(journal?.path())?.lines() {
                let line: JournalLine = serde_json::from_str(text)?;
                if line.modes == catalogue.hash {
                    check_again(&line, &catalogue).map_err(|what| format!("{what}: {text}"))?;
                }
            }
        }
        Ok(())
    }
}

/// Whether a line leads to the same decision again; the journal's sessions are masked.
fn check_again(line: &JournalLine, catalogue: &Catalogue) -> Result<(), String> {
    let again = redecide(line, catalogue).map_err(|error| error.to_string())?;
    let after = line.after.as_ref().unwrap_or(&line.before);
    let masked = |value: serde_json::Value| redact::masked_text(&value.to_string());
    let is_same = again.findings == line.findings
        && (line.lost || again.decision == line.decision && masked(json!(again.session)) == masked(json!(after)))
        && again.who == line.who;
    if is_same { Ok(()) } else { Err(format!("replayed otherwise: now {again:#?}")) }
}
