//! The files and the program that the caller of the analysis protects.

/// A tool whose settings and program are protected wherever they are; all lists are separated by spaces.
///
/// Questions name protected paths themselves. This is for commands that reach such paths without a name: copies of whole
/// folders, patches, searches, and scripts.
#[derive(Debug, PartialEq, Eq)]
pub struct ProtectedFiles {
    /// The folder with the settings, in a project and in the home.
    pub folder: &'static str,
    /// The names of folders in it that hold protected files.
    pub subfolders: &'static [&'static str],
    /// The folder in it that has projects of its own, which are not protected.
    pub worktrees: &'static str,
    /// Files and folders in it, each with a path that changes if it is copied.
    pub files: &'static [(&'static str, &'static str)],
    /// Ends of paths outside the folder.
    pub ends: &'static [&'static str],
    /// Parts of paths outside the folder.
    pub parts: &'static [&'static str],
    /// The name of the program.
    pub program: &'static str,
    /// Commands of the program that only read.
    pub reading_commands: &'static str,
    /// Options of the program that write a file.
    pub writing_options: &'static str,
    /// Options of the program whose value is the file that it writes.
    pub report_options: &'static str,
    /// The variable with the project's folder.
    pub project_variable: &'static str,
}

/// Nothing is protected.
pub static NOTHING_PROTECTED: ProtectedFiles = ProtectedFiles {
    folder: "",
    subfolders: &[],
    worktrees: "",
    files: &[],
    ends: &[],
    parts: &[],
    program: "",
    reading_commands: "",
    writing_options: "",
    report_options: "",
    project_variable: "",
};

impl Default for &ProtectedFiles {
    fn default() -> Self {
        &NOTHING_PROTECTED
    }
}

impl ProtectedFiles {
    /// Whether a path is protected; worktrees in the folder are projects.
    pub(crate) fn has(&self, path: &str) -> bool {
        let below = format!("/{}/", self.folder);
        let in_folder = path.rsplit_once(&below).is_some_and(|(_, rest)| !rest.starts_with(self.worktrees));
        !self.folder.is_empty()
            && (in_folder
                || path.ends_with(below.trim_end_matches('/'))
                || self.ends.iter().any(|end| path.ends_with(end))
                || self.parts.iter().any(|part| path.contains(part)))
    }

    /// Whether a text in lower case names the folder or the program.
    pub(crate) fn is_named_in(&self, text: &str) -> bool {
        !self.folder.is_empty() && (text.contains(self.folder) || text.contains(self.program))
    }

    /// Whether a word names the program.
    pub(crate) fn is_program_in(&self, word: &str) -> bool {
        !self.program.is_empty() && word.contains(self.program)
    }

    /// Whether a program's name is that of the protected one.
    pub(crate) fn is_program(&self, name: &str) -> bool {
        !self.program.is_empty() && name.strip_suffix(".exe").unwrap_or(name) == self.program
    }

    /// Whether a pattern that a command excludes covers the folder: `./FOLDER/*`, `*/FOLDER`, `.*`.
    pub(crate) fn is_covered_by(&self, pattern: &str) -> bool {
        let path = pattern.trim_start_matches("./").trim_start_matches("**/").trim_start_matches("*/");
        let path = path.trim_end_matches("/**").trim_end_matches("/*").trim_matches('/');
        [self.folder, ".*"].contains(&path)
    }
}
