//! Whether the hook is alive: when it was last seen in a session, and whether the session went on without it.

use super::site::user_folder;
use crate::journal;
use crate::paths::Places;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A tool call reaches the hook within moments; this much later it does not come any more.
const LATE: SignedDuration = SignedDuration::from_secs(60);

/// Older sessions tell nothing of today's hook.
const RECENT: SignedDuration = SignedDuration::from_hours(24);

/// The hook's life in one session.
#[derive(Debug, Clone)]
pub(super) struct Pulse {
    pub(super) session: String,
    /// When an event of the session last reached the hook.
    pub(super) seen: Option<Timestamp>,
    /// When the session last called a tool, as the host's transcript has it.
    pub(super) used: Option<Timestamp>,
}

impl Pulse {
    /// The pulse of a session that the journal knows.
    pub(super) fn of(journal: &Path) -> Option<Self> {
        let last = journal::last(journal)?;
        let transcript = last.event.get("transcript_path").and_then(Value::as_str);
        let used = transcript.and_then(|path| last_use(Path::new(path)));
        Some(Self { session: last.before.id, seen: last.at.parse().ok(), used })
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

/// Sessions of a project that use tools, after `from`, without the hook ever being seen in them.
pub(super) fn unseen(places: &Places, from: Timestamp) -> Vec<Pulse> {
    let Some(folder) = transcripts(&places.home) else { return Vec::new() };
    let mut pulses = Vec::new();
    for path in journal::journals(&folder) {
        let modified = path.metadata().and_then(|meta| meta.modified()).ok();
        if modified.and_then(|at| Timestamp::try_from(at).ok()).is_some_and(|at| since(at) > RECENT) {
            continue;
        }
        let session = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let late = |used: &Timestamp| used.duration_since(from) > LATE;
        if !places.journal(&session).exists()
            && let Some(used) = last_use(&path).filter(late)
        {
            pulses.push(Pulse { session, seen: None, used: Some(used) });
        }
    }
    pulses
}

/// How long ago, in words.
pub(super) fn ago(at: Timestamp) -> String {
    let seconds = since(at).as_secs();
    match seconds {
        ..120 => format!("{seconds} s ago"),
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
    let tail = journal::tail(transcript, TAIL).ok()?;
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
