//! The scripts of a project that a gate's command runs.

#![expect(clippy::disallowed_methods, reason = "an I/O module")]

use crate::disk::real;
use crate::paths::lexical;
use crate::shell::{ExecContext, effects};
use std::path::{Path, PathBuf};

/// Programs that run the file which is their first argument.
const INTERPRETERS: [&str; 20] = [
    ".", "ash", "awk", "bash", "bun", "dash", "deno", "fish", "ksh", "lua", "node", "perl", "php", "pwsh", "python",
    "ruby", "sh", "source", "tsx", "zsh",
];

/// Words between an interpreter and its file.
const SUBCOMMANDS: [&str; 2] = ["run", "exec"];

/// Folders of installed and built programs, which change with every update.
const DEPENDENCIES: [&str; 4] = ["node_modules", "target", "venv", ".venv"];

/// The files of the project `home` that `command` runs in the folder `cwd`: programs by their path, and scripts of
/// interpreters.
///
/// Files that a program only reads are left out: they change during ordinary work.
#[must_use]
pub fn scripts_of(command: &str, cwd: &Path, home: &Path) -> Vec<PathBuf> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let context = ExecContext { cwd: text(cwd), home: String::new(), project: text(home), wrappers: Vec::new() };
    let line = effects(command, &context);
    let mut words: Vec<String> = line.calls.iter().flat_map(|call| candidates(&call.argv())).collect();
    if line.unreadable.is_some() || line.calls.is_empty() {
        words.extend(command.split_whitespace().map(|word| word.trim_matches(['"', '\'', ';']).to_owned()));
    }
    let roots = [home, cwd].map(real);
    let inside = |word: String| {
        let path = [cwd, home].map(|folder| lexical(&folder.join(&word))).into_iter().find(|path| path.is_file())?;
        let is_own = !Path::new(&word).is_absolute() || roots.iter().any(|root| real(&path).starts_with(root));
        (is_own && !path.iter().any(|part| DEPENDENCIES.iter().any(|folder| part == *folder))).then_some(path)
    };
    let mut found: Vec<PathBuf> = words.into_iter().filter_map(inside).collect();
    found.sort();
    found.dedup();
    found
}

/// The words of a call that may name what it runs.
fn candidates(argv: &[String]) -> Vec<String> {
    let Some((program, arguments)) = argv.split_first() else { return Vec::new() };
    let name = program.rsplit('/').next().unwrap_or_default();
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let name = if name.is_empty() { "." } else { name };
    let mut words = Vec::new();
    if program.contains('/') {
        words.push(program.clone());
    }
    if INTERPRETERS.contains(&name) {
        // The value of an option looks like a script, so each word up to the first file may be the script.
        let plain = arguments.iter().filter(|word| !word.starts_with('-') && !SUBCOMMANDS.contains(&word.as_str()));
        words.extend(plain.take(2).cloned());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_found_and_data_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let home = real(folder.path());
        for file in ["gate.sh", "scripts/gate.py", "src/app.py", "node_modules/.bin/gate.sh"] {
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
        ] {
            let found: Vec<String> =
                scripts_of(command, &home, &home).iter().map(|path| crate::trust::relative(path, &home)).collect();
            assert_eq!(found, expected, "{command}");
        }
    }
}
