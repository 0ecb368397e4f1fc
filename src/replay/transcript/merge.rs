//! Puts the events of all agents of a session in one order, and lists the background tasks in every stop.

use super::message_text::tagged;
use super::timeline::{AgentEvent, AgentTimeline};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet, VecDeque};

/// The events of all timelines with the index of their file, ordered by time.
///
/// The order within a timeline is kept, and the first run of a subagent stays between the two events of the call
/// that started it.
pub(super) fn ordered(mut timelines: Vec<(usize, AgentTimeline)>) -> Vec<(usize, AgentEvent)> {
    let starting_calls = link_calls(&mut timelines);
    let queue = |timeline: AgentTimeline| timeline.events.into_iter().flatten().map(QueuedEvent::new).collect();
    let mut queues: Vec<(usize, VecDeque<QueuedEvent>)> =
        timelines.into_iter().map(|(file, timeline)| (file, queue(timeline))).collect();
    let events = queues.iter().flat_map(|(_, events)| events);
    let mut not_started: HashSet<String> = events.filter_map(|queued| queued.starts.clone()).collect();
    let children: HashMap<&str, usize> =
        starting_calls.iter().enumerate().filter_map(|(at, call)| Some((call.as_deref()?, at))).collect();
    let mut ordered = Vec::new();
    loop {
        let heads = queues.iter().enumerate().filter_map(|(at, (_, events))| Some((at, events.front()?)));
        let is_ready = |at: usize, queued: &QueuedEvent| {
            // A subagent waits for the start of its call; the end of the call waits for the subagent.
            let called = starting_calls.get(at).and_then(Option::as_ref).is_none_or(|call| !not_started.contains(call));
            let child = queued.ends.as_deref().and_then(|call| queues.get(*children.get(call)?)?.1.front());
            called && child.is_none_or(|child| child.event.run > 0)
        };
        let ready = heads.clone().filter(|(at, queued)| is_ready(*at, queued));
        let ready = ready.min_by_key(|(at, queued)| (queued.event.written.time, *at));
        // Where all wait for one another, time decides.
        let next = ready.or_else(|| heads.min_by_key(|(at, queued)| (queued.event.written.time, *at)));
        let Some((file, events)) = next.map(|(at, _)| at).and_then(|at| queues.get_mut(at)) else { return ordered };
        let Some(first) = events.pop_front() else { return ordered };
        if let Some(call) = first.starts {
            not_started.remove(&call);
        }
        ordered.push((*file, first.event));
    }
}

/// An event with the id of the subagent's call that starts or ends with it.
struct QueuedEvent {
    event: AgentEvent,
    starts: Option<String>,
    ends: Option<String>,
}

impl QueuedEvent {
    fn new(event: AgentEvent) -> Self {
        let starts = started_call(&event.payload).map(str::to_owned);
        let ends = ended_call(&event.payload).map(str::to_owned);
        Self { event, starts, ends }
    }
}

/// Finds the id of the call that started each timeline's agent, and from it the agent's type where it is not known.
fn link_calls(timelines: &mut [(usize, AgentTimeline)]) -> Vec<Option<String>> {
    let calls: Vec<SubagentCall> = timelines.iter().flat_map(|(_, timeline)| subagent_calls(timeline)).collect();
    let mut taken: HashSet<String> =
        timelines.iter().filter_map(|(_, timeline)| known_call(timeline, &calls)).collect();
    let mut links = Vec::with_capacity(timelines.len());
    for (_, timeline) in timelines {
        let id = known_call(timeline, &calls).or_else(|| call_by_prompt(timeline, &calls, &taken));
        taken.extend(id.clone());
        if let Some(kind) = calls.iter().find(|call| Some(&call.id) == id.as_ref()).and_then(|call| call.kind.as_ref())
        {
            timeline.set_agent_type(kind);
        }
        links.push(id);
    }
    links
}

struct SubagentCall {
    id: String,
    kind: Option<String>,
    prompt: Option<String>,
    agent: Option<String>,
}

fn subagent_calls(timeline: &AgentTimeline) -> Vec<SubagentCall> {
    let mut calls: Vec<SubagentCall> = Vec::new();
    for event in timeline.events.iter().flatten().filter(|event| is_agent_call(&event.payload)) {
        let text = |path: &str| text_at(&event.payload, path).map(str::to_owned);
        let Some(id) = text("/tool_use_id") else { continue };
        if text_at(&event.payload, "/hook_event_name") == Some("PreToolUse") {
            let (kind, prompt) = (text("/tool_input/subagent_type"), text("/tool_input/prompt"));
            calls.push(SubagentCall { id, kind, prompt, agent: None });
        } else if let Some(call) = calls.iter_mut().rev().find(|call| call.id == id) {
            call.agent = text("/tool_response/agentId");
            call.kind = call.kind.take().or_else(|| text("/tool_response/agentType"));
        }
    }
    calls
}

/// The call that started an agent, according to the agent's metadata or the call's result.
fn known_call(timeline: &AgentTimeline, calls: &[SubagentCall]) -> Option<String> {
    let agent = timeline.context.agent.as_ref()?;
    let started = || calls.iter().find(|call| call.agent.as_ref() == Some(&agent.id)).map(|call| call.id.clone());
    agent.call.clone().or_else(started)
}

/// The first free call with the prompt that the agent was given.
fn call_by_prompt(timeline: &AgentTimeline, calls: &[SubagentCall], taken: &HashSet<String>) -> Option<String> {
    let prompt = timeline.first_prompt.as_ref().filter(|_| timeline.context.agent.is_some())?;
    let same = |call: &&SubagentCall| call.prompt.as_ref() == Some(prompt) && !taken.contains(&call.id);
    calls.iter().find(same).map(|call| call.id.clone())
}

/// The call of a subagent that starts with this event.
fn started_call(event: &Map<String, Value>) -> Option<&str> {
    let starts = is_agent_call(event) && text_at(event, "/hook_event_name") == Some("PreToolUse");
    text_at(event, "/tool_use_id").filter(|_| starts)
}

/// The call of a subagent that ends with this event, unless the subagent runs in the background.
pub(super) fn ended_call(event: &Map<String, Value>) -> Option<&str> {
    let ends = is_agent_call(event) && text_at(event, "/hook_event_name").is_some_and(|name| name != "PreToolUse");
    let launched = text_at(event, "/tool_response/status").is_some_and(|status| status.ends_with("_launched"));
    text_at(event, "/tool_use_id").filter(|_| ends && !launched)
}

pub(super) fn is_agent_call(event: &Map<String, Value>) -> bool {
    matches!(text_at(event, "/tool_name"), Some("Agent" | "Task"))
}

pub(super) fn text_at<'a>(event: &'a Map<String, Value>, path: &str) -> Option<&'a str> {
    let mut parts = path.split('/').skip(1);
    let first = event.get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.get(part))?.as_str()
}

/// The tasks running in the background, as shown by the events so far.
#[derive(Default)]
pub(super) struct BackgroundTasks {
    running: Vec<Value>,
    /// Subagents that may be called again.
    agents: Vec<Value>,
}

impl BackgroundTasks {
    /// Adds the running tasks to a stop event, and learns from any other event.
    pub(super) fn follow(&mut self, event: &mut Map<String, Value>) {
        match text_at(event, "/hook_event_name") {
            Some("PostToolUse") => {
                self.agents.extend(agent_task(event));
                self.running.extend(launched_task(event));
            }
            Some("SubagentStart") => self.restart(text_at(event, "/agent_id").unwrap_or_default()),
            Some("UserPromptSubmit") => {
                let ended = text_at(event, "/prompt").filter(|prompt| prompt.trim_start().starts_with("<task-notif"));
                self.end_task(ended.and_then(|prompt| tagged(prompt, "task-id")).unwrap_or_default());
            }
            Some("Stop" | "SubagentStop") => {
                event.insert("background_tasks".to_owned(), Value::Array(self.running.clone()));
                self.end_task(text_at(event, "/agent_id").unwrap_or_default());
            }
            _ => {}
        }
    }

    /// An agent that is called again runs in the background.
    fn restart(&mut self, id: &str) {
        let running = self.running.iter().any(|task| has_id(task, id));
        self.running.extend(self.agents.iter().find(|task| !running && has_id(task, id)).cloned());
    }

    fn end_task(&mut self, id: &str) {
        self.running.retain(|task| !has_id(task, id));
    }
}

fn has_id(task: &Value, id: &str) -> bool {
    task.get("id").is_some_and(|own| own == id)
}

/// The task of the subagent that a call started.
fn agent_task(event: &Map<String, Value>) -> Option<Value> {
    let text = |path: &str| text_at(event, path);
    let id = text("/tool_response/agentId").filter(|_| is_agent_call(event))?;
    let (kind, description) = (text("/tool_input/subagent_type"), text("/tool_input/description"));
    let mut task = json!({"id": id, "type": "subagent", "status": "running", "description": description});
    if let (Some(kind), Some(fields)) = (kind, task.as_object_mut()) {
        fields.insert("agent_type".to_owned(), kind.into());
    }
    Some(task)
}

/// The task that a tool call left running.
fn launched_task(event: &Map<String, Value>) -> Option<Value> {
    let text = |path: &str| text_at(event, path);
    if is_agent_call(event) {
        return agent_task(event).filter(|_| text("/tool_response/status") == Some("async_launched"));
    }
    let id = text("/tool_response/backgroundTaskId")?;
    let command = text("/tool_input/command");
    let description = text("/tool_input/description").or(command);
    Some(json!({"id": id, "type": "shell", "status": "running", "description": description, "command": command}))
}
