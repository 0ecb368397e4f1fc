//! `modegate trust`: a person agrees to the files of a project that steer modegate.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

mod summary;

use super::cli_error::CliError;
use super::screen::{self, TextStyle, styled};
use super::{CliResult, is_run_by_model, places, require_person};
use crate::live::place;
use crate::mode::{Catalogue, ProjectSources, ProjectTrust, TrustState};
use crate::mode_cache;
use crate::paths::ProjectPaths;
use crate::printable::one_line;
use crate::trust::{SteeringFiles, TrustRecord};
use crate::user_folder::project_paths;
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

/// The files of a project, and what the user has agreed to.
pub(super) struct TrustReview {
    places: ProjectPaths,
    sources: ProjectSources,
    files: SteeringFiles,
    record: Option<TrustRecord>,
}

impl Trust {
    pub(super) fn run(self, project: Option<PathBuf>) -> CliResult {
        let review = TrustReview::read(places(project));
        let changes_record = self.revoke || !self.show && (!self.json || self.yes);
        if changes_record {
            require_person("trust", &review.places)?;
        }
        if self.revoke {
            review.revoke(self.json)?;
            return Ok(ExitCode::SUCCESS);
        }
        let open = !review.files.is_empty() && !review.is_trusted();
        if !self.json {
            review.print();
        }
        if changes_record && open {
            if !self.yes && !confirmed()? {
                screen::print_line("nothing was trusted");
                return Ok(ExitCode::FAILURE);
            }
            review.agree()?;
        }
        if self.json {
            screen::print_json(&review.as_json(changes_record && open));
        } else if changes_record && open {
            screen::print_line("trusted; applies from the next event");
            review.warn_of_broken_files();
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl TrustReview {
    fn read(places: ProjectPaths) -> Self {
        let sources = mode_cache::sources(&places);
        let files = SteeringFiles::read(&places, &sources);
        let record = TrustRecord::read(&places);
        Self { places, sources, files, record }
    }

    fn is_trusted(&self) -> bool {
        self.record.as_ref().is_some_and(|record| record.covers(&self.files))
    }

    fn agree(&self) -> Result<(), CliError> {
        let mut record = self.record.clone().unwrap_or_default();
        record.add(&self.files);
        record.write(&self.places).map_err(|error| {
            CliError::failure(format!("cannot store your trust in this project: {error}"))
                .hint("modegate's state folder must be outside the repository; see `MODEGATE_STATE_DIR`")
        })
    }

    fn revoke(&self, as_json: bool) -> Result<(), CliError> {
        let path = self.places.trust().filter(|path| path.exists());
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

    fn print(&self) {
        screen::print_line(format!("project {}", styled(TextStyle::Bold, &self.places.home.to_string_lossy())));
        if self.files.is_empty() {
            screen::print_line(
                "nothing to trust: the project has no modes, settings, gates or context files of its own",
            );
        } else if self.is_trusted() {
            screen::print_line("trusted; nothing has changed since");
        } else {
            self.print_open();
        }
    }

    /// Prints what the user has not agreed to.
    fn print_open(&self) {
        match &self.record {
            Some(record) => summary::print_changes(record, &self.files),
            None => summary::print_files(&self.files),
        }
        summary::print_powers(&self.sources, &self.replaced_hooks());
    }

    fn replaced_hooks(&self) -> Vec<String> {
        mode_cache::replaced_hooks(&self.places, &self.sources)
    }

    fn warn_of_broken_files(&self) {
        let broken = summary::broken_files(&self.sources, &self.files);
        for line in &broken {
            screen::print_error(format!("warning: {line}"));
        }
        if !broken.is_empty() {
            screen::print_error("  hint: run `modegate modes check` to see the problems");
        }
    }

    fn as_json(&self, has_agreed: bool) -> serde_json::Value {
        let state = match &self.record {
            _ if self.files.is_empty() => "nothing",
            _ if has_agreed || self.is_trusted() => "trusted",
            Some(_) => "changed",
            None => "untrusted",
        };
        let files: Vec<&String> = self.files.rules.keys().chain(self.files.others.keys()).collect();
        json!({
            "home": self.places.home.to_string_lossy(), "state": state, "files": files,
            "changes": self.record.as_ref().map(|record| summary::changes(record, &self.files)).unwrap_or_default(),
            "powers": summary::powers(&self.sources, &self.replaced_hooks()),
        })
    }
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

/// Agrees to the current files; a record that cannot be written leaves them untrusted, which events report.
pub(crate) fn renew(places: &ProjectPaths) {
    let review = TrustReview::read(places.clone());
    if !review.files.is_empty() {
        let _: Result<(), CliError> = review.agree();
    }
}

/// Whether the files of a project were the person's own before a command changed them: they were trusted, or there were
/// none. Then the person agrees to the change in the same step.
pub(crate) struct TrustBefore {
    places: ProjectPaths,
    is_renewal: bool,
}

impl TrustBefore {
    pub(crate) fn read(places: ProjectPaths) -> Self {
        let review = TrustReview::read(places.clone());
        Self { is_renewal: !is_run_by_model() && (review.files.is_empty() || review.is_trusted()), places }
    }

    /// Agrees to the files as they are now, if they were the person's own before.
    pub(crate) fn renew(&self) {
        if self.is_renewal {
            renew(&self.places);
        }
    }

    /// Whether the files as they are now are not used until a person agrees to them.
    pub(super) fn is_missing(&self) -> bool {
        let review = TrustReview::read(self.places.clone());
        !review.files.is_empty() && !review.is_trusted()
    }

    /// Shows files that others wrote, and asks whether to trust them.
    pub(super) fn ask(&self) -> Result<(), CliError> {
        let review = TrustReview::read(self.places.clone());
        if review.files.is_empty() || review.is_trusted() || is_run_by_model() {
            return Ok(());
        }
        screen::print_line("");
        review.print_open();
        if std::io::stdin().is_terminal() && confirmed()? {
            review.agree()?;
            screen::print_line("trusted; run `modegate trust --revoke` to undo that");
            review.warn_of_broken_files();
        } else {
            screen::print_line("these files are not used until you run `modegate trust`");
        }
        Ok(())
    }
}

/// What a person should know if a folder with `.claude/hooks` takes a session out of a project that they trust.
///
/// A pull can add such a folder. One with files of its own that the person trusts is there on purpose.
pub(super) fn project_above(places: &ProjectPaths) -> Option<String> {
    let root = place::repository_home(&places.home)?;
    let above = places.home.ancestors().skip(1).take_while(|folder| folder.starts_with(&root));
    let mut projects = above.filter(|folder| folder.join(".claude/hooks").is_dir());
    let trusted = projects.find(|folder| TrustRecord::read(&project_paths(folder.to_path_buf())).is_some())?;
    if TrustRecord::read(places).is_some() {
        return None;
    }
    let below = places.home.strip_prefix(trusted).unwrap_or(&places.home).join(".claude/hooks");
    Some(format!(
        "`{}` makes this folder a project of its own, so the modes and gates of `{}`, which you trust, are not used here",
        one_line(&below.to_string_lossy()),
        one_line(&trusted.to_string_lossy())
    ))
}

/// What a person should know about the trust in a project, with its context files and scripts.
pub(super) fn notice(places: &ProjectPaths, catalogue: &Catalogue) -> Option<String> {
    catalogue.trust.notice().or_else(|| {
        catalogue.trust.accepted.as_ref()?;
        let review = TrustReview::read(places.clone());
        let files = review.record.as_ref()?.unknown_others(&review.files);
        ProjectTrust { state: TrustState::Changed, files, ..ProjectTrust::default() }.others_notice()
    })
}
