//! `touches`: what the tool would change, on a real reading of its command line.

use super::{CheckKind, Scope};
use crate::facts::{EffectQuery, ProtectedPaths};
use crate::shell::{Certainty, Effect};
use crate::verdict::Outcome;
use crate::yaml::{Node, TreeReader};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// Holds when the tool would do one of `effects` (`remove`, `write`, `mode`, `own`, `device`, `bomb`) to one of `paths`:
/// the path itself, or a folder above it with everything below.
///
/// Paths begin with `/`, with `~/` for the user's own folder, or lie in the project; `/**` at their end means everything
/// below, `**/` at their beginning any folder. `recursive: true` counts only what is done to all below. A command line is
/// parsed, looked through (`sudo`, `bash -c`, `xargs`, `find`, …) and its paths are normalised; where it cannot be read,
/// or a variable could make it one of the paths, the check is unknown. With `strict: true` a doubt counts as a yes.
///
/// ```yaml
/// check: { not: { touches: { effects: [remove], paths: [/, "~", "/etc/**"] } } }
/// check: { not: { touches: { effects: [write], paths: ["**/.env"], except: ["**/.env.example"], strict: true } } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchesCheck {
    /// What must not be done.
    pub effects: Vec<Effect>,
    /// To which paths.
    pub paths: Vec<String>,
    /// Paths that do not count.
    pub except: Vec<String>,
    /// Whether only what is done to all below counts.
    pub recursive: bool,
    /// Whether a doubt counts as a yes.
    pub strict: bool,
    /// The question, where no variable makes it another at each event.
    #[serde(skip)]
    sealed: Sealed,
}

/// A question that is made once.
#[derive(Debug, Clone, Default)]
struct Sealed(OnceLock<EffectQuery>);

/// It follows from the rest, and so tells no two apart.
impl PartialEq for Sealed {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Sealed {}

impl CheckKind for TouchesCheck {
    fn read(reader: &mut TreeReader, node: &Node) -> Self {
        let fields = reader.fields(node, "`touches`", &["effects", "paths", "except", "recursive", "strict"]);
        let effects = fields.read(reader, "effects", |reader, node| {
            reader
                .each(node, |reader, node| reader.word(node, &Effect::WORDS))
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
        });
        let effects = effects.unwrap_or_default();
        if effects.is_empty() {
            reader.problem(node, "`touches` needs `effects`: remove, write, mode, own, device, bomb");
        }
        Self {
            effects,
            paths: fields.read(reader, "paths", TreeReader::templates).unwrap_or_default(),
            except: fields.read(reader, "except", TreeReader::templates).unwrap_or_default(),
            recursive: fields.read(reader, "recursive", TreeReader::boolean).unwrap_or(false),
            strict: fields.read(reader, "strict", TreeReader::boolean).unwrap_or(false),
            sealed: Sealed::default(),
        }
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let asked = self.asked(scope).map_err(Outcome::unknown)?;
        Ok(match scope.facts.touches(asked).map_err(Outcome::unknown)? {
            None => Outcome::fails("nothing of that is touched"),
            Some(touched) => {
                let saw = format!("`{}` {} `{}`", touched.by, touched.effect.third_person(), touched.path);
                match touched.certainty {
                    Certainty::Certain => Outcome::passes(saw),
                    Certainty::Possible if self.strict => Outcome::passes(saw),
                    Certainty::Possible => {
                        Outcome::unknown(format!("`{}` may {} `{}`", touched.by, touched.effect.verb(), touched.path))
                    }
                }
            }
        })
    }
}

impl TouchesCheck {
    fn asked(&self, scope: &Scope<'_>) -> Result<EffectQuery, String> {
        let made = |paths: Vec<String>, except: Vec<String>| {
            let mut asked = ProtectedPaths::default();
            (asked.effects, asked.paths, asked.except) = (self.effects.clone(), paths, except);
            (asked.recursive, asked.strict) = (self.recursive, self.strict);
            asked.into_query()
        };
        if self.paths.iter().chain(&self.except).any(|path| path.contains('{')) {
            return Ok(made(scope.expand_all(&self.paths)?, scope.expand_all(&self.except)?));
        }
        Ok(self.sealed.0.get_or_init(|| made(self.paths.clone(), self.except.clone())).clone())
    }
}
