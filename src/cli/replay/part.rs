//! The parts that several runs have printed with `--json`, joined into one.

use super::blocks::{Lines, Piece};
use super::docket::{Docket, Partition};
use super::inputs::Input;
use super::lines::unreadable;
use crate::replay::problem::Problem;
use crate::replay::retrial::Retrial;
use serde::Deserialize;

/// A line of a part.
#[derive(Deserialize)]
#[serde(untagged)]
enum Told {
    Skipped { skipped: String, count: u64, file: String, line: u64 },
    Problem(Problem),
    End { end: Partition },
    Retrial(Box<Retrial>),
}

/// Tells again what a part tells.
pub(super) fn replay(input: &Input, docket: &mut Docket) {
    for path in &input.files {
        let file = path.to_string_lossy().into_owned();
        if let Err(error) = read(path, &file, docket) {
            docket.unmet(&file, 0, format!("it cannot be read: {error}"));
        }
    }
}

fn read(path: &std::path::Path, file: &str, docket: &mut Docket) -> std::io::Result<()> {
    let mut lines = Lines::open(path)?;
    let mut part = None;
    while let Some(piece) = lines.next()? {
        let (number, bytes, whole) = match piece {
            Piece::Line { number, bytes, whole } => (number, bytes, whole),
            Piece::TooLong { number, .. } => {
                // A decision that is left out must not pass for one that is fine.
                docket.unmet(file, number, "the line is too long to be read");
                continue;
            }
        };
        match serde_json::from_slice::<Told>(bytes) {
            Ok(Told::Retrial(retrial)) if !retrial.kind.is_empty() => docket.retold(*retrial),
            Ok(Told::Problem(problem)) if problem.unmet => docket.unmet(&problem.file, problem.line, problem.what),
            Ok(Told::Problem(problem)) => docket.problem(&problem.file, problem.line, problem.what),
            Ok(Told::End { end }) => part = Some(end),
            Ok(Told::Skipped { skipped, count, file, line }) => docket.skipped(&file, line, skipped, count),
            Ok(Told::Retrial(_)) => docket.unmet(file, number, "this is no decision of `modegate replay --json`"),
            Err(error) => docket.unmet(file, number, unreadable(&error, whole)),
        }
    }
    docket.part(file, part);
    Ok(())
}
