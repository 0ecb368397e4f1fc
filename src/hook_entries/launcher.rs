//! The shell line that starts the program, wherever it is, and keeps a session usable where it is missing.
//!
//! The host runs a line without `args` with `/bin/sh -c` in every version. With `args`, versions before 2.1.139 start
//! `command` alone: a bare `sh` would then run the event, which is text of others, as a script.

use crate::event::EventKind;

/// Runs the program at `p`: the only part that an ordinary event reaches.
const RUN: &str = r#"; [ -x "$p" ] && exec "$p" "#;

/// Looks for the program in the main checkout of a linked worktree, at the root of the repository, then on PATH.
///
/// `r` is the root of this checkout, `m` that of the main one: `.git` of a linked worktree is a file that names it.
/// Nothing here starts a process or can loop for ever. `c` is set where modegate has state and a lock: the program was
/// there and is gone. `uninstall` leaves the state, but not the lock. An empty PATH would mean the current folder.
const SEARCH: &str = concat!(
    r#"; d=$CLAUDE_PROJECT_DIR; r=$d; g=; c="#,
    r#"; until [ -e "$r/.git" ] || [ "$r" = "${r%/*}" ]; do r=${r%/*}; done; [ -e "$r/.git" ] || r=$d; m=$r"#,
    r#"; [ -f "$r/.git" ] && read -r _ g <"$r/.git"; case $g in /*) ;; *) g=$r/$g;; esac"#,
    r#"; case $g in */.git/worktrees/*) m=${g%/.git/worktrees/*};; esac"#,
    r#"; for h in "$m${d#"$r"}" "$r" "$m"; do h=$h/.claude/hooks"#,
    r#"; [ -x "$h/modegate" ] && exec "$h/modegate" ARGS"#,
    r#"; [ -e "$h/cache.json" ] && [ -e "$h/cache.lock" ] && c=1; done"#,
    r#"; PATH=${PATH:-/bin}:~/.cargo/bin:~/.local/bin; command -v modegate >/dev/null && exec modegate ARGS"#,
);

/// The part of the search that runs a program of the project.
const RUN_IN_PROJECT: &str = r#"; [ -x "$h/modegate" ] && exec "$h/modegate" ARGS"#;

/// The message at the start of a session without modegate.
const NOT_INSTALLED: &str = "modegate is not installed here, so its gates are off. To get it, run `cargo install --path .` in a clone of modegate; it then works in this project without further steps.";

/// The message with each prompt when the program is gone.
const VANISHED: &str = "modegate: its program is missing (.claude/hooks/modegate, and none is on PATH), so nothing is checked, and agents and skills cannot start. Get modegate again and run `modegate install`, or remove the modegate hooks from the settings.";

/// What the model reads when it starts an agent and the program is gone.
const START_BLOCKED: &str = "The program of modegate is missing (.claude/hooks/modegate, and none is on PATH), so agents and skills cannot start. Ask the user to get modegate again and run `modegate install`, or to remove the modegate hooks from the settings; then try again.";

/// The tools that can start an agent.
const STARTS: &str = r#""tool_name": *"(Agent|Task|Skill|SendMessage|Workflow)""#;

/// The line of an entry: runs `program` with `args`.
pub(super) fn line(program: &str, args: &str, kind: EventKind) -> String {
    // Entries of the user apply to every repository, which could bring its own program along.
    let is_of_project = program.starts_with(super::PROJECT_VARIABLE);
    let search = if is_of_project { SEARCH.to_owned() } else { SEARCH.replace(RUN_IN_PROJECT, "") };
    let search = search.replace("ARGS", args);
    format!("p={}{RUN}{args}{search}{}; exit 0", quoted(program), without_program(kind))
}

/// What an entry does when there is no program.
fn without_program(kind: EventKind) -> String {
    match kind {
        EventKind::SessionStart => format!(
            r#"; [ "$c" ] && exit 0; read -r e; case $e in *'"source":"startup"'*) echo '{{"systemMessage":"{NOT_INSTALLED}"}}';; esac"#
        ),
        EventKind::UserPromptSubmit => format!(r#"; [ "$c" ] && echo '{{"systemMessage":"{VANISHED}"}}'"#),
        EventKind::PreToolUse => format!(
            r#"; [ "$c" ] && grep -Eq '{STARTS}' && echo '{{"decision":"block","reason":"{START_BLOCKED}"}}' && exit 2"#
        ),
        _ => String::new(),
    }
}

/// The program and the arguments of a launcher line.
pub(super) fn parsed(line: &str) -> Option<(String, &str)> {
    let (program, rest) = line.strip_prefix("p=")?.split_once(RUN)?;
    let (args, _) = rest.split_once(';')?;
    Some((unquoted(program), args))
}

/// A path in quotes for the shell; the project variable stays a variable.
fn quoted(path: &str) -> String {
    match path.strip_prefix(super::PROJECT_VARIABLE) {
        Some(below) => format!("\"$CLAUDE_PROJECT_DIR{below}\""),
        None => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

fn unquoted(word: &str) -> String {
    if let Some(inner) = word.strip_prefix("\"$CLAUDE_PROJECT_DIR") {
        return format!("{}{}", super::PROJECT_VARIABLE, inner.trim_end_matches('"'));
    }
    let inner = word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')).unwrap_or(word);
    inner.replace(r"'\''", "'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook_entries::PROJECT_COMMAND;

    #[test]
    fn a_line_names_its_program_and_arguments() {
        for program in [PROJECT_COMMAND, "/home/it's \"a\" ä/.claude/hooks/modegate"] {
            for kind in [EventKind::Stop, EventKind::PreToolUse, EventKind::SessionStart] {
                let line = line(program, "hook --exit-zero", kind);
                assert_eq!(parsed(&line), Some((program.to_owned(), "hook --exit-zero")), "{line}");
            }
        }
        assert_eq!(parsed("p=x; modegate hook"), None);
    }

    #[test]
    fn entries_of_the_user_run_no_program_of_a_project() {
        let line = |program| line(program, "hook", EventKind::Stop);
        assert!(line(PROJECT_COMMAND).contains(r#"exec "$h/modegate" hook"#));
        assert!(!line("/home/u/.claude/modegate/modegate").contains("$h/modegate"));
    }

    #[test]
    fn messages_fit_in_quotes() {
        for message in [NOT_INSTALLED, VANISHED, START_BLOCKED] {
            assert!(!message.contains(['\'', '"', '\\', '\n']), "{message}");
        }
    }
}
