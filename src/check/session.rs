//! `session`: what the session has done so far.

use super::Scope;
use crate::event::name;
use crate::facts::{Answer, Question, unknown};
use crate::verdict::Outcome;
use crate::yaml::{Node, TreeReader};
use serde::{Deserialize, Serialize};

/// Holds when all that is asked for is so, by the session's journal: the command or skill that was begun since the user
/// last spoke, a file that was changed and matches a glob, an extension of a changed file.
///
/// ```yaml
/// check: { session: { edited: "src/**", extension: rs, command: plan, skill: my-skill } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionCheck {
    /// Globs, one of which a changed file matches.
    pub edited: Vec<String>,
    /// Extensions, one of which a changed file has.
    pub extension: Vec<String>,
    /// Commands, one of which was begun.
    pub command: Vec<String>,
    /// Skills, one of which was called.
    pub skill: Vec<String>,
}

impl SessionCheck {
    pub(super) fn read(reader: &mut TreeReader, node: &Node) -> Self {
        let fields = reader.fields(node, "`session`", &["edited", "extension", "command", "skill"]);
        Self {
            edited: fields.read(reader, "edited", TreeReader::templates).unwrap_or_default(),
            extension: fields.read(reader, "extension", TreeReader::texts).unwrap_or_default(),
            command: fields.read(reader, "command", super::names).unwrap_or_default(),
            skill: fields.read(reader, "skill", super::names).unwrap_or_default(),
        }
    }

    pub(super) fn evaluate(&self, scope: &Scope<'_>) -> Outcome {
        let history = match scope.facts.ask(Question::History) {
            Answer::History(history) => history,
            other => return Outcome::unknown(unknown(other)),
        };
        let globs = match scope.expand_all(&self.edited) {
            Ok(globs) => globs,
            Err(why) => return Outcome::unknown(why),
        };
        let begun = |names: &[String], begun: &Option<String>| {
            names.is_empty()
                || begun.as_deref().is_some_and(|begun| name::selected(names, begun.trim_start_matches('/')))
        };
        let fits = |file: &String| globs.iter().any(|glob| fast_glob::glob_match(glob, file));
        let wrong = [
            (!(globs.is_empty() || history.edited_files.iter().any(fits)))
                .then(|| format!("no changed file matches `{}`", globs.join("`, `"))),
            (!(self.extension.is_empty() || self.extension.iter().any(|end| history.file_extensions.contains(end))))
                .then(|| format!("no changed file ends with {}", self.extension.join(", "))),
            (!begun(&self.command, &history.active_command)).then(|| "another command, or none, is at work".to_owned()),
            (!begun(&self.skill, &history.active_skill)).then(|| "another skill, or none, is at work".to_owned()),
        ];
        let wrong: Vec<String> = wrong.into_iter().flatten().collect();
        if wrong.is_empty() { Outcome::passes("the session is so") } else { Outcome::fails(wrong.join(", and ")) }
    }
}
