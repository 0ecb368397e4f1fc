//! The parts that several runs have printed with `--json`, joined into one.

use super::collector::{Partition, ResultCollector};
use super::inputs::ReplayInput;
use super::journal_reader::unreadable;
use super::line_reader::{LineReader, RawLine};
use crate::replay::problem::ReplayProblem;
use crate::replay::result::ReplayResult;
use serde::Deserialize;

/// A line of a part.
#[derive(Deserialize)]
#[serde(untagged)]
enum ShardLine {
    Skipped { skipped: String, count: u64, file: String, line: u64 },
    ReplayProblem(ReplayProblem),
    InputTotals { end: Partition },
    ReplayResult(Box<ReplayResult>),
}

/// Tells again what a part tells.
pub(super) fn replay(input: &ReplayInput, collector: &mut ResultCollector) {
    for path in &input.files {
        let file = path.to_string_lossy().into_owned();
        if let Err(error) = read(path, &file, collector) {
            collector.unmet(&file, 0, format!("it cannot be read: {error}"));
        }
    }
}

fn read(path: &std::path::Path, file: &str, collector: &mut ResultCollector) -> std::io::Result<()> {
    let mut lines = LineReader::open(path)?;
    let mut part = None;
    while let Some(piece) = lines.next()? {
        let (number, bytes, whole) = match piece {
            RawLine::Line { number, bytes, whole } => (number, bytes, whole),
            RawLine::TooLong { number, .. } => {
                // A decision that is left out must not pass for one that is fine.
                collector.unmet(file, number, "the line is too long to be read");
                continue;
            }
        };
        match serde_json::from_slice::<ShardLine>(bytes) {
            Ok(ShardLine::ReplayResult(result)) if !result.kind.is_empty() => collector.retold(*result),
            Ok(ShardLine::ReplayProblem(problem)) if problem.unmet => {
                collector.unmet(&problem.file, problem.line, problem.what)
            }
            Ok(ShardLine::ReplayProblem(problem)) => collector.problem(&problem.file, problem.line, problem.what),
            Ok(ShardLine::InputTotals { end }) => part = Some(end),
            Ok(ShardLine::Skipped { skipped, count, file, line }) => collector.skipped(&file, line, skipped, count),
            Ok(ShardLine::ReplayResult(_)) => {
                collector.unmet(file, number, "this is no decision of `modegate replay --json`")
            }
            Err(error) => collector.unmet(file, number, unreadable(&error, whole)),
        }
    }
    collector.part(file, part);
    Ok(())
}
