//! Converts text to a [`CommandTree`]. The only module that uses the parser.

use super::backticks::restarts;
use super::nesting::nesting;
use super::substitutions::substitutions;
use super::syntax::{
    CommandTree, CompoundCommand, CompoundKind, Connector, RedirectKind, Redirection, SimpleCommand, Unreadable,
};
use super::work::{MOST_WORK, UNITS_PER_MICROSECOND, WorkBudget};
use base::crash;
use rable::{ListOperator, Node, NodeKind};
use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// The longest text that is parsed; the host's own limit for a command is lower.
const BYTES: usize = 64 * 1024;
/// The most `$(…)` in a text.
const SUBSTITUTIONS: usize = 64;
/// The deepest nesting of commands.
const DEPTH: usize = 60;
/// The most braces of which the parser searches the ends.
const BRACES: usize = 100;
/// The most counted loops that are rewritten; each is searched for its end.
const LOOPS: usize = 100;
/// The most bytes that backticks may make the parser read again without a time limit.
const READ_AGAIN: usize = 400_000;
/// The time limit for parsing a text whose backticks may make the parser read more.
const TIME_LIMIT: Duration = Duration::from_millis(100);
/// The most threads that may still be parsing after their time limit; at the limit, no further such text is parsed.
const MOST_ABANDONED: usize = 4;
/// Stands for a brace that is hidden from the parser.
const HIDDEN_BRACE: char = '\u{f8fe}';
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
        Ok(tree) => return (Some(tree), None),
        Err(unreadable) => unreadable,
    };
    // An error may be reported lines after its cause, for example at the end of the text for an unclosed quote.
    let mut ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    ends.truncate(if let Unreadable::Syntax { line, .. } = &unreadable { (*line).max(1) } else { 1 });
    let begun = ends.iter().rev().take(TRIES).find_map(|end| parse(text.get(..*end)?, budget).ok());
    let begun = begun.or_else(|| ends.iter().take(TRIES).rev().find_map(|end| parse(text.get(..*end)?, budget).ok()));
    (begun, Some(unreadable))
}

/// Parses a text as bash does.
pub(super) fn parse(text: &str, budget: &WorkBudget) -> Result<CommandTree, Unreadable> {
    if text.len() > BYTES {
        return Err(Unreadable::TooLong(BYTES));
    }
    if text.contains(['\0', HIDDEN_BRACE]) {
        return Err(Unreadable::NullCharacter);
    }
    if substitutions(text) > SUBSTITUTIONS {
        return Err(Unreadable::TooManySubstitutions(SUBSTITUTIONS));
    }
    // The parser reads a substitution once for each pair of levels around it.
    let nesting = nesting(text);
    if !budget.spend(1 + text.len() * (8 + nesting * nesting) / 8) {
        return Err(Unreadable::TooMuchWork);
    }
    let read_again = text.len().saturating_mul(restarts(text));
    if read_again > READ_AGAIN {
        return parse_within_time(text, budget);
    }
    if !budget.spend(read_again / 8) {
        return Err(Unreadable::TooMuchWork);
    }
    if text.matches(['(', '{', '[', ';', '&', '|', '\n']).count() <= SHALLOW && words(text) <= SHALLOW {
        return parse_now(text);
    }
    start_parsing(text, None)?.recv().unwrap_or(Err(Unreadable::NoMemory))
}

/// Parses a text, unless that takes too long: the analysis then ends. The time counts as work, so that a line with several such
/// texts does not take several times as long.
#[expect(clippy::disallowed_methods, reason = "the parser's work cannot be counted")]
fn parse_within_time(text: &str, budget: &WorkBudget) -> Result<CommandTree, Unreadable> {
    let begin = Instant::now();
    if let Some(counted) = CountedThread::new() {
        match start_parsing(text, Some(counted))?.recv_timeout(TIME_LIMIT) {
            Ok(tree) => {
                let units = begin.elapsed().as_micros() * UNITS_PER_MICROSECOND;
                budget.spend(usize::try_from(units).unwrap_or(MOST_WORK));
                return tree;
            }
            Err(RecvTimeoutError::Disconnected) => return Err(Unreadable::NoMemory),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    budget.use_up();
    Err(Unreadable::TooMuchWork)
}

/// A thread that may be abandoned; it is counted until it ends.
struct CountedThread;

static COUNTED: AtomicUsize = AtomicUsize::new(0);

impl CountedThread {
    /// `None` if there are too many.
    fn new() -> Option<Self> {
        let counted = Self;
        (COUNTED.fetch_add(1, Ordering::Relaxed) < MOST_ABANDONED).then_some(counted)
    }
}

impl Drop for CountedThread {
    fn drop(&mut self) {
        COUNTED.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Parses a text with a larger stack: parsing and dropping the tree recurse as deep as the text nests.
fn start_parsing(
    text: &str,
    counted: Option<CountedThread>,
) -> Result<Receiver<Result<CommandTree, Unreadable>>, Unreadable> {
    let text = text.to_owned();
    let work = move || {
        let tree = parse_now(&text);
        drop(counted);
        tree
    };
    crash::start(Builder::new().stack_size(ROOMY), work).map_err(|_| Unreadable::NoMemory)
}

/// Counts keywords of commands that can nest.
fn words(text: &str) -> usize {
    const NESTING: [&str; 9] = ["if", "while", "until", "for", "case", "select", "then", "function", "else"];
    text.split_whitespace().filter(|word| NESTING.contains(word)).count()
}

fn parse_now(text: &str) -> Result<CommandTree, Unreadable> {
    // `!(rm x)` is a negated subshell unless extended globs are enabled, which is not the default.
    let text = braces_hidden(text);
    let listed = counted_loops_listed(&text);
    let text = listed.filter(|listed| rable::parse(listed, false).is_ok()).map_or(text, Cow::Owned);
    let nodes = match rable::parse(&text, false) {
        Ok(nodes) => nodes,
        Err(error) => rable::parse(&text, true)
            .map_err(|_| Unreadable::Syntax { message: complaint(error.message()), line: error.line() })?,
    };
    let mut list = Vec::with_capacity(nodes.len());
    for node in &nodes {
        flatten(node, Connector::Then, 0, &mut list)?;
    }
    Ok(one(list))
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

/// Rewrites `for ((a; b; c))` as `for _ in $((a, b, c))`, because the parser loses the here-documents in such a loop.
fn counted_loops_listed(text: &str) -> Option<String> {
    text.find("<<")?;
    let mut loops = 0;
    let mut listed = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("((") {
        let (before, from) = rest.split_at_checked(at)?;
        listed.push_str(before);
        let word = before.trim_end();
        let is_loop = word.strip_suffix("for").is_some_and(|head| !head.ends_with(|c: char| c.is_alphanumeric()));
        loops += usize::from(is_loop);
        if loops > LOOPS {
            return None;
        }
        let Some(end) = is_loop.then(|| closing(from)).flatten() else {
            listed.push_str("((");
            rest = from.get(2..)?;
            continue;
        };
        let parts =
            from.get(2..end.checked_sub(1)?)?.split(';').map(|part| if part.trim().is_empty() { "0" } else { part });
        let after = from.get(end + 1..)?;
        let ends = after.trim_start_matches([' ', '\t']).starts_with([';', '\n']);
        let parts = parts.collect::<Vec<_>>().join(",");
        listed.extend([" _ in $((", &parts, "))", if ends { "" } else { ";" }]);
        rest = after;
    }
    listed.push_str(rest);
    (listed != text).then_some(listed)
}

/// The parenthesis that closes the one at the beginning of a text.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    text.find(|c: char| {
        open = if c == '(' { open + 1 } else { open.saturating_sub(usize::from(c == ')')) };
        open == 0
    })
}

/// Words the parser's message as bash does.
fn complaint(message: &str) -> String {
    const PAIRS: [(&str, &str); 10] = [
        ("unterminated single quote", "'"),
        ("unterminated ANSI-C quote", "'"),
        ("unterminated double quote", "\""),
        ("unterminated backtick", "`"),
        ("unterminated ((", ")"),
        ("unterminated array", ")"),
        ("unterminated parenthesis", ")"),
        ("expected RightParen, got Eof", ")"),
        ("unterminated parameter expansion", "}"),
        ("unterminated '$['", "]"),
    ];
    const TOKENS: [(&str, &str); 11] = [
        ("Newline", "newline"),
        ("Pipe", "|"),
        ("PipeBoth", "|&"),
        ("And", "&&"),
        ("Or", "||"),
        ("Semi", ";"),
        ("DoubleSemi", ";;"),
        ("Ampersand", "&"),
        ("LeftParen", "("),
        ("RightParen", ")"),
        ("RightBrace", "}"),
    ];
    if let Some((_, mark)) = PAIRS.into_iter().find(|(own, _)| *own == message) {
        return format!("unexpected EOF while looking for matching `{mark}'");
    }
    let quoted = ["syntax error near unexpected token '", "unexpected reserved word '"];
    let quoted = quoted.into_iter().find_map(|begin| message.strip_prefix(begin)?.strip_suffix('\''));
    let got = message.split_once(", got ").filter(|_| message.starts_with("expected ")).map(|(_, got)| got);
    match quoted.or(got).map(|token| token.trim_matches('"')) {
        Some("Eof" | "") => "syntax error: unexpected end of file".to_owned(),
        Some("\n" | "\\n") => "syntax error near unexpected token `newline'".to_owned(),
        Some(token) => {
            let known = TOKENS.into_iter().find(|(name, _)| got.is_some() && *name == token);
            // The parser names keywords by themselves, in upper case.
            let token = match known {
                Some((_, token)) => token.to_owned(),
                None if got.is_some() => token.to_lowercase(),
                None => token.to_owned(),
            };
            format!("syntax error near unexpected token `{token}'")
        }
        None if message.ends_with("unexpected end of input") => "syntax error: unexpected end of file".to_owned(),
        None => message.to_owned(),
    }
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

/// Shows hidden braces again.
fn shown(text: &str) -> String {
    if text.contains(HIDDEN_BRACE) { text.replace(HIDDEN_BRACE, "{") } else { text.to_owned() }
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
    fn unclosed_backticks_end_in_time() {
        // Backticks that are closed take little time, which counts as work.
        let closed = format!("echo \"{}\"", "`a \"(b)\" {c}` ".repeat(40));
        assert!(closed.len().saturating_mul(restarts(&closed)) > READ_AGAIN);
        let budget = WorkBudget::default();
        assert!(parse(&closed, &budget).is_ok());
        assert!(budget.used() > 1 + closed.len() * 9 / 8, "{}", budget.used());
        for (part, count) in [("$(`", 30), ("@(`\n", 34), ("`\"$(", 30), ("<()`", 40), ("${x`", 60)] {
            // Without a limit, the parser takes a second or more for each.
            let text = format!("a=($({}", part.repeat(count));
            let (begun, unreadable) = readable(&format!("rm -rf /\n{text}"), &WorkBudget::default());
            assert!(begun.is_none() && matches!(unreadable, Some(Unreadable::TooMuchWork)), "{part} {unreadable:?}");
        }
        // What looks like the start of a here-document does not hide the lines after it.
        for start in ["# <<'E'", "echo \"<<'E'\"", "echo '<<\"E\"'", "echo $((1<<'2'))", "echo \\<<'E'"] {
            let text = format!("{start}\na=($({}", "$(`".repeat(30));
            let unreadable = parse(&text, &WorkBudget::default());
            assert!(matches!(unreadable, Err(Unreadable::TooMuchWork)), "{start} {unreadable:?}");
        }
    }

    #[test]
    fn counted_loops_are_rewritten_unless_there_are_too_many() {
        let one = "for ((i=0; i<3; i++)); do cat <<E\nE\ndone";
        let listed = counted_loops_listed(one);
        assert_eq!(listed.as_deref(), Some("for  _ in $((i=0, i<3, i++)); do cat <<E\nE\ndone"));
        // The search for the end of each would take a time that grows with the square of their number.
        assert_eq!(counted_loops_listed(&format!("cat <<E\n{}", "for ((".repeat(LOOPS + 1))), None);
        assert_eq!(counted_loops_listed(&format!("cat <<E\n{}", "((".repeat(30_000))), None);
    }
}
