//! A scenario, played through the real binary and then decided again from the journal that was written.
//!
//! `fixtures/scenarios/README.md` describes the format.

use crate::project::{CommandOutput, Project};
use libtest_mimic::Failed;
use modegate::internals::lines;
use modegate::internals::now;

use modegate::Finding;
use modegate::internals::DecisionChange;
use modegate::internals::decide_line;
use modegate::internals::project_paths;
use modegate::internals::{Scenario, ScenarioContext, ScenarioStep, StepOutput};
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
    let setting = ScenarioContext { home, session: scenario.session.clone(), date: now().date, prompts: 0 };
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
            self.project.shell(&line.replace("{date}", &now().date).replace("{session}", &self.setting.session));
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
        let places = project_paths(self.project.home());
        lines(&places.journal(&self.setting.session)).pop().map(|line| line.findings).unwrap_or_default()
    }

    /// Decides every event of the journals again, from nothing but the journals.
    pub fn replay(&self) -> Result<(), Failed> {
        let places = project_paths(self.project.home());
        let catalogue = modegate::load_modes(&places.home);
        for path in modegate::internals::journals(&places.sessions()) {
            for line in std::fs::read_to_string(path)?.lines() {
                let compared = decide_line(serde_json::from_str(line)?, &catalogue, &catalogue.hash)?;
                if !compared.other_modes && compared.change != DecisionChange::Same {
                    return Err(format!("replayed otherwise: {line}\nnow {:#?}", compared.decided.decision).into());
                }
            }
        }
        Ok(())
    }
}
