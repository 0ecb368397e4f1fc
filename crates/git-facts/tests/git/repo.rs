//! Repositories made by the `git` program, and what `git status` reports about them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::project::Project;
use super::{ChangeKind, changes};
use ChangeKind::{Added, Conflicted, Deleted, Modified, Renamed, Submodule, TypeChanged, Untracked};

/// How a repository stores its references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefFormat {
    Files,
    /// gix cannot read these.
    Reftable,
}

/// A repository in a temporary project.
pub struct Repo {
    project: Project,
    pub root: PathBuf,
    pub format: RefFormat,
}

impl Repo {
    pub fn new(format: RefFormat) -> Self {
        Self::with(format, &[])
    }

    pub fn with(format: RefFormat, options: &[&str]) -> Self {
        let project = Project::new();
        let root = project.home();
        let repo = Self { project, root, format };
        repo.git(&[&["init", "-q", "-b", "main"], options].concat());
        repo.git(&["config", "core.excludesFile", "/dev/null"]);
        repo
    }

    /// A repository with `a.txt`, `src/b.txt` and `src/deep/c.txt`, all committed.
    pub fn seeded(format: RefFormat) -> Self {
        let repo = Self::new(format);
        for path in ["a.txt", "src/b.txt", "src/deep/c.txt"] {
            repo.write(path, &["one", "two", "three", "four"].map(|word| format!("{word} {path}\n")).concat());
        }
        repo.commit();
        repo
    }

    pub fn git(&self, args: &[&str]) -> String {
        self.git_in("", args)
    }

    pub fn git_in(&self, folder: &str, args: &[&str]) -> String {
        let output = self.command(folder, args).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs git where it may fail, as a merge with conflicts does.
    pub fn try_git(&self, args: &[&str]) {
        self.command("", args).output().unwrap();
    }

    fn command(&self, folder: &str, args: &[&str]) -> Command {
        let mut command = self.project.plain("git");
        command.current_dir(self.root.join(folder)).args(args);
        command.envs([("GIT_OPTIONAL_LOCKS", "0"), ("GIT_ALLOW_PROTOCOL", "file"), ("LC_ALL", "C")]);
        if self.format == RefFormat::Reftable {
            command.env("GIT_DEFAULT_REF_FORMAT", "reftable");
        }
        command
    }

    pub fn write(&self, path: &str, content: &str) {
        self.project.write(path, content);
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.root.join(path)).unwrap();
    }

    pub fn link(&self, target: &str, path: &str) {
        std::os::unix::fs::symlink(target, self.root.join(path)).unwrap();
    }

    pub fn pipe(&self, path: &str) {
        let path = self.root.join(path);
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    pub fn mode(&self, path: &str, mode: u32) {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(self.root.join(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Dates a file `seconds` back, so that its timestamp can be trusted.
    pub fn age(&self, path: &str, seconds: u64) {
        let file = fs::File::options().append(true).open(self.root.join(path)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    }

    pub fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "some"]);
    }

    /// The changes that `git status` reports for `paths`, relative to `folder`.
    pub fn oracle(&self, folder: &str, paths: &[&str]) -> Vec<(String, ChangeKind)> {
        let mut args = vec!["status", "--porcelain=v2", "-z", "--untracked-files=normal", "--ignored=no", "--"];
        args.extend(paths.iter().map(|path| if path.is_empty() { "." } else { path }));
        let output = self.git_in(folder, &args);
        let mut records = output.split('\0').filter(|record| !record.is_empty());
        let mut found = Vec::new();
        while let Some(record) = records.next() {
            let (path, kind) = parse_status(record);
            if record.starts_with("2 ") {
                records.next();
            }
            let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
            found.push((path.strip_prefix(&prefix).unwrap_or(path).to_owned(), kind));
        }
        found.sort();
        found
    }
}

/// The path and kind of change in a record of `git status`.
pub fn parse_status(record: &str) -> (&str, ChangeKind) {
    let fields = match &record[..2] {
        "? " => return (&record[2..], Untracked),
        "u " => return (record.splitn(11, ' ').last().unwrap(), Conflicted),
        "1 " => 9,
        _ => 10,
    };
    let parts: Vec<_> = record.splitn(fields, ' ').collect();
    let letter = parts[1].chars().find(|letter| *letter != '.').unwrap();
    let kind = match letter {
        'M' if parts[2].starts_with('S') => Submodule,
        'M' => Modified,
        'A' => Added,
        'D' => Deleted,
        'R' => Renamed,
        'T' => TypeChanged,
        other => unreachable!("{other} in {record}"),
    };
    (parts[fields - 1], kind)
}

/// The changes that the git module reports.
#[track_caller]
pub fn seen(tree: &Path, paths: &[&str]) -> Vec<(String, ChangeKind)> {
    let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
    changes(tree, &paths).unwrap().into_iter().map(|change| (change.path, change.kind)).collect()
}
