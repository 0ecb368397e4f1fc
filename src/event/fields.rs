//! The fields of an event, with a note of those that were read: two events that differ only in other fields are decided
//! the same way.

use serde_json::{Map, Value};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// The field with the id of the tool call.
const CALL: &str = "tool_use_id";

/// The fields whose parts are noted one by one.
const DIVIDED: [&str; 2] = ["tool_input", "tool_response"];

/// The fields of an event by their snake-case names.
#[derive(Debug, Default)]
pub struct EventFields {
    all: Map<String, Value>,
    read: ReadNames,
    /// The parts that were read of each divided field.
    parts: [ReadNames; DIVIDED.len()],
    /// Whether the id of the tool call was compared with ids of the session, all of them others.
    is_other_call: AtomicBool,
}

impl EventFields {
    pub(crate) fn new(all: Map<String, Value>) -> Self {
        Self { all, ..Self::default() }
    }

    /// A field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.read.note(name);
        field(&self.all, name)
    }

    /// A part of the tool's input.
    #[must_use]
    pub fn input(&self, name: &str) -> Option<&Value> {
        let [parts, _] = &self.parts;
        parts.note(name);
        field(field(&self.all, "tool_input")?.as_object()?, name)
    }

    /// A part of the tool's response.
    #[must_use]
    pub fn response(&self, name: &str) -> Option<&Value> {
        let [_, parts] = &self.parts;
        parts.note(name);
        field(field(&self.all, "tool_response")?.as_object()?, name)
    }

    /// Whether this is the tool call with an id that the session has.
    pub(super) fn is_call(&self, id: &str) -> bool {
        if self.all.get(CALL).and_then(Value::as_str) == Some(id) {
            self.read.note(CALL);
            return true;
        }
        self.is_other_call.store(true, Relaxed);
        false
    }

    /// Whether the id of the tool call counted only as one that the session does not have.
    pub(crate) fn is_other_call(&self) -> bool {
        self.is_other_call.load(Relaxed)
    }

    /// Every field.
    #[must_use]
    pub fn all(&self) -> &Map<String, Value> {
        self.read.note_all();
        &self.all
    }

    /// Sets a field.
    pub fn insert(&mut self, name: &str, value: Value) {
        self.all.insert(name.to_owned(), value);
    }

    #[cfg(test)]
    pub(crate) fn remove(&mut self, name: &str) {
        self.all.shift_remove(name);
    }

    /// Whether neither a field nor any part of it has been read.
    pub(crate) fn is_unread(&self, name: &str) -> bool {
        let parts = DIVIDED.iter().zip(&self.parts).find(|(field, _)| **field == name);
        !self.read.has(name) && parts.is_none_or(|(_, parts)| parts.is_empty())
    }

    /// Whether no part of a field has been read.
    pub(crate) fn is_part_unread(&self, name: &str, part: &str) -> bool {
        let parts = DIVIDED.iter().zip(&self.parts).find(|(field, _)| **field == name);
        !self.read.has(name) && parts.is_none_or(|(_, parts)| !parts.has(part))
    }
}

/// A field of an object. Comparing the few names of an event takes a fifth of the time that hashing one takes.
fn field<'f>(fields: &'f Map<String, Value>, name: &str) -> Option<&'f Value> {
    const FEW: usize = 24;
    if fields.len() > FEW {
        return fields.get(name);
    }
    fields.iter().find(|(own, _)| *own == name).map(|(_, value)| value)
}

/// What is read of a copy is not noted here, so that all of it counts as read.
impl Clone for EventFields {
    fn clone(&self) -> Self {
        Self::new(self.all().clone())
    }
}

impl PartialEq for EventFields {
    fn eq(&self, other: &Self) -> bool {
        self.all() == other.all()
    }
}

/// Names that were read, as a bit each. Two names may have the same bit: then both count as read.
#[derive(Debug, Default)]
struct ReadNames(AtomicU64);

impl ReadNames {
    fn note(&self, name: &str) {
        let bit = bit(name);
        // A load is cheaper than a change, and most names are read more than once.
        if self.0.load(Relaxed) & bit == 0 {
            self.0.fetch_or(bit, Relaxed);
        }
    }

    fn note_all(&self) {
        self.0.store(u64::MAX, Relaxed);
    }

    fn has(&self, name: &str) -> bool {
        self.0.load(Relaxed) & bit(name) != 0
    }

    fn is_empty(&self) -> bool {
        self.0.load(Relaxed) == 0
    }
}

fn bit(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().map_or(0, usize::from);
    let mixed = 3 * byte(0) + 29 * byte(bytes.len().wrapping_sub(1)) + 29 * byte(bytes.len() / 2) + 37 * bytes.len();
    1 << (mixed % 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields() -> EventFields {
        let Value::Object(fields) = json!({
            "tool_use_id": "t1", "tool_name": "Bash", "tool_input": {"command": "ls", "description": "x"},
            "tool_response": {"stdout": "", "interrupted": false},
        }) else {
            return EventFields::default();
        };
        EventFields::new(fields)
    }

    #[test]
    fn what_was_read_is_noted() {
        let fields = fields();
        assert!(["tool_use_id", "tool_name", "tool_input", "tool_response"].iter().all(|name| fields.is_unread(name)));
        assert_eq!(fields.get("tool_name"), Some(&json!("Bash")));
        assert_eq!(fields.get("agent_id"), None);
        assert_eq!(fields.input("command"), Some(&json!("ls")));
        assert!(!fields.is_unread("tool_name"));
        assert!(!fields.is_unread("agent_id"), "that it is missing was read");
        assert!(!fields.is_unread("tool_input"));
        assert!(!fields.is_part_unread("tool_input", "command"));
        assert!(fields.is_part_unread("tool_input", "description"));
        assert!(fields.is_unread("tool_use_id") && fields.is_unread("tool_response"));
    }

    #[test]
    fn a_whole_field_has_its_parts() {
        let fields = fields();
        assert!(fields.get("tool_response").is_some());
        assert!(!fields.is_part_unread("tool_response", "stdout"));
        assert!(fields.is_part_unread("tool_input", "command"));
    }

    #[test]
    fn an_id_that_the_session_does_not_have_is_not_read() {
        let fields = fields();
        assert!(!fields.is_call("t2"));
        assert!(fields.is_unread(CALL) && fields.is_other_call());
        assert!(fields.is_call("t1"));
        assert!(!fields.is_unread(CALL));
    }

    #[test]
    fn a_copy_reads_everything() {
        let fields = fields();
        drop(fields.clone());
        assert!(!fields.is_unread("tool_use_id") && !fields.is_part_unread("tool_input", "command"));
    }
}
