//! The type of an agent, from the journal, the host's metadata or the transcript.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use crate::journal::ActivityLog;
use crate::transcript::AgentMetadata;
use std::path::Path;

/// The type of the agent `id` with this transcript.
pub(super) fn agent_type(activity: Option<&ActivityLog>, id: &str, transcript: Option<&Path>) -> Option<String> {
    let recorded = activity.and_then(|activity| activity.agent(id));
    recorded.or_else(|| transcript.and_then(|path| from_metadata(path).or_else(|| from_transcript(path))))
}

/// `agent-<id>.meta.json` is in the same folder as `agent-<id>.jsonl`.
fn from_metadata(transcript: &Path) -> Option<String> {
    AgentMetadata::read(&std::fs::read(transcript.with_extension("meta.json")).ok()?).agent_type.0
}

/// Some hosts write the agent's type on every line of its transcript.
fn from_transcript(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    bytes.split(|byte| *byte == b'\n').take(20).find_map(|line| AgentMetadata::read(line).agent_type.0)
}
