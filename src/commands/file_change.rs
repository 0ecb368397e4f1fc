//! File changes of `install` and `uninstall`: planned first, then printed or applied.

use super::cli_error::CliError;
use super::install_target::InstallTarget;
use super::line_diff;
use super::screen::{self, TextStyle, styled};
use base::disk::{self, LinkPolicy};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::{fs, io};

#[derive(Debug, Clone)]
pub(super) struct FileChange {
    pub(super) path: PathBuf,
    pub(super) action: ChangeAction,
    note: String,
}

#[derive(Debug, Clone)]
pub(super) enum ChangeAction {
    Write {
        before: Option<String>,
        after: Vec<u8>,
        class: FileClass,
    },
    /// Removes a file, or a folder with everything in it.
    Remove,
    /// The file is already as it should be.
    Unchanged,
    /// The file stays, for the reason in the note.
    Keep,
}

/// What kind of file is written; it decides about links, permissions and diffs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FileClass {
    /// The program; made executable.
    Program,
    /// A command or an agent of the starter workflow.
    Starter,
    /// A file of the user's: written through links, with its permissions.
    User,
    /// A file in modegate's own folder: never written through a link.
    Own,
    /// A copy of the settings, with the permissions of the original.
    BackupOf(PathBuf),
}

impl FileChange {
    pub(super) fn new(path: impl Into<PathBuf>, action: ChangeAction, note: impl Into<String>) -> Self {
        Self { path: path.into(), action, note: note.into() }
    }

    pub(super) fn remove(path: PathBuf) -> Self {
        Self::new(path, ChangeAction::Remove, "")
    }

    /// Removes a file unless it is kept, for the reason in `note`.
    pub(super) fn remove_unless(is_kept: bool, path: PathBuf, note: &str) -> Self {
        if is_kept { Self::new(path, ChangeAction::Keep, note) } else { Self::remove(path) }
    }

    /// Changes a file to the text `after`, or nothing if it is that already.
    pub(super) fn text(
        path: PathBuf,
        class: FileClass,
        before: Option<String>,
        after: String,
        note: impl Into<String>,
    ) -> Self {
        let action = if before.as_deref() == Some(after.as_str()) {
            ChangeAction::Unchanged
        } else {
            ChangeAction::Write { before, after: after.into_bytes(), class }
        };
        Self::new(path, action, note)
    }

    /// Writes a file that is the user's from then on: an existing one stays.
    pub(super) fn starter(path: PathBuf, text: &str, note: impl Into<String>) -> Self {
        match disk::read(&path, disk::SMALL) {
            Ok(own) if own == text.as_bytes() => Self::new(path, ChangeAction::Unchanged, ""),
            _ if fs::symlink_metadata(&path).is_ok() => Self::new(path, ChangeAction::Keep, "already exists"),
            _ => Self::text(path, FileClass::Starter, None, text.to_owned(), note),
        }
    }

    /// The change as a word: what was done, or with `dry_run` what would be.
    fn word(&self, dry_run: bool) -> (&'static str, TextStyle) {
        let (done, planned, style) = match self.action {
            ChangeAction::Write { before: None, .. } => ("wrote", "write", TextStyle::Green),
            ChangeAction::Write { .. } => ("changed", "change", TextStyle::Green),
            ChangeAction::Remove => ("removed", "remove", TextStyle::Green),
            ChangeAction::Unchanged => ("same", "same", TextStyle::Dim),
            ChangeAction::Keep => ("kept", "keep", TextStyle::Yellow),
        };
        (if dry_run { planned } else { done }, style)
    }

    pub(super) fn has_effect(&self) -> bool {
        !matches!(self.action, ChangeAction::Unchanged | ChangeAction::Keep)
    }

    /// Fails if a link of the repository leads the change out of the target.
    fn require_inside(&self, target: &InstallTarget) -> io::Result<()> {
        match &self.action {
            _ if !self.has_effect() => Ok(()),
            // A link itself is removed, not what it leads to.
            ChangeAction::Remove => {
                self.path.parent().map_or(Ok(()), |parent| target.require_inside(&parent.join("x")))
            }
            _ => target.require_inside(&self.path),
        }
    }

    fn apply(&self) -> io::Result<()> {
        match &self.action {
            ChangeAction::Write { after, class, .. } => match class {
                FileClass::Program => disk::write_program(&self.path, after),
                FileClass::Starter | FileClass::User => disk::write(&self.path, after, LinkPolicy::Follow),
                FileClass::Own => self.write_own(after),
                FileClass::BackupOf(original) => {
                    self.write_own(after)?;
                    fs::metadata(original).and_then(|meta| fs::set_permissions(&self.path, meta.permissions()))
                }
            },
            ChangeAction::Remove if self.path.is_dir() => fs::remove_dir_all(&self.path),
            ChangeAction::Remove => fs::remove_file(&self.path),
            ChangeAction::Unchanged | ChangeAction::Keep => Ok(()),
        }
    }

    fn write_own(&self, bytes: &[u8]) -> io::Result<()> {
        disk::refuse_link(&self.path)?;
        disk::write(&self.path, bytes, LinkPolicy::Replace)
    }

    /// The unified diff of a text that already existed, or that `install` shares with the user.
    fn diff(&self) -> Option<String> {
        let ChangeAction::Write { before, after, class: FileClass::User | FileClass::Own } = &self.action else {
            return None;
        };
        let after = String::from_utf8_lossy(after);
        Some(line_diff::unified(before.as_deref().unwrap_or_default(), &after))
    }

    fn as_json(&self, dry_run: bool) -> Value {
        let mut value = json!({"path": self.path.to_string_lossy(), "change": self.word(dry_run).0, "note": self.note});
        if let (Some(diff), true, Some(fields)) = (self.diff(), dry_run, value.as_object_mut()) {
            fields.insert("diff".to_owned(), diff.into());
        }
        value
    }
}

/// The changes as JSON; with `dry_run` they have diffs.
pub(super) fn as_json(changes: &[FileChange], dry_run: bool) -> Vec<Value> {
    changes.iter().map(|change| change.as_json(dry_run)).collect()
}

/// Fails if a link of the repository leads one of the changes out of the project.
pub(super) fn require_inside(changes: &[FileChange], target: &InstallTarget) -> Result<(), CliError> {
    for change in changes {
        change.require_inside(target).map_err(|error| {
            CliError::failure(format!("`{}`: {error}", target.short(&change.path)))
                .hint("replace the link with a file or folder of the project; nothing was changed")
        })?;
    }
    Ok(())
}

/// Applies all changes; the error lists those already made.
pub(super) fn apply(changes: &[FileChange], target: &InstallTarget) -> Result<(), CliError> {
    require_inside(changes, target)?;
    for (index, change) in changes.iter().enumerate() {
        change.apply().map_err(|error| {
            let made = changes.iter().take(index).filter(|change| change.has_effect());
            let made: Vec<String> = made.map(|change| target.short(&change.path)).collect();
            let made = if made.is_empty() {
                "nothing was changed".to_owned()
            } else {
                format!("already changed: {}", made.join(", "))
            };
            CliError::failure(format!("`{}`: {error}", target.short(&change.path)))
                .hint(format!("fix that and run the command again; {made}"))
        })?;
    }
    Ok(())
}

/// Prints the changes, several files of one folder on one line; with `dry_run` also the diffs.
pub(super) fn print(changes: &[FileChange], target: &InstallTarget, dry_run: bool) {
    let is_same_kind = |left: &FileChange, right: &FileChange| {
        let kind = |change: &FileChange| {
            (change.word(dry_run).0, change.path.parent().map(Path::to_owned), change.note.clone())
        };
        kind(left) == kind(right) && left.note.is_empty()
    };
    for group in changes.chunk_by(is_same_kind) {
        let Some(first) = group.first() else { continue };
        let (word, style) = first.word(dry_run);
        let word = styled(style, &format!("{word:<8}"));
        if group.len() > 2 {
            let names: Vec<String> = group.iter().map(|change| short_name(&change.path)).collect();
            let folder = first.path.parent().map(|folder| target.short(folder)).unwrap_or_default();
            let names = format!("({} files: {})", names.len(), names.join(", "));
            screen::print_line(format!("  {word} {folder}/ {}", styled(TextStyle::Dim, &names)));
            continue;
        }
        for change in group {
            let note = match change.note.as_str() {
                "" => String::new(),
                note => format!(" {}", styled(TextStyle::Dim, &format!("({note})"))),
            };
            screen::print_line(format!("  {word} {}{note}", target.short(&change.path)));
            if dry_run {
                screen::print_diff(&change.diff().unwrap_or_default());
            }
        }
    }
}

fn short_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.strip_suffix(".md").map(str::to_owned).unwrap_or(name)
}

pub(crate) fn text_of(path: &Path) -> Result<Option<String>, CliError> {
    match disk::read(path, disk::SMALL).map(String::from_utf8) {
        Ok(Ok(text)) => Ok(Some(text)),
        Ok(Err(_)) => Err(CliError::failure(format!("`{}` is not UTF-8", path.display()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CliError::failure(format!("cannot read `{}`: {error}", path.display()))),
    }
}
