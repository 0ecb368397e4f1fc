//! The repository of a project folder.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use gix::discover::upwards::Options;
use gix::sec::Permission;

use super::{LayerError, Unknown};
use crate::disk;

/// Variables of a surrounding git command that select another repository or index.
const MISLEADING: [&str; 5] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_SHALLOW_FILE"];

/// A folder and the repository that contains it.
pub(super) struct Checkout {
    repo: gix::Result<gix::Repository>,
    root: PathBuf,
    prefix: Vec<u8>,
    rules: Option<BTreeSet<String>>,
}

/// An opened repository with its worktree.
pub(super) struct OpenCheckout<'a> {
    pub(super) repo: &'a gix::Repository,
    /// The worktree's root, absolute and without symbolic links.
    pub(super) root: &'a Path,
    /// The rules outside of commits that may ignore files, `None` for all of them.
    pub(super) rules: Option<&'a BTreeSet<String>>,
}

impl Checkout {
    /// Looks from `tree` upwards, on the same file system, as git does; folders of bare repositories do not count.
    pub(super) fn from(tree: &Path) -> Result<Self, Unknown> {
        let tree = disk::canonical(tree).map_err(|error| format!("`{}` cannot be read: {error}", tree.display()))?;
        let (repo, root) = match open(&tree) {
            Ok(repo) => {
                let root = repo.workdir().map(Path::to_path_buf);
                (Ok(repo), root)
            }
            Err(error) => {
                let (found, _) = gix::discover::upwards_opts(&tree, with_worktree())
                    .map_err(|_| format!("`{}` is not in a git repository", tree.display()))?;
                (Err(error), found.into_repository_and_work_tree_directories().1)
            }
        };
        let root = root.ok_or_else(|| format!("`{}` is in a repository without a worktree", tree.display()))?;
        let root = if tree.starts_with(&root) { root } else { disk::canonical(&root).unwrap_or(root) };
        let inside = tree.strip_prefix(&root).map_err(|_| format!("`{}` is outside its worktree", tree.display()))?;
        if inside.starts_with(".git") {
            return Err(format!("`{}` is inside `.git`", tree.display()).into());
        }
        Ok(Self { prefix: bytes(inside), repo, root, rules: None })
    }

    /// Limits the rules outside of commits that may ignore files.
    pub(super) fn with_rules(self, rules: BTreeSet<String>) -> Self {
        Self { rules: Some(rules), ..self }
    }

    /// The worktree's root.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder relative to the root, empty for the root itself.
    pub(super) fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// Converts `path`, relative to the folder, to a path relative to the root; `None` if there is no such file.
    ///
    /// Folders on the way may be symbolic links as long as they lead to somewhere in the worktree.
    pub(super) fn file(&self, path: &Path) -> Result<Option<Vec<u8>>, Unknown> {
        let whole = self.root.join(text(&self.prefix)).join(path);
        match whole.symlink_metadata() {
            Ok(seen) if seen.is_dir() => return Err(format!("`{}` is a folder", path.display()).into()),
            Ok(_) => {}
            Err(error) if disk::is_absent(&error) => return Ok(None),
            Err(error) => return Err(format!("`{}` cannot be read: {error}", path.display()).into()),
        }
        let outside = || Unknown::from(format!("`{}` is outside the worktree", path.display()));
        let (Some(folder), Some(name)) = (whole.parent(), whole.file_name()) else {
            return Err(outside());
        };
        let plain =
            path.components().all(|part| matches!(part, Component::Normal(_))) && path.components().count() == 1;
        let folder = if plain { Ok(folder.to_path_buf()) } else { disk::canonical(folder) };
        let folder = folder.map_err(|_| outside())?;
        let inside = folder.strip_prefix(&self.root).map_err(|_| outside())?.join(name);
        if inside.starts_with(".git") {
            return Err(format!("`{}` is inside `.git`", path.display()).into());
        }
        Ok(Some(bytes(&inside)))
    }

    /// The repository, if gix can read it.
    pub(super) fn repository(&self) -> Result<&gix::Repository, LayerError> {
        let repo = self.repo.as_ref().map_err(LayerError::unsure)?;
        match repo.config_snapshot().string("extensions.refStorage") {
            Some(format) if format != "files" => Err(LayerError::Unsure(format!("the references are in a {format}"))),
            _ => Ok(repo),
        }
    }

    /// The repository together with its worktree.
    pub(super) fn place(&self) -> Result<OpenCheckout<'_>, LayerError> {
        Ok(OpenCheckout { repo: self.repository()?, root: &self.root, rules: self.rules.as_ref() })
    }
}

/// How a repository is looked for: by its `.git` only.
///
/// A clone can contain the folder of a bare repository, with settings and hooks that run programs.
fn with_worktree() -> Options<'static> {
    Options { dot_git_only: true, ..Options::default() }
}

/// Opens the repository that contains `folder`, ignoring the variables of a surrounding git command.
///
/// gix has one permission for `GIT_INDEX_FILE` and `GIT_CONFIG_GLOBAL`. The user's configuration files are
/// used unless a misleading variable is set as well.
fn open(folder: &Path) -> gix::Result<gix::Repository> {
    let mut permissions = gix::open::Permissions::all();
    permissions.config.env = false;
    permissions.env.objects = Permission::Deny;
    if MISLEADING.iter().any(|name| std::env::var_os(name).is_some()) {
        permissions.env.git_prefix = Permission::Deny;
    }
    // A configured `no` could not be overridden later.
    let options =
        gix::open::Options::default().permissions(permissions).cli_overrides(["status.showUntrackedFiles=normal"]);
    let trust = gix::sec::trust::Mapping { full: options.clone(), reduced: options };
    let repo = gix::ThreadSafeRepository::discover_opts(folder, with_worktree(), trust)?;
    Ok(repo.to_thread_local())
}

/// The outermost repository inside of the one at `root` that `path` is in, and the rest of the path.
pub(super) fn nested<'p>(root: &Path, path: &'p [u8]) -> Option<(&'p [u8], &'p [u8])> {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    let parts = slashes.filter_map(|at| Some((path.get(..at)?, path.get(at + 1..)?)));
    parts.into_iter().find(|(folder, _)| is_repository(&root.join(text(folder))))
}

/// Whether `folder` is the root of a repository's worktree.
pub(super) fn is_repository(folder: &Path) -> bool {
    let seen = folder.symlink_metadata();
    seen.is_ok_and(|seen| seen.is_dir()) && gix::discover::is_git(&folder.join(".git")).is_ok()
}

/// The commit that HEAD points at.
pub(super) fn head(repo: &gix::Repository) -> Result<Option<gix::ObjectId>, LayerError> {
    // git itself treats a broken branch as one without commits.
    let broken = |error: gix::Error| LayerError::Unreadable(format!("HEAD cannot be read: {error}"));
    let head = repo.head().map_err(broken)?;
    let id = head.try_into_peeled_id().map_err(broken)?;
    Ok(id.map(gix::Id::detach))
}

/// See [`super::head_changed`].
pub(super) fn head_changed(repo: &gix::Repository, since: &str) -> Result<bool, LayerError> {
    let tree = |commit: gix::ObjectId| {
        let commit =
            repo.find_object(commit).map_err(LayerError::unsure)?.peel_to_tree().map_err(LayerError::unsure)?;
        Ok::<_, LayerError>(commit.id)
    };
    let empty = gix::ObjectId::empty_tree(repo.object_hash());
    let now = head(repo)?.map_or(Ok(empty), tree)?;
    if since.is_empty() {
        return Ok(now != empty);
    }
    let before = gix::ObjectId::from_hex(since.as_bytes()).ok().filter(|id| repo.has_object(*id));
    before.map_or(Ok(true), |before| Ok(tree(before)? != now))
}

/// `path` as git writes it: raw bytes on Unix, forward slashes everywhere.
pub(super) fn bytes(path: &Path) -> Vec<u8> {
    let mut whole = Vec::new();
    for part in path.components() {
        if !whole.is_empty() {
            whole.push(b'/');
        }
        whole.extend_from_slice(part.as_os_str().as_encoded_bytes());
    }
    whole
}

/// A path of git's as the system writes it.
pub(super) fn text(path: &[u8]) -> std::borrow::Cow<'_, Path> {
    gix::path::from_bstr(gix::bstr::BStr::new(path)).unwrap_or_default()
}
