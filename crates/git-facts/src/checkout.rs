//! The repository of a project folder.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use base::disk;
use gix::discover::upwards::Options;
use gix::sec::Permission;

use crate::{GitError, program};

/// Variables of a surrounding git command that select another repository or index.
const MISLEADING: [&str; 5] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_SHALLOW_FILE"];

/// A folder and the repository that contains it.
pub(crate) struct Checkout {
    repo: gix::Result<gix::Repository>,
    root: PathBuf,
    prefix: Vec<u8>,
}

impl Checkout {
    /// Looks from `tree` upwards, on the same file system, as git does; folders of bare repositories do not count.
    pub(crate) fn open(tree: &Path) -> Result<Self, GitError> {
        let tree = disk::canonical(tree).map_err(|error| GitError::unreadable(tree, &error))?;
        let (repo, root) = match open_repository(&tree) {
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
        Ok(Self { prefix: git_path(inside), repo, root })
    }

    /// The worktree's root, absolute and without symbolic links.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder relative to the root, empty for the root itself.
    pub(crate) fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// Converts `path`, relative to the folder, to a path relative to the root; `None` if there is no such file.
    ///
    /// Folders on the way may be symbolic links as long as they lead to somewhere in the worktree.
    pub(crate) fn file(&self, path: &Path) -> Result<Option<Vec<u8>>, GitError> {
        let whole = self.root.join(system_path(&self.prefix)).join(path);
        match whole.symlink_metadata() {
            Ok(seen) if seen.is_dir() => return Err(format!("`{}` is a folder", path.display()).into()),
            Ok(_) => {}
            Err(error) if disk::is_absent(&error) => return Ok(None),
            Err(error) => return Err(GitError::unreadable(path, &error)),
        }
        let outside = || GitError::from(format!("`{}` is outside the worktree", path.display()));
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
        Ok(Some(git_path(&inside)))
    }

    /// The repository, if gix can open it.
    pub(crate) fn repository(&self) -> Result<&gix::Repository, GitError> {
        self.repo.as_ref().map_err(|error| error.to_string().into())
    }

    /// The repository, if gix can read its references too.
    pub(crate) fn references(&self) -> Result<&gix::Repository, GitError> {
        let repo = self.repository()?;
        match repo.config_snapshot().string("extensions.refStorage") {
            Some(format) if format != "files" => Err(format!("the references are in a {format}").into()),
            _ => Ok(repo),
        }
    }

    /// See [`crate::head`].
    pub(crate) fn head(&self) -> Result<Option<String>, GitError> {
        let Ok(repo) = self.references() else { return program::head(&self.root) };
        // git itself treats a broken branch as one without commits.
        let id = repo.head().and_then(gix::Head::try_into_peeled_id);
        let id = id.map_err(|error| format!("HEAD cannot be read: {error}"))?;
        Ok(id.map(|id| id.to_string()))
    }

    /// See [`crate::head_changed`].
    pub(crate) fn head_changed(&self, since: &str) -> Result<bool, GitError> {
        let repo = self.repository()?;
        let tree = |commit: &str| {
            if commit.is_empty() {
                return Some(gix::ObjectId::empty_tree(repo.object_hash()));
            }
            let id = gix::ObjectId::from_hex(commit.as_bytes()).ok()?;
            Some(repo.find_object(id).ok()?.peel_to_tree().ok()?.id)
        };
        let now = tree(&self.head()?.unwrap_or_default()).ok_or("the commit of HEAD cannot be read")?;
        Ok(tree(since) != Some(now))
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
fn open_repository(folder: &Path) -> gix::Result<gix::Repository> {
    let mut permissions = gix::open::Permissions::all();
    permissions.config.env = false;
    permissions.env.objects = Permission::Deny;
    if MISLEADING.iter().any(|name| std::env::var_os(name).is_some()) {
        permissions.env.git_prefix = Permission::Deny;
    }
    let options = gix::open::Options::default().permissions(permissions);
    let trust = gix::sec::trust::Mapping { full: options.clone(), reduced: options };
    let repo = gix::ThreadSafeRepository::discover_opts(folder, with_worktree(), trust)?;
    Ok(repo.to_thread_local())
}

/// The outermost repository inside of the one at `root` that `path` is in, and the rest of the path.
pub(crate) fn nested<'p>(root: &Path, path: &'p [u8]) -> Option<(&'p [u8], &'p [u8])> {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    let parts = slashes.filter_map(|at| Some((path.get(..at)?, path.get(at + 1..)?)));
    parts.into_iter().find(|(folder, _)| is_repository(&root.join(system_path(folder))))
}

/// Whether `folder` is the root of a repository's worktree.
fn is_repository(folder: &Path) -> bool {
    let seen = folder.symlink_metadata();
    seen.is_ok_and(|seen| seen.is_dir()) && gix::discover::is_git(&folder.join(".git")).is_ok()
}

/// `path` as git writes it: raw bytes on Unix, forward slashes everywhere.
fn git_path(path: &Path) -> Vec<u8> {
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
pub(crate) fn system_path(path: &[u8]) -> Cow<'_, Path> {
    gix::path::from_bstr(gix::bstr::BStr::new(path)).unwrap_or_default()
}
