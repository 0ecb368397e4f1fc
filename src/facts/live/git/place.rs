//! Where a project folder lies in which repository.

use std::path::{Component, Path, PathBuf};

use gix::discover::repository::Path as Kind;
use gix::sec::Permission;

use super::{Doubt, Unknown};

/// Variables with which a surrounding git command would point us at another repository or index.
const ASTRAY: [&str; 5] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_SHALLOW_FILE"];

/// A folder, and the repository found from it.
pub(super) struct Found {
    kind: Kind,
    root: PathBuf,
    prefix: Vec<u8>,
}

/// An opened repository with its worktree.
pub(super) struct Place {
    pub(super) repo: gix::Repository,
    /// The worktree's root, absolute and without symbolic links.
    pub(super) root: PathBuf,
}

impl Found {
    /// Looks from `tree` upwards, on the same file system, as git does.
    pub(super) fn from(tree: &Path) -> Result<Self, Unknown> {
        let tree = tree.canonicalize().map_err(|error| format!("`{}` cannot be read: {error}", tree.display()))?;
        let (kind, _) =
            gix::discover::upwards(&tree).map_err(|_| format!("`{}` is not in a git repository", tree.display()))?;
        let root = match &kind {
            Kind::LinkedWorkTree { work_dir, .. } | Kind::WorkTree(work_dir) => work_dir.clone(),
            Kind::Repository(folder) => configured(folder)
                .filter(|root| tree.starts_with(root) && !tree.starts_with(folder))
                .ok_or_else(|| format!("`{}` is in a repository without a worktree", tree.display()))?,
        };
        let root = if tree.starts_with(&root) { root } else { root.canonicalize().unwrap_or(root) };
        let inside =
            tree.strip_prefix(&root).map_err(|_| format!("`{}` is outside of its worktree", tree.display()))?;
        if inside.starts_with(".git") {
            return Err(format!("`{}` belongs to git itself", tree.display()));
        }
        Ok(Self { prefix: bytes(inside), kind, root })
    }

    /// The worktree's root.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder relative to the root, empty for the root itself.
    pub(super) fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// `path`, relative to the folder, as a path relative to the root; `None` without such a file.
    ///
    /// Folders on the way may be symbolic links as long as they lead to somewhere in the worktree.
    pub(super) fn file(&self, path: &Path) -> Result<Option<Vec<u8>>, Unknown> {
        let whole = self.root.join(text(&self.prefix)).join(path);
        match whole.symlink_metadata() {
            Ok(seen) if seen.is_dir() => return Err(format!("`{}` is a folder", path.display())),
            Ok(_) => {}
            Err(error) if absent(&error) => return Ok(None),
            Err(error) => return Err(format!("`{}` cannot be read: {error}", path.display())),
        }
        let outside = || format!("`{}` is outside of the worktree", path.display());
        let (Some(folder), Some(name)) = (whole.parent(), whole.file_name()) else {
            return Err(outside());
        };
        let plain =
            path.components().all(|part| matches!(part, Component::Normal(_))) && path.components().count() == 1;
        let folder = if plain { Ok(folder.to_path_buf()) } else { folder.canonicalize() };
        let folder = folder.map_err(|_| outside())?;
        let inside = folder.strip_prefix(&self.root).map_err(|_| outside())?.join(name);
        if inside.starts_with(".git") {
            return Err(format!("`{}` belongs to git itself", path.display()));
        }
        Ok(Some(bytes(&inside)))
    }

    /// Opens the repository.
    pub(super) fn repository(&self) -> Result<gix::Repository, Doubt> {
        let folder = match &self.kind {
            Kind::LinkedWorkTree { work_dir, .. } | Kind::WorkTree(work_dir) => work_dir.join(".git"),
            Kind::Repository(folder) => folder.clone(),
        };
        let repo = open(&folder)?;
        match repo.config_snapshot().string("extensions.refStorage") {
            Some(format) if format != "files" => Err(Doubt::Foreign(format!("the references are in a {format}"))),
            _ => Ok(repo),
        }
    }

    /// Opens the repository together with its worktree.
    pub(super) fn place(&self) -> Result<Place, Doubt> {
        let repo = self.repository()?;
        if repo.workdir().is_none() {
            return Err(Doubt::Unreadable("a bare repository has no files".to_owned()));
        }
        Ok(Place { repo, root: self.root.clone() })
    }
}

/// The worktree that a `.git` folder is configured for, when it is not simply next to it.
fn configured(folder: &Path) -> Option<PathBuf> {
    open(folder).ok()?.workdir()?.canonicalize().ok()
}

/// Opens the repository whose git folder is `folder`, deaf to what a surrounding git command set.
///
/// gix keeps `GIT_INDEX_FILE` and `GIT_CONFIG_GLOBAL` under one permission. The user's choice of
/// configuration files is obeyed, unless a variable that would lead astray is there, too.
fn open(folder: &Path) -> Result<gix::Repository, Doubt> {
    let mut permissions = gix::open::Permissions::all();
    permissions.config.env = false;
    permissions.env.objects = Permission::Deny;
    if ASTRAY.iter().any(|name| std::env::var_os(name).is_some()) {
        permissions.env.git_prefix = Permission::Deny;
    }
    gix::open::Options::default()
        .permissions(permissions)
        .open_path_as_is(true)
        .cli_overrides(["status.showUntrackedFiles=normal"])
        .open(folder)
        .map(|repo| repo.to_thread_local())
        .map_err(Doubt::odd)
}

/// The commit that HEAD points at.
pub(super) fn head(repo: &gix::Repository) -> Result<Option<gix::ObjectId>, Doubt> {
    // git itself would take a branch that makes no sense for one without commits.
    let broken = |error: gix::Error| Doubt::Unreadable(format!("HEAD cannot be read: {error}"));
    let head = repo.head().map_err(broken)?;
    let id = head.try_into_peeled_id().map_err(broken)?;
    Ok(id.map(gix::Id::detach))
}

/// Whether `error` says that there is nothing at a path.
pub(super) fn absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// `path` as git writes it: raw bytes on Unix, forward slashes everywhere.
fn bytes(path: &Path) -> Vec<u8> {
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
