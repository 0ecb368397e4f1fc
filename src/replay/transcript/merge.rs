//! The events of all agents of a session in one order.

use super::track::{AgentEvent, AgentTimeline};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// A track with the part that it stands in.
pub(super) struct TimelineOfFile {
    pub part: usize,
    pub track: AgentTimeline,
}

/// Gives each agent the call that it came from, and so its type where its card does not tell it.
///
/// The answer is the id of each track's call.
pub(super) fn link(tracks: &mut [TimelineOfFile]) -> Vec<Option<String>> {
    let calls: Vec<SubagentCall> = tracks.iter().flat_map(|placed| spawns(&placed.track)).collect();
    let mut taken: HashSet<String> = tracks.iter().filter_map(|placed| call_of(&placed.track, &calls)).collect();
    let mut links = Vec::with_capacity(tracks.len());
    for TimelineOfFile { track, .. } in tracks {
        let call = call_of(track, &calls).or_else(|| by_prompt(track, &calls, &taken));
        taken.extend(call.clone());
        let kind = calls.iter().find(|spawn| Some(&spawn.call) == call.as_ref()).and_then(|spawn| spawn.kind.clone());
        if let (Some(agent), Some(kind)) = (&track.setting.agent, kind)
            && agent.kind.is_none()
        {
            track.name(&kind);
        }
        links.push(call);
    }
    links
}

/// A call of a subagent.
struct SubagentCall {
    call: String,
    kind: Option<String>,
    prompt: Option<String>,
    /// The agent that came of it.
    agent: Option<String>,
}

fn spawns(track: &AgentTimeline) -> Vec<SubagentCall> {
    let mut spawns: Vec<SubagentCall> = Vec::new();
    for step in track.steps.iter().flatten().filter(|step| is_spawn(&step.event)) {
        let text = |path: &str| pointer(&step.event, path).map(str::to_owned);
        let Some(call) = text("/tool_use_id") else { continue };
        match text("/hook_event_name").as_deref() {
            Some("PreToolUse") => {
                let (kind, prompt) = (text("/tool_input/subagent_type"), text("/tool_input/prompt"));
                spawns.push(SubagentCall { call, kind, prompt, agent: None });
            }
            _ => {
                if let Some(spawn) = spawns.iter_mut().rev().find(|spawn| spawn.call == call) {
                    spawn.agent = text("/tool_response/agentId");
                    spawn.kind = spawn.kind.take().or_else(|| text("/tool_response/agentType"));
                }
            }
        }
    }
    spawns
}

/// The call of an agent, as its card or the tool's answer says.
fn call_of(track: &AgentTimeline, calls: &[SubagentCall]) -> Option<String> {
    let agent = track.setting.agent.as_ref()?;
    let answered =
        || calls.iter().find(|spawn| spawn.agent.as_ref() == Some(&agent.id)).map(|spawn| spawn.call.clone());
    agent.call.clone().or_else(answered)
}

/// The first free call with the very prompt that the agent was given.
fn by_prompt(track: &AgentTimeline, calls: &[SubagentCall], taken: &HashSet<String>) -> Option<String> {
    let opening = track.opening.as_ref().filter(|_| track.setting.agent.is_some())?;
    let same = |spawn: &&SubagentCall| spawn.prompt.as_ref() == Some(opening) && !taken.contains(&spawn.call);
    calls.iter().find(same).map(|spawn| spawn.call.clone())
}

/// An event in its place.
pub(super) struct OrderedEvent {
    pub part: usize,
    pub step: AgentEvent,
}

/// Puts the events of all tracks in one order: by time, each track's own order kept, and an agent's first run
/// between the call that it came from and that call's end.
pub(super) fn merge(tracks: Vec<TimelineOfFile>, links: &[Option<String>]) -> Vec<OrderedEvent> {
    let mut queues: Vec<(usize, std::collections::VecDeque<AgentEvent>)> =
        tracks.into_iter().map(|placed| (placed.part, placed.track.steps.into_iter().flatten().collect())).collect();
    let ids: Vec<_> =
        queues.iter().flat_map(|(_, steps)| steps.iter().filter_map(|step| begins(&step.event))).collect();
    let mut open: HashSet<String> = ids.into_iter().map(str::to_owned).collect();
    let children: HashMap<&str, usize> =
        links.iter().enumerate().filter_map(|(at, link)| Some((link.as_deref()?, at))).collect();
    let mut ordered = Vec::new();
    loop {
        let heads = queues.iter().enumerate().filter_map(|(at, (_, steps))| Some((at, steps.front()?)));
        let free = |at: usize, step: &AgentEvent| {
            // An agent waits for its call; the call's end waits for the agent.
            let called = links.get(at).and_then(Option::as_ref).is_none_or(|call| !open.contains(call));
            let child = ends(&step.event).and_then(|call| queues.get(*children.get(call)?)?.1.front());
            called && child.is_none_or(|child| child.run > 0)
        };
        let ready = heads.clone().filter(|(at, step)| free(*at, step)).min_by_key(|(at, step)| (step.time, *at));
        // Where all wait for one another, time decides.
        let next = ready.or_else(|| heads.min_by_key(|(at, step)| (step.time, *at))).map(|(at, _)| at);
        let Some((part, steps)) = next.and_then(|at| queues.get_mut(at)) else { return ordered };
        let Some(step) = steps.pop_front() else { return ordered };
        if let Some(call) = begins(&step.event) {
            open.remove(call);
        }
        ordered.push(OrderedEvent { part: *part, step });
    }
}

/// The call of a subagent that begins with this event.
fn begins(event: &Map<String, Value>) -> Option<&str> {
    let is_it = is_spawn(event) && pointer(event, "/hook_event_name") == Some("PreToolUse");
    pointer(event, "/tool_use_id").filter(|_| is_it)
}

/// The call of a subagent that ends with this event; one in the background does not.
fn ends(event: &Map<String, Value>) -> Option<&str> {
    let post = pointer(event, "/hook_event_name").is_some_and(|name| name != "PreToolUse");
    let launched = pointer(event, "/tool_response/status").is_some_and(|status| status.ends_with("_launched"));
    pointer(event, "/tool_use_id").filter(|_| is_spawn(event) && post && !launched)
}

pub(super) fn is_spawn(event: &Map<String, Value>) -> bool {
    matches!(pointer(event, "/tool_name"), Some("Agent" | "Task"))
}

/// A text in an event, by its path.
pub(super) fn pointer<'a>(event: &'a Map<String, Value>, path: &str) -> Option<&'a str> {
    let mut parts = path.split('/').skip(1);
    let first = event.get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.get(part))?.as_str()
}
