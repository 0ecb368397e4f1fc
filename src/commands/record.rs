//! `modegate record`: turns recording on and off, and exports sessions.

mod export;
mod machine;
mod switch;

use crate::commands::{CliResult, places, require_person};
use crate::host::paths::ProjectPaths;
use crate::state::journal_files;
use crate::state::mode_cache;
use base::screen::{self, TextStyle, styled};
use clap::{Args, Subcommand};
use export::ExportCommand;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
#[command(after_help = "Without a subcommand it prints the status.\n\n\
    Examples:\n  \
    modegate record\n  \
    modegate record export last\n  \
    modegate record export 5f1c --out login.recording.jsonl\n  \
    modegate record off")]
pub(crate) struct RecordCommand {
    #[command(subcommand)]
    action: Option<RecordAction>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum RecordAction {
    /// Show whether sessions are recorded, and where
    #[command(after_help = "Example:\n  modegate record status --json")]
    Status,
    /// Record every event from now on; only a person can do this
    #[command(after_help = "Example:\n  modegate record on")]
    On,
    /// Stop recording; only a person can do this
    #[command(after_help = "Example:\n  modegate record off")]
    Off,
    /// Export a session as one masked file that can be committed and replayed
    Export(ExportCommand),
}

impl RecordCommand {
    pub(crate) fn run(self, project: Option<PathBuf>) -> CliResult {
        match self.action {
            None | Some(RecordAction::Status) => print_status(&places(project), self.json),
            Some(RecordAction::On) => {
                let places = places(project);
                require_person("record on", &places)?;
                switch::run(&places, true, self.json)?;
            }
            Some(RecordAction::Off) => {
                let places = places(project);
                require_person("record off", &places)?;
                switch::run(&places, false, self.json)?;
            }
            Some(RecordAction::Export(export)) => export.run(project, self.json)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

#[expect(clippy::disallowed_methods, reason = "does I/O")]
fn print_status(places: &ProjectPaths, as_json: bool) {
    let settings = mode_cache::read(places).settings;
    let (folder, journals) = (places.sessions(), journal_files::journals(&places.sessions()));
    let parts = journals.iter().flat_map(|path| [path.clone(), journal_files::older_part(path)]);
    let bytes: u64 = parts.filter_map(|path| Some(std::fs::metadata(path).ok()?.len())).sum();
    let (count, installed) = (journals.len(), places.hooks().is_dir());
    if as_json {
        screen::print_json(&json!({
            "recording": settings.journal, "installed": installed, "folder": folder.to_string_lossy(),
            "sessions": count, "bytes": bytes, "limit_megabytes": settings.megabytes,
        }));
        return;
    }
    let kilobytes = bytes.div_ceil(1 << 10);
    let size = if kilobytes < 1024 { format!("{kilobytes} KB") } else { format!("{} MB", kilobytes / 1024) };
    let (word, noun) = (if settings.journal { "on" } else { "off" }, if count == 1 { "session" } else { "sessions" });
    screen::print_line(format!("recording is {} in {}", styled(TextStyle::Bold, word), places.home.display()));
    screen::print_line(format!("{count} {noun}, {size}, in {}", folder.display()));
    if settings.journal && !installed {
        screen::print_line("modegate is not installed here, so nothing is recorded; run `modegate install`");
    }
}
