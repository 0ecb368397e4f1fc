//! `.claude/gates.json`: gates by name, and for each event the list of its gates.

mod placement;

use super::{ImportResult, NodeBuilder, finished, texts};
use crate::host::event::{EventKind, Trigger};
use crate::policy::mode::MOST_GATES;
use crate::policy::yaml::{FileProblem, MOST_PROBLEMS, Node, NodeValue, TreeReader, did_you_mean, json, nearest};
use placement::{PlacedGate, place};

/// Gates that need no command: modegate does by itself what they do.
const BUILT_IN: [&str; 2] = ["commands", "plugin-path"];

const GATE: [&str; 5] = ["description", "command", "keywords", "on_pass", "on_fail"];

const HOOK: [&str; 3] = ["gates", "enabled_tools", "enabled_agents"];

/// Converts the file if it has gates or events; each replaces the same key of `defaults`.
pub(super) fn parse(text: &str, defaults: Option<&str>, taken: &[String]) -> ImportResult {
    let root = json::parse(text).map_err(|problem| vec![problem])?;
    let Some((gates, hooks)) = parts(&root) else { return Ok(None) };
    let below = defaults.and_then(|text| json::parse(text).ok());
    let (more_gates, more_hooks) = below.as_ref().and_then(parts).unwrap_or_default();
    let (gates, hooks) = (merged(more_gates, gates), merged(more_hooks, hooks));
    if gates.len() > MOST_GATES {
        return Err(vec![FileProblem::at(root.location, format!("more than {MOST_GATES} gates"))]);
    }
    let mut file = GatesFile { gates: &gates, taken, found: TreeReader::default() };
    if hooks.is_empty() && !gates.is_empty() {
        file.found.warning(&root, "no event has gates: list them under `hooks`");
    }
    file.spell(&gates, &GATE);
    file.spell(&hooks, &HOOK);
    let lists = file.lists(&hooks);
    let nodes = file.native(&place(&file, lists));
    finished(&root, nodes, file.found)
}

type Entries<'a> = &'a [(Node, Node)];

/// The gates and the events of a file in this format; it may have only one of them.
fn parts(root: &Node) -> Option<(Entries<'_>, Entries<'_>)> {
    let mapping = |name: &str| match root.get(name).map(|node| &node.value) {
        Some(NodeValue::Map(entries)) => Some(entries.as_slice()),
        Some(_) => None,
        None => Some(Entries::default()),
    };
    let (gates, hooks) = (mapping("gates")?, mapping("hooks")?);
    let is_map = |(_, value): &(Node, Node)| value.is_map();
    let has_one = |keys: &[&str], (_, value): &(Node, Node)| keys.iter().any(|key| value.get(key).is_some());
    let is_ours = match (root.get("gates"), root.get("hooks")) {
        (Some(_), Some(_)) => true,
        _ => gates.iter().any(|gate| has_one(&GATE, gate)) || hooks.iter().any(|hook| has_one(&HOOK, hook)),
    };
    (is_ours && gates.iter().all(is_map) && hooks.iter().all(is_map)).then_some((gates, hooks))
}

/// The entries of `below`, replaced by those of `above` with the same key, then the rest of `above`.
fn merged(below: Entries<'_>, above: Entries<'_>) -> Vec<(Node, Node)> {
    let with_key = |entries: Entries<'_>, key: &Node| entries.iter().any(|(own, _)| own.text() == key.text());
    let kept = below.iter().map(|entry| above.iter().find(|(key, _)| key.text() == entry.0.text()).unwrap_or(entry));
    kept.chain(above.iter().filter(|(key, _)| !with_key(below, key))).cloned().collect()
}

/// The gates of an event, in the order in which they run.
struct EventGates<'a> {
    event: &'a str,
    /// Whether it is a prompt, for which keywords count.
    prompts: bool,
    trigger: Node,
    names: Vec<&'a str>,
}

/// What a gate does on a result.
enum NextStep<'a> {
    Verdict(&'static str),
    Gate(&'a str),
}

struct GatesFile<'a> {
    gates: &'a [(Node, Node)],
    /// The ids of gates of other files.
    taken: &'a [String],
    found: TreeReader,
}

impl<'a> GatesFile<'a> {
    /// The gates of each event; reports names that are not gates.
    fn lists(&mut self, hooks: &'a [(Node, Node)]) -> Vec<EventGates<'a>> {
        let mut lists = Vec::new();
        for (event, hook) in hooks {
            let Some(trigger) = self.trigger(event, hook) else { continue };
            let name = event.text().unwrap_or_default();
            let kind = EventKind::named(name);
            let prompts = matches!(kind, Some(EventKind::UserPromptSubmit | EventKind::UserPromptExpansion));
            let mut names: Vec<&str> = Vec::new();
            for named in self.named_gates(hook) {
                let gate = named.text().unwrap_or_default();
                if self.is_known(named) && !self.is_idle(gate, 0) && !names.contains(&gate) {
                    names.push(gate);
                }
            }
            lists.push(EventGates { event: name, prompts, trigger, names });
        }
        for (_, gate) in self.gates {
            for named in ["on_pass", "on_fail"].into_iter().filter_map(|key| gate.get(key)) {
                if matches!(self.next_step(named), NextStep::Gate(_)) {
                    self.is_known(named);
                }
            }
        }
        lists
    }

    /// The names under `gates`: a list, or one name.
    fn named_gates(&mut self, hook: &'a Node) -> Vec<&'a Node> {
        let Some(gates) = hook.get("gates") else { return Vec::new() };
        match &gates.value {
            NodeValue::List(items) => items.iter().collect(),
            NodeValue::Scalar { text, .. } => {
                let message = format!("`gates` is a list: write [\"{text}\"]");
                self.found.warning(gates, message);
                vec![gates]
            }
            NodeValue::Map(_) => {
                self.found.problem(gates, "`gates` is a list of names");
                Vec::new()
            }
        }
    }

    /// Warns of keys that are probably misspelled; other unknown keys are comments.
    fn spell(&mut self, entries_of_all: &[(Node, Node)], keys: &[&str]) {
        for value in entries_of_all.iter().map(|(_, value)| value) {
            for (key, _) in value.entries() {
                let name = key.text().filter(|name| !keys.contains(name)).unwrap_or_default();
                let Some(near) = nearest(name, keys) else { continue };
                let hint = if value.get(near).is_none() { did_you_mean(name, &[near]) } else { String::new() };
                self.found.warning(key, format!("unknown key `{name}`{hint}"));
            }
        }
    }

    fn gate(&self, name: &str) -> Option<&'a (Node, Node)> {
        self.gates.iter().find(|(key, _)| key.text() == Some(name))
    }

    fn is_built_in(&self, name: &str) -> bool {
        BUILT_IN.contains(&name) && self.gate(name).is_none_or(|(_, gate)| gate.get("command").is_none())
    }

    /// Whether a gate is written in the language of the program that the file is from.
    fn is_code(&self, name: &str) -> bool {
        !self.is_built_in(name) && self.gate(name).is_some_and(|(_, gate)| gate.get("command").is_none())
    }

    /// Whether nothing follows from a gate: it is built in, or it cannot be run.
    fn is_idle(&self, name: &str, depth: usize) -> bool {
        let next = || self.gate(name).and_then(|(_, gate)| gate.get("on_pass"));
        if self.is_code(name) {
            return true;
        }
        self.is_built_in(name)
            && match next().map(|action| self.next_step(action)) {
                None | Some(NextStep::Verdict("continue")) => true,
                Some(NextStep::Gate(other)) => depth < BUILT_IN.len() && self.is_idle(other, depth + 1),
                Some(NextStep::Verdict(_)) => false,
            }
    }

    /// What an action leads to; a lowercase word is an action unless a gate has that name.
    fn next_step(&self, action: &'a Node) -> NextStep<'a> {
        const WORDS: [(&str, &str); 3] = [("CONTINUE", "continue"), ("BLOCK", "block"), ("STOP", "stop")];
        let word = action.text().unwrap_or_default();
        let is_action = |theirs: &str| word == theirs || word.eq_ignore_ascii_case(theirs) && self.gate(word).is_none();
        match WORDS.into_iter().find(|(theirs, _)| is_action(theirs)) {
            Some((_, ours)) => NextStep::Verdict(ours),
            None => NextStep::Gate(word),
        }
    }

    /// The trigger, as `Event(name|name)`.
    fn trigger(&mut self, event: &Node, hook: &Node) -> Option<Node> {
        let name = event.text().unwrap_or_default();
        if Trigger::parse(name).is_err() {
            let words: Vec<&str> = Trigger::words().collect();
            let near = did_you_mean(name, &words);
            self.found.problem(event, format!("unknown event `{name}`{near}"));
            return None;
        }
        let subject = EventKind::named(name).and_then(|kind| kind.row().subject);
        let mut chosen = Vec::new();
        for (key, of, what) in [("enabled_tools", "tool_name", "a tool"), ("enabled_agents", "agent_type", "an agent")]
        {
            match hook.get(key) {
                Some(node) if subject == Some(of) => chosen = texts(Some(node)),
                Some(node) => {
                    let message =
                        format!("`{key}` has no effect: `{name}` is not about {what}, so its gates always run");
                    self.found.warning(node, message);
                }
                None => {}
            }
        }
        let at = NodeBuilder::at(event);
        Some(at.text(if chosen.is_empty() { name.to_owned() } else { format!("{name}({})", chosen.join("|")) }))
    }

    /// Whether a name is a gate that can be run; reports it if not.
    fn is_known(&mut self, named: &Node) -> bool {
        let name = named.text().unwrap_or_default();
        if self.is_code(name) {
            let message = format!("gate `{name}` has no `command` and is not built in, so it never runs");
            let hint = Some("give it a `command`; gates that are code of another program cannot be loaded".to_owned());
            let problem = FileProblem { hint, ..FileProblem::at(named.location, message) };
            if !self.found.warnings.contains(&problem) {
                self.found.warnings.push(problem);
            }
            return false;
        }
        if self.is_built_in(name) || self.gate(name).is_some() {
            return true;
        }
        if self.found.problems.len() >= MOST_PROBLEMS {
            return false;
        }
        let known: Vec<&str> = self.gates.iter().filter_map(|(key, _)| key.text()).collect();
        let message = format!("no gate is called `{name}`{}", did_you_mean(name, &known));
        let problem = FileProblem::at(named.location, message);
        if !self.found.problems.contains(&problem) {
            self.found.problems.push(problem);
        }
        false
    }

    fn native(&self, placed: &[PlacedGate<'a>]) -> Vec<Node> {
        let gates = placed.iter().filter_map(|one| Some((one, self.gate(one.name)?)));
        gates.map(|(one, (key, gate))| self.native_gate(one, key, gate, placed)).collect()
    }

    fn native_gate(&self, one: &PlacedGate<'a>, key: &Node, gate: &'a Node, all: &[PlacedGate<'a>]) -> Node {
        let at = NodeBuilder::at(key);
        let mut fields = vec![("id", at.text(one.id.as_str()))];
        if !one.on.is_empty() {
            fields.push(("on", at.list(one.on.clone())));
        }
        if one.prompts {
            let words = texts(gate.get("keywords"));
            let any = words.iter().map(|word| at.map(vec![("prompt", at.text(word))])).collect();
            fields.push(("if", at.map(vec![("any", at.list(any))])));
        }
        let about = gate.get("description").and_then(Node::text);
        let about = about.map(|about| at.text(format!("{}.", about.trim_end_matches('.'))));
        let actions = if let Some(command) = gate.get("command") {
            fields.push(("check", NodeBuilder::at(command).map(vec![("run", command.clone())])));
            fields.extend(about.map(|about| ("else", about)));
            [("on_pass", "pass"), ("on_fail", "fail")].as_slice()
        } else {
            // What a built-in gate does always succeeds, so its `on_pass` always follows.
            let name = || at.text(format!("The gate `{}` blocks.", one.name));
            fields.push(("deny", about.unwrap_or_else(name)));
            [("on_pass", "fail")].as_slice()
        };
        for (theirs, ours) in actions {
            if let Some(action) = gate.get(theirs) {
                let word = self.native_action(action, all);
                fields.push((*ours, NodeBuilder::at(action).text(word)));
            }
        }
        at.map(fields)
    }

    fn native_action(&self, action: &'a Node, all: &[PlacedGate<'a>]) -> String {
        match self.next_step(action) {
            NextStep::Verdict(word) => word.to_owned(),
            NextStep::Gate(name) if self.is_idle(name, 0) => "continue".to_owned(),
            NextStep::Gate(name) => {
                all.iter().find(|one| one.name == name && !one.prompts).map_or(name, |one| &one.id).to_owned()
            }
        }
    }
}
