//! `modegate record export`: one session as a file that can be committed.

use super::RecordError;
use super::identity::identity;
use crate::cli::places;
use crate::cli::screen::{self, TextStyle, styled};
use crate::disk;
use crate::journal::JournalLine;
use crate::journal_files;
use crate::mode::SETTINGS;
use crate::mode_cache;
use crate::paths::{ProjectPaths, safe_name};
use crate::replay::export::{ExportReport, LineNote, RecordingExport, export};
use crate::replay::mask::MaskCounts;
use clap::Args;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// How many lines are told one by one.
const TOLD: usize = 10;

#[derive(Args)]
#[command(
    after_help = "The recording has the modes and settings of the project in its first line, then one line an event. \
    Secrets, your folders, your name and addresses of mail are masked; every line is decided again before it is \
    written, and one that would be decided otherwise once it is masked is left out. Read it before you share it."
)]
pub(super) struct ExportCommand {
    /// The session: its id, the beginning of it, `last`, or a journal's file
    session: String,
    /// Where to write it; `-` is standard output [default: SESSION.recording.jsonl in this folder]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write over a file that is there
    #[arg(long)]
    force: bool,
}

impl ExportCommand {
    pub(super) fn run(self, project: Option<PathBuf>, as_json: bool) -> Result<(), RecordError> {
        let to_screen = self.out.as_deref() == Some(Path::new("-"));
        // The host sets this for every command the model runs; gates see where a shell writes, but not this.
        if !to_screen && std::env::var_os("CLAUDECODE").is_some() {
            let hint = "run it in a terminal outside Claude Code, or with `--out -`";
            return Err(RecordError::found(format!("a recording is written to a file by a person\n  hint: {hint}")));
        }
        let given = project.is_some();
        let mut places = places(project);
        let journal = self.journal(&places)?;
        if let Some(home) = home_of(&journal).filter(|_| !given) {
            places = ProjectPaths { home };
        }
        let (lines, unreadable) = journal_files::all(&journal);
        let Some(first) = lines.first() else {
            return Err(RecordError::found(format!(
                "`{}` has no line that can be read\n  hint: `modegate log` lists what is recorded",
                journal.display()
            )));
        };
        let session = first.before.id.clone();
        let out = self.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}.recording.jsonl", safe_name(&session))));
        if !to_screen && !self.force && std::fs::symlink_metadata(&out).is_ok() {
            let hint = "write over it with `--force`, or give another name with `--out`";
            return Err(RecordError::found(format!("`{}` is there already\n  hint: {hint}", out.display())));
        }
        let made = export(&session, &mode_cache::sources(&places), &lines, &identity(&places));
        let text = written(&made, &lines)?;
        if to_screen {
            let _: std::io::Result<()> = std::io::stdout().write_all(text.as_bytes());
        } else {
            let cannot = |error| RecordError::found(format!("`{}` cannot be written: {error}", out.display()));
            disk::write(&out, text.as_bytes(), disk::LinkPolicy::Follow).map_err(cannot)?;
        }
        ExportSummary { out: &out, session: &session, bytes: text.len(), unreadable, report: &made.report }
            .tell(as_json, to_screen);
        Ok(())
    }

    /// The journal that is meant.
    fn journal(&self, places: &ProjectPaths) -> Result<PathBuf, RecordError> {
        let folder = places.sessions();
        if self.session == "last" {
            let none = || {
                format!(
                    "no session is recorded in {}\n  hint: `modegate record` tells whether it records",
                    places.home.display()
                )
            };
            return crate::cli::session_lookup::last_journal(places).ok_or_else(|| RecordError::found(none()));
        }
        let exact = places.journal(&self.session);
        if exact.is_file() {
            return Ok(exact);
        }
        let path = Path::new(&self.session);
        if path.is_file() {
            return Ok(newer_part(path));
        }
        let mut names: Vec<String> = journal_files::journals(&folder).iter().map(|path| stem(path)).collect();
        names.sort();
        let mut near: Vec<&String> = names.iter().filter(|name| name.starts_with(&self.session)).collect();
        match (near.pop(), near.is_empty()) {
            (Some(only), true) => Ok(folder.join(format!("{only}.jsonl"))),
            (Some(last), false) => {
                near.push(last);
                let some: Vec<&str> = near.iter().take(5).map(|name| name.as_str()).collect();
                let text = format!("`{}` begins {} sessions: {}", self.session, near.len(), some.join(", "));
                Err(RecordError::usage(format!("{text}\n  hint: write more of the id")))
            }
            (None, _) => {
                let text = format!("no session `{}` is recorded in {}", self.session, places.home.display());
                Err(RecordError::usage(format!(
                    "{text}\n  hint: `modegate status` lists the sessions; `last` is the latest"
                )))
            }
        }
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The journal that an older part belongs to: both are read as one.
fn newer_part(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(".old.jsonl").map_or_else(|| path.to_owned(), |name| path.with_file_name(format!("{name}.jsonl")))
}

/// The project in whose `.claude/hooks/sessions` a journal lies.
fn home_of(journal: &Path) -> Option<PathBuf> {
    let real = journal.canonicalize().ok()?;
    let home = real.ancestors().nth(4)?;
    real.starts_with(home.join(".claude/hooks/sessions")).then(|| home.to_owned())
}

/// The whole file; an empty one helps nobody.
fn written(made: &RecordingExport, lines: &[JournalLine]) -> Result<String, RecordError> {
    if made.lines.is_empty() {
        let why = made.report.left_out.first().map_or("", |line| line.why.as_str());
        let hint =
            format!("look for a secret in `{SETTINGS}` or the mode files that decides something, and take it out");
        return Err(RecordError::found(format!(
            "none of the {} lines could be kept: {why}\n  hint: {hint}",
            lines.len()
        )));
    }
    let mut text = String::new();
    let header = serde_json::to_string(&made.header);
    for line in std::iter::once(header).chain(made.lines.iter().map(serde_json::to_string)) {
        text.push_str(&line.map_err(|error| RecordError::found(format!("a line cannot be written: {error}")))?);
        text.push('\n');
    }
    Ok(text)
}

/// What is told of an export.
struct ExportSummary<'a> {
    out: &'a Path,
    session: &'a str,
    bytes: usize,
    unreadable: usize,
    report: &'a ExportReport,
}

impl ExportSummary<'_> {
    fn tell(&self, as_json: bool, to_screen: bool) {
        let Self { out, session, bytes, unreadable, report } = self;
        // Standard output is the recording's, if it goes there.
        let say = |text: String| if to_screen { screen::print_error(text) } else { screen::print_line(text) };
        if as_json {
            let told = json!({
                "session": session, "file": out.to_string_lossy(), "bytes": bytes, "unreadable": unreadable,
                "report": report,
            });
            return say(serde_json::to_string_pretty(&told).unwrap_or_default());
        }
        let name = if to_screen { "standard output".to_owned() } else { out.display().to_string() };
        say(format!("session {session}: {} lines in {}", report.lines, styled(TextStyle::Bold, &name)));
        say(format!("  masked: {}", counted(report.masked)));
        if *unreadable > 0 {
            say(format!("  left out: {unreadable} lines of the journal that cannot be read"));
        }
        if report.other_modes > 0 {
            let other = "were decided by other modes than today's, and are not proved";
            say(format!("  {} lines {other}", report.other_modes));
        }
        listed("left out", &report.left_out).into_iter().for_each(say);
        listed("masked less", &report.loosened).into_iter().for_each(say);
        if !to_screen {
            say("Read it before you share it: what looks like nothing special is not masked.".to_owned());
        }
    }
}

fn listed(what: &str, lines: &[LineNote]) -> Vec<String> {
    let told = lines.iter().take(TOLD).map(|line| format!("  {what}: {} at {}: {}", line.event, line.at, line.why));
    let more = lines.len().saturating_sub(TOLD);
    told.chain((more > 0).then(|| format!("  {what}: {more} more"))).collect()
}

fn counted(tally: MaskCounts) -> String {
    let counts = [
        (tally.secrets, "secrets"),
        (tally.paths, "folders"),
        (tally.names, "names"),
        (tally.mails, "addresses"),
        (tally.cut, "long prompts cut"),
    ];
    let parts: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}
