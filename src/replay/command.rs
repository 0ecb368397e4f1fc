//! `modegate replay`: decides recorded sessions again.
//!
//! Readers turn each input into decided cases, a [`ResultCollector`] compares them with their expectations, and
//! the [`Reporter`] passes the results to every output in the order of the inputs.

use crate::cli::cli_error::CliError;
use crate::cli::screen::print_error;
use crate::cli::session_lookup::find_session;
use crate::cli::{CliResult, EXIT_FAILURE, places};
use crate::mode::TrustState;
use crate::mode_cache;
use crate::paths::ProjectPaths;
use crate::replay::collector::{CollectorOptions, ResultCollector, Shard};
use crate::replay::expectation::ExpectationFile;
use crate::replay::inputs::copies;
use crate::replay::inputs::{FoundInputs, InputKind, ReplayInput};
use crate::replay::journal::line_decider::LineDecider;
use crate::replay::line_reader::{PART, PartRange};
use crate::replay::mode_source::ModeSource;
use crate::replay::report::Reporter;
use crate::replay::result::ReplayProblem;
use crate::replay::scenario::runner as scenario_runner;
use crate::replay::stream::{AcceptedHashes, LiveProject};
use crate::replay::workers::InputReplayer;
use crate::replay::{journal, line_reader, merge, stream, worker_process, workers};
use crate::trust;
use crate::user_folder::project_paths;
use clap::Args;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Re-evaluates recorded sessions and reports what changed
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[command(after_help = "Examples:
  modegate replay                            Replay the journals of this project with its current modes
  modegate replay --last 5 --html out.html   Write an HTML report on the last five sessions
  modegate replay recordings --modes draft   Try the mode files in draft/ on recordings
  modegate replay plan.scenario.yaml         Run a scenario with the modes of this project

Exit codes: 0 all decisions are as recorded or expected, 1 at least one is not, 65 a mode file is invalid,
66 there is nothing to replay, 70 modegate crashed, 73 a report cannot be written.")]
pub(crate) struct ReplayCommand {
    /// Journals, recordings, event streams, transcripts, scenarios, or folders of them [default: this project's journals]
    pub(crate) paths: Vec<PathBuf>,
    /// Use the modes in DIR (a project or a folder of mode files), or `recorded` for those stored in the recording
    /// [default: the project's modes; without any, the recorded ones]
    #[arg(long, value_name = "DIR")]
    pub(crate) modes: Option<PathBuf>,
    /// Replay only the N most recent sessions
    #[arg(long, value_name = "N", value_parser = whole_number)]
    pub(crate) last: Option<usize>,
    /// Run only shard K of N; sessions are assigned by a hash of their id
    #[arg(long, value_name = "K/N")]
    pub(crate) partition: Option<Shard>,
    /// Merge the `--json` output of several shards; PATHS are the output files
    #[arg(long, conflicts_with_all = ["modes", "last", "partition", "bless"], requires = "paths")]
    pub(crate) merge: bool,
    /// Print one JSON object per decision
    #[arg(long)]
    pub(crate) json: bool,
    #[arg(long, value_name = "FILE", help = "Write a JUnit report with one test suite per session")]
    pub(crate) junit: Option<PathBuf>,
    /// Write a SARIF report for code scanning
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,
    /// Write a Markdown summary of the decisions that differ, for a comment on a pull request
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Write a self-contained HTML report
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Accept the current decisions as expected; writes NAME.expect.yaml next to each recording
    #[arg(long, conflicts_with = "partition")]
    pub(crate) bless: bool,
    /// Allow scenarios and gates to run programs
    #[arg(long)]
    pub(crate) shell: bool,
    /// With `--shell`, also run programs of projects that you have not trusted
    #[arg(long, requires = "shell")]
    pub(crate) trust: bool,
    /// Decide every line in full, even if it matches an earlier one
    #[arg(long)]
    pub(crate) strict: bool,
    /// Number of worker processes; with 1, there are none [default: the number of cores if there is enough to do]
    #[arg(long, value_name = "N", value_parser = whole_number)]
    pub(crate) threads: Option<usize>,
}

/// The size of the parts of a journal that is divided among workers.
const WORKER_PART: u64 = 4 * PART;

/// Larger journals may be divided.
const LARGE: u64 = 2 * WORKER_PART;

/// A journal is divided if it has more than a worker's share of all inputs, divided by this.
const SHARES: u64 = 4;

/// The size of journals that are worth workers, which take five milliseconds to start.
const ENOUGH: u64 = 24 * 1024 * 1024;

/// How much more an event takes that is decided in full.
const FULL: u64 = 16;

/// What a scenario is worth, in the size of a journal.
const SCENARIO: u64 = 4 * 1024 * 1024;

/// The exit code for a mode file that is invalid.
const EXIT_BAD_MODES: u8 = 65;

/// The exit code for inputs that do not exist or have nothing to replay.
const EXIT_NO_INPUT: u8 = 66;

/// The exit code for a report that cannot be written.
pub(crate) const EXIT_UNWRITTEN: u8 = 73;

fn whole_number(text: &str) -> Result<usize, &'static str> {
    text.parse().map_err(|_| "expected a whole number, such as 5")
}

pub(crate) fn no_input(message: impl Into<String>) -> CliError {
    CliError::failure(message).exit(EXIT_NO_INPUT)
}

impl ReplayCommand {
    pub(crate) fn run(self, project: Option<PathBuf>) -> CliResult {
        let here = places(project.clone());
        let (source, named) = mode_source(self.modes.as_deref(), project.as_deref(), &here)?;
        if let Some(broken) = source.broken().first() {
            return Err(CliError::failure(broken.summary()).exit(EXIT_BAD_MODES));
        }
        let accepted = self.require_trust(&here)?;
        let found = self.found(&here)?;
        let mut reporter = Reporter::new(&self, &found.inputs)?;
        report_skipped(&found.skipped);
        found.problems.into_iter().for_each(|problem| reporter.problem(problem));
        let live = named.map(|home| LiveProject { home, shell: self.shell, accepted });
        let total = found.inputs.iter().map(|input| input.size).sum();
        let options = CollectorOptions {
            json: self.json || self.html.is_some(),
            notable: self.junit.is_some() || self.markdown.is_some(),
            bless: self.bless,
            shard: self.partition,
        };
        let (modes, strict, shell) = (self.modes.clone(), self.strict, self.shell);
        let work = ReplayWork { source, setup: WorkSetup { project, modes, live, options, strict, shell, total } };
        let count = self.workers(&found.inputs, &work);
        let workers = if count > 1 { worker_process::start(count, &work) } else { Vec::new() };
        workers::run(&found.inputs, workers, options, &work, |input, message| reporter.message(input, message));
        let fine = reporter.close(&work.source)?;
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
            let none = "no session was recorded here yet; name a file or a folder";
            let other = "name a journal, a recording, a scenario or a folder of them; `modegate log --path` prints a journal's path";
            error.hint(if self.paths.is_empty() { none } else { other })
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

    /// The number of worker processes that are worth starting.
    fn workers(&self, inputs: &[ReplayInput], work: &ReplayWork) -> usize {
        // Merging and blessing write what they read.
        if self.merge || self.bless {
            return 1;
        }
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let is_enough = || inputs.iter().map(|input| work.effort(input)).sum::<u64>() >= ENOUGH;
        let most = self.threads.unwrap_or_else(|| if is_enough() { cores() } else { 1 });
        let jobs = || inputs.iter().map(|input| work.parts(input, most).len()).sum();
        if inputs.len() < most { most.min(jobs()) } else { most }
    }
}

/// Reads the modes of `--modes`, or of the project; also returns the path of a project that was named.
#[expect(clippy::disallowed_methods, reason = "does I/O")]
fn mode_source(
    modes: Option<&Path>,
    project: Option<&Path>,
    here: &ProjectPaths,
) -> Result<(ModeSource, Option<PathBuf>), CliError> {
    let named = project.map(|given| given.canonicalize().unwrap_or_else(|_| given.to_owned()));
    Ok((ModeSource::new(modes, named.as_deref(), here)?, named))
}

/// What decides the inputs, in this process or in workers.
pub(crate) struct ReplayWork {
    pub(crate) source: ModeSource,
    pub(crate) setup: WorkSetup,
}

/// What a worker needs to do the same as the process that starts it.
#[derive(Serialize, Deserialize)]
pub(crate) struct WorkSetup {
    /// The value of `--project`.
    project: Option<PathBuf>,
    /// The value of `--modes`.
    modes: Option<PathBuf>,
    live: Option<LiveProject>,
    pub(crate) options: CollectorOptions,
    /// Whether every line is decided in full.
    strict: bool,
    /// Whether scenarios may run programs.
    shell: bool,
    /// The size of all inputs.
    total: u64,
}

impl InputReplayer for ReplayWork {
    fn replay(&self, input: &ReplayInput, collector: &mut ResultCollector<'_>) {
        if !self.setup.options.bless {
            collector.file = read_expectations(input, collector);
        }
        match input.kind {
            InputKind::Journal => {
                let decider = self.journal_decider(input, collector.file.is_some());
                journal::replay(input, decider, collector);
            }
            InputKind::Stream | InputKind::Transcript => {
                stream::replay(input, &self.source, self.setup.live.as_ref(), collector);
            }
            InputKind::Scenario => scenario_runner::replay(input, &self.source, self.setup.shell, collector),
            InputKind::Shard => merge::replay(input, collector),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "does I/O")]
    fn parts(&self, input: &ReplayInput, workers: usize) -> Vec<Option<PartRange>> {
        let share = self.setup.total / (workers as u64 * SHARES).max(1);
        let is_large = input.kind == InputKind::Journal && input.size > LARGE.max(share);
        if workers < 2 || !is_large || self.reports_all() || input.expectation_file().exists() {
            return vec![None];
        }
        line_reader::parts(&input.files, WORKER_PART).map(Some).collect()
    }

    fn decider(&self, input: &ReplayInput) -> Option<LineDecider<'_>> {
        Some(self.journal_decider(input, false))
    }
}

impl ReplayWork {
    /// The work of a worker.
    pub(crate) fn new(setup: WorkSetup) -> Result<Self, CliError> {
        let here = places(setup.project.clone());
        let (source, _) = mode_source(setup.modes.as_deref(), setup.project.as_deref(), &here)?;
        Ok(Self { source, setup })
    }

    /// Whether a sink needs every event, not only those that differ.
    fn reports_all(&self) -> bool {
        self.setup.options.json || self.setup.options.bless
    }

    fn journal_decider(&self, input: &ReplayInput, is_expected: bool) -> LineDecider<'_> {
        let strict = self.setup.strict || self.reports_all() || is_expected;
        LineDecider::new(&self.source, self.source.of_file(input.main()), strict, self.setup.options)
    }

    /// How much work an input is, as the size of a journal.
    fn effort(&self, input: &ReplayInput) -> u64 {
        match input.kind {
            InputKind::Journal if !self.setup.strict && !self.reports_all() => input.size,
            InputKind::Scenario => SCENARIO,
            _ => input.size * FULL,
        }
    }
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
