//! Reads the hook entries of a settings file.

use super::plugin::FALLBACK_FLAG;
use super::{PROJECT_COMMAND, TIMEOUT, launcher};
use crate::host::event::EventKind;
use serde_json::Value;
use std::env::consts::EXE_SUFFIX;
use std::path::Path;

const PLAIN: [&str; 2] = ["modegate hook", "modegate hook --exit-zero"];

#[derive(Debug, Clone, PartialEq)]
pub struct HookEntry<'a> {
    /// The name of its event, as written in the file.
    pub event: &'a str,
    pub matcher: Option<&'a str>,
    pub entry: &'a Value,
}

/// The content of a settings file; null if it is not JSON, for which the host ignores it.
pub fn settings_value(text: &str) -> Value {
    serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default()
}

/// Every hook entry of a settings file; malformed ones are left out.
pub fn entries_in(settings: &Value) -> Vec<HookEntry<'_>> {
    let mut found = Vec::new();
    for (event, groups) in settings.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        for group in groups.as_array().into_iter().flatten() {
            let matcher = group.get("matcher").and_then(Value::as_str);
            let entries = group.get("hooks").and_then(Value::as_array).into_iter().flatten();
            found.extend(entries.map(|entry| HookEntry { event, matcher, entry }));
        }
    }
    found
}

impl<'a> HookEntry<'a> {
    pub fn command(&self) -> Option<&'a str> {
        self.entry.get("command").and_then(Value::as_str)
    }

    /// The arguments; `None` where the command is a shell line.
    pub fn args(&self) -> Option<Vec<&'a str>> {
        Some(self.entry.get("args")?.as_array()?.iter().filter_map(Value::as_str).collect())
    }

    /// The program it starts in the project at `home`.
    pub fn program(&self, home: &str) -> String {
        let command = self.command().unwrap_or_default();
        if let Some((program, _)) = launcher::parsed(command) {
            return program.replace("${CLAUDE_PROJECT_DIR}", home);
        }
        let command: String = command.chars().filter(|c| !is_quote(*c)).collect();
        let line = command.replace("${CLAUDE_PROJECT_DIR}", home).replace("$CLAUDE_PROJECT_DIR", home);
        match self.args() {
            Some(_) => line,
            None => split_line(&line).0.to_owned(),
        }
    }

    /// Whether it looks for the program elsewhere if it is not at its place.
    pub fn is_launcher(&self) -> bool {
        self.command().is_some_and(|line| launcher::parsed(line).is_some())
    }

    /// Whether it runs the project's script where the program is missing.
    pub fn runs_script(&self) -> bool {
        self.is_launcher() && self.command().is_some_and(|line| line.contains("$p.sh"))
    }

    /// Whether it stays silent where a settings file calls modegate for its event; see [`super::is_superseded`].
    pub fn is_fallback(&self) -> bool {
        let line = self.command().unwrap_or_default();
        let is_flag = |word: &str| word.trim_matches(['\'', '"', ';']) == FALLBACK_FLAG;
        line.split_whitespace().any(is_flag) || self.args().is_some_and(|args| args.into_iter().any(is_flag))
    }

    /// Whether it is exactly what `install` writes for a program.
    pub fn is_as_installed(&self, program: &str) -> bool {
        let words = |args: Option<Vec<String>>| args.map(|args| args.join(" "));
        EventKind::named(self.event).is_some_and(|kind| {
            let (command, args) = launcher::call(program, &self.arguments(), kind);
            self.has_known_arguments()
                && self.command() == Some(&command)
                && self.args().map(|args| args.join(" ")) == words(args)
        })
    }

    pub fn is_ours(&self) -> bool {
        is_hook_call(self.command().unwrap_or_default(), self.args().as_deref())
    }

    /// Whether it runs the program on PATH without more, which may not be there: other entries also look elsewhere.
    pub fn is_plain(&self) -> bool {
        let line = [&[self.command().unwrap_or_default()][..], &self.args().unwrap_or_default()].concat().join(" ");
        PLAIN.contains(&line.as_str())
    }

    /// Whether every event of its kind reaches modegate through it, and its answer counts: it is what `install` writes for
    /// the project's program or the user's copy, or the program on PATH without more.
    pub fn is_certain_to_decide(&self, user_program: Option<&Path>) -> bool {
        let project = format!("{PROJECT_COMMAND}{EXE_SUFFIX}");
        let user = user_program.map(Path::to_string_lossy);
        let programs = [Some(project.as_str()), user.as_deref()];
        let is_program =
            |program: &str| self.command() == Some(program) && self.args().is_some_and(|args| args == ["hook"]);
        let runs = |program: &str| is_program(program) || self.is_as_installed(program);
        (self.is_plain() || programs.into_iter().flatten().any(runs)) && self.is_unrestricted()
    }

    /// Whether the host runs it at every event of its kind, waits for it, and uses its answer.
    pub(super) fn is_unrestricted(&self) -> bool {
        let is_in_time = self.entry.get("timeout").is_none_or(|time| time.as_u64().is_some_and(|time| time >= TIMEOUT));
        let is_command = self.entry.get("type").and_then(Value::as_str) == Some("command");
        self.matches_every_event() && is_command && is_in_time && self.other_keys().is_empty()
    }

    pub fn other_keys(&self) -> Vec<&'a str> {
        const KEYS: [&str; 6] = ["type", "command", "args", "timeout", "statusMessage", "onFailure"];
        let keys = self.entry.as_object().into_iter().flat_map(|entry| entry.keys()).map(String::as_str);
        keys.filter(|key| !KEYS.contains(key)).collect()
    }

    /// Whether it does nothing but start `modegate hook`: in `true # modegate hook`, the words alone prove nothing.
    pub fn is_direct_call(&self) -> bool {
        let command = self.command().unwrap_or_default();
        let is_written = || EventKind::named(self.event).is_some_and(|kind| launcher::is_written_line(command, kind));
        let has_no_other_part = || !command.contains([';', '|', '&', '<', '>', '(', ')', '`', '#', '\n', '\r']);
        self.is_ours()
            && self.has_known_arguments()
            && if self.is_launcher() { is_written() } else { has_no_other_part() }
    }

    /// Whether its arguments are those of an entry that decides in the session's own project.
    pub(super) fn has_known_arguments(&self) -> bool {
        matches!(self.arguments().as_str(), "hook" | "hook --exit-zero")
    }

    pub(super) fn arguments(&self) -> String {
        let command = self.command().unwrap_or_default();
        let words = match (launcher::parsed(command), self.args()) {
            (Some((_, args)), _) => args.to_owned(),
            (None, Some(args)) => args.join(" "),
            (None, None) => split_line(command).1.to_owned(),
        };
        // The flag of an entry that was copied from the plugin would keep an entry of the settings silent.
        let words: Vec<&str> = words.split_whitespace().filter(|word| *word != FALLBACK_FLAG).collect();
        if words.is_empty() { "hook".to_owned() } else { words.join(" ") }
    }

    /// Whether it calls modegate, directly or within a longer shell line.
    pub fn calls_modegate(&self) -> bool {
        self.is_ours() || self.args().is_none() && mentions_hook_call(self.command().unwrap_or_default())
    }

    /// Whether no matcher and no `if` filters events; the host ignores matchers of events without a subject.
    pub fn matches_every_event(&self) -> bool {
        let has_no_matcher = EventKind::named(self.event).is_some_and(|kind| kind.row().subject.is_none());
        let all = matches!(self.matcher, None | Some("" | "*" | ".*" | ".+" | "^.*$"));
        (all || has_no_matcher) && self.entry.get("if").is_none()
    }
}

/// Whether a command with arguments, or a shell line, is `modegate hook` or the bare program.
fn is_hook_call(command: &str, args: Option<&[&str]>) -> bool {
    if let Some((program, args)) = launcher::parsed(command) {
        return is_hook_call(&program, Some(&[args]));
    }
    let command: String = command.chars().filter(|c| !is_quote(*c)).collect();
    let (program, rest) = if let Some(args) = args {
        (command.trim(), args.join(" "))
    } else {
        let (program, rest) = split_line(&command);
        (program, rest.to_owned())
    };
    // Spaces are allowed in a path, but in other text they mean a wrapper such as `nice`.
    let is_path = program.starts_with(['/', '~', '$', '\\', '.']) || program.get(1..2) == Some(":");
    if args.is_none() && !is_path && program.contains(char::is_whitespace) {
        return false;
    }
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.strip_suffix(".exe").unwrap_or(name);
    name == "modegate" && (rest.is_empty() || rest == "hook" || rest.starts_with("hook "))
}

/// Whether a shell line contains a call such as `nice modegate hook` or `modegate hook || true`.
pub(super) fn mentions_hook_call(line: &str) -> bool {
    let plain: String = line.chars().filter(|c| !is_quote(*c)).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let is_it = |word: &str| matches!(word.rsplit(['/', '\\']).next(), Some("modegate" | "modegate.exe"));
    words.windows(2).any(|two| matches!(two, [program, "hook"] if is_it(program)))
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'')
}

/// Splits a shell line into program and arguments, from the end, as a path may have spaces.
fn split_line(line: &str) -> (&str, &str) {
    let line = line.trim();
    let ends = ["hook --exit-zero", "hook"];
    let found = ends.into_iter().find_map(|end| Some((line.strip_suffix(end)?.strip_suffix(' ')?.trim_end(), end)));
    found.unwrap_or((line, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hook_calls_are_recognized() {
        for (command, args, ours) in [
            ("${CLAUDE_PROJECT_DIR}/.claude/hooks/modegate", Some(&["hook"][..]), true),
            ("/home/a b/.claude/bin/modegate", Some(&["hook", "--exit-zero"]), true),
            ("modegate", Some(&["hook"]), true),
            ("C:\\Users\\u\\modegate.exe", Some(&["hook"]), true),
            ("\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/modegate hook", None, true),
            ("/a b/modegate", None, true),
            ("modegate hook --exit-zero", None, true),
            ("nice -n 5 /usr/bin/modegate hook", None, false),
            ("modegate hook || true", None, false),
            ("modegate", Some(&["status"]), false),
            ("modegate status", None, false),
            ("my-modegate", Some(&["hook"]), false),
            ("echo modegate hook; other", None, false),
            ("", None, false),
        ] {
            assert_eq!(is_hook_call(command, args), ours, "{command} {args:?}");
        }
        assert!(mentions_hook_call("nice -n 5 /usr/bin/modegate hook") && mentions_hook_call("modegate hook || true"));
        assert!(!mentions_hook_call("echo modegate; hook"));
    }
}
