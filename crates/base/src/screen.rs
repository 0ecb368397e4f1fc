//! Prints lines to standard output and error, in color where the terminal has it.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use crate::printable;
use serde::Serialize;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

/// Whether output is in color; decided once, from `--color` and the environment.
static COLOR: OnceLock<bool> = OnceLock::new();

/// How a word is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each name is the style")]
pub enum TextStyle {
    Red,
    Green,
    Yellow,
    Cyan,
    Dim,
    Bold,
}

/// The code of each style in an escape sequence.
const STYLES: [(TextStyle, &str); 6] = [
    (TextStyle::Red, "31;1"),
    (TextStyle::Green, "32;1"),
    (TextStyle::Yellow, "33;1"),
    (TextStyle::Cyan, "36"),
    (TextStyle::Dim, "2"),
    (TextStyle::Bold, "1"),
];

/// Prints a line; a closed pipe is ignored.
pub fn print_line(text: impl AsRef<str>) {
    let _: std::io::Result<()> = writeln!(std::io::stdout(), "{}", printed(text.as_ref()));
}

/// Prints a line to standard error.
pub fn print_error(text: impl AsRef<str>) {
    let _: std::io::Result<()> = writeln!(std::io::stderr(), "{}", printed(text.as_ref()));
}

/// Prints a command to the runner of a workflow, which is on one line; with `to_stderr`, on standard error.
pub fn print_workflow_command(command: &str, to_stderr: bool) {
    let line = format!("{}\n", printable::one_line(command));
    if !to_stderr {
        return print_bytes(line.as_bytes());
    }
    let _: std::io::Result<()> = std::io::stderr().write_all(line.as_bytes());
}

/// The text to print: its control characters are escaped, except those of [`styled`], and no line of it is a
/// command to the runner of a workflow.
fn printed(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            safe.push('\n');
        }
        let start = line.trim_start();
        if start.starts_with("::") || start.starts_with("##[") {
            // Joined by a zero-width character it is no command, and reads the same.
            let (first, rest) = start.split_at(1);
            safe.push_str(line.get(..line.len() - start.len()).unwrap_or_default());
            safe.push_str(first);
            safe.push('\u{200b}');
            push_styled(&mut safe, rest);
        } else {
            push_styled(&mut safe, line);
        }
    }
    safe
}

/// Appends a line; escape sequences are kept where output is in color and they are of [`styled`].
fn push_styled(safe: &mut String, line: &str) {
    let is_color = COLOR.get() == Some(&true);
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('\x1b').filter(|_| is_color) {
        safe.push_str(&printable::lines(before));
        let own = STYLES.iter().map(|(_, code)| *code).chain(["0"]).find_map(|code| {
            let tail = after.strip_prefix(style_mark())?.strip_prefix('[')?.strip_prefix(code)?.strip_prefix('m')?;
            Some((code, tail))
        });
        rest = if let Some((code, tail)) = own {
            safe.extend(["\x1b[", code, "m"]);
            tail
        } else {
            safe.push_str(&printable::lines("\x1b"));
            after
        };
    }
    safe.push_str(&printable::lines(rest));
}

/// Prints a unified diff below the name of its file.
pub fn print_diff(diff: &str) {
    for line in diff.lines() {
        let style = match line.chars().next() {
            Some('+') => TextStyle::Green,
            Some('-') => TextStyle::Red,
            _ => TextStyle::Dim,
        };
        print_line(format!("    {}", styled(style, line)));
    }
}

/// Prints generated text unchanged.
pub fn print_bytes(bytes: &[u8]) {
    let _: std::io::Result<()> = std::io::stdout().write_all(bytes);
}

/// Prints why a command failed; with `as_json` also as JSON on standard output.
pub fn print_failure(error: &str, as_json: bool) {
    if as_json {
        print_json(&serde_json::json!({"error": error}));
    }
    print_error(format!("error: {error}"));
}

/// Prints JSON for a script.
pub fn print_json(value: &impl Serialize) {
    print_line(serde_json::to_string_pretty(value).unwrap_or_default());
}

/// Sets whether output is in color; `None` leaves it to the environment and the terminal.
pub fn choose_color(choice: Option<bool>) {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_forced = || std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    let is_able = || std::io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
    let color = choice.unwrap_or_else(|| !is_set("NO_COLOR") && (is_forced() || is_able()));
    let _: Result<(), bool> = COLOR.set(color);
}

/// What tells the program's own escape sequences from those in the text of others, until they are printed.
fn style_mark() -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    MARK.get_or_init(|| format!("{:016x}", RandomState::new().hash_one(std::process::id())))
}

/// The text in a style, if output is in color.
pub fn styled(style: TextStyle, text: &str) -> String {
    if COLOR.get() != Some(&true) || text.is_empty() {
        return text.to_owned();
    }
    let code = STYLES.iter().find(|(own, _)| *own == style).map_or("0", |(_, code)| code);
    let mark = style_mark();
    format!("\x1b{mark}[{code}m{text}\x1b{mark}[0m")
}

/// A number and its noun.
pub fn counted(count: usize, noun: &str) -> String {
    let plural = if noun.ends_with('s') { "es" } else { "s" };
    format!("{count} {noun}{}", if count == 1 { "" } else { plural })
}

/// The text on one line, with runs of whitespace and control characters as one space.
pub fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// The text cut to `width` columns.
pub fn truncated(text: &str, width: usize) -> String {
    let is_long = text.chars().nth(width).is_some();
    if is_long { printable::truncated(text, width.saturating_sub(1)) } else { text.to_owned() }
}

/// The columns of the terminal; unlimited where output is not a terminal.
pub fn width() -> usize {
    terminal_columns().filter(|columns| *columns > 0).unwrap_or(usize::MAX)
}

#[cfg(unix)]
fn terminal_columns() -> Option<usize> {
    rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| usize::from(size.ws_col))
}

#[cfg(not(unix))]
fn terminal_columns() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok()?.parse().ok();
    columns.filter(|_| std::io::stdout().is_terminal())
}
