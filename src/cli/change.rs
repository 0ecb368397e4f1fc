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

impl Change {
    pub(super) fn new(path: impl Into<PathBuf>, deed: Deed, note: impl Into<String>) -> Self {
        Self { path: path.into(), deed, note: note.into() }
    }

    /// A text file that shall be `after`.
    #[must_use]
    pub(super) fn text(path: PathBuf, before: Option<String>, after: String, note: impl Into<String>) -> Self {
        let same = before.as_deref() == Some(after.as_str());
        Self::new(path, if same { Deed::Same } else { Deed::Text { before, after } }, note)
    }

    /// What happens to the file, in a word: done, or in a rehearsal to be done.
    fn word(&self, rehearsal: bool) -> (&'static str, Colour) {
        let (done, planned, colour) = match self.deed {
            Deed::Program(_)
            | Deed::New(_)
            | Deed::Text { before: None, .. }
            | Deed::Own { before: None, .. }
            | Deed::Backup { .. } => ("wrote", "write", Colour::Green),
            Deed::Text { .. } | Deed::Own { .. } => ("changed", "change", Colour::Green),
            Deed::Remove | Deed::RemoveAll => ("removed", "remove", Colour::Green),
            Deed::Same => ("same", "same", Colour::Dim),
            Deed::Keep => ("kept", "keep", Colour::Yellow),
        };
        (if rehearsal { planned } else { done }, colour)
    }

    /// Whether anything changes.
    fn is_one(&self) -> bool {
        !matches!(self.deed, Deed::Same | Deed::Keep)
    }

    /// Does it.
    fn apply(&self) -> io::Result<()> {
        match &self.deed {
            Deed::Program(bytes) => disk::put_program(&self.path, bytes),
            Deed::New(text) => disk::rewrite(&self.path, text.as_bytes()),
            Deed::Text { after, .. } => disk::rewrite(&self.path, after.as_bytes()),
            Deed::Own { after, .. } => {
                disk::refuse_link(&self.path)?;
                disk::replace(&self.path.with_file_name("gitignore.tmp"), &self.path, after.as_bytes())
            }
            Deed::Backup { of, text } => {
                let beside = self.path.with_extension("tmp");
                disk::refuse_link(&self.path)?;
                disk::replace(&beside, &self.path, text.as_bytes())?;
                fs::metadata(of).and_then(|meta| fs::set_permissions(&self.path, meta.permissions()))
            }
            Deed::Remove => fs::remove_file(&self.path),
            Deed::RemoveAll => fs::remove_dir_all(&self.path),
            Deed::Same | Deed::Keep => Ok(()),
        }
    }

    /// The difference that it makes to a text.
    fn diff(&self) -> Option<String> {
        let (Deed::Text { before, after } | Deed::Own { before, after }) = &self.deed else { return None };
        let diff = similar::TextDiff::from_lines(before.as_deref().unwrap_or_default(), after);
        Some(diff.unified_diff().context_radius(2).to_string())
    }

    fn preview(&self) {
        for line in self.diff().unwrap_or_default().lines() {
            let colour = match line.chars().next() {
                Some('+') => Colour::Green,
                Some('-') => Colour::Red,
                _ => Colour::Dim,
            };
            screen::say(format!("    {}", paint(colour, line)));
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

    /// The bytes that it has put at its path, for the receipt.
    pub(super) fn written(&self) -> Option<&[u8]> {
        match &self.deed {
            Deed::Program(bytes) => Some(bytes),
            Deed::New(text) => Some(text.as_bytes()),
            Deed::Own { before: None, after } => Some(after.as_bytes()),
            Deed::Backup { text, .. } => Some(text.as_bytes()),
            _ => None,
        }
    }
}

/// Does all changes; the error says what was done before it.
pub(super) fn apply(changes: &[Change], site: &Site) -> Result<(), String> {
    for (done, change) in changes.iter().enumerate() {
        change.apply().map_err(|error| {
            let before: Vec<String> = changes
                .iter()
                .take(done)
                .filter(|change| change.is_one())
                .map(|change| site.short(&change.path))
                .collect();
            let before = if before.is_empty() {
                "nothing was changed".to_owned()
            } else {
                format!("done before: {}", before.join(", "))
            };
            format!("`{}`: {error}\n  hint: mend that and run this again; {before}", site.short(&change.path))
        })?;
    }
    Ok(())
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
