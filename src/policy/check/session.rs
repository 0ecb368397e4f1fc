//! `session`: what the session has done so far.

use super::prelude::*;
use crate::host::event::name;

/// Passes when the session's journal shows everything asked for: a command or skill that was started since the last
/// prompt of the user, a changed file that matches a glob, an extension of a changed file.
///
/// ```yaml
/// check: { session: { edited: "src/**", extension: rs, command: plan, skill: my-skill } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionCheck {
    pub edited: Vec<String>,
    pub extension: Vec<String>,
    pub command: Vec<String>,
    pub skill: Vec<String>,
}

impl CheckKind for SessionCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        let fields = reader.fields(node, "`session`", &["edited", "extension", "command", "skill"]);
        Self {
            edited: fields.templates(reader, "edited"),
            extension: fields.texts(reader, "extension"),
            command: fields.read(reader, "command", super::names).unwrap_or_default(),
            skill: fields.read(reader, "skill", super::names).unwrap_or_default(),
        }
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        let history = scope.facts.history()?;
        let globs = scope.expand_all(&self.edited)?;
        let is_active = |names: &[String], active: &Option<String>| {
            active.as_deref().is_some_and(|active| name::selected(names, active.trim_start_matches('/')))
        };
        let matches = |file: &String| globs.iter().any(|glob| fast_glob::glob_match(glob, file));
        let either = |names: &[String]| names.join(" or ");
        // Each: whether it is asked for and missing, what was seen, what to do.
        let parts = [
            (
                !globs.is_empty() && !history.edited_files.iter().any(matches),
                format!("no changed file matches `{}`", globs.join("`, `")),
                format!("change a file that matches `{}`", globs.join("` or `")),
            ),
            (
                !self.extension.is_empty() && !self.extension.iter().any(|end| history.file_extensions.contains(end)),
                format!("no changed file ends with {}", self.extension.join(", ")),
                format!("change a file that ends with {}", either(&self.extension)),
            ),
            (
                !self.command.is_empty() && !is_active(&self.command, &history.active_command),
                format!("the active command is {}", history.active_command.as_deref().unwrap_or("none")),
                format!("start /{}", self.command.join(" or /")),
            ),
            (
                !self.skill.is_empty() && !is_active(&self.skill, &history.active_skill),
                format!("the active skill is {}", history.active_skill.as_deref().unwrap_or("none")),
                format!("call the skill {}", either(&self.skill)),
            ),
        ];
        let (saw, remedy): (Vec<String>, Vec<String>) =
            parts.into_iter().filter(|(is_missing, ..)| *is_missing).map(|(_, saw, remedy)| (saw, remedy)).unzip();
        if saw.is_empty() {
            let edited = history.edited_files.iter().find(|file| matches(file));
            let extension = self.extension.iter().find(|end| history.file_extensions.contains(end));
            let command = history.active_command.as_deref().filter(|_| !self.command.is_empty());
            let skill = history.active_skill.as_deref().filter(|_| !self.skill.is_empty());
            let parts = [
                edited.map(|file| format!("the session has changed `{file}`")),
                extension.map(|end| format!("the session has changed a file that ends with {end}")),
                command.map(|command| format!("the active command is {command}")),
                skill.map(|skill| format!("the active skill is {skill}")),
            ];
            return Ok(Outcome::passes(parts.into_iter().flatten().collect::<Vec<_>>().join(", and ")));
        }
        Ok(Outcome::fails(saw.join(", and ")).remedied(remedy.join(" and ")))
    }

    fn expectation(&self, scope: &Scope<'_>) -> Option<String> {
        let globs = scope.expand_all(&self.edited).unwrap_or_else(|_| self.edited.clone());
        let phrase = |names: &[String], before: &str, joint: &str, after: &str| {
            (!names.is_empty()).then(|| format!("{before}{}{after}", names.join(joint)))
        };
        let phrases = [
            phrase(&globs, "a file that matches `", "` or `", "` was changed"),
            phrase(&self.extension, "a file that ends with ", " or ", " was changed"),
            phrase(&self.command, "/", " or /", " was started since the last prompt"),
            phrase(&self.skill, "the skill ", " or ", " was called since the last prompt"),
        ];
        let phrases: Vec<String> = phrases.into_iter().flatten().collect();
        (!phrases.is_empty()).then(|| phrases.join(", and "))
    }
}
