//! Opens and reads regular files only: a pipe, a socket or a device could block forever.

#![expect(clippy::disallowed_methods, reason = "an I/O module")]

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The largest file that is read where nothing smaller is enough.
pub const LARGEST: u64 = 256 * 1024 * 1024;
/// The largest program that is compared with the running one; debug builds are large.
pub const PROGRAM: u64 = if cfg!(debug_assertions) { 128 } else { 32 } * 1024 * 1024;
/// The largest file that people or agents write.
pub const SMALL: u64 = 16 * 1024 * 1024;
/// The largest file that configures a program: each start reads all of them, also those of a repository that nobody trusts.
pub const CONFIGURATION: u64 = 512 * 1024;

/// Opens a regular file for reading.
pub fn open(path: &Path) -> io::Result<File> {
    open_sized(path).map(|(file, _)| file)
}

/// Opens a regular file for reading; returns its size, too.
pub fn open_sized(path: &Path) -> io::Result<(File, u64)> {
    open_with(OpenMode::Read, path, Links::Follow).map(|(file, meta)| (file, meta.len()))
}

/// Opens a regular file for appending, and creates it if it is missing; only the user can read it and its folder, which
/// must not be a link. Returns its size, too.
pub fn open_append(path: &Path) -> io::Result<(File, u64)> {
    path.parent().map_or(Ok(()), super::refuse_link)?;
    let (file, meta) = open_with(OpenMode::Append, path, Links::Refuse)?;
    if meta.len() == 0 || is_shared(&meta) {
        make_private(&file, path);
    }
    Ok((file, meta.len()))
}

/// Whether others can read or write a file.
#[cfg(unix)]
fn is_shared(meta: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::mode(meta) & 0o077 != 0
}

/// Takes the permissions of others on a file and its folder away; where that is not possible, they stay.
#[cfg(unix)]
fn make_private(file: &File, path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let _: io::Result<()> = file.set_permissions(PermissionsExt::from_mode(0o600));
    if let Some(folder) = path.parent().filter(|folder| folder.metadata().is_ok_and(|meta| is_shared(&meta))) {
        let _: io::Result<()> = std::fs::set_permissions(folder, PermissionsExt::from_mode(0o700));
    }
}

#[cfg(not(unix))]
fn is_shared(_: &Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn make_private(_: &File, _: &Path) {}

/// A regular file of lines that is read as a whole and can get another line.
#[derive(Debug)]
pub struct LineFile {
    file: File,
    /// Its content when it was opened.
    bytes: Vec<u8>,
}

impl LineFile {
    /// Opens and reads a file of at most `limit` bytes, unless there is a link in its place.
    pub fn read(path: &Path, limit: u64) -> io::Result<Self> {
        let (file, meta) = open_with(OpenMode::Extend, path, Links::Refuse)?;
        let (file, bytes) = read_opened(file, &meta, limit)?;
        Ok(Self { file, bytes })
    }

    /// Appends a line to the file as it was opened, unless it then has more than `longest` bytes; `sync` waits for the disk.
    /// After an error, the file is as it was.
    pub fn append(mut self, line: &[u8], longest: u64, sync: bool) -> io::Result<()> {
        let size = self.bytes.len() as u64;
        if size + line.len() as u64 > longest {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if !self.bytes.ends_with(b"\n") {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let written = self.file.write_all(line).and_then(|()| if sync { self.file.sync_data() } else { Ok(()) });
        written.inspect_err(|_| _ = self.file.set_len(size))
    }
}

/// Opens a regular file that serves as a lock or that is written in place, and creates it if it is missing.
pub fn open_lock(path: &Path) -> io::Result<(File, Metadata)> {
    open_with(OpenMode::Lock, path, Links::Refuse)
}

/// Reads a regular file of at most `limit` bytes.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_with(path, limit, Links::Follow)
}

/// Reads a regular file of at most `limit` bytes, unless there is a link in its place.
pub fn read_unlinked(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_with(path, limit, Links::Refuse)
}

fn read_with(path: &Path, limit: u64, links: Links) -> io::Result<Vec<u8>> {
    let (file, meta) = open_with(OpenMode::Read, path, links)?;
    read_opened(file, &meta, limit).map(|(_, bytes)| bytes)
}

/// Reads a file of at most `limit` bytes that was just opened.
fn read_opened(file: File, meta: &Metadata, limit: u64) -> io::Result<(File, Vec<u8>)> {
    if meta.len() > limit {
        return Err(too_large(limit));
    }
    // Files in /proc are larger than they say; others may grow while they are read.
    let bytes = read_up_to(&file, meta.len(), limit.saturating_add(1))?;
    if bytes.len() as u64 > limit { Err(too_large(limit)) } else { Ok((file, bytes)) }
}

/// Whether a terminal controls this process.
pub fn has_terminal() -> bool {
    !cfg!(unix) || system_open(OpenMode::Read, Path::new("/dev/tty"), Links::Follow).is_ok()
}

/// Opens a regular file and reads its first `size` bytes, or all of a shorter one.
pub fn open_and_read(path: &Path, size: u64) -> io::Result<(File, Vec<u8>)> {
    let (file, meta) = open_with(OpenMode::Read, path, Links::Follow)?;
    let bytes = read_up_to(&file, meta.len().min(size), size)?;
    Ok((file, bytes))
}

/// Reads up to `limit` bytes, with room for as many as are expected, and for a file of `/proc`, which says that it is empty.
fn read_up_to(file: &File, expected: u64, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(expected.max(4_096)).unwrap_or(usize::MAX).saturating_add(1))?;
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a regular file of at most `limit` bytes as UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(read(path, limit)?).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not UTF-8"))
}

/// Reads the last `size` bytes of a regular file.
pub fn read_tail(path: &Path, size: u64) -> io::Result<Vec<u8>> {
    let (mut file, meta) = open_with(OpenMode::Read, path, Links::Follow)?;
    let size = size.min(meta.len());
    file.seek(SeekFrom::Start(meta.len() - size))?;
    read_up_to(&file, size, size)
}

/// Reads up to `size` bytes at `offset` into `bytes`, in place of what is there.
pub fn read_at(file: &File, offset: u64, size: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.clear();
    bytes.try_reserve_exact(usize::try_from(size).unwrap_or(usize::MAX))?;
    let mut file = file;
    file.seek(SeekFrom::Start(offset))?;
    file.take(size).read_to_end(bytes).map(drop)
}

/// What is wrong with a file, in the words of this module or of the kind of error.
pub fn reason(error: &io::Error) -> String {
    error.get_ref().map_or_else(|| error.kind().to_string(), ToString::to_string)
}

/// Whether an error says that there is nothing at a path.
pub fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether a link is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Links {
    Follow,
    /// No link in the place of the file.
    Refuse,
}

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpenMode {
    Read,
    /// Reads and appends to a file that exists.
    Extend,
    /// Reads and appends; a new file is the user's own.
    Append,
    /// Writes, without removing what is there.
    Lock,
}

fn system_open(mode: OpenMode, path: &Path, links: Links) -> io::Result<File> {
    let mut options = File::options();
    match mode {
        OpenMode::Read => options.read(true),
        OpenMode::Extend => options.read(true).append(true),
        OpenMode::Append => options.read(true).append(true).create(true),
        OpenMode::Lock => options.create(true).truncate(false).write(true),
    };
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let no_links = if links == Links::Refuse { OFlags::NOFOLLOW } else { OFlags::empty() };
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY | no_links;
        options.custom_flags(flags.bits().cast_signed()).mode(if mode == OpenMode::Append { 0o600 } else { 0o666 });
    }
    #[cfg(not(unix))]
    if links == Links::Refuse {
        super::refuse_link(path)?;
    }
    options.open(path)
}

/// Opens without waiting, and looks at what was opened: what is at `path` can change at any time.
fn open_with(mode: OpenMode, path: &Path, links: Links) -> io::Result<(File, Metadata)> {
    regular(system_open(mode, path, links).map_err(|error| clearer(error, path, links))?)
}

fn regular(file: File) -> io::Result<(File, Metadata)> {
    let meta = file.metadata()?;
    match meta.file_type() {
        kind if kind.is_file() => Ok((file, meta)),
        kind if kind.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        _ => Err(not_regular()),
    }
}

/// The system's error for a link, a socket, or a pipe that nobody reads names none of them.
fn clearer(error: io::Error, path: &Path, links: Links) -> io::Error {
    if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) {
        return error;
    }
    if links == Links::Refuse
        && let Err(link) = super::refuse_link(path)
    {
        return link;
    }
    let is_special = path.metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
    if is_special { not_regular() } else { error }
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")
}

fn too_large(limit: u64) -> io::Error {
    let size = if limit < 1 << 20 { format!("{} KiB", limit >> 10) } else { format!("{} MiB", limit >> 20) };
    io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {size}"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap();
        assert!(made.success());
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        for path in [at("pipe"), at("socket"), "/dev/zero".into(), "/dev/null".into()] {
            assert_eq!(read(&path, LARGEST).unwrap_err().to_string(), "not a regular file", "{path:?}");
            assert_eq!(open_append(&path).unwrap_err().to_string(), "not a regular file", "{path:?}");
            assert_eq!(open_lock(&path).unwrap_err().to_string(), "not a regular file", "{path:?}");
            assert_eq!(read_tail(&path, 1).unwrap_err().to_string(), "not a regular file", "{path:?}");
        }
        assert_eq!(read(folder.path(), 9).unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        assert_eq!(read_text(&path, 5).unwrap(), "12345");
        assert_eq!(read_tail(&path, 2).unwrap(), b"45");
        let error = read(&path, 4).unwrap_err();
        assert_eq!((error.kind(), reason(&error)), (io::ErrorKind::FileTooLarge, "larger than 0 KiB".to_owned()));
        assert!(!read(Path::new("/proc/self/stat"), LARGEST).unwrap().is_empty());
    }
}
