//! The shell lines that start the program, wherever it is, and never fail where it is missing.
//!
//! The host runs a line without `args` with `/bin/sh -c` in every version. With `args`, versions before 2.1.139 start
//! `command` alone: a bare `sh` would then run the event, which contains untrusted text, as a script, while the program
//! without arguments is the hook.

use super::{PROJECT_COMMAND, PROJECT_VARIABLE};
use crate::host::event::EventKind;

/// The committed script that looks for the program where the project has none.
pub const SCRIPT: &str = include_str!("modegate.sh");

/// The line of a project's entry: runs the project's program, else the script next to it, unless that is missing or broken
/// (a syntax error has the exit code of a block), else the user's copy, which has no script.
const LINE: &str = concat!(
    r#"for p in "$CLAUDE_PROJECT_DIR"/.claude/hooks/modegate"#,
    r#" "${MODEGATE_STATE_DIR:-${XDG_STATE_HOME:-$HOME/.local/state}/modegate}"/bin/modegate"#,
    r#"; do [ -x "$p" ] && exec "$p" ARGS; /bin/sh -n "$p.sh" 2>/dev/null && exec /bin/sh "$p.sh" EVENT ARGS; done; exit 0"#,
);

/// What stands between the program and the arguments in the lines of earlier versions.
const EARLIER_RUN: &str = r#"; [ -x "$p" ] && exec "$p" "#;

/// The start of the line of a fallback entry, which runs no program of a project: it applies to every repository.
const FALLBACK: &str = "PATH=${PATH:-/bin}:~/.cargo/bin:~/.local/bin:~/.local/state/modegate/bin; command -v modegate >/dev/null && exec modegate ";

/// The same in earlier versions.
const EARLIER_FALLBACK: &str =
    "PATH=${PATH:-/bin}:~/.cargo/bin:~/.local/bin; p=modegate; command -v $p >/dev/null && exec $p ";

/// What a fallback entry does at the start of a session without modegate, unless the project's own entries say it too.
const MESSAGE_WITHOUT_PROGRAM: &str = concat!(
    r#"; s=$CLAUDE_PROJECT_DIR/.claude/settings; grep -qs hooks/modegate "$s.json" "$s.local.json" && exit 0"#,
    r#"; read -r e; case $e in *'"source":"startup"'*) echo '{"systemMessage":"modegate is not on PATH, so the gates "#,
    "of its plugin are off. To get it, run `npm install -g modegate`, `uv tool install modegate` or `cargo install modegate`, ",
    r#"and start a new session."}';; esac"#,
);

/// The command and the arguments of an entry for `program`: a line for the program of a project, else the program itself.
///
/// On Windows there may be no `sh`.
pub(super) fn call(program: &str, args: &str, kind: EventKind) -> (String, Option<Vec<String>>) {
    if program == PROJECT_COMMAND && cfg!(not(windows)) {
        return (line(args, kind), None);
    }
    (program.to_owned(), Some(args.split(' ').map(str::to_owned).collect()))
}

fn line(args: &str, kind: EventKind) -> String {
    LINE.replace("EVENT", kind.name()).replace("ARGS", args)
}

/// The line of an entry in a plugin or in the settings of an administrator: runs the program on PATH with `args`.
///
/// Without a program it says so once per session and blocks nothing.
pub(super) fn fallback_line(args: &str, kind: EventKind) -> String {
    let message = if kind == EventKind::SessionStart { MESSAGE_WITHOUT_PROGRAM } else { "" };
    format!("{FALLBACK}{args}{message}; exit 0")
}

/// Whether a line is exactly what this version writes for an event with some arguments.
pub(super) fn is_written_line(command: &str, kind: EventKind) -> bool {
    parsed(command)
        .is_some_and(|(_, args)| [line(args, kind), fallback_line(args, kind)].iter().any(|own| own == command))
}

/// The program and the arguments of a launcher line, also of one that an earlier version wrote.
pub(super) fn parsed(line: &str) -> Option<(String, &str)> {
    if let Some(rest) = [FALLBACK, EARLIER_FALLBACK].iter().find_map(|start| line.strip_prefix(start)) {
        return Some(("modegate".to_owned(), rest.split_once(';')?.0));
    }
    let until_args = LINE.split("ARGS").next().unwrap_or_default();
    if let Some(rest) = line.strip_prefix(until_args) {
        return Some((PROJECT_COMMAND.to_owned(), rest.split_once(';')?.0));
    }
    let (program, rest) = line.strip_prefix("p=")?.split_once(EARLIER_RUN)?;
    Some((unquoted(program), rest.split_once(';')?.0))
}

fn unquoted(word: &str) -> String {
    if let Some(inner) = word.strip_prefix("\"$CLAUDE_PROJECT_DIR") {
        return format!("{PROJECT_VARIABLE}{}", inner.trim_end_matches('"'));
    }
    let inner = word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')).unwrap_or(word);
    inner.replace(r"'\''", "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_short_and_names_its_program_and_arguments() {
        for kind in [EventKind::Stop, EventKind::PreToolUse, EventKind::UserPromptExpansion] {
            let line = line("hook", kind);
            assert_eq!(parsed(&line), Some((PROJECT_COMMAND.to_owned(), "hook")), "{line}");
            assert!(is_written_line(&line, kind) && line.len() <= 270, "{} bytes: {line}", line.len());
        }
        assert_eq!(parsed("p=x; modegate hook"), None);
        let line = fallback_line("hook --fallback", EventKind::SessionStart);
        assert_eq!(parsed(&line), Some(("modegate".to_owned(), "hook --fallback")), "{line}");
        assert!(!line.contains("$CLAUDE_PROJECT_DIR/.claude/hooks"), "{line}");
    }

    #[test]
    fn lines_of_earlier_versions_are_known() {
        for (start, program) in [
            (r#"p="$CLAUDE_PROJECT_DIR/.claude/hooks/modegate""#, PROJECT_COMMAND),
            (r"p='/home/it'\''s/.claude/modegate/modegate'", "/home/it's/.claude/modegate/modegate"),
        ] {
            let line = format!(r#"{start}; [ -x "$p" ] && exec "$p" hook --exit-zero; d=$CLAUDE_PROJECT_DIR; exit 0"#);
            assert_eq!(parsed(&line), Some((program.to_owned(), "hook --exit-zero")), "{line}");
            assert!(!is_written_line(&line, EventKind::Stop));
        }
        let line = format!("{EARLIER_FALLBACK}hook --fallback; exit 0");
        assert_eq!(parsed(&line), Some(("modegate".to_owned(), "hook --fallback")));
    }
}
