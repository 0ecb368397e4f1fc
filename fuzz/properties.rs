//! Properties that hold for every input; `fuzz/` and the tests run them on mutated fixtures.
//!
//! Each function panics where its property does not hold.

#[cfg(test)]
mod mutation;

use crate::engine::decide;
use crate::facts::frontmatter::{self, frontmatter_of};
use crate::facts::session::Session;
use crate::facts::{Facts, RecordedAnswers};
use crate::hook::reply;
use crate::host::event::{Event, EventKind};
use crate::host::hook_entries::{PROJECT_COMMAND, SettingsScope, with_entries, without_entries};
use crate::host::transcript::{conversation_text, latest_assistant_text};
use crate::policy::mode::Catalogue;
use crate::redecide;
use crate::replay::scenario::Scenario;
use crate::replay::transcript::{TranscriptFile, rebuild};
use crate::state::journal::{JournalLine, masked, redacted};
use crate::state::store::{StateStatus, StateSummary};
use redact::{find_export_secrets, masked_text};
use serde_json::Value;
use shell_effects::{ExecContext, effects};
use std::sync::LazyLock;

/// A property with its name, which is also that of its seeds.
pub type Property = (&'static str, fn(&[u8]));

/// Every property.
pub const PROPERTIES: [Property; 12] = [
    ("event", event),
    ("shell", shell),
    ("mode", |bytes| composed(".claude/modes/x.yaml", bytes)),
    ("gates_json", |bytes| composed(".claude/gates.json", bytes)),
    ("hooks_toml", |bytes| composed(".claude/hooks.toml", bytes)),
    ("frontmatter", frontmatter_block),
    ("cache", cache),
    ("journal", journal),
    ("transcript", transcript),
    ("settings", settings),
    ("scenario", |bytes| drop(Scenario::parse(&String::from_utf8_lossy(bytes)))),
    ("masking", masking),
];

/// How much of a text is searched as for an export, in bytes.
const LONGEST_EXPORT: usize = 1_000;

static MODES: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::compose(None, &[]));

/// Runs the property `name` on `bytes`.
///
/// # Panics
///
/// When the property does not hold, or has no such name.
pub fn check(name: &str, bytes: &[u8]) {
    let found = PROPERTIES.iter().find(|(own, _)| *own == name);
    assert!(found.is_some(), "`{name}` is not a property");
    if let Some((_, property)) = found {
        property(bytes);
    }
}

/// Every event is decided and gets a reply that the host can read; a redacted event is still an event.
fn event(bytes: &[u8]) {
    let Ok(event) = Event::parse(bytes) else { return };
    let source = RecordedAnswers::default();
    let decided = decide(&event, &MODES, &Session::default(), &Facts::new(&source));
    let reply = reply(&event, &decided.decision, &decided.findings);
    assert!(reply.exit == 0 || reply.exit == 2, "exit code {}", reply.exit);
    assert!(reply.stdout.is_empty() || serde_json::from_str::<Value>(&reply.stdout).is_ok(), "{}", reply.stdout);
    let kept = redacted(&event.to_value());
    assert!(Event::from_value(kept).is_ok(), "the redacted event cannot be read");
}

/// Every command line is analyzed.
fn shell(bytes: &[u8]) {
    let context = ExecContext { cwd: "/p".into(), home: "/h".into(), project: "/p".into(), ..ExecContext::default() };
    drop(effects(&String::from_utf8_lossy(bytes), &context));
}

/// A file of gates is read, or reported as broken.
fn composed(name: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let catalogue = Catalogue::compose(None, &[(name.to_owned(), text)]);
    assert!(catalogue.modes.len() >= MODES.modes.len(), "a file removed a mode");
}

fn frontmatter_block(bytes: &[u8]) {
    drop(frontmatter::read(bytes));
    drop(frontmatter_of(bytes, &["status".to_owned(), "a.b".to_owned()]));
}

/// A summary that can be read can take up a session, and be written and read again.
fn cache(bytes: &[u8]) {
    let mut summary = StateSummary::parse(bytes);
    if summary.status != StateStatus::Sound {
        return;
    }
    let mut session = Session { id: "fuzzed".into(), ..Session::default() };
    session.base_mut().is_active = true;
    summary.put(&session);
    summary.summarize();
    assert!(summary.shows(&session), "a session is missing in the summary");
    assert!(StateSummary::parse(&summary.to_bytes()).shows(&session), "a session changes when it is written");
}

/// A journal line is decided again, and its session can be masked.
fn journal(bytes: &[u8]) {
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(line) = serde_json::from_slice::<JournalLine>(line) else { continue };
        drop(redecide(&line, &MODES));
        drop(masked(line.before));
    }
}

fn transcript(bytes: &[u8]) {
    drop(conversation_text(bytes));
    drop(latest_assistant_text(bytes));
    let mut file = TranscriptFile::main("/h/.claude/projects/p/s.jsonl");
    bytes.split(|byte| *byte == b'\n').for_each(|line| file.line(line));
    drop(rebuild(vec![file]));
}

/// What `install` writes is JSON that `uninstall` restores; a file that cannot be edited is an error.
fn settings(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let events = [EventKind::SessionStart, EventKind::PreToolUse, EventKind::Stop];
    let Ok(with) = with_entries(text, PROJECT_COMMAND, SettingsScope::Project, &events) else { return };
    let is_json = |text: &str| serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')).is_ok();
    assert!(is_json(&with), "the result is not JSON: {with}");
    let without = without_entries(&with);
    assert!(without.is_ok(), "the entries cannot be removed again: {with}");
    if let (Ok(without), Ok(before)) = (without, without_entries(text)) {
        assert!(is_json(&without) || without.trim_start_matches('\u{feff}').trim().is_empty(), "{without}");
        let [after, before] = [&without, &before].map(|text| without_empty_lists(text));
        assert!(after == before || text.contains("modegate"), "not restored: {text:?} became {without:?}");
    }
}

/// The settings without lists of hooks that are empty: `uninstall` cannot tell them from its own.
fn without_empty_lists(text: &str) -> Value {
    let mut value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
    let mut is_empty = false;
    if let Some(hooks) = value.get_mut("hooks").and_then(Value::as_object_mut) {
        hooks.retain(|_, list| list.as_array().is_none_or(|list| !list.is_empty()));
        is_empty = hooks.is_empty();
    }
    if let Some(settings) = value.as_object_mut().filter(|_| is_empty) {
        settings.shift_remove("hooks");
    }
    if value == serde_json::json!({}) { Value::Null } else { value }
}

/// Masking ends, and masks nothing more the second time.
fn masking(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let masked = masked_text(&text);
    assert_eq!(masked_text(&masked), masked, "masked twice");
    // Searches for an export are made for thoroughness, not for speed.
    for secret in find_export_secrets(text.get(..LONGEST_EXPORT).unwrap_or(&text)) {
        assert!(text.get(secret).is_some(), "a secret ends inside a character");
    }
}
