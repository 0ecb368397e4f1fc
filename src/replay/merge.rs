//! Reads what several runs printed with `--json`, to report them as one.

use crate::replay::collector::{ReplayMessage, ResultCollector, Shard};
use crate::replay::inputs::ReplayInput;
use crate::replay::journal::unreadable;
use crate::replay::line_reader::{LineReader, RawLine};
use crate::replay::result::{ReplayProblem, ReplayResult};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;

#[derive(Deserialize)]
#[serde(untagged)]
enum ShardLine {
    Skipped { file: String, line: u64, skipped: String, count: u64 },
    Problem(ReplayProblem),
    End { end: Shard },
    Result(Box<ReplayResult>),
}

pub(crate) fn replay(input: &ReplayInput, collector: &mut ResultCollector) {
    for path in &input.files {
        let file = path.to_string_lossy().into_owned();
        if let Err(error) = read_shard(path, &file, collector) {
            collector.unmet(&file, 0, format!("cannot read the file: {error}"));
        }
    }
}

/// A line that cannot be read fails the replay: it may be a failing decision.
fn read_shard(path: &Path, file: &str, collector: &mut ResultCollector) -> std::io::Result<()> {
    let mut shard = None;
    let mut lines = LineReader::open(path)?;
    while let Some(RawLine { number, bytes, is_complete }) = lines.next_line()? {
        let Ok(bytes) = bytes.map_err(|too_long| collector.unmet(file, number, too_long)) else { continue };
        match serde_json::from_slice(bytes) {
            Ok(ShardLine::Skipped { file, line, skipped, count }) => {
                collector.push(ReplayMessage::Skipped(ReplayProblem::new(file, line, skipped), count));
            }
            Ok(ShardLine::Problem(problem)) => collector.push(ReplayMessage::Problem(problem)),
            Ok(ShardLine::End { end }) => shard = Some(end),
            Ok(ShardLine::Result(result)) if !result.event.kind.is_empty() => collector.result(*result),
            Ok(_) => collector.unmet(file, number, "this is not a decision of `modegate replay --json`"),
            Err(error) => collector.unmet(file, number, unreadable(&error, is_complete)),
        }
    }
    collector.push(ReplayMessage::Shard(file.to_owned(), shard));
    Ok(())
}

/// Finds shards that are missing, incomplete or there twice: none of them may pass as one without failures.
pub(crate) fn shard_problems(shards: &[(String, Option<Shard>)]) -> Vec<ReplayProblem> {
    let found: BTreeSet<Shard> = shards.iter().filter_map(|(_, shard)| *shard).collect();
    let Some(of) = found.iter().map(|shard| shard.of).max() else { return Vec::new() };
    let mut seen = BTreeSet::new();
    let wrong = shards.iter().filter_map(|(file, shard)| {
        let what = match shard {
            None => "the output is incomplete: the run that wrote it did not finish".to_owned(),
            Some(shard) if shard.of != of => format!("this is not a shard of {of}"),
            Some(shard) if !seen.insert(*shard) => "this shard is there twice".to_owned(),
            Some(_) => return None,
        };
        Some(ReplayProblem::unmet(file, 0, what))
    });
    let missing = (1..=of).filter(|number| !found.contains(&Shard { number: *number, of }));
    let missing =
        missing.map(|number| ReplayProblem::unmet("--merge", 0, format!("shard {number} of {of} is missing")));
    wrong.chain(missing).collect()
}
