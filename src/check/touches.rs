//! `touches`: what the tool would change, on a real reading of its command line.

use super::Scope;
use crate::facts::{Answer, Question, Sureness, Touching, unknown};
use crate::verdict::Outcome;
use crate::yaml::{Node, Reader};
use serde::{Deserialize, Serialize};

/// The words for what is done to a path.
const DEEDS: [(&str, &str); 6] = [
    ("remove", "remove"),
    ("write", "write"),
    ("mode", "mode"),
    ("own", "own"),
    ("device", "device"),
    ("bomb", "bomb"),
];

/// Holds when the tool would do one of `deeds` (`remove`, `write`, `mode`, `own`, `device`, `bomb`) to one of `paths`:
/// the path itself, or a folder above it with everything below.
///
/// Paths begin with `/`, with `~/` for the user's own folder, or lie in the project; `/**` at their end means everything
/// below, `**/` at their beginning any folder. `recursive: true` counts only what is done to all below. A command line is
/// parsed, looked through (`sudo`, `bash -c`, `xargs`, `find`, …) and its paths are normalised; where it cannot be read,
/// or a variable could make it one of the paths, the check is unknown. With `strict: true` a doubt counts as a yes.
///
/// ```yaml
/// check: { not: { touches: { deeds: [remove], paths: [/, "~", "/etc/**"] } } }
/// check: { not: { touches: { deeds: [write], paths: ["**/.env"], except: ["**/.env.example"], strict: true } } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touches(pub Touching);

impl Touches {
    pub(super) fn read(reader: &mut Reader, node: &Node) -> Self {
        let fields = reader.fields(node, "`touches`", &["deeds", "paths", "except", "recursive", "strict"]);
        let deed = |reader: &mut Reader, node: &Node| reader.word(node, &DEEDS).unwrap_or_default().to_owned();
        let deeds = fields.read(reader, "deeds", |reader, node| reader.each(node, deed)).unwrap_or_default();
        if deeds.is_empty() {
            reader.problem(node, "`touches` needs `deeds`: remove, write, mode, own, device, bomb");
        }
        Self(Touching {
            deeds,
            paths: fields.read(reader, "paths", Reader::templates).unwrap_or_default(),
            except: fields.read(reader, "except", Reader::templates).unwrap_or_default(),
            recursive: fields.read(reader, "recursive", Reader::boolean).unwrap_or(false),
            strict: fields.read(reader, "strict", Reader::boolean).unwrap_or(false),
        })
    }

    pub(super) fn evaluate(&self, scope: &Scope<'_>) -> Outcome {
        let expanded = |texts: &[String]| scope.expand_all(texts);
        let (paths, except) = match (expanded(&self.0.paths), expanded(&self.0.except)) {
            (Ok(paths), Ok(except)) => (paths, except),
            (Err(why), _) | (_, Err(why)) => return Outcome::unknown(why),
        };
        match scope.facts.ask(Question::Touches(Touching { paths, except, ..self.0.clone() })) {
            Answer::Touches(None) => Outcome::fails("nothing of that is touched"),
            Answer::Touches(Some(touched)) => {
                let saw = format!("`{}` {} `{}`", touched.by, touched.deed, touched.path);
                match touched.sureness {
                    Sureness::Sure => Outcome::holds(saw),
                    Sureness::Doubtful if self.0.strict => Outcome::holds(saw),
                    Sureness::Doubtful => {
                        Outcome::unknown(format!("`{}` may {} `{}`", touched.by, touched.may(), touched.path))
                    }
                }
            }
            other => Outcome::unknown(unknown(other)),
        }
    }
}
