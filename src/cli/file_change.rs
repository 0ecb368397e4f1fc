//! What an installation changes: planned first, then shown or done.

use super::install_target::InstallTarget;
use super::screen::{self, TextStyle, styled};
use crate::disk;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// One change, or the reason why there is none.
#[derive(Debug, Clone)]
pub(super) struct FileChange {
    pub(super) path: PathBuf,
    pub(super) kind: ChangeKind,
    /// What it is about, for people.
    pub(super) note: String,
}

#[derive(Debug, Clone)]
pub(super) enum ChangeKind {
    /// A program is put there.
    Program(Vec<u8>),
    /// A file is written where there was none.
    New(&'static str),
    /// A text is written, in the place of another.
    Text { before: Option<String>, after: String },
    /// A file of ours is written; never through a link.
    Own { before: Option<String>, after: String },
    /// The settings as they were, with their rights.
    Backup { of: PathBuf, text: String },
    /// A file goes.
    Remove,
    /// A folder of ours goes, with all that is in it.
    RemoveAll,
    /// It is already so.
    Same,
    /// It stays as it is, for the reason in the note.
    Keep,
}

impl FileChange {
    pub(super) fn new(path: impl Into<PathBuf>, kind: ChangeKind, note: impl Into<String>) -> Self {
        Self { path: path.into(), kind, note: note.into() }
    }

    /// A text file that shall be `after`.
    #[must_use]
    pub(super) fn text(path: PathBuf, before: Option<String>, after: String, note: impl Into<String>) -> Self {
        let same = before.as_deref() == Some(after.as_str());
        Self::new(path, if same { ChangeKind::Same } else { ChangeKind::Text { before, after } }, note)
    }

    /// What happens to the file, in a word: done, or in a rehearsal to be done.
    fn word(&self, rehearsal: bool) -> (&'static str, TextStyle) {
        let (done, planned, colour) = match self.kind {
            ChangeKind::Program(_)
            | ChangeKind::New(_)
            | ChangeKind::Text { before: None, .. }
            | ChangeKind::Own { before: None, .. }
            | ChangeKind::Backup { .. } => ("wrote", "write", TextStyle::Green),
            ChangeKind::Text { .. } | ChangeKind::Own { .. } => ("changed", "change", TextStyle::Green),
            ChangeKind::Remove | ChangeKind::RemoveAll => ("removed", "remove", TextStyle::Green),
            ChangeKind::Same => ("same", "same", TextStyle::Dim),
            ChangeKind::Keep => ("kept", "keep", TextStyle::Yellow),
        };
        (if rehearsal { planned } else { done }, colour)
    }

    /// Whether anything changes.
    fn is_one(&self) -> bool {
        !matches!(self.kind, ChangeKind::Same | ChangeKind::Keep)
    }

    /// Does it.
    fn apply(&self) -> io::Result<()> {
        match &self.kind {
            ChangeKind::Program(bytes) => disk::put_program(&self.path, bytes),
            ChangeKind::New(text) => disk::rewrite(&self.path, text.as_bytes()),
            ChangeKind::Text { after, .. } => disk::rewrite(&self.path, after.as_bytes()),
            ChangeKind::Own { after, .. } => {
                disk::refuse_link(&self.path)?;
                disk::replace(&self.path.with_file_name("gitignore.tmp"), &self.path, after.as_bytes())
            }
            ChangeKind::Backup { of, text } => {
                let beside = self.path.with_extension("tmp");
                disk::refuse_link(&self.path)?;
                disk::replace(&beside, &self.path, text.as_bytes())?;
                fs::metadata(of).and_then(|meta| fs::set_permissions(&self.path, meta.permissions()))
            }
            ChangeKind::Remove => fs::remove_file(&self.path),
            ChangeKind::RemoveAll => fs::remove_dir_all(&self.path),
            ChangeKind::Same | ChangeKind::Keep => Ok(()),
        }
    }

    /// The difference that it makes to a text.
    fn diff(&self) -> Option<String> {
        let (ChangeKind::Text { before, after } | ChangeKind::Own { before, after }) = &self.kind else { return None };
        let diff = similar::TextDiff::from_lines(before.as_deref().unwrap_or_default(), after);
        Some(diff.unified_diff().context_radius(2).to_string())
    }

    fn preview(&self) {
        for line in self.diff().unwrap_or_default().lines() {
            let colour = match line.chars().next() {
                Some('+') => TextStyle::Green,
                Some('-') => TextStyle::Red,
                _ => TextStyle::Dim,
            };
            screen::print_line(format!("    {}", styled(colour, line)));
        }
    }

    /// For scripts; in a rehearsal with the difference.
    pub(super) fn as_json(&self, rehearsal: bool) -> Value {
        let word = self.word(rehearsal).0;
        let mut told = json!({"path": self.path.to_string_lossy(), "change": word, "note": self.note});
        if let (Some(diff), true, Some(fields)) = (self.diff(), rehearsal, told.as_object_mut()) {
            fields.insert("diff".to_owned(), diff.into());
        }
        told
    }

    /// The bytes that it has put at its path, for the manifest.
    pub(super) fn written(&self) -> Option<&[u8]> {
        match &self.kind {
            ChangeKind::Program(bytes) => Some(bytes),
            ChangeKind::New(text) => Some(text.as_bytes()),
            ChangeKind::Own { before: None, after } => Some(after.as_bytes()),
            ChangeKind::Backup { text, .. } => Some(text.as_bytes()),
            _ => None,
        }
    }
}

/// Does all changes; the error says what was done before it.
pub(super) fn apply(changes: &[FileChange], target: &InstallTarget) -> Result<(), String> {
    for (done, change) in changes.iter().enumerate() {
        change.apply().map_err(|error| {
            let before: Vec<String> = changes
                .iter()
                .take(done)
                .filter(|change| change.is_one())
                .map(|change| target.short(&change.path))
                .collect();
            let before = if before.is_empty() {
                "nothing was changed".to_owned()
            } else {
                format!("done before: {}", before.join(", "))
            };
            format!("`{}`: {error}\n  hint: mend that and run this again; {before}", target.short(&change.path))
        })?;
    }
    Ok(())
}

/// Tells what was done, files of one folder on one line; in a rehearsal also how the texts would differ.
pub(super) fn tell(changes: &[FileChange], target: &InstallTarget, rehearsal: bool) {
    let alike = |left: &FileChange, right: &FileChange| {
        let kind = |change: &FileChange| {
            (change.word(rehearsal).0, change.path.parent().map(Path::to_owned), change.note.is_empty())
        };
        kind(left) == kind(right) && left.note.is_empty()
    };
    for group in changes.chunk_by(alike) {
        let Some(first) = group.first() else { continue };
        let (word, colour) = first.word(rehearsal);
        let word = styled(colour, &format!("{word:<8}"));
        if group.len() > 2 {
            let names: Vec<String> = group.iter().map(|change| name(&change.path)).collect();
            let folder = first.path.parent().map(|folder| target.short(folder)).unwrap_or_default();
            screen::print_line(format!(
                "  {word} {folder}/ {}",
                styled(TextStyle::Dim, &format!("{} files: {}", names.len(), names.join(", ")))
            ));
            continue;
        }
        for change in group {
            screen::print_line(
                format!("  {word} {} {}", target.short(&change.path), styled(TextStyle::Dim, &change.note)).trim_end(),
            );
            if rehearsal {
                change.preview();
            }
        }
    }
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.strip_suffix(".md").map(str::to_owned).unwrap_or(name)
}

/// The text of a file; `None` where there is none.
pub(super) fn text_of(path: &Path) -> Result<Option<String>, String> {
    match fs::read(path).map(String::from_utf8) {
        Ok(Ok(text)) => Ok(Some(text)),
        Ok(Err(_)) => Err(format!("`{}` is not UTF-8", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("`{}` cannot be read: {error}", path.display())),
    }
}
