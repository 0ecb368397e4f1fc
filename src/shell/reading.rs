//! The parts of a command line that do more than read.
//!
//! A short list of programs that only read, by their names and options. Everything else does more.

use super::has_name;
use super::parse::parse;
use super::readers::{SHELL_STATE, base, is_document, is_reader, unquoted};
use super::syntax::{CommandTree, CompoundCommand, Connector, RedirectKind, Redirection, SimpleCommand};
use super::work::WorkBudget;

/// The text of a command line without the commands that only read; empty if all of them do, and the whole line if it
/// cannot be parsed, or the budget is used up.
pub(crate) fn beyond_reading(command: &str, budget: &WorkBudget) -> String {
    let Ok(tree) = parse(command, budget) else { return command.to_owned() };
    let mut parts = CommandText::default();
    parts.tree(&tree);
    if parts.does_more { parts.text } else { parts.redirects }
}

/// The text of a command line, by what is done with it.
#[derive(Default)]
struct CommandText {
    /// Commands that do more than read, and folders, variables and files that they may use.
    text: String,
    /// Files that readers write to.
    redirects: String,
    does_more: bool,
}

fn add(text: &mut String, word: &str) {
    text.push(' ');
    text.push_str(word);
}

impl CommandText {
    fn tree(&mut self, tree: &CommandTree) {
        match tree {
            CommandTree::List(items) => {
                for (item, _) in items as &[(CommandTree, Connector)] {
                    self.tree(item);
                }
            }
            CommandTree::Pipeline(parts) if parts.iter().all(only_reads) => {
                for part in parts {
                    self.tree(part);
                }
            }
            CommandTree::Command(command) if reads(command) => self.reader(command),
            CommandTree::Compound(group) => self.group(group),
            CommandTree::Pipeline(_) | CommandTree::Command(_) => {
                self.does_more = true;
                all_text(tree, &mut self.text);
            }
            CommandTree::Function { body, .. } => self.tree(body),
        }
    }

    fn reader(&mut self, command: &SimpleCommand) {
        let written: Vec<&Redirection> = command.redirects.iter().filter(|redirect| writes(redirect)).collect();
        for redirect in &written {
            add(&mut self.redirects, &redirect.target);
            add(&mut self.text, &redirect.target);
        }
        command.assignments.iter().for_each(|text| add(&mut self.text, text));
        let program = command.words.first().map(|word| unquoted(word)).unwrap_or_default();
        if base(&program) == "tee" {
            command.words.iter().for_each(|word| add(&mut self.redirects, word));
            command.words.iter().for_each(|word| add(&mut self.text, word));
        }
        let is_document = |redirect: &&Redirection| is_document(&unquoted(&redirect.target));
        // What is printed to a file may be read by a later command.
        if has_name(SHELL_STATE, &program) || !written.iter().all(is_document) {
            command.words.iter().for_each(|word| add(&mut self.text, word));
            command.redirects.iter().for_each(|redirect| add(&mut self.text, &redirect.target));
        }
    }

    fn group(&mut self, group: &CompoundCommand) {
        group.words.iter().for_each(|word| add(&mut self.text, word));
        group.redirects.iter().for_each(|redirect| add(&mut self.text, &redirect.target));
        group.redirects.iter().filter(|redirect| writes(redirect)).for_each(|redirect| {
            add(&mut self.redirects, &redirect.target);
        });
        self.does_more |= group.words.iter().any(|word| substitutes(word));
        group.parts.iter().for_each(|part| self.tree(part));
    }
}

fn writes(redirect: &Redirection) -> bool {
    matches!(redirect.kind, RedirectKind::Write | RedirectKind::Duplicate)
}

/// All words, assignments, redirections and here-documents of a command.
fn all_text(tree: &CommandTree, text: &mut String) {
    match tree {
        CommandTree::Command(command) => {
            command.assignments.iter().chain(judged(&command.words)).for_each(|word| add(text, word));
            command.redirects.iter().for_each(|redirect| add(text, &redirect.target));
        }
        CommandTree::Pipeline(parts) => parts.iter().for_each(|part| all_text(part, text)),
        CommandTree::List(items) => items.iter().for_each(|(item, _)| all_text(item, text)),
        CommandTree::Compound(group) => {
            group.words.iter().for_each(|word| add(text, word));
            group.redirects.iter().for_each(|redirect| add(text, &redirect.target));
            group.parts.iter().for_each(|part| all_text(part, text));
        }
        CommandTree::Function { body, .. } => all_text(body, text),
    }
}

/// The words of a command by which it is judged: not the program itself, the message of a commit or a pull request, a
/// prompt or the body of a request, which are data, or the source of a copy.
fn judged(words: &[String]) -> impl Iterator<Item = &String> {
    let data = match words.first().map(String::as_str) {
        Some("git" | "gh" | "glab" | "jj" | "hg") => "-m --message -b --body",
        Some("claude") => "-p --print",
        Some("curl") => "-d --data --data-raw --json",
        _ => "",
    };
    let is_data = move |at: usize| {
        let option = at.checked_sub(1).and_then(|before| words.get(before));
        option.is_some_and(|option| has_name(data, option))
    };
    let is_own = words.first().is_some_and(|word| base(&unquoted(word)) == "modegate");
    let skipped = if is_copy(words) { words.len() - 1 } else { usize::from(is_own) };
    let words = words.iter().enumerate().skip(skipped);
    words.filter(move |(at, word)| !is_data(*at) || substitutes(word)).map(|(_, word)| word)
}

/// `cp a b`: only the last word is written.
fn is_copy(words: &[String]) -> bool {
    let is_plain = |word: &String| !word.starts_with('-') || has_name("-p -a -r -R -f -v -n", word);
    words.len() > 2 && words.first().is_some_and(|word| word == "cp") && words.iter().all(is_plain)
}

fn only_reads(tree: &CommandTree) -> bool {
    match tree {
        CommandTree::Command(command) => reads(command),
        CommandTree::Pipeline(parts) => parts.iter().all(only_reads),
        CommandTree::List(items) => items.iter().all(|(item, _)| only_reads(item)),
        CommandTree::Compound(group) => {
            !group.words.iter().any(|word| substitutes(word)) && group.parts.iter().all(only_reads)
        }
        CommandTree::Function { .. } => false,
    }
}

/// Whether a command only reads, apart from its redirections.
fn reads(command: &SimpleCommand) -> bool {
    let targets = command.redirects.iter().filter(|redirect| !matches!(redirect.kind, RedirectKind::Document { .. }));
    let all = command.words.iter().chain(&command.assignments).chain(targets.map(|redirect| &redirect.target));
    // Variables of the environment can make a reader start another program.
    let with_environment = !command.assignments.is_empty() && !command.words.is_empty();
    let document = command.redirects.iter().find(|redirect| matches!(redirect.kind, RedirectKind::Document { .. }));
    let document = document.map(|redirect| redirect.target.as_str());
    !with_environment && !all.into_iter().any(|word| substitutes(word)) && is_reader(&command.words, document)
}

/// Whether a word runs commands; text that `cat` reads from a here-document is only text.
fn substitutes(word: &str) -> bool {
    let is_text = word.trim_start_matches('"').starts_with("$(cat <<") && word.matches("$(").count() == 1;
    !is_text
        && !word.starts_with('\'')
        && (word.contains("$(") || word.contains('`') || word.contains("<(") || word.contains(">("))
}
