//! `observed`: a command passed or failed.

use super::prelude::*;
use crate::facts::session::{ModeState, UnreadRun};
use crate::facts::{Unknown, line_effects};
use crate::host::event::{Event, EventKind};
use base::printable::truncated;
use redact::masked_text;
use serde_json::Value;
use shell_effects::ExecContext;
use test_results::{OutputEnding, OutputResult, runs_of};

/// The name under which an edit is noted.
pub const EDIT: &str = "edit";

/// Passes when the latest run of a command since the phase began had this result; with `after: edit`,
/// only a run after an edit of that phase counts.
///
/// The exit code decides where it is the command's own, but a run whose output ends with failures has not passed. Elsewhere, as in `cargo test | tail`, the runner's summary in
/// the output decides; a run that shows neither does not count. A command is given by its first words, or as a
/// variable.
///
/// ```yaml
/// check: { observed: { command: "{test}", result: passed, after: edit } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedCheck {
    pub command: Vec<String>,
    pub result: CommandResult,
    pub after_edit: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandResult {
    Passed,
    Failed,
}

const RESULTS: [(&str, CommandResult); 2] = [("passed", CommandResult::Passed), ("failed", CommandResult::Failed)];

impl CommandResult {
    fn word(self) -> &'static str {
        RESULTS.iter().find(|(_, result)| *result == self).map_or("", |(word, _)| word)
    }
}

impl CheckKind for ObservedCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        let fields = reader.fields(node, "`observed`", &["command", "result", "after"]);
        let command = fields.templates(reader, "command");
        if command.is_empty() {
            fields.missing(reader, node, "`observed` needs `command`, the first words of a command line");
        }
        let result = fields.word(reader, "result", &RESULTS);
        let after = fields.word(reader, "after", &[(EDIT, true)]);
        Self { command, result: result.unwrap_or(CommandResult::Passed), after_edit: after.unwrap_or(false) }
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let name = self.describe_command(scope);
        let nothing = ModeState::default();
        let state = scope.mode_state().unwrap_or(&nothing);
        let at = |mark: &str| state.seen_at(mark).filter(|tick| *tick > state.since);
        let opposite = match self.result {
            CommandResult::Passed => CommandResult::Failed,
            CommandResult::Failed => CommandResult::Passed,
        };
        let (wanted, other) = (at(&self.mark(self.result)), at(&self.mark(opposite)));
        let unread = at(&self.unread_mark()).filter(|tick| Some(*tick) > wanted.max(other));
        let unread = unread.and_then(|_| state.unread.get(&self.key()));
        let edited = at(EDIT);
        // The base mode has no phases.
        let period = if state.phase.is_some() { "phase" } else { "session" };
        let saw = match wanted {
            None if other.is_none() => format!("{name} was not observed in this {period}"),
            wanted if other > wanted => format!("{name} last {}", opposite.word()),
            wanted if self.after_edit && (edited.is_none() || edited > wanted) => {
                format!("{name} has not {} after an edit in this {period}", self.result.word())
            }
            _ => return Ok(Outcome::passes(format!("{name} has {}", self.result.word()))),
        };
        // A run whose result is hidden explains more than that there was none.
        let (saw, example) = match unread {
            Some(unread) => (unread.saw.clone(), format!("`{}`", unread.run)),
            None => (saw, self.example(scope)),
        };
        Ok(Outcome::fails(saw).remedied(match self.result {
            CommandResult::Passed => format!("run {example} alone on a line until it passes"),
            CommandResult::Failed => format!("run {example} alone on a line and see it fail"),
        }))
    }

    fn expectation(&self, scope: &Scope<'_>) -> Option<String> {
        let after = if self.after_edit { " after an edit" } else { "" };
        Some(format!(
            "{} has {}{after} (run it alone on a line: a filter may hide its result)",
            self.describe_command(scope),
            self.result.word()
        ))
    }
}

/// A run of the command that an event shows.
pub struct ObservedRun {
    /// The name under which it is noted.
    pub mark: String,
    /// The command and the run, if its result could not be read.
    pub unread: Option<(String, UnreadRun)>,
}

impl ObservedCheck {
    /// The command as a key of the session's state.
    fn key(&self) -> String {
        self.command.join("|")
    }

    /// The name under which a run is noted; equal commands share it.
    fn mark(&self, result: CommandResult) -> String {
        format!("{}:{}", self.key(), result.word())
    }

    fn unread_mark(&self) -> String {
        format!("{}:unread", self.key())
    }

    /// The run of the command that this event shows, if there is one.
    pub fn seen_in(&self, scope: &Scope<'_>) -> Option<ObservedRun> {
        let ending = ending(scope.event)?;
        let line = scope.event.input("command")?;
        let wanted = scope.expand_all(&self.command).ok()?;
        let wrappers = scope.definitions.variables.get("wrappers").cloned().unwrap_or_default();
        let effects = line_effects(line, &wrappers);
        let commands: Vec<String> =
            wanted.into_iter().filter(|wanted| effects.calls.iter().any(|call| call.matches(wanted))).collect();
        let runs = runs_of(&effects.calls, &commands);
        let first = runs.first()?;
        let by_status = match ending {
            OutputEnding::Success => runs.iter().any(|run| run.own.success).then_some(CommandResult::Passed),
            OutputEnding::Failure => runs.iter().any(|run| run.own.failure).then_some(CommandResult::Failed),
            OutputEnding::Unclear => None,
        };
        let result = Self::result_of(by_status, scope.facts.output(commands, wrappers));
        let shown = |text: &str| {
            let words: Vec<String> = masked_text(text).split_whitespace().map(str::to_owned).collect();
            truncated(&words.join(" "), LONGEST_QUOTE)
        };
        Some(match result {
            Ok(result) => ObservedRun { mark: self.mark(result), unread: None },
            Err(why) => {
                let run = shown(&first.argv().join(" "));
                let saw = format!("`{}` {why}", shown(line));
                ObservedRun { mark: self.unread_mark(), unread: Some((self.key(), UnreadRun { run, saw })) }
            }
        })
    }

    /// The result by the exit code where that is the command's own, else by the output. The code of `jest || true` in a
    /// package script is no pass.
    fn result_of(
        by_status: Option<CommandResult>,
        output: Result<OutputResult, Unknown>,
    ) -> Result<CommandResult, NoResult> {
        match (by_status, output) {
            (_, Ok(OutputResult::Empty)) => Err(NoResult::NoTest),
            (_, Ok(OutputResult::Misused)) => Err(NoResult::NotStarted),
            (_, Ok(OutputResult::Failed)) => Ok(CommandResult::Failed),
            (Some(result), _) => Ok(result),
            (None, Ok(OutputResult::Passed)) => Ok(CommandResult::Passed),
            (None, Ok(OutputResult::Unreadable(why))) => Err(NoResult::Hidden(why.into())),
            (None, Err(why)) => Err(NoResult::Hidden(why)),
        }
    }

    /// The command for a remedy, with an example if it has several values.
    fn example(&self, scope: &Scope<'_>) -> String {
        let name = self.describe_command(scope);
        match scope.expand_all(&self.command) {
            Ok(all) if all.len() > 1 => {
                let first = all.first().map_or("", String::as_str);
                format!("{name} (such as `{first}`; the user can add others to `variables` in .claude/modegate.yaml)")
            }
            _ => name,
        }
    }

    /// The command for messages: the name of the variable if it has several values.
    fn describe_command(&self, scope: &Scope<'_>) -> String {
        match (self.command.as_slice(), scope.expand_all(&self.command)) {
            ([one], Ok(all)) if all.len() > 1 => match base::template::variable(one) {
                Some((_, name, _)) => format!("the {name} command"),
                None => format!("`{one}`"),
            },
            (_, Ok(all)) => format!("`{}`", all.join("` or `")),
            (all, Err(_)) => format!("`{}`", all.join("` or `")),
        }
    }
}

/// Why a run has no result; its message comes after the command line.
#[derive(Debug, thiserror::Error)]
enum NoResult {
    #[error("ran no test")]
    NoTest,
    #[error("did not start the tests")]
    NotStarted,
    #[error("hides the result: {0}")]
    Hidden(Unknown),
}

/// The longest command that messages quote, in characters.
const LONGEST_QUOTE: usize = 120;

/// How the shell command of this event ended, if the host reports it.
fn ending(event: &Event) -> Option<OutputEnding> {
    if event.tool() != Some("Bash") {
        return None;
    }
    let flag = |value: Option<&Value>| value.and_then(Value::as_bool).unwrap_or(false);
    let reported = |name: &str| event.response_value(name).filter(|value| !value.is_null());
    let background = flag(event.input_value("run_in_background"));
    let moved_away = reported("backgroundTaskId").is_some() || reported("timedOutAfterMs").is_some();
    let interrupted = flag(reported("interrupted")) || flag(event.fields.get("is_interrupt"));
    if background || moved_away || interrupted {
        return None;
    }
    match event.kind? {
        EventKind::PostToolUse if reported("returnCodeInterpretation").is_some() => Some(OutputEnding::Unclear),
        EventKind::PostToolUse => Some(OutputEnding::Success),
        EventKind::PostToolUseFailure => {
            event.text("error").filter(|error| is_own(error, event)).map(|_| OutputEnding::Failure)
        }
        _ => None,
    }
}

/// Whether an error is the command's own: not an exit code of the shell, a time limit or a signal, and not a failed `cd`.
fn is_own(error: &str, event: &Event) -> bool {
    const NOT_ITS_OWN: [u32; 8] = [124, 125, 126, 127, 130, 137, 141, 143];
    let code = error.strip_prefix("Exit code ").and_then(|rest| rest.split_whitespace().next());
    let own = code.and_then(|code| code.parse().ok()).is_some_and(|code| !NOT_ITS_OWN.contains(&code));
    let says_so = |line: &str| {
        ["cd:", "pushd:"].iter().any(|word| {
            line.starts_with(word) || line.contains(&format!(" {word} ")) || line.contains(&format!(":{word}"))
        })
    };
    let enters = |line: &str| {
        let calls = shell_effects::effects(line, &ExecContext::default()).calls;
        calls.iter().any(|call| call.matches("cd") || call.matches("pushd"))
    };
    let lost = error.lines().any(says_so) && event.input("command").is_some_and(enters);
    own && !lost
}
