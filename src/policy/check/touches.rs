//! `touches`: the paths that the tool call would change.

use super::prelude::*;
use crate::facts::{EffectQuery, FoundEffect, ProtectedPaths, Unknown};
use shell_effects::{Certainty, Effect};

/// Passes when the tool call would have one of `effects` (`remove`, `write`, `mode`, `own`, `device`, `bomb`, `send`) on one of
/// `paths`: the path itself, or a folder above it with everything below.
///
/// Paths begin with `/`, with `~/` for the home folder, or are relative to the project; `/**` at the end means everything
/// below, `**/` at the beginning any folder. With `recursive: true` only recursive effects count, with `existing: true` only those on
/// files that exist before the call. Command lines are parsed, including commands behind `sudo`, `bash -c`, `xargs`, `find` and the like, and paths are normalised. If the
/// line cannot be parsed, or a variable could make it one of the paths, the check is unknown. With `remote: true` only changes on other machines count: `ssh host '…'`, `scp`, `rsync`.
///
/// ```yaml
/// check: { not: { touches: { effects: [remove], paths: [/, "~", "/etc/**"] } } }
/// check: { not: { touches: { effects: [write], paths: ["**/.env"], except: ["**/.env.example"] } } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchesCheck {
    query: ProtectedPaths,
    has_variables: bool,
}

impl CheckKind for TouchesCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        let fields =
            reader.fields(node, "`touches`", &["effects", "paths", "except", "recursive", "existing", "remote"]);
        let effect = |reader: &mut TreeReader, node: &Node| reader.word(node, &Effect::WORDS);
        let effects = fields.read(reader, "effects", |reader, node| reader.each(node, effect)).unwrap_or_default();
        let effects: Vec<Effect> = effects.into_iter().flatten().collect();
        if effects.is_empty() {
            fields.missing(reader, node, "`touches` needs `effects`: remove, write, mode, own, device, bomb, send");
        }
        let mut query = ProtectedPaths::default();
        query.effects = effects;
        query.paths = fields.templates(reader, "paths").into_iter().collect();
        query.except = fields.templates(reader, "except").into_iter().collect();
        query.recursive = fields.flag(reader, "recursive");
        query.existing = fields.flag(reader, "existing");
        query.remote = fields.flag(reader, "remote");
        Self { has_variables: query.has_variables(), query: query.with_digest() }
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let query = query_in(scope, &self.query, self.has_variables)?;
        Ok(match scope.facts.touches(query)? {
            None => Outcome::fails("the tool call changes none of these paths"),
            Some(FoundEffect { by, effect, path, certainty: Certainty::Certain }) => {
                Outcome::passes(format!("`{by}` {} `{path}`", effect.third_person()))
            }
            Some(FoundEffect { by, effect, path, certainty: Certainty::Possible }) => {
                Outcome::unknown(format!("`{by}` may {} `{path}`", effect.verb()))
            }
        })
    }
}

pub(super) fn query_in(scope: &Scope<'_>, query: &ProtectedPaths, has_variables: bool) -> Result<EffectQuery, Unknown> {
    if !has_variables {
        return Ok(query.clone().into_query());
    }
    let mut filled = query.clone();
    filled.paths = scope.expand_all(query.paths.iter())?.into_iter().collect();
    filled.except = scope.expand_all(query.except.iter())?.into_iter().collect();
    Ok(filled.with_digest().into_query())
}
