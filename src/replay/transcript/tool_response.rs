//! Structured tool results from the text that the model saw; the host keeps no other for subagents.

use crate::transcript::ToolUse;
use serde_json::{Value, json};

/// The host cuts files with more lines.
const MOST_LINES: usize = 2000;

/// The host cuts longer lines.
const LONGEST_LINE: usize = 2000;

/// The part of the structured result that the text proves.
pub(super) fn from_text(call: &ToolUse, text: &str) -> Option<Value> {
    match call.tool.as_str() {
        "Read" => file_content(call, text),
        "Bash" => background_command(text),
        _ => None,
    }
}

/// A command that was left running in the background.
fn background_command(text: &str) -> Option<Value> {
    let start = text.lines().find(|line| line.contains("background") && line.contains(" with ID: "))?;
    let id = start.split_once(" with ID: ")?.1.split(['.', ' ']).next()?;
    Some(json!({"backgroundTaskId": id}))
}

/// A whole file, from its numbered lines.
fn file_content(call: &ToolUse, text: &str) -> Option<Value> {
    let path = call.input.get("file_path")?.as_str()?;
    if ["offset", "limit", "pages"].iter().any(|part| call.input.get(part).is_some_and(|value| !value.is_null())) {
        return None;
    }
    let text = text.split("\n\n<system-reminder>").next()?;
    let lines: Option<Vec<&str>> = text.split('\n').enumerate().map(|(at, line)| numbered(line, at + 1)).collect();
    let lines = lines.filter(|lines| lines.len() < MOST_LINES)?;
    let content = lines.join("\n");
    let file = json!({
        "filePath": path, "content": content, "numLines": lines.len(), "startLine": 1, "totalLines": lines.len()
    });
    Some(json!({"type": "text", "file": file}))
}

/// The text of a numbered line: `1⇥text`, or `     1→text` from older hosts.
fn numbered(line: &str, number: usize) -> Option<&str> {
    let rest = line.trim_start_matches(' ').strip_prefix(&number.to_string())?;
    let text = rest.strip_prefix('\t').or_else(|| rest.strip_prefix('→'))?;
    (text.chars().count() < LONGEST_LINE).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tool: &str, input: Value, text: &str, expected: Option<&str>) {
        let call = ToolUse { id: String::new(), tool: tool.to_owned(), input };
        let response = from_text(&call, text);
        let content = response.as_ref().and_then(|response| response.pointer("/file/content")?.as_str());
        assert_eq!(content, expected, "{text}");
    }

    #[test]
    fn numbered_lines_become_a_file() {
        let file = || json!({"file_path": "/p/a.md"});
        check("Read", file(), "1\t# Plan\n2\t\n3\tText\n4\t", Some("# Plan\n\nText\n"));
        check("Read", file(), "     1→# Plan\n     2→end", Some("# Plan\nend"));
        check("Read", file(), "1\tx\n\n<system-reminder>\nnote\n</system-reminder>", Some("x"));
        check("Read", file(), "1\tx\n3\ty", None);
        check("Read", file(), "2\tx", None);
        check("Read", file(), "[image]", None);
        check("Read", file(), &format!("1\t{}", "x".repeat(2000)), None);
        check("Read", json!({"file_path": "/p/a.md", "limit": 1}), "1\tx", None);
        check("Bash", json!({}), "1\tx", None);
    }

    #[test]
    fn a_background_command_is_recognized() {
        let text = "Command running in background with ID: b1. Output is being written to: /tmp/x";
        assert_eq!(background_command(text), Some(json!({"backgroundTaskId": "b1"})));
        assert_eq!(background_command("done"), None);
    }
}
