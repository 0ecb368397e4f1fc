//! The project of an event, and the worktree in which its files are looked for.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use crate::paths::{lexical, worktree_owner};
use std::path::{Path, PathBuf};

/// The home of a project, where state and configuration are.
///
/// As given by the host, else the nearest ancestor of `cwd` with a `.claude` folder that is not the
/// user's own, else `cwd`.
#[must_use]
pub fn home(said: Option<&Path>, cwd: &Path, user: Option<&Path>) -> PathBuf {
    if let Some(said) = said.filter(|said| said.is_absolute() && said.is_dir()) {
        return lexical(said);
    }
    let cwd = lexical(cwd);
    if let Some(worktree_owner) = worktree_owner(&cwd) {
        return worktree_owner;
    }
    // The user's folder may be known by a link.
    let is_users = |dir: &Path| user.is_some_and(|user| dir == user || real(dir) == real(user));
    let has_claude = |dir: &&Path| dir.join(".claude").is_dir() && !is_users(dir);
    cwd.ancestors().find(has_claude).unwrap_or(&cwd).to_owned()
}

/// The home of the project at `cwd`, with the host's environment variables.
#[must_use]
pub fn home_here(cwd: Option<&Path>) -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let here = || std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let cwd = cwd.filter(|cwd| cwd.is_absolute()).map_or_else(here, Path::to_owned);
    home(
        variable("CLAUDE_PROJECT_DIR").as_deref(),
        &cwd,
        variable("HOME").or_else(|| variable("USERPROFILE")).as_deref(),
    )
}

/// The folder in which files and commits are looked for: home, or the same folder in the worktree of home's
/// repository that contains `cwd`.
#[must_use]
pub fn tree(home: &Path, cwd: Option<&Path>) -> PathBuf {
    other_tree(home, cwd).unwrap_or_else(|| home.to_owned())
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
///
/// `None` in a main checkout, in a submodule, and where the repository has no checkout of its own (a bare one).
#[must_use]
pub fn in_main_checkout(folder: &Path) -> Option<PathBuf> {
    let (here, git) = folder.ancestors().find_map(|dir| Some((dir, dir.join(".git").metadata().ok()?)))?;
    if git.is_dir() {
        return None;
    }
    let shared = repository(here).filter(|shared| shared.ends_with(".git"))?;
    Some(shared.parent()?.join(folder.strip_prefix(here).ok()?))
}

/// The path with links resolved, as far as it exists.
#[must_use]
pub fn real(path: &Path) -> PathBuf {
    let known = path.ancestors().find_map(|ancestor| Some((ancestor, ancestor.canonicalize().ok()?)));
    match known {
        Some((ancestor, real)) if ancestor == path => real,
        Some((ancestor, real)) => real.join(path.strip_prefix(ancestor).unwrap_or(Path::new(""))),
        None => path.to_owned(),
    }
}

/// The nearest ancestor with a `.git`.
pub(super) fn checkout(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|dir| dir.join(".git").exists()).map(Path::to_owned)
}

/// The folder that all worktrees of a repository share.
pub(super) fn repository(checkout: &Path) -> Option<PathBuf> {
    let git = checkout.join(".git");
    if git.is_dir() {
        return git.canonicalize().ok();
    }
    let text = std::fs::read_to_string(&git).ok()?;
    let own = checkout.join(text.trim().strip_prefix("gitdir:")?.trim());
    let common = std::fs::read_to_string(own.join("commondir")).ok()?;
    own.join(common.trim()).canonicalize().ok()
}
