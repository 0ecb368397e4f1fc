//! `MODEGATE_TRUST=1`, for CI: trusts every project, unless the project itself sets it.

#![expect(clippy::disallowed_methods, reason = "an I/O module")]

use crate::user_folder::UserEnvironment;
use std::path::Path;

const VARIABLE: &str = "MODEGATE_TRUST";

/// What the environment says about trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EnvironmentTrust {
    /// Nothing.
    Unset,
    /// Every project is trusted.
    Granted,
    /// The project's settings set the variable, which the host passes on to hooks.
    Ignored,
}

pub(super) fn trust(home: &Path) -> EnvironmentTrust {
    if !std::env::var_os(VARIABLE).is_some_and(|value| value == "1" || value == "true") {
        return EnvironmentTrust::Unset;
    }
    let is_of_project = UserEnvironment::of(home).is_set_by_project(VARIABLE);
    if is_of_project { EnvironmentTrust::Ignored } else { EnvironmentTrust::Granted }
}
