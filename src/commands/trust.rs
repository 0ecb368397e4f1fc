//! `modegate trust`: a person agrees to the files of a project that configure modegate.

mod summary;

use super::cli_error::CliError;
use super::screen::{self, TextStyle, styled};
use super::{CliResult, is_run_by_model, places, require_person};
use crate::host::paths::ProjectPaths;
use crate::policy::mode::{Catalogue, ProjectTrust, TrustState};
use crate::state::mode_cache;
use crate::state::trust::TrustReview;
pub(super) use crate::state::trust::renew;
use clap::Args;
use serde_json::json;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
#[command(
    after_help = "A project's modes, settings, gates and context files are used only after you have trusted them. When one
of them changes, the version you trusted stays in use until you run this again.

Examples:
  modegate trust              show what is new, and ask
  modegate trust --show       show it, and change nothing
  modegate trust --revoke     use only the built-in modes and rules

In CI, set MODEGATE_TRUST=1."
)]
#[expect(clippy::struct_excessive_bools, reason = "command-line flags")]
pub(super) struct Trust {
    /// Trust without asking
    #[arg(long, short)]
    yes: bool,
    /// Show what would be trusted, and change nothing
    #[arg(long)]
    show: bool,
    /// Withdraw your trust
    #[arg(long, conflicts_with_all = ["yes", "show"])]
    revoke: bool,
    /// Print JSON, and change nothing unless `--yes` or `--revoke` is given
    #[arg(long)]
    json: bool,
}

impl Trust {
    pub(super) fn run(self, project: Option<PathBuf>) -> CliResult {
        let review = TrustReview::read_project(&places(project));
        let changes_record = self.revoke || !self.show && (!self.json || self.yes);
        if changes_record {
            require_person("trust", &review.places)?;
        }
        if self.revoke {
            revoke(&review.places, self.json)?;
            return Ok(ExitCode::SUCCESS);
        }
        let agrees = changes_record && review.is_open();
        if !self.json {
            print(&review);
        }
        if agrees {
            if !self.yes && !confirmed()? {
                screen::print_line("nothing was trusted");
                return Ok(ExitCode::FAILURE);
            }
            agree(&review)?;
        }
        if self.json {
            screen::print_json(&as_json(&review, agrees));
        } else if agrees {
            screen::print_line("trusted; applies from the next event");
            warn_of_broken_files(&review);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn agree(review: &TrustReview) -> Result<(), CliError> {
    review.agree().map_err(|error| {
        CliError::failure(format!("cannot store your trust in this project: {error}"))
            .hint("modegate's state folder must be outside the repository; see `MODEGATE_STATE_DIR`")
    })
}

fn revoke(places: &ProjectPaths, as_json: bool) -> Result<(), CliError> {
    let path = places.trust().filter(|path| path.exists());
    if let Some(path) = &path {
        let failed = |error| CliError::failure(format!("cannot remove `{}`: {error}", path.display()));
        std::fs::remove_file(path).map_err(failed)?;
    }
    if as_json {
        screen::print_json(&json!({"revoked": path.is_some()}));
    } else if path.is_some() {
        screen::print_line("no longer trusted; only the built-in modes and rules are used from the next event");
    } else {
        screen::print_line("this project was not trusted");
    }
    Ok(())
}

fn print(review: &TrustReview) {
    screen::print_line(format!("project {}", styled(TextStyle::Bold, &review.places.home.to_string_lossy())));
    if review.files.is_empty() {
        screen::print_line("nothing to trust: the project has no modes, settings, gates or context files of its own");
    } else if review.is_trusted() {
        screen::print_line("trusted; nothing has changed since");
    } else {
        print_open(review);
    }
}

fn print_open(review: &TrustReview) {
    match &review.record {
        Some(record) => summary::print_changes(record, &review.files),
        None => summary::print_files(&review.files),
    }
    let powers = powers(review);
    if !powers.is_empty() {
        screen::print_line("with these files, modegate:");
    }
    for power in powers {
        screen::print_line(format!("  {power}"));
    }
}

fn powers(review: &TrustReview) -> Vec<String> {
    summary::powers(&review.sources, &mode_cache::replaced_hooks(&review.places, &review.sources))
}

fn warn_of_broken_files(review: &TrustReview) {
    let broken = summary::broken_files(&review.sources, &review.files);
    for line in &broken {
        screen::print_error(format!("warning: {line}"));
    }
    if !broken.is_empty() {
        screen::print_error("  hint: run `modegate modes check` to see the problems");
    }
}

fn as_json(review: &TrustReview, has_agreed: bool) -> serde_json::Value {
    let files = &review.files;
    let state = match &review.record {
        _ if files.is_empty() => "nothing",
        _ if has_agreed || review.is_trusted() => "trusted",
        Some(_) => "changed",
        None => "untrusted",
    };
    let paths: Vec<&String> = files.rules.keys().chain(files.others.keys()).collect();
    json!({
        "home": review.places.home.to_string_lossy(), "state": state, "files": paths,
        "changes": review.record.as_ref().map(|record| summary::changes(record, files)).unwrap_or_default(),
        "powers": powers(review),
    })
}

fn confirmed() -> Result<bool, CliError> {
    if !std::io::stdin().is_terminal() {
        return Err(CliError::failure("cannot ask: standard input is not a terminal")
            .hint("run `modegate trust` in a terminal, or add `--yes` once you have read the files"));
    }
    let _: std::io::Result<()> = write!(std::io::stderr(), "Trust this? [y/N] ");
    let mut answer = String::new();
    let _: std::io::Result<usize> = std::io::stdin().read_line(&mut answer);
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Whether the files of a project were the person's own before a command changed them: they were trusted, or there were
/// none. Then the person agrees to the change in the same step.
pub(crate) struct TrustBefore {
    places: ProjectPaths,
    is_renewal: bool,
}

impl TrustBefore {
    pub(crate) fn read(places: ProjectPaths) -> Self {
        Self { is_renewal: !is_run_by_model() && !TrustReview::read_project(&places).is_open(), places }
    }

    /// Agrees to the files as they are now, if they were the person's own before.
    pub(crate) fn renew(&self) {
        if self.is_renewal {
            renew(&self.places);
        }
    }

    /// Whether the files as they are now are not used until a person agrees to them.
    pub(super) fn is_missing(&self) -> bool {
        TrustReview::read_project(&self.places).is_open()
    }

    /// Shows files that others wrote, and asks whether to trust them.
    pub(super) fn ask(&self) -> Result<(), CliError> {
        let review = TrustReview::read_project(&self.places);
        if !review.is_open() || is_run_by_model() {
            return Ok(());
        }
        screen::print_line("");
        print_open(&review);
        if std::io::stdin().is_terminal() && confirmed()? {
            agree(&review)?;
            screen::print_line("trusted; run `modegate trust --revoke` to undo that");
            warn_of_broken_files(&review);
        } else {
            screen::print_line("these files are not used until you run `modegate trust`");
        }
        Ok(())
    }
}

/// What a person should know about the trust in a project, with its context files and scripts.
pub(super) fn notice(places: &ProjectPaths, catalogue: &Catalogue) -> Option<String> {
    catalogue.trust.notice().or_else(|| {
        catalogue.trust.accepted.as_ref()?;
        let review = TrustReview::read_project(places);
        let files = review.record.as_ref()?.unknown_others(&review.files);
        ProjectTrust { state: TrustState::Changed, files, ..ProjectTrust::default() }.others_notice()
    })
}
