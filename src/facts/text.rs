//! Searches markdown texts.

mod needle;
mod outline;

use super::{Answer, EventText, TextQuery, Unknown, frontmatter};
use crate::host::event::Event;
use regex::RegexBuilder;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

use outline::{plain, sections};

/// The largest program a pattern may compile to, in bytes.
const LARGEST_PATTERN: usize = 1024 * 1024;

/// The result of a search in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextFindings {
    /// The length of the text in characters, without the space around it.
    pub chars: usize,
    /// The missing parts, such as ``section `Summary` ``.
    pub missing: Vec<String>,
}

/// Searches a text; the error names a pattern that does not compile.
pub fn search_text(text: &str, wanted: &TextQuery) -> Result<TextFindings, Unknown> {
    let mut missing = absent_sections(text, &wanted.sections);
    missing.extend(absent_texts(text, &wanted.contains));
    if !wanted.starts.is_empty() && !wanted.starts.iter().any(|start| text.trim_start().starts_with(start.as_str())) {
        missing.push(format!("beginning `{}`", wanted.starts.join("` or `")));
    }
    for pattern in &wanted.matches {
        if !matches(text, pattern)? {
            missing.push(format!("pattern `{pattern}`"));
        }
    }
    Ok(TextFindings { chars: text.trim().chars().count(), missing })
}

/// Searches the body of a markdown file; its frontmatter does not count.
///
/// Bytes that are not UTF-8 are read as replacement characters.
pub fn search_file(bytes: &[u8], wanted: &TextQuery) -> Result<TextFindings, Unknown> {
    search_text(&String::from_utf8_lossy(frontmatter::body(bytes)), wanted)
}

/// A text of an event; the message of a commit is found by parsing the command line instead.
pub fn event_text<'e>(event: &'e Event, of: &EventText) -> Option<Cow<'e, str>> {
    let text = match of {
        EventText::Prompt => event.prompt().or_else(|| event.input("prompt")),
        EventText::Command => event.input("command"),
        EventText::Message => event.text("last_assistant_message"),
        EventText::Commit => None,
        EventText::Input(field) => return input_text(event, field),
    };
    text.map(Cow::Borrowed)
}

/// A field of the tool's input: text unchanged, anything else as JSON.
fn input_text<'e>(event: &'e Event, field: &str) -> Option<Cow<'e, str>> {
    let mut value = event.fields.get("tool_input")?;
    for name in field.split('.') {
        value = match value {
            Value::Array(items) => items.get(name.parse::<usize>().ok()?)?,
            value => value.get(name)?,
        };
    }
    match value {
        Value::Null => None,
        Value::String(text) => Some(Cow::Borrowed(text)),
        value => Some(Cow::Owned(value.to_string())),
    }
}

pub fn search_event_text(event: &Event, of: &EventText, wanted: &TextQuery) -> Result<Answer, Unknown> {
    event_text(event, of).map_or(Ok(Answer::NoText), |text| search_text(&text, wanted).map(Answer::Text))
}

fn matches(body: &str, pattern: &str) -> Result<bool, Unknown> {
    // Compiling a pattern takes longer than the rest of most checks.
    if needle::required_text(pattern).is_some_and(|needle| !body.contains(&needle)) {
        return Ok(false);
    }
    let mut builder = RegexBuilder::new(pattern);
    let compiled = builder.multi_line(true).crlf(true).size_limit(LARGEST_PATTERN).build();
    compiled.map(|regex| regex.is_match(body)).map_err(|error| {
        // The last line is the reason; those above draw an arrow to the position.
        let text = error.to_string();
        let reason = text.lines().last().unwrap_or_default();
        format!("pattern `{pattern}` does not compile: {}", reason.trim_start_matches("error: ")).into()
    })
}

fn absent_texts<'a>(body: &str, wanted: &'a [String]) -> impl Iterator<Item = String> + use<'a> {
    let body = if wanted.is_empty() { String::new() } else { body.to_lowercase() };
    let absent = wanted.iter().filter(move |piece| !body.contains(&piece.to_lowercase()));
    absent.map(|piece| format!("text `{piece}`"))
}

fn absent_sections(body: &str, wanted: &[String]) -> Vec<String> {
    let sections = if wanted.is_empty() { Vec::new() } else { sections(body) };
    let there = |title: &str| sections.iter().any(|section| section.filled && section.title == title);
    let absent = wanted.iter().filter(|title| !there(&plain(title.trim_start_matches('#'))));
    absent.map(|title| format!("section `{title}`")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, title: &str, expected: bool) {
        let sections = [title.to_owned()];
        let wanted = TextQuery { sections: sections.to_vec(), ..TextQuery::default() };
        let missing = search_file(text.as_bytes(), &wanted).unwrap().missing;
        let absent = [format!("section `{title}`")];
        assert_eq!(missing, if expected { &absent[..0] } else { &absent[..] }, "{text}");
    }

    #[test]
    fn a_section_is_a_heading_with_text_below() {
        for text in [
            "# Summary\ntext",
            "text\n## summary ##\r\n\r\ntext\r\n",
            "### 1. Summary:\n- text",
            "## 2) Summary\n```\ncode\n```\n",
            "## 1.2.3 **Summary**\n### Details\ntext",
            "## **1. Summary**\ntext",
            "Summary\n=======\ntext",
            "Summary\n---\ntext",
            "# Summary\n\nAll is well.\n---\n\n# Next\ntext",
            "# Summary\n- item\n---\n",
            "# Summary\n1. item\n---\n# Next",
            "1. Summary\n===\ntext",
            "```\n# x\n```\n   # Summary\ntext",
            "# Summary\n\n# Summary\ntext",
            "# Summary\n✅",
            "---\na: 1\n---\n# Summary\ntext",
        ] {
            check(text, "Summary", true);
        }
    }

    #[test]
    fn a_section_is_missing_when_only_its_name_is_there() {
        for text in [
            "",
            "Summary",
            "# Summary",
            "# Summary\n\n---\n\n# Next\ntext",
            "## Summary\n# Next\ntext",
            "## Summary\n### Details\n## Next\ntext",
            "Summary\n---\n\nNext\n---\ntext",
            "```\n# Summary\ntext\n```",
            "~~~~\n~~~\n# Summary\ntext",
            "    # Summary\ntext",
            "#Summary\ntext",
            "# Summary of it\ntext",
            "<!--\n# Summary\ntext\n-->",
            "# Summary\n<!-- to do -->\n",
            "---\n# Summary\na: 1\n---\n",
        ] {
            check(text, "Summary", false);
        }
    }

    #[test]
    fn a_wanted_title_is_read_like_a_heading() {
        check("## Risks & Mitigations\ntext", "risks &  mitigations", true);
        check("## Größe\ntext", "## GRÖSSE", false);
        check("## Größe\ntext", "## GRÖßE", true);
    }

    #[test]
    fn words_and_patterns_are_searched_in_the_body() {
        let contains = ["FINDINGS".to_owned(), "key".to_owned()];
        let matches = [r"^status:\s+\w+$".to_owned(), "(?i)GRÖ.E".to_owned(), "none".to_owned()];
        let wanted = TextQuery { contains: contains.to_vec(), matches: matches.to_vec(), ..TextQuery::default() };
        let seen = search_file("---\nkey: 1\n---\n\n findings\r\nstatus: größe\r\n".as_bytes(), &wanted).unwrap();
        assert_eq!(seen.missing, ["text `key`", "pattern `none`"]);
        assert_eq!(seen.chars, 23);
    }

    #[test]
    fn a_pattern_that_does_not_compile_is_an_error() {
        for (pattern, reason) in
            [("(", "unclosed group"), (r"(\w{500}){500}", "Compiled regex exceeds size limit of 1048576 bytes.")]
        {
            let wanted = TextQuery { matches: vec![pattern.to_owned()], ..TextQuery::default() };
            let clause = search_file(b"", &wanted).unwrap_err();
            assert_eq!(clause.to_string(), format!("pattern `{pattern}` does not compile: {reason}"));
        }
    }

    #[test]
    fn bytes_that_are_not_text_hide_nothing() {
        let wanted = TextQuery { contains: vec!["here".to_owned()], ..TextQuery::default() };
        let seen = search_file(b"\xEF\xBB\xBF  \xFFhere\n", &wanted).unwrap();
        assert_eq!(seen, TextFindings { chars: 5, missing: Vec::new() });
    }
}
