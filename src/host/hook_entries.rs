//! Adds and removes modegate's hook entries in the text of a settings file.
//!
//! Pure text editing. Everything in the file that is not modegate's is preserved byte for byte.

mod change;
mod edit;
mod entry;
mod guarded;
mod host_schema;
mod launcher;
mod plugin;

pub(crate) use change::changes_entries;
pub use edit::{SettingsError, has_entries, with_entries, without_entries};
pub use entry::{HookEntry, entries_in, settings_value};
pub use guarded::{DISABLING, GuardedSettings};
pub use host_schema::malformed;
pub use launcher::SCRIPT;
#[cfg(test)]
pub use plugin::tests::plugin_hooks;
pub use plugin::{HostSettings, SettingsScope, enables_plugin, is_superseded};

use crate::host::event::EventKind;

/// Seconds the host waits for the hook: longer than steps and locks together, because a timeout opens every gate.
pub const TIMEOUT: u64 = 150;

pub const PROJECT_VARIABLE: &str = "${CLAUDE_PROJECT_DIR}";

/// The program of a project's entries.
pub const PROJECT_COMMAND: &str = "${CLAUDE_PROJECT_DIR}/.claude/hooks/modegate";

/// The committed script that looks for the program where a project has none, below the project's folder.
pub const SCRIPT_PATH: &str = ".claude/hooks/modegate.sh";

const NEEDED: [EventKind; 10] = [
    EventKind::SessionStart,
    EventKind::UserPromptSubmit,
    EventKind::UserPromptExpansion,
    EventKind::PreToolUse,
    EventKind::PostToolUse,
    EventKind::PostToolUseFailure,
    EventKind::SubagentStart,
    EventKind::SubagentStop,
    EventKind::Stop,
    // The host applies changed settings at once; this is the last event that removed entries get.
    EventKind::ConfigChange,
];

/// The events that need an entry where the gates of a project are for events of these `kinds`.
///
/// Never `WorktreeCreate`: a hook for it replaces git's own worktree creation.
pub fn required_events(kinds: impl IntoIterator<Item = EventKind>) -> Vec<EventKind> {
    let mut events = NEEDED.to_vec();
    for kind in kinds {
        if kind != EventKind::WorktreeCreate && !events.contains(&kind) {
            events.push(kind);
        }
    }
    events
}
