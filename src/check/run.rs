//! `run`: what a program says of the event.

use super::Scope;
use super::step_reply::{StepReply, shortened};
use crate::facts::{Answer, Question, RunStep, unknown};
use crate::verdict::Outcome;
use crate::yaml::{Node, NodeValue, TreeReader};
use serde::{Deserialize, Serialize};

/// How long a program may take, in seconds.
const SECONDS: u32 = 60;

/// What a shell says of a program that it cannot start.
const NOT_STARTED: [i32; 2] = [126, 127];

/// Holds when a shell command ends with 0 and does not object; it gets the event as JSON on standard input.
///
/// Its answer may be an exit code alone, the host's own JSON, `"Continue"`, `{"Reject": {"reason": …}}`,
/// `{"ModifyInput": {"new_input": …}}`, or pairs like `["block", "why"]`. A command that cannot be run, or does
/// not end in time, leaves the check unknown. With `rewrites: true` it may change the tool's input, and runs
/// after those before it.
///
/// ```yaml
/// check: { run: npm run lint }
/// check: { run: { command: ./gate.sh, event: true, answer: true, rewrites: false } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCheck {
    /// The command, for a shell.
    pub command: String,
    /// Whether it gets the event.
    pub event: bool,
    /// Whether what it prints is its answer, and not its exit code alone.
    pub answer: bool,
    /// Whether it may change the tool's input, and so has to wait for those before it.
    pub rewrites: bool,
    /// How long it may take.
    pub seconds: u32,
}

impl RunCheck {
    /// A command that gets the event and whose answer counts.
    #[must_use]
    pub fn new(command: String) -> Self {
        Self { command, event: true, answer: true, rewrites: false, seconds: SECONDS }
    }

    pub(super) fn read(reader: &mut TreeReader, node: &Node) -> Self {
        if !matches!(node.value, NodeValue::Map(_)) {
            return Self::new(reader.text(node));
        }
        let fields = reader.fields(node, "`run`", &["command", "event", "answer", "rewrites"]);
        let command = fields.read(reader, "command", TreeReader::text).unwrap_or_default();
        if command.trim().is_empty() {
            reader.problem(node, "`run` needs a `command`");
        }
        let mut truth = |name: &str, default: bool| fields.read(reader, name, TreeReader::boolean).unwrap_or(default);
        Self {
            event: truth("event", true),
            answer: truth("answer", true),
            rewrites: truth("rewrites", false),
            ..Self::new(command)
        }
    }

    /// What is asked of the world.
    #[must_use]
    pub fn question(&self, scope: &Scope<'_>) -> Question {
        let Self { command, event, seconds, .. } = self.clone();
        Question::Run(RunStep { command, event, seconds, input: scope.input.cloned() })
    }

    pub(super) fn evaluate(&self, scope: &Scope<'_>) -> Outcome {
        let name = format!("`{}`", self.command.lines().next().unwrap_or_default());
        let (code, stdout, stderr) = match scope.facts.ask(self.question(scope)) {
            Answer::Ran { code, stdout, stderr } => (code, stdout, stderr),
            other => return Outcome::unknown(unknown(other)),
        };
        let words = if stderr.trim().is_empty() { &stdout } else { &stderr };
        if NOT_STARTED.contains(&code) {
            return Outcome::unknown(format!("{name} cannot be run: {}", shortened(words)));
        }
        match if self.answer { StepReply::read(&stdout) } else { Ok(None) } {
            Ok(Some(step_reply)) if code == 0 => step_reply.outcome(&name, ""),
            // The host's own rule: 2 objects whatever the JSON says, and the reason is the JSON's if it has one.
            Ok(Some(step_reply)) => step_reply.objecting().outcome(&name, &stderr),
            Err(why) if code == 0 => Outcome::unknown(format!("{name} says nothing that can be read: {why}")),
            _ if code == 0 => Outcome::passes(format!("{name} ended with 0")),
            _ => match shortened(words) {
                text if text.is_empty() => Outcome::fails(format!("{name} ended with {code}")),
                text => Outcome::fails(format!("{name} ended with {code}: {text}")),
            },
        }
    }
}
