//! What an installation changes: planned first, then shown or done.

use super::screen::{self, Colour, paint};
use super::site::Site;
use crate::disk;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// One change, or the reason why there is none.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) path: PathBuf,
    pub(super) deed: Deed,
    /// What it is about, for people.
    pub(super) note: String,
}

#[derive(Debug, Clone)]
pub(super) enum Deed {
    /// A program is put there.
    Program(Vec<u8>),
    /// A file is written where there was none.
    New(&'static str),
    /// A text is written, in the place of another.
    Text { before: Option<String>, after: String },
    /// A file is copied here first.
    Backup { of: PathBuf },
    /// It goes, with all that is in it.
    Remove,
    /// It is already so.
    Same,
    /// It stays as it is, for the reason in the note.
    Keep,
}

impl Change {
    pub(super) fn new(path: impl Into<PathBuf>, deed: Deed, note: impl Into<String>) -> Self {
        Self { path: path.into(), deed, note: note.into() }
    }

    /// A text file that shall be `after`.
    pub(super) fn text(path: PathBuf, before: Option<String>, after: String, note: impl Into<String>) -> Self {
        let same = before.as_deref() == Some(after.as_str());
        Self::new(path, if same { Deed::Same } else { Deed::Text { before, after } }, note)
    }

    /// What happens to the file, in a word: done, or in a rehearsal to be done.
    fn word(&self, rehearsal: bool) -> (&'static str, Colour) {
        let (done, planned, colour) = match self.deed {
            Deed::Program(_) | Deed::New(_) | Deed::Text { before: None, .. } | Deed::Backup { .. } => {
                ("wrote", "write", Colour::Green)
            }
            Deed::Text { .. } => ("changed", "change", Colour::Green),
            Deed::Remove => ("removed", "remove", Colour::Green),
            Deed::Same => ("same", "same", Colour::Dim),
            Deed::Keep => ("kept", "keep", Colour::Yellow),
        };
        (if rehearsal { planned } else { done }, colour)
    }

    /// Does it.
    pub(super) fn apply(&self) -> io::Result<()> {
        match &self.deed {
            Deed::Program(bytes) => disk::put_program(&self.path, bytes),
            Deed::New(text) => disk::rewrite(&self.path, text.as_bytes()),
            Deed::Text { after, .. } => disk::rewrite(&self.path, after.as_bytes()),
            Deed::Backup { of } => {
                self.path.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::copy(of, &self.path).map(drop)
            }
            Deed::Remove if self.path.is_dir() => fs::remove_dir_all(&self.path),
            Deed::Remove => fs::remove_file(&self.path),
            Deed::Same | Deed::Keep => Ok(()),
        }
    }

    /// The difference that it makes to a text.
    fn preview(&self) {
        let Deed::Text { before, after } = &self.deed else { return };
        let diff = similar::TextDiff::from_lines(before.as_deref().unwrap_or_default(), after);
        for line in diff.unified_diff().context_radius(2).to_string().lines() {
            let colour = match line.chars().next() {
                Some('+') => Colour::Green,
                Some('-') => Colour::Red,
                _ => Colour::Dim,
            };
            screen::say(format!("    {}", paint(colour, line)));
        }
    }

    pub(super) fn as_json(&self) -> Value {
        let word = self.word(false).0;
        json!({"path": self.path, "change": word, "note": self.note})
    }
}

/// Tells what was done, files of one folder on one line; in a rehearsal also how the texts would differ.
pub(super) fn tell(changes: &[Change], site: &Site, rehearsal: bool) {
    let alike = |left: &Change, right: &Change| {
        let kind = |change: &Change| {
            (change.word(rehearsal).0, change.path.parent().map(Path::to_owned), change.note.is_empty())
        };
        kind(left) == kind(right) && left.note.is_empty()
    };
    for group in changes.chunk_by(alike) {
        let Some(first) = group.first() else { continue };
        let (word, colour) = first.word(rehearsal);
        let word = paint(colour, &format!("{word:<8}"));
        if group.len() > 2 {
            let names: Vec<String> = group.iter().map(|change| name(&change.path)).collect();
            let folder = first.path.parent().map(|folder| site.short(folder)).unwrap_or_default();
            screen::say(format!(
                "  {word} {folder}/ {}",
                paint(Colour::Dim, &format!("{} files: {}", names.len(), names.join(", ")))
            ));
            continue;
        }
        for change in group {
            screen::say(
                format!("  {word} {} {}", site.short(&change.path), paint(Colour::Dim, &change.note)).trim_end(),
            );
            if rehearsal {
                change.preview();
            }
        }
    }
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
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
