//! `modegate record`: the journal on and off, and a session's recording fit to be shared.

mod export;
mod identity;
mod switch;

use super::screen::{self, TextStyle, styled};
use super::{EXIT_FAILURE, EXIT_USAGE, person_only, places};
use crate::journal_files;
use crate::mode_cache;
use crate::paths::ProjectPaths;
use clap::{Args, Subcommand};
use export::ExportCommand;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
#[command(after_help = "Without a command it tells whether sessions are recorded, and where.\n\n\
    Examples:\n  \
    modegate record\n  \
    modegate record export last\n  \
    modegate record export 5f1c --out login.recording.jsonl\n  \
    modegate record off")]
pub(super) struct RecordCommand {
    #[command(subcommand)]
    what: Option<RecordAction>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum RecordAction {
    /// Tell whether sessions are recorded, where, and how much there is
    Status,
    /// Write down every event from now on; only a person can do this
    On,
    /// Write nothing down from now on; only a person can do this
    Off,
    /// Write a session as one redacted file that can be committed and replayed anywhere
    Export(ExportCommand),
}

impl RecordCommand {
    pub(super) fn run(self, project: Option<PathBuf>) -> ExitCode {
        let done = match self.what {
            None | Some(RecordAction::Status) => {
                status(&places(project), self.json);
                Ok(())
            }
            Some(RecordAction::On) => match person_only("record on") {
                Some(refused) => return refused,
                None => switch::run(&places(project), true, self.json),
            },
            Some(RecordAction::Off) => match person_only("record off") {
                Some(refused) => return refused,
                None => switch::run(&places(project), false, self.json),
            },
            Some(RecordAction::Export(export)) => export.run(project, self.json),
        };
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(RecordError { code, text }) => {
                screen::print_failure(&text, self.json);
                ExitCode::from(code)
            }
        }
    }
}

/// Why a command did not do what it should.
struct RecordError {
    code: u8,
    text: String,
}

impl RecordError {
    fn found(text: impl Into<String>) -> Self {
        Self { code: EXIT_FAILURE, text: text.into() }
    }

    fn usage(text: impl Into<String>) -> Self {
        Self { code: EXIT_USAGE, text: text.into() }
    }
}

/// Tells whether sessions are recorded, and what there is.
fn status(places: &ProjectPaths, as_json: bool) {
    let settings = mode_cache::read(places).settings;
    let (folder, journals) = (places.sessions(), journal_files::journals(&places.sessions()));
    let parts = journals.iter().flat_map(|path| [path.clone(), journal_files::older_part(path)]);
    let bytes: u64 = parts.filter_map(|path| Some(std::fs::metadata(path).ok()?.len())).sum();
    #[expect(clippy::cast_precision_loss, reason = "megabytes for people")]
    let megabytes = bytes as f64 / f64::from(1 << 20);
    let known = places.hooks().is_dir();
    if as_json {
        screen::print_json(&json!({
            "recording": settings.journal, "installed": known, "folder": folder.to_string_lossy(),
            "sessions": journals.len(), "bytes": bytes, "limit_megabytes": settings.megabytes,
        }));
        return;
    }
    let word = if settings.journal { "on" } else { "off" };
    screen::print_line(format!("recording is {} in {}", styled(TextStyle::Bold, word), places.home.display()));
    screen::print_line(format!(
        "{} {}, {megabytes:.1} MB, in {}",
        journals.len(),
        sessions(journals.len()),
        folder.display()
    ));
    if settings.journal && !known {
        screen::print_line("modegate is not installed here, so there is nothing to record; run `modegate install`");
    }
}

fn sessions(count: usize) -> &'static str {
    if count == 1 { "session" } else { "sessions" }
}
