//! An event of the host: read leniently and normalised once.
//!
//! Only this module knows how the host spells its fields.

pub mod command;
mod kind;
pub mod name;
mod salvage;
mod tools;
mod trigger;

pub use kind::{Blocking, EventKind, TABLE};
pub use tools::{TOOLS, is_unknown_tool};
pub use trigger::{Trigger, TriggerError, TriggerEvent, alias, tool_names};

use serde_json::{Map, Value};

/// How many characters of a prompt or a command line describe an event.
const DESCRIBED: usize = 60;

/// One hook event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its kind; `None` for an event that this version does not know.
    pub kind: Option<EventKind>,
    /// Its fields by their snake-case names; the content of `tool_input` is unchanged.
    pub fields: Map<String, Value>,
    /// Messages about fields that had the wrong type and were removed.
    pub oddities: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandCall<'a> {
    /// Its name without the slash.
    pub name: &'a str,
    /// Whether a person typed it, not the model.
    pub typed: bool,
}

const TEXTS: [&str; 19] = [
    "session_id",
    "transcript_path",
    "agent_transcript_path",
    "cwd",
    "hook_event_name",
    "prompt_id",
    "permission_mode",
    "agent_id",
    "agent_type",
    "tool_name",
    "tool_use_id",
    "prompt",
    "message",
    "reason",
    "source",
    "command_name",
    "error",
    "last_assistant_message",
    "trigger",
];

/// Other names under which a field has been seen.
const ALIASES: [(&str, &str); 5] = [
    ("subagent_type", "agent_type"),
    ("agent_name", "agent_type"),
    ("user_message", "prompt"),
    ("event_name", "hook_event_name"),
    ("user_prompt", "prompt"),
];

/// Why an input is not a hook event.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// There is no input.
    #[error("standard input is empty")]
    Empty,
    /// The input is not JSON.
    #[error("it is not JSON: {0}")]
    NotJson(serde_json::Error),
    /// The JSON is nested deeper than the parser allows.
    #[error("it nests too deeply at line {} column {}", .0.line(), .0.column())]
    TooDeep(serde_json::Error),
    /// The JSON is a value of this type.
    #[error("it is {0}, not a JSON object")]
    NotObject(&'static str),
    /// The event has no name.
    #[error("it has no `hook_event_name`")]
    NoName,
}

impl Event {
    /// Reads the JSON of an event.
    pub fn parse(bytes: &[u8]) -> Result<Self, EventError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.trim_ascii().is_empty() {
            return Err(EventError::Empty);
        }
        match serde_json::from_slice(bytes) {
            Ok(value) => Self::from_value(value),
            Err(error) => salvage::salvaged(bytes).ok_or_else(|| syntax_error(error)).and_then(|(value, oddities)| {
                let mut event = Self::from_value(value)?;
                event.oddities.extend(oddities);
                Ok(event)
            }),
        }
    }

    /// Reads an event from a JSON value.
    pub fn from_value(value: Value) -> Result<Self, EventError> {
        let Value::Object(raw) = value else {
            return Err(EventError::NotObject(type_name(&value)));
        };
        let mut oddities = Vec::new();
        let mut fields = normalised(raw);
        let odd = |(name, value): &(&String, &Value)| !value.is_string() && TEXTS.contains(&name.as_str());
        let odd: Vec<String> = fields.iter().filter(odd).map(|(name, _)| name.clone()).collect();
        for name in odd {
            let value = fields.shift_remove(&name).unwrap_or_default();
            if !value.is_null() {
                oddities.push(format!("`{name}` is {}, not text", type_name(&value)));
            }
        }
        let Some(name) = fields.get("hook_event_name").and_then(Value::as_str) else {
            return Err(EventError::NoName);
        };
        Ok(Self { kind: EventKind::named(name), fields, oddities })
    }

    /// A field that is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str)
    }

    /// The event's name as received.
    pub fn name(&self) -> &str {
        self.text("hook_event_name").unwrap_or_default()
    }

    /// The session, empty when the event has none.
    pub fn session(&self) -> &str {
        self.text("session_id").unwrap_or_default()
    }

    /// The agent's working directory.
    pub fn cwd(&self) -> Option<&str> {
        self.text("cwd").filter(|cwd| !cwd.is_empty())
    }

    /// The tool by its present name (`Task` is `Agent`, `SlashCommand` is `Skill`).
    pub fn tool(&self) -> Option<&str> {
        self.text("tool_name").map(trigger::alias)
    }

    /// Whether this is the tool call with this id.
    pub fn is_call(&self, id: &str) -> bool {
        self.text("tool_use_id") == Some(id)
    }

    /// A text in the tool's input.
    pub fn input(&self, name: &str) -> Option<&str> {
        self.input_value(name)?.as_str()
    }

    pub(crate) fn input_value(&self, name: &str) -> Option<&Value> {
        self.fields.get("tool_input")?.get(name)
    }

    pub(crate) fn response_value(&self, name: &str) -> Option<&Value> {
        self.response()?.get(name)
    }

    /// The tool's structured response.
    pub fn response(&self) -> Option<&Value> {
        self.fields.get("tool_response")
    }

    /// Whether the prompt was written by the host, not by a person.
    pub fn is_machine_prompt(&self) -> bool {
        self.prompt().is_some_and(command::is_machine_prompt)
    }

    /// The prompt as received.
    pub fn prompt(&self) -> Option<&str> {
        self.text("prompt")
    }

    /// The id of the subagent in which this happened.
    pub fn agent_id(&self) -> Option<&str> {
        self.text("agent_id").filter(|id| !id.is_empty())
    }

    /// The name of the teammate in which this happened; its `agent_type` is this name.
    pub fn teammate(&self) -> Option<&str> {
        self.agent_id().and_then(crate::host::ids::teammate_name)
    }

    /// The path of the transcript of the subagent in which this happened.
    pub fn agent_transcript(&self) -> Option<String> {
        let beside_main = || {
            let folder = self.text("transcript_path")?.strip_suffix(".jsonl")?;
            Some(format!("{folder}/subagents/agent-{}.jsonl", self.agent_id()?))
        };
        self.text("agent_transcript_path").map(str::to_owned).or_else(beside_main)
    }

    /// The id or name of the agent that a call of `SendMessage` goes to.
    pub fn addressee(&self) -> Option<&str> {
        let to = self.input("to").or_else(|| self.input("recipient")).filter(|_| self.tool() == Some("SendMessage"))?;
        // A teammate may be addressed as `name@team`.
        Some(to.trim_start_matches('@').split('@').next().unwrap_or(to)).filter(|to| !to.is_empty())
    }

    /// Whether the turn already continues because of a stop hook.
    pub fn stop_hook_active(&self) -> bool {
        self.fields.get("stop_hook_active").and_then(Value::as_bool).unwrap_or(false)
    }

    /// Whether the host is in its plan mode, in which the agent of this event must not edit.
    pub fn in_plan_mode(&self) -> bool {
        self.text("permission_mode") == Some("plan")
    }

    /// Whether background tasks are running while the main agent stops.
    pub fn background_work(&self) -> bool {
        self.running_tasks().is_some_and(|mut tasks| tasks.next().is_some())
    }

    /// The ids of the background tasks in which agents may run; `None` where the host lists no tasks.
    ///
    /// A workflow and a teammate are listed under other ids than their agents, and an agent that a subagent waits for
    /// is not listed.
    pub fn background_agents(&self) -> Option<Vec<&str>> {
        let is_other = |task: &&Value| matches!(text_of(task, "type"), Some("shell" | "monitor"));
        Some(self.running_tasks()?.filter(|task| !is_other(task)).filter_map(|task| text_of(task, "id")).collect())
    }

    fn running_tasks(&self) -> Option<impl Iterator<Item = &Value>> {
        let is_over = |task: &Value| matches!(text_of(task, "status"), Some("completed" | "failed" | "killed"));
        Some(self.fields.get("background_tasks")?.as_array()?.iter().filter(move |task| !is_over(task)))
    }

    /// The agent that a call of the `Agent` tool starts.
    pub fn spawned(&self) -> Option<&str> {
        if self.tool() != Some("Agent") {
            return None;
        }
        self.input("subagent_type")
            .or_else(|| self.input("agent_type"))
            .or_else(|| self.input("agent_name"))
            .or(Some("general-purpose"))
    }

    /// The file that the tool works on.
    pub fn path(&self) -> Option<&str> {
        ["file_path", "notebook_path", "path"]
            .iter()
            .find_map(|name| self.input(name))
            .or_else(|| self.text("file_path"))
    }

    /// The edits in the tool's input: those of a list, or the input itself.
    pub(crate) fn edits(&self) -> Vec<&Value> {
        let input = self.fields.get("tool_input");
        let list = input.and_then(|input| input.get("edits")?.as_array());
        list.map_or_else(|| input.into_iter().collect(), |edits| edits.iter().collect())
    }

    /// The skill that the model calls.
    pub fn skill(&self) -> Option<&str> {
        if self.tool() != Some("Skill") {
            return None;
        }
        let call = self.input("skill").or_else(|| self.input("command"))?;
        call.split_whitespace().next().map(|name| name.trim_start_matches('/'))
    }

    /// The command that this event starts.
    pub fn command(&self) -> Option<CommandCall<'_>> {
        match self.kind? {
            EventKind::UserPromptSubmit => {
                let prompt = self.prompt().filter(|prompt| !command::is_machine_prompt(prompt))?;
                let machine = self.text("source") == Some("system");
                command::typed(prompt).filter(|_| !machine).map(|name| CommandCall { name, typed: true })
            }
            EventKind::UserPromptExpansion => {
                let name = self.text("command_name").or_else(|| self.prompt().and_then(command::typed))?;
                Some(CommandCall { name: name.trim_start_matches('/'), typed: true })
            }
            EventKind::PreToolUse => self.skill().map(|name| CommandCall { name, typed: false }),
            _ => None,
        }
    }

    /// The value that the names of a trigger are compared with.
    pub fn subject(&self) -> Option<&str> {
        match self.kind?.row().subject? {
            "tool_name" => self.tool(),
            "file_path" => self.path().map(|path| path.rsplit(['/', '\\']).next().unwrap_or(path)),
            other => self.text(other),
        }
    }

    /// The files that this tool call has changed, as the host names them.
    pub fn edited(&self) -> Vec<&str> {
        if self.kind != Some(EventKind::PostToolUse) {
            return Vec::new();
        }
        match self.tool() {
            Some("Write" | "Edit" | "MultiEdit" | "NotebookEdit") => self.path().into_iter().collect(),
            Some("Bash") => self.edited_by_shell(),
            // A relative path may be one of another machine.
            Some(tool) if writes(tool) => self.path().filter(|path| path.starts_with('/')).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Whether this event ends a tool call that may have changed files which the host does not list.
    pub fn may_have_edited(&self) -> bool {
        match (self.kind, self.tool()) {
            (Some(EventKind::PostToolUseFailure), Some("Bash")) => true,
            (Some(EventKind::PostToolUse), Some("Bash")) => {
                let diff = self.response_value("bashEditDiff");
                diff.is_none_or(|diff| diff.get("moreFiles").and_then(Value::as_u64).unwrap_or(0) > 0)
            }
            (Some(EventKind::PostToolUse), Some(tool)) => {
                writes(tool) && self.path().is_some_and(|path| !path.starts_with('/'))
            }
            _ => false,
        }
    }

    fn edited_by_shell(&self) -> Vec<&str> {
        let Some(diff) = self.response_value("bashEditDiff") else { return Vec::new() };
        let list = |name: &str| diff.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let named = list("changedFiles").iter().filter_map(Value::as_str);
        let mut files: Vec<&str> =
            named.chain(list("files").iter().filter_map(|file| file.get("filePath")?.as_str())).collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    /// The event in a few words.
    pub fn described(&self) -> String {
        self.with_subject(&self.short_subject().chars().take(DESCRIBED).collect::<String>())
    }

    /// The event in a few words, with the command line, path or address of a tool call.
    pub fn summary(&self) -> String {
        let detail = self.detail().filter(|_| self.tool().is_some() && self.spawned().is_none());
        let below = detail.and_then(|detail| detail.strip_prefix(self.cwd()?)?.strip_prefix('/'));
        let subject = below.or(detail).unwrap_or_else(|| self.short_subject());
        let more = if subject.chars().nth(DESCRIBED).is_some() { "…" } else { "" };
        let start: String = subject.chars().take(DESCRIBED).collect();
        self.with_subject(&format!("{start}{more}"))
    }

    fn short_subject(&self) -> &str {
        self.spawned().or_else(|| self.subject()).or_else(|| self.prompt()).unwrap_or_default()
    }

    fn with_subject(&self, subject: &str) -> String {
        match (self.tool(), subject) {
            (_, "") => self.name().to_owned(),
            (Some(tool), subject) if tool != subject => format!("{}({tool} {subject})", self.name()),
            (_, subject) => format!("{}({subject})", self.name()),
        }
    }

    fn detail(&self) -> Option<&str> {
        const OTHER: [&str; 4] = ["url", "pattern", "query", "to"];
        let path = || self.path().filter(|_| self.input("pattern").is_none());
        let other = || OTHER.iter().find_map(|name| self.input(name));
        let detail = self.skill().or_else(|| self.input("command")).or_else(path).or_else(other);
        detail.filter(|detail| !detail.trim().is_empty())
    }

    /// The same tool call with another input.
    pub fn with_input(&self, input: Value) -> Self {
        let mut changed = self.clone();
        changed.fields.insert("tool_input".to_owned(), input);
        changed
    }

    /// The event as JSON.
    pub fn to_value(&self) -> Value {
        Value::Object(self.fields.clone())
    }
}

fn text_of<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}

/// Top-level keys in snake case under their present names; a key that already has that name wins.
fn normalised(raw: Map<String, Value>) -> Map<String, Value> {
    if raw.keys().all(|key| canonical(key).is_none()) {
        return raw;
    }
    let mut fields = Map::with_capacity(raw.len());
    let (plain, other): (Vec<_>, Vec<_>) = raw.into_iter().partition(|(key, _)| canonical(key).is_none());
    fields.extend(plain);
    for (key, value) in other {
        let name = canonical(&key).unwrap_or(key);
        fields.entry(name).or_insert(value);
    }
    fields
}

/// The name that `key` should have, if it is another.
fn canonical(key: &str) -> Option<String> {
    let alias = |key: &str| ALIASES.iter().find(|(other, _)| *other == key).map(|(_, name)| (*name).to_owned());
    if !key.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return alias(key);
    }
    let snake = snake_case(key);
    alias(&snake).or(Some(snake))
}

fn snake_case(key: &str) -> String {
    let mut snake = String::with_capacity(key.len() + 4);
    for c in key.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn syntax_error(error: serde_json::Error) -> EventError {
    let too_deep = error.to_string().starts_with("recursion limit exceeded");
    if too_deep { EventError::TooDeep(error) } else { EventError::NotJson(error) }
}

/// Whether a tool of an MCP server writes files, by its name without the server's.
fn writes(tool: &str) -> bool {
    const VERBS: [&str; 8] = ["write", "edit", "create", "replace", "insert", "append", "save", "update"];
    let own = tool.strip_prefix("mcp__").and_then(|tool| tool.rsplit("__").next()).unwrap_or_default().to_lowercase();
    VERBS.iter().any(|verb| own.contains(verb))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(value: Value) -> Event {
        Event::from_value(value).expect("an event")
    }

    #[test]
    fn camel_case_and_snake_case_are_the_same_event() {
        let camel = event(
            json!({"hookEventName": "PreToolUse", "sessionId": "s", "toolName": "Agent", "toolInput": {"subagentType": "x", "subagent_type": "y"}}),
        );
        assert_eq!(camel.session(), "s");
        assert_eq!(camel.spawned(), Some("y"));
        assert_eq!(camel.fields["tool_input"]["subagentType"], "x");
    }

    #[test]
    fn older_field_names_are_understood() {
        assert_eq!(
            event(json!({"hook_event_name": "SubagentStop", "subagent_type": "x"})).text("agent_type"),
            Some("x")
        );
        assert_eq!(event(json!({"hook_event_name": "SubagentStop", "agentName": "x"})).text("agent_type"), Some("x"));
        assert_eq!(event(json!({"hook_event_name": "UserPromptSubmit", "user_message": "x"})).prompt(), Some("x"));
    }

    #[test]
    fn the_present_name_wins_over_an_alias() {
        let both = event(json!({"hook_event_name": "SubagentStop", "subagentType": "old", "agent_type": "new"}));
        assert_eq!(both.text("agent_type"), Some("new"));
    }

    #[test]
    fn fields_of_odd_types_are_ignored_and_reported() {
        let odd = event(json!({"hook_event_name": "Stop", "session_id": 5, "cwd": null, "prompt": ["x"]}));
        assert_eq!(odd.session(), "");
        assert_eq!(odd.oddities, ["`session_id` is a number, not text", "`prompt` is a list, not text"]);
    }

    #[test]
    fn invalid_input_is_named() {
        let cases: [(&[u8], &str); 6] = [
            (b"", "standard input is empty"),
            (b" \n", "standard input is empty"),
            (b"[1]", "it is a list, not a JSON object"),
            (b"{}", "it has no `hook_event_name`"),
            (b"{\"hook_event_name\": 3}", "it has no `hook_event_name`"),
            (b"{", "it is not JSON: EOF while parsing an object at line 1 column 1"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(Event::parse(bytes).unwrap_err().to_string(), expected);
        }
        let deep = [b"{\"a\":".repeat(3000), b"1".to_vec(), b"}".repeat(3000)].concat();
        assert!(matches!(Event::parse(&deep), Err(EventError::NoName)));
    }

    #[test]
    fn one_odd_value_does_not_hide_the_event() {
        let start = |odd: &str| {
            format!(
                r#"{{"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": {{"subagent_type": "x", "prompt": {odd}}}}}"#
            )
        };
        let deep = format!("{}1{}", "[".repeat(3000), "]".repeat(3000));
        for odd in ["\"half \\ud83d of it\"", "1e999", &deep] {
            let event = Event::parse(start(odd).as_bytes()).expect(odd);
            assert_eq!(event.spawned(), Some("x"), "{odd}");
        }
        assert!(
            Event::parse(start("\"whole \\ud83d\\ude00 pair\"").as_bytes())
                .unwrap()
                .input("prompt")
                .unwrap()
                .contains('😀')
        );
        assert!(Event::parse(start("nonsense").as_bytes()).is_err());
    }

    #[test]
    fn commands_come_from_prompts_expansions_and_skill_calls() {
        let call = |value| event(value).command().map(|call| (call.name.to_owned(), call.typed));
        assert_eq!(
            call(json!({"hook_event_name": "UserPromptSubmit", "prompt": "/plan x"})),
            Some(("plan".into(), true))
        );
        assert_eq!(
            call(json!({"hook_event_name": "UserPromptExpansion", "command_name": "plan"})),
            Some(("plan".into(), true))
        );
        assert_eq!(
            call(json!({"hook_event_name": "PreToolUse", "tool_name": "Skill", "tool_input": {"skill": "plan"}})),
            Some(("plan".into(), false))
        );
        assert_eq!(
            call(
                json!({"hook_event_name": "PreToolUse", "tool_name": "SlashCommand", "tool_input": {"command": "/plan x"}})
            ),
            Some(("plan".into(), false))
        );
        assert_eq!(call(json!({"hook_event_name": "UserPromptSubmit", "prompt": "<task-notification>/plan"})), None);
        assert_eq!(
            call(json!({"hook_event_name": "PostToolUse", "tool_name": "Skill", "tool_input": {"skill": "plan"}})),
            None
        );
    }

    #[test]
    fn edits_are_seen_in_tools_and_in_the_shell() {
        let write =
            event(json!({"hook_event_name": "PostToolUse", "tool_name": "Write", "tool_input": {"file_path": "/p/a"}}));
        assert_eq!(write.edited(), ["/p/a"]);
        let bash = event(
            json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_response": {"bashEditDiff": {"files": [{"filePath": "/p/b"}], "changedFiles": ["/p/b", "/p/c"]}}}),
        );
        assert_eq!(bash.edited(), ["/p/b", "/p/c"]);
        let mcp = |tool: &str, path: &str| json!({"hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": {"path": path}});
        assert_eq!(event(mcp("mcp__fs__write_file", "/p/a")).edited(), ["/p/a"]);
        assert!(event(mcp("mcp__fs__read_file", "/p/a")).edited().is_empty());
        assert!(event(mcp("mcp__github__create_or_update_file", "docs/a.md")).edited().is_empty());
    }
}
