//! `clean`: nothing is uncommitted.

use super::prelude::*;
use crate::facts::{BASELINE_NOTES, GitChange, Unknown};
use crate::host::event::EventKind;
use std::collections::BTreeMap;

/// How many changes a message names.
const NAMED: usize = 3;

/// Passes when git has no uncommitted change under the paths: staged, unstaged, untracked, deleted and renamed files
/// count. With `moved`, the files of HEAD must also differ from those when the mode was activated. With `since: activation`, files that
/// were uncommitted then and have not changed do not count, and neither do files as another session wrote them. Ignore rules and
/// stashes that were made while a mode of the session with `since: activation` was active hide nothing.
/// After a tool call, a check with `moved` looks for changes only if HEAD has moved.
///
/// ```yaml
/// check: { clean: src }
/// check: { clean: [".", "!docs", "!*.md"] }
/// check: { clean: { paths: ["{code}"], moved: true, since: activation } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CleanCheck {
    /// Paths in the project; `.` is all of it, `!` excludes.
    pub paths: Vec<String>,
    pub moved: bool,
    pub since_activation: bool,
}

impl CheckKind for CleanCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        if !node.is_map() {
            return Self { paths: reader.templates(node), moved: false, since_activation: false };
        }
        let fields = reader.fields(node, "`clean`", &["paths", "moved", "since"]);
        let paths = fields.read(reader, "paths", TreeReader::templates);
        let moved = fields.flag(reader, "moved");
        let since_activation = fields.word(reader, "since", &[("activation", true)]).unwrap_or(false);
        Self { paths: paths.unwrap_or_else(|| vec![".".to_owned()]), moved, since_activation }
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let paths = scope.expand_all(&self.paths)?;
        let place = place_words(&paths);
        // Nearly every tool call commits nothing, and then git is not started.
        let is_after_tool_call =
            matches!(scope.event.kind, Some(EventKind::PostToolUse | EventKind::PostToolUseFailure));
        if self.moved && is_after_tool_call && !Self::has_moved(scope)? {
            return Ok(Outcome::fails("nothing was committed since the mode began").remedied("commit the work"));
        }
        let changes = self.changes(paths, scope)?;
        if changes.is_empty() {
            return self.without_changes(&place, scope);
        }
        let named = changes.iter().take(NAMED);
        let named = named.map(|change| format!("{} ({})", scope.display_path(&change.path), change.kind));
        let more = if changes.len() > NAMED { ", and more" } else { "" };
        let named = named.collect::<Vec<_>>().join(", ");
        Ok(Outcome::fails(format!("uncommitted {place}: {named}{more}")).remedied("commit these changes"))
    }

    fn expectation(&self, scope: &Scope<'_>) -> Option<String> {
        let paths = scope.expand_all(&self.paths).unwrap_or_else(|_| self.paths.clone());
        let excluded: Vec<&str> = paths.iter().filter_map(|path| path.strip_prefix('!')).collect();
        let except = if excluded.is_empty() { String::new() } else { format!(" (except {})", excluded.join(", ")) };
        let moved = if self.moved { ", with a new commit" } else { "" };
        Some(format!("nothing is uncommitted {}{except}{moved}", place_words(&paths)))
    }
}

/// The searched paths, as a phrase.
fn place_words(paths: &[String]) -> String {
    let included: Vec<&str> = paths.iter().map(String::as_str).filter(|path| !path.starts_with('!')).collect();
    match included.as_slice() {
        [] | ["."] => "in the project".to_owned(),
        included => format!("under {}", included.join(", ")),
    }
}

impl CleanCheck {
    /// The paths whose changes are remembered when the mode is activated.
    pub fn baseline_paths(&self, scope: &Scope<'_>) -> Option<Vec<String>> {
        self.since_activation.then(|| scope.expand_all(&self.paths).ok())?
    }

    fn changes(&self, paths: Vec<String>, scope: &Scope<'_>) -> Result<Vec<GitChange>, Unknown> {
        if let Some(state) = scope.mode_state().filter(|_| self.since_activation) {
            return scope.facts.changes_since(paths, state.baseline.clone());
        }
        let changes = scope.facts.changes(paths.clone())?;
        match Self::other_modes_notes(scope).filter(|_| changes.is_empty()) {
            Some(notes) => scope.facts.changes_since(paths, notes),
            None => Ok(changes),
        }
    }

    /// The ignore rules and stashes when another mode that is active began: what was added since hides changes.
    fn other_modes_notes(scope: &Scope<'_>) -> Option<BTreeMap<String, String>> {
        let active = scope.session.modes.values().filter(|state| state.is_active);
        let with_notes = active.filter(|state| state.baseline.keys().any(|key| key.starts_with(BASELINE_NOTES)));
        let first = with_notes.min_by(|left, right| left.activated_at.cmp(&right.activated_at))?;
        let mut notes = first.baseline.clone();
        notes.retain(|key, _| key.starts_with(BASELINE_NOTES));
        Some(notes)
    }

    /// Whether the files of HEAD differ from those when the mode was activated.
    fn has_moved(scope: &Scope<'_>) -> Result<bool, Outcome> {
        let before = scope.mode_state().and_then(|state| state.head.clone());
        let before = before.ok_or_else(|| Outcome::unknown("HEAD at the start of the mode is not known"))?;
        let now = scope.facts.head()?;
        Ok(now.unwrap_or_default() != before && scope.facts.head_changed(before)?)
    }

    /// The outcome where nothing is uncommitted.
    fn without_changes(&self, place: &str, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let is_file = |path: &&String| !path.starts_with(BASELINE_NOTES);
        let older = scope.mode_state().filter(|_| self.since_activation);
        let older = older.map_or(0, |state| state.baseline.keys().filter(is_file).count());
        let older = match older {
            0 => String::new(),
            1 => " (not counting 1 file that was changed before the mode began)".to_owned(),
            older => format!(" (not counting {older} files that were changed before the mode began)"),
        };
        let own = if self.since_activation { "nothing of this session" } else { "nothing" };
        let clean = format!("{own} is uncommitted {place}{older}");
        if !self.moved {
            return Ok(Outcome::passes(clean));
        }
        if !Self::has_moved(scope)? {
            let saw = format!("{clean}, but nothing was committed since the mode began");
            return Ok(Outcome::fails(saw).remedied("commit the work"));
        }
        Ok(Outcome::passes(format!("{clean}, and HEAD has moved")))
    }
}
