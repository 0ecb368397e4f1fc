//! `.claude/hooks.toml`: a list of hooks, each a shell command or a webhook.

use super::{ImportedFile, NodeBuilder, base, entries, field};
use crate::event::EventKind;
use crate::yaml::{FileProblem, Node, NodeValue, did_you_mean, toml};

/// Events of other programs that Claude Code does not have; their hooks never run.
const IMPORTED: [&str; 2] = ["StatusLine", "FileSuggestion"];

/// The keys of a hook.
const KEYS: [&str; 7] = ["event", "tool_matcher", "timeout_sec", "once", "name", "shell", "webhook"];

/// The keys of each way to handle an event.
const HANDLERS: [(&str, [&str; 3]); 2] =
    [("shell", ["command", "pass_context", "parse_result"]), ("webhook", ["url", "method", "headers"])];

/// Converts the file if it has the list `hooks`.
pub(super) fn parse(text: &str) -> Result<ImportedFile, Vec<FileProblem>> {
    let root = toml::parse(text).map_err(|problem| vec![problem])?;
    let Some(NodeValue::List(hooks)) = field(&root, "hooks").map(|hooks| &hooks.value) else {
        return Ok(ImportedFile::Other);
    };
    let mut problems = Vec::new();
    let names = names(hooks);
    let nodes = hooks.iter().zip(names).filter_map(|(hook, name)| native(name, hook, &mut problems)).collect();
    if problems.is_empty() { Ok(ImportedFile::Mode(base(NodeBuilder::at(&root), nodes))) } else { Err(problems) }
}

/// A unique name for each hook: names in the file are for people and may repeat.
fn names(hooks: &[Node]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (number, hook) in (1..).zip(hooks) {
        let own = field(hook, "name").and_then(Node::text).filter(|name| !names.iter().any(|other| other == name));
        let other = field(hook, "name").and_then(Node::text).unwrap_or("hooks");
        names.push(own.map_or_else(|| format!("{other}-{number}"), str::to_owned));
    }
    names
}

/// Reports unknown keys.
fn spell(node: &Node, what: &str, keys: &[&str], problems: &mut Vec<FileProblem>) {
    for (key, _) in entries(Some(node)) {
        let name = key.text().unwrap_or_default();
        if !keys.contains(&name) {
            let near = did_you_mean(name, keys);
            problems.push(FileProblem::at(key.location, format!("{what} has no key `{name}`{near}")));
        }
    }
}

fn native(name: String, hook: &Node, problems: &mut Vec<FileProblem>) -> Option<Node> {
    let at = NodeBuilder::at(hook);
    spell(hook, "a hook", &KEYS, problems);
    for (name, keys) in HANDLERS {
        if let Some(handler) = field(hook, name) {
            spell(handler, &format!("`{name}`"), &keys, problems);
        }
    }
    let trigger = trigger(hook, problems)?;
    let kind = EventKind::named(trigger.split('(').next().unwrap_or_default());
    let mut fields = vec![("id", at.text(name)), ("on", at.text(trigger))];
    match (field(hook, "shell"), field(hook, "webhook")) {
        (Some(shell), None) => fields.push(("check", run(shell, kind))),
        (None, Some(webhook)) => fields.push(("check", http(webhook, kind))),
        _ => {
            problems.push(FileProblem::at(hook.location, "a hook has one of `shell` and `webhook`".to_owned()));
            return None;
        }
    }
    if let Some(seconds) = field(hook, "timeout_sec") {
        fields.push(("timeout", seconds.clone()));
    }
    if field(hook, "once").and_then(Node::text) == Some("true") {
        fields.push(("once", at.text("session")));
    }
    // There, a hook that does not answer in time is logged and blocks nothing.
    fields.push(("unknown", at.text("warn")));
    Some(at.map(fields))
}

/// The trigger, as `Event(tool)`; only tool events have a tool to match.
fn trigger(hook: &Node, problems: &mut Vec<FileProblem>) -> Option<String> {
    let Some(event) = field(hook, "event") else {
        problems.push(FileProblem::at(hook.location, "a hook needs an `event`".to_owned()));
        return None;
    };
    let name = event.text().unwrap_or_default();
    let Some(kind) = EventKind::named(name) else {
        if !IMPORTED.contains(&name) {
            let names: Vec<&str> = crate::event::TABLE.iter().map(|row| row.name).collect();
            let near = did_you_mean(name, &names);
            problems.push(FileProblem::at(event.location, format!("unknown event `{name}`{near}")));
        }
        return None;
    };
    let matcher = field(hook, "tool_matcher").and_then(Node::text);
    let has_tool = kind.row().subject == Some("tool_name");
    Some(match matcher.filter(|_| has_tool) {
        Some(matcher) => format!("{}({matcher})", kind.name()),
        None => kind.name().to_owned(),
    })
}

fn run(shell: &Node, kind: Option<EventKind>) -> Node {
    let at = NodeBuilder::at(shell);
    let is_true = |name: &str| field(shell, name).and_then(Node::text) == Some("true");
    let word = |truth: bool| at.word(if truth { "true" } else { "false" });
    let command = field(shell, "command").cloned().unwrap_or_else(|| at.text(""));
    let parses = is_true("parse_result");
    let rewrites = parses && kind == Some(EventKind::PreToolUse);
    let fields = vec![
        ("command", command),
        ("event", word(is_true("pass_context"))),
        ("answer", word(parses)),
        ("rewrites", word(rewrites)),
    ];
    at.map(vec![("run", at.map(fields))])
}

fn http(webhook: &Node, kind: Option<EventKind>) -> Node {
    let at = NodeBuilder::at(webhook);
    let fields =
        ["url", "method", "headers"].into_iter().filter_map(|name| Some((name, field(webhook, name)?.clone())));
    let rewrites = (kind == Some(EventKind::PreToolUse)).then(|| ("rewrites", at.word("true")));
    at.map(vec![("http", at.map(fields.chain(rewrites).collect()))])
}
