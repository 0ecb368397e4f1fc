//! Finds the records that a resumed session has copied from the transcript of another one.
//!
//! The copies have new ids and the name of the new session, but the ids of their tool calls are those of the original.

use crate::host::transcript::TranscriptRecord;
use crate::replay::inputs::{InputKind, ReplayInput};
use crate::replay::transcript::{RecordKey, record_key};
use base::disk::{self, LARGEST};
use memchr::memmem::Finder;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// How the host writes a tool call, up to its id.
const CALL: &str = r#""type":"tool_use","id":""#;

/// Notes in each transcript which of its records are copies; sessions are resumed in their own project only.
pub(crate) fn mark_copies(inputs: &mut [ReplayInput]) {
    let mut folders: HashMap<PathBuf, Vec<usize>> = HashMap::new();
    for (at, input) in inputs.iter().enumerate().filter(|(_, input)| input.kind == InputKind::Transcript) {
        folders.entry(input.main().parent().unwrap_or(Path::new("")).to_owned()).or_default().push(at);
    }
    for folder in folders.into_values().filter(|folder| folder.len() > 1) {
        let related = with_common_calls(inputs, &folder);
        let mut records: Vec<(usize, KeyedRecords)> =
            related.iter().filter_map(|at| Some((*at, keyed_records(inputs.get(*at)?.main())))).collect();
        sort_originals_first(&mut records);
        let mut known: HashSet<RecordKey> = HashSet::new();
        for (at, records) in records {
            let keys: HashSet<RecordKey> = records.into_iter().map(|(key, _)| key).collect();
            if let Some(input) = inputs.get_mut(at) {
                input.copied = keys.intersection(&known).copied().collect();
            }
            known.extend(keys);
        }
    }
}

/// The transcripts that have a call in common with another one.
fn with_common_calls(inputs: &[ReplayInput], folder: &[usize]) -> BTreeSet<usize> {
    let finder = Finder::new(CALL);
    let mut owners: HashMap<u64, usize> = HashMap::new();
    let mut related = BTreeSet::new();
    for at in folder {
        let text = inputs.get(*at).and_then(|input| disk::read(input.main(), LARGEST).ok()).unwrap_or_default();
        for found in finder.find_iter(&text) {
            let id = text.get(found + CALL.len()..).unwrap_or_default().split(|byte| *byte == b'"').next();
            let mut hasher = DefaultHasher::new();
            id.hash(&mut hasher);
            let owner = *owners.entry(hasher.finish()).or_insert(*at);
            if owner != *at {
                related.extend([owner, *at]);
            }
        }
    }
    related
}

/// The messages of a transcript, each with its time.
type KeyedRecords = Vec<(RecordKey, Option<String>)>;

fn keyed_records(path: &Path) -> KeyedRecords {
    let text = disk::read(path, LARGEST).unwrap_or_default();
    let records = text.split(|byte| *byte == b'\n').filter_map(TranscriptRecord::parse);
    records.filter_map(|record| Some((record_key(&record)?, record.timestamp.into_string()))).collect()
}

/// Sorts originals before their copies: an original has no records of its own, or earlier ones than its copy.
fn sort_originals_first(records: &mut [(usize, KeyedRecords)]) {
    let mut counts: HashMap<RecordKey, usize> = HashMap::new();
    for (_, records) in records.iter() {
        let keys: HashSet<RecordKey> = records.iter().map(|(key, _)| *key).collect();
        for key in keys {
            *counts.entry(key).or_default() += 1;
        }
    }
    records.sort_by_cached_key(|(at, records)| {
        let own = records.iter().find(|(key, _)| counts.get(key) == Some(&1)).map(|(_, time)| time.clone());
        (own, records.len(), *at)
    });
}
