//! Slash commands in a prompt, and their names.

use crate::host::ids::comparable;

/// The command that `prompt` begins with, without its slash.
///
/// Only the first token counts, so `/planning` is not `/plan` and a path is not a command. The form that transcripts
/// use (`<command-name>/plan</command-name>`) is supported too.
pub fn typed(prompt: &str) -> Option<&str> {
    let prompt = prompt.trim_start();
    let token = match wrapped(prompt) {
        Some(inner) => inner.trim(),
        None => prompt.split_whitespace().next()?,
    };
    let name = token.strip_prefix('/').or(wrapped(prompt).map(|_| token))?;
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_:.".contains(c));
    plain.then_some(name)
}

fn wrapped(prompt: &str) -> Option<&str> {
    let prompt = match prompt.strip_prefix("<command-message>") {
        Some(rest) => rest.split_once("</command-message>")?.1.trim_start(),
        None => prompt,
    };
    Some(prompt.strip_prefix("<command-name>")?.split_once("</command-name>")?.0)
}

/// Whether the host wrote `prompt`; such a prompt activates nothing.
pub fn is_machine_prompt(prompt: &str) -> bool {
    const MARKS: [&str; 3] = ["<task-notification>", "<local-command", "<system-"];
    let prompt = prompt.trim_start();
    MARKS.iter().any(|mark| prompt.starts_with(mark))
}

/// Whether two names mean the same command, ignoring the slash and modegate's own plugin prefix; `own` is the name in a
/// mode file.
pub fn same_command(own: &str, other: &str) -> bool {
    let (own, other) = comparable(own.trim_start_matches('/'), other.trim_start_matches('/'));
    own == other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(prompt: &str, expected: Option<&str>) {
        assert_eq!(typed(prompt), expected, "{prompt:?}");
    }

    #[test]
    fn only_the_exact_first_token_is_a_command() {
        check("/plan a login page", Some("plan"));
        check("  /plan", Some("plan"));
        check("/plan\nmore", Some("plan"));
        check("/planning", Some("planning"));
        check("/acme:plan x", Some("acme:plan"));
        check("please /plan", None);
        check("/usr/bin/env", None);
        check("/", None);
        check("", None);
    }

    #[test]
    fn the_wrapped_form_is_a_command_too() {
        check("<command-name>/plan</command-name>\n<command-args>x</command-args>", Some("plan"));
        check("<command-message>plan</command-message>\n<command-name>/plan</command-name>", Some("plan"));
        check("<command-name>plan</command-name>", Some("plan"));
    }

    #[test]
    fn commands_compare_exactly_but_for_our_own_prefix() {
        assert!(same_command("/plan", "modegate:plan"));
        assert!(same_command("/acme:plan", "acme:plan"));
        assert!(same_command("/*:plan", "acme:plan"));
        assert!(!same_command("/plan", "workflows:plan"));
        assert!(!same_command("/Plan", "plan"));
    }
}
