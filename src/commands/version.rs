//! `modegate --version --verbose`: what this program was built from, and how.

use super::screen;
use std::process::ExitCode;

pub(super) fn main() -> ExitCode {
    screen::print_line(format!("modegate {}", env!("CARGO_PKG_VERSION")));
    let details = [
        // The release script sets it; other builds may contain changes that no commit has.
        ("commit", option_env!("MODEGATE_COMMIT").unwrap_or("unknown (not a release)")),
        ("target", env!("MODEGATE_TARGET")),
        ("profile", env!("MODEGATE_PROFILE")),
        ("features", if cfg!(feature = "tls") { "tls" } else { "none" }),
        ("rustc", env!("MODEGATE_RUSTC")),
    ];
    for (name, value) in details {
        screen::print_line(format!("{name:<9} {value}"));
    }
    ExitCode::SUCCESS
}
