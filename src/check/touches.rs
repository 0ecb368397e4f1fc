//! `touches`: the paths that the tool call would change.

use super::{CheckKind, Scope};
use crate::facts::{EffectQuery, ProtectedPaths, Unknown};
use crate::shell::{Certainty, Effect};
use crate::verdict::Outcome;
use crate::yaml::{Node, TreeReader};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// Passes when the tool call would have one of `effects` (`remove`, `write`, `mode`, `own`, `device`, `bomb`, `send`) on one of
/// `paths`: the path itself, or a folder above it with everything below.
///
/// Paths begin with `/`, with `~/` for the home folder, or are relative to the project; `/**` at the end means everything
/// below, `**/` at the beginning any folder. With `recursive: true` only recursive effects count. Command lines are
/// parsed, including commands behind `sudo`, `bash -c`, `xargs`, `find` and the like, and paths are normalised. If the
/// line cannot be parsed, or a variable could make it one of the paths, the check is unknown. With `remote: true` only changes on other machines count: `ssh host '…'`, `scp`, `rsync`.
///
/// ```yaml
/// check: { not: { touches: { effects: [remove], paths: [/, "~", "/etc/**"] } } }
/// check: { not: { touches: { effects: [write], paths: ["**/.env"], except: ["**/.env.example"] } } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchesCheck {
    /// The effects that count.
    pub effects: Vec<Effect>,
    /// The paths that count.
    pub paths: Vec<String>,
    /// Paths that do not count.
    pub except: Vec<String>,
    /// Whether only recursive effects count.
    pub recursive: bool,
    /// Whether other machines are asked about instead of this one.
    pub remote: bool,
    /// The question, if it has no variables.
    #[serde(skip)]
    cached: CachedQuery,
}

/// A question that is built once.
#[derive(Debug, Clone, Default)]
struct CachedQuery(OnceLock<EffectQuery>);

/// It follows from the other fields.
impl PartialEq for CachedQuery {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for CachedQuery {}

impl CheckKind for TouchesCheck {
    fn read(reader: &mut TreeReader, node: &Node) -> Self {
        let fields = reader.fields(node, "`touches`", &["effects", "paths", "except", "recursive", "remote"]);
        let effects = fields.read(reader, "effects", |reader, node| {
            reader
                .each(node, |reader, node| reader.word(node, &Effect::WORDS))
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
        });
        let effects = effects.unwrap_or_default();
        if effects.is_empty() {
            fields.missing(reader, node, "`touches` needs `effects`: remove, write, mode, own, device, bomb, send");
        }
        Self {
            effects,
            paths: fields.read(reader, "paths", TreeReader::templates).unwrap_or_default(),
            except: fields.read(reader, "except", TreeReader::templates).unwrap_or_default(),
            recursive: fields.read(reader, "recursive", TreeReader::boolean).unwrap_or(false),
            remote: fields.read(reader, "remote", TreeReader::boolean).unwrap_or(false),
            cached: CachedQuery::default(),
        }
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let query = self.query(scope).map_err(Outcome::unknown)?;
        Ok(match scope.facts.touches(query).map_err(Outcome::unknown)? {
            None => Outcome::fails("the tool call changes none of these paths"),
            Some(found) => {
                let saw = format!("`{}` {} `{}`", found.by, found.effect.third_person(), found.path);
                match found.certainty {
                    Certainty::Certain => Outcome::passes(saw),
                    Certainty::Possible => {
                        Outcome::unknown(format!("`{}` may {} `{}`", found.by, found.effect.verb(), found.path))
                    }
                }
            }
        })
    }
}

impl TouchesCheck {
    fn query(&self, scope: &Scope<'_>) -> Result<EffectQuery, Unknown> {
        let build = |paths: Vec<String>, except: Vec<String>| {
            let mut query = ProtectedPaths::default();
            (query.effects, query.paths, query.except) = (self.effects.clone(), paths, except);
            (query.recursive, query.remote) = (self.recursive, self.remote);
            query.into_query()
        };
        if self.paths.iter().chain(&self.except).any(|path| path.contains('{')) {
            return Ok(build(scope.expand_all(&self.paths)?, scope.expand_all(&self.except)?));
        }
        Ok(self.cached.0.get_or_init(|| build(self.paths.clone(), self.except.clone())).clone())
    }
}
