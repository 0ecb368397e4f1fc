//! `on: PreToolUse(Write|Edit)`: the events that a gate matches.

use super::{Event, EventKind, command, name};
use serde::{Deserialize, Serialize};

/// The events that a gate matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// The event.
    pub event: TriggerEvent,
    /// The tools, agents, commands or sources; empty means any.
    pub names: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TriggerError {
    #[error("unknown event `{0}`")]
    UnknownEvent(String),
    #[error("`{0}` lacks its `)`")]
    Unclosed(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TriggerEvent {
    /// An event of the host.
    Event(EventKind),
    CommandStart,
    /// The main agent stops while a command's mode is active.
    CommandEnd,
    SkillStart,
    SkillEnd,
}

impl TriggerEvent {
    pub fn kinds(self) -> Vec<EventKind> {
        match self {
            Self::Event(kind) => vec![kind],
            Self::CommandStart => {
                vec![EventKind::UserPromptSubmit, EventKind::UserPromptExpansion, EventKind::PreToolUse]
            }
            Self::CommandEnd => vec![EventKind::Stop],
            Self::SkillStart => vec![EventKind::PreToolUse],
            Self::SkillEnd => vec![EventKind::PostToolUse],
        }
    }
}

const SELECTORS: [(&str, TriggerEvent); 4] = [
    ("SlashCommandStart", TriggerEvent::CommandStart),
    ("SlashCommandEnd", TriggerEvent::CommandEnd),
    ("SkillStart", TriggerEvent::SkillStart),
    ("SkillEnd", TriggerEvent::SkillEnd),
];

impl Trigger {
    /// Reads `Event` or `Event(name|name)`; names are tools, agents, commands or sources.
    pub fn parse(text: &str) -> Result<Self, TriggerError> {
        let text = text.trim();
        let (event, names) = match text.split_once('(') {
            Some((event, rest)) => {
                (event.trim(), rest.strip_suffix(')').ok_or_else(|| TriggerError::Unclosed(text.to_owned()))?)
            }
            None => (text, ""),
        };
        let selector = SELECTORS.iter().find(|(name, _)| *name == event).map(|(_, on)| *on);
        let on = selector
            .or_else(|| EventKind::named(event).map(TriggerEvent::Event))
            .ok_or_else(|| TriggerError::UnknownEvent(event.to_owned()))?;
        Ok(Self { event: on, names: name::split(names) })
    }

    /// Every word that is allowed before the parenthesis.
    pub fn words() -> impl Iterator<Item = &'static str> {
        super::kind::TABLE.iter().map(|row| row.name).chain(SELECTORS.iter().map(|(name, _)| *name))
    }

    /// Whether it matches `event`; `active` are the commands of the active modes.
    pub fn matches(&self, event: &Event, active: &[&str]) -> bool {
        let Some(kind) = event.kind else { return false };
        match self.event {
            TriggerEvent::Event(wanted) if wanted != kind => false,
            TriggerEvent::Event(_) => {
                self.names.is_empty() || event.subject().is_some_and(|subject| name::selected(&self.names, subject))
            }
            TriggerEvent::CommandStart => event.command().is_some_and(|call| self.calls(call.name)),
            TriggerEvent::CommandEnd => kind == EventKind::Stop && active.iter().any(|name| self.calls(name)),
            TriggerEvent::SkillStart => {
                kind == EventKind::PreToolUse && event.skill().is_some_and(|skill| self.calls(skill))
            }
            TriggerEvent::SkillEnd => {
                kind == EventKind::PostToolUse && event.skill().is_some_and(|skill| self.calls(skill))
            }
        }
    }

    /// Whether a command or skill is among the names, ignoring slashes and `plugin:` prefixes.
    fn calls(&self, called: &str) -> bool {
        name::selected(&self.names, called) || self.names.iter().any(|own| command::same_command(own, called))
    }
}

/// Tools that have had another name: the former and the present one.
const RENAMED: [[&str; 2]; 2] = [["Task", "Agent"], ["SlashCommand", "Skill"]];

pub fn alias(tool: &str) -> &str {
    RENAMED.iter().find(|[former, _]| *former == tool).map_or(tool, |[_, present]| present)
}

/// The present and former names of a tool that has had several.
pub fn tool_names(tool: &str) -> impl Iterator<Item = &'static str> {
    RENAMED.into_iter().filter(move |names| names.contains(&tool)).flat_map(|[former, present]| [present, former])
}

impl std::fmt::Display for Trigger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = match self.event {
            TriggerEvent::Event(kind) => kind.name(),
            selector => SELECTORS.iter().find(|(_, on)| *on == selector).map_or("", |(name, _)| name),
        };
        match self.names.as_slice() {
            [] => f.write_str(word),
            names => write!(f, "{word}({})", names.join("|")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(trigger: &str, event: &serde_json::Value, expected: bool) {
        let event = Event::from_value(event.clone()).expect("an event");
        assert_eq!(Trigger::parse(trigger).expect("a trigger").matches(&event, &["plan"]), expected, "{trigger}");
    }

    #[test]
    fn names_are_compared_with_the_events_subject() {
        let write = json!({"hook_event_name": "PreToolUse", "tool_name": "Write"});
        check("PreToolUse", &write, true);
        check("PreToolUse(Write|Edit)", &write, true);
        check("PreToolUse(Wri*)", &write, true);
        check("PreToolUse(Edit)", &write, false);
        check("PostToolUse(Write)", &write, false);
    }

    #[test]
    fn former_tool_names_match() {
        check("PreToolUse(Task)", &json!({"hook_event_name": "PreToolUse", "tool_name": "Agent"}), true);
        check("PreToolUse(Agent)", &json!({"hook_event_name": "PreToolUse", "tool_name": "Task"}), true);
    }

    #[test]
    fn command_and_skill_triggers_match_the_host_events() {
        let skill = json!({"hook_event_name": "PreToolUse", "tool_name": "Skill", "tool_input": {"skill": "plan"}});
        check("SkillStart(plan)", &skill, true);
        check("SlashCommandStart(plan)", &skill, true);
        check("SlashCommandStart(/plan)", &skill, true);
        check("SkillEnd", &skill, false);
        check("SlashCommandEnd(plan)", &json!({"hook_event_name": "Stop"}), true);
        check("SlashCommandEnd(code)", &json!({"hook_event_name": "Stop"}), false);
    }

    #[test]
    fn an_unknown_event_is_named_in_the_error() {
        assert_eq!(Trigger::parse("PreTolUse(Write)"), Err(TriggerError::UnknownEvent("PreTolUse".to_owned())));
    }
}
