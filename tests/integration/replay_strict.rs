//! `replay` takes the decision of an earlier line where nothing differs that a decision reads; `replay --strict` decides
//! every line. Both find the same, whatever was changed in a line.

use crate::project::{CommandOutput, Project};
use modegate::internals::{DecisionChange, Header, RecordedLine, Redecision};
use modegate::{Catalogue, Verdict};
use std::path::Path;

/// Numbers that look random and are always the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit.max(1)
    }
}

/// The recordings in `fixtures/recordings`: the header and the lines of each.
fn recordings() -> Vec<(String, Vec<String>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recordings");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    paths.sort();
    let recording = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let mut lines = text.lines().map(str::to_owned);
        (lines.next().unwrap(), lines.collect())
    };
    paths.iter().map(recording).collect()
}

/// Changes one place of a line.
fn changed(line: &[u8], at: usize, how: usize) -> Vec<u8> {
    const BYTES: [u8; 8] = [b'"', b'\\', b'0', b'x', b'}', b'\n', 0x01, 0xff];
    let mut line = line.to_vec();
    match how {
        0 => line[at] ^= 1,
        1 => line[at] ^= 0x20,
        2 => drop(line.remove(at)),
        3 => line.insert(at, line[at]),
        4 => line.truncate(at),
        _ => line[at] = BYTES[(how - 5) % BYTES.len()],
    }
    line
}

/// The line in another session, which began at another time.
fn elsewhere(line: &str, session: &str, numbers: &mut Numbers) -> String {
    let other = format!("00000000-0000-4000-8000-00000000010{}", numbers.below(3));
    let mut line = line.replace(session, &other);
    for stamp in ["\"activated_at\":\"", "\"updated_at\":\"", "\"prompt_id\":\""] {
        line = line.replace(stamp, &format!("{stamp}{}", numbers.below(3)));
    }
    line
}

/// The number of ways to change a place.
const WAYS: usize = 13;

/// Whether a line passes silently and as recorded when it is decided.
fn is_silent(line: &[u8], catalogue: &Catalogue, hash: &str) -> bool {
    let Ok(mut recorded) = serde_json::from_slice::<RecordedLine<'_>>(line) else { return false };
    let Ok(compared) = Redecision::default().line(line, &mut recorded, catalogue, hash) else { return false };
    let decision = &compared.decided.decision;
    compared.change == DecisionChange::Same && decision.verdict == Verdict::Pass && decision.moves.is_empty()
}

#[test]
fn a_changed_line_is_like_an_earlier_one_only_if_it_is_decided_like_it() {
    let mut numbers = Numbers(20_261_117);
    let (mut known, mut unknown) = (0, 0);
    for (header, lines) in recordings() {
        let header: Header = serde_json::from_str(&header).unwrap();
        let catalogue = header.catalogue();
        for line in lines.iter().map(String::as_bytes) {
            let mut redecision = Redecision::with_known_lines();
            for _ in 0..2 {
                let mut recorded: RecordedLine<'_> = serde_json::from_slice(line).unwrap();
                redecision.line(line, &mut recorded, &catalogue, &header.modes).unwrap();
            }
            for round in 0..200 {
                let line = match round % 4 {
                    0 => elsewhere(std::str::from_utf8(line).unwrap(), &header.session, &mut numbers).into_bytes(),
                    _ => line.to_vec(),
                };
                let line = match round % 8 {
                    0 => line,
                    _ => changed(&line, numbers.below(line.len()), numbers.below(WAYS)),
                };
                if redecision.is_known(&line) {
                    let text = String::from_utf8_lossy(&line);
                    assert!(is_silent(&line, &catalogue, &header.modes), "decided differently: {text}");
                    known += 1;
                } else {
                    unknown += 1;
                }
            }
        }
    }
    // Neither way is vacuous.
    assert!(known > 1_000 && unknown > 10_000, "{known} lines are like earlier ones, {unknown} are not");
}

/// The line at another time.
fn at(line: &str, second: usize) -> String {
    let (head, rest) = line.split_once("\"at\":\"").unwrap();
    let (_, rest) = rest.split_once('"').unwrap();
    let (hours, minutes, seconds) = (second / 3600, second / 60 % 60, second % 60);
    format!("{head}\"at\":\"2026-11-17T{hours:02}:{minutes:02}:{seconds:02}Z\"{rest}")
}

/// A recording in which lines come again and again, some of them changed, some with expectations.
fn mutated(header: &str, lines: &[String], numbers: &mut Numbers) -> Vec<u8> {
    let (mut text, mut second) = (format!("{header}\n").into_bytes(), 0);
    let modes: Header = serde_json::from_str(header).unwrap();
    let other_modes = header.replace(&modes.modes, "0123456789abcdef") + "\n";
    for line in lines {
        for _ in 0..12 {
            second += 1;
            let line = at(line, second);
            let line = match numbers.below(3) {
                0 => elsewhere(&line, &modes.session, numbers).into_bytes(),
                _ => line.into_bytes(),
            };
            let line = match numbers.below(4) {
                0 => changed(&line, numbers.below(line.len()), numbers.below(WAYS)),
                _ => line,
            };
            text.extend(line);
            text.push(b'\n');
            match numbers.below(30) {
                0 => text.extend(b"{\"expect\":\"block\"}\n"),
                1 => text.extend(b"{\"v\":1,\"expect\":\"pass\"}\n"),
                2 => text.extend(b"\n \n"),
                3 => text.extend(b"not a line\n{\"expect\":\"pass\"}\n"),
                4 => text.extend(format!("{header}\n").bytes()),
                5 => text.extend(other_modes.bytes()),
                _ => {}
            }
        }
    }
    text
}

/// What a replay prints, writes and returns.
fn replayed(project: &Project, words: &[&str]) -> (CommandOutput, String) {
    let output = project.run(&[&["replay", "--modes", "recorded", "--junit", "junit.xml"], words].concat());
    (output, project.read("junit.xml"))
}

/// The first lines that differ.
fn difference(one: &(CommandOutput, String), other: &(CommandOutput, String)) -> String {
    let lines = |(output, report): &(CommandOutput, String)| format!("{}\n{}\n{report}", output.stdout, output.stderr);
    let (one, other) = (lines(one), lines(other));
    let differing = one.lines().zip(other.lines()).find(|(one, other)| one != other);
    format!("{differing:?}")
}

#[test]
fn both_ways_report_the_same() {
    let project = Project::new();
    let mut numbers = Numbers(42);
    for (header, lines) in recordings() {
        for name in ["x.jsonl", "y.jsonl"] {
            let text = mutated(&header, &lines, &mut numbers);
            std::fs::write(project.home().join(name), text).unwrap();
        }
        let strict = replayed(&project, &["x.jsonl", "y.jsonl", "--strict", "--threads", "1"]);
        for threads in ["1", "3"] {
            let known = replayed(&project, &["x.jsonl", "y.jsonl", "--threads", threads]);
            assert!(known == strict, "{threads} {header}: {}", difference(&known, &strict));
        }
    }
}

#[test]
fn a_journal_that_is_divided_among_workers_reports_the_same() {
    let project = Project::new();
    let mut numbers = Numbers(7);
    let mut text = Vec::new();
    // Journals of more than two megabytes are divided; their parts begin with other modes than the journal.
    while text.len() < 3_000_000 {
        for (header, lines) in recordings() {
            text.extend(header.bytes().chain(*b"\n"));
            text.extend(mutated(&header, &lines, &mut numbers));
        }
    }
    std::fs::write(project.home().join("x.jsonl"), &text).unwrap();
    for more in [&[][..], &["--strict"], &["--partition", "1/2"], &["--markdown", "summary.md"]] {
        let alone = replayed(&project, &[&["x.jsonl", "--threads", "1"], more].concat());
        for workers in ["2", "3"] {
            let shared = replayed(&project, &[&["x.jsonl", "--threads", workers], more].concat());
            assert!(shared == alone, "{more:?} with {workers} workers: {}", difference(&shared, &alone));
        }
    }
}
