//! Expansion of words: tildes, variables, substitutions, quotes and field splitting.

use super::walker::Walker;
use crate::braces::braces;
use crate::word::{ShellWord, WordPiece};
use crate::word_parts::{self, WordPart};
use crate::work::{ScanLimits, WorkBudget};
use std::rc::Rc;

/// Operators after the name in `${…}`, longer ones first.
const OPERATORS: [&str; 20] =
    [":-", ":=", ":+", ":?", "##", "%%", "//", "/#", "/%", "^^", ",,", "-", "=", "+", "?", "#", "%", "/", ":", ""];
/// The deepest nesting of words in words.
const DEPTH: usize = 24;
/// The most words that one word expands to.
const MANY: usize = 1_000;

/// Expands a word to zero or more words.
pub(super) fn fields(raw: &str, walker: &mut Walker<'_>) -> Vec<ShellWord> {
    let mut words = Vec::new();
    for raw in braces(raw, &walker.budget) {
        let marks = walker.variable("IFS").and_then(|words| words.first().and_then(ShellWord::text));
        let mut fields = FieldSplitter { marks, ..FieldSplitter::default() };
        fields.expand(&raw, false, walker, DEPTH);
        words.extend(fields.done());
    }
    words
}

/// Expands a word that is not split, such as a value or a redirection target.
pub(super) fn single(raw: &str, walker: &mut Walker<'_>) -> ShellWord {
    let mut words = Vec::new();
    for raw in braces(raw, &walker.budget) {
        let mut fields = FieldSplitter { marks: Some(String::new()), ..FieldSplitter::default() };
        fields.expand(&raw, false, walker, DEPTH);
        words.extend(fields.done());
    }
    ShellWord::joined(&words)
}

/// Expands a here-document, in which only `$` and backticks are special.
pub(super) fn document(text: &str, walker: &mut Walker<'_>) -> ShellWord {
    let mut fields = FieldSplitter::default();
    fields.expand(text, true, walker, DEPTH);
    ShellWord::joined(&fields.done())
}

#[derive(Default)]
struct FieldSplitter {
    /// The characters of `IFS`, if they are not blanks.
    marks: Option<String>,
    ended: Vec<ShellWord>,
    current: Option<ShellWord>,
}

impl FieldSplitter {
    fn done(mut self) -> Vec<ShellWord> {
        self.end();
        self.ended
    }

    fn end(&mut self) {
        if self.ended.len() >= MANY {
            // The words beyond the limit are merged into an unknown last word.
            self.ended.pop();
            self.current = self.current.take().map(|_| ShellWord::unknown());
        }
        self.ended.extend(self.current.take());
    }

    fn word(&mut self) -> &mut ShellWord {
        self.current.get_or_insert_default()
    }

    fn expand(&mut self, raw: &str, quoted: bool, walker: &mut Walker<'_>, depth: usize) {
        let budget = Rc::clone(&walker.budget);
        let Some(depth) = depth.checked_sub(1) else {
            walker.lost(raw);
            return self.word().push_unknown();
        };
        let last_bracket = raw.rfind(']');
        let mut at = if quoted { 0 } else { self.tilde(raw, walker) };
        while let Some(rest) = raw.get(at..).filter(|rest| !rest.is_empty()) {
            let Some((part, length)) = word_parts::part(rest, quoted, ScanLimits { depth, budget: &budget }) else {
                walker.lost(rest);
                return self.word().push_unknown();
            };
            at += length;
            let next = raw.get(at..).unwrap_or_default();
            match part {
                // `!(a|b)` is everything else.
                WordPart::Plain('!') if !quoted && next.starts_with('(') && next.contains(')') => {
                    self.word().push_glob("*");
                    at += next.find(')').map_or(0, |close| close + 1);
                }
                // In zsh, what is in parentheses limits or extends the pattern: `*(D)`, `*(.om)`.
                WordPart::Plain('*') if !quoted && next.starts_with('(') && next.ends_with(')') => {
                    self.word().push_glob("*");
                    at = raw.len();
                }
                // Other extended patterns are not evaluated.
                WordPart::Plain('@' | '?' | '*' | '+') if !quoted && next.starts_with('(') => {
                    self.word().push_unknown();
                }
                // `${x:-a b}` is two words.
                WordPart::Plain(' ' | '\t' | '\n') if !quoted => self.end(),
                // In the shell, `**` does not match hidden folders either; other globs of this analysis do.
                WordPart::Plain('*') if !quoted && next.starts_with('*') => {}
                WordPart::Plain('*' | '?') if !quoted => self.word().push_glob(rest.get(..1).unwrap_or_default()),
                WordPart::Plain('[') if !quoted && last_bracket.is_some_and(|last| last >= at) => {
                    self.word().push_glob("[");
                }
                // `X=~/a` is expanded by the shell; `--to=~/a` is not, but treating it alike is harmless.
                WordPart::Plain('=') if !quoted => {
                    self.word().push("=");
                    at += self.tilde(next, walker);
                }
                WordPart::Plain(_) => self.word().push(rest.get(..length).unwrap_or_default()),
                part => self.part(&part, quoted, walker, depth),
            }
        }
    }

    /// Expands a leading `~` or `~name` and returns its length.
    fn tilde(&mut self, raw: &str, walker: &Walker<'_>) -> usize {
        let Some(rest) = raw.strip_prefix('~') else { return 0 };
        let name = rest.split('/').next().unwrap_or_default();
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || "+-_.".contains(c)) {
            return 0;
        }
        let home = walker.home(name);
        self.word().extend(&home);
        1 + name.len()
    }

    fn part(&mut self, part: &WordPart<'_>, quoted: bool, walker: &mut Walker<'_>, depth: usize) {
        match part {
            WordPart::Double(text) => {
                self.word();
                self.expand(text, true, walker, depth);
            }
            WordPart::Ansi(text) => {
                let text = crate::quoting::ansi(text);
                self.word().push(&text);
            }
            WordPart::Escape("\n") => {}
            WordPart::Escape(text) if quoted && !["$", "`", "\"", "\\"].contains(text) => {
                self.word().push(&format!("\\{text}"));
            }
            WordPart::Single(text) | WordPart::Escape(text) | WordPart::Text(text) => self.word().push(text),
            WordPart::Command(text) => {
                let printed = walker.printed(text);
                self.take(&[printed], quoted, false, &walker.budget.clone());
            }
            WordPart::Backtick(text) => {
                let printed = walker.printed(&crate::quoting::backtick(text, quoted));
                self.take(&[printed], quoted, false, &walker.budget.clone());
            }
            WordPart::Process(text) => {
                let name = walker.piped(text);
                self.word().extend(&name);
            }
            WordPart::Count(text) => {
                // Only its substitutions matter, not the number.
                let mut inner = Self::default();
                inner.expand(text, true, walker, depth);
                self.word().push_unknown();
            }
            WordPart::Variable(name) => {
                let mut value = walker.variable(name);
                if !["@", "*"].contains(name) {
                    value = value.map(|words| words.into_iter().take(1).collect());
                }
                self.value(value, quoted, *name == "@", &walker.budget.clone());
            }
            WordPart::Braced(inner) => self.braced(inner, quoted, walker, depth),
            WordPart::Plain(plain) => self.word().push(&plain.to_string()),
        }
    }

    fn value(&mut self, value: Option<Vec<ShellWord>>, quoted: bool, apart: bool, budget: &WorkBudget) {
        match value {
            Some(words) => self.take(&words, quoted, apart, budget),
            None => self.word().push_unknown(),
        }
    }

    /// Appends a value, split into fields unless it is quoted.
    fn take(&mut self, words: &[ShellWord], quoted: bool, apart: bool, budget: &WorkBudget) {
        for (at, word) in words.iter().enumerate() {
            if !budget.spend(word.cost()) {
                return self.word().push_unknown();
            }
            match (quoted, apart) {
                _ if at == 0 => {}
                (true, false) => self.word().push(" "),
                _ => self.end(),
            }
            if quoted {
                self.word().extend(word);
                continue;
            }
            for piece in word.pieces() {
                match piece {
                    WordPiece::Text(text) => self.split(text),
                    piece => self.word().push_piece(piece),
                }
            }
        }
    }

    fn split(&mut self, text: &str) {
        let marks = self.marks.clone().unwrap_or_else(|| " \t\n".to_owned());
        let has_set = text.contains(']');
        let is_special = |c: char| marks.contains(c) || "*?".contains(c) || c == '[' && has_set;
        for part in text.split_inclusive(is_special) {
            let special = part.chars().next_back().filter(|c| is_special(*c));
            let plain = part.get(..part.len() - special.map_or(0, char::len_utf8)).unwrap_or_default();
            if !plain.is_empty() {
                self.word().push(plain);
            }
            match special {
                Some(c) if marks.contains(c) => self.end(),
                Some(c) => self.word().push_glob(&c.to_string()),
                None => {}
            }
        }
    }

    /// `${…}`.
    fn braced(&mut self, inner: &str, quoted: bool, walker: &mut Walker<'_>, depth: usize) {
        if inner.starts_with([' ', '\n', '\t', '|']) {
            let printed = walker.printed(inner.trim_start_matches('|'));
            return self.take(&[printed], quoted, false, &walker.budget.clone());
        }
        let (sign, rest) = match inner.strip_prefix(['!', '#']) {
            Some(rest) if !rest.is_empty() => (inner.get(..1).unwrap_or_default(), rest),
            _ => ("", inner),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let end = if end == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { end };
        let (name, mut rest) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let mut index = "";
        if let Some(after) = rest.strip_prefix('[')
            && let Some((inside, after)) = after.split_once(']')
        {
            (index, rest) = (inside, after);
        }
        let operator = OPERATORS.into_iter().find(|operator| rest.starts_with(operator)).unwrap_or_default();
        let argument = rest.strip_prefix(operator).unwrap_or_default();
        // `${x@Q}`, `${x^}`: other operators transform the value.
        let operator = if operator.is_empty() && !argument.is_empty() { "@" } else { operator };
        Self::default().expand(index, true, walker, depth);
        let mut inner = Self::default();
        inner.expand(argument, quoted, walker, depth);
        let arguments = inner.done();
        let argument = ShellWord::joined(&arguments);
        let mut value = walker.variable(name);
        if sign == "!" {
            let named = value.and_then(|words| words.first().and_then(ShellWord::text));
            value = named.and_then(|name| walker.variable(&name));
        }
        if sign == "#" {
            return self.word().push_unknown();
        }
        value = match (index, value) {
            ("" | "@" | "*", value) => value,
            (index, Some(words)) => match index.parse::<usize>() {
                Ok(at) => words.get(at).cloned().map(|word| vec![word]),
                // It may be any of them: `${a[i]}`.
                Err(_) => Some(words),
            },
            (_, None) => None,
        };
        let any = !index.is_empty() && index.parse::<usize>().is_err();
        if index.is_empty() && !["@", "*"].contains(&name) {
            value = value.map(|words| words.into_iter().take(1).collect());
        }
        // `${a[@]:1}` is a part of the array, and `$@` begins with `$1`.
        let several = ["@", "*"].contains(&index) || ["@", "*"].contains(&name);
        if several && operator == ":" {
            let from = argument.text().and_then(|text| text.split(':').next()?.trim().parse::<usize>().ok());
            let from = from.map(|from| if index.is_empty() { from.saturating_sub(1) } else { from });
            value = from.zip(value).map(|(from, words)| words.get(from..).unwrap_or_default().to_vec());
            return self.value(value, quoted, name == "@" || index == "@", &walker.budget.clone());
        }
        let some = value.as_ref().is_some_and(|words| words.iter().any(|word| !word.pieces().is_empty()));
        let value = match operator {
            // The shell stops if it is empty.
            ":?" if value.is_none() => return self.word().push_non_empty(),
            "" | ":?" | "?" => value,
            ":-" | "-" | ":=" | "=" if some => value,
            // A variable that the line does not set is probably unset.
            ":=" | "=" => {
                walker.state.set(name, Some(vec![argument.clone()]));
                Some(vec![argument])
            }
            ":+" | "+" if value.as_ref().is_some_and(|_| !some) => Some(Vec::new()),
            // The arguments are split already.
            ":-" | "-" | ":+" | "+" => return self.take(&arguments, true, true, &walker.budget.clone()),
            _ => value
                .and_then(|words| words.iter().map(|word| crate::quoting::cut(word, operator, &argument)).collect()),
        };
        self.value(value, quoted, name == "@" || any && index != "*", &walker.budget.clone());
    }
}
