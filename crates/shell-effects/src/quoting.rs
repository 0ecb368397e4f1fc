//! Escapes and operators of words: `$'\x2f'`, backslashes in backticks, `${x%y}`.

use super::word::ShellWord;

/// Decodes the text of `$'…'`.
pub(super) fn ansi(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some(kind) = chars.next() else { break };
        let decoded = match kind {
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            'a' => Some('\u{7}'),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            'v' => Some('\u{b}'),
            'e' | 'E' => Some('\u{1b}'),
            'x' => numbered(&mut chars, 16, 2, None),
            'u' => numbered(&mut chars, 16, 4, None),
            'U' => numbered(&mut chars, 16, 8, None),
            '0'..='7' => numbered(&mut chars, 8, 3, Some(kind)),
            '\\' | '\'' | '"' | '?' => Some(kind),
            other => {
                out.push('\\');
                Some(other)
            }
        };
        out.extend(decoded);
    }
    out
}

/// Reads a character as a number of at most `longest` digits.
fn numbered(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    radix: u32,
    longest: usize,
    first: Option<char>,
) -> Option<char> {
    let mut digits: String = first.into_iter().collect();
    while digits.len() < longest
        && let Some(digit) = chars.next_if(|c| c.is_digit(radix))
    {
        digits.push(digit);
    }
    u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32)
}

/// Removes the backslashes that `` `…` `` adds, and in double quotes those before quotes as well.
pub(super) fn backtick(text: &str, quoted: bool) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(next) if c == '\\' && (['`', '\\', '$'].contains(next) || quoted && *next == '"') => {
                out.extend(chars.next());
            }
            _ => out.push(c),
        }
    }
    out
}

/// Evaluates `${x%/*}`, `${x##*/}` and the like: one star, before or after plain text.
fn cut_at<'t>(text: &'t str, operator: &str, pattern: &str) -> Option<&'t str> {
    let mark = if operator.starts_with('%') { pattern.strip_suffix('*') } else { pattern.strip_prefix('*') };
    let mark = mark.filter(|mark| !mark.is_empty() && !mark.contains(['*', '?', '[', '\\']))?;
    match operator {
        "%" => text.rsplit_once(mark).map(|(before, _)| before),
        "%%" => text.split_once(mark).map(|(before, _)| before),
        "#" => text.split_once(mark).map(|(_, after)| after),
        "##" => text.rsplit_once(mark).map(|(_, after)| after),
        _ => return None,
    }
    .or(Some(text))
}

/// Evaluates `${x%y}`, `${x#y}`, `${x/y/z}`, `${x:1:2}` and `${x,,}` if all of it is plain text.
pub(super) fn cut(word: &ShellWord, operator: &str, argument: &ShellWord) -> Option<ShellWord> {
    let text = word.text().filter(|_| !word.has_glob())?;
    let by = argument.text()?;
    // A star is one in double quotes, too.
    let pattern = argument.has_glob() || operator.starts_with(['%', '#']) && by.contains('*');
    let cut = match operator {
        "^^" => text.to_uppercase(),
        ",," => text.to_lowercase(),
        ":" => {
            let (from, length) = by.split_once(':').unwrap_or((&by, ""));
            let from: usize = from.trim().parse().ok()?;
            let length: usize = if length.is_empty() { usize::MAX } else { length.trim().parse().ok()? };
            text.chars().skip(from).take(length).collect()
        }
        _ if pattern => return cut_at(&text, operator, &by).map(ShellWord::new),
        "#" | "##" => text.strip_prefix(&by).unwrap_or(&text).to_owned(),
        "%" | "%%" => text.strip_suffix(&by).unwrap_or(&text).to_owned(),
        "/" | "//" => {
            let (from, to) = by.split_once('/').unwrap_or((&by, ""));
            if operator == "/" { text.replacen(from, to, 1) } else { text.replace(from, to) }
        }
        _ => return None,
    };
    Some(ShellWord::new(cut))
}
