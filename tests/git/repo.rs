//! Repositories made by the `git` program, and what it says about them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::{ChangeKind, GitChange, changes};
use ChangeKind::{Added, Conflicted, Deleted, Modified, Renamed, Submodule, TypeChanged, Untracked};

/// Which layer a repository is made for; the module takes it for what it finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// Nothing odd.
    Quick,
    /// Symbolic links are off, which is for gix's own status.
    Full,
    /// References are in a reftable, which only the program reads.
    Program,
}

/// A repository in a folder of its own.
pub struct Repo {
    _home: tempfile::TempDir,
    pub root: PathBuf,
    pub layer: Layer,
}

impl Repo {
    pub fn new(layer: Layer) -> Self {
        Self::with(layer, &[])
    }

    pub fn with(layer: Layer, options: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap().join("project");
        fs::create_dir(&root).unwrap();
        let repo = Self { _home: home, root, layer };
        repo.git(&[&["init", "-q", "-b", "main"], options].concat());
        repo.git(&["config", "core.excludesFile", "/dev/null"]);
        repo
    }

    /// With `a.txt`, `src/b.txt` and `src/deep/c.txt`, all committed.
    pub fn seeded(layer: Layer) -> Self {
        let repo = Self::new(layer);
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

    /// Runs git where it may not succeed, as a merge with conflicts does not.
    pub fn try_git(&self, args: &[&str]) {
        self.command("", args).output().unwrap();
    }

    fn command(&self, folder: &str, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.current_dir(self.root.join(folder)).args(args);
        command.envs([
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "a"),
            ("GIT_AUTHOR_EMAIL", "a@example.org"),
            ("GIT_COMMITTER_NAME", "a"),
            ("GIT_COMMITTER_EMAIL", "a@example.org"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_ALLOW_PROTOCOL", "file"),
            ("LC_ALL", "C"),
        ]);
        if self.layer == Layer::Program {
            command.env("GIT_DEFAULT_REF_FORMAT", "reftable");
        }
        command
    }

    pub fn write(&self, path: &str, content: &str) {
        let whole = self.root.join(path);
        fs::create_dir_all(whole.parent().unwrap()).unwrap();
        fs::write(whole, content).unwrap();
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.root.join(path)).unwrap();
    }

    pub fn link(&self, target: &str, path: &str) {
        std::os::unix::fs::symlink(target, self.root.join(path)).unwrap();
    }

    pub fn mode(&self, path: &str, mode: u32) {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(self.root.join(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Dates a file `seconds` back, so that its timestamp is not too young to be believed.
    pub fn age(&self, path: &str, seconds: u64) {
        let file = fs::File::options().append(true).open(self.root.join(path)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    }

    pub fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "some"]);
    }

    /// Makes the repository one for its layer, once everything else is done.
    pub fn finish(&self) {
        if self.layer == Layer::Full {
            self.git(&["config", "core.symlinks", "false"]);
        }
    }

    /// What `git status` says about `paths`, all relative to `folder`.
    pub fn oracle(&self, folder: &str, paths: &[&str]) -> Vec<(String, ChangeKind)> {
        let mut args = vec!["status", "--porcelain=v2", "-z", "--untracked-files=normal", "--ignored=no", "--"];
        args.extend(paths.iter().map(|path| if path.is_empty() { "." } else { path }));
        let output = self.git_in(folder, &args);
        let mut records = output.split('\0').filter(|record| !record.is_empty());
        let mut found = Vec::new();
        while let Some(record) = records.next() {
            let (path, kind) = told(record);
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

fn told(record: &str) -> (&str, ChangeKind) {
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

/// What the module says, as pairs.
#[track_caller]
pub fn seen(tree: &Path, paths: &[&str]) -> Vec<(String, ChangeKind)> {
    let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
    let found: Vec<GitChange> = changes(tree, &paths, usize::MAX).unwrap();
    found.into_iter().map(|change| (change.path, change.kind)).collect()
}
