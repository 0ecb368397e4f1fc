//! `observed`: a command passed or failed.

use super::{CheckKind, Scope};
use crate::event::{Event, EventKind};
use crate::session::ModeState;
use crate::shell::{self, ExecContext, ProgramCall};
use crate::verdict::Outcome;
use crate::yaml::{Node, TreeReader};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The name under which an edit is noted.
pub const EDIT: &str = "edit";

/// Passes when the latest run of a command since the phase began had this result; with `after: edit`,
/// only a run after an edit of that phase counts.
///
/// A run counts when the host's result is the command's own: `cargo test | tail` or `cargo test || true`
/// hide it. A command is given by its first words, or as a variable.
///
/// ```yaml
/// check: { observed: { command: "{test}", result: passed, after: edit } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedCheck {
    /// The command, by its first words.
    pub command: Vec<String>,
    /// How it ended.
    pub result: CommandResult,
    /// Whether an edit must come before it.
    pub after_edit: bool,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandResult {
    /// With success.
    Passed,
    /// With a failure.
    Failed,
}

const RESULTS: [(&str, CommandResult); 2] = [("passed", CommandResult::Passed), ("failed", CommandResult::Failed)];

impl CommandResult {
    fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
        }
    }
}

impl CheckKind for ObservedCheck {
    fn read(reader: &mut TreeReader, node: &Node) -> Self {
        let fields = reader.fields(node, "`observed`", &["command", "result", "after"]);
        let command = fields.read(reader, "command", TreeReader::templates).unwrap_or_default();
        if command.is_empty() {
            fields.missing(reader, node, "`observed` needs `command`, the first words of a command line");
        }
        let result = fields.read(reader, "result", |reader, node| reader.word(node, &RESULTS)).flatten();
        let after = fields.read(reader, "after", |reader, node| reader.word(node, &[(EDIT, true)])).flatten();
        Self { command, result: result.unwrap_or(CommandResult::Passed), after_edit: after.unwrap_or(false) }
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let name = self.called(scope);
        let example = match scope.expand_all(&self.command) {
            Ok(all) if all.len() > 1 => {
                format!("{name} (`{}` or another of its `variables`)", all.first().map_or("", String::as_str))
            }
            _ => name.clone(),
        };
        let remedy = match self.result {
            CommandResult::Passed => format!("run {example} alone on a line until it passes"),
            CommandResult::Failed => format!("run {example} alone on a line and see it fail"),
        };
        let nothing = ModeState::default();
        let state = scope.mode_state().unwrap_or(&nothing);
        let at = |result| state.seen_at(&self.mark(result)).filter(|tick| *tick > state.since);
        let (wanted, other) = match self.result {
            CommandResult::Passed => (at(CommandResult::Passed), at(CommandResult::Failed)),
            CommandResult::Failed => (at(CommandResult::Failed), at(CommandResult::Passed)),
        };
        let edited = state.seen_at(EDIT).filter(|tick| *tick > state.since);
        Ok(match wanted {
            None if other.is_none() => {
                Outcome::fails(format!("{name} was not observed in this phase")).remedied(remedy)
            }
            wanted if other > wanted => {
                Outcome::fails(format!("{name} last {}", opposite(self.result))).remedied(remedy)
            }
            wanted if self.after_edit && (edited.is_none() || edited > wanted) => {
                Outcome::fails(format!("{name} has not {} after an edit in this phase", self.result.word()))
                    .remedied(remedy)
            }
            _ => Outcome::passes(format!("{name} has {}", self.result.word())),
        })
    }

    fn expectation(&self, scope: &Scope<'_>) -> Option<String> {
        let after = if self.after_edit { " after an edit" } else { "" };
        Some(format!(
            "{} has {}{after} (run it alone on a line: a pipe hides its result)",
            self.called(scope),
            self.result.word()
        ))
    }
}

impl ObservedCheck {
    /// The name under which a run is noted; equal commands share it.
    fn mark(&self, result: CommandResult) -> String {
        format!("{}:{}", self.command.join("|"), result.word())
    }

    /// The name to note for this event, if it shows a run of the command.
    #[must_use]
    pub fn seen_in(&self, scope: &Scope<'_>) -> Option<String> {
        let result = result(scope.event)?;
        let wanted = scope.expand_all(&self.command).ok()?;
        let line = scope.event.input("command")?;
        let effects = shell::effects(line, &ExecContext::default());
        let is_it =
            |call: &&ProgramCall| wanted.iter().any(|wanted| call.matches(wanted)) && !does_other_work(&call.argv());
        let mut own = effects.calls.iter().filter(is_it);
        let reveals = |call: &ProgramCall| match result {
            CommandResult::Passed => call.own.success,
            CommandResult::Failed => call.own.failure,
        };
        own.any(reveals).then(|| self.mark(result))
    }

    /// The command for messages: the name of the variable if it has several values.
    fn called(&self, scope: &Scope<'_>) -> String {
        match (self.command.as_slice(), scope.expand_all(&self.command)) {
            ([one], Ok(all)) if all.len() > 1 => match crate::template::variable(one) {
                Some((_, name, _)) => format!("the {name} command"),
                None => format!("`{one}`"),
            },
            (_, Ok(all)) => format!("`{}`", all.join("` or `")),
            (all, Err(_)) => format!("`{}`", all.join("` or `")),
        }
    }
}

fn opposite(result: CommandResult) -> &'static str {
    match result {
        CommandResult::Passed => CommandResult::Failed.word(),
        CommandResult::Failed => CommandResult::Passed.word(),
    }
}

/// Whether options make the command do something other than its work.
fn does_other_work(words: &[String]) -> bool {
    const FLAGS: [&str; 10] = [
        "--no-run",
        "--help",
        "-h",
        "--list",
        "--listTests",
        "--version",
        "--collect-only",
        "--co",
        "--dry-run",
        "--just-print",
    ];
    // Short options that mean "print only" for one program and something else for others.
    const OWN_FLAGS: [(&str, &str); 8] = [
        ("make", "-n"),
        ("just", "-n"),
        ("go", "-c"),
        ("go", "-list"),
        ("ctest", "-N"),
        ("gradle", "-m"),
        ("mvn", "-DskipTests"),
        ("pytest", "--fixtures"),
    ];
    let program = words.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
    let prints = OWN_FLAGS.iter().any(|(own, flag)| *own == program && words.iter().any(|word| word == flag));
    prints || words.iter().any(|word| FLAGS.contains(&word.as_str()))
}

/// How the shell command of this event ended, if the host reports it.
fn result(event: &Event) -> Option<CommandResult> {
    if event.tool() != Some("Bash") {
        return None;
    }
    let flag = |value: Option<&Value>| value.and_then(Value::as_bool).unwrap_or(false);
    let reported =
        |name: &str| event.response().and_then(|response| response.get(name)).filter(|value| !value.is_null());
    let background = flag(event.fields.get("tool_input").and_then(|input| input.get("run_in_background")));
    let moved_away = reported("backgroundTaskId").is_some() || reported("timedOutAfterMs").is_some();
    let interrupted = flag(reported("interrupted")) || flag(event.fields.get("is_interrupt"));
    if background || moved_away || interrupted {
        return None;
    }
    match event.kind? {
        EventKind::PostToolUse => Some(CommandResult::Passed),
        EventKind::PostToolUseFailure => {
            event.text("error").filter(|error| is_own(error, event)).map(|_| CommandResult::Failed)
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
        let calls = shell::effects(line, &ExecContext::default()).calls;
        calls.iter().any(|call| call.matches("cd") || call.matches("pushd"))
    };
    let lost = error.lines().any(says_so) && event.input("command").is_some_and(enters);
    own && !lost
}
