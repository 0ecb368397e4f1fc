//! Detects renames among the differences between HEAD and the index.

use std::collections::{HashMap, HashSet};

use gix::ObjectId;

use super::ChangeKind;

/// With more pairs, only identical content is a rename, as in git.
const PAIRS: usize = 1_000_000;
/// Larger blobs are not compared, to save time.
const LARGE: u64 = 8 << 20;

/// A file, symbolic link, submodule or tree as git stores it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GitBlob {
    mode: u32,
    pub(super) id: ObjectId,
}

impl GitBlob {
    /// Normalizes modes of old trees, such as 664, as git does.
    pub(super) fn new(mode: u32, id: ObjectId) -> Self {
        let mode = match mode & 0o170_000 {
            0o100_000 if mode & 0o100 == 0 => 0o100_644,
            0o100_000 => 0o100_755,
            kind => kind,
        };
        Self { mode, id }
    }

    /// Whether this is a folder.
    #[cfg(unix)]
    pub(super) fn is_tree(&self) -> bool {
        self.mode == 0o040_000
    }

    /// The file type without permissions.
    fn sort(&self) -> u32 {
        self.mode & 0o170_000
    }
}

/// A difference between HEAD (`old`) and the index (`new`).
#[derive(Debug)]
pub(super) struct StagedChange {
    pub(super) path: Vec<u8>,
    pub(super) old: Option<GitBlob>,
    pub(super) new: Option<GitBlob>,
}

impl StagedChange {
    fn kind(&self) -> ChangeKind {
        match (&self.old, &self.new) {
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Deleted,
            (Some(old), Some(new)) if old.sort() != new.sort() => ChangeKind::TypeChanged,
            (Some(_), Some(new)) if new.sort() == 0o160_000 => ChangeKind::Submodule,
            _ => ChangeKind::Modified,
        }
    }
}

/// The changes with their kinds; a deletion and an addition may become one rename.
pub(super) fn named(repo: &gix::Repository, deltas: &[StagedChange]) -> Vec<(Vec<u8>, ChangeKind)> {
    let mut pairing = RenamePairs::default();
    let gone: Vec<_> = deltas.iter().filter_map(|delta| half(delta, delta.old.as_ref()?)).collect();
    let come: Vec<_> = deltas.iter().filter_map(|delta| half(delta, delta.new.as_ref()?)).collect();
    if !gone.is_empty() && !come.is_empty() {
        pairing.identical(&gone, &come);
        if gone.len() * come.len() <= PAIRS {
            pairing.similar(repo, &gone, &come);
        }
    }
    let mut named = Vec::new();
    for delta in deltas {
        match delta.kind() {
            ChangeKind::Deleted if pairing.sources.contains(delta.path.as_slice()) => {}
            ChangeKind::Added if pairing.targets.contains(delta.path.as_slice()) => {
                named.push((delta.path.clone(), ChangeKind::Renamed));
            }
            kind => named.push((delta.path.clone(), kind)),
        }
    }
    named
}

/// A deletion or addition that may be half of a rename.
fn half<'a>(delta: &'a StagedChange, blob: &'a GitBlob) -> Option<(&'a [u8], &'a GitBlob)> {
    (delta.old.is_some() != delta.new.is_some()).then_some((delta.path.as_slice(), blob))
}

/// The sources and targets of renames.
#[derive(Default)]
struct RenamePairs<'a> {
    sources: HashSet<&'a [u8]>,
    targets: HashSet<&'a [u8]>,
}

type RenameHalf<'a> = (&'a [u8], &'a GitBlob);

impl<'a> RenamePairs<'a> {
    fn pair(&mut self, source: &'a [u8], target: &'a [u8]) {
        self.sources.insert(source);
        self.targets.insert(target);
    }

    /// Pairs files with the same content.
    fn identical(&mut self, gone: &[RenameHalf<'a>], come: &[RenameHalf<'a>]) {
        let mut sources: HashMap<(u32, ObjectId), Vec<&'a [u8]>> = HashMap::new();
        for (path, blob) in gone {
            sources.entry((blob.sort(), blob.id)).or_default().push(path);
        }
        for (path, blob) in come {
            let alike = sources.entry((blob.sort(), blob.id)).or_default();
            // A file that moved to another folder most likely kept its name.
            let named = alike.iter().position(|source| name(source) == name(path));
            if !alike.is_empty() {
                let source = alike.remove(named.unwrap_or(0));
                self.pair(source, path);
            }
        }
    }

    /// Pairs files that have at least half of their content in common, the most alike first.
    fn similar(&mut self, repo: &gix::Repository, gone: &[RenameHalf<'a>], come: &[RenameHalf<'a>]) {
        let mut gone: Vec<_> = gone.iter().filter(|half| !self.sources.contains(half.0)).collect();
        let mut come: Vec<_> = come.iter().filter(|half| !self.targets.contains(half.0)).collect();
        gone.retain(|half| half.1.sort() == 0o100_000);
        come.retain(|half| half.1.sort() == 0o100_000);
        if gone.is_empty() || come.is_empty() {
            return;
        }
        let sources: Vec<_> = gone.iter().map(|half| BlobLines::of(repo, half.1.id)).collect();
        let mut matches = Vec::new();
        for target in &come {
            let lines = BlobLines::of(repo, target.1.id);
            for (source, other) in gone.iter().zip(&sources) {
                if let Some(score) = lines.likeness(other) {
                    matches.push((std::cmp::Reverse(score), target.0, source.0));
                }
            }
        }
        matches.sort_unstable();
        for (_, target, source) in matches {
            if !self.sources.contains(source) && !self.targets.contains(target) {
                self.pair(source, target);
            }
        }
    }
}

/// The last part of a path.
fn name(path: &[u8]) -> Option<&[u8]> {
    path.rsplit(|byte| *byte == b'/').next()
}

/// The lines of a blob, with the number of bytes in each.
#[derive(Default)]
struct BlobLines {
    bytes: HashMap<Vec<u8>, usize>,
    size: usize,
}

impl BlobLines {
    /// The lines of a blob; none when it is large or cannot be read.
    fn of(repo: &gix::Repository, id: ObjectId) -> Self {
        let small = repo.find_header(id).is_ok_and(|header| header.size() <= LARGE);
        let Some(blob) = small.then(|| repo.find_blob(id).ok()).flatten() else {
            return Self::default();
        };
        let mut lines = Self { bytes: HashMap::new(), size: blob.data.len() };
        // Like git, cuts lines into pieces of 64 bytes, so that binary content is comparable.
        for line in blob.data.split_inclusive(|byte| *byte == b'\n') {
            for piece in line.chunks(64) {
                *lines.bytes.entry(piece.to_vec()).or_default() += piece.len();
            }
        }
        lines
    }

    /// The share in common, in thousandths of the larger content, if it is half or more.
    fn likeness(&self, other: &Self) -> Option<usize> {
        let larger = self.size.max(other.size);
        if larger == 0 || self.size.min(other.size) * 2 < larger {
            return None;
        }
        let common: usize =
            self.bytes.iter().map(|(piece, size)| other.bytes.get(piece).map_or(0, |there| *size.min(there))).sum();
        (common * 2 >= larger).then_some(common * 1000 / larger)
    }
}
