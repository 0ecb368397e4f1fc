//! `modegate --version --verbose`: what this program was built from, and how.

use super::screen;
use std::process::ExitCode;

/// The features of this build.
const FEATURES: &[(&str, bool)] = &[("tls", cfg!(feature = "tls"))];

/// Prints the version and the details of the build.
pub(super) fn main() -> ExitCode {
    screen::print_line(format!("modegate {}", env!("CARGO_PKG_VERSION")));
    for (name, value) in details() {
        screen::print_line(format!("{name:<9} {value}"));
    }
    ExitCode::SUCCESS
}

fn details() -> [(&'static str, String); 5] {
    [
        // The release script sets it; other builds may contain changes that no commit has.
        ("commit", option_env!("MODEGATE_COMMIT").unwrap_or("unknown (not a release)").to_owned()),
        ("target", env!("MODEGATE_TARGET").to_owned()),
        ("profile", env!("MODEGATE_PROFILE").to_owned()),
        ("features", features()),
        ("rustc", env!("MODEGATE_RUSTC").to_owned()),
    ]
}

fn features() -> String {
    let names: Vec<&str> = FEATURES.iter().filter(|(_, is_on)| *is_on).map(|(name, _)| *name).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
