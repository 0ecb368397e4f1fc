//! A project's modes and settings from disk, read fast: parsed once, then kept in a compiled form.
//!
//! The compiled form is only ever a copy. When a file's size or time differs from what it was made of,
//! or another modegate made it, the YAML is read again.

use crate::mode::{Catalogue, EMBEDDED};
use crate::paths::Places;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Timestamps are coarse: what was written this recently may be written again in the same tick.
const RACY: Duration = Duration::from_secs(2);

/// What the compiled form was made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Key {
    maker: u64,
    files: Vec<(String, u64, u64)>,
}

#[derive(Serialize, Deserialize)]
struct Compiled {
    key: Key,
    catalogue: Catalogue,
}

/// The catalogue of a project.
#[must_use]
pub fn load(places: &Places) -> Catalogue {
    let (key, racy) = key(places);
    let path = places.compiled();
    if let Some(catalogue) = fs::read(&path).ok().and_then(|bytes| compiled(&bytes, &key)) {
        return catalogue;
    }
    let catalogue = read(places);
    if !racy {
        keep(&path, &Compiled { key, catalogue: catalogue.clone() });
    }
    catalogue
}

/// The catalogue straight from its sources.
#[must_use]
pub fn read(places: &Places) -> Catalogue {
    let settings = fs::read_to_string(places.settings()).ok();
    let mut files = Vec::new();
    for path in mode_files(&places.modes()) {
        let name = format!(".claude/modes/{}", path.file_name().unwrap_or_default().to_string_lossy());
        files.push((
            name,
            fs::read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default(),
        ));
    }
    let settings = settings.as_deref().map(|text| (".claude/modegate.yaml", text));
    Catalogue::compose(settings, &files)
}

fn compiled(bytes: &[u8], key: &Key) -> Option<Catalogue> {
    let (kept, rest) = postcard::take_from_bytes::<Key>(bytes).ok()?;
    (kept == *key).then(|| postcard::from_bytes(rest).ok())?
}

/// Writes the compiled form; where that cannot be, the next event reads the YAML again.
fn keep(path: &Path, compiled: &Compiled) {
    let Ok(bytes) = postcard::to_stdvec(compiled) else { return };
    let beside = path.with_extension(format!("{}.tmp", std::process::id()));
    let kept = fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, path));
    if kept.is_err() {
        let _: io::Result<()> = fs::remove_file(&beside);
    }
}

fn key(places: &Places) -> (Key, bool) {
    let now = SystemTime::now();
    let mut racy = false;
    let mut files = Vec::new();
    let mut paths = mode_files(&places.modes());
    paths.push(places.settings());
    for path in paths {
        let Ok(meta) = fs::metadata(&path) else { continue };
        let modified = meta.modified().unwrap_or(now);
        racy |= now.duration_since(modified).map_or(true, |age| age < RACY);
        let nanos = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        files.push((path.to_string_lossy().into_owned(), meta.len(), u64::try_from(nanos).unwrap_or_default()));
    }
    (Key { maker: MAKER, files }, racy)
}

fn mode_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_yaml = |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "yaml" || end == "yml");
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_yaml).collect();
    paths.sort();
    paths
}

/// Tells one maker of the compiled form from another: its version, the embedded modes, and the sources of
/// every type that is in it, so that nobody has to remember to count a number up.
#[expect(clippy::indexing_slicing, reason = "iterators are not const; the index is below the length")]
const MAKER: u64 = {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    hash = mixed(hash, env!("CARGO_PKG_VERSION"));
    let mut index = 0;
    while index < EMBEDDED.len() {
        hash = mixed(hash, EMBEDDED[index].1);
        index += 1;
    }
    let mut index = 0;
    while index < SOURCES.len() {
        hash = mixed(hash, SOURCES[index]);
        index += 1;
    }
    hash
};

const SOURCES: [&str; 23] = [
    include_str!("mode.rs"),
    include_str!("mode/catalogue.rs"),
    include_str!("mode/read.rs"),
    include_str!("settings.rs"),
    include_str!("yaml.rs"),
    include_str!("yaml/reader.rs"),
    include_str!("verdict.rs"),
    include_str!("event/kind.rs"),
    include_str!("event/trigger.rs"),
    include_str!("check.rs"),
    include_str!("check/clean.rs"),
    include_str!("check/command.rs"),
    include_str!("check/committed.rs"),
    include_str!("check/file.rs"),
    include_str!("check/frontmatter.rs"),
    include_str!("check/observed.rs"),
    include_str!("check/pattern.rs"),
    include_str!("check/prompt.rs"),
    include_str!("check/ran.rs"),
    include_str!("check/scope.rs"),
    include_str!("check/state.rs"),
    include_str!("check/text.rs"),
    include_str!("check/transcript.rs"),
];

#[expect(clippy::indexing_slicing, reason = "iterators are not const; the index is below the length")]
const fn mixed(mut hash: u64, text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut index = 0;
    while index < bytes.len() {
        hash = (hash ^ bytes[index] as u64).wrapping_mul(0x0100_0000_01b3);
        index += 1;
    }
    hash
}
