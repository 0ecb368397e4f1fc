//! The scripts of a project that a gate's command runs.

use crate::host::paths::lexical;
use base::disk::{self, real};
use shell_effects::programs::{INSPECTS, RUNS, has_trait};
use shell_effects::{ExecContext, effects};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Options of interpreters that name a file to run, in the same word.
const FILE_OPTIONS: [&str; 6] = ["-f", "-r", "--file=", "--makefile=", "--require=", "--import="];

/// Parts of options with which some of them run code.
const READER_CODE: [&str; 6] = ["config", "plugin", "rule", "parser", "resolve", "init"];

/// Options after which an interpreter runs code from its arguments, or a module.
const INLINE: [&str; 6] = ["-c", "-e", "-m", "-p", "--eval", "--command"];

const SUBCOMMANDS: [&str; 2] = ["run", "exec"];

/// Folders of installed and built programs, which change with every update.
const DEPENDENCIES: [&str; 4] = ["node_modules", "target", "venv", ".venv"];

/// The most folders that a line can enter.
const MOST_FOLDERS: usize = 16;

/// The most files of a folder that a pattern can match.
const MOST_MATCHES: usize = 1_000;

/// The files of the project `home` that `command` runs in the folder `cwd`: programs by their path, and scripts of
/// interpreters.
///
/// Any other file that the line names counts if it looks like a program, since many programs start others. Files that a
/// program only reads are left out: they change during ordinary work.
pub fn scripts_of(command: &str, cwd: &Path, home: &Path) -> Vec<PathBuf> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let context = ExecContext {
        cwd: text(cwd),
        home: String::new(),
        project: text(home),
        wrappers: Vec::new(),
        protected: &crate::facts::tool_effects::PROTECTED_FILES,
    };
    let line = effects(command, &context);
    let mut plain: Vec<String> = command.split(is_separator).map(str::to_owned).collect();
    let mut seen = HashSet::new();
    plain.retain(|word| seen.insert(word.clone()));
    let search = ScriptSearch::new(&plain, cwd, home);
    let mut found = Vec::new();
    // The line may run any file that it names, if it does not say which.
    let mut is_open = line.unreadable.is_some() || line.calls.is_empty() || command.contains("ENV=");
    let has_path = command.contains("PATH=");
    for call in &line.calls {
        let argv = call.argv();
        let Some((program, arguments)) = argv.split_first() else { continue };
        if program.contains('/') || has_path {
            found.extend(search.files(program));
        }
        if is_interpreter(program) {
            let words = arguments.iter().filter(|word| !word.starts_with('-') && !SUBCOMMANDS.contains(&word.as_str()));
            // The value of an option looks like a script, so the first word that is a file is the script. What `uv` runs
            // has files of its own.
            let most = if program.ends_with("uv") { 1 } else { usize::MAX };
            let script = words.take(most).map(|word| search.files(word)).find(|files| !files.is_empty());
            is_open |= script.is_none() && most > 1 && !has_code(program, arguments);
            found.extend(script.unwrap_or_default());
            let values =
                arguments.iter().filter_map(|word| FILE_OPTIONS.iter().find_map(|name| word.strip_prefix(name)));
            found.extend(values.flat_map(|value| search.files(value)));
        }
    }
    if is_open || !line.calls.iter().all(|call| is_reader(&call.argv())) {
        let named = plain.iter().flat_map(|word| named_files(word)).flat_map(|word| search.files(word));
        found.extend(named.filter(|path| is_program(path)));
    }
    if is_open {
        found.extend(plain.iter().flat_map(|word| search.files(word)));
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || "\"'`;:=<>()|&".contains(c)
}

/// The files that a word can name: itself, without a variable for the current folder, or the value of a short option.
fn named_files(word: &str) -> impl Iterator<Item = &str> {
    let below = ["$PWD/", "${PWD}/", "$CLAUDE_PROJECT_DIR/", "${CLAUDE_PROJECT_DIR}/"].into_iter();
    let below = below.filter_map(|start| word.strip_prefix(start));
    let is_option = word.starts_with('-') && word.as_bytes().get(1).is_some_and(u8::is_ascii_alphabetic);
    [word].into_iter().chain(below).chain(word.get(2..).filter(|value| is_option && !value.is_empty()))
}

/// Whether a call only reads the files that it names.
fn is_reader(argv: &[String]) -> bool {
    let runs_code =
        |word: &String| word.starts_with('-') && (word == "-c" || READER_CODE.iter().any(|part| word.contains(part)));
    argv.split_first().is_none_or(|(program, rest)| has_trait(program, INSPECTS) && !rest.iter().any(runs_code))
}

/// Whether a file looks like a program: it is executable, or begins with `#!`.
fn is_program(path: &Path) -> bool {
    let begins_with_mark = |mut file: std::fs::File| {
        let mut start = [0; 2];
        file.read_exact(&mut start).is_ok() && start == *b"#!"
    };
    is_executable(path) || disk::open(path).is_ok_and(begins_with_mark)
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    false
}

fn is_interpreter(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or_default();
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    has_trait(if name.is_empty() { "." } else { name }, RUNS)
}

/// Whether an interpreter runs code from its arguments, or a module. For a shell, `-e` means something else.
fn has_code(program: &str, arguments: &[String]) -> bool {
    let is_inline = |word: &String| INLINE.contains(&word.as_str()) && !(word == "-e" && program.ends_with("sh"));
    arguments.iter().any(is_inline)
}

/// The paths that a word can mean in a folder. A link before `..` leads a program elsewhere than `cd`.
fn meanings(folder: &Path, word: &str) -> Vec<PathBuf> {
    let path = folder.join(word);
    let mut meanings = vec![lexical(&path)];
    if word.contains("..") {
        meanings.push(real(&path));
    }
    meanings
}

struct ScriptSearch {
    /// The folder of the session, the project, and folders below them that the line enters.
    folders: Vec<PathBuf>,
    /// The folder of the session and the project, without links.
    roots: [PathBuf; 2],
    /// What was found for a word, and the names in a folder: a line can repeat a pattern thousands of times.
    known: RefCell<HashMap<String, Vec<PathBuf>>>,
    listed: RefCell<HashMap<PathBuf, Rc<[String]>>>,
}

impl ScriptSearch {
    fn new(words: &[String], cwd: &Path, home: &Path) -> Self {
        let mut folders = vec![cwd.to_owned(), home.to_owned()];
        folders.dedup();
        for word in words.iter().filter(|word| !word.is_empty() && *word != ".") {
            let entered: Vec<PathBuf> = folders.iter().flat_map(|folder| meanings(folder, word)).collect();
            folders.extend(entered.into_iter().filter(|folder| folder.is_dir()));
            folders.truncate(MOST_FOLDERS);
        }
        folders.dedup();
        let roots = [home, cwd].map(real);
        Self { folders, roots, known: RefCell::default(), listed: RefCell::default() }
    }

    /// The files that a word can mean, except programs of dependencies.
    fn files(&self, word: &str) -> Vec<PathBuf> {
        if let Some(known) = self.known.borrow().get(word) {
            return known.clone();
        }
        let found = self.search(word);
        self.known.borrow_mut().insert(word.to_owned(), found.clone());
        found
    }

    fn search(&self, word: &str) -> Vec<PathBuf> {
        let is_own = |path: &PathBuf| {
            let below = self.folders.iter().take(2).find_map(|folder| path.strip_prefix(folder).ok()).unwrap_or(path);
            let is_dependency = below.iter().any(|part| DEPENDENCIES.iter().any(|folder| part == *folder));
            let is_inside = || self.roots.iter().any(|root| real(path).starts_with(root));
            !is_dependency && (!Path::new(word).is_absolute() || is_inside())
        };
        let mut paths: Vec<PathBuf> = match word.split_once(['*', '?', '[']) {
            Some((start, rest)) if !rest.contains('/') => self.starting_with(start),
            _ => self.folders.iter().flat_map(|folder| meanings(folder, word)).collect(),
        };
        paths.sort_unstable();
        paths.dedup();
        paths.into_iter().filter(|path| path.is_file()).filter(is_own).collect()
    }

    /// The files whose path begins like a pattern: more than it matches.
    fn starting_with(&self, start: &str) -> Vec<PathBuf> {
        let (below, prefix) = start.rsplit_once('/').unwrap_or(("", start));
        let mut found = Vec::new();
        for folder in self.folders.iter().flat_map(|folder| meanings(folder, below)) {
            let names = self.names(&folder);
            found.extend(names.iter().filter(|name| name.starts_with(prefix)).map(|name| folder.join(name)));
        }
        found
    }

    fn names(&self, folder: &Path) -> Rc<[String]> {
        let read = || {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_MATCHES);
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
        };
        Rc::clone(self.listed.borrow_mut().entry(folder.to_owned()).or_insert_with(read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_found_and_data_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let home = real(folder.path());
        for file in
            ["gate.sh", "gate.mk", "scripts/gate.py", "scripts/run.sh", "src/app.py", "node_modules/.bin/gate.sh"]
        {
            std::fs::create_dir_all(home.join(file).parent().unwrap()).unwrap();
            std::fs::write(home.join(file), "").unwrap();
        }
        for (command, expected) in [
            ("./gate.sh --all", vec!["gate.sh"]),
            ("sh gate.sh", vec!["gate.sh"]),
            ("bash -e ./gate.sh < src/app.py", vec!["gate.sh"]),
            ("python3.12 scripts/gate.py --strict", vec!["scripts/gate.py"]),
            ("node_modules/.bin/gate.sh", vec![]),
            ("timeout 5 python scripts/gate.py", vec!["scripts/gate.py"]),
            ("\"$CLAUDE_PROJECT_DIR/gate.sh\"", vec!["gate.sh"]),
            (". ./gate.sh && check", vec!["gate.sh"]),
            ("ruff check src/app.py", vec![]),
            ("npm run lint", vec![]),
            ("grep -q main src/app.py", vec![]),
            ("/bin/true", vec![]),
            ("cd scripts && ./run.sh", vec!["scripts/run.sh"]),
            ("(cd scripts; . ./run.sh)", vec!["scripts/run.sh"]),
            ("env -C scripts ./run.sh", vec!["scripts/run.sh"]),
            ("PATH=scripts:$PATH run.sh", vec!["scripts/run.sh"]),
            ("sh < gate.sh", vec!["gate.sh"]),
            ("cat gate.sh | sh", vec!["gate.sh"]),
            ("cat src/app.py | python -c 'import sys'", vec![]),
            ("bash -o pipefail -O extglob gate.sh", vec!["gate.sh"]),
            ("BASH_ENV=./gate.sh bash -c true", vec!["gate.sh"]),
            ("find . -name gate.sh -exec sh {} \\;", vec!["gate.sh"]),
            ("uv run scripts/gate.py", vec!["scripts/gate.py"]),
            ("uv run ruff check src/app.py", vec![]),
            ("sh -e < gate.sh", vec!["gate.sh"]),
            ("make -f gate.mk all", vec!["gate.mk"]),
            ("./gate.s?", vec!["gate.sh"]),
            ("for g in scripts/*.sh; do sh $g; done", vec!["scripts/gate.py", "scripts/run.sh"]),
        ] {
            let found: Vec<String> = scripts_of(command, &home, &home)
                .iter()
                .map(|path| crate::state::trust::relative(path, &home))
                .collect();
            assert_eq!(found, expected, "{command}");
        }
    }

    /// Programs start others in more ways than anybody can list.
    #[test]
    fn every_program_that_a_line_names_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let home = real(folder.path());
        std::fs::write(home.join("gate.sh"), "#!/bin/sh\n").unwrap();
        std::fs::write(home.join("gate.mk"), "all:\n").unwrap();
        std::fs::write(home.join("data"), "#").unwrap();
        for (command, expected) in [
            ("sh -c \"$(cat gate.sh)\"", "gate.sh"),
            ("eval \"$(cat gate.sh)\"", "gate.sh"),
            ("python3 -c \"exec(open('gate.sh').read())\"", "gate.sh"),
            ("while read -r l; do eval \"$l\"; done < gate.sh", "gate.sh"),
            ("find . -maxdepth 1 -name gate.sh -exec {} \\;", "gate.sh"),
            ("tar -cf x data --checkpoint-action=exec=./gate.sh", "gate.sh"),
            ("tar -I ./gate.sh -cf /dev/null data", "gate.sh"),
            ("tar -I./gate.sh -cf /dev/null data", "gate.sh"),
            ("git ls-remote --upload-pack=./gate.sh .", "gate.sh"),
            ("linux64 ./gate.sh", "gate.sh"),
            ("export BASH_ENV=\"$PWD/gate.sh\"; bash -c true", "gate.sh"),
            ("nodejs gate.sh", "gate.sh"),
            ("make -fgate.mk all", "gate.mk"),
            ("gmake --file=gate.mk", "gate.mk"),
            ("eslint --config ./gate.sh data", "gate.sh"),
            ("shellcheck gate.sh", ""),
            ("cd . && test -x gate.sh", ""),
            ("ruff check gate.sh data", ""),
            ("wc data", ""),
        ] {
            let found: Vec<String> = scripts_of(command, &home, &home)
                .iter()
                .map(|path| crate::state::trust::relative(path, &home))
                .collect();
            assert_eq!(found.join(" "), expected, "{command}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_script_behind_a_link_and_two_dots_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let home = real(folder.path());
        std::fs::create_dir_all(home.join("sub/deep")).unwrap();
        std::os::unix::fs::symlink("sub/deep", home.join("link")).unwrap();
        for file in ["gate.sh", "sub/gate.sh"] {
            std::fs::write(home.join(file), "").unwrap();
        }
        let expected = ["gate.sh", "sub/gate.sh"].map(|file| home.join(file));
        for command in ["link/../gate.sh", "sh link/../gate.sh", "cd link/.. && ./gate.sh"] {
            assert_eq!(scripts_of(command, &home, &home), expected, "{command}");
        }
    }

    /// A repository chooses the name of the folder that it is cloned to.
    #[test]
    fn a_project_in_a_folder_named_like_one_of_dependencies_has_scripts() {
        for name in DEPENDENCIES {
            let folder = tempfile::tempdir().unwrap();
            let home = real(folder.path()).join(name);
            std::fs::create_dir(&home).unwrap();
            std::fs::write(home.join("gate.sh"), "").unwrap();
            assert_eq!(scripts_of("./gate.sh", &home, &home), [home.join("gate.sh")]);
        }
    }
}
