//! Checks the imports of every module against the table in `docs/ARCHITECTURE.md`.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Modules that every other module may use.
const COMMON: [&str; 1] = ["ids"];

/// A row of the table.
#[derive(Debug, Default)]
struct Row {
    io: bool,
    /// The modules it may use; `None` for all of them.
    may_use: Option<BTreeSet<String>>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// Reads the table of modules.
fn table() -> BTreeMap<String, Row> {
    let text = std::fs::read_to_string(root().join("docs/ARCHITECTURE.md")).unwrap();
    let lines = text.lines().skip_while(|line| !line.starts_with("| where | what | may use |")).skip(2);
    let mut rows = BTreeMap::new();
    for line in lines.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [name, what, uses]: [&str; 3] = cells.try_into().expect(line);
        let names: BTreeSet<String> =
            uses.split(',').map(|name| name.trim().trim_matches('`').to_owned()).filter(|name| name != "–").collect();
        let may_use = (uses != "everything").then_some(names);
        for name in name.split(',') {
            let row = Row { io: what.starts_with("**I/O**"), may_use: may_use.clone() };
            rows.insert(name.trim().trim_matches('`').to_owned(), row);
        }
    }
    assert!(rows.len() > 10, "the table of modules was not found");
    rows
}

/// Returns the row of a module: the one with the longest name that begins the path.
fn row_of(rows: &BTreeMap<String, Row>, path: &[String]) -> Option<String> {
    (1..=path.len()).rev().map(|length| path[..length].join("/")).find(|name| rows.contains_key(name))
}

/// Finds the modules that a source file names, with their whole paths.
struct PathFinder {
    src: PathBuf,
    found: BTreeSet<Vec<String>>,
}

impl PathFinder {
    fn walk(&mut self, tokens: TokenStream, module: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            let words: Vec<String> = tokens[at..].iter().take(2).map(ToString::to_string).collect();
            match (&tokens[at], words.as_slice()) {
                (TokenTree::Punct(_), [hash, attribute]) if hash == "#" && is_for_tests(attribute) => {
                    at += 2;
                    at += 1 + tokens[at..].iter().position(is_end_of_item).unwrap_or(tokens.len() - at - 1);
                }
                (TokenTree::Ident(word), _) if word == "use" => {
                    let length = tokens[at..].iter().position(|token| token.to_string() == ";").unwrap_or(1);
                    self.tree(&tokens[at + 1..at + length], module, &[]);
                    at += length;
                }
                (TokenTree::Ident(word), [_, name]) if word == "mod" => {
                    if let Some(TokenTree::Group(body)) = tokens.get(at + 2) {
                        let inner: Vec<String> = module.iter().cloned().chain([name.clone()]).collect();
                        self.walk(body.stream(), &inner);
                        at += 1;
                    }
                    at += 2;
                }
                (TokenTree::Ident(_), _) => {
                    let (path, length) = path_at(&tokens[at..]);
                    if path.len() > 1 {
                        self.add(module, &path);
                    }
                    at += length;
                }
                (TokenTree::Group(group), _) => {
                    self.walk(group.stream(), module);
                    at += 1;
                }
                _ => at += 1,
            }
        }
    }

    /// Reads the tree of a `use`: paths with groups in them.
    fn tree(&mut self, tokens: &[TokenTree], module: &[String], before: &[String]) {
        for branch in tokens.split(|token| token.to_string() == ",").filter(|branch| !branch.is_empty()) {
            let (path, length) = path_at(branch);
            let path: Vec<String> = before.iter().cloned().chain(path).collect();
            match branch.iter().skip(length).find(|token| matches!(token, TokenTree::Group(_))) {
                Some(TokenTree::Group(group)) => {
                    self.tree(&group.stream().into_iter().collect::<Vec<_>>(), module, &path);
                }
                _ => self.add(module, &path),
            }
        }
    }

    /// Adds a path as seen from the crate's root; a path into another crate is left out.
    fn add(&mut self, module: &[String], path: &[String]) {
        let mut base: Vec<String> = Vec::new();
        let mut rest = path;
        match path.first().map(String::as_str) {
            Some("crate") => rest = &path[1..],
            Some("self") => (base, rest) = (module.to_vec(), &path[1..]),
            Some("super") => {
                base = module.to_vec();
                while rest.first().is_some_and(|word| word == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            Some(first) => {
                let folder = module.iter().fold(self.src.clone(), |path, name| path.join(name));
                if !folder.join(first).with_extension("rs").exists() {
                    return;
                }
                base = module.to_vec();
            }
            None => return,
        }
        base.extend_from_slice(rest);
        self.found.insert(base);
    }
}

fn is_for_tests(attribute: &str) -> bool {
    let text: String = attribute.split_whitespace().collect();
    text.starts_with("[cfg(test)") || text.starts_with("[cfg(all(test")
}

fn is_end_of_item(token: &TokenTree) -> bool {
    match token {
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Group(group) => group.delimiter() == proc_macro2::Delimiter::Brace,
        _ => false,
    }
}

/// Returns the path that begins here, `a::b::c`, and how many tokens it has.
fn path_at(tokens: &[TokenTree]) -> (Vec<String>, usize) {
    let (mut path, mut at) = (Vec::new(), 0);
    while let Some(TokenTree::Ident(word)) = tokens.get(at) {
        path.push(word.to_string());
        let colons = tokens.iter().skip(at + 1).take(2).filter(|token| token.to_string() == ":").count();
        at += 1 + if colons == 2 { 2 } else { 0 };
        if colons < 2 {
            break;
        }
    }
    (path, at.max(1))
}

/// Returns the arrows between rows, each with the files in which it was found.
fn arrows(rows: &BTreeMap<String, Row>) -> BTreeMap<(String, String), BTreeSet<String>> {
    let src = root().join("src");
    let mut arrows: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for entry in walkdir::WalkDir::new(&src).into_iter().filter_map(Result::ok) {
        if entry.path().extension().is_none_or(|end| end != "rs") {
            continue;
        }
        let name = entry.path().strip_prefix(&src).unwrap().with_extension("");
        let module: Vec<String> = name.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if module == ["lib"] || module == ["main"] || module.last().is_some_and(|name| name == "tests") {
            continue;
        }
        let own = row_of(rows, &module);
        assert!(own.is_some(), "{} has no row in the table", name.display());
        let own = own.unwrap();
        let tokens: TokenStream = std::fs::read_to_string(entry.path()).unwrap().parse().unwrap();
        let mut finder = PathFinder { src: src.clone(), found: BTreeSet::new() };
        finder.walk(tokens, &module);
        for path in finder.found {
            if let Some(used) = row_of(rows, &path).filter(|used| *used != own) {
                arrows.entry((own.clone(), used)).or_default().insert(name.display().to_string());
            }
        }
    }
    arrows
}

#[test]
fn modules_use_exactly_what_the_table_says() {
    let rows = table();
    let arrows = arrows(&rows);
    let mut wrong = Vec::new();
    for ((from, to), files) in &arrows {
        let allowed = rows[from].may_use.as_ref().is_none_or(|names| names.contains(to));
        if !allowed && !COMMON.contains(&to.as_str()) {
            wrong.push(format!("`{from}` uses `{to}` in {files:?}, which the table does not say"));
        }
    }
    for (name, row) in &rows {
        for used in row.may_use.iter().flatten() {
            if !rows.contains_key(used) {
                wrong.push(format!("`{name}` may use `{used}`, which has no row"));
            } else if !arrows.contains_key(&(name.clone(), used.clone())) {
                wrong.push(format!("`{name}` may use `{used}` by the table, but does not"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn modules_without_io_use_no_module_with_io() {
    let rows = table();
    let wrong: Vec<_> = arrows(&rows).into_keys().filter(|(from, to)| !rows[from].io && rows[to].io).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_two_modules_depend_on_each_other() {
    let arrows = arrows(&table());
    let mut open: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in arrows.keys() {
        open.entry(from).or_default().insert(to);
        open.entry(to).or_default();
    }
    // What uses nothing that is left is in no cycle.
    while let Some(name) = open.iter().find(|(_, uses)| uses.is_empty()).map(|(name, _)| *name) {
        open.remove(name);
        for uses in open.values_mut() {
            uses.remove(name);
        }
    }
    assert!(open.is_empty(), "these depend on each other: {open:#?}");
}

/// A pipe or a device could block the hook for ever; `disk` opens none.
#[test]
fn only_disk_opens_files() {
    const OPENING: [&str; 6] =
        ["fs::read(", "fs::read)", "fs::read_to_string", "File::open", "OpenOptions::", "File::options"];
    // The job summary of GitHub Actions may be any file that a person names; a scenario sets times of its own files.
    const EXCEPTIONS: [&str; 2] = ["cli/replay/reporter.rs", "cli/replay/scenario_runner.rs"];
    let src = root().join("src");
    let mut wrong = Vec::new();
    for entry in walkdir::WalkDir::new(&src).into_iter().filter_map(Result::ok) {
        let name = entry.path().strip_prefix(&src).unwrap().to_string_lossy().into_owned();
        let is_exempt = name.starts_with("disk") || EXCEPTIONS.contains(&name.as_str());
        if is_exempt || entry.path().extension().is_none_or(|end| end != "rs") || name.ends_with("tests.rs") {
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let own = text.split("\n#[cfg(test)]\nmod tests").next().unwrap();
        let found = OPENING.iter().filter(|call| own.contains(**call));
        wrong.extend(found.map(|call| format!("{name} opens a file with `{call}`")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
