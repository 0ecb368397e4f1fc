//! `.claude/hooks.toml`: a list of hooks, each a shell command or a webhook.

use super::{ImportResult, NodeBuilder, finished};
use crate::host::event::EventKind;
use crate::policy::mode::{MOST_GATES, USER_HOOKS};
use crate::policy::yaml::{FileProblem, Node, NodeValue, TreeReader, did_you_mean, toml};

/// Events of other programs that Claude Code does not have; their hooks never run.
const IMPORTED: [&str; 2] = ["StatusLine", "FileSuggestion"];

/// Events that are already over: the result of a hook changes nothing.
const NOTIFIED: [&str; 3] = ["PostToolUse", "PostToolUseFailure", "PostUserMessage"];

/// The default limits of a program and of a server, in seconds; the time for an event is shorter.
const SHELL_TIMEOUT: &str = "600";
const WEBHOOK_TIMEOUT: &str = "30";

const KEYS: [&str; 7] = ["event", "tool_matcher", "timeout_sec", "once", "name", "shell", "webhook"];

/// The keys of each way to handle an event.
const HANDLERS: [(&str, [&str; 3]); 2] =
    [("shell", ["command", "pass_context", "parse_result"]), ("webhook", ["url", "method", "headers"])];

/// Converts the file if it has the list `hooks`.
pub(super) fn parse(file: &str, text: &str, taken: &[String]) -> ImportResult {
    let root = toml::parse(text).map_err(|problem| vec![problem])?;
    let Some(NodeValue::List(hooks)) = root.get("hooks").map(|hooks| &hooks.value) else {
        return Ok(None);
    };
    if hooks.len() > MOST_GATES {
        return Err(vec![FileProblem::at(root.location, format!("more than {MOST_GATES} hooks"))]);
    }
    let mut found = TreeReader::default();
    let names = names(hooks, if file == USER_HOOKS { "user-hooks" } else { "hooks" }, taken);
    let nodes = hooks.iter().zip(names).filter_map(|(hook, name)| native(name, hook, &mut found)).collect();
    finished(&root, nodes, found)
}

/// A unique name for each hook, `fallback-N` if it has none: names in the file are for people and may repeat.
fn names(hooks: &[Node], fallback: &str, taken: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (number, hook) in (1..).zip(hooks) {
        let own = hook.get("name").and_then(Node::text);
        let is_free = |name: &String| !names.contains(name) && !taken.contains(name);
        let mut others = (number..).map(|number| format!("{}-{number}", own.unwrap_or(fallback)));
        let own = own.map(str::to_owned).filter(is_free);
        names.extend(own.or_else(|| others.find(is_free)));
    }
    names
}

fn spell(node: &Node, what: &str, keys: &[&str], found: &mut TreeReader) {
    for (key, _) in node.entries() {
        let name = key.text().unwrap_or_default();
        if !keys.contains(&name) {
            let near = did_you_mean(name, keys);
            found.warning(key, format!("{what} has no key `{name}`{near}"));
        }
    }
}

fn native(name: String, hook: &Node, found: &mut TreeReader) -> Option<Node> {
    let at = NodeBuilder::at(hook);
    spell(hook, "a hook", &KEYS, found);
    for (name, keys) in HANDLERS {
        if let Some(handler) = hook.get(name) {
            spell(handler, &format!("`{name}`"), &keys, found);
        }
    }
    for (handler, key) in [("shell", "command"), ("webhook", "url")] {
        if let Some(node) = hook.get(handler).filter(|node| node.get(key).is_none()) {
            found.problem(node, format!("`{handler}` needs a `{key}`"));
            return None;
        }
    }
    let trigger = trigger(hook, found)?;
    let kind = EventKind::named(trigger.split('(').next().unwrap_or_default());
    let mut fields = vec![("id", at.text(name)), ("on", at.text(trigger))];
    let timeout = match (hook.get("shell"), hook.get("webhook")) {
        (Some(shell), None) => {
            fields.push(("check", run(shell, kind)));
            SHELL_TIMEOUT
        }
        (None, Some(webhook)) => {
            fields.push(("check", http(webhook, kind)));
            WEBHOOK_TIMEOUT
        }
        _ => {
            found.warning(hook, "a hook has one of `shell` and `webhook`; this one is ignored");
            return None;
        }
    };
    let seconds = hook.get("timeout_sec").cloned();
    fields.push(("timeout", seconds.unwrap_or_else(|| at.word(timeout))));
    if hook.get("once").and_then(Node::text) == Some("true") {
        fields.push(("once", at.text("session")));
    }
    if is_notified(hook) {
        // The event is over, so the result of the hook changes nothing.
        fields.extend([("fail", at.text("continue")), ("unknown", at.text("continue"))]);
    } else {
        // A hook that does not answer in time, or not readably, is reported and blocks nothing.
        fields.push(("unknown", at.text("warn")));
    }
    Some(at.map(fields))
}

/// Whether the hook's event is already over.
fn is_notified(hook: &Node) -> bool {
    hook.get("event").and_then(Node::text).is_some_and(|event| NOTIFIED.contains(&event))
}

/// The trigger, as `Event(tool)`; only tool events have a tool to match.
fn trigger(hook: &Node, found: &mut TreeReader) -> Option<String> {
    let Some(event) = hook.get("event") else {
        found.problem(hook, "a hook needs an `event`");
        return None;
    };
    let name = event.text().unwrap_or_default();
    let Some(kind) = EventKind::named(name) else {
        if !IMPORTED.contains(&name) {
            let names: Vec<&str> = crate::host::event::TABLE.iter().map(|row| row.name).collect();
            let near = did_you_mean(name, &names);
            found.problem(event, format!("unknown event `{name}`{near}"));
        }
        return None;
    };
    let matcher = hook.get("tool_matcher").and_then(Node::text);
    let has_tool = kind.row().subject == Some("tool_name");
    Some(match matcher.filter(|_| has_tool) {
        Some(matcher) => format!("{}({matcher})", kind.name()),
        None => kind.name().to_owned(),
    })
}

fn run(shell: &Node, kind: Option<EventKind>) -> Node {
    let at = NodeBuilder::at(shell);
    let is_true = |name: &str| shell.get(name).and_then(Node::text) == Some("true");
    let word = |truth: bool| at.word(if truth { "true" } else { "false" });
    let parses = is_true("parse_result");
    let rewrites = parses && kind == Some(EventKind::PreToolUse);
    let fields = [
        ("event", word(is_true("pass_context"))),
        ("answer", word(parses)),
        ("rewrites", word(rewrites)),
        ("required", word(true)),
    ];
    let command = shell.get("command").map(|command| ("command", command.clone()));
    at.map(vec![("run", at.map(command.into_iter().chain(fields).collect()))])
}

fn http(webhook: &Node, kind: Option<EventKind>) -> Node {
    let at = NodeBuilder::at(webhook);
    let fields = ["url", "method", "headers"].into_iter().filter_map(|name| Some((name, webhook.get(name)?.clone())));
    let rewrites = (kind == Some(EventKind::PreToolUse)).then(|| ("rewrites", at.word("true")));
    let required = Some(("required", at.word("true")));
    at.map(vec![("http", at.map(fields.chain(rewrites).chain(required).collect()))])
}
