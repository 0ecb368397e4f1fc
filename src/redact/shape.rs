//! How secrets and their names look.

/// The names whose values are secret, compared without case, `-` and `_`, at the end of a name.
const NAMES: [&str; 13] = [
    "password",
    "passwd",
    "passphrase",
    "passwort",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "authorization",
    "cookie",
    "credential",
    "credentials",
];
/// How tokens begin, and how many characters must follow.
const PREFIXES: [(&str, usize); 23] = [
    ("sk_live_", 8),
    ("sk_test_", 8),
    ("rk_live_", 8),
    ("sk-ant-", 8),
    ("ghp_", 16),
    ("gho_", 16),
    ("ghs_", 16),
    ("ghu_", 16),
    ("ghr_", 16),
    ("github_pat_", 16),
    ("glpat-", 16),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxa-", 10),
    ("xoxs-", 10),
    ("AIza", 30),
    ("hf_", 16),
    ("pypi-", 16),
    ("xapp-", 10),
    ("whsec_", 16),
    ("dckr_pat_", 16),
    ("glsa_", 20),
    ("shpat_", 20),
];
/// Words that follow a secret's name without being one: types, placeholders and the words of a sentence.
const WORDS: &str = "string str bool boolean number any int integer float bytes object null none nil undefined \
    unknown true false required optional uint8array to is for and or the in as with was flag option argument \
    from must";

/// Whether a name says that its value is secret.
pub(super) fn named(name: &[u8]) -> bool {
    // Most names end in another letter than any of these.
    if !matches!(name.last(), Some(b'd' | b't' | b'n' | b'y' | b'e' | b'l' | b's' | b'_' | b'-' | b'A'..=b'Z')) {
        return false;
    }
    let letters = || name.iter().rev().filter(|byte| !matches!(byte, b'-' | b'_')).map(u8::to_ascii_lowercase);
    NAMES.iter().any(|ending| {
        let mut letters = letters();
        ending.bytes().rev().all(|byte| letters.next() == Some(byte))
    })
}

pub(super) fn in_token(byte: u8) -> bool {
    byte == b'-' || byte == b'_' || byte.is_ascii_alphanumeric()
}

pub(super) fn in_value(byte: u8) -> bool {
    byte > b' ' && !b"\"'`,;&|<>)]}\\".contains(&byte)
}

/// Whether a text begins with a token that can be told by its beginning.
pub(super) fn known(text: &[u8]) -> bool {
    let alphanumeric = |byte: u8| byte.is_ascii_alphanumeric();
    PREFIXES.iter().any(|(prefix, least)| follows(text, prefix, *least, in_token))
        || follows(text, "npm_", 30, alphanumeric)
        || text.strip_prefix(b"sk-").is_some_and(random)
        || access_key(text)
}

fn follows(text: &[u8], prefix: &str, least: usize, belongs: impl Fn(u8) -> bool) -> bool {
    let rest = text.strip_prefix(prefix.as_bytes());
    rest.is_some_and(|rest| rest.iter().take_while(|byte| belongs(**byte)).count() >= least)
}

/// Whether a token has a part that no word is: long with a digit, or very long.
fn random(text: &[u8]) -> bool {
    let token = text.split(|byte| !in_token(*byte)).next().unwrap_or_default();
    let odd = |part: &[u8]| part.len() >= 20 || part.len() >= 12 && part.iter().any(u8::is_ascii_digit);
    token.split(|byte| *byte == b'-').any(odd)
}

/// Whether a text begins with the id of a cloud access key: twenty capitals and digits.
fn access_key(text: &[u8]) -> bool {
    let end = text.iter().take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()).count();
    let id = text.get(..end).unwrap_or_default();
    let known = id.starts_with(b"AKIA") || id.starts_with(b"ASIA");
    known && end == 20 && id.iter().any(u8::is_ascii_digit) && !text.get(end).is_some_and(|byte| in_token(*byte))
}

/// Whether a value looks made up by a machine or a careful person, rather than a name from a program.
pub(super) fn mixed(text: &[u8]) -> bool {
    let has = |kind: fn(&u8) -> bool| text.iter().any(kind);
    let joined = has(|byte| matches!(byte, b'_' | b'.'));
    let long = text.len() >= 20 && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    text.len() >= 6 && has(u8::is_ascii_digit) && (!joined || long)
}

pub(super) fn word(text: &[u8]) -> bool {
    let text = text.strip_suffix(b".").unwrap_or(text);
    WORDS.split(' ').any(|word| text.eq_ignore_ascii_case(word.as_bytes()))
}

pub(super) fn scheme(text: &[u8]) -> bool {
    [&b"bearer"[..], b"basic", b"token"].iter().any(|scheme| text.eq_ignore_ascii_case(scheme))
}

pub(super) fn position(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}
