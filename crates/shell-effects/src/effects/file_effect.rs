//! Records changes to files, and the content of files that the line writes.

use super::target_path::{TargetPath, absolute};
use super::walker::Walker;
use super::{Effect, FileEffect};
use crate::syntax::Unreadable;
use crate::word::ShellWord;

/// The work of a change.
const CHANGE: usize = 150;
/// The most paths that one path is followed to.
const MOST_ORIGINALS: usize = 8;
/// Devices that are harmless to write to.
const HARMLESS: [&str; 7] = ["null", "stdout", "stderr", "tty", "zero", "full", "stdin"];

impl Walker<'_> {
    pub fn write(&mut self, word: &ShellWord) {
        self.change(Effect::Write, word, false);
    }

    /// Records the same change of each word.
    pub fn change_all<'w>(&mut self, effect: Effect, words: impl IntoIterator<Item = &'w ShellWord>, recursive: bool) {
        words.into_iter().for_each(|word| self.change(effect, word, recursive));
    }

    /// Records a change of the path in a word.
    pub fn change(&mut self, effect: Effect, word: &ShellWord, recursive: bool) {
        if word.pieces().is_empty() || self.budget.is_used_up() {
            return;
        }
        let target = self.target(word);
        let bare = match &target {
            TargetPath::Known { path, .. } => path.as_str(),
            TargetPath::Below { prefix, .. } => prefix.as_str(),
            TargetPath::Unknown { .. } | TargetPath::Anywhere => "",
        };
        let effect = match bare.strip_prefix("/dev/") {
            Some(name) if HARMLESS.contains(&name) || name.starts_with("fd/") || name.starts_with("tcp/") => return,
            Some(name) if effect == Effect::Write && !name.starts_with("shm/") => Effect::Device,
            _ => effect,
        };
        if let Some(through) = self.followed(&target) {
            self.note(effect, through, recursive);
        }
        self.note(effect, target, recursive);
        if word.text().is_some_and(|text| self.leaves_link(&text)) {
            self.give_up(Unreadable::NotFollowed(".."));
        }
        if word.prefix().starts_with('/') {
            return;
        }
        for folder in self.state.other_folders.clone() {
            let folder = std::mem::replace(&mut self.state.folder, folder);
            let target = self.target(word);
            self.state.folder = folder;
            self.add(self.effect(effect, target, recursive, false));
        }
    }

    pub fn note(&mut self, effect: Effect, target: TargetPath, recursive: bool) {
        let sure = self.is_certain(effect, &target, recursive);
        self.add(self.effect(effect, target, recursive, sure));
    }

    /// A change by the current command.
    fn effect(&self, effect: Effect, target: TargetPath, recursive: bool, sure: bool) -> FileEffect {
        FileEffect { effect, target, recursive, sure, excludes: self.excludes, by: self.by.clone() }
    }

    fn add(&mut self, change: FileEffect) {
        // Each change is compared with all protected paths.
        if !self.budget.spend(CHANGE) {
            return;
        }
        let same = |known: &FileEffect| {
            let is_alike = known.effect == change.effect && known.target == change.target && known.by == change.by;
            let is_as_wide = known.recursive || !change.recursive || change.effect != Effect::Remove;
            is_alike && is_as_wide && known.excludes == change.excludes
        };
        // Drops repetitions among the latest changes only.
        if !self.effects.changes.iter().rev().take(20).any(same) {
            self.effects.changes.push(change);
        }
    }

    pub fn target(&self, word: &ShellWord) -> TargetPath {
        let folder = self.state.folder.as_deref();
        let bare = Some(word.filled("")).filter(|bare| !bare.is_empty()).and_then(|bare| absolute(&bare, folder));
        if let Some(text) = word.text() {
            let Some(path) = absolute(&text, folder) else { return TargetPath::Unknown { bare: None } };
            return TargetPath::Known { path, glob: word.has_glob() };
        }
        let prefix = word.prefix();
        let (above, begun) = prefix.rsplit_once('/').map_or(("", prefix.as_str()), |(above, begun)| (above, begun));
        let above = if prefix.starts_with('/') { format!("/{above}") } else { format!("./{above}") };
        match (absolute(&above, folder), bare) {
            (Some(above), Some(bare)) if !prefix.is_empty() => {
                TargetPath::Below { prefix: format!("{}/{begun}", above.trim_end_matches('/')), bare }
            }
            (_, bare) => TargetPath::Unknown { bare },
        }
    }

    /// Resolves a path through links that the line created.
    pub fn followed(&self, target: &TargetPath) -> Option<TargetPath> {
        let through = |path: &str| {
            self.state.disk.links.iter().rev().find_map(|(from, to)| {
                let rest = path.strip_prefix(from.as_str())?;
                (rest.is_empty() || rest.starts_with('/')).then(|| absolute(&format!("{to}{rest}"), None)).flatten()
            })
        };
        match target {
            TargetPath::Known { path, glob } => through(path).map(|path| TargetPath::Known { path, glob: *glob }),
            TargetPath::Below { prefix, bare } => through(prefix)
                .map(|prefix| TargetPath::Below { prefix, bare: through(bare).unwrap_or_else(|| bare.clone()) }),
            TargetPath::Unknown { .. } | TargetPath::Anywhere => None,
        }
    }

    /// Finds the original of a program that the line linked or copied.
    pub fn origin(&self, program: &ShellWord) -> Option<String> {
        let text = program.text().filter(|text| text.contains('/'))?;
        let path = absolute(&text, self.state.folder.as_deref())?;
        self.originals(&path).pop().filter(|origin| *origin != path)
    }

    /// A path, and those whose content it has through links, copies and moves of the line.
    pub fn originals(&self, path: &str) -> Vec<String> {
        let disk = &self.state.disk;
        let mut paths = vec![path.to_owned()];
        let mut at = 0;
        // Links may form a cycle.
        while let Some(path) = paths.get(at).cloned()
            && self.budget.spend((disk.links.len() + disk.copies.len()) / 8)
        {
            for (to, from) in disk.links.iter().chain(&disk.copies).rev() {
                let rest = path.strip_prefix(to.as_str()).filter(|rest| rest.is_empty() || rest.starts_with('/'));
                let original = rest.map(|rest| format!("{from}{rest}")).filter(|original| !paths.contains(original));
                paths.extend(original.filter(|_| paths.len() < MOST_ORIGINALS));
            }
            at += 1;
        }
        paths
    }

    /// Remembers the content of a file, in case the line runs it.
    pub fn wrote(&mut self, file: &ShellWord, text: ShellWord) {
        if let TargetPath::Known { path, glob: false } = self.target(file) {
            self.budget.spend(text.cost());
            self.state.disk.written.push((path, text));
        }
    }

    /// The content that the line wrote to a file or to the descriptor of `<(…)`.
    pub fn content(&self, file: &ShellWord) -> Option<ShellWord> {
        let TargetPath::Known { path, .. } = self.target(file) else { return None };
        let paths = self.originals(&path);
        let mut written = self.state.disk.written.iter().filter(|(known, _)| paths.contains(known)).peekable();
        written.peek()?;
        let mut whole = ShellWord::default();
        for (_, text) in written {
            if !self.budget.spend(whole.cost() + text.cost()) {
                return Some(ShellWord::unknown());
            }
            whole.extend(text);
            whole.push("\n");
        }
        Some(whole)
    }
}
