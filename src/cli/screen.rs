//! What people see: lines on standard output and error, with colour where there is a terminal.

use serde::Serialize;
use std::io::{IsTerminal, Write};

/// A colour for a word.
#[derive(Debug, Clone, Copy)]
pub(super) enum Colour {
    Red,
    Green,
    Yellow,
    Cyan,
    Dim,
    Bold,
}

/// Prints a line; a reader that went away is no trouble.
pub(super) fn say(text: impl AsRef<str>) {
    let _: std::io::Result<()> = writeln!(std::io::stdout(), "{}", text.as_ref());
}

/// Prints a line on standard error.
pub(super) fn complain(text: impl AsRef<str>) {
    let _: std::io::Result<()> = writeln!(std::io::stderr(), "{}", text.as_ref());
}

/// Tells why a command did not do what it should: to a person, or to a script.
pub(super) fn fail(error: &str, as_json: bool) {
    if as_json {
        json(&serde_json::json!({"error": error}));
    }
    complain(format!("error: {error}"));
}

/// Prints JSON for a script.
pub(super) fn json(value: &impl Serialize) {
    say(serde_json::to_string_pretty(value).unwrap_or_default());
}

/// The text in colour, if standard output is a terminal that wants it.
pub(super) fn paint(colour: Colour, text: &str) -> String {
    if !std::io::stdout().is_terminal() || std::env::var_os("NO_COLOR").is_some() {
        return text.to_owned();
    }
    let code = match colour {
        Colour::Red => "31;1",
        Colour::Green => "32;1",
        Colour::Yellow => "33;1",
        Colour::Cyan => "36",
        Colour::Dim => "2",
        Colour::Bold => "1",
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}
