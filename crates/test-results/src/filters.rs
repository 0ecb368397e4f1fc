//! Programs of a pipe that show a part of what they read.

use regex::{Regex, RegexBuilder};
use shell_effects::ShellWord;

/// Why it is not known which lines of an output are seen.
#[derive(Debug, thiserror::Error)]
pub(super) enum HiddenOutput {
    #[error("its output is not shown")]
    Elsewhere,
    #[error("it is in the middle of a pipe")]
    Piped,
    #[error("`{0}` changes what is printed")]
    Changed(String),
}

/// The host removes empty lines at both ends of the output; so many may be missing.
const TRIMMED: usize = 4;

/// Which part of the output is seen.
#[derive(Debug, Default)]
pub(super) struct SeenPart {
    /// Whether lines at the beginning may be missing.
    pub start_cut: bool,
    /// Whether lines at the end may be missing.
    pub end_cut: bool,
    pub selected: Vec<LineSelection>,
}

impl SeenPart {
    /// Adds the visible part of another run.
    pub fn add(&mut self, other: Self) {
        self.start_cut |= other.start_cut;
        self.end_cut |= other.end_cut;
        self.selected.extend(other.selected);
    }

    /// Whether a line like this would be seen, wherever it is.
    pub fn shows(&self, line: &str) -> bool {
        self.selected.iter().all(|selection| selection.keeps(line))
    }
}

/// A filter that keeps some lines.
#[derive(Debug)]
pub(super) struct LineSelection {
    patterns: Vec<Regex>,
    inverted: bool,
}

impl LineSelection {
    fn keeps(&self, line: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.is_match(line)) != self.inverted
    }
}

enum PipeFilter {
    All,
    Sorted,
    End(usize),
    Beginning(usize),
    Selected(LineSelection),
}

/// The lines that these filters let through.
pub(super) fn seen_part(filters: &[Vec<ShellWord>], lines: Option<usize>) -> Result<SeenPart, HiddenOutput> {
    let mut part = SeenPart::default();
    let mut lines = lines;
    for words in filters.iter().rev() {
        let whole = |limit: usize| lines.is_some_and(|lines| lines + TRIMMED <= limit);
        let words: Vec<String> = words.iter().map(|word| word.text().unwrap_or_default()).collect();
        let name = words.first().map_or("", |name| name.rsplit('/').next().unwrap_or_default());
        let changed = || HiddenOutput::Changed(name.to_owned());
        match filter(name, words.get(1..).unwrap_or_default()).ok_or_else(changed)? {
            PipeFilter::All => {}
            PipeFilter::Sorted => {
                let cut = part.start_cut || part.end_cut;
                (part.start_cut, part.end_cut) = (cut, cut);
            }
            PipeFilter::End(limit) => part.start_cut |= !whole(limit),
            PipeFilter::Beginning(limit) => part.end_cut |= !whole(limit),
            PipeFilter::Selected(selection) => {
                part.selected.push(selection);
                lines = None;
            }
        }
    }
    Ok(part)
}

fn filter(name: &str, words: &[String]) -> Option<PipeFilter> {
    let operands = || words.iter().filter(|word| !word.starts_with('-') || *word == "-");
    match name {
        "cat" | "less" | "more" | "ansi2txt" | "strip-ansi" | "col" | "ts" | "nl" => {
            operands().all(|word| word == "-").then_some(PipeFilter::All)
        }
        "tee" => Some(PipeFilter::All),
        "sort" | "uniq" => (operands().count() == 0).then_some(PipeFilter::Sorted),
        "tr" => matches!(words, [d, set] if d == "-d" && ["\\r", "\r", "\\000", "\\0"].contains(&set.as_str()))
            .then_some(PipeFilter::All),
        "cut" => {
            let end: usize =
                words.first()?.strip_prefix("-c")?.trim_start_matches('1').strip_prefix('-')?.parse().ok()?;
            (words.len() == 1 && end >= 100).then_some(PipeFilter::All)
        }
        "tail" | "gtail" => cut_lines(words).map(|(count, from)| PipeFilter::End(if from { 0 } else { count })),
        "head" | "ghead" => cut_lines(words).map(|(count, _)| PipeFilter::Beginning(count)),
        "grep" | "egrep" | "fgrep" | "ggrep" | "rg" | "ag" => grep(name, words),
        "sed" | "gsed" => sed(words),
        _ => None,
    }
}

/// The number of lines that `head` or `tail` keeps, and whether it has a sign.
fn cut_lines(words: &[String]) -> Option<(usize, bool)> {
    let mut words = words.iter();
    let mut count = (10, false);
    while let Some(word) = words.next() {
        let value = match word.as_str() {
            "-n" | "--lines" => words.next()?.clone(),
            "-q" | "-" => continue,
            "-c" | "--bytes" => {
                words.next()?;
                count = (0, false);
                continue;
            }
            _ => {
                let long = word.strip_prefix("--lines=").or_else(|| word.strip_prefix("-n"));
                long.or_else(|| word.strip_prefix('-'))?.to_owned()
            }
        };
        let digits = value.trim_start_matches(['+', '-']);
        // `-n +5` and `-n -5` cut a number of lines that is not known.
        let signed = digits.len() < value.len();
        count = (if signed { 0 } else { digits.parse().ok()? }, signed);
    }
    Some(count)
}

fn grep(name: &str, words: &[String]) -> Option<PipeFilter> {
    let mut patterns: Vec<&str> = Vec::new();
    let mut flags = String::new();
    let mut plain = Vec::new();
    let mut words = words.iter();
    let mut limited = false;
    while let Some(word) = words.next() {
        match word.as_str() {
            "-e" | "--regexp" => patterns.push(words.next()?),
            "-A" | "-B" | "-C" | "--context" | "--after-context" | "--before-context" => drop(words.next()?),
            "-m" | "--max-count" => {
                words.next()?;
                limited = true;
            }
            "--" => {
                plain.extend(words.by_ref());
            }
            "--extended-regexp" => flags.push('E'),
            "--ignore-case" => flags.push('i'),
            "--invert-match" => flags.push('v'),
            "--fixed-strings" => flags.push('F'),
            "--line-buffered" | "--no-messages" | "--text" | "--line-number" => {}
            long if long.starts_with("--color") || long.starts_with("--colour") => {}
            short if short.starts_with('-') && !short.starts_with("--") && short.len() > 1 => {
                let letters = short.trim_start_matches('-');
                let valued = letters.starts_with(['A', 'B', 'C']) && letters.get(1..).is_some_and(is_number);
                limited |= letters.starts_with('m');
                if !valued && !letters.chars().all(|c| c.is_ascii_digit() || "EPFGivnwxahsymN".contains(c)) {
                    return None;
                }
                flags.push_str(if valued { "" } else { letters });
            }
            long if long.starts_with("--") => return None,
            _ => plain.push(word),
        }
    }
    if patterns.is_empty() {
        patterns.push(plain.first()?);
        plain.remove(0);
    }
    if !plain.is_empty() || limited {
        return None;
    }
    let compile = |pattern: &str| {
        let pattern = match name {
            _ if name == "fgrep" || flags.contains('F') => regex::escape(pattern),
            "egrep" | "rg" | "ag" => pattern.to_owned(),
            _ if flags.contains(['E', 'P']) => pattern.to_owned(),
            _ => basic(pattern),
        };
        let pattern = if flags.contains('w') { format!(r"\b(?:{pattern})\b") } else { pattern };
        RegexBuilder::new(&pattern).case_insensitive(flags.contains(['i', 'y'])).size_limit(1 << 20).build().ok()
    };
    let compiled: Option<Vec<Regex>> = patterns.iter().flat_map(|pattern| pattern.split('\n')).map(compile).collect();
    Some(PipeFilter::Selected(LineSelection { patterns: compiled?, inverted: flags.contains('v') }))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

/// Converts a basic regular expression, in which `\|` is an alternative and `|` a character.
fn basic(pattern: &str) -> String {
    let mut converted = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(next) if "|(){}+?".contains(next) => converted.push(next),
                Some(next) => converted.extend(['\\', next]),
                None => converted.push_str(r"\\"),
            },
            c if "|(){}+?".contains(c) => converted.extend(['\\', c]),
            c => converted.push(c),
        }
    }
    converted
}

fn sed(words: &[String]) -> Option<PipeFilter> {
    let quiet = words.iter().any(|word| word == "-n");
    let mut scripts = words.iter().filter(|word| !["-n", "-E", "-r", "-u", "-e"].contains(&word.as_str()));
    let (script, None) = (scripts.next()?.as_str(), scripts.next()) else { return None };
    let extended = words.iter().any(|word| word == "-E" || word == "-r");
    let pattern = |text: &str, inverted| {
        let inner = text.strip_prefix('/').filter(|inner| !inner.contains('/'))?;
        let pattern = if extended { inner.to_owned() } else { basic(inner) };
        let compiled = RegexBuilder::new(&pattern).size_limit(1 << 20).build().ok()?;
        Some(PipeFilter::Selected(LineSelection { patterns: vec![compiled], inverted }))
    };
    if quiet {
        let address = script.strip_suffix('p')?;
        if address == "$" {
            return Some(PipeFilter::End(1));
        }
        if let Some(selected) = address.strip_suffix('/') {
            return pattern(selected, false);
        }
        let (from, to) = address.split_once(',')?;
        return match to {
            "$" => Some(PipeFilter::End(0)),
            to if is_number(from) && is_number(to) => {
                Some(PipeFilter::Beginning(if from == "1" { to.parse().ok()? } else { 0 }))
            }
            _ => None,
        };
    }
    // Removing colors changes no text.
    let colours = ["\\x1b", "\\x1B", "\\033", "\\o33", "\u{1b}"].iter().any(|escape| script.contains(escape));
    if colours && script.starts_with("s/") && (script.ends_with("//g") || script.ends_with("//")) {
        return Some(PipeFilter::All);
    }
    match script.strip_suffix("/d") {
        Some(dropped) => pattern(dropped, true),
        None => Some(PipeFilter::Beginning(script.strip_suffix('q')?.parse().ok()?)),
    }
}
