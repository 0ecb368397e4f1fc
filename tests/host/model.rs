//! A scripted model: the Messages API on loopback.
//!
//! Conversations are distinguished by agent: a subagent's system prompt holds the text of its file in
//! `.claude/agents`, so the first line of that text is its fingerprint. The n-th request of a conversation gets
//! the n-th turn of its script.

use crate::server::{Answer, Call, Server};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The conversation that belongs to no subagent.
pub const MAIN: &str = "main";

/// One piece of what the model says.
#[derive(Debug, Clone)]
pub enum Block {
    /// Words.
    Text(String),
    /// A tool and its input.
    Tool(&'static str, Value),
}

/// What the model says in one turn; it may depend on the request.
pub type Turn = Box<dyn Fn(&Request) -> Vec<Block> + Send + Sync>;

/// What the model text, by conversation.
#[derive(Default)]
pub struct Script(Vec<(&'static str, Vec<Turn>)>);

impl Script {
    /// What the main agent does, turn by turn; after the last it says that it is done.
    pub fn main(turns: Vec<Turn>) -> Self {
        Self(vec![(MAIN, turns)])
    }

    /// What a subagent does, turn by turn.
    pub fn agent(mut self, name: &'static str, turns: Vec<Turn>) -> Self {
        self.0.push((name, turns));
        self
    }

    fn turn(&self, request: &Request) -> Vec<Block> {
        let turns = self.0.iter().find(|(name, _)| *name == request.who).map(|(_, turns)| turns);
        match turns.and_then(|turns| turns.get(request.answered())) {
            // A request without tools comes from the host itself, for a title or a summary.
            Some(turn) if request.has_tools() => turn(request),
            _ => vec![Block::Text("done".to_owned())],
        }
    }
}

/// A turn of words.
pub fn text(text: &str) -> Turn {
    let text = text.to_owned();
    Box::new(move |_| vec![Block::Text(text.clone())])
}

/// A turn of tools, called together.
pub fn calls(tools: Vec<Block>) -> Turn {
    Box::new(move |_| tools.clone())
}

/// A shell command.
pub fn shell(command: &str) -> Block {
    Block::Tool("Bash", json!({"command": command, "description": "a step of the script"}))
}

/// A file changed with the host's own tool; it has to be read before.
pub fn edit(path: &Path, old: &str, new: &str) -> Block {
    Block::Tool("Edit", json!({"file_path": path, "old_string": old, "new_string": new}))
}

/// A file read with the host's own tool.
pub fn read(path: &Path) -> Block {
    Block::Tool("Read", json!({"file_path": path}))
}

/// A file written with the host's own tool.
pub fn write(path: &Path, text: &str) -> Block {
    Block::Tool("Write", json!({"file_path": path, "content": text}))
}

/// A subagent that the main agent waits for.
pub fn agent(name: &str) -> Block {
    let input =
        json!({"subagent_type": name, "description": name, "prompt": "Do your part.", "run_in_background": false});
    Block::Tool("Agent", input)
}

/// A subagent that runs in the background.
pub fn background(name: &str) -> Block {
    let input =
        json!({"subagent_type": name, "description": name, "prompt": "Do your part.", "run_in_background": true});
    Block::Tool("Agent", input)
}

/// A request of the client, and whose conversation it belongs to.
#[derive(Debug, Clone)]
pub struct Request {
    /// The subagent, or `main`.
    pub who: String,
    /// The request as it was sent.
    pub body: Value,
}

impl Request {
    /// Whether it is an agent's: the host's own requests for titles and the like bring no tools.
    pub fn has_tools(&self) -> bool {
        self.body["tools"].as_array().is_some_and(|tools| !tools.is_empty())
    }

    /// How many turns the model has had in this conversation.
    pub fn answered(&self) -> usize {
        let messages = self.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        messages.iter().filter(|message| message["role"] == "assistant").count()
    }

    /// Everything in this conversation but the system prompt.
    pub fn text(&self) -> String {
        words(&self.body["messages"])
    }
}

/// All strings of a value, one per line.
pub fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(words).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => fields.values().map(words).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

/// The running model.
pub struct Model {
    server: Server,
    log: Arc<Mutex<Vec<Request>>>,
}

impl Model {
    /// Starts it for a project, whose agents it can distinguish.
    pub fn start(script: Script, project: &Path) -> Self {
        let log = Arc::new(Mutex::new(Vec::new()));
        let server = ScriptedServer { script, fingerprints: fingerprints(project), log: log.clone() };
        Self { server: Server::start(move |call| server.answer(call)), log }
    }

    /// Where it listens.
    pub fn address(&self) -> String {
        self.server.address()
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.log.lock().unwrap().clone()
    }
}

/// The first line of each agent's text, by name.
fn fingerprints(project: &Path) -> Vec<(String, String)> {
    let files = std::fs::read_dir(project.join(".claude/agents")).into_iter().flatten().filter_map(Result::ok);
    let print = |path: &Path| {
        let text = std::fs::read_to_string(path).ok()?;
        let body =
            text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map_or(&*text, |(_, body)| body);
        let line = body.lines().find(|line| !line.trim().is_empty())?;
        Some((path.file_stem()?.to_string_lossy().into_owned(), line.trim().to_owned()))
    };
    let prints: Vec<_> = files.filter_map(|file| print(&file.path())).collect();
    for (name, line) in &prints {
        let twins = prints.iter().filter(|(_, other)| other == line).count();
        assert_eq!(twins, 1, "the first line of {name} is not unique: {line}");
    }
    prints
}

struct ScriptedServer {
    script: Script,
    fingerprints: Vec<(String, String)>,
    log: Arc<Mutex<Vec<Request>>>,
}

impl ScriptedServer {
    fn answer(&self, call: &Call) -> Answer {
        match call.method.as_str() {
            "POST" if call.path.contains("count_tokens") => plain(&json!({"input_tokens": 100}), 200),
            "POST" if call.path.starts_with("/v1/messages") => {
                self.message(serde_json::from_slice(&call.body).unwrap_or_default())
            }
            "POST" | "HEAD" => plain(&json!({}), 200),
            _ => plain(&json!({"type": "error", "error": {"type": "not_found_error", "message": "none"}}), 404),
        }
    }

    fn message(&self, body: Value) -> Answer {
        let system = words(&body["system"]);
        let who = self.fingerprints.iter().find(|(_, line)| system.contains(line)).map_or(MAIN, |(name, _)| name);
        let request = Request { who: who.to_owned(), body };
        self.log.lock().unwrap().push(request.clone());
        let content: Vec<Value> = self.script.turn(&request).into_iter().map(content_block).collect();
        let calls = content.iter().any(|block| block["type"] == "tool_use");
        let message = json!({
            "id": id("msg"),
            "type": "message",
            "role": "assistant",
            "model": request.body["model"],
            "content": content,
            "stop_reason": if calls { "tool_use" } else { "end_turn" },
            "stop_sequence": null,
            "usage": usage(),
        });
        if request.body["stream"] == true { streamed(message) } else { plain(&message, 200) }
    }
}

fn content_block(block: Block) -> Value {
    match block {
        Block::Text(text) => json!({"type": "text", "text": text}),
        Block::Tool(name, input) => json!({"type": "tool_use", "id": id("toolu"), "name": name, "input": input}),
    }
}

/// An id that no other model gives either: a resumed session has the calls of an earlier one.
fn id(kind: &str) -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(1);
    format!("{kind}_{:06}", COUNT.fetch_add(1, Ordering::Relaxed))
}

fn usage() -> Value {
    json!({"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0})
}

fn plain(value: &Value, status: u16) -> Answer {
    Answer { status, kind: "application/json", body: value.to_string() }
}

/// A message as the events of a stream.
fn streamed(mut message: Value) -> Answer {
    let content = message["content"].take();
    let stop = message["stop_reason"].take();
    message["content"] = json!([]);
    let mut events = vec![json!({"type": "message_start", "message": message})];
    for (index, block) in content.as_array().into_iter().flatten().enumerate() {
        let (start, delta) = if block["type"] == "text" {
            (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": block["text"]}))
        } else {
            let mut start = block.clone();
            start["input"] = json!({});
            (start, json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}))
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let end = json!({"stop_reason": stop, "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": end, "usage": usage()}));
    events.push(json!({"type": "message_stop"}));
    let lines =
        events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()));
    Answer { status: 200, kind: "text/event-stream", body: lines.collect() }
}
