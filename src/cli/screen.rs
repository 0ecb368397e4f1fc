//! What people see: lines on standard output and error, with colour where there is a terminal.

use serde::Serialize;
use std::io::{IsTerminal, Write};

/// A colour for a word.
#[derive(Debug, Clone, Copy)]
pub(super) enum TextStyle {
    Red,
    Green,
    Yellow,
    Cyan,
    Dim,
    Bold,
}

/// Prints a line; a reader that went away is no trouble.
pub(super) fn print_line(text: impl AsRef<str>) {
    let _: std::io::Result<()> = writeln!(std::io::stdout(), "{}", text.as_ref());
}

/// Prints a line on standard error.
pub(super) fn print_error(text: impl AsRef<str>) {
    let _: std::io::Result<()> = writeln!(std::io::stderr(), "{}", text.as_ref());
}

/// Tells why a command did not do what it should: to a person, or to a script.
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

/// The text in colour, if standard output is a terminal that wants it.
pub(super) fn styled(style: TextStyle, text: &str) -> String {
    if !std::io::stdout().is_terminal() || std::env::var_os("NO_COLOR").is_some() {
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
