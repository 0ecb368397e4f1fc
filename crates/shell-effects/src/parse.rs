//! Converts text to a [`CommandTree`]. The only module that uses the parser.

use super::nesting::nesting;
use super::syntax::{
    CommandTree, CompoundCommand, CompoundKind, Connector, RedirectKind, Redirection, SimpleCommand, Unreadable,
};
use super::work::WorkBudget;
use base::crash;
use rable::{ListOperator, Node, NodeKind};
use std::borrow::Cow;
use std::thread::Builder;

/// The longest text that is parsed; the host's own limit for a command is lower.
const BYTES: usize = 64 * 1024;
/// The deepest nesting of commands.
const DEPTH: usize = 60;
/// The most braces of which the parser searches the ends.
const BRACES: usize = 100;
/// The most bytes that backticks may make the parser read again; beyond it, they are hidden from it.
const READ_AGAIN: usize = 400_000;
/// Stand for a brace and for a backtick that are hidden from the parser.
const HIDDEN_BRACE: char = '\u{f8fe}';
const HIDDEN_BACKTICK: char = '\u{f8fd}';
/// How many line ends are tried as the end of the readable part, from the end and from the beginning.
const TRIES: usize = 8;
/// The most tokens that could nest for which the current stack is large enough.
const SHALLOW: usize = 150;
/// The stack size for a text that consists of such tokens only.
const ROOMY: usize = 256 * 1024 * 1024;

/// Parses as much of a text as bash would run: bash runs each line before it reads the next, so a syntax error does
/// not undo the lines before it.
pub(super) fn readable(text: &str, budget: &WorkBudget) -> (Option<CommandTree>, Option<Unreadable>) {
    let unreadable = match parse(text, budget) {
        Ok(tree) => {
            return (
                Some(tree),
                loses_documents(text).then_some(Unreadable::NotFollowed("a here-document in a counted loop")),
            );
        }
        Err(unreadable) => unreadable,
    };
    // An error may be reported lines after its cause, for example at the end of the text for an unclosed quote.
    let mut ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    ends.truncate(if let Unreadable::Syntax { line, .. } = &unreadable { (*line).max(1) } else { 1 });
    let begun = ends.iter().rev().take(TRIES).find_map(|end| parse(text.get(..*end)?, budget).ok());
    let begun = begun.or_else(|| ends.iter().take(TRIES).rev().find_map(|end| parse(text.get(..*end)?, budget).ok()));
    (begun, Some(unreadable))
}

/// Whether the parser may lose a here-document: it does in `for ((a; b; c))`.
fn loses_documents(text: &str) -> bool {
    let is_counted = |(at, _)| text.get(..at).is_some_and(|before| before.trim_end().ends_with("for"));
    text.contains("<<") && text.match_indices("((").any(is_counted)
}

/// Parses a text as bash does.
pub(super) fn parse(text: &str, budget: &WorkBudget) -> Result<CommandTree, Unreadable> {
    if text.len() > BYTES {
        return Err(Unreadable::TooLong(BYTES));
    }
    if text.contains(['\0', HIDDEN_BRACE, HIDDEN_BACKTICK]) {
        return Err(Unreadable::NullCharacter);
    }
    // The parser reads a substitution once for each pair of levels around it.
    let nesting = nesting(text);
    if !budget.spend(1 + text.len() * (8 + nesting * nesting) / 8) {
        return Err(Unreadable::TooMuchWork);
    }
    if text.matches(['(', '{', '[', ';', '&', '|', '\n']).count() <= SHALLOW && words(text) <= SHALLOW {
        return parse_now(text);
    }
    // Parsing and dropping the tree recurse as deep as the text nests.
    let text = text.to_owned();
    let parsed = crash::start(Builder::new().stack_size(ROOMY), move || parse_now(&text));
    parsed.ok().and_then(|parsed| parsed.recv().ok()).unwrap_or(Err(Unreadable::NoMemory))
}

/// Counts keywords of commands that can nest.
fn words(text: &str) -> usize {
    const NESTING: [&str; 9] = ["if", "while", "until", "for", "case", "select", "then", "function", "else"];
    text.split_whitespace().filter(|word| NESTING.contains(word)).count()
}

fn parse_now(text: &str) -> Result<CommandTree, Unreadable> {
    let text = backticks_hidden(braces_hidden(text));
    // `!(rm x)` is a negated subshell unless extended globs are enabled, which is not the default.
    let nodes = rable::parse(&text, false)
        .or_else(|_| rable::parse(&text, true))
        .map_err(|error| Unreadable::Syntax { message: error.message().to_owned(), line: error.line() })?;
    let mut list = Vec::with_capacity(nodes.len());
    for node in &nodes {
        flatten(node, Connector::Then, 0, &mut list)?;
    }
    Ok(one(list))
}

/// Hides backticks from the parser if they could make it read the text too often: it reads what follows one as commands, and
/// if that fails, goes on at the next. A word that then begins in backticks and ends outside is found when it is expanded.
fn backticks_hidden(text: Cow<'_, str>) -> Cow<'_, str> {
    // The work at a backtick is the sum of the work at the next two.
    let backticks = text.matches('`').count();
    let again = (0..backticks).fold((0_usize, 1_usize), |(one, next), _| (next, one.saturating_add(next))).0;
    if text.len().saturating_mul(again) <= READ_AGAIN {
        return text;
    }
    Cow::Owned(text.replace('`', HIDDEN_BACKTICK.encode_utf8(&mut [0; 4])))
}

/// The parser searches for the end of each brace in a word, through the whole word. Braces that cannot begin a group
/// of commands are hidden from it if there are many.
fn braces_hidden(text: &str) -> Cow<'_, str> {
    if text.matches('{').count() <= BRACES {
        return Cow::Borrowed(text);
    }
    let mut hidden = String::with_capacity(text.len() + text.len() / 2);
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let is_word = chars.peek().is_none_or(|next| !next.is_whitespace() && !"()<>;&|".contains(*next));
        hidden.push(if c == '{' && before != '$' && is_word { HIDDEN_BRACE } else { c });
        before = c;
    }
    Cow::Owned(hidden)
}

fn one(mut row: Vec<(CommandTree, Connector)>) -> CommandTree {
    match row.pop() {
        Some((only, join)) if row.is_empty() && join != Connector::Background => only,
        Some(last) => {
            row.push(last);
            CommandTree::List(row)
        }
        None => CommandTree::Command(SimpleCommand::default()),
    }
}

fn tree(node: &Node, depth: usize) -> Result<CommandTree, Unreadable> {
    if depth > DEPTH {
        return Err(Unreadable::TooDeep);
    }
    let inner = |node: &Node| tree(node, depth + 1);
    let group = |kind, words, parts: &[&Node], around: &[Node]| {
        let parts = parts.iter().map(|part| inner(part)).collect::<Result<_, _>>()?;
        Ok(CommandTree::Compound(CompoundCommand { kind, variable: None, words, parts, redirects: redirects(around) }))
    };
    match &node.kind {
        NodeKind::Command { assignments, words, redirects: around } => Ok(CommandTree::Command(SimpleCommand {
            assignments: raws(assignments),
            words: raws(words),
            redirects: redirects(around),
        })),
        NodeKind::Pipeline { commands, .. } => {
            Ok(CommandTree::Pipeline(commands.iter().map(inner).collect::<Result<_, _>>()?))
        }
        NodeKind::List { .. } => {
            let mut list = Vec::new();
            flatten(node, Connector::Then, depth, &mut list)?;
            Ok(one(list))
        }
        NodeKind::If { condition, then_body, else_body, redirects } => {
            let parts: Vec<&Node> = [condition, then_body].into_iter().chain(else_body).map(AsRef::as_ref).collect();
            group(CompoundKind::Branch, Vec::new(), &parts, redirects)
        }
        NodeKind::While { condition, body, redirects } | NodeKind::Until { condition, body, redirects } => {
            group(CompoundKind::Loop, Vec::new(), &[condition, body], redirects)
        }
        NodeKind::For { var, words, body, redirects: around }
        | NodeKind::Select { var, words, body, redirects: around } => Ok(CommandTree::Compound(CompoundCommand {
            kind: CompoundKind::Loop,
            variable: Some(var.clone()),
            words: words.as_deref().map_or_else(|| vec!["\"$@\"".to_owned()], raws),
            parts: vec![inner(body)?],
            redirects: redirects(around),
        })),
        NodeKind::ForArith { init, cond, incr, body, redirects } => {
            group(CompoundKind::Loop, [init, cond, incr].map(|text| counted(text)).to_vec(), &[body], redirects)
        }
        NodeKind::Case { word, patterns, redirects } => {
            let words = std::iter::once(&**word).chain(patterns.iter().flat_map(|item| &item.patterns));
            let bodies: Vec<&Node> = patterns.iter().filter_map(|item| item.body.as_ref()).collect();
            group(CompoundKind::Branch, words.map(raw).collect(), &bodies, redirects)
        }
        NodeKind::Function { name, body } => {
            Ok(CommandTree::Function { name: shown(name), body: Box::new(inner(body)?) })
        }
        NodeKind::Subshell { body, redirects } => group(CompoundKind::Subshell, Vec::new(), &[body], redirects),
        NodeKind::BraceGroup { body, redirects } => group(CompoundKind::Block, Vec::new(), &[body], redirects),
        NodeKind::Coproc { command, .. } => group(CompoundKind::Subshell, Vec::new(), &[command], &[]),
        NodeKind::Negation { pipeline } => group(CompoundKind::Not, Vec::new(), &[pipeline], &[]),
        NodeKind::Time { pipeline, .. } => inner(pipeline),
        NodeKind::ArithmeticCommand { redirects, raw_content, .. } => {
            group(CompoundKind::Branch, vec![counted(raw_content)], &[], redirects)
        }
        NodeKind::ConditionalExpr { body, redirects } => {
            let mut words = Vec::new();
            terms(body, &mut words);
            group(CompoundKind::Branch, words, &[], redirects)
        }
        NodeKind::Empty | NodeKind::Comment { .. } => Ok(CommandTree::Command(SimpleCommand::default())),
        _ => Err(Unreadable::Syntax { message: "not a command".to_owned(), line: 1 }),
    }
}

/// Flattens a list: the parser nests it to the left.
fn flatten(
    node: &Node,
    join: Connector,
    depth: usize,
    row: &mut Vec<(CommandTree, Connector)>,
) -> Result<(), Unreadable> {
    let mut waiting = vec![(node, join)];
    while let Some((node, join)) = waiting.pop() {
        if let NodeKind::List { items } = &node.kind {
            let end = items.len().saturating_sub(1);
            for (at, item) in items.iter().enumerate().rev() {
                let own = item.operator.map(|operator| match operator {
                    ListOperator::And => Connector::And,
                    ListOperator::Or => Connector::Or,
                    ListOperator::Semi => Connector::Then,
                    ListOperator::Background => Connector::Background,
                });
                let otherwise = if at == end { join } else { Connector::Then };
                waiting.push((&item.command, own.unwrap_or(otherwise)));
            }
        } else {
            row.push((tree(node, depth + 1)?, join));
        }
    }
    Ok(())
}

fn raws(words: &[Node]) -> Vec<String> {
    words.iter().map(raw).collect()
}

fn raw(node: &Node) -> String {
    match &node.kind {
        NodeKind::Word { value, .. } | NodeKind::CondTerm { value, .. } | NodeKind::WordLiteral { value } => {
            shown(value)
        }
        _ => "\"$?\"".to_owned(),
    }
}

/// Shows what is hidden again.
fn shown(text: &str) -> String {
    text.replace(HIDDEN_BRACE, "{").replace(HIDDEN_BACKTICK, "`")
}

/// Turns arithmetic into a word, so that its substitutions are found.
fn counted(text: &str) -> String {
    format!("$(({}))", shown(text))
}

/// Collects the words of a `[[ … ]]`.
fn terms(node: &Node, words: &mut Vec<String>) {
    match &node.kind {
        NodeKind::CondTerm { .. } | NodeKind::Word { .. } => words.push(raw(node)),
        NodeKind::UnaryTest { operand: inner, .. }
        | NodeKind::CondNot { operand: inner }
        | NodeKind::CondParen { inner } => terms(inner, words),
        NodeKind::BinaryTest { left, right, .. }
        | NodeKind::CondAnd { left, right }
        | NodeKind::CondOr { left, right } => {
            terms(left, words);
            terms(right, words);
        }
        _ => {}
    }
}

fn redirects(nodes: &[Node]) -> Vec<Redirection> {
    let read = |node: &Node| match &node.kind {
        NodeKind::Redirect { op, target, fd, varfd } => {
            let kind = match op.as_str() {
                "<<<" => RedirectKind::Here,
                ">&" | "<&" | ">&-" | "<&-" => RedirectKind::Duplicate,
                "<" => RedirectKind::Read,
                _ => RedirectKind::Write,
            };
            let main = varfd.is_none() && *fd < 2;
            Some(Redirection { kind, target: raw(target), main, appends: op.ends_with(">>") })
        }
        NodeKind::HereDoc { content, quoted, fd, .. } => Some(Redirection {
            kind: RedirectKind::Document { quoted: *quoted },
            target: shown(content),
            main: *fd < 1,
            appends: false,
        }),
        _ => None,
    };
    nodes.iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_backticks_are_hidden() {
        let escaped = format!("git commit -m \"{}\"", "uses \\`a\\`, ".repeat(40));
        assert!(parse(&escaped, &WorkBudget::default()).is_ok());
        let context = crate::ExecContext::default();
        for (part, count) in [("$(`", 30), ("@(`\n", 34), ("`\"$(", 30), ("<()`", 40), ("${x`", 60)] {
            // With backticks, the parser takes a second or more for each.
            let text = format!("a=($({}", part.repeat(count));
            let unreadable = readable(&text, &WorkBudget::default()).1.or(crate::effects(&text, &context).unreadable);
            assert!(unreadable.is_some(), "{part}");
        }
        // A word that is in backticks only in part is no word.
        for line in ["`rm -rf /`", "x \"`rm \" /\"`\"", "> `echo /etc/x`", "cat <<E\n`rm \nE"] {
            let effects = crate::effects(&format!("{line}\n{}", "'`' ".repeat(40)), &context);
            assert!(effects.unreadable.is_some(), "{line}");
        }
    }
}
