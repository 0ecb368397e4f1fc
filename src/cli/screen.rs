//! Prints lines to standard output and error, in color where the terminal has it.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use clap::ColorChoice;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

/// Whether output is in color; decided once, from `--color` and the environment.
static COLOR: OnceLock<bool> = OnceLock::new();

/// How a word is printed.
#[derive(Debug, Clone, Copy)]
pub(super) enum TextStyle {
    Red,
    Green,
    Yellow,
    Cyan,
    Dim,
    Bold,
}

/// Prints a line; a closed pipe is ignored.
pub(super) fn print_line(text: impl AsRef<str>) {
    let _: std::io::Result<()> = writeln!(std::io::stdout(), "{}", text.as_ref());
}

/// Prints a line on standard error.
pub(super) fn print_error(text: impl AsRef<str>) {
    let _: std::io::Result<()> = writeln!(std::io::stderr(), "{}", text.as_ref());
}

/// Prints generated text as it is.
pub(super) fn print_bytes(bytes: &[u8]) {
    let _: std::io::Result<()> = std::io::stdout().write_all(bytes);
}

/// Prints why a command failed; with `as_json` also as JSON on standard output.
pub(super) fn print_failure(error: &str, as_json: bool) {
    if as_json {
        print_json(&serde_json::json!({"error": error}));
    }
    print_error(format!("error: {error}"));
}

/// Prints JSON for a script.
pub(super) fn print_json(value: &impl Serialize) {
    print_line(serde_json::to_string_pretty(value).unwrap_or_default());
}

/// Sets when output is in color.
pub(super) fn choose_color(choice: ColorChoice) {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let color = match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if is_set("NO_COLOR") => false,
        ColorChoice::Auto if std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
        ColorChoice::Auto => {
            std::io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    };
    let _: Result<(), bool> = COLOR.set(color);
}

/// The text in a style, if output is in color.
pub(super) fn styled(style: TextStyle, text: &str) -> String {
    if COLOR.get() != Some(&true) || text.is_empty() {
        return text.to_owned();
    }
    let code = match style {
        TextStyle::Red => "31;1",
        TextStyle::Green => "32;1",
        TextStyle::Yellow => "33;1",
        TextStyle::Cyan => "36",
        TextStyle::Dim => "2",
        TextStyle::Bold => "1",
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

/// The text on one line, with runs of whitespace and control characters as one space.
pub(super) fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// The text cut to `width` characters, with an ellipsis where something is missing.
pub(super) fn truncated(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        None => text.to_owned(),
        Some(_) => text.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// The columns of the terminal; unlimited where output is not a terminal.
pub(super) fn width() -> usize {
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

/// A time of the journal as local time with its zone; text that is not a time stays as it is.
pub(super) fn local_time(at: &str) -> String {
    let time = at.parse::<Timestamp>().map(|at| at.to_zoned(TimeZone::system()));
    time.map_or_else(|_| at.to_owned(), |time| time.strftime("%Y-%m-%d %H:%M:%S %Z").to_string())
}
