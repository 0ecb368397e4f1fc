//! `modegate replay`: decides recorded sessions again.
//!
//! Readers turn each input into decided cases, a [`ResultCollector`] compares them with their expectations, and
//! every [`ReplaySink`] gets the results in the order of the inputs.

mod collector;
mod copies;
mod html_data;
mod inputs;
mod journal_follower;
mod journal_parts;
mod line_decider;
mod line_reader;
mod merge;
mod mode_source;
mod scenario_runner;
mod sinks;
mod stream;
mod summary;
mod terminal;
mod workers;

use super::cli_error::CliError;
use super::screen::print_error;
use super::session_lookup::find_session;
use super::{CliResult, EXIT_FAILURE, places};
use crate::mode::TrustState;
use crate::mode_cache;
use crate::paths::{ProjectPaths, hash};
use crate::replay::expectation::ExpectationFile;
use crate::replay::problem::ReplayProblem;
use crate::trust;
use crate::user_folder::project_paths;
use clap::Args;
use collector::{CollectorOptions, ReplayMessage, ResultCollector, Shard};
use html_data::HtmlData;
use indicatif::{ProgressBar, ProgressStyle};
use inputs::{FoundInputs, InputKind, ReplayInput};
use journal_parts::{PART, PartRange};
use line_decider::{DeciderOptions, LineDecider};
use mode_source::ModeSource;
use sinks::{GitHub, HtmlFile, JsonLines, JunitFile, MarkdownFile, ReplaySink, SarifFile};
use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use stream::{AcceptedHashes, LiveProject};
use summary::ReplaySummary;
use terminal::Terminal;
use workers::InputReplayer;

/// Re-evaluates recorded sessions and reports what changed
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[command(after_help = "Examples:
  modegate replay                            Replay the journals of this project with its current modes
  modegate replay --last 5 --html out.html   Write an HTML report on the last five sessions
  modegate replay recordings --modes draft   Try the mode files in draft/ on recordings
  modegate replay plan.scenario.yaml         Run a scenario with the modes of this project

Exit codes: 0 all decisions are as recorded or expected, 1 at least one is not, 65 a mode file is invalid,
66 there is nothing to replay, 73 a report cannot be written.")]
pub(super) struct Replay {
    /// Journals, recordings, event streams, transcripts, scenarios, or folders of them [default: this project's journals]
    paths: Vec<PathBuf>,
    /// Use the modes in DIR (a project or a folder of mode files), or `recorded` for those stored in the recording
    /// [default: the project's modes; without any, the recorded ones]
    #[arg(long, value_name = "DIR")]
    modes: Option<PathBuf>,
    /// Replay only the N most recent sessions
    #[arg(long, value_name = "N", value_parser = whole_number)]
    last: Option<usize>,
    /// Run only shard K of N; sessions are assigned by a hash of their id
    #[arg(long, value_name = "K/N")]
    partition: Option<Shard>,
    /// Merge the `--json` output of several shards; PATHS are the output files
    #[arg(long, conflicts_with_all = ["modes", "last", "partition", "bless"], requires = "paths")]
    merge: bool,
    /// Print one JSON object per decision
    #[arg(long)]
    json: bool,
    #[arg(long, value_name = "FILE", help = "Write a JUnit report with one test suite per session")]
    junit: Option<PathBuf>,
    /// Write a SARIF report for code scanning
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Write a summary of the decisions that differ, as a comment on a pull request
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write a self-contained HTML report
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Accept the current decisions as expected; writes NAME.expect.yaml next to each recording
    #[arg(long, conflicts_with = "partition")]
    bless: bool,
    /// Allow scenarios and gates to run programs
    #[arg(long)]
    shell: bool,
    /// With `--shell`, also run programs of projects that you have not trusted
    #[arg(long, requires = "shell")]
    trust: bool,
    /// Decide and write every line again, also those like an earlier one
    #[arg(long)]
    strict: bool,
    /// Number of worker threads [default: the number of cores; 1 in the static program for Linux]
    #[arg(long, value_name = "N", value_parser = whole_number)]
    threads: Option<usize>,
}

/// Larger journals may be divided among the threads.
const LARGE: u64 = 4 * PART;

/// A journal is divided if it has more than a thread's share of all inputs, divided by this.
const SHARES: u64 = 4;

/// The exit code for a mode file that is invalid.
const EXIT_BAD_MODES: u8 = 65;

/// The exit code for inputs that do not exist or have nothing to replay.
const EXIT_NO_INPUT: u8 = 66;

/// The exit code for a report that cannot be written.
const EXIT_UNWRITTEN: u8 = 73;

fn whole_number(text: &str) -> Result<usize, &'static str> {
    text.parse().map_err(|_| "expected a whole number, such as 5")
}

fn no_input(message: impl Into<String>) -> CliError {
    CliError::failure(message).exit(EXIT_NO_INPUT)
}

fn unwritten(path: &Path, why: impl std::fmt::Display) -> String {
    format!("cannot write `{}`: {why}", path.display())
}

impl Replay {
    #[expect(clippy::disallowed_methods, reason = "does I/O")]
    pub(super) fn run(self, project: Option<PathBuf>) -> CliResult {
        let named = project.as_ref().map(|given| given.canonicalize().unwrap_or_else(|_| given.clone()));
        let here = places(project);
        let source = ModeSource::new(self.modes.as_deref(), named.as_deref(), &here)?;
        if let Some(broken) = source.broken().first() {
            return Err(CliError::failure(broken.summary()).exit(EXIT_BAD_MODES));
        }
        let accepted = self.require_trust(&here)?;
        let found = self.found(&here)?;
        let mut reporter = Reporter {
            args: &self,
            sinks: self.sinks()?,
            summary: ReplaySummary::default(),
            bar: progress_bar(&found.inputs),
            errors: Vec::new(),
            seen_problems: HashSet::new(),
            shards: Vec::new(),
        };
        report_skipped(&found.skipped);
        found.problems.into_iter().for_each(|problem| reporter.problem(problem));
        let live = named.map(|home| LiveProject { home, shell: self.shell, accepted });
        let total = found.inputs.iter().map(|input| input.size).sum();
        let work = ReplayWork { args: &self, source: &source, live: live.as_ref(), total };
        let options = CollectorOptions {
            json: self.json || self.html.is_some(),
            notable: self.junit.is_some() || self.markdown.is_some(),
            bless: self.bless,
            shard: self.partition,
        };
        workers::run(&found.inputs, self.threads(), options, &work, |input, message| reporter.message(input, message));
        let fine = reporter.close(&source)?;
        Ok(ExitCode::from(if fine { 0 } else { EXIT_FAILURE }))
    }

    /// Fails where programs of a project could run that the person has not trusted; returns the accepted hashes of scripts.
    #[expect(clippy::disallowed_methods, reason = "does I/O")]
    fn require_trust(&self, here: &ProjectPaths) -> Result<AcceptedHashes, CliError> {
        if !self.shell || self.trust {
            return Ok(None);
        }
        let given = self.paths.iter().chain(&self.modes).filter_map(|path| path.canonicalize().ok());
        let around = |path: PathBuf| path.ancestors().find(|dir| dir.join(".claude").is_dir()).map(Path::to_owned);
        let homes: BTreeSet<PathBuf> = given.filter_map(around).chain([here.home.clone()]).collect();
        for home in homes {
            let places = project_paths(home);
            let (_, trust) = trust::usable(&places, mode_cache::sources(&places));
            if trust.state != TrustState::Trusted {
                let message =
                    format!("`--shell` runs programs of {}, which you have not trusted", places.home.display());
                return Err(CliError::failure(message).hint("run `modegate trust` there, or add `--trust`"));
            }
        }
        Ok(trust::usable(here, mode_cache::sources(here)).1.accepted)
    }

    fn found(&self, here: &ProjectPaths) -> Result<FoundInputs, CliError> {
        let paths = if self.paths.is_empty() { vec![here.sessions()] } else { self.named_paths(here)? };
        let found = if self.merge { FoundInputs::shards(&paths) } else { FoundInputs::in_all(&paths) };
        let mut found = found.map_err(|(path, error)| {
            let error = no_input(format!("cannot read `{}`: {error}", path.display()));
            let hint = "no session was recorded here yet; name a file or a folder";
            if self.paths.is_empty() { error.hint(hint) } else { error }
        })?;
        if let Some(last) = self.last {
            found.keep_last(last);
        }
        copies::mark_copies(&mut found.inputs);
        if found.inputs.is_empty() {
            let named: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            let is_named = |problem: &ReplayProblem| matches!(named.as_slice(), [only] if *only == problem.file);
            let text =
                |problem: &ReplayProblem| if is_named(problem) { problem.what.clone() } else { problem.to_string() };
            let problems: Vec<String> = found.problems.iter().map(text).collect();
            let why = if problems.is_empty() { String::new() } else { format!(": {}", problems.join("; ")) };
            return Err(no_input(format!("nothing to replay in {}{why}", named.join(", "))));
        }
        Ok(found)
    }

    /// The given paths; a word that names no file means the journal of the session with that id.
    #[expect(clippy::disallowed_methods, reason = "does I/O")]
    fn named_paths(&self, here: &ProjectPaths) -> Result<Vec<PathBuf>, CliError> {
        let is_id = |word: &str| !word.contains(['/', '\\', '.']);
        let path = |given: &PathBuf| match given.to_str() {
            Some(word) if is_id(word) && !given.exists() => {
                let found = find_session(here, word).map_err(|error| error.exit(EXIT_NO_INPUT))?;
                Ok(here.journal(&found))
            }
            _ => Ok(given.clone()),
        };
        self.paths.iter().map(path).collect()
    }

    /// Opens every output, so that one that cannot be written fails at once.
    #[expect(clippy::disallowed_methods, reason = "does I/O")]
    fn sinks(&self) -> Result<Vec<NamedSink>, CliError> {
        let reports = [&self.junit, &self.sarif, &self.markdown, &self.html];
        let mut seen = HashSet::new();
        for path in reports.into_iter().flatten() {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let why = match () {
                () if path.is_dir() => "it is a folder",
                () if !folder.is_dir() => "its folder does not exist",
                () if !seen.insert(path) => "it is named for two reports; name a file for each",
                () => continue,
            };
            return Err(CliError::failure(unwritten(path, why)).exit(EXIT_UNWRITTEN));
        }
        let mut sinks: Vec<NamedSink> = Vec::new();
        let mut add = |path: &Path, sink: Box<dyn ReplaySink>| sinks.push((path.to_owned(), sink));
        let stdout = Path::new("standard output");
        if self.json {
            add(stdout, Box::new(JsonLines(self.partition)));
        } else {
            add(stdout, Box::new(Terminal));
        }
        if std::env::var("GITHUB_ACTIONS").as_deref() == Ok("true") {
            add(stdout, Box::new(GitHub { to_stderr: self.json }));
        }
        if let Some(path) = &self.junit {
            let file = JunitFile::create(path);
            let file = file.map_err(|error| CliError::failure(unwritten(path, error)).exit(EXIT_UNWRITTEN))?;
            add(path, Box::new(file));
        }
        if let Some(path) = &self.sarif {
            add(path, Box::new(SarifFile(path.clone())));
        }
        if let Some(path) = &self.markdown {
            add(path, Box::new(MarkdownFile::new(path)));
        }
        if let Some(path) = &self.html {
            add(path, Box::new(HtmlFile { path: path.clone(), data: HtmlData::default() }));
        }
        Ok(sinks)
    }

    /// The static program has an allocator with one lock, at which threads that decide lines wait for each other.
    fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.unwrap_or_else(|| if cfg!(target_env = "musl") { 1 } else { cores() }).max(1)
    }

    /// Whether a sink needs every event, not only those that differ.
    fn reports_all(&self) -> bool {
        self.json || self.html.is_some() || self.bless
    }
}

/// Replays inputs of all kinds.
struct ReplayWork<'a> {
    args: &'a Replay,
    source: &'a ModeSource,
    live: Option<&'a LiveProject>,
    /// The size of all inputs.
    total: u64,
}

impl InputReplayer for ReplayWork<'_> {
    fn replay(&self, input: &ReplayInput, collector: &mut ResultCollector<'_>) {
        if !self.args.bless {
            collector.file = read_expectations(input, collector);
        }
        match input.kind {
            InputKind::Journal => {
                let decider = self.journal_decider(input, collector.file.is_some());
                journal_follower::replay(input, decider, collector);
            }
            InputKind::Stream | InputKind::Transcript => stream::replay(input, self.source, self.live, collector),
            InputKind::Scenario => scenario_runner::replay(input, self.source, self.args.shell, collector),
            InputKind::Shard => merge::replay(input, collector),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "does I/O")]
    fn parts(&self, input: &ReplayInput) -> Vec<PartRange> {
        let share = self.total / (self.args.threads() as u64 * SHARES);
        let is_large = input.kind == InputKind::Journal && input.size > LARGE.max(share);
        if !is_large || self.args.reports_all() || input.expectation_file().exists() {
            return Vec::new();
        }
        journal_parts::parts(&input.files, PART).collect()
    }

    fn decider(&self, input: &ReplayInput) -> Option<LineDecider<'_>> {
        Some(self.journal_decider(input, false))
    }
}

impl ReplayWork<'_> {
    fn journal_decider(&self, input: &ReplayInput, is_expected: bool) -> LineDecider<'_> {
        let strict = self.args.strict || self.args.reports_all() || is_expected;
        let options = DeciderOptions { strict, shard: self.args.partition };
        LineDecider::new(self.source, self.source.of_file(input.main()), options)
    }
}

/// A sink and the file that it writes.
type NamedSink = (PathBuf, Box<dyn ReplaySink>);

/// Passes the messages of all inputs to the summary and the sinks.
struct Reporter<'a> {
    args: &'a Replay,
    sinks: Vec<NamedSink>,
    summary: ReplaySummary,
    bar: ProgressBar,
    errors: Vec<String>,
    /// Hashes of reported problems: with `--merge`, a problem of several shards is reported once.
    seen_problems: HashSet<u64>,
    /// The shards that were read; a complete one has its number.
    shards: Vec<(String, Option<Shard>)>,
}

impl Reporter<'_> {
    fn message(&mut self, input: &ReplayInput, message: ReplayMessage) {
        match message {
            ReplayMessage::Event(event) => {
                self.sinks.iter_mut().for_each(|(_, sink)| sink.event(input, &event));
                self.summary.event(event);
            }
            ReplayMessage::Problem(problem) => self.problem(problem),
            ReplayMessage::Skipped(first, count) => {
                self.sinks.iter_mut().for_each(|(_, sink)| sink.skipped(&first, count));
                self.summary.skipped(&first, count);
            }
            ReplayMessage::Shard(file, shard) => self.shards.push((file, shard)),
            ReplayMessage::Session { session, file, quiet } => {
                let errors = &mut self.errors;
                self.sinks.retain_mut(|(path, sink)| match sink.session_end(&session, &file, quiet) {
                    Ok(()) => true,
                    Err(error) => {
                        errors.push(unwritten(path, error));
                        false
                    }
                });
            }
            ReplayMessage::End(totals) => {
                if let Some(blessed) = &totals.blessed {
                    self.errors.extend(write_expectations(input, blessed).err());
                }
                self.summary.end(&totals);
                self.bar.inc(input.size);
            }
        }
    }

    fn problem(&mut self, problem: ReplayProblem) {
        if self.args.merge && !self.seen_problems.insert(hash(problem.to_string().as_bytes())) {
            return;
        }
        self.bar.suspend(|| print_error(problem.to_string()));
        self.sinks.iter_mut().for_each(|(_, sink)| sink.problem(&problem));
        self.summary.problem(problem);
    }

    /// Writes every report; returns whether all decisions are fine.
    fn close(mut self, source: &ModeSource) -> Result<bool, CliError> {
        self.bar.finish_and_clear();
        for problem in merge::shard_problems(&self.shards) {
            self.problem(problem);
        }
        let counts = &self.summary.counts;
        let no_shard = self.shards.iter().all(|(_, shard)| shard.is_none());
        if self.args.merge && counts.events == 0 && (counts.is_fine() || no_shard) {
            let error = no_input("nothing to merge: the files have no decisions");
            return Err(error.hint("pass the files that `modegate replay --json` wrote"));
        }
        let catalogue = source.catalogue();
        for (path, sink) in self.sinks {
            let closed = sink.close(&self.summary, catalogue);
            self.errors.extend(closed.err().map(|error| unwritten(&path, error)));
        }
        if !self.errors.is_empty() {
            return Err(CliError::failure(self.errors.join("\n")).exit(EXIT_UNWRITTEN));
        }
        // Expectations in the recordings themselves are not replaced by blessing.
        let counts = &self.summary.counts;
        Ok(counts.is_fine() || self.args.bless && counts.unmet == 0)
    }
}

/// A progress bar on a terminal.
fn progress_bar(inputs: &[ReplayInput]) -> ProgressBar {
    use std::io::IsTerminal;
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(inputs.iter().map(|input| input.size).sum());
    let style = ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes}, {eta} to go");
    style.map_or_else(|_| ProgressBar::hidden(), |style| bar.with_style(style))
}

/// Names the first files that are not recordings.
fn report_skipped(skipped: &[PathBuf]) {
    const NAMED: usize = 5;
    if skipped.is_empty() {
        return;
    }
    let names: Vec<String> = skipped.iter().take(NAMED).map(|path| path.display().to_string()).collect();
    let more = if skipped.len() > NAMED { format!(" and {} more", skipped.len() - NAMED) } else { String::new() };
    print_error(format!("skipped (not a recording): {}{more}", names.join(", ")));
}

/// Reads the expectation file of an input; one that cannot be read fails the replay.
fn read_expectations(input: &ReplayInput, collector: &mut ResultCollector) -> Option<ExpectationFile> {
    let path = input.expectation_file();
    let name = path.to_string_lossy();
    match crate::disk::read_text(&path, crate::disk::LARGEST) {
        Ok(text) => ExpectationFile::read(&text).map_err(|why| collector.unmet(&name, 0, why)).ok(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => {
            collector.unmet(&name, 0, format!("cannot read the file: {error}"));
            None
        }
    }
}

fn write_expectations(input: &ReplayInput, blessed: &ExpectationFile) -> Result<(), String> {
    let path = input.expectation_file();
    let written = crate::disk::write(&path, blessed.text().as_bytes(), crate::disk::LinkPolicy::Follow);
    written.map_err(|error| unwritten(&path, error))?;
    print_error(format!("wrote {} ({} of {} events listed)", path.display(), blessed.expect.len(), blessed.events));
    Ok(())
}
