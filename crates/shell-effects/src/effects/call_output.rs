//! Where the output of a command goes.

use super::expansion;
use super::walker::Walker;
use crate::syntax::{CommandTree, RedirectKind, Redirection, SimpleCommand};
use crate::word::ShellWord;

/// The longest row of filters that is followed.
const MOST_FILTERS: usize = 8;

/// Where the output of a command goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CallOutput {
    /// To the output of the line, through these programs of a pipe.
    Shown(Vec<Vec<ShellWord>>),
    /// To this file, which has nothing else in it.
    Written(String),
    /// Into a word of another command, by `$(…)`.
    Captured,
    /// Appended to a file, or unknown.
    #[default]
    Hidden,
}

impl CallOutput {
    /// The output of a stage of a pipe whose later stages are `after`.
    pub(super) fn of_stage(&self, after: &[CommandTree], walker: &mut Walker<'_>) -> Self {
        let outer = match self {
            Self::Shown(outer) => outer,
            Self::Captured => return Self::Captured,
            Self::Written(_) | Self::Hidden => return Self::Hidden,
        };
        if after.len() + outer.len() > MOST_FILTERS {
            return Self::Hidden;
        }
        let mut filters = Vec::new();
        for stage in after {
            match stage {
                CommandTree::Command(command) if !hides(&command.redirects) && command.assignments.is_empty() => {
                    filters.push(words(command, walker));
                }
                _ => return Self::Hidden,
            }
        }
        filters.extend_from_slice(outer);
        Self::Shown(filters)
    }

    /// The output of a command with these redirections, of which one may lead to a file.
    pub(super) fn redirected(&self, redirects: &[Redirection], file: Option<&ShellWord>) -> Self {
        let appends = redirects.iter().any(|redirect| redirect.appends);
        match file.and_then(ShellWord::text).filter(|_| !appends) {
            _ if !hides(redirects) => self.clone(),
            Some(file) if *self == Self::Shown(Vec::new()) => Self::Written(file),
            _ => Self::Hidden,
        }
    }
}

/// Whether standard output goes elsewhere.
fn hides(redirects: &[Redirection]) -> bool {
    let visible = ["/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2"];
    redirects.iter().filter(|redirect| redirect.main).any(|redirect| match redirect.kind {
        RedirectKind::Write => !visible.contains(&redirect.target.as_str()),
        RedirectKind::Duplicate => !["0", "1", "2"].contains(&redirect.target.as_str()),
        RedirectKind::Read | RedirectKind::Document { .. } | RedirectKind::Here => false,
    })
}

/// The words of a filter; what depends on a substitution or a variable stays unknown.
fn words(command: &SimpleCommand, walker: &mut Walker<'_>) -> Vec<ShellWord> {
    let expands = |raw: &str| {
        raw.contains('`')
            || raw.match_indices('$').any(|(at, _)| {
                let next = raw.get(at + 1..).and_then(|rest| rest.chars().next());
                next.is_some_and(|next| next.is_alphanumeric() || "_({?@*#!-".contains(next))
            })
    };
    let expanded = |raw: &String| {
        if expands(raw) { vec![ShellWord::unknown()] } else { expansion::fields(raw, walker) }
    };
    command.words.iter().flat_map(expanded).collect()
}
