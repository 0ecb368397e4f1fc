//! The result of a test run by the output in its event.

use super::{Answer, Unknown};
use crate::host::event::{Event, EventKind};
use serde_json::Value;
use shell_effects::{ExecContext, LineEffects, effects};
use test_results::{LONGEST_OUTPUT, LineOutput, OutputEnding, runs_of};

/// Parses the command line of an event for its test runs; `wrappers` are programs that run others.
pub fn line_effects(line: &str, wrappers: &[String]) -> LineEffects {
    effects(line, &ExecContext { wrappers: wrappers.to_vec(), ..ExecContext::default() })
}

/// Reads the result of `commands` from the output in the event; `end_of` reads the end of a file to which the host has
/// written a long output.
pub fn output_of(
    event: &Event,
    commands: &[String],
    wrappers: &[String],
    end_of: &dyn Fn(&str) -> Option<String>,
) -> Result<Answer, Unknown> {
    let mut output = line_output(event, end_of).ok_or("the event does not have the output")?;
    let is_explained = event.response_value("returnCodeInterpretation").is_some_and(|value| !value.is_null());
    if event.kind == Some(EventKind::PostToolUse) && !is_explained {
        output.ending = OutputEnding::Success;
    }
    let line = event.input("command").ok_or("the event has no command line")?;
    let effects = line_effects(line, wrappers);
    Ok(Answer::Output(test_results::read(&effects.calls, &runs_of(&effects.calls, commands), &output)))
}

fn line_output(event: &Event, end_of: &dyn Fn(&str) -> Option<String>) -> Option<LineOutput> {
    if event.kind == Some(EventKind::PostToolUseFailure) {
        // The host keeps the beginning and the end of a long output.
        let error = event.text("error")?;
        let cut = error.contains(" characters truncated] ...") || error.contains(" bytes, sha256 ");
        let text = error.split_once('\n').map_or("", |(_, text)| text).to_owned();
        return Some(LineOutput { text: shortened(text), start_cut: cut, end_cut: cut, ending: OutputEnding::Failure });
    }
    let response = event.response()?;
    let text = |name: &str| match response.get(name) {
        None | Some(Value::Null) => Some(""),
        Some(value) => value.as_str(),
    };
    let (stdout, stderr) = (text("stdout")?, text("stderr")?);
    // The host cuts the end of a long output, and names a file with all of it.
    if let Some(file) = response.get("persistedOutputPath").filter(|file| !file.is_null()) {
        return Some(match file.as_str().and_then(end_of) {
            Some(text) => LineOutput { text: shortened(text), start_cut: true, ..LineOutput::default() },
            None => LineOutput { text: shortened(stdout.to_owned()), end_cut: true, ..LineOutput::default() },
        });
    }
    let start_cut = stdout.len() + stderr.len() >= LONGEST_OUTPUT;
    Some(LineOutput { text: shortened(format!("{stdout}\n{stderr}")), start_cut, ..LineOutput::default() })
}

/// The end of a long text.
fn shortened(text: String) -> String {
    match text.len().checked_sub(LONGEST_OUTPUT) {
        Some(at) => text.get(text.ceil_char_boundary(at)..).unwrap_or_default().to_owned(),
        None => text,
    }
}

/// Whether the run passed by its exit code, unless it printed a failure.
pub fn passed_by_exit_code(event: &Event, commands: &[String], wrappers: &[String]) -> bool {
    let effects = line_effects(event.input("command").unwrap_or_default(), wrappers);
    event.kind == Some(EventKind::PostToolUse) && runs_of(&effects.calls, commands).iter().any(|run| run.own.success)
}
