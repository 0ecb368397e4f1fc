//! The outputs of a replay: standard output as text or JSON, report files, and GitHub.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use super::super::screen::{print_error, print_line, print_workflow_command};
use super::collector::{ReportedEvent, Shard};
use super::html_data::HtmlData;
use super::inputs::ReplayInput;
use super::summary::ReplaySummary;
use crate::mode::Catalogue;
use crate::replay::junit::TestSuite;
use crate::replay::markdown::ChangedDecisions;
use crate::replay::problem::ReplayProblem;
use crate::replay::result::ReplayResult;
use crate::replay::{github, sarif};
use serde_json::json;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// An output of a replay.
///
/// Events arrive in the order of the inputs; the summary and the modes are complete when the sink is closed.
pub(super) trait ReplaySink {
    fn event(&mut self, _input: &ReplayInput, _event: &ReportedEvent) {}

    fn problem(&mut self, _problem: &ReplayProblem) {}

    fn skipped(&mut self, _first: &ReplayProblem, _count: u64) {}

    /// Ends a session of which `quiet` events were not reported.
    fn session_end(&mut self, _session: &str, _file: &str, _quiet: u64) -> io::Result<()> {
        Ok(())
    }

    fn close(self: Box<Self>, summary: &ReplaySummary, catalogue: &Catalogue) -> io::Result<()>;
}

/// JSON lines on standard output.
pub(super) struct JsonLines(pub(super) Option<Shard>);

impl ReplaySink for JsonLines {
    fn event(&mut self, _: &ReplayInput, event: &ReportedEvent) {
        event.json.iter().for_each(print_line);
    }

    fn problem(&mut self, problem: &ReplayProblem) {
        print_line(serde_json::to_string(problem).unwrap_or_default());
    }

    fn skipped(&mut self, ReplayProblem { file, line, what, .. }: &ReplayProblem, count: u64) {
        print_line(json!({"skipped": what, "count": count, "file": file, "line": line}).to_string());
    }

    fn close(self: Box<Self>, _: &ReplaySummary, _: &Catalogue) -> io::Result<()> {
        if let Some(shard) = self.0 {
            print_line(json!({"end": shard}).to_string());
        }
        Ok(())
    }
}

/// Annotations and the job summary of GitHub Actions.
pub(super) struct GitHub {
    /// Whether annotations go to standard error, because standard output is JSON.
    pub(super) to_stderr: bool,
}

impl ReplaySink for GitHub {
    fn close(self: Box<Self>, summary: &ReplaySummary, catalogue: &Catalogue) -> io::Result<()> {
        for line in github::annotations(&summary.failing, &summary.problems, catalogue) {
            print_workflow_command(&line, self.to_stderr);
        }
        if let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY") {
            let mut changed = ChangedDecisions::default();
            for result in &summary.failing {
                changed.add(result);
            }
            let text = changed.render(&summary.counts);
            let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
            let _: io::Result<()> = file.and_then(|mut file| file.write_all(text.as_bytes()));
        }
        Ok(())
    }
}

fn print_written(path: &Path) {
    print_error(format!("wrote {}", path.display()));
}

/// A SARIF file.
pub(super) struct SarifFile(pub(super) PathBuf);

impl ReplaySink for SarifFile {
    fn close(self: Box<Self>, summary: &ReplaySummary, catalogue: &Catalogue) -> io::Result<()> {
        let report = sarif::sarif(&summary.failing, &summary.problems, catalogue);
        let text = serde_json::to_string_pretty(&report).unwrap_or_default();
        crate::disk::write(&self.0, text.as_bytes(), crate::disk::LinkPolicy::Follow)?;
        print_written(&self.0);
        Ok(())
    }
}

/// A Markdown file for a comment on a pull request; differences that are accepted are listed too.
pub(super) struct MarkdownFile {
    path: PathBuf,
    changed: ChangedDecisions,
}

impl MarkdownFile {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), changed: ChangedDecisions::default() }
    }
}

impl ReplaySink for MarkdownFile {
    fn event(&mut self, _: &ReplayInput, event: &ReportedEvent) {
        let differs = |result: &&ReplayResult| event.failing || result.change.differs() && !result.is_undecided();
        event.notable.as_deref().filter(differs).into_iter().for_each(|result| self.changed.add(result));
    }

    fn close(self: Box<Self>, summary: &ReplaySummary, _: &Catalogue) -> io::Result<()> {
        let text = self.changed.render(&summary.counts);
        crate::disk::write(&self.path, text.as_bytes(), crate::disk::LinkPolicy::Follow)?;
        print_written(&self.path);
        Ok(())
    }
}

/// An HTML page.
pub(super) struct HtmlFile {
    pub(super) path: PathBuf,
    pub(super) data: HtmlData,
}

impl ReplaySink for HtmlFile {
    fn event(&mut self, input: &ReplayInput, event: &ReportedEvent) {
        self.data.add(input, event);
    }

    fn close(self: Box<Self>, summary: &ReplaySummary, catalogue: &Catalogue) -> io::Result<()> {
        let sessions = self.data.sessions();
        let page = self.data.page(summary, catalogue);
        crate::disk::write(&self.path, page.as_bytes(), crate::disk::LinkPolicy::Follow)?;
        let tenths = page.len() * 10 / 1_000_000;
        let size = if tenths == 0 {
            format!("{} kB", page.len().div_ceil(1000))
        } else {
            format!("{}.{} MB", tenths / 10, tenths % 10)
        };
        let plural = if sessions == 1 { "" } else { "s" };
        print_error(format!("wrote {} ({size}, {sessions} session{plural})", self.path.display()));
        Ok(())
    }
}

/// A `JUnit` file, written as sessions end.
pub(super) struct JunitFile {
    path: PathBuf,
    temporary: PathBuf,
    file: BufWriter<File>,
    suite: TestSuite,
}

impl JunitFile {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!("{name}.{}.tmp", std::process::id()));
        let mut file = BufWriter::new(File::create(&temporary)?);
        file.write_all(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"modegate replay\">\n")?;
        Ok(Self { path: path.to_owned(), temporary, file, suite: TestSuite::default() })
    }
}

impl ReplaySink for JunitFile {
    fn event(&mut self, _: &ReplayInput, event: &ReportedEvent) {
        event.notable.iter().for_each(|result| self.suite.add(result));
    }

    fn problem(&mut self, problem: &ReplayProblem) {
        self.suite.problem(problem);
    }

    fn session_end(&mut self, session: &str, file: &str, quiet: u64) -> io::Result<()> {
        let mut suite = std::mem::take(&mut self.suite);
        (suite.session, suite.file, suite.quiet) = (session.to_owned(), file.to_owned(), quiet);
        if suite.is_empty() {
            return Ok(());
        }
        // Half a report is worse than none.
        suite.write(&mut self.file).inspect_err(|_| drop(std::fs::remove_file(&self.temporary)))
    }

    fn close(mut self: Box<Self>, _: &ReplaySummary, _: &Catalogue) -> io::Result<()> {
        self.session_end("recordings", "", 0)?;
        self.file.write_all(b"</testsuites>\n")?;
        self.file.flush()?;
        std::fs::rename(&self.temporary, &self.path)?;
        print_written(&self.path);
        Ok(())
    }
}
