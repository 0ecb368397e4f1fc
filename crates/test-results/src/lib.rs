//! Reads the result of a test run from what the runner prints.
//!
//! The exit code of `make test | tail` is that of `tail`, so the output decides there. A result counts only if the
//! runner is sure to have printed it and nothing that a filter dropped could say otherwise.

mod filters;
mod missing_tests;
mod other_calls;
mod other_work;
mod programs;
mod starts;
mod summary;

use filters::{HiddenOutput, SeenPart, seen_part};
use other_work::does_other_work;
use serde::{Deserialize, Serialize};
use shell_effects::{CallOutput, ProgramCall, ShellWord};
use starts::starts;
use std::collections::BTreeSet;
use summary::SummaryReader;

/// How much of the end of an output is read, in bytes.
pub const LONGEST_OUTPUT: usize = 64 * 1024;

/// The result of a test run by its output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputResult {
    /// Every test that ran passed.
    Passed,
    /// At least one failed.
    Failed,
    /// No test ran.
    Empty,
    /// The command was called in a way in which it runs no test.
    Misused,
    /// The output does not tell, for this reason.
    Unreadable(String),
}

/// The known part of a command line's output.
#[derive(Debug, Clone, Default)]
pub struct LineOutput {
    /// What is known of it.
    pub text: String,
    /// Whether its start is missing.
    pub start_cut: bool,
    /// Whether its end is missing.
    pub end_cut: bool,
    /// How the line ended.
    pub ending: OutputEnding,
}

/// How a command line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputEnding {
    /// With an exit code that the host explains.
    #[default]
    Unclear,
    /// With exit code 0.
    Success,
    /// With an error.
    Failure,
}

impl LineOutput {
    fn has_failed(&self) -> bool {
        self.ending == OutputEnding::Failure
    }
}

/// The calls that run one of `commands` and do its work.
pub fn runs_of<'a>(calls: &'a [ProgramCall], commands: &[String]) -> Vec<&'a ProgramCall> {
    let matches = |call: &&ProgramCall| commands.iter().any(|command| starts(call, command));
    let (other, runs): (Vec<_>, Vec<_>) = calls.iter().filter(matches).partition(|call| does_other_work(&call.argv()));
    // A wrapper repeats the words of what it runs.
    let explains = |call: &ProgramCall, run: &ProgramCall| {
        let own = call.words.len().checked_sub(run.words.len()).and_then(|count| call.words.get(..count));
        call.command == run.command
            && own.is_some_and(|own| own.iter().any(|word| word.is("--help") || word.is("--version")))
    };
    let is_run = |run: &&ProgramCall| {
        !other.iter().any(|call| call.command == run.command) && !calls.iter().any(|call| explains(call, run))
    };
    runs.into_iter().filter(is_run).collect()
}

/// Reads the result of the runs in `calls` at these places, all of the same kind.
pub fn read(calls: &[ProgramCall], runs: &[&ProgramCall], output: &LineOutput) -> OutputResult {
    if runs.is_empty() {
        return unreadable("no test command was run");
    }
    if let Some(why) = runs.iter().find_map(|run| run.redefined.as_ref()) {
        return unreadable(why);
    }
    let lines = Some(output.text.lines().count()).filter(|_| !output.start_cut && !output.end_cut && runs.len() == 1);
    let mut commands: Vec<usize> = runs.iter().map(|run| run.command).collect();
    let count = commands.iter().collect::<BTreeSet<_>>().len();
    let mut part = SeenPart { start_cut: output.start_cut, end_cut: output.end_cut, selected: Vec::new() };
    for run in runs {
        let shown = filters_of(calls, run).and_then(|(filters, reader)| {
            commands.extend(reader);
            seen_part(&filters, lines)
        });
        match shown {
            Ok(other) => part.add(other),
            // `pytest > /missing/log`
            Err(_) if output.has_failed() && SummaryReader::for_runs(runs).has_not_started(&output.text) => {
                return OutputResult::Misused;
            }
            Err(why) => return unreadable(why.to_string()),
        }
    }
    if let Some(other) = other_calls::speaker(calls, &commands) {
        let name = other.words.first().map(|word| word.filled("…")).unwrap_or_default();
        return unreadable(format!("`{name}` on the same line may print a result of its own"));
    }
    let passed = output.ending == OutputEnding::Success && runs.iter().any(|run| run.own.success);
    SummaryReader::for_runs(runs).result(output, &part, count, passed)
}

/// The filters behind a run, and the command that shows the file that it writes.
fn filters_of(calls: &[ProgramCall], run: &ProgramCall) -> Result<(Vec<Vec<ShellWord>>, Option<usize>), HiddenOutput> {
    match &run.output {
        CallOutput::Shown(_) if run.piped => Err(HiddenOutput::Piped),
        CallOutput::Shown(filters) => Ok((filters.clone(), None)),
        CallOutput::Hidden | CallOutput::Captured => Err(HiddenOutput::Elsewhere),
        CallOutput::Written(file) => {
            // `make test > log 2>&1; echo $?; tail log`
            let mut after = calls.iter().skip_while(|call| call.command <= run.command);
            let reader = after.find(|call| !call.matches("echo")).filter(|call| !call.piped);
            let own = |word: &ShellWord| word.is(file);
            let reader = reader.filter(|reader| reader.words.iter().any(own)).ok_or(HiddenOutput::Elsewhere)?;
            let CallOutput::Shown(filters) = &reader.output else { return Err(HiddenOutput::Elsewhere) };
            let mut words = reader.words.clone();
            words.retain(|word| !own(word));
            Ok((std::iter::once(words).chain(filters.iter().cloned()).collect(), Some(reader.command)))
        }
    }
}

fn unreadable(why: impl Into<String>) -> OutputResult {
    OutputResult::Unreadable(why.into())
}

/// Whether a program only filters what it reads.
fn is_filter(words: &[ShellWord]) -> bool {
    seen_part(std::slice::from_ref(&words.to_vec()), None).is_ok()
}

#[cfg(test)]
mod tests;
