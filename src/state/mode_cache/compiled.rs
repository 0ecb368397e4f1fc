//! The compiled file: an index, then the modes, each with a checksum, so that an event decodes only those that it needs.

use super::key::CacheKey;
use crate::host::event::Event;
use crate::host::event::command::same_command;
use crate::host::paths::checksum;
use crate::policy::mode::{Catalogue, EventFilter, Mode, ModeOrigin, Worker};
use crate::state::user_folder::create_private;
use base::disk;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Windows does not replace a file that is open, so it is read whole there and closed.
const READS_WHOLE: bool = cfg!(windows);

/// How much is read at once: the index in most projects.
const BLOCK: u64 = if READS_WHOLE { u64::MAX } else { 4 * 1024 - 1 };

/// The length of a checksum and of the length of the index.
const SUM: usize = 8;
const LENGTH: usize = 4;

pub(super) type LoadedModes = (Vec<Mode>, Vec<ModeOrigin>);

/// A compiled file that is up to date.
pub(super) struct CompiledModes {
    file: Option<File>,
    bytes: Vec<u8>,
    list: usize,
    start: usize,
}

#[derive(Debug, Serialize, Deserialize)]
struct ModeEntry<'a> {
    /// Its place after the index.
    offset: usize,
    length: usize,
    namespace: &'a str,
    #[serde(borrow)]
    commands: Vec<Cow<'a, str>>,
    /// Whether other modes are its steps.
    is_flow: bool,
    /// The events that it sees while it is not active.
    filter: EventFilter<'a>,
}

impl CompiledModes {
    /// Opens a file with the given key; returns also the catalogue without its modes.
    pub(super) fn open(path: &Path, key: &CacheKey) -> Option<(Self, Catalogue)> {
        let (file, mut bytes) = disk::open_and_read(path, BLOCK).ok()?;
        let length: [u8; LENGTH] = bytes.get(SUM..SUM + LENGTH)?.try_into().ok()?;
        let length = usize::try_from(u32::from_le_bytes(length)).ok()?;
        let start = length.checked_add(SUM + LENGTH)?;
        if let Some(missing) = start.checked_sub(bytes.len()).filter(|missing| *missing > 0) {
            (&file).take(missing as u64).read_to_end(&mut bytes).ok()?;
        }
        let index = checked(bytes.get(..SUM)?, bytes.get(SUM + LENGTH..start)?)?;
        let (kept, rest) = postcard::take_from_bytes::<CacheKey>(index).ok()?;
        if !key.accepts(&kept) {
            return None;
        }
        let (catalogue, rest) = postcard::take_from_bytes::<Catalogue>(rest).ok()?;
        let list = start.checked_sub(rest.len())?;
        let file = (!READS_WHOLE).then_some(file);
        Some((Self { file, bytes, list, start }, catalogue))
    }

    /// All modes; `None` if one of them is damaged.
    pub(super) fn all(&self) -> Option<LoadedModes> {
        self.entries()?.iter().map(|entry| self.decoded(entry)).collect()
    }

    /// The modes that are `busy` in the session, those that `event` activates, and inactive ones that match it. With a flow
    /// among the busy ones, all modes.
    pub(super) fn needed(&self, event: &Event, busy: &[&str]) -> Option<LoadedModes> {
        let command = event.command();
        let is_active = |entry: &ModeEntry<'_>| {
            let activates = |own: &Cow<'_, str>| command.is_some_and(|call| same_command(own, call.name));
            busy.contains(&entry.namespace) || entry.commands.iter().any(activates)
        };
        let entries = self.entries()?;
        let needs_all = entries.iter().any(|entry| entry.is_flow && is_active(entry));
        let needed = entries.iter().filter(|entry| needs_all || entry.filter.matches(event) || is_active(entry));
        needed.map(|entry| self.decoded(entry)).collect()
    }

    fn entries(&self) -> Option<Vec<ModeEntry<'_>>> {
        postcard::from_bytes(self.bytes.get(self.list..self.start)?).ok()
    }

    fn decoded(&self, entry: &ModeEntry<'_>) -> Option<(Mode, ModeOrigin)> {
        let from = self.start.checked_add(entry.offset)?;
        if let Some(bytes) = self.bytes.get(from..from.checked_add(entry.length)?) {
            return decoded(bytes);
        }
        let mut bytes = Vec::new();
        disk::read_at(self.file.as_ref()?, from as u64, entry.length as u64, &mut bytes).ok()?;
        decoded(&bytes)
    }
}

fn checked<'a>(sum: &[u8], bytes: &'a [u8]) -> Option<&'a [u8]> {
    (sum == checksum(bytes).to_le_bytes()).then_some(bytes)
}

fn decoded(bytes: &[u8]) -> Option<(Mode, ModeOrigin)> {
    let (sum, mode) = bytes.split_at_checked(SUM)?;
    postcard::from_bytes(checked(sum, mode)?).ok()
}

/// Writes the compiled file; if that fails, the next event reads the YAML again.
pub(super) fn write(path: &Path, key: &CacheKey, catalogue: &Catalogue) {
    let Some(bytes) = encoded(key, catalogue) else { return };
    disk::remove_stale_temporaries(path);
    let made = path.parent().map_or(Ok(()), create_private);
    let _: io::Result<()> = made.and_then(|()| disk::write(path, &bytes, disk::LinkPolicy::Replace));
}

fn encoded(key: &CacheKey, catalogue: &Catalogue) -> Option<Vec<u8>> {
    let mut entries = Vec::new();
    let mut modes: Vec<u8> = Vec::new();
    for (mode, origin) in catalogue.entries() {
        let bytes = postcard::to_stdvec(&(mode, origin)).ok()?;
        let bytes = [&checksum(&bytes).to_le_bytes()[..], &bytes].concat();
        // A mode that does not decode to itself would be missing later, and its gates open.
        decoded(&bytes).filter(|again| again.0 == *mode && again.1 == *origin)?;
        entries.push(ModeEntry {
            offset: modes.len(),
            length: bytes.len(),
            namespace: &mode.namespace,
            commands: mode.commands.iter().map(Cow::from).collect(),
            is_flow: mode.phases.iter().any(|phase| matches!(phase.worker, Worker::Mode(_))),
            filter: EventFilter::of_mode(mode),
        });
        modes.extend(bytes);
    }
    let parts =
        [postcard::to_stdvec(key), postcard::to_stdvec(&catalogue.without_modes()), postcard::to_stdvec(&entries)];
    let index = parts.into_iter().collect::<Result<Vec<_>, _>>().ok()?.concat();
    let length = u32::try_from(index.len()).ok()?;
    Some([&checksum(&index).to_le_bytes()[..], &length.to_le_bytes(), &index, &modes].concat())
}
