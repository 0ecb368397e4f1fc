//! The table of events: one row per event of the host, with how it can be answered.

use serde::{Deserialize, Serialize};

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
    pub kind: EventKind,
    pub name: &'static str,
    pub blocking: Blocking,
    /// Whether `additionalContext` reaches a model without making it run again.
    pub context: bool,
    /// Whether `systemMessage` reaches the user.
    pub message: bool,
    /// The field that the names of a trigger are compared with.
    pub subject: Option<&'static str>,
    /// The first version of the host that knows it, or one that certainly does.
    pub since: [u32; 3],
}

macro_rules! events {
    ($($name:ident: $blocking:ident, $context:literal, $message:literal, $subject:expr, $since:expr;)*) => {
        /// An event of the host.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum EventKind {
            $(
                #[doc = concat!("The host's `", stringify!($name), "`.")]
                $name,
            )*
        }

        /// Every event the host has, in the order of its own list.
        pub const TABLE: &[EventRow] = &[$(EventKind::$name.row()),*];

        impl EventKind {
            /// The row of this event.
            pub const fn row(self) -> EventRow {
                match self {
                    $(EventKind::$name => EventRow {
                        kind: EventKind::$name,
                        name: stringify!($name),
                        blocking: Blocking::$blocking,
                        context: $context,
                        message: $message,
                        subject: $subject,
                        since: $since,
                    },)*
                }
            }
        }
    };
}

// Stop and SubagentStop accept context and messages too, but an allowed stop must print nothing: context makes the
// agent run again.
events! {
    // name: how it blocks, context, message, subject of its matcher, first version of the host
    PreToolUse: Permission, true, true, Some("tool_name"), [1, 0, 38];
    PostToolUse: Decision, true, true, Some("tool_name"), [1, 0, 38];
    PostToolUseFailure: Decision, true, true, Some("tool_name"), [2, 1, 9];
    PostToolBatch: Decision, true, true, None, [2, 1, 118];
    Notification: Never, false, false, Some("notification_type"), [1, 0, 38];
    UserPromptSubmit: Decision, true, true, None, [1, 0, 54];
    UserPromptExpansion: Decision, true, true, Some("command_name"), [2, 1, 116];
    SessionStart: Never, true, true, Some("source"), [1, 0, 62];
    SessionEnd: Never, false, false, Some("reason"), [1, 0, 85];
    Stop: Decision, false, false, None, [1, 0, 38];
    StopFailure: Never, false, false, Some("error"), [2, 1, 78];
    SubagentStart: Never, true, true, Some("agent_type"), [2, 0, 43];
    SubagentStop: Decision, false, false, Some("agent_type"), [1, 0, 41];
    PreCompact: Decision, false, false, Some("trigger"), [1, 0, 48];
    PostCompact: Never, false, false, Some("trigger"), [2, 1, 76];
    PreModelSwitch: Permission, false, true, Some("to_model"), [2, 1, 251];
    PostModelSwitch: Never, true, true, Some("to_model"), [2, 1, 251];
    PermissionRequest: Behavior, false, true, Some("tool_name"), [2, 0, 45];
    PermissionDenied: Never, false, false, Some("tool_name"), [2, 1, 89];
    Setup: Never, true, true, Some("trigger"), [2, 1, 10];
    TeammateIdle: Exit, false, false, None, [2, 1, 33];
    TaskCreated: Decision, false, false, None, [2, 1, 84];
    TaskCompleted: Exit, false, false, None, [2, 1, 33];
    Elicitation: Action, false, false, Some("mcp_server_name"), [2, 1, 76];
    ElicitationResult: Action, false, false, Some("mcp_server_name"), [2, 1, 76];
    ConfigChange: Decision, false, false, Some("source"), [2, 1, 49];
    InstructionsLoaded: Never, false, false, Some("load_reason"), [2, 1, 69];
    WorktreeCreate: Exit, false, false, None, [2, 1, 50];
    WorktreeRemove: Never, false, false, None, [2, 1, 50];
    CwdChanged: Never, false, true, None, [2, 1, 83];
    FileChanged: Never, false, true, Some("file_path"), [2, 1, 83];
    DirectoryAdded: Never, false, true, Some("source"), [2, 1, 219];
    MessageDisplay: Never, false, false, None, [2, 1, 152];
}

impl EventKind {
    /// The event of that name, older names included.
    pub fn named(name: &str) -> Option<Self> {
        let name = match name {
            "PrePromptSubmit" | "PostUserMessage" => "UserPromptSubmit",
            "NotificationEvent" => "Notification",
            other => other,
        };
        TABLE.iter().find(|row| row.name == name).map(|row| row.kind)
    }

    /// The host's name for it.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Whether an agent, main or sub, is about to stop.
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
