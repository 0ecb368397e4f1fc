//! `modegate replay`: recorded sessions, decided again.

mod blocks;
mod crew;
mod docket;
mod inputs;
mod law;
mod lines;
mod report;
mod stage;
mod stream;
mod terminal;

use super::screen::{complain, fail, say};
use super::{FOUND, places};
use crate::replay::expect::Sidecar;
use clap::Args;
use docket::{Docket, Partition, Told, Wanted};
use inputs::{Found, Input, Source};
use law::Law;
use report::Report;
use std::path::PathBuf;
use std::process::ExitCode;
use stream::World;

/// A path that is not there, or has nothing to replay.
const NO_INPUT: u8 = 66;

/// Mode files that cannot be read.
const BAD_DATA: u8 = 65;

#[derive(Args)]
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
    /// Print one JSON object a decision
    #[arg(long)]
    json: bool,
    /// Take what comes of it as what is expected from now on: writes `NAME.expect.yaml` beside each recording
    #[arg(long)]
    bless: bool,
    /// Let scenarios run the programs that they name
    #[arg(long)]
    shell: bool,
    /// How many threads work [default: one for each core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

impl Replay {
    pub(super) fn run(self, project: Option<PathBuf>) -> ExitCode {
        match self.replay(project) {
            Ok(fine) => ExitCode::from(if fine { 0 } else { FOUND }),
            Err((code, text)) => {
                fail(&text, false);
                ExitCode::from(code)
            }
        }
    }

    fn replay(&self, project: Option<PathBuf>) -> Result<bool, (u8, String)> {
        let named = project.as_ref().map(|given| given.canonicalize().unwrap_or_else(|_| given.clone()));
        let here = places(project);
        let law = Law::new(self.modes.as_deref(), named.as_deref(), &here).map_err(|why| (NO_INPUT, why))?;
        if let Some(broken) = law.broken().first() {
            let hint = "run `modegate modes check` to see every problem at once";
            return Err((BAD_DATA, format!("{}\n  hint: {hint}", broken.summary())));
        }
        let found = self.found(&here.sessions())?;
        let mut report = Report::default();
        report.tally.problems += found.problems.len() as u64;
        found.problems.iter().for_each(|problem| complain(problem.to_string()));
        tell_others(&found.others);
        let world = named.map_or(World::Remembered, World::Project);
        let work = |input: &Input, docket: &mut Docket| {
            let expected = if self.bless { None } else { sidecar(input, docket) };
            match input.source {
                Source::Journal => lines::replay(input, &law, expected.as_ref(), docket),
                Source::Stream => stream::replay(input, &law, &world, expected.as_ref(), docket),
                Source::Transcript => {
                    stream::replay(input, &law, &World::Remembered, expected.as_ref(), docket);
                }
                Source::Scenario => stage::replay(input, &law, self.shell, expected.as_ref(), docket),
            }
            count(input, expected.as_ref(), docket);
        };
        let wanted = Wanted { json: self.json, notable: false, bless: self.bless, partition: self.partition };
        crew::run(&found.inputs, self.threads(&found.inputs), wanted, work, |input, told| match told {
            Told::Event(mut heard) => {
                if let Some(json) = heard.json.take().filter(|_| self.json) {
                    say(json);
                }
                report.event(heard);
            }
            Told::Problem(problem) => {
                if self.json {
                    say(serde_json::to_string(&problem).unwrap_or_default());
                }
                complain(problem.to_string());
            }
            Told::Skipped(first, count) => report.skipped(&first, count),
            Told::End(mut end) => {
                if let Some(blessed) = end.blessed.take() {
                    bless(input, &blessed);
                }
                report.end(&end);
            }
        });
        if !self.json {
            terminal::show(&report);
        }
        Ok(report.tally.is_fine() || self.bless)
    }

    fn found(&self, own: &std::path::Path) -> Result<Found, (u8, String)> {
        let paths = if self.paths.is_empty() { vec![own.to_owned()] } else { self.paths.clone() };
        let mut found = Found::in_all(&paths).map_err(|(path, error)| {
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

    fn threads(&self, inputs: &[Input]) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.unwrap_or_else(cores).clamp(1, inputs.len().max(1))
    }
}

/// Names the files that were passed over, if they are few.
fn tell_others(others: &[PathBuf]) {
    const NAMED: usize = 5;
    if others.is_empty() {
        return;
    }
    let names: Vec<String> = others.iter().take(NAMED).map(|path| path.display().to_string()).collect();
    let more = if others.len() > NAMED { format!(" and {} more", others.len() - NAMED) } else { String::new() };
    complain(format!("passed over, as no recordings: {}{more}", names.join(", ")));
}

/// What is expected of an input by the file beside it.
fn sidecar(input: &Input, docket: &mut Docket) -> Option<Sidecar> {
    let path = input.sidecar();
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => {
            docket.unmet(&path.to_string_lossy(), 0, format!("it cannot be read: {error}"));
            return None;
        }
    };
    // Expectations that cannot be read must not pass for none.
    Sidecar::read(&text).map_err(|why| docket.unmet(&path.to_string_lossy(), 0, why)).ok()
}

/// A recording from which events have gone is not the one that was blessed.
fn count(input: &Input, expected: Option<&Sidecar>, docket: &mut Docket) {
    let Some(expected) = expected.filter(|_| docket.wanted.partition.is_none()) else { return };
    if expected.events != docket.events() {
        let what = format!("{} events are expected, there are {}", expected.events, docket.events());
        docket.unmet(&input.main().to_string_lossy(), 0, what);
    }
}

fn bless(input: &Input, blessed: &Sidecar) {
    let path = input.sidecar();
    match crate::disk::rewrite(&path, blessed.text().as_bytes()) {
        Ok(()) => complain(format!(
            "wrote {}: {} of {} events are named",
            path.display(),
            blessed.expect.len(),
            blessed.events
        )),
        Err(error) => complain(format!("error: `{}` cannot be written: {error}", path.display())),
    }
}
