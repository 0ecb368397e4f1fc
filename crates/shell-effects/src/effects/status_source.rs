//! What the exit status of a command line says about each of its commands.

use crate::syntax::{CommandTree, Connector};

/// The longest list whose results are attributed to its commands.
const LONGEST_LIST: usize = 500;

/// What the exit status of the line says about one of its commands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StatusSource {
    /// If the line succeeds, the command ran and succeeded.
    pub success: bool,
    /// If the line fails, the command failed, and nothing else could have.
    pub failure: bool,
}

impl StatusSource {
    /// Narrows the result of a list to that of one of its items.
    pub(super) fn of_item(self, items: &[(CommandTree, Connector)], at: usize, strict: bool) -> Self {
        let Some((before, rest)) = items.split_at_checked(at).filter(|_| items.len() <= LONGEST_LIST) else {
            return Self::default();
        };
        let mut chain = before.iter().rev().take_while(|(_, join)| *join != Connector::Then);
        let runs = chain.all(|(_, join)| *join != Connector::Or) && !before.iter().any(|(item, _)| is_exit(item));
        let ends = |from: usize| rest.iter().skip(from).all(|(item, _)| is_any(item, &[]));
        let decides = rest.iter().enumerate().all(|(at, (item, join))| match join {
            Connector::And => true,
            Connector::Then => ends(at + 1),
            Connector::Or | Connector::Background => is_any(item, &[]),
        });
        let success = self.success && runs && decides;
        // Steps that prepare the shell do not fail without a message of their own.
        let prepares = ["cd", "set", "export", "unset", "pushd", "source", "."];
        let harmless =
            |(item, join): &(CommandTree, Connector)| is_any(item, &prepares) || *join == Connector::Then && !strict;
        let last = rest.first().is_some_and(|(_, join)| *join == Connector::Then);
        Self { success, failure: self.failure && success && last && before.iter().all(harmless) }
    }

    /// Narrows the result of a pipeline to that of one of its stages.
    pub(super) fn of_stage(self, stages: &[CommandTree], at: usize, pipefail: bool) -> Self {
        let success = self.success && (pipefail || at + 1 == stages.len());
        let mut after = stages.iter().skip(at + 1);
        let failure = self.failure && success && at == 0 && after.all(|stage| is_any(stage, &["tail", "cat", "tee"]));
        Self { success, failure }
    }
}

/// Whether a tree is a simple command with one of these names, or without words.
fn is_any(tree: &CommandTree, names: &[&str]) -> bool {
    match tree {
        CommandTree::Command(command) => command.words.first().is_none_or(|word| names.contains(&word.as_str())),
        _ => false,
    }
}

/// Whether a tree ends with leaving the script, the function or the loop.
pub(super) fn is_exit(tree: &CommandTree) -> bool {
    match tree {
        CommandTree::Command(command) => {
            let leaves = |word: &String| ["exit", "return", "break", "continue"].contains(&word.as_str());
            command.words.first().is_some_and(leaves)
        }
        CommandTree::Compound(group) => group.parts.last().is_some_and(is_exit),
        CommandTree::List(items) => items.last().is_some_and(|(item, _)| is_exit(item)),
        _ => false,
    }
}
