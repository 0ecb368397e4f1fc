//! `file`: at least one file matches an artifact or a glob.

use super::prelude::*;
use crate::facts::{FoundFile, TextQuery, Unknown};
use crate::host::ids::{UNKNOWN_TEAMMATE, same_agent};

/// Passes when a file matches and is not empty.
///
/// Of several matches the newest counts; with `newest: false` any of them is enough. `min_chars` requires a length, counted as
/// `text` counts it, `newer_than` a file written after another artifact's newest. With `by`, it fails if the journal shows that only other
/// agents of this session wrote the file; a file that none of them wrote is a person's or an earlier session's.
///
/// ```yaml
/// check: { file: plan }
/// check: { file: { of: plan, newer_than: report, min_chars: 200 } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileCheck {
    pub of: String,
    /// The artifact or glob whose newest file must be older.
    pub newer_than: Option<String>,
    /// The least number of characters, without frontmatter. A file with fewer bytes is not read.
    pub min_chars: u32,
    pub newest: bool,
    /// The agents one of which must have written it, if an agent did.
    pub by: Vec<String>,
}

impl CheckKind for FileCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        if !node.is_map() {
            return Self { of: reader.artifact(node), newer_than: None, min_chars: 0, newest: true, by: Vec::new() };
        }
        let fields = reader.fields(node, "`file`", &["of", "newer_than", "min_chars", "newest", "by"]);
        Self {
            of: fields.artifact(reader, node, "`file`"),
            newer_than: fields.read(reader, "newer_than", TreeReader::artifact),
            min_chars: fields.read(reader, "min_chars", TreeReader::number).unwrap_or(0),
            newest: fields.read(reader, "newest", TreeReader::boolean).unwrap_or(true),
            by: fields.read(reader, "by", |reader, node| reader.each(node, TreeReader::text)).unwrap_or_default(),
        }
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let mut first = None;
        for file in matching(&self.of, self.newest, scope)? {
            match self.first_problem(&file, scope)? {
                None => return Ok(Outcome::passes(format!("`{}` exists", file.path))),
                Some(problem) => drop(first.get_or_insert(problem)),
            }
        }
        let called = scope.describe_artifact(&self.of);
        let remedy = match self.by.first() {
            Some(by) => format!("let {by} write {called}"),
            None => format!("write {called}"),
        };
        Ok(Outcome::fails(first.unwrap_or_default()).remedied(remedy))
    }

    fn artifact(&self) -> Option<&str> {
        Some(&self.of)
    }

    fn expectation(&self, scope: &Scope<'_>) -> Option<String> {
        let size =
            if self.min_chars > 0 { format!(" with at least {} characters", self.min_chars) } else { String::new() };
        let called = scope.describe_artifact(&self.of);
        let called = if called.starts_with("a file like ") { called } else { format!("the file `{called}`") };
        let replaced = |file: FoundFile| self.other_writer(&file.path, scope).is_some();
        let is_replaced = !self.by.is_empty()
            && matching(&self.of, true, scope).is_ok_and(|mut found| found.pop().is_some_and(replaced));
        let by = self.by.first().filter(|_| is_replaced).map(|by| format!(", written by {by}")).unwrap_or_default();
        Some(format!("{called} exists and is not empty{size}{by}"))
    }
}

/// The writer of a file, in words.
pub(super) fn named_writer(writer: &str) -> &str {
    if writer == "main" { "the main agent" } else { writer }
}

impl FileCheck {
    /// The first requirement that a matching file does not meet.
    fn first_problem(&self, file: &FoundFile, scope: &Scope<'_>) -> Result<Option<String>, Unknown> {
        let short = |size: String| Ok(Some(format!("`{}` has {size}", scope.display_path(&file.path))));
        if file.size < u64::from(self.min_chars) {
            return short(format!("{} bytes, needs {} characters", file.size, self.min_chars));
        }
        if self.min_chars > 0 {
            let chars = scope.facts.text(file.path.clone(), TextQuery::default())?.chars;
            if chars < self.min_chars as usize {
                return short(format!("{chars} characters, needs {}", self.min_chars));
            }
        }
        if let Some(writer) = self.other_writer(&file.path, scope) {
            return Ok(Some(format!("`{}` was written by {}", scope.display_path(&file.path), named_writer(&writer))));
        }
        let Some(older) = &self.newer_than else { return Ok(None) };
        let newest = scope.facts.files(scope.globs(older)?)?.into_iter().next();
        let stale = newest.filter(|older| older.modified >= file.modified);
        let names = |older: FoundFile| (scope.display_path(&file.path), scope.display_path(&older.path));
        Ok(stale.map(names).map(|(path, older)| format!("`{path}` is not newer than `{older}`")))
    }

    /// The agent that wrote the file instead of one in `by`.
    ///
    /// No agent is blamed if the journal cannot be read, or the type of a teammate is not known.
    fn other_writer(&self, path: &str, scope: &Scope<'_>) -> Option<String> {
        if self.by.is_empty() {
            return None;
        }
        let mut writers = scope.facts.writers(path.to_owned()).ok()?;
        let is_right = |writer: &String| writer == UNKNOWN_TEAMMATE || self.by.iter().any(|by| same_agent(writer, by));
        if writers.iter().any(is_right) { None } else { writers.pop() }
    }
}

/// The path of an artifact's newest file, whoever wrote it.
pub(super) fn newest(of: &str, scope: &Scope<'_>) -> Result<String, Outcome> {
    Ok(matching(of, true, &scope.shared())?.swap_remove(0).path)
}

/// The files of an artifact, newest first and at least one, or why there is none; `newest` keeps only the first. Empty
/// files are ignored.
pub(super) fn matching(of: &str, newest: bool, scope: &Scope<'_>) -> Result<Vec<FoundFile>, Outcome> {
    let globs = scope.globs(of)?;
    let wanted = globs.first().cloned().unwrap_or_default();
    let files = scope.facts.files(globs)?;
    let (mut full, empty): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| file.size > 0);
    if full.is_empty() {
        let saw = match empty.first() {
            Some(file) => format!("`{}` is empty", scope.display_path(&file.path)),
            None => format!("no file matches {}", scope.display_path(&wanted)),
        };
        return Err(Outcome::fails(saw).remedied(format!("write {}", scope.describe_artifact(of))));
    }
    if let Some(own) = scope.own_path(of) {
        full = own_files(of, &own, full, scope)?;
    }
    if newest {
        full.truncate(1);
    }
    Ok(full)
}

/// The files that a parallel agent wrote itself or that have its own path, at least one.
fn own_files(of: &str, own: &str, files: Vec<FoundFile>, scope: &Scope<'_>) -> Result<Vec<FoundFile>, Outcome> {
    let id = scope.parallel.map(|agent| agent.id).unwrap_or_default();
    let remedy = || format!("write {}", scope.display_path(own));
    let (mut kept, others): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|file| file.path == own || scope.is_own_path(of, &file.path));
    if !kept.is_empty() {
        return Ok(kept);
    }
    for file in others {
        match scope.facts.wrote(file.path.clone(), id.to_owned()) {
            Ok(true) => kept.push(file),
            Ok(false) => {}
            Err(unknown) => return Err(Outcome::unknown(unknown).remedied(remedy())),
        }
    }
    if kept.is_empty() {
        let wanted = scope.globs(of).ok().and_then(|globs| globs.into_iter().next()).unwrap_or_default();
        let saw =
            format!("other agents wrote the files that match {}, and you wrote none", scope.display_path(&wanted));
        return Err(Outcome::fails(saw).remedied(remedy()));
    }
    Ok(kept)
}
