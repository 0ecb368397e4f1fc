//! `modegate log`: the events of a project's sessions, one per line.

use super::cli_error::{self, CliError};
use super::screen::{self, TextStyle, styled};
use super::session_lookup::{find_optional, last_journal};
use super::{CliResult, local_time, places};
use crate::engine::outcome;
use crate::facts::verdict::{Finding, Verdict};
use crate::host::event::{Event, EventKind, TABLE};
use crate::host::paths::ProjectPaths;
use crate::policy::mode::BASE;
use crate::replay::report::summary::verdict_style;
use crate::state::journal::JournalLine;
use crate::state::journal_files;
use clap::Args;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

const SHORT_ID: usize = 8;

#[derive(Args)]
#[command(after_help = "Examples:
  modegate log -n 20
  modegate log --blocked --session 5f1c
  modegate log --security --since 2h
  modegate log --follow --event PreToolUse")]
#[expect(clippy::struct_excessive_bools, reason = "command-line flags")]
pub(super) struct Log {
    /// Keep printing events as they happen
    #[arg(long, short)]
    follow: bool,
    /// Only the last N events
    #[arg(long, short = 'n', value_name = "N")]
    last: Option<usize>,
    /// Only events since this time: `2h`, `3d`, `2026-11-17` or `2026-11-17T14:00`
    #[arg(long, value_name = "TIME", value_parser = parse_since)]
    since: Option<Timestamp>,
    /// Only this session: session id or a prefix of it, or `last`
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only events of this name, such as `PreToolUse`
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// Only blocked events
    #[arg(long)]
    blocked: bool,
    /// Only security events: changes to modegate's files, and what the base mode blocked or asked about
    #[arg(long)]
    security: bool,
    /// Print journal lines as JSON, one per line
    #[arg(long)]
    json: bool,
    /// Print the path of the session's journal and exit
    #[arg(long)]
    path: bool,
}

impl Log {
    pub(super) fn run(mut self, project: Option<PathBuf>) -> CliResult {
        if let Some(name) = self.event.as_deref().filter(|name| EventKind::named(name).is_none()) {
            let names: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
            return Err(cli_error::unknown("event", name, &names).hint(format!("the events are {}", names.join(", "))));
        }
        let places = places(project);
        self.session = find_optional(&places, self.session.as_deref())?;
        if self.path {
            let path = self.session.as_ref().map(|id| places.journal(id)).or_else(|| last_journal(&places));
            screen::print_line(path.unwrap_or_else(|| places.sessions()).to_string_lossy());
            return Ok(ExitCode::SUCCESS);
        }
        let mut lines: Vec<JournalLine> =
            self.journals(&places).iter().flat_map(|path| journal_files::lines(path)).collect();
        lines.sort_by(|left, right| left.at.cmp(&right.at));
        if lines.is_empty() && !self.follow {
            let message = format!("no event is recorded in {}", places.home.display());
            return Err(CliError::failure(message).hint("run `modegate doctor` to check that the hook is called"));
        }
        lines.retain(|line| self.is_wanted(line));
        let skipped = self.last.map_or(0, |count| lines.len().saturating_sub(count));
        for line in lines.iter().skip(skipped) {
            self.print(line);
        }
        if self.follow {
            self.follow(&places);
        }
        Ok(ExitCode::SUCCESS)
    }

    fn journals(&self, places: &ProjectPaths) -> Vec<PathBuf> {
        match &self.session {
            Some(id) => vec![places.journal(id)],
            None => journal_files::journals(&places.sessions()),
        }
    }

    /// Prints lines as they are added to the journals, until interrupted.
    fn follow(&self, places: &ProjectPaths) {
        const PAUSE: Duration = Duration::from_millis(200);
        let size = |path: &Path| path.metadata().map_or(0, |meta| meta.len());
        let mut read: BTreeMap<PathBuf, u64> =
            self.journals(places).into_iter().map(|path| (path.clone(), size(&path))).collect();
        loop {
            for path in self.journals(places) {
                let at = read.entry(path.clone()).or_default();
                // A rotated journal starts again at 0.
                *at = if size(&path) < *at { 0 } else { *at };
                for line in added(&path, at).iter().filter(|line| self.is_wanted(line)) {
                    self.print(line);
                }
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn is_wanted(&self, line: &JournalLine) -> bool {
        let is_named = |name: &String| line.event.get("hook_event_name").and_then(Value::as_str) == Some(name);
        let is_since = |since: &Timestamp| line.at.parse::<Timestamp>().is_ok_and(|at| at >= *since);
        (!self.security || is_about_security(line))
            && (!self.blocked || line.decision.verdict >= Verdict::Block)
            && self.event.as_ref().is_none_or(is_named)
            && self.since.as_ref().is_none_or(is_since)
    }

    fn print(&self, line: &JournalLine) {
        let Ok(event) = Event::from_value(line.event.clone()) else { return };
        if self.json {
            screen::print_line(serde_json::to_string(line).unwrap_or_default());
            return;
        }
        let session: String = screen::one_line(&line.before.id).chars().take(SHORT_ID).collect();
        let word = format!("{:<13}", outcome(&line.decision, &line.findings));
        let time = local_time(&line.at);
        let parts = [event.summary(), line.security.join("; "), reason(line), line.decision.moves.join(", ")];
        let parts: Vec<String> =
            parts.iter().map(|text| screen::one_line(text)).filter(|text| !text.is_empty()).collect();
        let used = time.chars().count() + session.chars().count() + word.chars().count() + 3;
        let details = screen::truncated(&parts.join(" · "), screen::width().saturating_sub(used).max(20));
        screen::print_line(format!(
            "{} {} {} {details}",
            styled(TextStyle::Dim, &time),
            styled(TextStyle::Cyan, &session),
            styled(verdict_style(line.decision.verdict), &word),
        ));
    }
}

/// The first line of the decision's reason; where nothing was blocked or asked, what a gate warned about or observed.
fn reason(line: &JournalLine) -> String {
    let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    let strictest = line.findings.iter().filter(|finding| !finding.reason.is_empty()).max_by_key(|one| one.verdict);
    match strictest {
        _ if !line.decision.reason.is_empty() => first(&line.decision.reason),
        Some(finding) if finding.verdict == Verdict::Observe => format!("observed: {}", first(&finding.reason)),
        Some(finding) => first(&finding.reason),
        None => String::new(),
    }
}

fn parse_since(text: &str) -> Result<Timestamp, SinceError> {
    if let Ok(span) = text.parse::<Span>() {
        return Zoned::now().checked_sub(span.abs()).map(|time| time.timestamp()).map_err(|_| SinceError);
    }
    let local = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::system()).ok();
    text.parse().ok().or_else(|| local().map(|time| time.timestamp())).ok_or(SinceError)
}

#[derive(Debug, thiserror::Error)]
#[error("write `2h`, `3d`, `2026-11-17` or `2026-11-17T14:00`")]
struct SinceError;

/// Whether something was noticed, or a gate of the base mode blocked or asked.
fn is_about_security(line: &JournalLine) -> bool {
    let objects = |finding: &Finding| finding.mode == BASE && finding.verdict >= Verdict::Ask;
    !line.security.is_empty() || line.findings.iter().any(objects)
}

/// Reads the complete lines added to a file since offset `at`, and moves the offset past them.
fn added(path: &Path, at: &mut u64) -> Vec<JournalLine> {
    let mut bytes = Vec::new();
    let mut read = || -> std::io::Result<()> {
        let mut file = base::disk::open(path)?;
        file.seek(SeekFrom::Start(*at))?;
        file.read_to_end(&mut bytes).map(drop)
    };
    if read().is_err() {
        return Vec::new();
    }
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    *at += whole as u64;
    let lines = bytes.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
}
