//! Checks the dependencies of rooms and crates against the table in `docs/ARCHITECTURE.md`.

use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A row of the table.
struct Row {
    /// A room of `src` by its name, or a crate as `crates/NAME`.
    name: String,
    depends_on: BTreeSet<String>,
}

/// A production file and its text without tests.
struct Source {
    name: String,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// The rows of the table, in their order; "everything above" stands for all rows before.
fn table() -> Vec<Row> {
    let text = std::fs::read_to_string(root().join("docs/ARCHITECTURE.md")).unwrap();
    let lines = text.lines().skip_while(|line| !line.starts_with("| room | what it does | depends on |")).skip(2);
    let mut rows: Vec<Row> = Vec::new();
    for line in lines.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [name, _, used]: [&str; 3] = cells.try_into().expect(line);
        let depends_on = match used {
            "everything above" => rows.iter().map(|row| row.name.clone()).collect(),
            _ => used.split(", ").map(|name| name.trim_matches('`').to_owned()).filter(|name| name != "–").collect(),
        };
        rows.push(Row { name: name.trim_matches('`').trim_start_matches("src/").to_owned(), depends_on });
    }
    assert!(rows.len() > 10, "the table of rooms was not found");
    rows
}

/// The production files of `src` and the crates.
fn sources() -> Vec<Source> {
    let tests = Regex::new(r"(?s)#\[cfg\(test\)\]\s*(?:pub )?mod \w+ \{.*").unwrap();
    let folders = [root().join("src"), root().join("crates")];
    let files = folders.iter().flat_map(walkdir::WalkDir::new).filter_map(Result::ok);
    let mut sources = Vec::new();
    for entry in files.filter(|entry| entry.path().extension().is_some_and(|end| end == "rs")) {
        let name = entry.path().strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
        if !name.ends_with("tests.rs") && !name.contains("/tests/") {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            sources.push(Source { name, text: tests.replace(&text, "").into_owned() });
        }
    }
    sources
}

/// The room of `src`, or the crate, that a file is in.
fn room_of(file: &str) -> String {
    let parts: Vec<&str> = file.split('/').collect();
    if parts[0] == "crates" { parts[..2].join("/") } else { parts[1].trim_end_matches(".rs").to_owned() }
}

/// What each room and crate uses, each with the files that do.
fn uses(rows: &[Row]) -> BTreeMap<(String, String), BTreeSet<String>> {
    let path = Regex::new(r"\b(?:(crate)::|([a-z_]+)::)([a-z_]+)?").unwrap();
    let crates: BTreeMap<String, &str> = rows
        .iter()
        .filter_map(|row| Some((row.name.strip_prefix("crates/")?.replace('-', "_"), row.name.as_str())))
        .collect();
    let mut found: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for source in sources() {
        let room = room_of(&source.name);
        if room == "lib" || room == "main" {
            continue;
        }
        for names in path.captures_iter(&source.text) {
            let used = match (names.get(1), names.get(2), names.get(3)) {
                (Some(_), _, Some(used)) if !room.starts_with("crates/") => used.as_str(),
                (None, Some(used), _) if crates.contains_key(used.as_str()) => crates[used.as_str()],
                _ => continue,
            };
            if used != room {
                found.entry((room.clone(), used.to_owned())).or_default().insert(source.name.clone());
            }
        }
    }
    found
}

#[test]
fn rooms_use_exactly_what_the_table_says() {
    let rows = table();
    let uses = uses(&rows);
    let mut wrong = Vec::new();
    for ((room, used), files) in &uses {
        let row = rows.iter().find(|row| row.name == *room);
        if !row.is_some_and(|row| row.depends_on.contains(used)) {
            wrong.push(format!("`{room}` uses `{used}` in {files:?}, which the table does not say"));
        }
    }
    for row in rows.iter().filter(|row| row.name != "commands") {
        let unused = row.depends_on.iter().filter(|used| !uses.contains_key(&(row.name.clone(), (*used).clone())));
        wrong.extend(unused.map(|used| format!("`{}` does not use `{used}`, although the table says so", row.name)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn dependencies_go_one_way() {
    let mut above = BTreeSet::new();
    for row in table() {
        let below: Vec<_> = row.depends_on.difference(&above).collect();
        assert!(below.is_empty(), "`{}` depends on {below:?}, which the table has below it", row.name);
        above.insert(row.name);
    }
}

/// Paths that the other tests would not see: `crate::{…}`, and `super::` out of a room.
#[test]
fn rooms_are_named_by_their_paths() {
    let supers = Regex::new("(?:super::)+").unwrap();
    for source in sources().iter().filter(|source| source.name.starts_with("src/")) {
        assert!(!source.text.contains("crate::{"), "{} has a group of rooms", source.name);
        let depth = source.name.split('/').count() - 1;
        let leaves = supers.find_iter(&source.text).any(|found| found.len() / "super::".len() >= depth);
        assert!(!leaves, "{} leaves its room with `super::`", source.name);
    }
}

/// The program is at the top of the workspace: what a crate knows, it knows without modegate.
#[test]
fn crates_know_nothing_of_the_project() {
    for source in sources().iter().filter(|source| source.name.starts_with("crates/")) {
        for (line, text) in source.text.lines().enumerate() {
            let is_known = text.contains(".claude") || text.contains("modegate");
            assert!(!is_known, "{}:{}: {text}", source.name, line + 1);
        }
    }
}

/// Clippy forbids files, clocks, programs and variables wherever a file does not say that it needs them.
#[test]
fn the_core_has_no_io() {
    const PURE: [&str; 4] = ["host", "facts", "policy", "engine"];
    for source in sources() {
        let needs_io = source.text.contains("clippy::disallowed_methods");
        assert!(!needs_io || !PURE.contains(&room_of(&source.name).as_str()), "{} needs I/O", source.name);
    }
}

/// A pipe or a device could block the hook for ever; `disk` opens none.
#[test]
fn only_disk_opens_files() {
    const OPENING: [&str; 6] =
        ["fs::read(", "fs::read)", "fs::read_to_string", "File::open", "OpenOptions::", "File::options"];
    // The job summary of GitHub Actions may be any file that a person names; a scenario sets times of its own files.
    const EXCEPTIONS: [&str; 2] = ["src/replay/report.rs", "src/replay/scenario/runner.rs"];
    for source in sources() {
        let is_exempt = source.name.starts_with("crates/base/src/disk") || EXCEPTIONS.contains(&source.name.as_str());
        let found = OPENING.iter().find(|call| !is_exempt && source.text.contains(**call));
        assert!(found.is_none(), "{} opens a file with `{}`", source.name, found.unwrap());
    }
}
