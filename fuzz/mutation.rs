//! The properties, for a few seconds: mutated fixtures, always the same ones.

#![expect(clippy::disallowed_methods, reason = "a test reads fixtures")]

use super::{PROPERTIES, check};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The fixtures that each property starts from.
const SEEDS: [(&str, &[&str]); 12] = [
    ("event", &["fixtures/events"]),
    ("shell", &["fixtures/bypasses", "fuzz/seeds/shell"]),
    ("mode", &["modes", "fixtures/bad-modes"]),
    ("gates_json", &["fixtures/gates", "fixtures/bad-gates"]),
    ("hooks_toml", &["fixtures/gates", "fixtures/bad-gates"]),
    ("frontmatter", &["examples", "docs"]),
    ("cache", &["fixtures/recordings"]),
    ("journal", &["fixtures/recordings"]),
    ("transcript", &["fixtures/transcripts"]),
    ("settings", &["fixtures/settings"]),
    ("scenario", &["fixtures/scenarios/plan"]),
    ("masking", &["fixtures/secrets"]),
];

/// After this time without a result an input is taken to hang, on a busy machine too.
const HANGS: Duration = Duration::from_mins(10);

/// The longest seed, in bytes.
const LONGEST: usize = 8 * 1024;

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

fn files(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = walkdir::WalkDir::new(root).sort_by_file_name().into_iter().filter_map(Result::ok);
    entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

/// The seeds of a property: files that are not too long, and the lines of files of lines.
fn seeds(folders: &[&str]) -> Vec<Vec<u8>> {
    let mut seeds = vec![Vec::new()];
    for (folder, path) in folders.iter().flat_map(|folder| files(folder).into_iter().map(move |path| (folder, path))) {
        let bytes = std::fs::read(&path).unwrap();
        let mut lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec);
        if path.extension().is_some_and(|end| end == "jsonl") {
            seeds.extend(lines.take(20));
        } else if *folder == "fixtures/bypasses" {
            // Each entry has a line with a command.
            seeds.extend(lines.by_ref().filter(|line| line.windows(5).any(|part| part == b"run: ")));
        } else {
            seeds.push(bytes);
        }
    }
    seeds.retain(|seed| seed.len() <= LONGEST);
    seeds
}

/// Changes a seed in a few places: bytes, parts that are missing, repeated, or of another seed.
fn mutated(seeds: &[Vec<u8>], numbers: &mut Numbers) -> Vec<u8> {
    const WORDS: [&[u8]; 12] =
        [b"\"", b"{", b"}}", b"[[[[", b"\\", b"\n", b"\xff", b"\0", b"null", b"-1e999", "\u{202e}".as_bytes(), b"$(("];
    let mut bytes = seeds[numbers.below(seeds.len())].clone();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(bytes.len() + 1);
        let end = (at + numbers.below(32)).min(bytes.len());
        match numbers.below(6) {
            0 => drop(bytes.drain(at..end)),
            1 => drop(bytes.splice(at..at, WORDS[numbers.below(WORDS.len())].iter().copied())),
            2 if at < bytes.len() => bytes[at] ^= 1 << numbers.below(8),
            3 => {
                let part = bytes[at..end].repeat(1 + numbers.below(20));
                bytes.splice(at..at, part);
            }
            4 => bytes.truncate(at),
            _ => {
                let other = &seeds[numbers.below(seeds.len())];
                let from = numbers.below(other.len() + 1);
                let part = other[from..(from + numbers.below(64)).min(other.len())].to_vec();
                bytes.splice(at..end, part);
            }
        }
    }
    bytes
}

#[test]
fn mutated_fixtures_keep_every_property() {
    // `tests/fuzz` runs them for longer, from another start.
    let seconds = std::env::var("MODEGATE_FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    let each = seconds.map_or(Duration::from_millis(400), Duration::from_secs);
    let only = std::env::var("MODEGATE_FUZZ_TARGET").ok();
    let start = seconds.map_or(0, |_| std::time::UNIX_EPOCH.elapsed().unwrap().subsec_nanos().into());
    assert_eq!(PROPERTIES.map(|(name, _)| name), SEEDS.map(|(name, _)| name));
    for ((name, _), (_, folders)) in PROPERTIES.into_iter().zip(SEEDS) {
        if only.as_deref().is_some_and(|only| only != name) {
            continue;
        }
        let seeds = seeds(folders);
        assert!(seeds.len() > 3, "{name} has no seeds");
        let mut numbers = Numbers(0x2545_f491_4f6c_dd1d ^ start);
        let (sender, results) = mpsc::sync_channel(1);
        std::thread::spawn(move || {
            let from = Instant::now();
            while from.elapsed() < each {
                let bytes = mutated(&seeds, &mut numbers);
                // The test has ended if nobody listens.
                let is_heard = sender.send((bytes.clone(), None)).is_ok();
                let result = std::panic::catch_unwind(|| check(name, &bytes)).is_ok();
                if !is_heard || sender.send((bytes, Some(result))).is_err() {
                    return;
                }
            }
        });
        let (mut inputs, mut last) = (0_u64, Vec::new());
        loop {
            match results.recv_timeout(HANGS) {
                Ok((bytes, None)) => last = bytes,
                Ok((bytes, Some(true))) => (inputs, last) = (inputs + 1, bytes),
                Ok((bytes, Some(false))) => panic!("{name} does not hold for {:?}", String::from_utf8_lossy(&bytes)),
                Err(RecvTimeoutError::Timeout) => panic!("{name} hangs for {:?}", String::from_utf8_lossy(&last)),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        println!("{name}: {inputs} inputs");
    }
}
