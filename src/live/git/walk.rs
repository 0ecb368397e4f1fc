//! Compares the worktree with the index: lists each folder and stats each tracked file in it.
//!
//! Names are compared only where they can differ: if all tracked files are in a folder, and it has as many entries as the
//! index, there are no others.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Instant;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, openat, statat};
use rustix::io::Errno;

use super::LayerError;
use super::checkout::text;
use super::dir_listing::{DirListing, EntryCounts, EntryType};
use super::folder_task::{FolderEntries, FolderEntry, FolderTask, joined};
use super::index::GitIndex;
use super::path_scope::PathScope;
use super::time_limit::{GIT_TIMEOUT, STACK, now};
use crate::crash;

/// With fewer entries, a second thread is not worth its start.
const MANY: usize = 300;
/// With fewer entries, it is not worth asking for the number of processors.
const VERY_MANY: usize = 5_000;
/// More threads only wait for the file system.
const THREADS: usize = 4;

/// The result of a walk; entries are positions in the index.
#[derive(Debug, Default)]
pub(super) struct WalkResult {
    /// Tracked, but missing.
    pub(super) missing: Vec<usize>,
    /// In conflict.
    pub(super) conflicts: Vec<usize>,
    /// Only intended to be added.
    pub(super) intended: Vec<usize>,
    /// Only the content shows whether they changed.
    pub(super) doubtful: Vec<usize>,
    /// Files that are not tracked.
    pub(super) files: Vec<Vec<u8>>,
    /// Folders without tracked files.
    pub(super) folders: Vec<Vec<u8>>,
}

/// A walk over the worktree.
pub(super) struct WorktreeWalk<'a> {
    index: &'a GitIndex,
    root: OwnedFd,
    /// Whether the executable bit counts.
    modes: bool,
    /// Whether all names are compared.
    exact: bool,
    begun: Instant,
    queue: Mutex<TaskQueue>,
    wakeup: Condvar,
}

/// What a thread uses again for each folder.
#[derive(Default)]
struct FolderBuffers<'a> {
    names: DirListing,
    items: Vec<FolderEntry<'a>>,
    found: Vec<FolderTask>,
}

#[derive(Default)]
struct TaskQueue {
    jobs: Vec<FolderTask>,
    busy: usize,
    waiting: usize,
    failure: Option<LayerError>,
    /// Whether a folder of the index is missing where the number of folders is right.
    doubt: bool,
}

impl<'a> WorktreeWalk<'a> {
    /// A walk from `root`; `modes` says whether the executable bit counts.
    pub(super) fn new(root: &Path, index: &'a GitIndex, modes: bool) -> Result<Self, LayerError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(root, flags, Mode::empty())
            .map_err(|error| LayerError::unreadable(root, &error.into()))?;
        let (queue, wakeup) = (Mutex::default(), Condvar::new());
        Ok(Self { index, root, modes, exact: false, begun: now(), queue, wakeup })
    }

    /// Walks the asked paths.
    pub(super) fn run(mut self, asked: &PathScope) -> Result<WalkResult, LayerError> {
        let (mut seen, mut queue) = self.pass(asked)?;
        if queue.doubt {
            self.exact = true;
            (seen, queue) = self.pass(asked)?;
        }
        queue.failure.map_or(Ok(seen), Err)
    }

    fn pass(&self, asked: &PathScope) -> Result<(WalkResult, TaskQueue), LayerError> {
        let mut seen = WalkResult::default();
        for path in asked.paths() {
            self.start(path, &mut seen)?;
        }
        let threads = match self.index.entries.len() {
            0..MANY => 1,
            MANY..VERY_MANY => 2,
            _ => std::thread::available_parallelism().map_or(1, usize::from).min(THREADS),
        };
        std::thread::scope(|scope| {
            let start = |_| Builder::new().stack_size(STACK).spawn_scoped(scope, crash::as_helper(|| self.work())).ok();
            let helpers: Vec<_> = (1..threads).map_while(start).collect();
            seen.append(self.work());
            for helper in helpers {
                match helper.join() {
                    Ok(more) => seen.append(more),
                    Err(_) => return Err(LayerError::Unsure("a thread ended early".to_owned())),
                }
            }
            Ok(())
        })?;
        Ok((seen, std::mem::take(&mut *self.lock())))
    }

    /// Queues an asked folder, or looks at an asked file at once.
    fn start(&self, path: &[u8], seen: &mut WalkResult) -> Result<(), LayerError> {
        let (from, to) = self.index.inside(path, 0, self.index.entries.len());
        let sort = self.sort(path)?;
        if sort == Some(EntryType::Folder) {
            if from < to || path.is_empty() || self.index.has_links(path) {
                self.lock().jobs.push(FolderTask { path: path.to_vec(), from, to });
            } else {
                seen.folders.push(path.to_vec());
            }
        } else {
            (from..to).for_each(|at| self.missing(at, seen));
        }
        let start = self.index.entries.partition_point(|entry| self.index.path(entry) < path);
        let exact = start..start + self.index.exactly(path).len();
        match sort {
            Some(EntryType::File | EntryType::Other) if !exact.is_empty() => {
                exact.for_each(|at| self.look(self.root.as_fd(), path, at, seen));
            }
            Some(EntryType::File) => seen.files.push(path.to_vec()),
            _ => exact.for_each(|at| self.missing(at, seen)),
        }
        Ok(())
    }

    /// What is at `path`, reached through real folders only.
    fn sort(&self, path: &[u8]) -> Result<Option<EntryType>, LayerError> {
        let mut sort = EntryType::Folder;
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| end);
        for end in ends.chain((!path.is_empty()).then_some(path.len())) {
            if sort != EntryType::Folder {
                return Ok(None);
            }
            let part = path.get(..end).unwrap_or_default();
            sort = match statat(&self.root, part, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(seen) => FileType::from_raw_mode(seen.st_mode).into(),
                Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
                Err(error) => return Err(LayerError::unreadable(&text(part), &error.into())),
            };
        }
        Ok(Some(sort))
    }

    /// Takes folders from the queue until there are none, and none can come.
    fn work(&self) -> WalkResult {
        let (mut seen, mut buffers) = (WalkResult::default(), FolderBuffers::default());
        let mut queue = self.lock();
        loop {
            let Some(job) = queue.jobs.pop() else {
                if queue.busy == 0 || queue.failure.is_some() || queue.doubt {
                    return seen;
                }
                queue.waiting += 1;
                queue = self.wakeup.wait(queue).unwrap_or_else(PoisonError::into_inner);
                queue.waiting -= 1;
                continue;
            };
            queue.busy += 1;
            drop(queue);
            let result = self.folder(&job, &mut buffers, &mut seen);
            let result = if self.begun.elapsed() < GIT_TIMEOUT { result } else { Err(too_long()) };
            queue = self.lock();
            queue.busy -= 1;
            match result {
                Ok(true) => queue.jobs.append(&mut buffers.found),
                Ok(false) => {
                    queue.jobs.clear();
                    queue.doubt = true;
                }
                Err(error) => {
                    queue.jobs.clear();
                    queue.failure = Some(error);
                }
            }
            // Each notification is a system call, even if no thread waits.
            if queue.waiting > 0 && (queue.busy == 0 || queue.jobs.len() > 1) {
                self.wakeup.notify_all();
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, TaskQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compares one folder with its entries; `false` if all names have to be compared.
    fn folder(
        &self,
        job: &FolderTask,
        buffers: &mut FolderBuffers<'a>,
        seen: &mut WalkResult,
    ) -> Result<bool, LayerError> {
        let FolderBuffers { names, items, found } = buffers;
        found.clear();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let path: &[u8] = if job.path.is_empty() { b"." } else { &job.path };
        let refused = |error: Errno| LayerError::unreadable(&text(path), &error.into());
        let folder = match openat(&self.root, path, flags, Mode::empty()) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) if !self.exact => return Ok(false),
            // Removed during the walk, so its files are deleted.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                (job.from..job.to).for_each(|at| self.missing(at, seen));
                return Ok(true);
            }
            folder => folder.map_err(refused)?,
        };
        let folder = folder.as_fd();
        if !self.exact {
            items.clear();
            items.extend(FolderEntries::new(self.index, job));
            let counts = names.counts(folder).map_err(refused)?;
            if self.has_all(folder, items, counts, seen) {
                found.extend(items.iter().filter(|item| item.is_folder()).map(|item| item.job(&job.path)));
                return Ok(true);
            }
        }
        names.list(folder).map_err(refused)?;
        let mut items = FolderEntries::new(self.index, job).peekable();
        for (name, sort) in names.iter() {
            while let Some(item) = items.next_if(|item| item.name < name) {
                item.entries().for_each(|at| self.missing(at, seen));
            }
            match items.next_if(|item| item.name == name) {
                Some(item) if sort == EntryType::Folder => found.push(item.job(&job.path)),
                Some(item) => item.entries().for_each(|at| self.look(folder, name, at, seen)),
                None => self.unknown(joined(&job.path, name), sort, found, seen),
            }
        }
        items.for_each(|item| item.entries().for_each(|at| self.missing(at, seen)));
        Ok(true)
    }

    /// Whether a folder with these `counts` has all `items` of the index and nothing else, provided that the folders among
    /// them exist. Files that may have changed are recorded only then.
    fn has_all(
        &self,
        folder: BorrowedFd<'_>,
        items: &[FolderEntry<'_>],
        counts: EntryCounts,
        seen: &mut WalkResult,
    ) -> bool {
        let folders = items.iter().filter(|item| item.is_folder()).count();
        if counts != (EntryCounts { files: items.len() - folders, folders, others: 0 }) {
            return false;
        }
        let known = seen.doubtful.len();
        for item in items.iter().filter(|item| !item.is_folder()) {
            let range = item.entries();
            let entry = self.index.entries.get(range.start).filter(|entry| range.len() == 1 && entry.is_plain());
            let now = statat(folder, item.name, AtFlags::SYMLINK_NOFOLLOW).ok();
            let (Some(entry), Some(now)) = (entry, now.filter(is_file)) else {
                seen.doubtful.truncate(known);
                return false;
            };
            if !entry.is_proven(&now, self.modes, self.index.written) {
                seen.doubtful.push(range.start);
            }
        }
        true
    }

    /// Records an untracked file or folder.
    fn unknown(&self, path: Vec<u8>, sort: EntryType, found: &mut Vec<FolderTask>, seen: &mut WalkResult) {
        match sort {
            EntryType::Folder if self.index.has_links(&path) => found.push(FolderTask { path, from: 0, to: 0 }),
            EntryType::Folder => seen.folders.push(path),
            EntryType::File => seen.files.push(path),
            EntryType::Other => {}
        }
    }

    /// Checks a tracked file that exists, by its `name` in `folder`.
    fn look(&self, folder: BorrowedFd<'_>, name: &[u8], at: usize, seen: &mut WalkResult) {
        let Some(entry) = self.index.entries.get(at) else {
            return;
        };
        if entry.is_conflicted() {
            seen.conflicts.push(at);
        } else if entry.is_intended() {
            seen.intended.push(at);
        } else {
            let proven = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|now| entry.is_proven(&now, self.modes, self.index.written));
            if !proven {
                seen.doubtful.push(at);
            }
        }
    }

    /// Records a missing tracked file.
    fn missing(&self, at: usize, seen: &mut WalkResult) {
        match self.index.entries.get(at) {
            Some(entry) if entry.is_conflicted() => seen.conflicts.push(at),
            _ => seen.missing.push(at),
        }
    }
}

/// The error for a walk that is not worth finishing.
fn too_long() -> LayerError {
    LayerError::Unreadable(format!("the worktree could not be compared in {} seconds", GIT_TIMEOUT.as_secs()))
}

/// Whether this is a file or a symbolic link.
fn is_file(seen: &Stat) -> bool {
    EntryType::from(FileType::from_raw_mode(seen.st_mode)) == EntryType::File
}

impl WalkResult {
    /// Whether the worktree is as the index says.
    pub(super) fn is_empty(&self) -> bool {
        let positions = [&self.missing, &self.conflicts, &self.intended, &self.doubtful];
        let paths = [&self.files, &self.folders];
        positions.iter().all(|list| list.is_empty()) && paths.iter().all(|list| list.is_empty())
    }

    fn append(&mut self, mut more: Self) {
        self.missing.append(&mut more.missing);
        self.conflicts.append(&mut more.conflicts);
        self.intended.append(&mut more.intended);
        self.doubtful.append(&mut more.doubtful);
        self.files.append(&mut more.files);
        self.folders.append(&mut more.folders);
    }
}
