//! Tells secrets from text that only looks like one.

use crate::MASK;
use crate::rules::{EXPORT_NAMES, SECRET_NAMES, TOKEN_PREFIXES};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Words that often follow the name of a secret: types, placeholders and words of a sentence.
const WORDS: &str = "string str bool boolean number any int integer float bytes object null none nil undefined \
    unknown true false required optional uint8array to is for and or the in as with was flag option argument \
    from must";

/// Further words of this kind, for exports.
const EXPORT_WORDS: &str = "not a an set unset empty missing invalid wrong correct valid expired needed here there stored \
    hashed encrypted input output value values field file reset manager policy length protected hidden secret token \
    password key name text default masked redacted changeme example placeholder self this env process request response \
    user data new old";

/// Decides whether the match of a pattern is a secret.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum ValueFilter {
    /// Neither a variable nor masked already.
    Real,
    /// Any value but a placeholder; the same holds for all below.
    Any,
    /// Neither code nor a common word.
    Value,
    /// The value of a flag: neither the next flag nor a file.
    Argument,
    /// Not merely a number, such as the id of a group.
    NotNumber,
    /// Neither a number nor a forwarded port.
    NotPort,
    /// A value in quotes after a word for a password.
    Quoted,
    /// A value as people make up passwords: with a digit, a sign, or very long.
    Password,
    /// A value as machines generate it.
    Generated,
    /// A generated value in mixed case, or long and hexadecimal.
    MixedCase,
    /// A long word of capitals, small letters and digits in no order.
    Random,
}

impl ValueFilter {
    pub(crate) fn accepts(self, value: &str) -> bool {
        if self == Self::Real {
            return !value.is_empty() && !value.starts_with(['$', '-', '<', '(']) && !value.starts_with(MASK);
        }
        if is_placeholder(value) {
            return false;
        }
        match self {
            Self::Real | Self::Any => true,
            Self::Value => is_value(value),
            Self::Argument => is_value(value) && !value.starts_with('-') && !is_file(value),
            Self::NotNumber => !value.chars().all(|c| c.is_ascii_digit()),
            Self::NotPort => is_value(value) && !is_file(value) && has(value, |c| !c.is_ascii_digit() && *c != ':'),
            Self::Quoted => !is_export_word(value) && value.split(' ').count() <= 6,
            Self::Password => is_value(value) && !is_file(value) && is_password(value),
            Self::Generated => is_value(value) && !is_file(value) && !is_id(value) && is_generated(value),
            Self::MixedCase => Self::Generated.accepts(value) && is_mixed_case(value),
            Self::Random => is_random(value),
        }
    }
}

/// Whether the values with this name are secret.
pub(crate) fn is_secret_name(name: &[u8]) -> bool {
    let letters = || name.iter().rev().filter(|byte| !matches!(byte, b'-' | b'_')).map(u8::to_ascii_lowercase);
    SECRET_NAMES.iter().any(|ending| {
        let mut letters = letters();
        ending.bytes().rev().all(|byte| letters.next() == Some(byte))
    })
}

/// Whether the values with this name are secret in an export.
pub fn is_secret_export_name(name: &str) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let harmless = ["pwd", "oldpwd", "bypass"].contains(&plain.as_str());
    is_secret_name(name.as_bytes())
        || !harmless && EXPORT_NAMES.split_whitespace().any(|ending| plain.ends_with(ending))
}

/// Whether a text is only a placeholder for a value: a variable, a blank, a mask.
pub fn is_placeholder(text: &str) -> bool {
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

fn is_export_word(text: &str) -> bool {
    let plain = text.trim_end_matches(['.', ',', ':', ';', '!', '?']);
    let mut words = WORDS.split_whitespace().chain(EXPORT_WORDS.split_whitespace());
    words.any(|word| plain.eq_ignore_ascii_case(word))
}

/// Whether a text is neither code nor a common word.
fn is_value(text: &str) -> bool {
    let call = text.ends_with('(') || text.contains("()") || text.contains("::") || text.starts_with('(');
    !is_export_word(text) && !call
}

fn is_file(text: &str) -> bool {
    let begins = ["/", "./", "../", "~/", "@", "file:", "http:", "https:"].iter().any(|start| text.starts_with(start));
    let end = text.rsplit('.').next().unwrap_or_default();
    let ends = ["pem", "key", "txt", "json", "yaml", "yml", "md", "env", "crt", "rs", "py", "ts", "js", "toml"];
    begins && !text.contains(['+', '=']) || text.contains('.') && ends.contains(&end)
}

/// Whether a text is a generated id or version that is not secret.
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

/// Whether a text has digits among letters, and is neither an identifier nor a date.
fn is_generated(text: &str) -> bool {
    let joined = text.contains(['_', '.', '/', '(', ':']) && !has(text, char::is_ascii_uppercase);
    text.len() >= 6 && has(text, char::is_ascii_digit) && has(text, char::is_ascii_alphabetic) && !joined
}

fn is_mixed_case(text: &str) -> bool {
    let hex = text.len() >= 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let plain = !text.contains(['_', '.', '/', '(', ':', '{', '[']);
    hex || text.len() >= 8 && plain && has(text, char::is_ascii_uppercase) && has(text, char::is_ascii_lowercase)
}

fn is_password(text: &str) -> bool {
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

fn is_random(word: &str) -> bool {
    let count = |kind: fn(&u8) -> bool| word.as_bytes().iter().filter(|byte| kind(byte)).count();
    let mixed =
        count(u8::is_ascii_digit) >= 3 && count(u8::is_ascii_uppercase) >= 5 && count(u8::is_ascii_lowercase) >= 5;
    // Paths have many separators, generated keys few.
    let signs = count(|byte| !byte.is_ascii_alphanumeric());
    // Camel-case names have their numbers at one end.
    let numbers = word.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).count();
    mixed && numbers >= 3 && signs * 8 <= word.len() && !is_id(word) && class_changes(word) * 3 >= word.len()
}

/// How often neighbors in a word are of different character classes.
fn class_changes(word: &str) -> usize {
    let kind = |byte: &u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    word.as_bytes().windows(2).filter(|pair| pair.first().map(kind) != pair.last().map(kind)).count()
}

pub(crate) fn in_token(byte: u8) -> bool {
    byte == b'-' || byte == b'_' || byte.is_ascii_alphanumeric()
}

pub(crate) fn in_value(byte: u8) -> bool {
    byte > b' ' && !b"\"'`,;&|<>)]}\\".contains(&byte)
}

/// The characters of a token after its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenAlphabet {
    /// Letters, digits, `-` and `_`.
    Word,
    Alphanumeric,
    /// Those of a word, and dots.
    Dotted,
}

impl TokenAlphabet {
    pub(crate) fn has(self, byte: u8) -> bool {
        match self {
            Self::Word => in_token(byte),
            Self::Alphanumeric => byte.is_ascii_alphanumeric(),
            Self::Dotted => in_token(byte) || byte == b'.',
        }
    }
}

/// The first two letters of tokens, which rule out nearly every word.
static TOKEN_STARTS: LazyLock<BTreeSet<[u8; 2]>> = LazyLock::new(|| {
    let prefixes = TOKEN_PREFIXES.iter().flat_map(|(_, _, prefixes)| prefixes.split(' '));
    // `sk-` of several models and the ids of AWS keys have rules of their own.
    prefixes.chain(["sk", "AK", "AS"]).filter_map(|prefix| prefix.as_bytes().first_chunk().copied()).collect()
});

/// Whether a token can begin with these letters.
pub(crate) fn may_begin_token(first: u8, second: u8) -> bool {
    TOKEN_STARTS.contains(&[first, second])
}

/// The length of the prefix that gives away the token at the start of a text, and the characters that follow it.
pub(crate) fn known_token(text: &[u8]) -> Option<(usize, TokenAlphabet)> {
    let prefixes = TOKEN_PREFIXES
        .iter()
        .flat_map(|(least, alphabet, prefixes)| prefixes.split(' ').map(move |prefix| (*least, *alphabet, prefix)));
    let follows = |(least, alphabet, prefix): (usize, TokenAlphabet, &str)| {
        let rest = text.strip_prefix(prefix.as_bytes())?;
        let length = rest.iter().take_while(|byte| alphabet.has(**byte)).count();
        (length >= least).then_some((prefix.len(), alphabet))
    };
    let own = || text.strip_prefix(b"sk-").is_some_and(has_random_part) || access_key(text);
    { prefixes }.find_map(follows).or_else(|| own().then_some((0, TokenAlphabet::Word)))
}

/// Whether a token has a part that is not a word: long with a digit, or very long.
fn has_random_part(text: &[u8]) -> bool {
    let token = text.split(|byte| !in_token(*byte)).next().unwrap_or_default();
    let is_random = |part: &[u8]| part.len() >= 20 || part.len() >= 12 && part.iter().any(u8::is_ascii_digit);
    token.split(|byte| *byte == b'-').any(is_random)
}

/// Whether a text begins with the id of an AWS access key: twenty capitals and digits.
fn access_key(text: &[u8]) -> bool {
    let end = text.iter().take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()).count();
    let id = text.get(..end).unwrap_or_default();
    let known = id.starts_with(b"AKIA") || id.starts_with(b"ASIA");
    known && end == 20 && id.iter().any(u8::is_ascii_digit) && !text.get(end).is_some_and(|byte| in_token(*byte))
}

/// Whether a value looks like a password or a generated key rather than an identifier.
pub(crate) fn is_secret_like(text: &[u8]) -> bool {
    let has = |kind: fn(&u8) -> bool| text.iter().any(kind);
    let joined = has(|byte| matches!(byte, b'_' | b'.'));
    let long = text.len() >= 20 && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    text.len() >= 6 && has(u8::is_ascii_digit) && (!joined || long)
}

pub(crate) fn is_word(text: &[u8]) -> bool {
    let text = text.strip_suffix(b".").unwrap_or(text);
    WORDS.split(' ').any(|word| text.eq_ignore_ascii_case(word.as_bytes()))
}

pub(crate) fn is_auth_scheme(text: &[u8]) -> bool {
    [&b"bearer"[..], b"basic", b"token"].iter().any(|scheme| text.eq_ignore_ascii_case(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_mixed_words_are_random() {
        assert!(is_random("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY9x2"));
        for plain in [
            "/home/user/Projects/MS-001_Login/research/research_demo-session_111626",
            "toolu_015R8tPjv7FUHuW6MDJj8HpTtoolu_015R8tPjv",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "TheQuickBrownFoxJumpsOverTheLazyDog123",
        ] {
            assert!(!is_random(plain), "{plain}");
        }
    }

    #[test]
    fn the_name_of_a_secret_is_recognized() {
        for name in ["DB_PASS", "MYSQL_PWD", "passphrase", "client_secret", "Cookie", "private_key_id", "Kennwort"] {
            assert!(is_secret_export_name(name), "{name}");
        }
        for name in ["PWD", "OLDPWD", "session_id", "max_tokens", "compass_point", "key", "bypass", "author"] {
            assert!(!is_secret_export_name(name), "{name}");
        }
    }
}
