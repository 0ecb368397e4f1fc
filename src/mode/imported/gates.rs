//! `.claude/gates.json`: gates by name, and for each event the list of its gates.

use super::{ImportedFile, NodeBuilder, base, entries, field, texts};
use crate::event::{EventKind, Trigger};
use crate::yaml::{FileProblem, Node, did_you_mean, json, nearest};

/// Gates that need no command: modegate does by itself what they do.
const BUILT_IN: [&str; 2] = ["commands", "plugin-path"];

/// The keys of a gate.
const GATE: [&str; 5] = ["description", "command", "keywords", "on_pass", "on_fail"];

/// The keys of an event.
const HOOK: [&str; 3] = ["gates", "enabled_tools", "enabled_agents"];

/// Converts the file if it has the keys `gates` and `hooks`.
pub(super) fn parse(text: &str) -> Result<ImportedFile, Vec<FileProblem>> {
    let root = json::parse(text).map_err(|problem| vec![problem])?;
    let (Some(gates), Some(hooks)) = (field(&root, "gates"), field(&root, "hooks")) else {
        return Ok(ImportedFile::Other);
    };
    let is_map = |node: &Node| {
        entries(Some(node)).iter().all(|(_, value)| matches!(value.value, crate::yaml::NodeValue::Map(_)))
    };
    if !is_map(gates) || !is_map(hooks) {
        return Ok(ImportedFile::Other);
    }
    let mut file = GatesFile { gates: entries(Some(gates)), hooks: entries(Some(hooks)), problems: Vec::new() };
    file.spell(file.gates, &GATE);
    file.spell(file.hooks, &HOOK);
    let nodes = file.translate();
    if file.problems.is_empty() {
        Ok(ImportedFile::Mode(base(NodeBuilder::at(&root), nodes)))
    } else {
        Err(file.problems)
    }
}

struct GatesFile<'a> {
    gates: &'a [(Node, Node)],
    hooks: &'a [(Node, Node)],
    problems: Vec<FileProblem>,
}

impl<'a> GatesFile<'a> {
    /// The gates that events or other gates lead to, in the order in which events name them.
    fn translate(&mut self) -> Vec<Node> {
        let mut order: Vec<(&'a str, Vec<Node>)> = Vec::new();
        for (event, hook) in self.hooks {
            let Some(trigger) = self.trigger(event, hook) else { continue };
            for name in entries_of(field(hook, "gates")) {
                let known = name.text().unwrap_or_default();
                if self.is_known(name) {
                    match order.iter_mut().find(|(own, _)| *own == known) {
                        Some((_, on)) => on.push(trigger.clone()),
                        None => order.push((known, vec![trigger.clone()])),
                    }
                }
            }
        }
        let mut at = 0;
        while let Some((name, _)) = order.get(at) {
            let targets = self.gate(name).map(|(_, gate)| targets(gate)).unwrap_or_default();
            for target in targets {
                if self.is_known(target) && !order.iter().any(|(own, _)| Some(*own) == target.text()) {
                    order.push((target.text().unwrap_or_default(), Vec::new()));
                }
            }
            at += 1;
        }
        let own = order.iter().filter(|(name, _)| !BUILT_IN.contains(name));
        own.filter_map(|(name, on)| self.gate(name).map(|(key, gate)| native(key, gate, on))).collect()
    }

    /// Reports keys that are probably misspelt; other unknown keys are allowed.
    fn spell(&mut self, entries_of_all: &[(Node, Node)], keys: &[&str]) {
        for (key, _) in entries_of_all.iter().flat_map(|(_, value)| entries(Some(value))) {
            let name = key.text().filter(|name| !keys.contains(name)).unwrap_or_default();
            if let Some(near) = nearest(name, keys) {
                self.problems
                    .push(FileProblem::at(key.location, format!("unknown key `{name}`, did you mean `{near}`?")));
            }
        }
    }

    fn gate(&self, name: &str) -> Option<&'a (Node, Node)> {
        self.gates.iter().find(|(key, _)| key.text() == Some(name))
    }

    /// The trigger, as `Event(name|name)`.
    fn trigger(&mut self, event: &Node, hook: &Node) -> Option<Node> {
        let name = event.text().unwrap_or_default();
        if Trigger::parse(name).is_err() {
            let words: Vec<&str> = Trigger::words().collect();
            let near = did_you_mean(name, &words);
            self.problems.push(FileProblem::at(event.location, format!("unknown event `{name}`{near}")));
            return None;
        }
        let agents = matches!(EventKind::named(name), Some(EventKind::SubagentStart | EventKind::SubagentStop));
        let chosen = texts(field(hook, if agents { "enabled_agents" } else { "enabled_tools" }));
        let at = NodeBuilder::at(event);
        Some(at.text(if chosen.is_empty() { name.to_owned() } else { format!("{name}({})", chosen.join("|")) }))
    }

    /// Whether a name is a gate that can be run; reports it if not.
    fn is_known(&mut self, named: &Node) -> bool {
        let name = named.text().unwrap_or_default();
        let problem = match self.gate(name) {
            _ if BUILT_IN.contains(&name) => return true,
            Some((_, gate)) if field(gate, "command").is_some() => return true,
            Some(_) => format!("gate `{name}` has no `command` and is not built in"),
            None => {
                let known: Vec<&str> = self.gates.iter().filter_map(|(key, _)| key.text()).collect();
                let near = did_you_mean(name, &known);
                format!("no gate is called `{name}`{near}")
            }
        };
        self.problems.push(FileProblem::at(named.location, problem));
        false
    }
}

fn entries_of(node: Option<&Node>) -> &[Node] {
    match node.map(|node| &node.value) {
        Some(crate::yaml::NodeValue::List(items)) => items,
        _ => &[],
    }
}

/// The gates that a gate leads to.
fn targets(gate: &Node) -> Vec<&Node> {
    let actions = ["on_pass", "on_fail"].into_iter().filter_map(|name| field(gate, name));
    actions.filter(|action| verdict(action.text().unwrap_or_default()).is_none()).collect()
}

fn verdict(word: &str) -> Option<&'static str> {
    match word {
        "CONTINUE" => Some("continue"),
        "BLOCK" => Some("block"),
        "STOP" => Some("stop"),
        _ => None,
    }
}

/// The gate as in a native mode file.
fn native(name: &Node, gate: &Node, on: &[Node]) -> Node {
    let at = NodeBuilder::at(name);
    let mut fields = vec![("id", at.text(name.text().unwrap_or_default()))];
    if !on.is_empty() {
        fields.push(("on", at.list(on.to_vec())));
    }
    let keywords = texts(field(gate, "keywords"));
    if !keywords.is_empty() {
        // Keywords are for prompts; an event without a prompt matches too.
        let none = at.map(vec![("not", at.map(vec![("prompt", at.map(Vec::new()))]))]);
        let any = keywords.iter().map(|word| at.map(vec![("prompt", at.text(word))]));
        fields.push(("if", at.map(vec![("any", at.list([none].into_iter().chain(any).collect()))])));
    }
    if let Some(command) = field(gate, "command") {
        fields.push(("check", NodeBuilder::at(command).map(vec![("run", command.clone())])));
    }
    if let Some(about) = field(gate, "description").and_then(Node::text) {
        fields.push(("else", at.text(format!("{}.", about.trim_end_matches('.')))));
    }
    for (theirs, ours) in [("on_pass", "pass"), ("on_fail", "fail")] {
        if let Some(action) = field(gate, theirs) {
            let word = action.text().unwrap_or_default();
            fields.push((ours, NodeBuilder::at(action).text(verdict(word).unwrap_or(word))));
        }
    }
    at.map(fields)
}
