//! The journal switched on or off in the text of the settings; every other byte stays.

use super::Settings;
use crate::policy::yaml::{FileProblem, Location, Node};

/// Why the text was not changed.
#[derive(Debug, PartialEq, Eq)]
pub enum SwitchError {
    Broken(Vec<FileProblem>),
    /// It is valid, but its layout cannot be changed safely.
    Intricate,
}

/// The settings' text with the journal on or off.
pub fn switched(text: &str, on: bool) -> Result<String, SwitchError> {
    let before = Settings::read(text).map_err(SwitchError::Broken)?;
    if before.journal == on {
        return Ok(text.to_owned());
    }
    let after = changed(text, on).ok_or(SwitchError::Intricate)?;
    // Proof that nothing else has changed.
    let wanted = Settings { journal: on, ..before };
    if Settings::read(&after).is_ok_and(|settings| settings == wanted) {
        Ok(after)
    } else {
        Err(SwitchError::Intricate)
    }
}

fn changed(text: &str, on: bool) -> Option<String> {
    let node = Node::parse(text).ok()?;
    let Some(journal) = node.get("journal") else { return added(text, &node, &format!("journal: {on}")) };
    if journal.text().is_some() {
        return put(text, journal.location, &on.to_string());
    }
    match journal.get("record") {
        Some(record) => put(text, record.location, &on.to_string()),
        None => added(text, journal, &format!("record: {on}")),
    }
}

fn put(text: &str, location: Location, word: &str) -> Option<String> {
    let start = offset(text, location)?;
    let rest = text.get(start..)?;
    let end = rest.char_indices().nth(location.width).map_or(rest.len(), |(at, _)| at);
    Some(format!("{}{word}{}", text.get(..start)?, rest.get(end..)?))
}

/// Adds an entry to a mapping: before its first one, or at the end of a file.
fn added(text: &str, node: &Node, entry: &str) -> Option<String> {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let Some((first, _)) = node.entries().first() else {
        // An empty file, or one of comments only.
        let joint = if text.is_empty() || text.ends_with('\n') { "" } else { end };
        return Some(format!("{text}{joint}{entry}{end}"));
    };
    let start = offset(text, first.location)?;
    let (head, tail) = (text.get(..start)?, text.get(start..)?);
    let flow = head.trim_end().ends_with('{');
    if flow {
        return Some(format!("{head}{entry}, {tail}"));
    }
    if first.location.column > 1 {
        let margin = " ".repeat(first.location.column - 1);
        return Some(format!("{head}{entry}{end}{margin}{tail}"));
    }
    let joint = if text.ends_with('\n') { "" } else { end };
    Some(format!("{text}{joint}{entry}{end}"))
}

/// Where a location is in the text, in bytes.
fn offset(text: &str, location: Location) -> Option<usize> {
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let body = text.get(mark..)?;
    let lines = || body.split_inclusive('\n');
    let before: usize = lines().take(location.line.checked_sub(1)?).map(str::len).sum();
    let line = lines().nth(location.line - 1)?;
    let column = line.char_indices().nth(location.column - 1).map_or(line.len(), |(at, _)| at);
    Some(mark + before + column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_the_file_is_unchanged() {
        for (text, off) in [
            ("", "journal: false\n"),
            ("# mine\n", "# mine\njournal: false\n"),
            ("level: warn # yes\n", "level: warn # yes\njournal: false\n"),
            ("level: warn", "level: warn\njournal: false\n"),
            ("level: warn\r\n", "level: warn\r\njournal: false\r\n"),
            ("# a\njournal:   true   # kept\npatience: 2\n", "# a\njournal:   false   # kept\npatience: 2\n"),
            ("journal: {megabytes: 4, record: true}\n", "journal: {megabytes: 4, record: false}\n"),
            ("journal: { megabytes: 4 }\n", "journal: { record: false, megabytes: 4 }\n"),
            ("journal:\n  # why\n  megabytes: 4\n", "journal:\n  # why\n  record: false\n  megabytes: 4\n"),
            ("journal:\n  record: true # x\n  megabytes: 4\n", "journal:\n  record: false # x\n  megabytes: 4\n"),
            ("{level: warn}\n", "{journal: false, level: warn}\n"),
            ("\u{feff}level: warn\n", "\u{feff}level: warn\njournal: false\n"),
            ("variables: { ä: [ö] }\njournal: true", "variables: { ä: [ö] }\njournal: false"),
        ] {
            assert_eq!(switched(text, false).as_deref(), Ok(off), "{text:?}");
            assert_eq!(switched(off, false).as_deref(), Ok(off), "{text:?} twice");
            let on = switched(off, true).unwrap();
            assert!(Settings::read(&on).unwrap().journal, "{text:?}");
        }
    }

    #[test]
    fn an_invalid_settings_file_is_an_error_with_its_location() {
        let Err(SwitchError::Broken(problems)) = switched("level: warn\njournl: true\n", false) else { panic!("read") };
        assert_eq!(problems[0].location.line, 2);
        assert!(matches!(switched("journal: [", false), Err(SwitchError::Broken(_))));
    }

    #[test]
    fn a_file_that_cannot_be_changed_safely_is_left_alone() {
        assert_eq!(switched("---\nlevel: warn\n...\n", false), Err(SwitchError::Intricate));
    }
}
