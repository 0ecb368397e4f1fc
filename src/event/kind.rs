//! The table of events: one row per event of the host, with how it can be answered.

use serde::{Deserialize, Serialize};

/// How an event is blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blocking {
    /// `hookSpecificOutput.permissionDecision: deny`.
    Permission,
    /// `hookSpecificOutput.decision.behavior: deny`.
    Behavior,
    /// Top-level `decision: block` with a `reason`.
    Decision,
    /// `hookSpecificOutput.action: decline`.
    Action,
    /// Exit code 2 and stderr; no JSON form exists.
    Exit,
    /// It cannot be blocked: a block becomes a message to the user.
    Never,
}

/// What the host does with the answer to an event.
#[derive(Debug, Clone, Copy)]
pub struct EventRow {
    /// The event.
    pub kind: EventKind,
    /// The host's name for it.
    pub name: &'static str,
    /// How it blocks.
    pub blocking: Blocking,
    /// Whether `additionalContext` reaches a model without making it run again.
    pub context: bool,
    /// Whether `systemMessage` reaches the user.
    pub message: bool,
    /// The field that the names of a trigger are compared with.
    pub subject: Option<&'static str>,
}

macro_rules! events {
    ($($name:ident: $blocking:ident, $context:literal, $message:literal, $subject:expr;)*) => {
        /// An event of the host.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum EventKind {
            $(
                #[doc = concat!("The host's `", stringify!($name), "`.")]
                $name,
            )*
        }

        /// Every event the host has, in the order of its own list.
        pub const TABLE: &[EventRow] = &[$(EventRow {
            kind: EventKind::$name,
            name: stringify!($name),
            blocking: Blocking::$blocking,
            context: $context,
            message: $message,
            subject: $subject,
        },)*];

        impl EventKind {
            /// The row of this event.
            #[must_use]
            pub const fn row(self) -> EventRow {
                match self {
                    $(EventKind::$name => EventRow {
                        kind: EventKind::$name,
                        name: stringify!($name),
                        blocking: Blocking::$blocking,
                        context: $context,
                        message: $message,
                        subject: $subject,
                    },)*
                }
            }
        }
    };
}

// Stop and SubagentStop accept context and messages too, but an allowed stop must print nothing: context makes the
// agent run again.
events! {
    // name: how it blocks, context, message, subject of its matcher
    PreToolUse: Permission, true, true, Some("tool_name");
    PostToolUse: Decision, true, true, Some("tool_name");
    PostToolUseFailure: Decision, true, true, Some("tool_name");
    PostToolBatch: Decision, true, true, None;
    Notification: Never, false, false, Some("notification_type");
    UserPromptSubmit: Decision, true, true, None;
    UserPromptExpansion: Decision, true, true, Some("command_name");
    SessionStart: Never, true, true, Some("source");
    SessionEnd: Never, false, false, Some("reason");
    Stop: Decision, false, false, None;
    StopFailure: Never, false, false, Some("error");
    SubagentStart: Never, true, true, Some("agent_type");
    SubagentStop: Decision, false, false, Some("agent_type");
    PreCompact: Decision, false, false, Some("trigger");
    PostCompact: Never, false, false, Some("trigger");
    PreModelSwitch: Permission, false, true, Some("to_model");
    PostModelSwitch: Never, true, true, Some("to_model");
    PermissionRequest: Behavior, false, true, Some("tool_name");
    PermissionDenied: Never, false, false, Some("tool_name");
    Setup: Never, true, true, Some("trigger");
    TeammateIdle: Exit, false, false, None;
    TaskCreated: Decision, false, false, None;
    TaskCompleted: Exit, false, false, None;
    Elicitation: Action, false, false, Some("mcp_server_name");
    ElicitationResult: Action, false, false, Some("mcp_server_name");
    ConfigChange: Decision, false, false, Some("source");
    InstructionsLoaded: Never, false, false, Some("load_reason");
    WorktreeCreate: Exit, false, false, None;
    WorktreeRemove: Never, false, false, None;
    CwdChanged: Never, false, true, None;
    FileChanged: Never, false, true, Some("file_path");
    DirectoryAdded: Never, false, true, Some("source");
    MessageDisplay: Never, false, false, None;
}

impl EventKind {
    /// The event of that name, older names included.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = match name {
            "PrePromptSubmit" | "PostUserMessage" => "UserPromptSubmit",
            "NotificationEvent" => "Notification",
            other => other,
        };
        TABLE.iter().find(|row| row.name == name).map(|row| row.kind)
    }

    /// The host's name for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Whether an agent, main or sub, is about to stop.
    #[must_use]
    pub const fn is_stop(self) -> bool {
        matches!(self, EventKind::Stop | EventKind::SubagentStop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_all_33_events_once() {
        let mut names: Vec<_> = TABLE.iter().map(|row| row.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 33);
    }

    #[test]
    fn every_row_is_found_by_its_name() {
        for row in TABLE {
            assert_eq!(EventKind::named(row.name), Some(row.kind));
            assert_eq!(row.kind.row().name, row.name);
        }
    }

    #[test]
    fn older_names_mean_the_same_event() {
        assert_eq!(EventKind::named("PrePromptSubmit"), Some(EventKind::UserPromptSubmit));
        assert_eq!(EventKind::named("PostUserMessage"), Some(EventKind::UserPromptSubmit));
        assert_eq!(EventKind::named("NotificationEvent"), Some(EventKind::Notification));
        assert_eq!(EventKind::named("NoSuchEvent"), None);
    }
}
