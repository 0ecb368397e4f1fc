//! Files that cannot be used, and how their problems are printed.

use crate::policy::yaml::{FileProblem, Location};
use base::printable;
use base::screen::counted;
use serde::{Deserialize, Serialize};

/// What a file of the project should contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    Mode,
    /// Gates in another program's format.
    Gates,
    Settings,
}

impl std::fmt::Display for FileKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Mode => "a mode",
            Self::Gates => "a gates file",
            Self::Settings => "a settings file",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokenFile {
    /// The file, relative to the project.
    pub file: String,
    pub kind: FileKind,
    /// Its problems, each with the line that it is in.
    pub problems: Vec<(FileProblem, String)>,
    /// Whether the file is still used because its problems are only warnings.
    pub used: bool,
}

impl BrokenFile {
    pub(crate) fn new(file: &str, kind: FileKind, text: &str, mut problems: Vec<FileProblem>) -> Self {
        problems.sort_by_key(|problem| (problem.location.line, problem.location.column));
        let lines: Vec<&str> = text.lines().collect();
        let line =
            |problem: &FileProblem| lines.get(problem.location.line.saturating_sub(1)).copied().unwrap_or_default();
        let problems = problems.into_iter().map(|problem| (problem.clone(), line(&problem).to_owned())).collect();
        Self { file: file.to_owned(), kind, problems, used: false }
    }

    /// A file that cannot be read at all.
    pub fn unreadable(file: &str, kind: FileKind, why: &str) -> Self {
        Self::new(file, kind, "", vec![FileProblem::at(Location::START, why)])
    }

    /// Adds the problems of another report on the same file; those that make it unusable come first.
    pub(crate) fn merge(&mut self, mut other: Self) {
        if self.used && !other.used {
            std::mem::swap(self, &mut other);
        }
        self.problems.extend(other.problems);
    }

    /// The number of problems, in words.
    pub(crate) fn problem_count(&self) -> String {
        counted(self.problems.len(), "problem")
    }

    /// `warning` if the rest of the file is used, else `error`.
    pub(crate) fn severity(&self) -> &'static str {
        if self.used { "warning" } else { "error" }
    }

    /// The first problem in one line.
    pub fn summary(&self) -> String {
        let Self { file, kind, problems, used } = self;
        let file = printable::one_line(file);
        let first = problems.first().map(|(problem, _)| {
            let Location { line, column, .. } = problem.location;
            format!(" ({line}:{column}: {})", printable::one_line(&problem.message))
        });
        let first = first.unwrap_or_default();
        if *used {
            return format!("`{file}` has a problem{first}, the rest is used; run `modegate modes check`");
        }
        format!("`{file}` is not {kind}{first} and is ignored; run `modegate modes check`")
    }
}

impl std::fmt::Display for BrokenFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let severity = self.severity();
        let file = printable::one_line(&self.file);
        for (FileProblem { path, message, location, hint }, line) in &self.problems {
            let within = if path.is_empty() { String::new() } else { format!(" in {path}") };
            let Location { line: number, column, width } = location;
            let gutter = " ".repeat(number.to_string().len());
            let before: String =
                line.chars().take(column.saturating_sub(1)).map(|c| if c == '\t' { c } else { ' ' }).collect();
            let width = (*width).min(line.chars().count().saturating_sub(column - 1)).max(1);
            let (message, within) = (printable::one_line(message), printable::one_line(&within));
            writeln!(f, "{severity}: {message}")?;
            writeln!(f, " {gutter}--> {file}:{number}:{column}{within}")?;
            if !line.is_empty() {
                writeln!(f, " {number} | {line}")?;
                writeln!(f, " {gutter} | {before}{}", "^".repeat(width))?;
            }
            if let Some(hint) = hint {
                writeln!(f, "  hint: {hint}")?;
            }
            writeln!(f)?;
        }
        let count = self.problem_count();
        let fate = if self.used { "; the rest is used" } else { " and is ignored" };
        writeln!(f, "{severity}: `{file}` has {count}{fate}")
    }
}
