//! Whether the hook is alive: when it was last seen in a session, and whether the session went on without it.

use super::install_manifest::InstallManifest;
use super::install_target::{InstallTarget, user_folder};
use crate::journal_files;
use crate::paths::ProjectPaths;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A tool call reaches the hook within moments; this much later it does not come any more.
const LATE: SignedDuration = SignedDuration::from_secs(60);

/// Older sessions tell nothing of today's hook.
const RECENT: SignedDuration = SignedDuration::from_hours(24);

/// The hook's life in one session.
#[derive(Debug, Clone)]
pub(super) struct Heartbeat {
    pub(super) session: String,
    /// When an event of the session last reached the hook.
    pub(super) seen: Option<Timestamp>,
    /// When the session last called a tool, as the host's transcript has it.
    pub(super) used: Option<Timestamp>,
}

impl Heartbeat {
    /// The heartbeat of a session that the journal knows.
    pub(super) fn of(journal: &Path) -> Option<Self> {
        let last = journal_files::last(journal)?;
        let transcript = last.event.get("transcript_path").and_then(Value::as_str);
        let used = transcript.and_then(|path| last_use(Path::new(path)));
        Some(Self { session: last.before.id.into(), seen: last.at.parse().ok(), used })
    }

    /// Whether the session has gone on without the hook, lately.
    pub(super) fn is_missed(&self) -> bool {
        let Some(used) = self.used.filter(|used| since(*used) < RECENT) else { return false };
        self.seen.is_none_or(|seen| used.duration_since(seen) > LATE)
    }

    /// In words: since when the hook has not been seen.
    pub(super) fn told(&self) -> String {
        let used = self.used.map(|at| format!(", though the session used a tool {}", ago(at))).unwrap_or_default();
        match self.seen {
            Some(at) => format!("the hook was last seen {} ({at:.0}) in session {}{used}", ago(at), self.session),
            None => format!("the hook was never seen in session {}{used}", self.session),
        }
    }
}

/// The heartbeat of every session of late: those that the journal knows, and those that use tools without it.
///
/// What a session did before modegate was installed, or while it was not, tells nothing.
pub(super) fn heartbeats(target: &InstallTarget) -> Vec<Heartbeat> {
    let places = target.places();
    let journals = journal_files::journals(&places.sessions());
    let known = journals.iter().filter(|path| is_recent(path)).filter_map(|path| Heartbeat::of(path));
    let mut heartbeats: Vec<Heartbeat> = known.collect();
    if places.hooks().is_dir() {
        heartbeats.extend(unseen(&places));
    }
    let from = InstallManifest::read(target).time();
    let counts = |used: &Timestamp| from.is_none_or(|from| used.duration_since(from) > LATE);
    for heartbeat in &mut heartbeats {
        heartbeat.used = heartbeat.used.filter(counts);
    }
    heartbeats.retain(|heartbeat| heartbeat.seen.is_some() || heartbeat.used.is_some());
    heartbeats
}

/// Sessions of a project that use tools without the hook ever being seen in them.
fn unseen(places: &ProjectPaths) -> Vec<Heartbeat> {
    let Some(folder) = transcripts(&places.home) else { return Vec::new() };
    let mut heartbeats = Vec::new();
    for path in journal_files::journals(&folder).into_iter().filter(|path| is_recent(path)) {
        let session = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        // Some hosts keep the transcripts of subagents beside those of sessions.
        if !session.starts_with("agent-") && !places.journal(&session).exists() {
            heartbeats.push(Heartbeat { session, seen: None, used: last_use(&path) });
        }
    }
    heartbeats
}

/// Whether a file was written of late.
pub(super) fn is_recent(path: &Path) -> bool {
    let modified = path.metadata().and_then(|meta| meta.modified()).ok();
    modified.and_then(|at| Timestamp::try_from(at).ok()).is_none_or(|at| since(at) < RECENT)
}

/// Whether a time is of late.
pub(super) fn is_of_today(at: &str) -> bool {
    at.parse().is_ok_and(|at| since(at) < RECENT)
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

/// When a session last called a tool, from the end of its transcript: each such call must have reached the hook.
fn last_use(transcript: &Path) -> Option<Timestamp> {
    const TAIL: u64 = 512 * 1024;
    let tail = journal_files::tail(transcript, TAIL).ok()?;
    let mut lines = tail.split(|byte| *byte == b'\n').rev();
    lines.find_map(|line| {
        let line: Value = serde_json::from_slice(line).ok()?;
        let parts = line.pointer("/message/content")?.as_array()?;
        let uses = parts.iter().any(|part| part.get("type").and_then(Value::as_str) == Some("tool_use"));
        if !uses {
            return None;
        }
        line.get("timestamp")?.as_str()?.parse().ok()
    })
}

/// Where the host keeps the transcripts of a project: its path with every odd character made a dash.
fn transcripts(home: &Path) -> Option<PathBuf> {
    const LONGEST: usize = 200;
    let name: String = home.to_str()?.encode_utf16().map(plain).collect();
    // A longer one is cut and hashed by the host; such a project is left out.
    (name.len() <= LONGEST).then(|| user_folder().map(|user| user.join("projects").join(name)))?
}

fn plain(unit: u16) -> char {
    u8::try_from(unit).ok().map(char::from).filter(char::is_ascii_alphanumeric).unwrap_or('-')
}
