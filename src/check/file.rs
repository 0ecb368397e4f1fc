//! `file`: at least one file matches an artifact or a glob.

use super::Scope;
use crate::facts;
use crate::verdict::Outcome;
use crate::yaml::{Node, NodeValue, TreeReader};
use serde::{Deserialize, Serialize};

/// Holds when a file matches and is not empty.
///
/// Of several matches the newest is judged; `newest: false` is content with any of them. `min_chars`
/// asks for a size, `newer_than` for a file written after another artifact's newest.
///
/// ```yaml
/// check: { file: plan }
/// check: { file: { of: plan, newer_than: report, min_chars: 200 } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileCheck {
    /// The artifact, or a glob.
    pub of: String,
    /// The artifact or glob whose newest file must be older.
    pub newer_than: Option<String>,
    /// The least size in characters (counted in bytes, which are never fewer).
    pub min_chars: u32,
    /// Whether only the newest match is judged.
    pub newest: bool,
}

impl FileCheck {
    pub(super) fn read(reader: &mut TreeReader, node: &Node) -> Self {
        let mut file = Self { of: String::new(), newer_than: None, min_chars: 0, newest: true };
        if !matches!(node.value, NodeValue::Map(_)) {
            return Self { of: reader.artifact(node), ..file };
        }
        let fields = reader.fields(node, "`file`", &["of", "newer_than", "min_chars", "newest"]);
        match fields.read(reader, "of", TreeReader::artifact) {
            Some(of) => file.of = of,
            None => reader.problem(node, "`file` needs `of`: an artifact or a glob"),
        }
        file.newer_than = fields.read(reader, "newer_than", TreeReader::artifact);
        file.min_chars = fields.read(reader, "min_chars", TreeReader::number).unwrap_or(0);
        file.newest = fields.read(reader, "newest", TreeReader::boolean).unwrap_or(true);
        file
    }

    pub(super) fn evaluate(&self, scope: &Scope<'_>) -> Outcome {
        let files = match matching(&self.of, scope) {
            Ok(files) => files,
            Err(outcome) => return outcome,
        };
        let judged = if self.newest { files.get(..1).unwrap_or(&files) } else { &files };
        let mut first = None;
        for file in judged {
            match self.lack(file, scope) {
                Ok(None) => return Outcome::passes(format!("`{}` exists", file.path)),
                Ok(Some(lack)) => drop(first.get_or_insert(lack)),
                Err(why) => return Outcome::unknown(why),
            }
        }
        Outcome::fails(first.unwrap_or_default()).remedied(format!("write {}", scope.called(&self.of)))
    }

    /// What a file that matches lacks.
    fn lack(&self, file: &facts::FoundFile, scope: &Scope<'_>) -> Result<Option<String>, String> {
        if file.size < u64::from(self.min_chars) {
            let Self { min_chars, .. } = self;
            return Ok(Some(format!("`{}` has {} characters, {min_chars} are wanted", file.path, file.size)));
        }
        let Some(older) = &self.newer_than else { return Ok(None) };
        let newest = scope.facts.files(scope.globs(older)?)?.into_iter().next();
        let stale = newest.filter(|older| older.modified >= file.modified);
        Ok(stale.map(|older| format!("`{}` is not newer than `{}`", file.path, older.path)))
    }

    pub(super) fn expectation(&self, scope: &Scope<'_>) -> String {
        let size =
            if self.min_chars > 0 { format!(" with at least {} characters", self.min_chars) } else { String::new() };
        let called = scope.called(&self.of);
        let called = if called.starts_with("a file like ") { called } else { format!("the file `{called}`") };
        format!("{called} exists and is not empty{size}")
    }
}

/// The files of an artifact, newest first and at least one, or why there is none. An empty file is no evidence.
pub(super) fn matching(of: &str, scope: &Scope<'_>) -> Result<Vec<facts::FoundFile>, Outcome> {
    let globs = scope.globs(of).map_err(Outcome::unknown)?;
    let wanted = globs.first().cloned().unwrap_or_default();
    let files = scope.facts.files(globs).map_err(Outcome::unknown)?;
    let (full, empty): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| file.size > 0);
    if full.is_empty() {
        let saw = empty
            .first()
            .map_or_else(|| format!("no file matches {wanted}"), |file| format!("`{}` is empty", file.path));
        return Err(Outcome::fails(saw).remedied(format!("write {}", scope.called(of))));
    }
    Ok(full)
}
