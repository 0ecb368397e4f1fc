//! The compiled file: an index, then the modes, each with a checksum, so that an event reads only what it needs.

use super::CacheIndex;
use super::key::CacheKey;
use crate::disk;
use crate::event::Event;
use crate::event::command::same_command;
use crate::mode::{Catalogue, EventFilter, Mode, ModeOrigin, Worker, decode_shared};
use crate::paths::{checksum, hash};
use crate::user_folder::create_private;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// How much is read at once: the index in most projects. Most events need no mode, and every page of memory costs more than
/// another call.
const BLOCK: u64 = if READS_WHOLE { u64::MAX } else { 4 * 1024 - 1 };
/// How many modes are read one by one; more are read together.
const FEW: usize = 4;
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
    /// Where the lists of modes begin.
    lists: usize,
    /// Where the modes begin.
    start: usize,
}

/// Modes that see events while they are not active.
type WatchingModes<'a> = Vec<(ModeEntry, EventFilter<'a>)>;

/// All modes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Directory<'a> {
    entries: Vec<ModeEntry>,
    /// The commands, each with the number of its mode.
    #[serde(borrow)]
    commands: Vec<(&'a str, usize)>,
    /// The numbers of modes of which other modes are steps.
    flows: Vec<usize>,
    /// What each mode needs to see while it is active.
    active: Vec<EventFilter<'a>>,
}

/// A mode that is active in a session, or has something to deliver there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BusyMode<'s> {
    /// Its namespace.
    pub namespace: &'s str,
    /// Whether something in its state waits, whatever the event is: a message, a blocked agent or a phase.
    pub waits: bool,
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
    /// Opens a file with the given key, unless it was `opened` before.
    pub(super) fn open(path: &Path, opened: Option<File>, key: &CacheKey) -> Option<(Self, CacheIndex)> {
        let (file, mut bytes) = disk::open_and_read(path, opened, BLOCK).ok()?;
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
        let lists = start.checked_sub(rest.len())?;
        let file = (!READS_WHOLE).then_some(file);
        Some((Self { file, bytes, lists, start }, index))
    }

    /// All modes; `None` if one of them is damaged.
    pub(super) fn all(&self) -> Option<LoadedModes> {
        let (_, rest) = self.watching()?;
        self.load(&directory(rest)?.entries)
    }

    /// The `busy` modes that need to see `event`, those that it activates, and inactive ones that match it. With a flow among
    /// the active ones, all modes.
    pub(super) fn needed(&self, event: &Event, busy: &[BusyMode<'_>]) -> Option<LoadedModes> {
        let (watching, rest) = self.watching()?;
        let watching = watching.iter().filter(|(_, filter)| filter.matches(event));
        let mut wanted: Vec<ModeEntry> = watching.map(|(entry, _)| *entry).collect();
        let command = event.command();
        if command.is_some() || !busy.is_empty() {
            let directory = directory(rest)?;
            let busy: Vec<(u64, bool)> =
                busy.iter().map(|mode| (hash(mode.namespace.as_bytes()), mode.waits)).collect();
            let state = |entry: &ModeEntry| busy.iter().find(|(namespace, _)| *namespace == entry.namespace);
            let activated = |own: &&(&str, usize)| command.is_some_and(|call| same_command(own.0, call.name));
            let activated: Vec<usize> = directory.commands.iter().filter(activated).map(|(_, index)| *index).collect();
            let is_active = |(index, entry): &(usize, &ModeEntry)| state(entry).is_some() || activated.contains(index);
            let active: Vec<(usize, &ModeEntry)> = directory.entries.iter().enumerate().filter(is_active).collect();
            if active.iter().any(|(index, _)| directory.flows.contains(index)) {
                return self.load(&directory.entries);
            }
            let sees = |(index, entry): &(usize, &ModeEntry)| {
                let waits = state(entry).is_some_and(|(_, waits)| *waits);
                let filter = directory.active.get(*index);
                command.is_some() || waits || filter.is_none_or(|filter| filter.matches(event))
            };
            wanted.extend(active.into_iter().filter(sees).map(|(_, entry)| *entry));
            wanted.sort_unstable();
            wanted.dedup();
        }
        self.load(&wanted)
    }

    /// The modes that see events while they are not active, and the directory, which few events need.
    fn watching(&self) -> Option<(WatchingModes<'_>, &[u8])> {
        postcard::take_from_bytes(self.bytes.get(self.lists..self.start)?).ok()
    }

    fn load(&self, wanted: &[ModeEntry]) -> Option<LoadedModes> {
        let end = wanted.iter().map(|entry| entry.offset.saturating_add(entry.length)).max();
        let together = end.filter(|_| wanted.len() > FEW).and_then(|end| self.part(0, end));
        let mode = |entry: &ModeEntry| match &together {
            Some(modes) => decoded(modes, entry.offset..entry.offset.checked_add(entry.length)?),
            None => decoded(&self.part(entry.offset, entry.length)?, 0..entry.length),
        };
        wanted.iter().map(mode).collect()
    }

    /// A part of the modes.
    fn part(&self, offset: usize, length: usize) -> Option<Arc<Vec<u8>>> {
        let from = self.start.checked_add(offset)?;
        if let Some(bytes) = self.bytes.get(from..from.checked_add(length)?) {
            return Some(Arc::new(bytes.to_vec()));
        }
        let mut bytes = Vec::new();
        disk::read_at(self.file.as_ref()?, from as u64, length as u64, &mut bytes).ok()?;
        Some(Arc::new(bytes))
    }
}

fn directory(bytes: &[u8]) -> Option<Directory<'_>> {
    postcard::from_bytes(bytes).ok()
}

/// The bytes, if they have this checksum.
pub(super) fn checked<'a>(sum: &[u8], bytes: &'a [u8]) -> Option<&'a [u8]> {
    (sum == checksum(bytes).to_le_bytes()).then_some(bytes)
}

/// The mode in a part of `bytes`.
fn decoded(bytes: &Arc<Vec<u8>>, part: Range<usize>) -> Option<(Mode, ModeOrigin)> {
    decode_shared(bytes, |bytes| {
        let (sum, mode) = bytes.get(part)?.split_at_checked(SUM)?;
        postcard::from_bytes(checked(sum, mode)?).ok()
    })
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
    let mut watching = WatchingModes::new();
    let mut modes: Vec<u8> = Vec::new();
    for (mode, origin) in catalogue.entries() {
        let bytes = Arc::new(with_checksum(&postcard::to_stdvec(&(mode, origin)).ok()?));
        // A mode that does not decode to itself would be missing later, and its gates open.
        decoded(&bytes, 0..bytes.len()).filter(|again| again.0 == *mode && again.1 == *origin)?;
        let (offset, length) = (modes.len(), bytes.len());
        let entry = ModeEntry { offset, length, namespace: hash(mode.namespace.as_bytes()) };
        directory.add(mode, entry);
        watching.extend(Some(EventFilter::of(mode)).filter(|filter| !filter.is_empty()).map(|filter| (entry, filter)));
        modes.extend_from_slice(&bytes);
    }
    let lists = [postcard::to_stdvec(&watching), postcard::to_stdvec(&directory)];
    let parts = [postcard::to_stdvec(key), postcard::to_stdvec(index)].into_iter().chain(lists);
    let index = parts.collect::<Result<Vec<_>, _>>().ok()?.concat();
    let length = u32::try_from(index.len()).ok()?;
    Some([&checksum(&index).to_le_bytes()[..], &length.to_le_bytes(), &index, &modes].concat())
}

impl<'a> Directory<'a> {
    fn add(&mut self, mode: &'a Mode, entry: ModeEntry) {
        let index = self.entries.len();
        self.entries.push(entry);
        self.active.push(EventFilter::of_active(mode));
        self.commands.extend(mode.commands.iter().map(|command| (command.as_str(), index)));
        if mode.phases.iter().any(|phase| matches!(phase.worker, Worker::Mode(_))) {
            self.flows.push(index);
        }
    }
}
