//! The checked-out branch and the default branch.

use crate::checkout::Checkout;
use crate::{CurrentBranch, GitError};
use gix::refs::TargetRef;
use std::path::Path;

/// See [`crate::branch`].
pub(crate) fn current_branch(tree: &Path) -> Result<CurrentBranch, GitError> {
    let found = Checkout::open(tree)?;
    let repo = found.references()?;
    let head = repo.head().map_err(|error| format!("HEAD cannot be read: {error}"))?;
    let name = head.referent_name().map(|name| name.shorten().to_string());
    Ok(CurrentBranch { name, default: default_branch(repo), unborn: head.is_unborn() })
}

/// The branch of `origin/HEAD`, else the first usual name that exists.
fn default_branch(repo: &gix::Repository) -> Option<String> {
    const REMOTE: &str = "refs/remotes/origin/";
    let remote = repo.try_find_reference("refs/remotes/origin/HEAD").ok().flatten();
    if let Some(remote) = &remote
        && let TargetRef::Symbolic(target) = remote.target()
        && let Some(name) = target.as_bstr().to_string().strip_prefix(REMOTE)
    {
        return Some(name.to_owned());
    }
    let configured = repo.config_snapshot().string("init.defaultBranch").map(|name| name.to_string());
    let exists = |name: &String| {
        ["refs/heads/", REMOTE].iter().any(|folder| {
            let whole = format!("{folder}{name}");
            matches!(repo.try_find_reference(whole.as_str()), Ok(Some(_)))
        })
    };
    configured.into_iter().chain(["main", "master"].map(str::to_owned)).find(exists)
}
