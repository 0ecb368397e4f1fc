//! Splits a word into its quoted, escaped and substituted parts.
//!
//! Each function takes the text from the beginning of a part and returns the length of the part, or `None` if it has no
//! end; `limits` are those of nesting and work.

use super::parse::parse;
use super::work::ScanLimits;

/// A part of a word.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WordPart<'a> {
    /// `'…'`
    Single(&'a str),
    /// `"…"`, `$"…"`
    Double(&'a str),
    /// `$'…'`
    Ansi(&'a str),
    /// `\x`
    Escape(&'a str),
    /// `$(…)`
    Command(&'a str),
    /// `` `…` ``
    Backtick(&'a str),
    /// `<(…)`, `>(…)`
    Process(&'a str),
    /// `$((…))`, `$[…]`
    Count(&'a str),
    /// `${…}`
    Braced(&'a str),
    /// `$x`
    Variable(&'a str),
    /// Text without a special character.
    Text(&'a str),
    /// Another character, which may be special.
    Plain(char),
}

/// Returns the first part of `text` and its length; `quoted` text has fewer special characters.
pub(super) fn part<'t>(text: &'t str, quoted: bool, limits: ScanLimits<'_>) -> Option<(WordPart<'t>, usize)> {
    let limits = limits.nested()?;
    let plain = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"_-/.".contains(byte)).count();
    if !limits.budget.spend(plain.max(1)) {
        return None;
    }
    if plain > 0 {
        return Some((WordPart::Text(text.get(..plain)?), plain));
    }
    let mut chars = text.chars();
    let found = match (chars.next(), chars.next()) {
        (Some('\''), _) if !quoted => {
            let end = text.get(1..)?.find('\'')?;
            (WordPart::Single(text.get(1..=end)?), end + 2)
        }
        (Some('"'), _) if !quoted => {
            let end = until('"', text.get(1..)?, true, limits)?;
            (WordPart::Double(text.get(1..=end)?), end + 2)
        }
        (Some('\\'), Some(next)) => (WordPart::Escape(text.get(1..=next.len_utf8())?), 1 + next.len_utf8()),
        (Some('`'), _) => {
            let end = unescaped('`', text.get(1..)?)?;
            (WordPart::Backtick(text.get(1..=end)?), end + 2)
        }
        (Some('<' | '>'), Some('(')) if !quoted => {
            let end = command(text.get(2..)?, limits)?;
            (WordPart::Process(text.get(2..end + 2)?), end + 3)
        }
        (Some('$'), Some('\'')) if !quoted => {
            let end = unescaped('\'', text.get(2..)?)?;
            (WordPart::Ansi(text.get(2..end + 2)?), end + 3)
        }
        (Some('$'), Some('"')) if !quoted => {
            let end = until('"', text.get(2..)?, true, limits)?;
            (WordPart::Double(text.get(2..end + 2)?), end + 3)
        }
        (Some('$'), Some('(')) => parenthesis(text, limits)?,
        (Some('$'), Some('[')) => {
            let end = closed(text.get(2..)?, '[', ']', limits)?;
            (WordPart::Count(text.get(2..end + 2)?), end + 3)
        }
        (Some('$'), Some('{')) => {
            let end = until('}', text.get(2..)?, false, limits)?;
            (WordPart::Braced(text.get(2..end + 2)?), end + 3)
        }
        (Some('$'), Some(first)) => {
            let rest = text.get(1..)?;
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let length = match first {
                c if c.is_ascii_digit() => 1,
                c if is_name(c) => rest.find(|c| !is_name(c)).unwrap_or(rest.len()),
                '@' | '*' | '#' | '?' | '-' | '$' | '!' => 1,
                _ => return Some((WordPart::Plain('$'), 1)),
            };
            (WordPart::Variable(rest.get(..length)?), 1 + length)
        }
        (Some(plain), _) => (WordPart::Plain(plain), plain.len_utf8()),
        (None, _) => return None,
    };
    Some(found)
}

/// Tells `$((…))` from `$(…)`; `$((a); b)` is the latter.
fn parenthesis<'t>(text: &'t str, limits: ScanLimits<'_>) -> Option<(WordPart<'t>, usize)> {
    if text.starts_with("$((")
        && let Some(end) = closed(text.get(3..)?, '(', ')', limits)
        && text.get(end + 4..)?.starts_with(')')
    {
        return Some((WordPart::Count(text.get(3..end + 3)?), end + 5));
    }
    let end = command(text.get(2..)?, limits)?;
    Some((WordPart::Command(text.get(2..end + 2)?), end + 3))
}

/// The place of the first `end` that is not in a part of its own.
fn until(end: char, text: &str, quoted: bool, limits: ScanLimits<'_>) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        if rest.starts_with(end) {
            return Some(at);
        }
        at += step(rest, quoted, limits)?;
    }
}

/// The length of the first part of `text`.
fn step(text: &str, quoted: bool, limits: ScanLimits<'_>) -> Option<usize> {
    part(text, quoted, limits).map(|(_, length)| length)
}

/// The place of the first `end` without a backslash before it.
fn unescaped(end: char, text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let is_end = c == end && !escaped;
        escaped = c == '\\' && !escaped;
        is_end.then_some(at)
    })
}

fn closed(text: &str, open: char, close: char, limits: ScanLimits<'_>) -> Option<usize> {
    let (mut at, mut inside) = (0, 0_usize);
    loop {
        let rest = text.get(at..)?;
        if rest.starts_with(close) {
            if inside == 0 {
                return Some(at);
            }
            inside -= 1;
        }
        inside += usize::from(rest.starts_with(open));
        at += step(rest, false, limits)?;
    }
}

/// The end of a substituted command: the first closing parenthesis with a complete command before it.
fn command(text: &str, limits: ScanLimits<'_>) -> Option<usize> {
    let (mut at, mut inside) = (0, 0_usize);
    let mut documents: Vec<(String, bool)> = Vec::new();
    let mut word_begins = true;
    loop {
        let rest = text.get(at..)?;
        let first = rest.chars().next()?;
        let mut length = first.len_utf8();
        match first {
            ')' if inside == 0 && documents.is_empty() && is_complete(text.get(..at)?, limits) => return Some(at),
            ')' => inside = inside.saturating_sub(1),
            '(' => inside += 1,
            '#' if word_begins => length = rest.find('\n').unwrap_or(rest.len()),
            '\n' => {
                length += documents
                    .drain(..)
                    .try_fold(0, |sum, document| Some(sum + body(rest.get(1 + sum..)?, &document)?))?;
            }
            '<' if rest.starts_with("<<<") => length = 3,
            '<' if rest.starts_with("<<") => {
                let (document, taken) = delimiter(rest)?;
                documents.push(document);
                length = taken;
            }
            _ => length = step(rest, false, limits)?,
        }
        word_begins = first.is_whitespace() || ";&|()".contains(first);
        at += length;
    }
}

/// Whether a parenthesis can end a command here rather than a pattern of `case`.
fn is_complete(text: &str, limits: ScanLimits<'_>) -> bool {
    const SHORT: usize = 500;
    limits.budget.spend(text.len() / 32);
    let (begun, ended) = (text.matches("case").count(), text.matches("esac").count());
    // `echo case` is complete, too.
    begun == 0 || (begun <= ended || text.len() < SHORT) && parse(text, limits.budget).is_ok()
}

/// Reads the delimiter of a here-document, whether tabs are stripped, and the length of `<<DELIMITER`.
fn delimiter(text: &str) -> Option<((String, bool), usize)> {
    let tabs = text.starts_with("<<-");
    let begin = if tabs { 3 } else { 2 };
    let after = text.get(begin..)?;
    let blank = after.len() - after.trim_start_matches([' ', '\t']).len();
    let word = after.get(blank..)?;
    let end = word.find(|c: char| c.is_whitespace() || ";&|<>()".contains(c)).unwrap_or(word.len());
    let bare = word.get(..end)?.replace(['\'', '"', '\\'], "");
    Some(((bare, tabs), begin + blank + end))
}

/// The length of a here-document with its delimiter line, without the final newline.
fn body(text: &str, (end, tabs): &(String, bool)) -> Option<usize> {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches('\n');
        let bare = if *tabs { bare.trim_start_matches('\t') } else { bare };
        // `EOF)` ends both the document and the substitution.
        if bare == end || bare.strip_prefix(end.as_str()).is_some_and(|rest| rest.starts_with(')')) {
            return Some(length + line.find(end.as_str())? + end.len());
        }
        length += line.len();
    }
    None
}
