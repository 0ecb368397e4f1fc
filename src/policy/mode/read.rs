//! Reads a mode file and collects every problem in it.

use super::{Action, BASE, Gate, Level, Mode, Once, Phase, Worker};
use crate::facts::verdict::Verdict;
use crate::host::event::{Trigger, TriggerError, TriggerEvent, name};
use crate::host::ids::{AgentName, GateId};
use crate::policy::check::{Artifact, BUILTIN_VARIABLES, Check, Definitions, warn_unknown_tools};
use crate::policy::yaml::{FileProblem, MappingFields, Node, TreeReader, did_you_mean};
use std::collections::BTreeMap;

/// The keys of a mode.
pub const MODE: [&str; 16] = [
    "mode",
    "about",
    "extends",
    "commands",
    "namespace",
    "say",
    "end",
    "aliases",
    "artifacts",
    "variables",
    "order",
    "level",
    "patience",
    "before",
    "phases",
    "gates",
];
/// The keys of a phase.
pub const PHASE: [&str; 9] = ["phase", "agent", "main", "mode", "before", "after", "block", "when", "from"];
/// The keys of a gate.
pub const GATE: [&str; 18] = [
    "id", "on", "if", "check", "else", "deny", "ask", "warn", "pass", "fail", "unknown", "context", "rewrite", "level",
    "patience", "timeout", "once", "scope",
];

/// The most gates, and phases, of a file.
pub const MOST_GATES: usize = 1_000;

/// A mode with warnings about it, or the problems that make it unusable.
pub type ReadResult = Result<(Mode, Vec<FileProblem>), Vec<FileProblem>>;

/// Reads a mode; `builtin` finds the embedded mode of a name for `extends: builtin`, and `known` are the variables of
/// the project's settings.
pub fn read(text: &str, builtin: impl Fn(&str) -> Option<Mode>, known: &[&str]) -> ReadResult {
    let node = Node::parse(text).map_err(|problem| vec![problem])?;
    read_node(&node, builtin, known)
}

pub fn read_node(node: &Node, builtin: impl Fn(&str) -> Option<Mode>, known: &[&str]) -> ReadResult {
    let mut reader = TreeReader::default();
    let base = extended_mode(&mut reader, node, builtin);
    reader.variables = BUILTIN_VARIABLES.iter().chain(known).map(|name| (*name).to_owned()).collect();
    if let Some(Mode { definitions, .. }) = &base {
        reader.variables.extend(definitions.variables.keys().cloned());
        reader.artifacts.extend(definitions.artifacts.keys().cloned());
    }
    let (own, overrides) = mode(&mut reader, node);
    too_many(&own, node)?;
    let mode = match base {
        Some(base) => {
            super::lint::duplicate_gates(&mut reader, &own);
            extended(base, own)
        }
        None => own,
    };
    let mut mode = overridden(mode, &overrides);
    super::lint::lint(&mut reader, node, &mode);
    if mode.namespace.is_empty() {
        mode.namespace = format!("{}_mode", mode.name.replace('-', "_"));
    }
    if reader.problems.is_empty() {
        Ok((mode, reader.warnings))
    } else {
        Err([reader.problems, reader.warnings].concat())
    }
}

/// Refuses a mode that would take long to check.
fn too_many(mode: &Mode, node: &Node) -> Result<(), Vec<FileProblem>> {
    let problem = |what: &str| Err(vec![FileProblem::at(node.location, format!("more than {MOST_GATES} {what}"))]);
    match (mode.all_gates().nth(MOST_GATES).is_some(), mode.phases.len() > MOST_GATES) {
        (true, _) => problem("gates"),
        (_, true) => problem("phases"),
        _ => Ok(()),
    }
}

/// The embedded mode that a file extends with `extends: builtin`.
fn extended_mode(reader: &mut TreeReader, node: &Node, builtin: impl Fn(&str) -> Option<Mode>) -> Option<Mode> {
    let said = MappingFields::of(node).word(reader, "extends", &[("builtin", true)]);
    let name = node.get("mode").and_then(Node::text).unwrap_or_default();
    // The base mode is always extended: a project that adds a gate does not want to lose the others.
    if name == BASE {
        return builtin(name);
    }
    said?;
    let base = builtin(name);
    if base.is_none() {
        let at = node.get("extends").unwrap_or(node);
        reader.problem(at, format!("`extends: builtin`, but no embedded mode is called `{name}`"));
    }
    base
}

/// Keys of a file that apply to the whole mode: its own phases and those it extends.
struct ModeOverrides {
    strict: Option<bool>,
    aliases: Vec<(String, Vec<String>)>,
}

/// Applies a file's overrides to the whole mode.
fn overridden(mut mode: Mode, overrides: &ModeOverrides) -> Mode {
    mode.strict = overrides.strict.unwrap_or(mode.strict);
    for phase in &mut mode.phases {
        if let Worker::Agent(names) = &mut phase.worker {
            let own = overrides.aliases.iter().filter(|(name, _)| names.iter().any(|own| own.is(name)));
            let others: Vec<AgentName> = own.flat_map(|(_, others)| others.clone()).map(AgentName::from).collect();
            names.extend(others);
        }
    }
    mode
}

fn mode(reader: &mut TreeReader, node: &Node) -> (Mode, ModeOverrides) {
    let fields = reader.fields(node, "a mode", &MODE);
    let text = |reader: &mut TreeReader, name: &str| fields.read(reader, name, TreeReader::text).unwrap_or_default();
    let name = fields.read(reader, "mode", mode_name).unwrap_or_default();
    if name.is_empty() {
        reader.problem(node, "a mode needs a name: `mode: …`");
    }
    let aliases =
        fields.read(reader, "aliases", |reader, node| reader.map(node, TreeReader::texts)).unwrap_or_default();
    let strict = fields.word(reader, "order", &[("strict", true), ("free", false)]);
    let overrides = ModeOverrides { strict, aliases };
    let commands = fields.read(reader, "commands", |reader, node| reader.each(node, command)).unwrap_or_default();
    let definitions = definitions(reader, &fields);
    let mode = Mode {
        about: text(reader, "about"),
        commands,
        namespace: fields.read(reader, "namespace", namespace).unwrap_or_default(),
        say: text(reader, "say"),
        end: text(reader, "end"),
        definitions,
        strict: false,
        level: level(reader, &fields),
        patience: fields.read(reader, "patience", TreeReader::number),
        before: gates(reader, &fields, "before", &format!("{name}/before")),
        phases: fields
            .read(reader, "phases", |reader, node| reader.list(node, |reader, node| phase(reader, node, &name)))
            .unwrap_or_default(),
        gates: gates(reader, &fields, "gates", &name),
        name,
    };
    (mode, overrides)
}

fn mode_name(reader: &mut TreeReader, node: &Node) -> String {
    let name = reader.text(node);
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)) {
        reader.problem(node, format!("`{name}` is not a name: use letters, digits, `-` and `_`"));
    }
    name
}

/// A command, without its slash.
fn command(reader: &mut TreeReader, node: &Node) -> String {
    let command = reader.text(node).trim_start_matches('/').to_owned();
    if command.contains(char::is_whitespace) {
        reader.hinted(node, format!("`/{command}` is not a command"), "a command is one word without spaces");
    }
    command
}

fn namespace(reader: &mut TreeReader, node: &Node) -> String {
    let namespace = reader.text(node);
    if ["version", "revision"].contains(&namespace.as_str()) {
        reader.problem(node, format!("`{namespace}` is reserved"));
    }
    namespace
}

fn definitions(reader: &mut TreeReader, fields: &MappingFields<'_>) -> Definitions {
    let variables = fields
        .read(reader, "variables", |reader, node| reader.map(node, |reader, node| reader.each(node, TreeReader::text)));
    let variables: BTreeMap<String, Vec<String>> = variables.unwrap_or_default().into_iter().collect();
    reader.variables.extend(variables.keys().cloned());
    let artifacts = fields.read(reader, "artifacts", |reader, node| reader.map(node, Artifact::read));
    let artifacts: BTreeMap<String, Artifact> = artifacts.unwrap_or_default().into_iter().collect();
    reader.artifacts.extend(artifacts.keys().cloned());
    Definitions { artifacts, variables }
}

fn phase(reader: &mut TreeReader, node: &Node, mode: &str) -> Phase {
    let known = reader.problems.len();
    let fields = reader.fields(node, "a phase", &PHASE);
    // An unknown key may be a misspelt `phase`; that is one mistake, not two.
    let has_unknown_key = reader.problems.len() > known;
    let name = fields.read(reader, "phase", TreeReader::text).unwrap_or_default();
    if name.is_empty() && !has_unknown_key {
        reader.problem(node, "a phase needs a name: `phase: …`");
    }
    Phase {
        worker: worker(reader, node, &fields),
        before: gates(reader, &fields, "before", &format!("{mode}/{name}/before")),
        after: gates(reader, &fields, "after", &format!("{mode}/{name}/after")),
        blocks_stop: fields.word(reader, "block", &[("stop", true)]).unwrap_or(false),
        when: fields.read(reader, "when", Check::read),
        from: fields.texts(reader, "from"),
        location: node.location,
        name,
    }
}

fn worker(reader: &mut TreeReader, node: &Node, fields: &MappingFields<'_>) -> Worker {
    let workers: Vec<&str> = ["agent", "main", "mode"].into_iter().filter(|name| fields.get(name).is_some()).collect();
    match workers.as_slice() {
        ["agent"] => {
            let names = fields.texts(reader, "agent");
            Worker::Agent(names.into_iter().map(AgentName::from).collect())
        }
        ["main"] if fields.read(reader, "main", TreeReader::boolean) == Some(true) => Worker::Main,
        ["mode"] => Worker::Mode(fields.read(reader, "mode", TreeReader::text).unwrap_or_default()),
        _ => {
            reader.problem(node, "a phase has one worker: `agent: NAME`, `main: true` or `mode: NAME`");
            Worker::Main
        }
    }
}

fn gates(reader: &mut TreeReader, fields: &MappingFields<'_>, name: &str, prefix: &str) -> Vec<Gate> {
    let mut index = 0;
    let read = |reader: &mut TreeReader, node: &Node| {
        index += 1;
        gate(reader, node, &format!("{prefix}/{index}"))
    };
    fields.read(reader, name, |reader, node| reader.list(node, read)).unwrap_or_default()
}

fn gate(reader: &mut TreeReader, node: &Node, id: &str) -> Gate {
    let fields = reader.fields(node, "a gate", &GATE);
    let (mut check, message, verdict) = question(reader, node, &fields);
    let action = |reader: &mut TreeReader, name: &str, default: Verdict| {
        fields.read(reader, name, action).unwrap_or(Action::Verdict(default))
    };
    let fail = action(reader, "fail", verdict);
    let timeout = fields.read(reader, "timeout", TreeReader::number);
    if let Some(seconds) = timeout {
        check.change_steps(&|step| step.seconds = seconds);
    }
    let unknown = fields.read(reader, "unknown", self::action).unwrap_or_else(|| fail.clone());
    let on = fields.read(reader, "on", |reader, node| reader.each(node, trigger)).unwrap_or_default();
    // Problems are reported in this order.
    let id = fields.read(reader, "id", TreeReader::text).map_or_else(|| id.into(), GateId::from);
    let condition = fields.read(reader, "if", Check::read);
    let pass = action(reader, "pass", Verdict::Pass);
    let level = level(reader, &fields);
    let patience = fields.read(reader, "patience", TreeReader::number);
    let once = fields.word(reader, "once", &[("session", Once::Session), ("day", Once::Day)]);
    let always = fields.word(reader, "scope", &[("always", true), ("active", false)]).unwrap_or(false);
    let context = fields.read(reader, "context", TreeReader::text);
    let rewrite = fields.read(reader, "rewrite", rewrite);
    Gate {
        id,
        on: on.into_iter().flatten().collect(),
        condition,
        level,
        always,
        location: node.location,
        check,
        message,
        pass,
        fail,
        unknown,
        patience,
        timeout,
        once,
        context,
        rewrite,
    }
}

/// Reads a gate's check, message and verdict: a `check` with an `else`, or `deny`, `ask` or `warn` alone.
fn question(reader: &mut TreeReader, node: &Node, fields: &MappingFields<'_>) -> (Check, String, Verdict) {
    const WORDS: [(&str, Verdict); 3] = [("deny", Verdict::Block), ("ask", Verdict::Ask), ("warn", Verdict::Warn)];
    let check = fields.read(reader, "check", Check::read);
    let message = fields.read(reader, "else", TreeReader::text);
    let said: Vec<(String, Verdict)> = WORDS
        .into_iter()
        .filter_map(|(word, verdict)| Some((fields.read(reader, word, TreeReader::text)?, verdict)))
        .collect();
    let gives = fields.get("context").is_some() || fields.get("rewrite").is_some();
    match (check, said.as_slice()) {
        (Some(check), []) => (check, message.unwrap_or_default(), Verdict::Block),
        // `if` has selected the event, so the check always fails.
        (None, [(text, verdict)]) => (Check::Any(Vec::new()), text.clone(), *verdict),
        (None, []) if gives => (Check::All(Vec::new()), String::new(), Verdict::Block),
        (None, []) => {
            reader.problem(node, "a gate needs a `check`, or one of `deny`, `ask`, `warn`, `context`, `rewrite`");
            (Check::All(Vec::new()), String::new(), Verdict::Block)
        }
        _ => {
            reader.problem(node, "a gate has only one of `check`, `deny`, `ask` and `warn`; use `if` as a condition");
            (Check::All(Vec::new()), String::new(), Verdict::Block)
        }
    }
}

/// Keys of the tool's input with their new values, as JSON.
fn rewrite(reader: &mut TreeReader, node: &Node) -> String {
    if !node.is_map() {
        reader.problem(node, "`rewrite` is a mapping of keys of the tool's input, like { timeout: 1000 }");
    }
    node.to_json().to_string()
}

fn level(reader: &mut TreeReader, fields: &MappingFields<'_>) -> Option<Level> {
    fields.word(reader, "level", &Level::WORDS)
}

fn trigger(reader: &mut TreeReader, node: &Node) -> Option<Trigger> {
    let text = reader.text(node);
    let trigger = Trigger::parse(&text).map_err(|error| reader.problem(node, trigger_message(&error))).ok()?;
    let errors = trigger.names.iter().filter_map(|name| name::pattern_error(name));
    errors.for_each(|error| reader.problem(node, error));
    if matches!(trigger.event, TriggerEvent::Event(kind) if kind.row().subject == Some("tool_name")) {
        warn_unknown_tools(reader, node, &trigger.names);
    }
    Some(trigger)
}

/// The message about a trigger that cannot be read.
pub(super) fn trigger_message(error: &TriggerError) -> String {
    match error {
        TriggerError::UnknownEvent(word) => {
            let words: Vec<&str> = Trigger::words().collect();
            format!("{error}{}", did_you_mean(word, &words))
        }
        TriggerError::Unclosed(_) => error.to_string(),
    }
}

/// The words for actions; any other word is a gate.
pub(super) const ACTIONS: [(&str, Verdict); 7] = [
    ("continue", Verdict::Pass),
    ("pass", Verdict::Pass),
    ("observe", Verdict::Observe),
    ("warn", Verdict::Warn),
    ("ask", Verdict::Ask),
    ("block", Verdict::Block),
    ("stop", Verdict::Stop),
];

fn action(reader: &mut TreeReader, node: &Node) -> Action {
    let text = reader.text(node);
    let verdict = ACTIONS.iter().find(|(word, _)| *word == text).map(|(_, verdict)| *verdict);
    verdict.map_or_else(|| Action::Gate(text.into()), Action::Verdict)
}

/// Merges `own` into `base`: gates are replaced by id, phases by name, the rest stays.
fn extended(mut base: Mode, own: Mode) -> Mode {
    let text = |base: &mut String, own: String| {
        if !own.is_empty() {
            *base = own;
        }
    };
    text(&mut base.about, own.about);
    text(&mut base.namespace, own.namespace);
    text(&mut base.say, own.say);
    text(&mut base.end, own.end);
    if !own.commands.is_empty() {
        base.commands = own.commands;
    }
    base.definitions.artifacts.extend(own.definitions.artifacts);
    base.definitions.variables.extend(own.definitions.variables);
    base.level = own.level.or(base.level);
    base.patience = own.patience.or(base.patience);
    for gate in own.before {
        replace(&mut base, gate, |mode| &mut mode.before);
    }
    for gate in own.gates {
        replace(&mut base, gate, |mode| &mut mode.gates);
    }
    for phase in own.phases {
        match base.phases.iter_mut().find(|old| old.name == phase.name) {
            Some(old) => *old = phase,
            None => base.phases.push(phase),
        }
    }
    base
}

/// Replaces the gate with the same id, wherever it is, or adds the gate to its own list.
fn replace(mode: &mut Mode, gate: Gate, home: impl Fn(&mut Mode) -> &mut Vec<Gate>) {
    if let Some(old) = mode.all_gates_mut().find(|old| old.id == gate.id) {
        let on = if gate.on.is_empty() { std::mem::take(&mut old.on) } else { gate.on.clone() };
        *old = Gate { on, ..gate };
    } else {
        home(mode).push(gate);
    }
}
