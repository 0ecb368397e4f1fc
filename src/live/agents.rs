//! Which type is an agent of some id: the journal's map, the host's own notes, the transcript.

use crate::facts::Answer;
use crate::journal::ActivityLog;
use crate::transcript::AgentMetadata;
use std::path::Path;

/// The type of the agent `id`, whose transcript the host says is at `path`.
pub(super) fn agent(ledger: Result<&ActivityLog, String>, id: &str, path: Option<&str>) -> Answer {
    let known = ledger.ok().and_then(|ledger| ledger.agent(id));
    Answer::Agent(
        known.or_else(|| path.and_then(|path| from_meta(Path::new(path)).or_else(|| from_transcript(Path::new(path))))),
    )
}

/// `agent-<id>.meta.json` lies beside `agent-<id>.jsonl`.
fn from_meta(path: &Path) -> Option<String> {
    AgentMetadata::read(&std::fs::read(path.with_extension("meta.json")).ok()?).agent_type.0
}

/// Some hosts write the agent's type on every line of its transcript.
fn from_transcript(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    bytes.split(|byte| *byte == b'\n').take(20).find_map(|line| AgentMetadata::read(line).agent_type.0)
}
