//! Finds protected paths in the input of a tool call, wherever and however they are written.
//!
//! What a command does with a path is not analysed: a call that names one and does more than read counts.

use super::{COMMANDS, PROTECTED_FILES, ResolveLinks, only_reads};
use crate::facts::PathList;
use crate::host::event::Event;
use serde_json::Value;
use shell_effects::{WorkBudget, has_name, naming_in_code, non_reading_text};
use std::borrow::Cow;
use std::path::Path;

/// The longest text of an unknown tool that is taken for a path or a command; longer ones are documents.
const LONGEST: usize = 1_000;

/// How many words that could begin a path are looked at per text.
const MOST_NAMES: usize = 200;

/// How many folders of paths with `..` are looked up per text.
const MOST_FOLDERS: usize = 4_000;

/// Words before a folder that make it the current one.
const ENTERING: [&str; 7] = ["cd", "pushd", "-c", "chdir", "set-location", "push-location", "sl"];

/// The first of `paths` that a tool call names without only reading.
pub(crate) fn mentions(event: &Event, paths: &PathList, cwd: &Path, links: &impl ResolveLinks) -> Option<String> {
    let tool = event.tool()?;
    if only_reads(tool) {
        return None;
    }
    let found = |text: &str| {
        if text.is_empty() {
            return None;
        }
        let words = MentionWords::new(text);
        // Most command lines have no hidden file in them, and most protected paths begin with one.
        let has_hidden = words.words.iter().any(|word| without_mark(word.as_bytes()).starts_with(b"."));
        let may_be_in = |path: &&str| has_hidden || !path.starts_with(".claude/");
        paths.iter().filter(may_be_in).find(|path| NamedPath::new(path).is_in(&words)).map(str::to_owned)
    };
    match tool {
        "Bash" | "Monitor" => {
            let command = event.input("command")?;
            let through_links = resolved(command, cwd, links);
            found(command).or_else(|| found(&through_links))?;
            let active = non_reading_text(command, &PROTECTED_FILES, &WorkBudget::default());
            found(&active).or_else(|| found(&resolved(&active, cwd, links)))
        }
        "PowerShell" => event.input("command").and_then(|command| {
            let active = non_reading_cmdlets(command);
            found(&active.join(" "))
                .or_else(|| {
                    let listed = active.iter().filter(|pipeline| pipeline.split('|').skip(1).any(removing));
                    listed.flat_map(|pipeline| words_of(pipeline)).find_map(|word| around(word, paths))
                })
                .or_else(|| around_removed(&active.join(" "), paths))
                .or_else(|| {
                    let removed = active.iter().any(|pipeline| removes_all(pipeline));
                    paths.iter().find(|path| removed && path.starts_with(".claude/")).map(str::to_owned)
                })
        }),
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => event.path().and_then(found),
        _ => {
            let mut texts = Vec::new();
            let is_run = executes(tool);
            collect(event.fields.get("tool_input")?, "", is_run, &WorkBudget::default(), &mut texts);
            texts.retain(|text| is_run || text.len() <= LONGEST);
            // A path may be given in parts.
            let names: Vec<&str> =
                texts.iter().map(AsRef::as_ref).filter(|text: &&str| !text.contains(char::is_whitespace)).collect();
            let whole = || texts.iter().find_map(|text| found(text)).or_else(|| found(&names.join("/")));
            // A tool that removes or moves a folder takes along what is in it.
            let is_removed = || removes(tool) || names.iter().any(|name| removes(name));
            let around = || names.iter().filter(|_| is_removed()).find_map(|name| around(name, paths));
            whole().or_else(around).or_else(|| around_removed(&texts.join(" "), paths))
        }
    }
}

/// Whether a tool removes or moves files, by its name without the MCP server's.
fn removes(tool: &str) -> bool {
    const VERBS: [&str; 9] = ["delete", "remove", "unlink", "move", "rename", "trash", "restore", "symlink", "chmod"];
    let own = own_name(tool);
    VERBS.iter().any(|verb| own.contains(verb)) && own.len() < 40
}

/// The name of a tool without the MCP server's, in lower case.
fn own_name(tool: &str) -> String {
    tool.rsplit("__").next().unwrap_or(tool).to_lowercase()
}

/// Whether a tool may run what it is given, by its name without the MCP server's.
pub(super) fn executes(tool: &str) -> bool {
    const VERBS: [&str; 13] = [
        "run", "exec", "eval", "shell", "terminal", "command", "process", "code", "keys", "type", "repl", "script",
        "cell",
    ];
    let own = own_name(tool);
    own != "codex" && VERBS.iter().any(|verb| own.contains(verb))
}

/// Fields with text for people, or with the content of a file.
const PROSE: &str = "body bodyHtml body_html caption comment commentBody comment_body content contents description html htmlBody html_body markdown message messages newText new_str new_string new_text \
    note notes observations oldText old_str old_string old_text plan prompt query question subject summary text thought thoughts title value";

/// The first of modegate's own paths that is in a folder after a word that removes or moves files, in a command line or
/// in code.
fn around_removed(text: &str, paths: &PathList) -> Option<String> {
    let (mut entered, mut is_removed, mut enters) = ("", false, false);
    words_of(text).find_map(|word| {
        if std::mem::replace(&mut enters, ENTERING.iter().any(|own| word.eq_ignore_ascii_case(own))) {
            entered = word;
        }
        let found = is_removed.then(|| around(word, paths).or_else(|| around(&format!("{entered}/{word}"), paths)));
        is_removed |= removing(word);
        found.flatten()
    })
}

/// Whether a statement of PowerShell removes everything in the current folder.
fn removes_all(statement: &str) -> bool {
    const ALL: [&str; 5] = [".", "*", "./*", ".\\*", "./"];
    let is_recursive =
        |word: &str| ["-r", "-recurse", "-rf", "-recurs"].iter().any(|own| word.eq_ignore_ascii_case(own));
    removing(statement)
        && words_of(statement).any(is_recursive)
        && words_of(statement).any(|word| ALL.contains(&word))
        && !words_of(statement).any(|word| word.eq_ignore_ascii_case("-include"))
}

/// The words of a command line or of code.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "'\"`(),;|&!".contains(c)).filter(|word| !word.is_empty())
}

/// Whether a text begins with a word that removes or moves files.
fn removing(text: &str) -> bool {
    const WORDS: &str =
        "rm rmdir rd del erase ri remove-item mv move mi move-item rename-item rmtree rmsync rimraf rename renamesync";
    let first = words_of(text).next().unwrap_or_default();
    let name = first.rsplit('.').next().unwrap_or(first);
    has_name(WORDS, &name.to_ascii_lowercase())
}

/// The first of modegate's own paths that is in the folder `name`.
fn around(name: &str, paths: &PathList) -> Option<String> {
    let words = MentionWords::new(name).words;
    let is_around = |path: &NamedPath<'_>| {
        let is_own = path.parts.first().is_some_and(|first| first == ".claude" || first == ".local");
        is_own && (1..path.parts.len()).any(|count| path.parts.get(..count).is_some_and(|begin| words.ends_with(begin)))
    };
    paths.iter().map(NamedPath::new).find(is_around).map(|path| path.shown.to_owned())
}

/// The first of modegate's own `paths` that the text of a script names in one piece.
pub(super) fn mentioned_in_script(text: &str, paths: &PathList) -> Option<String> {
    let words = MentionWords::new(text);
    let is_own = |path: &&str| path.contains(".claude/") || path.contains("modegate");
    paths.iter().filter(is_own).find(|path| NamedPath::new(path).is_whole_in(&words)).map(str::to_owned)
}

/// The texts in a value that may be paths or commands: of command lines what does more than read, but no prose.
fn collect<'v>(value: &'v Value, field: &str, executes: bool, budget: &WorkBudget, texts: &mut Vec<Cow<'v, str>>) {
    match value {
        // Of a patch, the files that it changes.
        Value::String(text) if !executes && text.len() > LONGEST && has_name("patch diff input", field) => {
            let is_header =
                |line: &&str| ["+++ ", "--- ", "*** ", "rename ", "diff "].iter().any(|start| line.starts_with(start));
            texts.extend(text.lines().filter(is_header).map(Cow::Borrowed));
        }
        Value::String(text) if executes && has_name("code source", field) => {
            texts.push(Cow::Owned(naming_in_code("python", text)));
        }
        Value::String(text) if COMMANDS.contains(&field) => {
            texts.push(Cow::Owned(non_reading_text(text, &PROTECTED_FILES, budget)));
        }
        Value::String(text) => {
            let is_content = has_name(PROSE, field) || field.contains('/');
            let is_prose = !executes && is_content && text.contains(char::is_whitespace);
            let is_left_out = ["ignore", "exclude"].iter().any(|begin| field.starts_with(begin));
            let is_address = ["http://", "https://"].iter().any(|begin| text.starts_with(begin));
            texts.extend((!is_prose && !is_address && !is_left_out).then_some(Cow::Borrowed(text.as_str())));
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, field, executes, budget, texts)),
        Value::Object(fields) => {
            for (field, value) in fields {
                // A map of files: `{"src/a.rs": "…"}`.
                texts.extend(field.contains(['/', '\\']).then_some(Cow::Borrowed(field.as_str())));
                collect(value, field, executes, budget, texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The statements of a PowerShell command line that do not begin with a cmdlet that only reads.
fn non_reading_cmdlets(command: &str) -> Vec<Cow<'_, str>> {
    const READERS: &str = "get-content gc cat type get-childitem gci dir ls select-string sls test-path get-item gi \
        write-output write-host echo convertfrom-json convertto-json format-table format-list measure-object select-object \
        where-object sort-object get-filehash out-string";
    let reads = |statement: &str| {
        let first = statement.split_whitespace().next().unwrap_or_default().to_lowercase();
        !statement.contains(['>', '(', '`', '{']) && (first.is_empty() || has_name(READERS, &first))
    };
    let pipelines = command.split([';', '\n', '&']);
    let active = pipelines.filter(|pipeline| !pipeline.split('|').all(reads));
    // The message of a commit is data.
    let is_git = |text: &str| ["git ", "gh "].iter().any(|begin| text.trim_start().starts_with(begin));
    let budget = WorkBudget::default();
    active
        .map(|text| {
            if is_git(text) {
                Cow::Owned(non_reading_text(text, &PROTECTED_FILES, &budget))
            } else {
                Cow::Borrowed(text)
            }
        })
        .collect()
}

/// The words of a text, in lower case, without quotes; every other character separates them.
struct MentionWords {
    words: Vec<String>,
    /// Whether only space separates a word from the one before it.
    apart: Vec<bool>,
}

impl MentionWords {
    fn new(text: &str) -> Self {
        let mut own = Self { words: Vec::new(), apart: Vec::new() };
        let (mut word, mut is_apart, mut next_is_apart) = (String::new(), false, false);
        let mut is_below = false;
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            match c {
                // `'.claude/hooks'.split()`
                '\'' | '"' if calls_method(rest.as_str()) => own.add(&mut word, is_apart),
                '\'' | '"' => next_is_apart = false,
                // The brackets of a list in code, not those of a glob: `['.claude/hooks']`, `%w[.claude/hooks]`.
                '[' if !is_below && rest.as_str().starts_with(['\'', '"', '.', '[']) => {
                    next_is_apart = false;
                    own.add(&mut word, is_apart);
                }
                ']' if !word.contains('[') => own.add(&mut word, is_apart),
                c if is_of_word(c) => {
                    if word.is_empty() {
                        is_apart = next_is_apart;
                    }
                    word.extend(c.to_lowercase());
                }
                c => {
                    is_below = c == '/';
                    next_is_apart = c.is_whitespace() && (next_is_apart || !word.is_empty());
                    own.add(&mut word, is_apart);
                }
            }
        }
        own.add(&mut word, is_apart);
        own
    }

    fn add(&mut self, word: &mut String, is_apart: bool) {
        let word = std::mem::take(word);
        if !word.is_empty() && word != "." {
            self.words.push(word);
            self.apart.push(is_apart);
        }
    }
}

/// A word without what can be attached to a path: the option in `less -o.claude/x`, the command in `sed 'w.claude/x'`.
fn without_mark(word: &[u8]) -> &[u8] {
    let Some(dot) = word.iter().take(4).position(|byte| *byte == b'.').filter(|dot| *dot > 0) else { return word };
    let (mark, path) = word.split_at(dot);
    if mark.starts_with(b"-") || matches!(mark, b"w" | b"gw" | b"pw") { path } else { word }
}

/// Whether a text begins with the call of a method.
fn calls_method(text: &str) -> bool {
    let name = text.strip_prefix('.').map(|rest| rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_'));
    name.is_some_and(|rest| rest.starts_with('('))
}

/// Whether a character belongs to a word.
fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '.' | '_' | '-' | '*' | '?' | '[' | ']')
        || !c.is_ascii() && c.is_alphanumeric()
}

/// A protected path by its parts.
struct NamedPath<'p> {
    shown: &'p str,
    parts: Vec<String>,
    /// Whether everything below it is protected too.
    tree: bool,
}

impl<'p> NamedPath<'p> {
    fn new(path: &'p str) -> Self {
        let (root, tree) = path.strip_suffix("/**").map_or((path, false), |root| (root, true));
        let parts = MentionWords::new(root).words.into_iter().filter(|part| part != "**").collect();
        Self { shown: path, parts, tree }
    }

    /// Whether the words name the path without a gap.
    fn is_whole_in(&self, words: &MentionWords) -> bool {
        let count = self.parts.len().max(1);
        words.words.windows(count).any(|window| window == self.parts)
    }

    /// Whether the words name the path: its parts one after another, or with a gap where code joins them.
    fn is_in(&self, words: &MentionWords) -> bool {
        let (words, apart) = (words.words.as_slice(), words.apart.as_slice());
        let begins = |word: &str| {
            let is_first = |part: &str| without_mark(word.as_bytes()) == part.as_bytes();
            self.parts.first().is_some_and(|part| is_first(part) || word.starts_with('.') && fits(part, word))
        };
        let is_hidden = self.parts.first().is_some_and(|part| part != "bin");
        let mut starts = words.iter().enumerate().filter(|(_, word)| begins(word)).map(|(at, _)| at);
        starts.by_ref().take(MOST_NAMES).any(|at| {
            // In `rm -rf **/bin **/obj`, the second glob is another path. `bin/*` names the programs of a project.
            let is_meant = |word: &String| is_hidden || !word.starts_with('*') || word.contains("gate");
            let is_next = |(part, (word, apart)): &(&String, (&String, &bool))| {
                part == word || !**apart && is_meant(word) && fits(part, word)
            };
            let next = words.iter().zip(apart).skip(at + 1);
            let run = 1 + self.parts.iter().skip(1).zip(next).take_while(is_next).count();
            let Some(rest) = self.parts.get(run..).filter(|rest| !rest.is_empty()) else {
                let last = words.get(at + run - 1).map_or("", String::as_str);
                let name = self.parts.last().map_or("", String::as_str);
                let files: &[&str] = if self.tree { &["any.yaml", "any.jsonl"] } else { &[name] };
                return selects(last, words.get(at + run), files);
            };
            let is_entered = at
                .checked_sub(1)
                .and_then(|before| words.get(before))
                .is_some_and(|word| ENTERING.contains(&word.as_str()));
            let is_distinct = self.parts.len() > 2 && !self.tree && rest.last().is_some_and(|name| name.contains('.'));
            let later = words.get(at + run..).unwrap_or_default();
            let is_later = || later.windows(rest.len()).any(|window| window == rest);
            (is_entered || is_distinct) && is_later()
        })
    }
}

/// Whether a word is a part of a path, or a glob for it.
fn fits(part: &str, word: &str) -> bool {
    part == word || word.contains(['*', '?', '[']) && fast_glob::glob_match(word, part)
}

/// Whether an open glob can select one of these files: `.claude/**/*.md` cannot select a mode.
fn selects(glob: &str, next: Option<&String>, files: &[&str]) -> bool {
    let is_open = !glob.is_empty() && glob.chars().all(|c| c == '*');
    !is_open || next.is_none_or(|name| !name.contains('*') || files.iter().any(|file| fits(file, name)))
}

/// The paths of a text that lead through `..`, as the system resolves them: a link before `..` leads elsewhere.
fn resolved(text: &str, cwd: &Path, links: &impl ResolveLinks) -> String {
    let words =
        text.split(|c: char| c.is_whitespace() || "'\"=<>|&;()".contains(c)).filter(|word| word.contains("/.."));
    let mut folders = MOST_FOLDERS;
    let words = words.filter(|word| {
        let left = folders.checked_sub(word.matches('/').count());
        folders = left.unwrap_or(folders);
        left.is_some()
    });
    let paths: Vec<String> = words.map(|word| links.real(&cwd.join(word)).to_string_lossy().into_owned()).collect();
    paths.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use shell_effects::DiskView;
    use std::cell::Cell;
    use std::path::PathBuf;

    /// Counts the folders that are looked up.
    #[derive(Default)]
    struct LookupCounter(Cell<usize>);

    impl DiskView for LookupCounter {}

    impl ResolveLinks for LookupCounter {
        fn real(&self, path: &Path) -> PathBuf {
            self.0.set(self.0.get() + path.components().count());
            path.to_owned()
        }
    }

    #[test]
    fn few_folders_are_looked_up_for_a_long_line() {
        for (word, times) in [("a/../", 200_000), ("a/../b ", 100_000)] {
            let counter = LookupCounter::default();
            resolved(&word.repeat(times), Path::new("/p"), &counter);
            assert!(counter.0.get() < 4 * MOST_FOLDERS, "{}", counter.0.get());
        }
        let counter = LookupCounter::default();
        assert_eq!(resolved("cat a/../b > c/../d", Path::new("/p"), &counter), "/p/a/../b /p/c/../d");
    }
}
