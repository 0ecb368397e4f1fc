//! The outputs of a replay: standard output as text or JSON, report files, and GitHub.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

pub(crate) mod annotations;
pub mod html;
pub(crate) mod junit;
pub(crate) mod markdown;
pub(crate) mod progress;
pub(crate) mod summary;

use crate::policy::mode::Catalogue;
use crate::replay::collector::{ReplayMessage, Shard};
use crate::replay::command::{EXIT_UNWRITTEN, ReplayCommand, no_input};
use crate::replay::inputs::ReplayInput;
use crate::replay::merge;
use crate::replay::mode_source::ModeSource;
use crate::replay::report::html::HtmlReport;
use crate::replay::report::junit::JunitReport;
use crate::replay::report::markdown::ChangedDecisions;
use crate::replay::report::progress::{ProgressLine, decimal};
use crate::replay::report::summary::ReplaySummary;
use crate::replay::result::ReplayProblem;
use base::cli_error::CliError;
use base::disk::{self, LinkPolicy};
use base::printable;
use base::screen::{print_error, print_line, print_workflow_command};
use serde_json::json;
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

/// Passes the messages of all inputs, which arrive in order, to the summary and the outputs.
pub(crate) struct Reporter<'a> {
    args: &'a ReplayCommand,
    summary: ReplaySummary,
    junit: JunitReport,
    markdown: ChangedDecisions,
    html: HtmlReport,
    progress: ProgressLine,
    errors: Vec<String>,
    /// With `--merge`, a problem of several shards is reported once.
    seen_problems: HashSet<String>,
    /// The shards that were read; a complete one has its number.
    shards: Vec<(String, Option<Shard>)>,
}

impl<'a> Reporter<'a> {
    /// Fails at once if an output cannot be written.
    pub(crate) fn new(args: &'a ReplayCommand, inputs: &[ReplayInput]) -> Result<Self, CliError> {
        let failure = |path: &Path, why: String| CliError::failure(unwritten(path, why)).exit(EXIT_UNWRITTEN);
        let mut seen = HashSet::new();
        for path in [&args.junit, &args.sarif, &args.markdown, &args.html].into_iter().flatten() {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let why = match () {
                () if path.is_dir() => "it is a folder",
                () if !folder.is_dir() => "its folder does not exist",
                () if !seen.insert(path) => "it is named for two reports; name a file for each",
                () => continue,
            };
            return Err(failure(path, why.to_owned()));
        }
        Ok(Self {
            args,
            summary: ReplaySummary::default(),
            junit: JunitReport::default(),
            markdown: ChangedDecisions::default(),
            html: HtmlReport::default(),
            progress: ProgressLine::new(inputs.iter().map(|input| input.size).sum()),
            errors: Vec::new(),
            seen_problems: HashSet::new(),
            shards: Vec::new(),
        })
    }

    pub(crate) fn message(&mut self, input: &ReplayInput, message: ReplayMessage) {
        match message {
            ReplayMessage::Event(json, result) => {
                if let Some(json) = json {
                    if self.args.json {
                        print_line(&json);
                    }
                    if self.args.html.is_some() {
                        self.html.add(input, &result, json);
                    }
                }
                if self.args.junit.is_some() && !result.is_quiet() {
                    self.junit.add(&result);
                }
                // Differences that are accepted are listed too.
                if self.args.markdown.is_some() && (result.is_failing() || result.differs()) {
                    self.markdown.add(&result);
                }
                self.summary.event(*result);
            }
            ReplayMessage::Problem(problem) => self.problem(problem),
            ReplayMessage::Skipped(first, count) => {
                if self.args.json {
                    let ReplayProblem { file, line, what, .. } = &first;
                    print_line(json!({"skipped": what, "count": count, "file": file, "line": line}).to_string());
                }
                self.summary.skipped(&first, count);
            }
            ReplayMessage::Shard(file, shard) => self.shards.push((file, shard)),
            ReplayMessage::Session { session, file, quiet } => self.junit.end_session(&session, &file, quiet),
            ReplayMessage::End(totals) => {
                if let Some(blessed) = &totals.blessed {
                    let note = format!(" ({} of {} events listed)", blessed.expect.len(), blessed.events);
                    let path = input.expectation_file();
                    // The repository of the recording chose the name: its link leads nowhere.
                    let written = disk::write(&path, blessed.to_yaml().as_bytes(), LinkPolicy::Replace);
                    note_written(&path, &note, written, &mut self.errors);
                }
                self.summary.end(&totals);
                self.progress.add(input.size);
            }
        }
    }

    pub(crate) fn problem(&mut self, problem: ReplayProblem) {
        if self.args.merge && !self.seen_problems.insert(problem.to_string()) {
            return;
        }
        self.progress.clear();
        print_error(printable::one_line(&problem.to_string()));
        if self.args.json {
            print_line(serde_json::to_string(&problem).unwrap_or_default());
        }
        if self.args.junit.is_some() {
            self.junit.problem(&problem);
        }
        self.summary.problem(problem);
    }

    /// Writes every report; returns whether all decisions are fine.
    pub(crate) fn close(mut self, source: &ModeSource) -> Result<bool, CliError> {
        self.progress.clear();
        for problem in merge::shard_problems(&self.shards) {
            self.problem(problem);
        }
        let (args, counts) = (self.args, &self.summary.counts);
        let no_shard = self.shards.iter().all(|(_, shard)| shard.is_none());
        if args.merge && counts.events == 0 && (counts.is_fine() || no_shard) {
            let error = no_input("nothing to merge: the files have no decisions");
            return Err(error.hint("pass the files that `modegate replay --json` wrote"));
        }
        // Expectations in the recordings themselves are not replaced by blessing.
        let is_fine = counts.is_fine() || args.bless && counts.unmet == 0;
        if !args.json {
            self.summary.print();
        } else if let Some(shard) = args.partition {
            print_line(json!({"end": shard}).to_string());
        }
        self.write_reports(&source.catalogue);
        if self.errors.is_empty() {
            return Ok(is_fine);
        }
        Err(CliError::failure(self.errors.join("\n")).exit(EXIT_UNWRITTEN))
    }

    fn write_reports(&mut self, catalogue: &Catalogue) {
        let Self { args, summary, errors, .. } = self;
        let ReplaySummary { failing, problems, counts, .. } = &*summary;
        if std::env::var("GITHUB_ACTIONS").as_deref() == Ok("true") {
            for line in annotations::github(failing, problems, catalogue) {
                print_workflow_command(&line, args.json);
            }
            append_step_summary(summary);
        }
        if let Some(path) = &args.junit {
            write(path, &std::mem::take(&mut self.junit).render(), "", errors);
        }
        if let Some(path) = &args.sarif {
            let report = annotations::sarif(failing, problems, catalogue);
            let text = serde_json::to_string_pretty(&report).unwrap_or_default();
            // In JSON, the escapes mean the same characters.
            write(path, &printable::lines(&text), "", errors);
        }
        if let Some(path) = &args.markdown {
            write(path, &self.markdown.render(counts), "", errors);
        }
        if let Some(path) = &args.html {
            let (sessions, page) = (self.html.sessions.len(), self.html.render(summary, catalogue));
            let (size, plural) = (decimal(page.len() as u64), if sessions == 1 { "" } else { "s" });
            write(path, &page, &format!(" ({size}, {sessions} session{plural})"), errors);
        }
    }
}

fn unwritten(path: &Path, why: impl std::fmt::Display) -> String {
    format!("cannot write `{}`: {why}", path.display())
}

fn write(path: &Path, text: &str, note: &str, errors: &mut Vec<String>) {
    note_written(path, note, disk::write(path, text.as_bytes(), LinkPolicy::Follow), errors);
}

/// Prints the name of a file that was written, with a note.
fn note_written(path: &Path, note: &str, written: io::Result<()>, errors: &mut Vec<String>) {
    match written {
        Ok(()) => print_error(format!("wrote {}{note}", path.display())),
        Err(error) => errors.push(unwritten(path, error)),
    }
}

/// Appends the differences to the summary of a job on GitHub.
fn append_step_summary(summary: &ReplaySummary) {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY") else { return };
    let mut changed = ChangedDecisions::default();
    summary.failing.iter().for_each(|result| changed.add(result));
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    let _: io::Result<()> = file.and_then(|mut file| file.write_all(changed.render(&summary.counts).as_bytes()));
}
