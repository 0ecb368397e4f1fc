//! The compiled file: an index, then the modes, each with a checksum, so that an event reads only what it needs.

use super::CacheIndex;
use super::key::CacheKey;
use crate::disk;
use crate::event::Event;
use crate::event::command::same_command;
use crate::mode::{Catalogue, EventFilter, Mode, ModeOrigin, Worker};
use crate::paths::{checksum, hash};
use crate::user_folder::create_private;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// How much is read at once: the whole file in most projects.
const BLOCK: u64 = if READS_WHOLE { u64::MAX } else { 64 * 1024 };
/// Whether the file is read whole and closed: Windows does not replace a file that is open.
const READS_WHOLE: bool = cfg!(windows);

/// The length of a checksum and of the length of the index.
const SUM: usize = 8;
const LENGTH: usize = 4;

/// Modes and their origins.
pub(super) type LoadedModes = (Vec<Mode>, Vec<ModeOrigin>);

/// A compiled file that is up to date.
pub(super) struct CompiledModes {
    file: Option<File>,
    /// The beginning of the file.
    bytes: Vec<u8>,
    /// Modes that see events while they are not active.
    watching: Vec<(ModeEntry, EventFilter)>,
    /// Where the list of all modes begins, which few events need.
    directory: usize,
    /// Where the modes begin.
    start: usize,
}

/// All modes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Directory {
    entries: Vec<ModeEntry>,
    /// The commands, each with the number of its mode.
    commands: Vec<(String, usize)>,
    /// The numbers of modes of which other modes are steps.
    flows: Vec<usize>,
}

/// One mode in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct ModeEntry {
    /// Its place after the index.
    offset: usize,
    length: usize,
    /// The hash of its namespace.
    namespace: u64,
}

impl CompiledModes {
    /// Opens a file with the given key.
    pub(super) fn open(path: &Path, key: &CacheKey) -> Option<(Self, CacheIndex)> {
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
        let (index, rest) = postcard::take_from_bytes::<CacheIndex>(rest).ok()?;
        let (watching, rest) = postcard::take_from_bytes(rest).ok()?;
        let directory = start.checked_sub(rest.len())?;
        let file = (!READS_WHOLE).then_some(file);
        Some((Self { file, bytes, watching, directory, start }, index))
    }

    /// All modes; `None` if one of them is damaged.
    pub(super) fn all(&self) -> Option<LoadedModes> {
        self.load(&self.directory()?.entries)
    }

    /// The modes in `busy` namespaces, those that `event` activates, and inactive ones that match it. With a flow among
    /// the active ones, all modes.
    pub(super) fn needed(&self, event: &Event, busy: &[&str]) -> Option<LoadedModes> {
        let watching = self.watching.iter().filter(|(_, filter)| filter.matches(event));
        let mut wanted: Vec<ModeEntry> = watching.map(|(entry, _)| *entry).collect();
        let command = event.command();
        if command.is_some() || !busy.is_empty() {
            let directory = self.directory()?;
            let busy: Vec<u64> = busy.iter().map(|namespace| hash(namespace.as_bytes())).collect();
            let activated = |own: &&(String, usize)| command.is_some_and(|call| same_command(&own.0, call.name));
            let activated: Vec<usize> = directory.commands.iter().filter(activated).map(|(_, index)| *index).collect();
            let is_active =
                |(index, entry): &(usize, &ModeEntry)| busy.contains(&entry.namespace) || activated.contains(index);
            let active: Vec<(usize, &ModeEntry)> = directory.entries.iter().enumerate().filter(is_active).collect();
            if active.iter().any(|(index, _)| directory.flows.contains(index)) {
                return self.load(&directory.entries);
            }
            wanted.extend(active.into_iter().map(|(_, entry)| *entry));
            wanted.sort_unstable();
            wanted.dedup();
        }
        self.load(&wanted)
    }

    fn directory(&self) -> Option<Directory> {
        postcard::from_bytes(self.bytes.get(self.directory..self.start)?).ok()
    }

    fn load(&self, wanted: &[ModeEntry]) -> Option<LoadedModes> {
        wanted.iter().map(|entry| self.mode(entry)).collect()
    }

    fn mode(&self, entry: &ModeEntry) -> Option<(Mode, ModeOrigin)> {
        let from = self.start.checked_add(entry.offset)?;
        if let Some(bytes) = self.bytes.get(from..from.checked_add(entry.length)?) {
            return decoded(bytes);
        }
        let mut file = self.file.as_ref()?;
        file.seek(SeekFrom::Start(from as u64)).ok()?;
        let mut bytes = Vec::with_capacity(entry.length);
        file.take(entry.length as u64).read_to_end(&mut bytes).ok()?;
        decoded(&bytes)
    }
}

/// The bytes, if they have this checksum.
pub(super) fn checked<'a>(sum: &[u8], bytes: &'a [u8]) -> Option<&'a [u8]> {
    (sum == checksum(bytes).to_le_bytes()).then_some(bytes)
}

fn decoded(bytes: &[u8]) -> Option<(Mode, ModeOrigin)> {
    let (sum, mode) = bytes.split_at_checked(SUM)?;
    postcard::from_bytes(checked(sum, mode)?).ok()
}

pub(super) fn with_checksum(bytes: &[u8]) -> Vec<u8> {
    [&checksum(bytes).to_le_bytes(), bytes].concat()
}

/// Writes the compiled file; if that fails, the next event reads the YAML again.
pub(super) fn write(path: &Path, key: &CacheKey, index: &CacheIndex, catalogue: &Catalogue) {
    let Some(bytes) = file_of(key, index, catalogue) else { return };
    disk::remove_stale_temporaries(path);
    let made = path.parent().map_or(Ok(()), create_private);
    let _: io::Result<()> = made.and_then(|()| disk::write(path, &bytes, disk::LinkPolicy::Replace));
}

fn file_of(key: &CacheKey, index: &CacheIndex, catalogue: &Catalogue) -> Option<Vec<u8>> {
    let mut directory = Directory::default();
    let mut watching = Vec::new();
    let mut modes: Vec<u8> = Vec::new();
    for (mode, origin) in catalogue.entries() {
        let bytes = with_checksum(&postcard::to_stdvec(&(mode, origin)).ok()?);
        // A mode that does not decode to itself would be missing later, and its gates open.
        decoded(&bytes).filter(|again| again.0 == *mode && again.1 == *origin)?;
        let (offset, length) = (modes.len(), bytes.len());
        let entry = ModeEntry { offset, length, namespace: hash(mode.namespace.as_bytes()) };
        directory.add(mode, entry);
        watching.extend(Some(EventFilter::of(mode)).filter(|filter| !filter.is_empty()).map(|filter| (entry, filter)));
        modes.extend(bytes);
    }
    let lists = [postcard::to_stdvec(&watching), postcard::to_stdvec(&directory)];
    let parts = [postcard::to_stdvec(key), postcard::to_stdvec(index)].into_iter().chain(lists);
    let index = parts.collect::<Result<Vec<_>, _>>().ok()?.concat();
    let length = u32::try_from(index.len()).ok()?;
    Some([&checksum(&index).to_le_bytes()[..], &length.to_le_bytes(), &index, &modes].concat())
}

impl Directory {
    fn add(&mut self, mode: &Mode, entry: ModeEntry) {
        let index = self.entries.len();
        self.entries.push(entry);
        self.commands.extend(mode.commands.iter().map(|command| (command.clone(), index)));
        if mode.phases.iter().any(|phase| matches!(phase.worker, Worker::Mode(_))) {
            self.flows.push(index);
        }
    }
}
