//! What the file system says about a file: equal stamps mean that its content need not be read.

use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileStamp {
    size: u64,
    modified: u64,
    /// When anything about the file changed, in nanoseconds; unlike `modified`, no program can set it.
    pub(super) changed: u64,
    inode: u64,
    links: u64,
}

impl FileStamp {
    pub(super) fn of(path: &Path) -> Option<Self> {
        let meta = path.metadata().ok()?;
        let modified = nanoseconds(meta.modified().ok()?);
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let changed = i128::from(meta.ctime()) * 1_000_000_000 + i128::from(meta.ctime_nsec());
            let changed = u64::try_from(changed).unwrap_or_default();
            Some(Self { size: meta.len(), modified, changed, inode: meta.ino(), links: meta.nlink() })
        }
        #[cfg(not(unix))]
        Some(Self { size: meta.len(), modified, changed: modified, inode: 0, links: 1 })
    }
}

/// Whether somebody may execute a file; `None` where the system does not say.
#[cfg(unix)]
pub(crate) fn is_executable(path: &Path) -> Option<bool> {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().ok().map(|meta| meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(crate) fn is_executable(_: &Path) -> Option<bool> {
    None
}

fn nanoseconds(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).ok().and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or_default()
}
