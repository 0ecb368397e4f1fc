//! `modegate replay`: recorded sessions, decided again.

mod collector;
mod html_data;
mod inputs;
mod journal_reader;
mod line_reader;
mod merge;
mod mode_source;
mod outputs;
mod scenario_runner;
mod stream;
mod summary;
mod terminal;
mod workers;

use super::screen::{print_error, print_failure, print_line};
use super::{EXIT_FAILURE, places};
use crate::paths::hash;
use crate::replay::expectation::ExpectationFile;
use crate::replay::problem::ReplayProblem;
use clap::Args;
use collector::{CollectorOptions, InputTotals, Partition, ReplayMessage, ReportedEvent, ResultCollector};
use indicatif::{ProgressBar, ProgressStyle};
use inputs::{FoundInputs, InputKind, ReplayInput};
use mode_source::ModeSource;
use outputs::Outputs;
use serde_json::json;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use stream::FactsFrom;
use summary::ReplaySummary;

/// A path that is not there, or has nothing to replay.
const NO_INPUT: u8 = 66;

/// Mode files that cannot be read.
const BAD_DATA: u8 = 65;

/// A file that cannot be written.
const NO_OUTPUT: u8 = 73;

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(super) struct Replay {
    /// Journals, recordings, event streams, transcripts, scenarios, or folders of them [default: this project's journals]
    paths: Vec<PathBuf>,
    /// The modes that decide: a folder of mode files, a project, or `recorded` for those that a recording carries
    /// [default: the project's; where it has none of its own, the recorded ones]
    #[arg(long, value_name = "DIR")]
    modes: Option<PathBuf>,
    /// Only the sessions that were written last
    #[arg(long, value_name = "N")]
    last: Option<usize>,
    /// Only one part of so many; which sessions are in it hangs on their ids alone
    #[arg(long, value_name = "K/N")]
    partition: Option<Partition>,
    /// Join what runs with `--json` have printed: PATHS are their output
    #[arg(long, conflicts_with_all = ["modes", "last", "partition", "bless"], requires = "paths")]
    merge: bool,
    /// Print one JSON object a decision
    #[arg(long)]
    json: bool,
    /// Write a test report: a suite a session
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write a SARIF report, for code scanning
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Write a page to look at, all in one file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Take what comes of it as what is expected from now on: writes `NAME.expect.yaml` beside each recording
    #[arg(long, conflicts_with = "partition")]
    bless: bool,
    /// Let scenarios run the programs that they name, and gates those that they ask
    #[arg(long)]
    shell: bool,
    /// How many threads work [default: one for each core; one in the static binary]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

/// An exit code, and what is told with it.
type Failure = (u8, String);

impl Replay {
    pub(super) fn run(self, project: Option<PathBuf>) -> ExitCode {
        match self.replay(project) {
            Ok(fine) => ExitCode::from(if fine { 0 } else { EXIT_FAILURE }),
            Err((code, text)) => {
                print_failure(&text, false);
                ExitCode::from(code)
            }
        }
    }

    fn replay(&self, project: Option<PathBuf>) -> Result<bool, Failure> {
        let named = project.as_ref().map(|given| given.canonicalize().unwrap_or_else(|_| given.clone()));
        let here = places(project);
        let modes = ModeSource::new(self.modes.as_deref(), named.as_deref(), &here).map_err(|why| (NO_INPUT, why))?;
        if let Some(broken) = modes.broken().first() {
            return Err((BAD_DATA, broken.summary()));
        }
        let found = self.found(&here.sessions())?;
        let outputs = Outputs::open(self.junit.as_deref(), self.sarif.as_deref(), self.html.as_deref());
        let mut reporter = Reporter {
            given: self,
            outputs: outputs.map_err(|why| (NO_OUTPUT, why))?,
            report: ReplaySummary::default(),
            bar: bar(&found.inputs),
            troubles: Vec::new(),
            told: HashSet::new(),
            parts: Vec::new(),
        };
        tell_others(&found.others);
        found.problems.iter().for_each(|problem| reporter.problem(problem.clone()));
        let world = named.map_or(FactsFrom::InferredFacts, |home| FactsFrom::Project(home, self.shell));
        let work = |input: &ReplayInput, collector: &mut ResultCollector| self.work(input, &modes, &world, collector);
        let wanted = CollectorOptions {
            json: self.json || reporter.outputs.want_all(),
            notable: reporter.outputs.want_notable(),
            bless: self.bless,
            partition: self.partition,
        };
        workers::run(&found.inputs, self.threads(&found.inputs), wanted, work, |input, told| {
            reporter.hear(input, told)
        });
        reporter.close(&modes)
    }

    fn work(&self, input: &ReplayInput, modes: &ModeSource, world: &FactsFrom, collector: &mut ResultCollector) {
        let expected = if self.bless { None } else { sidecar(input, collector) };
        collector.expect(expected);
        match input.source {
            InputKind::Journal => journal_reader::replay(input, modes, collector),
            InputKind::Stream => stream::replay(input, modes, world, collector),
            InputKind::Transcript => stream::replay(input, modes, &FactsFrom::InferredFacts, collector),
            InputKind::Scenario => scenario_runner::replay(input, modes, self.shell, collector),
            InputKind::Part => merge::replay(input, collector),
        }
    }

    fn found(&self, own: &Path) -> Result<FoundInputs, Failure> {
        let paths = if self.paths.is_empty() { vec![own.to_owned()] } else { self.paths.clone() };
        let found = if self.merge { FoundInputs::parts(&paths) } else { FoundInputs::in_all(&paths) };
        let mut found = found.map_err(|(path, error)| {
            let hint = if self.paths.is_empty() {
                "\n  hint: no session was recorded here yet; name a file or a folder"
            } else {
                ""
            };
            (NO_INPUT, format!("`{}` cannot be read: {error}{hint}", path.display()))
        })?;
        if let Some(last) = self.last {
            found.keep_last(last);
        }
        if found.inputs.is_empty() {
            let problems: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
            let named: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            let why = if problems.is_empty() { String::new() } else { format!(": {}", problems.join("; ")) };
            return Err((NO_INPUT, format!("there is nothing to replay in {}{why}", named.join(", "))));
        }
        Ok(found)
    }

    fn threads(&self, inputs: &[ReplayInput]) -> usize {
        // The allocator of the static binary has one lock for all threads: two would wait for each other.
        let alone = cfg!(target_env = "musl");
        let cores = || if alone { 1 } else { std::thread::available_parallelism().map_or(1, usize::from) };
        self.threads.unwrap_or_else(cores).clamp(1, inputs.len().max(1))
    }
}

/// CaseLocation everything that is told comes together.
struct Reporter<'a> {
    given: &'a Replay,
    outputs: Outputs,
    report: ReplaySummary,
    bar: ProgressBar,
    troubles: Vec<String>,
    /// Problems of parts: what several of them have come across is one.
    told: HashSet<u64>,
    /// The parts that were read, each with the mark at its end.
    parts: Vec<(String, Option<Partition>)>,
}

impl Reporter<'_> {
    fn hear(&mut self, input: &ReplayInput, told: ReplayMessage) {
        match told {
            ReplayMessage::Event(heard) => self.event(input, heard),
            ReplayMessage::ReplayProblem(problem) => self.problem(problem),
            ReplayMessage::Skipped(first, count) => {
                if self.given.json {
                    let ReplayProblem { file, line, what, .. } = &first;
                    print_line(json!({"skipped": what, "count": count, "file": file, "line": line}).to_string());
                }
                self.report.skipped(&first, count);
            }
            ReplayMessage::Part(file, part) => self.parts.push((file, part)),
            ReplayMessage::Session { session, file, quiet } => self.outputs.end(session, file, quiet),
            ReplayMessage::InputTotals(end) => self.end(input, *end),
        }
    }

    fn event(&mut self, input: &ReplayInput, heard: ReportedEvent) {
        if let Some(json) = heard.json.as_ref().filter(|_| self.given.json) {
            print_line(json);
        }
        self.outputs.event(input, &heard);
        self.report.event(heard);
    }

    fn problem(&mut self, problem: ReplayProblem) {
        if self.given.merge && !self.told.insert(hash(problem.to_string().as_bytes())) {
            return;
        }
        if self.given.json {
            print_line(serde_json::to_string(&problem).unwrap_or_default());
        }
        self.bar.suspend(|| print_error(problem.to_string()));
        self.outputs.problem(&problem);
        self.report.problem(problem);
    }

    fn end(&mut self, input: &ReplayInput, mut end: InputTotals) {
        if let Some(blessed) = end.blessed.take() {
            self.troubles.extend(bless(input, &blessed).err());
        }
        self.report.end(&end);
        self.bar.inc(input.size);
    }

    fn close(mut self, modes: &ModeSource) -> Result<bool, Failure> {
        self.bar.finish_and_clear();
        for problem in missing_parts(&self.parts) {
            self.problem(problem);
        }
        if let Some(part) = self.given.partition.filter(|_| self.given.json) {
            print_line(json!({"end": part}).to_string());
        }
        if self.given.merge && self.report.counts.events == 0 && self.report.counts.is_fine() {
            return Err((NO_INPUT, "the parts have no decision at all".to_owned()));
        }
        let catalogue = modes.catalogue();
        if !self.given.json {
            terminal::show(&self.report);
        }
        outputs::tell_github(&self.report, &catalogue, self.given.json);
        self.troubles.extend(self.outputs.close(&self.report, &catalogue));
        if !self.troubles.is_empty() {
            return Err((NO_OUTPUT, self.troubles.join("\n")));
        }
        // What stands in the recordings themselves is not blessed.
        Ok(self.report.counts.is_fine() || self.given.bless && self.report.counts.unmet == 0)
    }
}

/// A part that is not there, or was cut off, must not pass for one in which nothing was found.
fn missing_parts(parts: &[(String, Option<Partition>)]) -> Vec<ReplayProblem> {
    let unmet = |file: &str, what: String| ReplayProblem { unmet: true, ..ReplayProblem::new(file, 0, what) };
    let marks: BTreeSet<Partition> = parts.iter().filter_map(|(_, part)| *part).collect();
    let Some(of) = marks.iter().map(|part| part.of).max() else { return Vec::new() };
    let cut = parts.iter().filter(|(_, part)| part.is_none());
    let cut = cut.map(|(file, _)| unmet(file, "it has no end: the run that wrote it did not finish".to_owned()));
    let gone = (1..=of).filter(|part| !marks.contains(&Partition { part: *part, of }));
    let gone = gone.map(|part| unmet("--merge", format!("part {part} of {of} is missing")));
    let other = parts.iter().filter(|(_, part)| part.is_some_and(|part| part.of != of));
    let other = other.map(|(file, _)| unmet(file, format!("it is no part of {of}")));
    let mut seen = BTreeSet::new();
    let twice = parts.iter().filter(|(_, part)| part.is_some_and(|part| !seen.insert(part)));
    let twice: Vec<ReplayProblem> = twice.map(|(file, _)| unmet(file, "this part is there twice".to_owned())).collect();
    cut.chain(gone).chain(other).chain(twice).collect()
}

/// Shows how far the work is, where somebody looks on and it takes a while.
fn bar(inputs: &[ReplayInput]) -> ProgressBar {
    use std::io::IsTerminal;
    let size = inputs.iter().map(|input| input.size).sum();
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(size);
    let style = ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes}, {eta} to go");
    style.map_or_else(|_| ProgressBar::hidden(), |style| bar.with_style(style))
}

/// Names the files that were passed over, if they are few.
fn tell_others(others: &[PathBuf]) {
    const NAMED: usize = 5;
    if others.is_empty() {
        return;
    }
    let names: Vec<String> = others.iter().take(NAMED).map(|path| path.display().to_string()).collect();
    let more = if others.len() > NAMED { format!(" and {} more", others.len() - NAMED) } else { String::new() };
    print_error(format!("passed over, as no recordings: {}{more}", names.join(", ")));
}

/// What is expected of an input by the file beside it.
fn sidecar(input: &ReplayInput, collector: &mut ResultCollector) -> Option<ExpectationFile> {
    let path = input.sidecar();
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => {
            collector.unmet(&path.to_string_lossy(), 0, format!("it cannot be read: {error}"));
            return None;
        }
    };
    // Expectations that cannot be read must not pass for none.
    ExpectationFile::read(&text).map_err(|why| collector.unmet(&path.to_string_lossy(), 0, why)).ok()
}

fn bless(input: &ReplayInput, blessed: &ExpectationFile) -> Result<(), String> {
    let path = input.sidecar();
    let wrong = |error| format!("`{}` cannot be written: {error}", path.display());
    crate::disk::write(&path, blessed.text().as_bytes(), crate::disk::LinkPolicy::Follow).map_err(wrong)?;
    print_error(format!("wrote {}: {} of {} events are named", path.display(), blessed.expect.len(), blessed.events));
    Ok(())
}
