//! Code of other languages: the command lines that it hands on and the paths that it removes, where they stand in texts.

use super::Effect;
use super::walker::Walker;
use crate::shell::word::ShellWord;

/// Functions that start a program.
const STARTING: [&str; 18] = [
    "system",
    "popen",
    "Popen",
    "run",
    "call",
    "check_call",
    "check_output",
    "getoutput",
    "exec",
    "execSync",
    "execFile",
    "execFileSync",
    "spawn",
    "spawnSync",
    "shell_exec",
    "passthru",
    "execvp",
    "execlp",
];

/// Functions that remove what they are given; a `remove` of no module is that of a list.
const REMOVING: [&str; 11] = [
    "rmtree",
    "unlink",
    "os.remove",
    "rmdir",
    "removedirs",
    "rmSync",
    "unlinkSync",
    "rmdirSync",
    "fs.rm",
    "rm_rf",
    "rm_r",
];

/// What code that changes files has in it, in whatever language.
const WRITING: [&str; 39] = [
    "write",
    "'w'",
    "\"w\"",
    "'wb",
    "\"wb",
    "'wt",
    "\"wt",
    "'w+",
    "\"w+",
    "'a'",
    "\"a\"",
    "'ab",
    "\"ab",
    "r+",
    "'x'",
    "\"x\"",
    "dump(",
    "unlink",
    "remove",
    "rename",
    "replace",
    "rmtree",
    "rmdir",
    "rmsync",
    "rm(",
    "rm_",
    "copy",
    "move",
    "truncate",
    "popen",
    "exec",
    "spawn",
    "chmod",
    "chown",
    "link",
    "touch",
    "appendfile",
    "eval",
    "delete",
];

/// Whether code may change files; what only reads may name whatever it likes.
pub(super) fn writes(kind: &str, code: &str) -> bool {
    let lower = code.to_lowercase();
    // In these a file is written to as in the shell.
    let arrow = kind.ends_with("awk") || ["perl", "ruby", "php"].contains(&kind);
    let starts = ["system", "subprocess", "qx"].iter().any(|word| lower.contains(word));
    kind == "sqlite3" || starts || arrow && lower.contains('>') || WRITING.iter().any(|word| lower.contains(word))
}

/// Walks what code hands on.
pub(super) fn handed(walker: &mut Walker<'_>, code: &str) {
    for (head, texts) in calls(code) {
        let name = head.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        if STARTING.contains(&name) {
            // What looks like a line may be something else: that it cannot be read says nothing.
            let unreadable = walker.effects.unreadable.clone();
            walker.unowned_aside(|walker| match texts.as_slice() {
                [line] => walker.text(line, &ShellWord::unknown()),
                texts => walker
                    .run(&texts.iter().map(|text| ShellWord::new(*text)).collect::<Vec<_>>(), &ShellWord::unknown()),
            });
            walker.effects.unreadable = unreadable;
        }
        if REMOVING.iter().any(|function| head.ends_with(function))
            && let Some(path) = texts.first()
        {
            walker.change(Effect::Remove, &ShellWord::new(*path), true);
        }
    }
}

/// Texts that stand together, in a list or one after the other, with what stands before them.
fn calls(code: &str) -> Vec<(&str, Vec<&str>)> {
    let mut calls = Vec::new();
    let mut rest = code;
    while let Some((before, mut open)) = rest.find(['\'', '"']).and_then(|at| rest.split_at_checked(at)) {
        let mut texts = Vec::new();
        while let Some((text, after)) = text(open) {
            texts.push(text);
            rest = after;
            open = after.trim_start_matches([' ', '\n', ',', '[', ']']);
        }
        // `f'…'`, `r'…'`
        let bare = before.strip_suffix(['f', 'r', 'b']).filter(|bare| bare.ends_with(['(', '[', ' ']));
        calls.push((bare.unwrap_or(before).trim_end_matches(['(', '[', ' ', '\n']), texts));
    }
    calls
}

/// The text in quotes that something begins with, and what follows it.
fn text(code: &str) -> Option<(&str, &str)> {
    let quote = code.chars().next().filter(|c| ['\'', '"'].contains(c))?;
    let inner = code.get(1..)?;
    Some(inner.split_once(quote).unwrap_or((inner, "")))
}
