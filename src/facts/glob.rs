//! A parsed glob, so that a walk enters only folders that can contain a match.

use super::Unknown;
use std::path::{Component, Path};

use fast_glob::{glob_match, validate};

/// Folders that `**` does not enter.
const SKIPPED: [&str; 7] = [".git", "node_modules", "target", ".venv", "venv", ".tox", "__pycache__"];
/// The special characters of globs.
const META: [char; 4] = ['*', '?', '[', '{'];

pub(crate) struct GlobPattern {
    /// The whole glob, without `.` and empty segments, as [`folded`].
    whole: Vec<u8>,
    /// The segments in front of the first special one, unescaped: where the walk starts.
    pub(crate) prefix: String,
    /// The segments after the prefix; none for a plain path.
    pub(crate) rest: Vec<String>,
    /// The number of segments of `rest` in front of the first `**`.
    before_stars: usize,
    /// Whether each segment of `rest` is a separate glob, so that folders can be ruled out by name.
    separable: bool,
    /// The characters outside ASCII that the glob names.
    alphabet: Vec<char>,
}

impl GlobPattern {
    pub(crate) fn new(glob: &str) -> Result<Self, Unknown> {
        if let Err(error) = validate(glob) {
            return Err(format!("`{glob}` is not a glob: {error}").into());
        }
        if glob.is_empty() || glob.starts_with('!') {
            return Err(format!("`{glob}` does not say which files it means").into());
        }
        if leaves(&unescaped(glob)) {
            return Err(format!("`{glob}` leaves the project").into());
        }
        let segments: Vec<&str> = glob.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        let plain = segments.iter().take_while(|part| !special(part)).count();
        let (prefix, rest) = segments.split_at_checked(plain).unwrap_or_default();
        let alphabet = glob.chars().filter(|c| !c.is_ascii()).collect::<Vec<_>>();
        Ok(Self {
            whole: folded(&segments.join("/"), &alphabet),
            prefix: unescaped(&prefix.join("/")),
            before_stars: rest.iter().take_while(|part| !part.contains("**")).count(),
            separable: rest.iter().all(|part| validate(part).is_ok() && !part.starts_with('!')),
            rest: rest.iter().map(|part| (*part).to_owned()).collect(),
            alphabet,
        })
    }

    pub(crate) fn matches(&self, path: &str) -> bool {
        glob_match(&self.whole, folded(path, &self.alphabet))
    }

    /// The depth of a match below the prefix, at most.
    pub(crate) fn depth(&self) -> usize {
        if self.before_stars < self.rest.len() { usize::MAX } else { self.rest.len() }
    }

    /// Whether the folder `name`, `depth` levels below the prefix, can contain a match.
    pub(crate) fn enters(&self, name: &str, depth: usize) -> bool {
        let level = depth.saturating_sub(1);
        if level >= self.before_stars {
            return self.depth() != usize::MAX || !SKIPPED.contains(&name);
        }
        let named = self.rest.get(level).map(|part| folded(part, &self.alphabet));
        !self.separable || named.is_none_or(|part| glob_match(part, folded(name, &self.alphabet)))
    }
}

/// Whether a path of the project matches a glob; the file need not exist.
///
/// # Errors
///
/// A clause that says what is wrong with the glob.
pub fn fits(glob: &str, path: &str) -> Result<bool, Unknown> {
    let pattern = GlobPattern::new(glob)?;
    let below = path.strip_prefix(&pattern.prefix).unwrap_or_default().trim_start_matches('/');
    let folders = below.rsplit_once('/').map_or("", |(folders, _)| folders);
    let named = folders.split('/').filter(|name| !name.is_empty()).enumerate();
    Ok(pattern.matches(path) && named.into_iter().all(|(at, name)| pattern.enters(name, at + 1)))
}

/// The path, if the glob has no special characters.
pub fn plain(glob: &str) -> Option<String> {
    GlobPattern::new(glob).ok().filter(|pattern| pattern.rest.is_empty()).map(|pattern| pattern.prefix)
}

/// Whether a segment has an unescaped special character.
fn special(segment: &str) -> bool {
    let mut escaped = false;
    segment.chars().any(|c| {
        let meta = !escaped && META.contains(&c);
        escaped = !escaped && c == '\\';
        meta
    })
}

/// A text without its escapes, read as the matcher reads them.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let next = if c == '\\' { chars.next() } else { None };
        plain.push(match next {
            Some('b') => '\x08',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            other => other.unwrap_or(c),
        });
    }
    plain
}

/// One byte per character, because the matcher reads bytes as characters in `?` and `[…]`.
fn folded(text: &str, alphabet: &[char]) -> Vec<u8> {
    if text.is_ascii() {
        return text.as_bytes().to_vec();
    }
    let fold = |c: char| {
        let named = || alphabet.iter().position(|known| *known == c);
        let code = if c.is_ascii() { Some(c as usize) } else { named().map(|at| 0x80 + at) };
        code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
    };
    text.chars().map(fold).collect()
}

fn leaves(path: &str) -> bool {
    let outward = |part| !matches!(part, Component::Normal(_) | Component::CurDir);
    path.starts_with('/') || Path::new(path).components().any(outward)
}
