//! `modegate replay`: decides recorded sessions again.

use crate::host::paths::ProjectPaths;
use crate::policy::mode::TrustState;
use crate::replay::collector::{CollectorOptions, ReplayMessage, ResultCollector, Shard};
use crate::replay::expectation::ExpectationFile;
use crate::replay::inputs::{FoundInputs, InputKind, ReplayInput, copies};
use crate::replay::mode_source::ModeSource;
use crate::replay::report::Reporter;
use crate::replay::result::ReplayProblem;
use crate::replay::scenario::runner;
use crate::replay::stream::{self, AcceptedHashes, LiveProject};
use crate::replay::{journal, merge, threads};
use crate::state::mode_cache;
use crate::state::trust;
use crate::state::user_folder::project_paths;
use base::cli_error::CliError;
use base::screen::print_error;
use clap::Args;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

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
    /// Number of threads [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = whole_number)]
    pub(crate) threads: Option<usize>,
}

const EXIT_BAD_MODES: u8 = 65;

/// The exit code for inputs that do not exist or have nothing to replay.
pub(crate) const EXIT_NO_INPUT: u8 = 66;

pub(crate) const EXIT_UNWRITTEN: u8 = 73;

fn whole_number(text: &str) -> Result<usize, &'static str> {
    text.parse().map_err(|_| "expected a whole number, such as 5")
}

pub(crate) fn no_input(message: impl Into<String>) -> CliError {
    CliError::failure(message).exit(EXIT_NO_INPUT)
}

impl ReplayCommand {
    /// Replays the inputs and writes the reports; returns whether all decisions are fine.
    #[expect(clippy::disallowed_methods, reason = "does I/O")]
    pub(crate) fn run(&self, here: &ProjectPaths, project: Option<PathBuf>) -> Result<bool, CliError> {
        let named = project.map(|given| given.canonicalize().unwrap_or(given));
        let source = ModeSource::new(self.modes.as_deref(), named.as_deref(), here)?;
        if let Some(broken) = source.broken() {
            return Err(CliError::failure(broken.summary()).exit(EXIT_BAD_MODES));
        }
        let accepted = self.require_trust(here)?;
        let found = self.find_inputs(here)?;
        let mut reporter = Reporter::new(self, &found.inputs)?;
        report_skipped(&found.skipped);
        found.problems.into_iter().for_each(|problem| reporter.problem(problem));
        let live = named.map(|home| LiveProject { home, shell: self.shell, accepted });
        let replay = |input: &ReplayInput, send: &mut dyn FnMut(ReplayMessage)| {
            self.replay(input, &source, live.as_ref(), send);
        };
        threads::replay_all(&found.inputs, self.threads(), replay, |input, message| reporter.message(input, message));
        reporter.close(&source)
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

    fn find_inputs(&self, here: &ProjectPaths) -> Result<FoundInputs, CliError> {
        let paths = if self.paths.is_empty() { vec![here.sessions()] } else { self.paths.clone() };
        let mut found = FoundInputs::in_all(&paths, self.merge).map_err(|(path, error)| {
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

    fn threads(&self) -> usize {
        // In the static program, threads would wait for each other at the allocator's lock.
        let cores =
            || if cfg!(target_env = "musl") { Ok(1) } else { std::thread::available_parallelism().map(usize::from) };
        self.threads.or_else(|| cores().ok()).unwrap_or(1)
    }

    /// Replays an input, and calls `send` with what it finds.
    fn replay(
        &self,
        input: &ReplayInput,
        source: &ModeSource,
        live: Option<&LiveProject>,
        send: &mut dyn FnMut(ReplayMessage),
    ) {
        let options = CollectorOptions {
            json: self.json || self.html.is_some(),
            notable: self.junit.is_some() || self.markdown.is_some(),
            bless: self.bless,
            shard: self.partition,
        };
        let mut collector = ResultCollector::new(options, send);
        if !self.bless {
            let path = input.expectation_file();
            match ExpectationFile::from_path(&path) {
                Ok(file) => collector.file = file,
                Err(why) => collector.unmet(&path.to_string_lossy(), 0, why),
            }
        }
        match input.kind {
            InputKind::Journal => journal::replay(input, source, &mut collector),
            InputKind::Stream | InputKind::Transcript => stream::replay(input, source, live, &mut collector),
            InputKind::Scenario => runner::replay(input, source, self.shell, &mut collector),
            InputKind::Shard => merge::replay(input, &mut collector),
        }
        collector.close(&input.main().to_string_lossy());
    }
}

fn report_skipped(skipped: &[PathBuf]) {
    const NAMED: usize = 5;
    if skipped.is_empty() {
        return;
    }
    let names: Vec<String> = skipped.iter().take(NAMED).map(|path| path.display().to_string()).collect();
    let more = if skipped.len() > NAMED { format!(" and {} more", skipped.len() - NAMED) } else { String::new() };
    print_error(format!("skipped (not a recording): {}{more}", names.join(", ")));
}
