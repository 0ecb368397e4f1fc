//! How a secret looks, and what only looks like one.

use std::ops::Range;

/// Who decides whether what was found is a secret.
#[derive(Clone, Copy)]
pub(super) enum ValueFilter {
    /// Anything but a blank.
    Any,
    /// A value: neither a blank nor a word of a program or a sentence.
    Value,
    /// A value of a flag: not the next flag, nor a file.
    Argument,
    /// A value that is not merely a number, such as the id of a group.
    NoNumber,
    /// A value that is neither a number nor a port that is passed on.
    NoPort,
    /// A value in quotes, behind a word for a password.
    Quoted,
    /// A value as people make up a password: with a digit, a sign, or very long.
    Secretive,
    /// A value as machines make it up.
    Odd,
    /// The same with capitals and small letters in it, or hexadecimal and long.
    Mixed,
}

/// Words that follow a secret's name without being one.
const WORDS: &str = "string str bool boolean number any int integer float bytes object null none nil undefined unknown true \
    false required optional to is for and or the in as with was flag option argument from must not a an set unset empty \
    missing invalid wrong correct valid expired needed here there stored hashed encrypted input output value values \
    field file reset manager policy length protected hidden secret token password key name text default masked redacted \
    changeme example placeholder self this env process request response user data new old";

impl ValueFilter {
    pub(super) fn agrees(self, value: &str) -> bool {
        if stands_for(value) {
            return false;
        }
        match self {
            Self::Any => true,
            Self::Value => is_value(value),
            Self::Argument => is_value(value) && !value.starts_with('-') && !is_file(value),
            Self::NoNumber => !value.chars().all(|c| c.is_ascii_digit()),
            Self::NoPort => is_value(value) && !is_file(value) && has(value, |c| !c.is_ascii_digit() && *c != ':'),
            Self::Quoted => !is_word(value) && (!value.contains(' ') || value.split(' ').count() <= 6),
            Self::Secretive => is_value(value) && !is_file(value) && secretive(value),
            Self::Odd => is_value(value) && !is_file(value) && !is_id(value) && odd(value),
            Self::Mixed => Self::Odd.agrees(value) && mixed(value),
        }
    }
}

/// Whether a text stands for a value without being one: a variable, a blank, a mask.
pub(super) fn stands_for(text: &str) -> bool {
    let first = text.chars().next();
    let lower = text.to_ascii_lowercase();
    first.is_none_or(|first| "$<{%".contains(first))
        || text.starts_with("[masked")
        || text.starts_with("\\$")
        || lower.trim_end_matches(['.', ',', ';', ':', '!', '?']) == "masked"
        || lower.starts_with("your")
        || lower.starts_with("process.env")
        || lower.starts_with("os.environ")
        || text.chars().all(|c| Some(c) == first)
        || text.chars().all(|c| matches!(c, '.' | '*' | '-' | '_' | '…'))
}

fn is_word(text: &str) -> bool {
    let plain = text.trim_end_matches(['.', ',', ':', ';', '!', '?']);
    WORDS.split_whitespace().any(|word| plain.eq_ignore_ascii_case(word))
}

/// A call, an index or a path of names is code.
fn is_value(text: &str) -> bool {
    let call = text.ends_with('(') || text.contains("()") || text.contains("::") || text.starts_with('(');
    !is_word(text) && !call
}

fn is_file(text: &str) -> bool {
    let begins = ["/", "./", "../", "~/", "@", "file:", "http:", "https:"].iter().any(|start| text.starts_with(start));
    let end = text.rsplit('.').next().unwrap_or_default();
    let ends = ["pem", "key", "txt", "json", "yaml", "yml", "md", "env", "crt", "rs", "py", "ts", "js", "toml"];
    begins && !text.contains(['+', '=']) || text.contains('.') && ends.contains(&end)
}

/// Names that machines give to things that are no secret.
fn is_id(text: &str) -> bool {
    let plain = ["toolu_", "msg_", "req_", "agent_", "call_", "sha256-", "sha384-", "sha512-", "sha256:", "sha1:"];
    plain.iter().any(|start| text.starts_with(start)) || is_uuid(text) || is_version(text)
}

fn is_uuid(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let hex = |part: &&str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.len() == 36 && parts.len() == 5 && parts.iter().all(hex)
}

fn is_version(text: &str) -> bool {
    let text = text.trim_start_matches('v');
    text.contains('.') && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn has(text: &str, kind: fn(&char) -> bool) -> bool {
    text.chars().any(|c| kind(&c))
}

/// Digits among letters, and neither a name of a program nor a date.
fn odd(text: &str) -> bool {
    let joined = text.contains(['_', '.', '/', '(', ':']) && !has(text, char::is_ascii_uppercase);
    text.len() >= 6 && has(text, char::is_ascii_digit) && has(text, char::is_ascii_alphabetic) && !joined
}

fn mixed(text: &str) -> bool {
    let hex = text.len() >= 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let plain = !text.contains(['_', '.', '/', '(', ':', '{', '[']);
    hex || text.len() >= 8 && plain && has(text, char::is_ascii_uppercase) && has(text, char::is_ascii_lowercase)
}

fn secretive(text: &str) -> bool {
    let inner: String = text.chars().skip(1).take(text.chars().count().saturating_sub(2)).collect();
    let sign = inner.contains(['!', '@', '#', '$', '%', '^', '&', '*', '+', '=', '~', '?', '§']);
    let cases = inner.chars().any(|c| c.is_ascii_uppercase()) && has(text, char::is_ascii_lowercase);
    let phrase = text.matches('-').count() >= 3;
    let digit = has(text, char::is_ascii_digit);
    let long = text.chars().count() >= 16 && !text.contains(['_', '.', '/', '-']);
    let code = text.contains(['(', '{', '[', '<']) && !digit;
    text.chars().count() >= 5
        && !code
        && (digit || sign && text.len() >= 6 || cases && !text.contains(['_', '.']) || phrase || long)
}

/// Long words without any order in them, as a cloud's keys are: capitals, small letters and digits well mixed.
pub(super) fn random_words(text: &str) -> Vec<Range<usize>> {
    const LEAST: usize = 32;
    let belongs = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-' | b'=');
    let mut words = Vec::new();
    let mut begin = None;
    for (at, byte) in text.bytes().chain(std::iter::once(b' ')).enumerate() {
        match begin {
            None if belongs(byte) => begin = Some(at),
            Some(start) if !belongs(byte) => {
                begin = None;
                let word = text.get(start..at).unwrap_or_default();
                if word.len() >= LEAST && is_random(word) {
                    words.push(start..at);
                }
            }
            _ => {}
        }
    }
    words
}

fn is_random(word: &str) -> bool {
    let count = |kind: fn(&u8) -> bool| word.as_bytes().iter().filter(|byte| kind(byte)).count();
    let mixed =
        count(u8::is_ascii_digit) >= 3 && count(u8::is_ascii_uppercase) >= 5 && count(u8::is_ascii_lowercase) >= 5;
    // A path is made of names; what a machine made up has few signs in it.
    let signs = count(|byte| !byte.is_ascii_alphanumeric());
    // Names in camel case have their numbers at one end.
    let numbers = word.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).count();
    mixed && numbers >= 3 && signs * 8 <= word.len() && !is_id(word) && turns(word) * 3 >= word.len()
}

/// How often a word goes over from one kind of letter to another.
fn turns(word: &str) -> usize {
    let kind = |byte: &u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    word.as_bytes().windows(2).filter(|pair| pair.first().map(kind) != pair.last().map(kind)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_order_is_random() {
        assert_eq!(random_words("key wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY9x2 end").len(), 1);
        for plain in [
            "/home/user/Projects/MS-001_Login/research/research_demo-session_111626.md",
            "toolu_015R8tPjv7FUHuW6MDJj8HpTtoolu_015R8tPjv",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "TheQuickBrownFoxJumpsOverTheLazyDog123",
        ] {
            assert!(random_words(plain).is_empty(), "{plain}");
        }
    }
}
