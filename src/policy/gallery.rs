//! The gallery: gates and modes that a project can add to its own.

/// An entry of the gallery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GalleryEntry {
    /// Its name, which is that of its file.
    pub name: &'static str,
    /// Its mode file; gates are files of the base mode.
    pub text: &'static str,
    /// The command that starts it, with the text of its file, for a whole mode.
    pub command: Option<(&'static str, &'static str)>,
}

impl GalleryEntry {
    /// What it is for: the first line of its file, a comment.
    pub fn about(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches(['#', ' '])
    }
}

macro_rules! gallery {
    ($($name:literal $(with $command:literal)?),* $(,)?) => {
        /// Every entry, gates first.
        pub const GALLERY: &[GalleryEntry] = &[$(GalleryEntry {
            name: $name,
            text: include_str!(concat!("../../modes/gallery/", $name, ".yaml")),
            command: gallery!(@command $($command)?),
        },)*];
    };
    (@command) => { None };
    (@command $name:literal) => {
        Some(($name, include_str!(concat!("../../modes/gallery/commands/", $name, ".md"))))
    };
}

gallery! {
    "tests-before-commit",
    "lint-before-commit",
    "build-before-commit",
    "tests-before-push",
    "tests-before-stop",
    "branch-first",
    "stage-by-name",
    "conventional-commits",
    "changelog-with-code",
    "keep-history",
    "keep-git-hooks",
    "remote-changes",
    "ask-for-migrations",
    "ask-for-workflows",
    "bugfix" with "bugfix",
    "release" with "release",
    "migration" with "migration",
    "spec-driven" with "spec",
}
