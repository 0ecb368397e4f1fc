//! Reads events that the JSON parser rejects: half a surrogate pair, a number out of range, a value that nests too
//! deeply. Such an event must not bypass its gates.

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// How many levels of an unreadable value are read one by one.
const LEVELS: usize = 3;

/// The event without its unreadable values, and messages about them; `None` if it is not JSON at all.
pub(super) fn salvaged(bytes: &[u8]) -> Option<(Value, Vec<String>)> {
    let text = whole_pairs(std::str::from_utf8(bytes).ok()?);
    if let Ok(value) = serde_json::from_str(&text) {
        return Some((value, Vec::new()));
    }
    let mut left_out = Vec::new();
    let value = shallow(&text, LEVELS, "", &mut left_out)?;
    Some((value, left_out))
}

/// The readable parts of a value.
fn shallow(text: &str, levels: usize, name: &str, left_out: &mut Vec<String>) -> Option<Value> {
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    let fields = serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(text).ok().filter(|_| levels > 0);
    let Some(fields) = fields else {
        left_out.push(format!("`{name}` cannot be read"));
        return (!name.is_empty()).then_some(Value::Null);
    };
    let mut map = Map::new();
    for (key, raw) in fields {
        let value = shallow(raw.get(), levels - 1, &key, left_out)?;
        map.insert(key, value);
    }
    Some(Value::Object(map))
}

/// Replaces every half of a surrogate pair: hosts cut strings in the middle of a character.
fn whole_pairs(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        whole.push_str(before);
        let (taken, written) = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (12, escape.get(..12)),
            (Some(0xD800..=0xDFFF), _) => (6, Some("\\ufffd")),
            _ => {
                let taken = escape.char_indices().nth(2).map_or(escape.len(), |(at, _)| at);
                (taken, escape.get(..taken))
            }
        };
        whole.push_str(written.unwrap_or_default());
        rest = escape.get(taken..).unwrap_or_default();
    }
    whole + rest
}

/// The code unit that a text starts with, as `\uXXXX`.
fn unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}
