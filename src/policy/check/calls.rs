//! `calls`: a program that the command line runs.

use super::prelude::*;

/// The most programs that are listed if none of them runs.
const MANY: usize = 5;

/// Passes when the command line runs a program with these first words, directly or behind `sudo`, `env`, `bash -c`,
/// `xargs` and the like. The program's folder and options between the words do not count.
///
/// With `remote: true` only programs on other machines count, as in `ssh host 'systemctl restart app'`; without
/// `programs`, any of them.
///
/// With `itself: true` only modegate counts, under any name: a link to the program or a copy of it is recognised by its
/// content. `except` are its words that do not count.
///
/// ```yaml
/// check: { not: { calls: [git push, npm publish] } }
/// check: { not: { calls: { programs: systemctl, remote: true } } }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallsCheck {
    pub programs: Vec<String>,
    /// Whether other machines are asked about instead of this one.
    pub remote: bool,
    /// The words of modegate that do not count, if modegate is asked about.
    pub itself: Option<Vec<String>>,
}

impl CheckKind for CallsCheck {
    fn from_node(reader: &mut TreeReader, node: &Node) -> Self {
        if !node.is_map() {
            return Self { programs: reader.templates(node), remote: false, itself: None };
        }
        let fields = reader.fields(node, "`calls`", &["programs", "remote", "itself", "except"]);
        let programs = fields.templates(reader, "programs");
        let remote = fields.flag(reader, "remote");
        let is_itself = fields.flag(reader, "itself");
        let except = fields.texts(reader, "except");
        let itself = is_itself.then_some(except);
        if programs.is_empty() && !remote && !is_itself {
            fields.missing(reader, node, "`calls` needs `programs`, the first words of command lines");
        }
        Self { programs, remote, itself }
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
        if let Some(except) = &self.itself {
            return Ok(match scope.facts.own_calls(except.clone())? {
                Some(call) => Outcome::passes(format!("it runs `{call}`")),
                None => Outcome::fails("it does not run modegate, or only reads with it"),
            });
        }
        let wanted = scope.expand_all(&self.programs)?;
        let (found, place) = if self.remote {
            (scope.facts.remote_calls(wanted.clone()), " on another machine")
        } else {
            (scope.facts.calls(wanted.clone()), "")
        };
        Ok(match found? {
            Some(call) => Outcome::passes(format!("it runs `{call}`{place}")),
            None if wanted.is_empty() => Outcome::fails("it runs nothing on another machine"),
            // This is in every line of the journal.
            None if wanted.len() > MANY => Outcome::fails(format!("it runs none of these programs{place}")),
            None => Outcome::fails(format!("it runs none of `{}`{place}", wanted.join("`, `"))),
        })
    }
}
