//! The host's settings, with modegate's hook entries in them.
//!
//! Only text in and text out. A settings file is the user's: what is not ours stays as it is, byte for byte.

mod edit;
mod entry;

pub use edit::{SettingsError, with_entries, without_entries};
pub use entry::{HookEntry, entries_in};

use crate::event::EventKind;
use crate::mode::Catalogue;

/// Longer than anything modegate waits for: a hook that the host gives up on is a gate that stands open.
pub const TIMEOUT: u64 = 75;

/// The program as it stands in a project's settings; the host fills the folder in.
pub const PROJECT_COMMAND: &str = "${CLAUDE_PROJECT_DIR}/.claude/hooks/modegate";

/// The program where it is found on PATH.
pub const PATH_COMMAND: &str = "modegate";

/// The events without which modes do not work.
const NEEDED: [EventKind; 9] = [
    EventKind::SessionStart,
    EventKind::UserPromptSubmit,
    EventKind::UserPromptExpansion,
    EventKind::PreToolUse,
    EventKind::PostToolUse,
    EventKind::PostToolUseFailure,
    EventKind::SubagentStart,
    EventKind::SubagentStop,
    EventKind::Stop,
];

/// The events that a project's modes must hear, and no other.
///
/// Never `WorktreeCreate`: whoever listens to it takes the place of git there.
#[must_use]
pub fn required_events(catalogue: &Catalogue) -> Vec<EventKind> {
    let mut kinds = NEEDED.to_vec();
    let gates = catalogue.modes.iter().flat_map(|mode| &mode.gates);
    for kind in gates.flat_map(|gate| &gate.on).flat_map(|trigger| trigger.on.kinds()) {
        if kind != EventKind::WorktreeCreate && !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}
