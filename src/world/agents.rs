//! The type of an agent, from the journal, the host's metadata or the transcript.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use crate::facts::MessageAddressee;
use crate::host::ids::teammate_name;
use crate::host::transcript::AgentMetadata;
use crate::state::journal::ActivityLog;
use base::disk;
use std::path::{Path, PathBuf};

/// How many agents of a session are looked through for a name.
const AGENTS: usize = 1000;

/// The type of the agent `id` with this transcript.
pub(super) fn agent_type<'a>(
    activity: impl FnOnce() -> Option<&'a ActivityLog>,
    id: &str,
    transcript: Option<&Path>,
) -> Option<String> {
    let recorded = || activity().and_then(|activity| activity.agent(id));
    if teammate_name(id).is_some() {
        // The small file first: a teammate is asked for at every tool call.
        return transcript.and_then(teammate_type).or_else(recorded);
    }
    let from_metadata = |path: &Path| metadata(path).and_then(|metadata| metadata.agent_type);
    recorded().or_else(|| transcript.and_then(|path| from_metadata(path).or_else(|| from_transcript(path))))
}

/// The agent that a message to `to` reaches, in the session with this transcript.
pub(super) fn addressee(
    activity: Option<&ActivityLog>,
    to: &str,
    transcript: Option<&Path>,
) -> Option<MessageAddressee> {
    let recorded = activity.and_then(|activity| activity.addressee(to));
    recorded.or_else(|| {
        let folder = transcript?.with_extension("").join("subagents");
        let path = Some(folder.join(format!("agent-{to}.jsonl"))).filter(|_| is_plain(to));
        let path = path.filter(|path| metadata(path).is_some()).or_else(|| named(&folder, to))?;
        let id = path.file_stem()?.to_str()?.strip_prefix("agent-")?.to_owned();
        let agent = agent_type(|| activity, &id, Some(&path))?;
        Some(MessageAddressee { id, agent, running: false })
    })
}

fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// The transcript of the newest agent with this name.
fn named(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.filter_map(Result::ok).take(2 * AGENTS);
    let paths = entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(".meta.json"));
    let mut paths: Vec<_> =
        paths.map(|entry| (entry.metadata().and_then(|meta| meta.modified()).ok(), entry.path())).collect();
    paths.sort_unstable();
    let transcripts = paths.into_iter().rev().map(|(_, path)| path.with_extension("").with_extension("jsonl"));
    let mut transcripts = transcripts.filter(|path| metadata(path).and_then(|meta| meta.name).as_deref() == Some(name));
    transcripts.next()
}

/// `agent-<id>.meta.json` is in the same folder as `agent-<id>.jsonl`.
fn metadata(transcript: &Path) -> Option<AgentMetadata> {
    Some(AgentMetadata::parse(&disk::read(&transcript.with_extension("meta.json"), disk::SMALL).ok()?))
}

fn teammate_type(transcript: &Path) -> Option<String> {
    let metadata = metadata(transcript)?;
    metadata.spawned_agent_type.or(metadata.custom_agent_type)
}

/// Some hosts write the agent's type on every line of its transcript.
fn from_transcript(path: &Path) -> Option<String> {
    let bytes = disk::read(path, disk::LARGEST).ok()?;
    bytes.split(|byte| *byte == b'\n').take(20).find_map(|line| AgentMetadata::parse(line).agent_type)
}
