//! `modegate record export`: writes a session to a file that can be committed.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use super::machine::machine_identity;
use crate::commands::cli_error::CliError;
use crate::commands::session_lookup::find_session;
use crate::commands::{is_run_by_model, places};
use crate::host::paths::{ProjectPaths, safe_name};
use crate::policy::mode::SETTINGS;
use crate::replay::mask::MaskCounts;
use crate::replay::recording::{ExportReport, LineNote, RecordingExport, export};
use crate::state::journal_files;
use crate::state::mode_cache;
use crate::state::user_folder::project_paths;
use base::disk;
use base::screen::{self, TextStyle, styled};
use clap::Args;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// How many lines of a kind are listed.
const LISTED: usize = 10;

#[derive(Args)]
#[command(
    after_help = "The first line of a recording contains the modes and settings of the project; one line per event\n\
    follows. Secrets, your folders, your name and email addresses are masked. Every masked line is decided\n\
    again, and left out if the decision differs. Read the file before you share it.\n\n\
    Examples:\n  \
    modegate record export last\n  \
    modegate record export 5f1c --out login.recording.jsonl\n  \
    modegate record export last --out - | less"
)]
pub(crate) struct ExportCommand {
    /// Session id or a prefix of it, `last`, or the path of a journal
    session: String,
    /// File to write, or `-` for standard output [default: SESSION.recording.jsonl]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
}

impl ExportCommand {
    pub(crate) fn run(self, project: Option<PathBuf>, as_json: bool) -> Result<(), CliError> {
        let to_stdout = self.out.as_deref() == Some(Path::new("-"));
        // Gates see where a shell writes, but not this file.
        if !to_stdout && is_run_by_model() {
            return Err(CliError::failure("only a person can export a recording to a file")
                .hint("run it in a terminal outside Claude Code, or with `--out -`"));
        }
        let given = project.is_some();
        let mut places = places(project);
        let journal = self.journal(&places)?;
        if let Some(home) = project_of(&journal).filter(|_| !given) {
            places = project_paths(home);
        }
        let (lines, unreadable) = journal_files::all(&journal);
        let Some(first) = lines.first() else {
            return Err(CliError::failure(format!("`{}` has no readable line", journal.display()))
                .hint("run `modegate log` to see what is recorded"));
        };
        let session = first.before.id.to_string();
        let out = self.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}.recording.jsonl", safe_name(&session))));
        if !to_stdout && !self.force && std::fs::symlink_metadata(&out).is_ok() {
            return Err(CliError::failure(format!("`{}` already exists", out.display()))
                .hint("overwrite it with `--force`, or choose another file with `--out`"));
        }
        let recording = export(&session, &mode_cache::trusted_sources(&places), &lines, &machine_identity(&places));
        let text = recording_text(&recording, lines.len())?;
        if to_stdout {
            let _: std::io::Result<()> = std::io::stdout().write_all(text.as_bytes());
        } else {
            let failed = |error| CliError::failure(format!("cannot write `{}`: {error}", out.display()));
            disk::write(&out, text.as_bytes(), disk::LinkPolicy::Follow).map_err(failed)?;
        }
        let report = &recording.report;
        ExportSummary { out: &out, session: &session, bytes: text.len(), unreadable, report }.print(as_json, to_stdout);
        Ok(())
    }

    fn journal(&self, places: &ProjectPaths) -> Result<PathBuf, CliError> {
        let path = Path::new(&self.session);
        if path.is_file() {
            // An older part is read together with its journal.
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let journal = name.strip_suffix(".old.jsonl").map(|name| path.with_file_name(format!("{name}.jsonl")));
            return Ok(journal.unwrap_or_else(|| path.to_owned()));
        }
        let session = find_session(places, &self.session)?;
        let journal = places.journal(&session);
        if journal.is_file() {
            return Ok(journal);
        }
        Err(CliError::failure(format!("session `{session}` was not recorded"))
            .hint("run `modegate record` to see whether recording is on"))
    }
}

/// The project whose `.claude/hooks/sessions` contains a journal.
fn project_of(journal: &Path) -> Option<PathBuf> {
    let real = journal.canonicalize().ok()?;
    let home = real.ancestors().nth(4)?;
    real.starts_with(home.join(".claude/hooks/sessions")).then(|| home.to_owned())
}

fn recording_text(recording: &RecordingExport, journal_lines: usize) -> Result<String, CliError> {
    if recording.lines.is_empty() {
        let reason = recording.report.left_out.first().map_or("", |line| line.why.as_str());
        return Err(CliError::failure(format!("none of the {journal_lines} lines can be exported: {reason}"))
            .hint(format!("remove secrets that decide something from `{SETTINGS}` and the mode files")));
    }
    let mut text = String::new();
    let header = serde_json::to_string(&recording.header);
    for line in std::iter::once(header).chain(recording.lines.iter().map(serde_json::to_string)) {
        text.push_str(&line.map_err(|error| CliError::failure(format!("cannot write a line as JSON: {error}")))?);
        text.push('\n');
    }
    Ok(text)
}

/// What the user is shown about an export.
struct ExportSummary<'a> {
    out: &'a Path,
    session: &'a str,
    bytes: usize,
    unreadable: usize,
    report: &'a ExportReport,
}

impl ExportSummary<'_> {
    fn print(&self, as_json: bool, to_stdout: bool) {
        let Self { out, session, bytes, unreadable, report } = self;
        // The recording itself may be on standard output.
        let print = |text: String| if to_stdout { screen::print_error(text) } else { screen::print_line(text) };
        if as_json {
            let summary = json!({
                "session": session, "file": out.to_string_lossy(), "bytes": bytes, "unreadable": unreadable,
                "report": report,
            });
            return print(serde_json::to_string_pretty(&summary).unwrap_or_default());
        }
        let name = if to_stdout { "standard output".to_owned() } else { out.display().to_string() };
        let lines = screen::counted(report.lines, "line");
        print(format!("session {session}: {lines} written to {}", styled(TextStyle::Bold, &name)));
        print(format!("  masked: {}", mask_counts(report.masked)));
        if *unreadable > 0 {
            print(format!("  left out: {} of the journal", screen::counted(*unreadable, "unreadable line")));
        }
        if report.other_modes > 0 {
            let lines = screen::counted(report.other_modes, "line");
            print(format!("  not verified: {lines} decided by modes other than today's"));
        }
        line_notes("left out", &report.left_out).into_iter().for_each(print);
        line_notes("partly masked", &report.partly_masked).into_iter().for_each(print);
        if !to_stdout {
            print("Read it before you share it: only what looks like a secret is masked.".to_owned());
        }
    }
}

fn line_notes(kind: &str, lines: &[LineNote]) -> Vec<String> {
    let shown = lines.iter().take(LISTED).map(|line| format!("  {kind}: {} at {}: {}", line.event, line.at, line.why));
    let more = lines.len().saturating_sub(LISTED);
    shown.chain((more > 0).then(|| format!("  {kind}: {more} more"))).collect()
}

fn mask_counts(counts: MaskCounts) -> String {
    let counts = [
        (counts.secrets, "secret"),
        (counts.paths, "folder"),
        (counts.names, "name"),
        (counts.mails, "email address"),
        (counts.cut, "shortened prompt"),
    ];
    let parts: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, kind)| screen::counted(*count, kind)).collect();
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}
