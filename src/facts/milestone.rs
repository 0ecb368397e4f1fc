//! The current milestone, from `project/status.json`.

use super::{Answer, Milestone};
use crate::host::paths::folder_name;
use serde_json::Value;

/// The milestone in a status file.
pub fn named(bytes: &[u8]) -> Answer {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let Ok(Value::Object(status)) = serde_json::from_slice(bytes) else {
        return Answer::Unknown("`project/status.json` is not a JSON object".into());
    };
    let text = |name: &str| match status.get(name) {
        Some(Value::String(text)) => folder_name(text),
        Some(Value::Number(number)) => folder_name(&number.to_string()),
        _ => String::new(),
    };
    let id = text("current_milestone");
    let milestone = Milestone { description: text("milestone_description"), id };
    Answer::Milestone((!milestone.id.is_empty()).then_some(milestone))
}
