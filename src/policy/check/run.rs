//! `run`: a program decides about the event.

use super::StepOptions;
use super::prelude::*;
use super::step_reply::{StepReply, both};
use crate::facts::{Question, RunResult, RunStep};

/// How long a program may take, in seconds.
const SECONDS: u32 = 60;

/// The exit codes with which a shell reports a program that it cannot start.
const NOT_STARTED: [i32; 2] = [126, 127];

/// Passes when a shell command exits with 0 and does not object; it gets the event as JSON on standard input.
///
/// Its answer may be an exit code alone, the host's own JSON, `"Continue"`, `{"Reject": {"reason": …}}`,
/// `{"ModifyInput": {"new_input": …}}`, or pairs like `["block", "why"]`. A command that cannot be started, is killed or
/// does not end in time leaves the check unknown; with `required: true` only one that does not end in time does, and the
/// others fail. With `rewrites: true` it may change the tool's input, and runs after the steps before it.
///
/// ```yaml
/// check: { run: npm run lint }
/// check: { run: { command: ./gate.sh, event: true, answer: true, rewrites: false, required: false } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCheck {
    pub command: String,
    pub event: bool,
    /// Whether its output is its answer, and not its exit code alone.
    pub answer: bool,
    pub step: StepOptions,
}

impl CheckKind for RunCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        let step = StepOptions { seconds: SECONDS, ..StepOptions::default() };
        if !node.is_map() {
            return Self { command: reader.text(node), event: true, answer: true, step };
        }
        let fields = reader.fields(node, "`run`", &["command", "event", "answer", "rewrites", "required"]);
        let command = fields.read(reader, "command", TreeReader::text).unwrap_or_default();
        if command.trim().is_empty() {
            reader.problem(node, "`run` needs a `command`");
        }
        let mut flag = |name: &str, default: bool| fields.read(reader, name, TreeReader::boolean).unwrap_or(default);
        let (rewrites, required) = (flag("rewrites", false), flag("required", false));
        Self {
            event: flag("event", true),
            answer: flag("answer", true),
            step: StepOptions { rewrites, required, ..step },
            command,
        }
    }

    fn question(&self, scope: &Scope<'_>) -> Option<Question> {
        Some(Question::Run(self.run_step(scope)))
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let name = format!("`{}`", self.command.lines().next().unwrap_or_default());
        let result = scope.facts.run(self.run_step(scope));
        let RunResult { code, stdout, stderr } = result.map_err(|why| self.step.without_answer(why))?;
        let output = both(&stdout, &stderr);
        if NOT_STARTED.contains(&code) {
            return Err(self.step.without_answer(format!("{name} cannot be run: {output}").into()));
        }
        Ok(match if self.answer { StepReply::parse(&stdout) } else { Ok(None) } {
            Ok(Some(reply)) if code == 0 => reply.outcome(&name, ""),
            // As in the host: exit code 2 blocks whatever the JSON says; the JSON may still give the reason.
            Ok(Some(reply)) => reply.objecting().outcome(&name, &stderr),
            Err(error) if code == 0 => Outcome::unknown(format!("{name} printed no readable answer: {error}")),
            _ if code == 0 => Outcome::passes(format!("{name} exited with 0")),
            _ if output.is_empty() => Outcome::fails(format!("{name} exited with {code}")),
            _ => Outcome::fails(format!("{name} exited with {code}: {output}")),
        })
    }
}

impl RunCheck {
    fn run_step(&self, scope: &Scope<'_>) -> RunStep {
        let Self { command, event, step, .. } = self.clone();
        RunStep { command, event, seconds: step.seconds, input: scope.input.cloned() }
    }
}
