//! The files that a replay writes, and what GitHub is told.

use super::super::screen::{print_error, print_line};
use super::collector::ReportedEvent;
use super::html_data::HtmlData;
use super::inputs::ReplayInput;
use super::summary::ReplaySummary;
use crate::mode::Catalogue;
use crate::replay::junit::TestSuite;
use crate::replay::{github, sarif};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The files that are written.
#[derive(Default)]
pub(super) struct Outputs {
    junit: Option<JunitFile>,
    sarif: Option<PathBuf>,
    html: Option<(PathBuf, HtmlData)>,
    troubles: Vec<String>,
}

/// A file of test suites, written as they come.
struct JunitFile {
    path: PathBuf,
    beside: PathBuf,
    file: BufWriter<File>,
    suite: TestSuite,
}

impl Outputs {
    pub(super) fn open(junit: Option<&Path>, sarif: Option<&Path>, html: Option<&Path>) -> Result<Self, String> {
        let mut told = Vec::new();
        for path in [junit, sarif, html].into_iter().flatten() {
            writable(path)?;
            if told.contains(&path) {
                return Err(format!("`{}` is to be two reports; give each a file of its own", path.display()));
            }
            told.push(path);
        }
        Ok(Self {
            junit: junit.map(JunitFile::open).transpose()?,
            sarif: sarif.map(Path::to_owned),
            html: html.map(|path| (path.to_owned(), HtmlData::default())),
            troubles: Vec::new(),
        })
    }

    /// Whether every event is wanted as JSON.
    pub(super) fn want_all(&self) -> bool {
        self.html.is_some()
    }

    /// Whether events are wanted that have anything to tell.
    pub(super) fn want_notable(&self) -> bool {
        self.junit.is_some()
    }

    pub(super) fn event(&mut self, input: &ReplayInput, heard: &ReportedEvent) {
        if let Some((_, html_data)) = &mut self.html {
            html_data.add(input, heard);
        }
        if let (Some(junit), Some(result)) = (&mut self.junit, &heard.notable) {
            junit.suite.add(result);
        }
    }

    pub(super) fn problem(&mut self, problem: &crate::replay::problem::ReplayProblem) {
        if let Some(junit) = &mut self.junit {
            junit.suite.problem(problem);
        }
    }

    /// A session has come to its end, with so many events that had nothing to tell.
    pub(super) fn end(&mut self, session: String, file: String, quiet: u64) {
        if let Some(junit) = &mut self.junit
            && let Err(error) = junit.end(session, file, quiet)
        {
            self.troubles.push(format!("`{}` cannot be written: {error}", junit.path.display()));
            // Half a report is none.
            let _: io::Result<()> = std::fs::remove_file(&junit.beside);
            self.junit = None;
        }
    }

    /// Writes what is left to write; tells what could not be written.
    pub(super) fn close(self, report: &ReplaySummary, catalogue: &Catalogue) -> Vec<String> {
        let mut troubles = self.troubles;
        let mut told = |path: &Path, written: io::Result<()>| {
            if let Err(error) = written {
                troubles.push(format!("`{}` cannot be written: {error}", path.display()));
            }
        };
        if let Some(junit) = self.junit {
            told(&junit.path.clone(), junit.close());
        }
        if let Some(path) = self.sarif {
            let report = sarif::sarif(&report.failing, &report.problems, catalogue);
            let text = serde_json::to_string_pretty(&report).unwrap_or_default();
            told(&path, crate::disk::write(&path, text.as_bytes(), crate::disk::LinkPolicy::Follow));
        }
        if let Some((path, html_data)) = self.html {
            let page = html_data.page(report, catalogue);
            told(&path, crate::disk::write(&path, page.as_bytes(), crate::disk::LinkPolicy::Follow));
        }
        troubles
    }
}

/// Says early what would be lost late.
fn writable(path: &Path) -> Result<(), String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    if path.is_dir() {
        return Err(format!("`{}` is a folder, not a file to write", path.display()));
    }
    if folder.is_dir() { Ok(()) } else { Err(format!("`{}` is not there to write into", folder.display())) }
}

impl JunitFile {
    fn open(path: &Path) -> Result<Self, String> {
        let wrong = |error: io::Error| format!("`{}` cannot be written: {error}", path.display());
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let beside = path.with_file_name(format!("{name}.{}.tmp", std::process::id()));
        let mut file = BufWriter::new(File::create(&beside).map_err(wrong)?);
        file.write_all(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"modegate replay\">\n")
            .map_err(wrong)?;
        Ok(Self { path: path.to_owned(), beside, file, suite: TestSuite::default() })
    }

    fn end(&mut self, session: String, file: String, quiet: u64) -> io::Result<()> {
        let mut suite = std::mem::take(&mut self.suite);
        (suite.session, suite.file, suite.quiet) = (session, file, quiet);
        if suite.is_empty() { Ok(()) } else { suite.write(&mut self.file) }
    }

    fn close(mut self) -> io::Result<()> {
        if !self.suite.is_empty() {
            self.end("recordings".to_owned(), String::new(), 0)?;
        }
        self.file.write_all(b"</testsuites>\n")?;
        self.file.flush()?;
        std::fs::rename(&self.beside, &self.path)
    }
}

/// Tells GitHub, where we run there.
pub(super) fn tell_github(report: &ReplaySummary, catalogue: &Catalogue, to_error: bool) {
    if std::env::var("GITHUB_ACTIONS").as_deref() != Ok("true") {
        return;
    }
    for line in github::annotations(&report.failing, &report.problems, catalogue) {
        if to_error { print_error(line) } else { print_line(line) }
    }
    if let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY") {
        let text = github::summary(&report.counts, &report.failing);
        let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
        let _: io::Result<()> = file.and_then(|mut file| file.write_all(text.as_bytes()));
    }
}
