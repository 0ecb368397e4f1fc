//! Heartbeats of the hook: when a session last called it, and whether the session went on without it.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use super::install_manifest::InstallManifest;
use super::install_target::{InstallTarget, user_folder};
use crate::journal_files;
use crate::paths::ProjectPaths;
use crate::transcript::TranscriptRecord;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::fmt;
use std::path::{Path, PathBuf};

/// A tool call that has not reached the hook after this time never will.
const LATE: SignedDuration = SignedDuration::from_secs(60);

/// Older sessions are not considered.
const RECENT: SignedDuration = SignedDuration::from_hours(24);

/// The last calls of one session.
#[derive(Debug, Clone)]
pub(super) struct HookActivity {
    pub(super) session: String,
    /// The last event of the session that reached the hook.
    pub(super) seen: Option<Timestamp>,
    /// The last tool call in the host's transcript.
    pub(super) used: Option<Timestamp>,
}

impl HookActivity {
    /// Reads the hook activity of a session with a journal.
    pub(super) fn of(journal: &Path) -> Option<Self> {
        let last = journal_files::last(journal)?;
        let transcript = last.event.get("transcript_path").and_then(Value::as_str);
        let used = transcript.and_then(|path| last_use(Path::new(path)));
        Some(Self { session: last.before.id.into(), seen: last.at.parse().ok(), used })
    }

    /// Whether the session has recently called tools without the hook.
    pub(super) fn is_missed(&self) -> bool {
        let Some(used) = self.used.filter(|used| is_recent_time(*used)) else { return false };
        self.seen.is_none_or(|seen| used.duration_since(seen) > LATE)
    }
}

impl fmt::Display for HookActivity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seen {
            Some(at) => write!(f, "session {} last called the hook {}", self.session, ago(at))?,
            None => write!(f, "session {} has never called the hook", self.session)?,
        }
        self.used.map_or(Ok(()), |at| write!(f, ", but used a tool {}", ago(at)))
    }
}

/// The heartbeats of all recent sessions, with a journal or without; tool calls before the installation do not count.
pub(super) fn heartbeats(target: &InstallTarget) -> Vec<HookActivity> {
    let places = target.state_places();
    let journals = journal_files::journals(&places.sessions());
    let known = journals.iter().filter(|path| is_recent(path)).filter_map(|path| HookActivity::of(path));
    let mut heartbeats: Vec<HookActivity> = known.collect();
    if places.hooks().is_dir() {
        heartbeats.extend(unseen(&target.home, &places));
    }
    let from = InstallManifest::read(target).time();
    let counts = |used: &Timestamp| from.is_none_or(|from| used.duration_since(from) > LATE);
    for hook_activity in &mut heartbeats {
        hook_activity.used = hook_activity.used.filter(counts);
    }
    heartbeats.retain(|hook_activity| hook_activity.seen.is_some() || hook_activity.used.is_some());
    heartbeats
}

/// Sessions of a project that have never called the hook.
fn unseen(home: &Path, places: &ProjectPaths) -> Vec<HookActivity> {
    let Some(folder) = transcripts(home) else { return Vec::new() };
    let mut heartbeats = Vec::new();
    for path in journal_files::journals(&folder).into_iter().filter(|path| is_recent(path)) {
        let session = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        // Some hosts keep transcripts of subagents in the same folder.
        if !session.starts_with("agent-") && !places.journal(&session).exists() {
            heartbeats.push(HookActivity { session, seen: None, used: last_use(&path) });
        }
    }
    heartbeats
}

/// Whether a file was written recently.
pub(super) fn is_recent(path: &Path) -> bool {
    let modified = path.metadata().and_then(|meta| meta.modified()).ok();
    modified.and_then(|at| Timestamp::try_from(at).ok()).is_none_or(is_recent_time)
}

/// Whether a time is recent.
pub(super) fn is_recent_time(at: Timestamp) -> bool {
    since(at) < RECENT
}

/// How long ago, in words.
pub(super) fn ago(at: Timestamp) -> String {
    let seconds = since(at).as_secs();
    match seconds {
        ..0 => "in the future, by this machine's clock".to_owned(),
        0..120 => format!("{seconds} s ago"),
        120..7200 => format!("{} min ago", seconds / 60),
        7200..172_800 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

fn since(at: Timestamp) -> SignedDuration {
    Timestamp::now().duration_since(at)
}

/// The last tool call in a transcript.
fn last_use(transcript: &Path) -> Option<Timestamp> {
    const TAIL: u64 = 512 * 1024;
    let tail = journal_files::tail(transcript, TAIL).ok()?;
    let records = tail.split(|byte| *byte == b'\n').rev().filter_map(|line| TranscriptRecord::read(line).ok());
    let mut used = records.filter(|record| record.tool_uses().next().is_some());
    used.find_map(|record| record.timestamp.as_deref()?.parse().ok())
}

/// The host's folder for transcripts of a project: its path with all other characters as dashes.
fn transcripts(home: &Path) -> Option<PathBuf> {
    const LONGEST: usize = 200;
    let name = crate::paths::transcript_folder(home.to_str()?);
    // The host hashes longer names; such projects are left out.
    (name.len() <= LONGEST).then(|| user_folder().map(|user| user.join("projects").join(name)))?
}
