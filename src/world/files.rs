//! Files of a project, found by glob.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use std::cell::Cell;
use std::cmp::Reverse;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use walkdir::{DirEntry, WalkDir};

use crate::facts::glob::GlobPattern;
use crate::facts::{FoundFile, Unknown};
use base::disk::{self, is_absent};

/// The number of entries after which a walk gives up.
const MOST_ENTRIES: usize = 50_000;

/// The largest file that is read to see whether there is anything in it but white space.
const LARGEST_BLANK: u64 = 1024;

/// Finds the regular files under `root` that match `glob`, newest first, at most `limit`.
///
/// A symlink to a file counts as that file as long as it stays in the root; symlinks to folders are not
/// entered, except where the glob spells them out. A folder that is not there holds no files, one that cannot
/// be read is an error, since its files are unknown. Files whose names are not UTF-8 are left out.
///
/// # Errors
///
/// A clause that says why there is no answer.
pub fn matching(root: &Path, glob: &str, limit: usize) -> Result<Vec<FoundFile>, Unknown> {
    let pattern = GlobPattern::new(glob)?;
    let mut found = if pattern.rest.is_empty() {
        single(root, &pattern)?.into_iter().collect()
    } else {
        walked(root, &pattern, MOST_ENTRIES)?
    };
    found.sort_unstable_by(|(a_time, a), (b_time, b)| (Reverse(a_time), &a.path).cmp(&(Reverse(b_time), &b.path)));
    found.truncate(limit);
    Ok(found.into_iter().map(|(_, file)| file).collect())
}

type Dated = (SystemTime, FoundFile);

/// The file at a plain path.
fn single(root: &Path, pattern: &GlobPattern) -> Result<Option<Dated>, Unknown> {
    let path = root.join(&pattern.prefix);
    match fs::metadata(&path) {
        Ok(metadata) if metadata.is_file() => {
            inside(root, &path, &pattern.prefix)?;
            dated(&path, pattern.prefix.clone(), &metadata).map(Some)
        }
        Ok(_) => Ok(None),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(unreadable(&error, &pattern.prefix)),
    }
}

/// The matching files below the prefix, if the walk ends within `most` entries.
fn walked(root: &Path, pattern: &GlobPattern, most: usize) -> Result<Vec<Dated>, Unknown> {
    let base = root.join(&pattern.prefix);
    let shown = if pattern.prefix.is_empty() { "." } else { &pattern.prefix };
    let Some((root, base)) = inside(root, &base, shown)? else {
        return Ok(Vec::new());
    };
    // Counted here, because folders that are not entered cost a visit too.
    let seen = Cell::new(0_usize);
    let worth = |entry: &DirEntry| {
        seen.set(seen.get() + 1);
        entry.depth() == 0 || worth(entry, pattern)
    };
    let entries = WalkDir::new(base).min_depth(1).max_depth(pattern.depth()).into_iter();
    let mut found = Vec::new();
    for entry in entries.filter_entry(worth) {
        if seen.get() > most {
            // The files that were found exist, whatever the rest contains.
            return if found.is_empty() {
                Err(format!("more than {most} entries under `{shown}`").into())
            } else {
                Ok(found)
            };
        }
        match entry {
            Ok(entry) => found.extend(dated_entry(&root, &entry, pattern)?),
            Err(error) => tolerated(error, &root, shown)?,
        }
    }
    Ok(found)
}

/// The canonical root and path; an error when the path lies outside, and `None` when it is certain not to exist.
fn inside(root: &Path, path: &Path, shown: &str) -> Result<Option<(PathBuf, PathBuf)>, Unknown> {
    let canonical = |path: &Path| match fs::canonicalize(path) {
        Ok(path) => Ok(Some(path)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(unreadable(&error, shown)),
    };
    let (Some(path), Some(root)) = (canonical(path)?, canonical(root)?) else { return Ok(None) };
    if path.starts_with(&root) {
        Ok(Some((root, path)))
    } else {
        Err(format!("`{shown}` leads out of the project").into())
    }
}

fn worth(entry: &DirEntry, pattern: &GlobPattern) -> bool {
    let enters = |name| pattern.enters(name, entry.depth());
    !entry.file_type().is_dir() || entry.file_name().to_str().is_some_and(enters)
}

/// The file of an entry, when it is one and matches.
fn dated_entry(root: &Path, entry: &DirEntry, pattern: &GlobPattern) -> Result<Option<Dated>, Unknown> {
    let kind = entry.file_type();
    if !kind.is_file() && !kind.is_symlink() {
        return Ok(None);
    }
    let Some(path) = relative(entry, &pattern.prefix).filter(|path| pattern.matches(path)) else {
        return Ok(None);
    };
    // A link leads to its file, unless that is outside of the root.
    let stays = || fs::canonicalize(entry.path()).is_ok_and(|target| target.starts_with(root));
    if kind.is_symlink() && !stays() {
        return Ok(None);
    }
    match fs::metadata(entry.path()) {
        Ok(metadata) if metadata.is_file() => dated(entry.path(), path, &metadata).map(Some),
        Ok(_) => Ok(None),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(unreadable(&error, &path)),
    }
}

/// The prefix and the names below it, as many as the entry is deep.
fn relative(entry: &DirEntry, prefix: &str) -> Option<String> {
    let names: Vec<_> = entry.path().components().rev().take(entry.depth()).collect();
    let mut path = String::from(prefix);
    for name in names.iter().rev() {
        path = below(&path, name.as_os_str().to_str()?);
    }
    Some(path)
}

/// The path of an entry in a folder of the project, which may be the project itself.
fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { [folder, "/", name].concat() }
}

fn dated(file: &Path, path: String, metadata: &Metadata) -> Result<Dated, Unknown> {
    let modified = metadata.modified().map_err(|error| unreadable(&error, &path))?;
    let modified_ms = match modified.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ms| -ms),
    };
    let size = if is_blank(file, metadata.len()) { 0 } else { metadata.len() };
    Ok((modified, FoundFile { path, size, modified: modified_ms }))
}

/// Whether a small file has nothing in it that a person would see, so that it counts as empty.
fn is_blank(file: &Path, size: u64) -> bool {
    let is_unseen =
        |c: char| c.is_whitespace() || c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}');
    (1..=LARGEST_BLANK).contains(&size)
        && disk::read_text(file, LARGEST_BLANK).is_ok_and(|text| text.chars().all(is_unseen))
}

fn unreadable(error: &io::Error, shown: &str) -> Unknown {
    format!("{} reading `{shown}`", error.kind()).into()
}

/// Ignores files that disappeared during the walk.
fn tolerated(error: walkdir::Error, root: &Path, shown: &str) -> Result<(), Unknown> {
    let place = error.path().and_then(|path| path.strip_prefix(root).ok());
    let shown = place.map_or_else(|| shown.to_owned(), |path| path.display().to_string());
    match error.into_io_error() {
        Some(error) if !is_absent(&error) => Err(unreadable(&error, &shown)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// A project with these files, each a second younger than the one before.
    fn project(paths: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (age, path) in (0_u64..).zip(paths) {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "text").unwrap();
            let time = UNIX_EPOCH + Duration::from_secs(1_000 + age);
            fs::File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
        }
        root
    }

    fn paths(root: &Path, glob: &str) -> Result<Vec<String>, Unknown> {
        Ok(matching(root, glob, 100)?.into_iter().map(|file| file.path).collect())
    }

    #[track_caller]
    fn check(files: &[&str], glob: &str, expected: &[&str]) {
        let root = project(files);
        assert_eq!(paths(root.path(), glob).unwrap(), expected, "{glob}");
    }

    #[test]
    fn a_glob_finds_the_newest_first() {
        let plans = ["p/MS-1:Login x/plans/a.md", "p/Größe/plans/b.md", "p/x/plans/deep/c.md", "p/d.txt"];
        check(&plans, "p/*/plans/*.md", &["p/Größe/plans/b.md", "p/MS-1:Login x/plans/a.md"]);
        check(&plans, "p/MS-1:Login x/plans/*.md", &["p/MS-1:Login x/plans/a.md"]);
        check(&plans, "./p//Größe/plans/b.md", &["p/Größe/plans/b.md"]);
        check(&plans, "p/Gr?[ß]e/**", &["p/Größe/plans/b.md"]);
        check(&plans, "p/Gr[ao]ße/**", &[]);
        check(&plans, "**/c.md", &["p/x/plans/deep/c.md"]);
        check(&plans, "p/{x/plans/deep,none}/*.md", &["p/x/plans/deep/c.md"]);
        check(&plans, "p/[cd].???", &["p/d.txt"]);
        check(&plans, "nowhere/*.md", &[]);
        check(&plans, "p/d.txt/*.md", &[]);
        check(&plans, "p/d.txt/x", &[]);
    }

    #[test]
    fn two_stars_skip_node_modules_and_git() {
        let files = ["node_modules/a/x.md", "s/node_modules/x.md", "s/.git/x.md", "s/.claude/x.md"];
        check(&files, "**/x.md", &["s/.claude/x.md"]);
        check(&files, "node_modules/**/x.md", &["node_modules/a/x.md"]);
        check(&files, "*/node_modules/**", &["s/node_modules/x.md"]);
        check(&files, "s/.git/*", &["s/.git/x.md"]);
    }

    #[test]
    fn a_glob_stays_in_the_project() {
        for glob in ["/etc/*", "../*", "a/../../b", "a/\\.\\./b", "/"] {
            let clause = paths(Path::new("."), glob).unwrap_err();
            assert_eq!(clause, format!("`{glob}` leaves the project").into());
        }
        for glob in ["{a", "[a", "", "!a", "a\\"] {
            assert!(paths(Path::new("."), glob).is_err(), "{glob}");
        }
    }

    #[test]
    fn ties_are_sorted_by_path_and_the_limit_applies() {
        let root = project(&["b", "a", "c"]);
        let time = UNIX_EPOCH + Duration::new(5, 1);
        for name in ["a", "b"] {
            let file = fs::File::options().append(true).open(root.path().join(name)).unwrap();
            file.set_modified(time).unwrap();
        }
        assert_eq!(paths(root.path(), "*").unwrap(), ["c", "a", "b"]);
        let newest = FoundFile { path: "c".into(), size: 4, modified: 1_002_000 };
        assert_eq!(matching(root.path(), "*", 1).unwrap(), [newest]);
    }

    #[test]
    fn a_walk_stops_at_the_limit() {
        let root = project(&["d/a", "d/b", "d/c"]);
        let pattern = GlobPattern::new("d/*").unwrap();
        assert_eq!(walked(root.path(), &pattern, 3).unwrap().len(), 3);
        assert!(!walked(root.path(), &pattern, 2).unwrap().is_empty());
        let elsewhere = GlobPattern::new("d/*.md").unwrap();
        assert_eq!(walked(root.path(), &elsewhere, 2).unwrap_err(), "more than 2 entries under `d`".into());
    }

    #[cfg(unix)]
    #[test]
    fn a_symlink_counts_while_it_stays_inside() {
        use std::os::unix::fs::symlink;
        let outside = project(&["secret.md"]);
        let root = project(&["d/real.md"]);
        symlink(root.path().join("d/real.md"), root.path().join("near.md")).unwrap();
        symlink(outside.path().join("secret.md"), root.path().join("far.md")).unwrap();
        symlink(outside.path(), root.path().join("away")).unwrap();
        symlink(root.path(), root.path().join("d/loop")).unwrap();
        symlink("nothing", root.path().join("broken.md")).unwrap();
        let mut all = paths(root.path(), "**/*.md").unwrap();
        all.sort_unstable();
        assert_eq!(all, ["d/real.md", "near.md"]);
        assert_eq!(paths(root.path(), "d/loop/*.md").unwrap(), ["d/loop/near.md"]);
        assert_eq!(paths(root.path(), "broken.md").unwrap(), [""; 0]);
        assert_eq!(paths(root.path(), "far.md").unwrap_err(), "`far.md` leads out of the project".into());
        assert_eq!(paths(root.path(), "away/*").unwrap_err(), "`away` leads out of the project".into());
    }

    #[test]
    fn a_file_of_white_space_counts_as_empty() {
        let root = project(&["plan.md"]);
        let size = |text: &str| {
            fs::write(root.path().join("plan.md"), text).unwrap();
            matching(root.path(), "plan.md", 1).unwrap()[0].size
        };
        for blank in ["", "  \n\n", "\u{200b}", "\u{feff}\r\n", "\0\0"] {
            assert_eq!(size(blank), 0, "{blank:?}");
        }
        assert_eq!(size(" x\n"), 3);
        assert_eq!(size(&" ".repeat(2_000)), 2_000);
    }

    #[test]
    fn an_unreadable_folder_is_unknown() {
        let clause = unreadable(&io::ErrorKind::PermissionDenied.into(), "docs");
        assert_eq!(clause, "permission denied reading `docs`".into());
    }
}
