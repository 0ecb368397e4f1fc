//! The ignore rules for untracked files and folders.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gix::bstr::BStr;
use gix::glob::pattern::Case;
use gix::index::entry::Mode;
use gix::worktree::Stack;
use gix::worktree::stack::State;
use gix::worktree::stack::state::Ignore;
use gix::worktree::stack::state::ignore::Source::WorktreeThenIdMappingIfNotSkipped;

use super::LayerError;
use super::checkout::{OpenCheckout, is_repository, text};
use crate::disk;

/// The rules of `.gitignore` files, `info/exclude` and the user's own file.
pub(super) struct IgnoreRules<'a> {
    stack: Stack,
    place: &'a OpenCheckout<'a>,
}

impl<'a> IgnoreRules<'a> {
    /// The rules of `place`; with `sparse`, also from `.gitignore` files that are not checked out.
    pub(super) fn new(place: &'a OpenCheckout<'a>, sparse: bool) -> Result<Self, LayerError> {
        let system = place.repo.filesystem_options().map_err(LayerError::unsure)?;
        let case = if system.ignore_case { Case::Fold } else { Case::Sensitive };
        let parse = gix::ignore::search::Ignore { support_precious: false };
        let mut others = gix::ignore::Search::default();
        for (path, mut rules) in uncommitted_rules(place)? {
            if let Some(known) = place.rules {
                let kept = rules.split(|byte| *byte == b'\n').filter(|rule| known.contains(&hash_of(rule)));
                rules = kept.collect::<Vec<_>>().join(&b'\n');
            }
            others.add_patterns_buffer(&rules, path, None, parse).map_err(LayerError::unsure)?;
        }
        if others.pattern_matching_relative_path(BStr::new(b""), Some(true), case).is_some() {
            // gix would take the root itself as ignored.
            return Err(LayerError::Unsure("everything is ignored".to_owned()));
        }
        let ignore =
            Ignore::new(gix::ignore::Search::default(), others, None, WorktreeThenIdMappingIfNotSkipped, parse);
        let state = State::IgnoreStack(ignore);
        let ids = if sparse {
            let index = place.repo.index_or_empty().map_err(LayerError::unsure)?;
            state.id_mappings_from_index(&index, index.path_backing(), case)
        } else {
            Vec::new()
        };
        Ok(Self { stack: Stack::new(place.root, state, case, Vec::new(), ids), place })
    }

    /// Whether the untracked file or folder at `path` is ignored, itself or with a folder it is in.
    pub(super) fn ignores(&mut self, path: &[u8], folder: bool) -> Result<bool, LayerError> {
        let mode = if folder { Mode::DIR } else { Mode::FILE };
        let objects = &self.place.repo.objects;
        let rules = self.stack.at_entry(BStr::new(path), Some(mode), objects).map_err(LayerError::unsure)?;
        Ok(rules.is_excluded())
    }

    /// Whether the untracked folder at `path` counts: it is a repository, or some file in it is not ignored.
    /// git ignores empty folders.
    pub(super) fn counts(&mut self, path: &[u8]) -> Result<bool, LayerError> {
        if self.ignores(path, true)? {
            return Ok(false);
        }
        let whole = self.place.root.join(text(path));
        if is_repository(&whole) {
            return Ok(true);
        }
        let listing = match whole.read_dir() {
            Ok(listing) => listing,
            Err(error) if disk::is_absent(&error) => return Ok(false),
            Err(error) => return Err(LayerError::unreadable(&whole, &error)),
        };
        let mut folders = Vec::new();
        for entry in listing {
            let entry = entry.map_err(|error| LayerError::unreadable(&whole, &error))?;
            let kind = entry.file_type().map_err(|error| LayerError::unreadable(&whole, &error))?;
            let name = entry.file_name();
            let inside = [path, b"/", name.as_encoded_bytes()].concat();
            if kind.is_dir() && name != ".git" {
                folders.push(inside);
            } else if (kind.is_file() || kind.is_symlink()) && !self.ignores(&inside, false)? {
                return Ok(true);
            }
        }
        for folder in folders {
            if self.counts(&folder)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The rules that are not part of a commit, as hashes.
pub(super) fn hashes(place: &OpenCheckout<'_>) -> Result<BTreeSet<String>, LayerError> {
    let files = uncommitted_rules(place)?;
    let lines = files.iter().flat_map(|(_, rules)| rules.split(|byte| *byte == b'\n'));
    let rules = lines.filter(|line| !line.trim_ascii().is_empty() && !line.starts_with(b"#"));
    Ok(rules.map(hash_of).collect())
}

fn hash_of(rule: &[u8]) -> String {
    format!("{:016x}", crate::paths::hash(rule.trim_ascii_end()))
}

/// The files with rules that are not part of a commit, the more important ones last.
fn uncommitted_rules(place: &OpenCheckout<'_>) -> Result<Vec<(PathBuf, Vec<u8>)>, LayerError> {
    let configured = place.repo.config_snapshot().trusted_path("core.excludesFile");
    let own = match configured.map_err(LayerError::unsure)? {
        Some(path) => Some(place.root.join(path)),
        None => gix::path::env::xdg_config("ignore", &mut |name| std::env::var_os(name)),
    };
    let files = own.into_iter().chain([place.repo.common_dir().join("info/exclude")]);
    files.filter_map(|path| read(&path).transpose().map(|rules| Ok((path, rules?)))).collect()
}

/// The content of a file, `None` if there is none.
fn read(path: &Path) -> Result<Option<Vec<u8>>, LayerError> {
    match disk::read(path, disk::LARGEST) {
        Ok(rules) => Ok(Some(rules)),
        Err(error) if disk::is_absent(&error) || !path.is_file() => Ok(None),
        Err(error) => Err(LayerError::unreadable(path, &error)),
    }
}
