//! The project of an event, and the worktree in which its files are looked for.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

pub use base::disk::real;

use crate::host::paths::{lexical, worktree_owner};
use crate::state::user_folder::project_paths;
use base::disk;
use std::fs::FileType;
use std::path::{Path, PathBuf};

/// The home of a project, where state and configuration are.
///
/// Of the folder given by the host, else of the nearest ancestor of `cwd` with a `.claude` folder that is not the
/// user's own, else of `cwd`.
pub fn home(said: Option<&Path>, cwd: &Path, user: Option<&Path>) -> PathBuf {
    if let Some(said) = said.filter(|said| said.is_absolute() && said.is_dir()) {
        return home_of(&lexical(said), user);
    }
    let cwd = lexical(cwd);
    if let Some(worktree_owner) = worktree_owner(&cwd) {
        return worktree_owner;
    }
    let has_claude = |dir: &&Path| dir.join(".claude").is_dir() && !is_users(dir, user);
    home_of(cwd.ancestors().find(has_claude).unwrap_or(&cwd), user)
}

/// The home of the project that a session in `folder` belongs to.
///
/// The nearest folder with `.claude/hooks`, up to the root of the repository, else the nearest that had it when modegate was
/// installed there, else `folder`. In a linked worktree, the same folder of the main checkout comes before its own: all
/// checkouts share one state.
fn home_of(folder: &Path, user: Option<&Path>) -> PathBuf {
    let Some((root, git)) = repository_root(folder) else { return folder.to_owned() };
    let main = if git.is_dir() { None } else { main_checkout(root) };
    let may_be_project = |dir: &Path| dir == folder || !is_users(dir, user);
    let nearest = |is_project: &dyn Fn(&Path) -> bool| {
        let mut within = folder.ancestors().take_while(|dir| dir.starts_with(root));
        within.find_map(|dir| {
            let shared = main.as_ref().and_then(|main| Some(lexical(&main.join(dir.strip_prefix(root).ok()?))));
            shared.into_iter().chain([dir.to_owned()]).find(|dir| is_project(dir) && may_be_project(dir))
        })
    };
    let has_record = |dir: &Path| project_paths(dir.to_owned()).installation().is_some_and(|record| record.is_file());
    let found = nearest(&|dir| dir.join(".claude/hooks").is_dir()).or_else(|| nearest(&has_record));
    found.unwrap_or_else(|| folder.to_owned())
}

/// Whether a folder is the user's own, which may be known by a link.
fn is_users(dir: &Path, user: Option<&Path>) -> bool {
    user.is_some_and(|user| dir == user || real(dir) == real(user))
}

/// The home of the project at `cwd`, with the host's environment variables.
pub fn home_here(cwd: Option<&Path>) -> PathBuf {
    let here = || std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let cwd = cwd.filter(|cwd| cwd.is_absolute()).map_or_else(here, Path::to_owned);
    home(session_folder().as_deref(), &cwd, user_home().as_deref())
}

/// The home of the project that a folder belongs to.
pub fn home_at(folder: &Path) -> PathBuf {
    home_of(folder, user_home().as_deref())
}

/// The folder in which the host was started, as it says.
pub fn session_folder() -> Option<PathBuf> {
    variable("CLAUDE_PROJECT_DIR")
}

/// The home folder, as the environment says.
pub fn user_home() -> Option<PathBuf> {
    variable("HOME").or_else(|| variable("USERPROFILE"))
}

/// A folder in the environment.
pub fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The folder in which files and commits are looked for: the same folder as home in the worktree of home's repository
/// that contains `cwd`, else in the one in which the session was started, else home.
pub fn tree(home: &Path, cwd: Option<&Path>) -> PathBuf {
    let other = other_tree(home, cwd).or_else(|| other_tree(home, session_folder().as_deref()));
    other.unwrap_or_else(|| home.to_owned())
}

fn other_tree(home: &Path, cwd: Option<&Path>) -> Option<PathBuf> {
    let cwd = lexical(cwd.filter(|cwd| cwd.is_absolute() && *cwd != home)?);
    let there = checkout(&cwd)?;
    let here = checkout(home)?;
    if there == here || repository(&there)? != repository(&here)? {
        return None;
    }
    let offset = home.strip_prefix(&here).ok()?;
    Some(there.join(offset)).filter(|tree| tree.is_dir())
}

/// The same folder in the main checkout, for a folder in a linked worktree.
pub fn in_main_checkout(folder: &Path) -> Option<PathBuf> {
    let (root, git) = repository_root(folder)?;
    let main = if git.is_dir() { None } else { main_checkout(root) };
    Some(lexical(&main?.join(folder.strip_prefix(root).ok()?)))
}

/// Whether a folder is in a linked worktree or a submodule, where `.git` is a file.
pub fn is_linked(folder: &Path) -> bool {
    repository_root(folder).is_some_and(|(_, git)| git.is_file())
}

/// The root of the repository around a folder; in a linked worktree, that of the main checkout.
pub fn repository_home(folder: &Path) -> Option<PathBuf> {
    let (root, _) = repository_root(folder)?;
    Some(in_main_checkout(root).unwrap_or_else(|| root.to_owned()))
}

/// The nearest ancestor with a `.git`, and what that is.
fn repository_root(folder: &Path) -> Option<(&Path, FileType)> {
    folder.ancestors().find_map(|dir| Some((dir, dir.join(".git").metadata().ok()?.file_type())))
}

/// The main checkout of a linked worktree.
///
/// `None` in a submodule, and in a repository without a main checkout, such as a bare one.
fn main_checkout(worktree: &Path) -> Option<PathBuf> {
    let shared = repository(worktree).filter(|shared| shared.ends_with(".git"))?;
    shared.parent().map(Path::to_owned)
}

/// The nearest ancestor with a `.git`.
pub(super) fn checkout(path: &Path) -> Option<PathBuf> {
    repository_root(path).map(|(root, _)| root.to_owned())
}

/// The folder that all worktrees of a repository share; `None` if the repository does not list the checkout.
pub(super) fn repository(checkout: &Path) -> Option<PathBuf> {
    let git = checkout.join(".git");
    if git.is_dir() {
        return disk::canonical(&git).ok();
    }
    let text = disk::read_text(&git, disk::SMALL).ok()?;
    let own = checkout.join(text.trim().strip_prefix("gitdir:")?.trim());
    let common = disk::read_text(&own.join("commondir"), disk::SMALL).ok()?;
    let common = disk::canonical(&own.join(common.trim())).ok()?;
    lists_worktree(&common, &own, checkout).then_some(common)
}

/// Whether the repository at `common` lists `checkout` as the worktree whose files are in `own`.
///
/// A `.git` file alone proves nothing: a folder from elsewhere can have one that names any repository.
fn lists_worktree(common: &Path, own: &Path, checkout: &Path) -> bool {
    let Ok(own) = disk::canonical(own) else { return false };
    let Ok(listed) = disk::read_text(&own.join("gitdir"), disk::SMALL) else { return false };
    let listed = own.join(listed.trim());
    let is_checkout = |folder: &Path| folder == checkout || real(folder) == real(checkout);
    own.parent() == Some(&common.join("worktrees"))
        && listed.ends_with(".git")
        && listed.parent().is_some_and(is_checkout)
}
