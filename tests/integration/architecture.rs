//! The import table: arrows point down only.

use std::path::Path;

/// Which parts of the crate each part may use. A path's longest prefix counts.
const MAY_USE: [(&str, &[&str]); 26] = [
    ("event", &[]),
    ("ids", &[]),
    ("facts", &["paths", "shell"]),
    ("facts/live", &["event", "facts", "journal", "paths", "process", "redact", "shell", "transcript", "hook_entries"]),
    ("verdict", &[]),
    ("template", &[]),
    ("transcript", &[]),
    ("redact", &[]),
    ("disk", &[]),
    ("yaml", &["template"]),
    ("shell", &[]),
    ("paths", &[]),
    ("session", &[]),
    ("check", &["event", "facts", "paths", "session", "shell", "template", "verdict", "yaml"]),
    ("mode", &["check", "event", "paths", "settings", "verdict", "yaml"]),
    ("settings", &["verdict", "yaml"]),
    ("engine", &["check", "event", "facts", "mode", "paths", "session", "verdict"]),
    ("reply", &["event", "verdict"]),
    ("process", &[]),
    ("starter", &[]),
    ("hook_entries", &["event", "mode"]),
    ("store", &["disk", "paths", "session"]),
    ("journal", &["disk", "event", "facts", "redact", "session", "verdict"]),
    ("mode_cache", &["disk", "event", "mode", "paths", "settings"]),
    (
        "replay",
        &[
            "engine",
            "event",
            "facts",
            "journal",
            "mode",
            "paths",
            "redact",
            "reply",
            "session",
            "shell",
            "transcript",
            "verdict",
        ],
    ),
    (
        "cli",
        &[
            "check",
            "disk",
            "engine",
            "event",
            "facts",
            "journal",
            "mode_cache",
            "mode",
            "paths",
            "process",
            "redact",
            "replay",
            "reply",
            "session",
            "settings",
            "starter",
            "store",
            "verdict",
            "hook_entries",
            "yaml",
        ],
    ),
];

#[test]
fn arrows_point_down_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = walkdir::WalkDir::new(&root).into_iter().filter_map(Result::ok);
    let mut wrong = Vec::new();
    for entry in files.filter(|entry| entry.path().extension().is_some_and(|end| end == "rs")) {
        let name = entry.path().strip_prefix(&root).unwrap().with_extension("").to_string_lossy().into_owned();
        let Some((part, allowed)) = MAY_USE
            .iter()
            .filter(|(part, _)| name == *part || name.starts_with(&format!("{part}/")))
            .max_by_key(|(part, _)| part.len())
        else {
            assert!(["lib", "main"].contains(&name.as_str()), "{name} has no row in the import table");
            continue;
        };
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let own = part.split('/').next().unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        for used in code.match_indices("crate::").map(|(at, word)| word_at(&code[at + word.len()..])) {
            if used != own && used != "ids" && !allowed.contains(&used) {
                wrong.push(format!("{name} uses {used}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn word_at(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}
