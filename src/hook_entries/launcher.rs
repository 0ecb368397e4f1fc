//! The shell line that starts the program, wherever it is, and keeps a session usable where it is missing.
//!
//! The host runs a line without `args` with `/bin/sh -c` in every version. With `args`, versions before 2.1.139 start
//! `command` alone: a bare `sh` would then run the event, which contains untrusted text, as a script.

use crate::event::EventKind;

/// Runs the program at `p`: the only part that an ordinary event reaches.
const RUN: &str = r#"; [ -x "$p" ] && exec "$p" "#;

/// Looks for the program in the main checkout of a linked worktree, at the root of the repository, among the packages
/// of the project, then on PATH.
///
/// `r` is the root of this checkout, `m` that of the main one: `.git` of a linked worktree is a file that names it.
/// Nothing here can loop for ever, and only the native program of an npm package costs a process: `node_modules` may
/// have those of other platforms. `c` is set where modegate has state and a lock: the program was there and is gone.
/// `uninstall` leaves the state, but not the lock. An empty PATH would mean the current folder.
const SEARCH: &str = concat!(
    r#"; d=$CLAUDE_PROJECT_DIR; r=$d; g=; c="#,
    r#"; until [ -e "$r/.git" ] || [ "$r" = "${r%/*}" ]; do r=${r%/*}; done; [ -e "$r/.git" ] || r=$d; m=$r"#,
    r#"; [ -f "$r/.git" ] && read -r _ g <"$r/.git"; case $g in /*) ;; *) g=$r/$g;; esac"#,
    r#"; case $g in */.git/worktrees/*) m=${g%/.git/worktrees/*};; esac"#,
    r#"; for h in "$m${d#"$r"}" "$r" "$m"; do h=$h/.claude/hooks"#,
    r#"; [ -x "$h/modegate" ] && exec "$h/modegate" ARGS"#,
    r#"; [ -e "$h/cache.json" ] && [ -e "$h/cache.lock" ] && c=1; done"#,
    r#"; PACKAGES"#,
    r#"; PATH=${PATH:-/bin}:~/.cargo/bin:~/.local/bin; command -v modegate >/dev/null && exec modegate ARGS"#,
);

/// The part of the search that runs a program of the project.
const RUN_IN_PROJECT: &str = r#"; [ -x "$h/modegate" ] && exec "$h/modegate" ARGS"#;

/// Looks for the program where npm and Python install it for a project: the native program of the npm package before
/// its script, which starts node for each event.
const PACKAGES: &str = concat!(
    r#"for h in "$d" "$r" "$m${d#"$r"}" "$m"; do"#,
    r#" n=$h/node_modules; [ -d "$n/@modegate" ] && case $(uname -sm) in"#,
    r#" Linux*x86_64) n=$n/@modegate/linux-x64;; Linux*aarch64) n=$n/@modegate/linux-arm64;;"#,
    r#" Darwin*arm64) n=$n/@modegate/darwin-arm64;; Darwin*) n=$n/@modegate/darwin-x64;; esac"#,
    r#"; for b in "$n/bin" "$h/node_modules/.bin" "$h/.venv/bin" "$h/venv/bin"; do"#,
    r#" [ -x "$b/modegate" ] && exec "$b/modegate" ARGS; done; done"#,
);

/// The start of the line of a fallback entry, which runs no program of a project: it applies to every repository.
const FALLBACK: &str = "PATH=${PATH:-/bin}:~/.cargo/bin:~/.local/bin; p=modegate; command -v $p >/dev/null && exec $p ";

/// Ends the line of a fallback entry if the settings of the project say the same.
const IS_SAID_BY_PROJECT: &str =
    r#"; s=$CLAUDE_PROJECT_DIR/.claude/settings; grep -qs hooks/modegate "$s.json" "$s.local.json" && exit 0"#;

/// The message of a fallback entry at the start of a session without modegate.
const NOT_ON_PATH: &str = "modegate is not on PATH, so the gates of its plugin are off. To get it, run `npm install -g modegate`, `uv tool install modegate` or `cargo install modegate`, and start a new session.";

/// The message at the start of a session without modegate.
const NOT_INSTALLED: &str = "modegate is not installed here, so its gates are off. To get it, run `npx modegate install` or `uvx modegate install` in this project, or `cargo install modegate`.";

/// The message with each prompt when the program is gone.
const VANISHED: &str = "modegate: its program is missing (.claude/hooks/modegate, and none is on PATH), so nothing is checked, and agents and skills cannot start. Get modegate again and run `modegate install`, or remove the modegate hooks from the settings.";

/// What the model reads when it starts an agent and the program is gone.
const START_BLOCKED: &str = "The program of modegate is missing (.claude/hooks/modegate, and none is on PATH), so agents and skills cannot start. Ask the user to get modegate again and run `modegate install`, or to remove the modegate hooks from the settings; then try again.";

/// The tools that can start an agent.
const STARTS: &str = r#""tool_name": *"(Agent|Task|Skill|SendMessage|Workflow)""#;

/// The line of an entry: runs `program` with `args`.
pub(super) fn line(program: &str, args: &str, kind: EventKind) -> String {
    // Entries of the user apply to every repository, which could contain its own program.
    let is_of_project = program.starts_with(super::PROJECT_VARIABLE);
    let search = if is_of_project {
        SEARCH.replace("PACKAGES", PACKAGES)
    } else {
        SEARCH.replace(RUN_IN_PROJECT, "").replace("; PACKAGES", "")
    };
    let search = search.replace("ARGS", args);
    format!("p={}{RUN}{args}{search}{}; exit 0", quoted(program), without_program(kind))
}

/// The line of an entry in a plugin or in the settings of an administrator: runs the program on PATH with `args`.
///
/// Without a program it says so once per session and blocks nothing.
pub(super) fn fallback_line(args: &str, kind: EventKind) -> String {
    let without_program = match kind {
        EventKind::SessionStart => format!("{IS_SAID_BY_PROJECT}{}", message_at_startup(NOT_ON_PATH)),
        _ => String::new(),
    };
    format!("{FALLBACK}{args}{without_program}; exit 0")
}

/// Prints a message at the start of a session, but not where one goes on.
fn message_at_startup(message: &str) -> String {
    format!(r#"; read -r e; case $e in *'"source":"startup"'*) echo '{{"systemMessage":"{message}"}}';; esac"#)
}

/// What an entry does when there is no program.
fn without_program(kind: EventKind) -> String {
    match kind {
        EventKind::SessionStart => format!(r#"; [ "$c" ] && exit 0{}"#, message_at_startup(NOT_INSTALLED)),
        EventKind::UserPromptSubmit => format!(r#"; [ "$c" ] && echo '{{"systemMessage":"{VANISHED}"}}'"#),
        EventKind::PreToolUse => format!(
            r#"; [ "$c" ] && grep -Eq '{STARTS}' && echo '{{"decision":"block","reason":"{START_BLOCKED}"}}' && exit 2"#
        ),
        _ => String::new(),
    }
}

/// The program and the arguments of a launcher line.
pub(super) fn parsed(line: &str) -> Option<(String, &str)> {
    if let Some(rest) = line.strip_prefix(FALLBACK) {
        return Some(("modegate".to_owned(), rest.split_once(';')?.0));
    }
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
        let line = fallback_line("hook --fallback", EventKind::SessionStart);
        assert_eq!(parsed(&line), Some(("modegate".to_owned(), "hook --fallback")), "{line}");
    }

    #[test]
    fn entries_of_the_user_run_no_program_of_a_project() {
        let line = |program| line(program, "hook", EventKind::Stop);
        assert!(line(PROJECT_COMMAND).contains(r#"exec "$h/modegate" hook"#));
        assert!(line(PROJECT_COMMAND).contains("$h/.venv/bin"));
        for other in [line("/home/u/.claude/modegate/modegate"), fallback_line("hook", EventKind::Stop)] {
            assert!(!other.contains("$h/modegate") && !other.contains("$b/modegate"), "{other}");
        }
    }

    #[test]
    fn messages_fit_in_quotes() {
        for message in [NOT_INSTALLED, NOT_ON_PATH, VANISHED, START_BLOCKED] {
            assert!(!message.contains(['\'', '"', '\\', '\n']), "{message}");
        }
    }
}
