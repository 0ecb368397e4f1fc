//! The format of `cache.json`: namespaces with their sessions, and the latest activation for scripts.

use super::sealed::StateStatus;
use crate::facts::session::{ModeState, Session, SessionModes};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

const VERSION: u64 = 1;

/// The key for the time of a state's last change.
pub(super) const UPDATED: &str = "updated_at";

const OWN: [&str; 2] = ["version", "revision"];

/// How many sessions a namespace lists: every change writes them all.
pub(super) const SESSIONS: usize = 8;

/// Values that scripts have set for all sessions, by namespace.
pub(super) type SharedValues = BTreeMap<String, Map<String, Value>>;

/// The content of `cache.json`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StateSummary {
    /// Namespaces in the order of the file, unknown ones included.
    pub namespaces: Map<String, Value>,
    /// How often the file has been written.
    pub revision: u64,
    /// Whether the file could be read.
    pub status: StateStatus,
}

#[derive(Serialize)]
struct SummaryContent<'a> {
    version: u64,
    revision: u64,
    #[serde(flatten)]
    namespaces: &'a Map<String, Value>,
}

impl StateSummary {
    /// Parses the file.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut namespaces = match serde_json::from_slice(bytes) {
            Ok(Value::Object(map)) => map,
            Ok(_) => return Self::broken("it is not a JSON object"),
            Err(error) => return Self::broken(&error.to_string()),
        };
        let number = |name| namespaces.get(name).and_then(Value::as_u64).unwrap_or_default();
        let (version, revision) = (number("version"), number("revision"));
        for own in OWN {
            namespaces.shift_remove(own);
        }
        let status = if version > VERSION { StateStatus::Newer(version) } else { StateStatus::Sound };
        Self { namespaces, revision, status }
    }

    fn broken(why: &str) -> Self {
        Self { status: StateStatus::Broken(why.to_owned()), ..Self::default() }
    }

    /// The entry of a session in a namespace.
    pub fn entry(&self, namespace: &str, id: &str) -> Option<&Value> {
        self.namespaces.get(namespace)?.get("sessions")?.get(id)
    }

    pub(crate) fn lists(&self, id: &str) -> bool {
        self.namespaces.keys().any(|name| self.entry(name, id).is_some())
    }

    /// Whether the entries of a session are those of its state, apart from the time of the last change.
    pub fn shows(&self, session: &Session) -> bool {
        let is_same = |name: &String, state: &ModeState| {
            let entry = self.entry(name, &session.id).and_then(Value::as_object).cloned();
            entry.is_some_and(|mut entry| {
                entry.shift_remove(UPDATED);
                serde_json::to_value(timeless(state)).is_ok_and(|state| state == Value::Object(entry))
            })
        };
        let listed = self.namespaces.keys().filter(|name| self.entry(name, &session.id).is_some()).count();
        listed == session.modes.len() && session.modes.iter().all(|(name, state)| is_same(name, state))
    }

    /// Replaces the entries of a session by what is shown of its state.
    pub fn put(&mut self, session: &Session) {
        self.put_entries(session, |state| serde_json::to_value(state.shown()));
    }

    pub(super) fn put_entries(&mut self, session: &Session, entry: impl Fn(&ModeState) -> serde_json::Result<Value>) {
        for (name, space) in &mut self.namespaces {
            if let Some(Value::Object(sessions)) = space.get_mut("sessions")
                && !session.modes.contains_key(name)
            {
                sessions.shift_remove(session.id.as_str());
            }
        }
        for (name, state) in &session.modes {
            let Ok(entry) = entry(state) else { continue };
            if let Some(sessions) = self.sessions(name) {
                sessions.insert(session.id.to_string(), entry);
            }
        }
    }

    /// Drops the sessions that were changed longest ago, so that the file stays small.
    pub(super) fn trim(&mut self) {
        for space in self.namespaces.values_mut() {
            if let Some(Value::Object(sessions)) = space.get_mut("sessions") {
                keep_newest(sessions);
            }
        }
    }

    /// Shows the values that scripts have set for all sessions.
    pub(super) fn put_values(&mut self, values: &SharedValues) {
        for (name, values) in values {
            if let Some(space) = self.space(name) {
                space.extend(values.clone());
            }
        }
    }

    /// Removes all sessions: those of a file that this user has not written.
    pub(super) fn without_sessions(mut self) -> Self {
        for space in self.namespaces.values_mut().filter_map(Value::as_object_mut) {
            let is_mode = space.contains_key("sessions");
            space.retain(|key, _| !(is_reserved(key) || is_mode && key == "current_phase"));
        }
        self.namespaces.retain(|_, space| space.as_object().is_none_or(|space| !space.is_empty()));
        self
    }

    /// A value of a namespace: the session's own, else one that a script has set for all sessions.
    ///
    /// Without a session, the one of the latest activation counts.
    pub fn value(&self, namespace: &str, key: &str, session: Option<&str>) -> Option<Value> {
        let space = self.namespaces.get(namespace)?;
        let entry = session.or_else(|| self.latest(namespace)).and_then(|id| self.entry(namespace, id));
        let own = entry.and_then(|entry| serde_json::from_value::<ModeState>(entry.clone()).ok()?.value(key));
        let is_shared = |key: &str| !is_reserved(key) && (key != "current_phase" || space.get("sessions").is_none());
        own.or_else(|| space.get(key).filter(|_| session.is_none() || is_shared(key)).cloned())
    }

    /// The session of the latest activation in a namespace.
    pub fn latest(&self, namespace: &str) -> Option<&str> {
        self.namespaces.get(namespace)?.get("session_id")?.as_str()
    }

    /// The error for a key that scripts may not set, or a value of a wrong type.
    pub fn refusal(namespace: &str, key: &str, value: &Value) -> Option<String> {
        if OWN.contains(&namespace) {
            return Some(format!("`{namespace}` is not a namespace"));
        }
        let wanted = match key {
            "sessions" => return Some("`sessions` is not for scripts to set".to_owned()),
            "is_active" if !value.is_boolean() => "true or false",
            "phase" | "current_phase" | "session_id" if !value.is_string() => "text",
            _ => return None,
        };
        Some(format!("`{key}` is {wanted}, not `{value}`"))
    }

    fn space(&mut self, namespace: &str) -> Option<&mut Map<String, Value>> {
        let space = self.namespaces.entry(namespace).or_insert_with(|| Value::Object(Map::new()));
        if !space.is_object() {
            *space = Value::Object(Map::new());
        }
        space.as_object_mut()
    }

    fn sessions(&mut self, namespace: &str) -> Option<&mut Map<String, Value>> {
        let space = self.space(namespace)?;
        if !space.get("sessions").is_some_and(Value::is_object) {
            space.insert("sessions".to_owned(), Value::Object(Map::new()));
        }
        space.get_mut("sessions")?.as_object_mut()
    }

    /// Sets `is_active`, `session_id` and, while the mode is active, `current_phase` from the latest activation.
    pub fn summarize(&mut self) {
        fn activated(entry: &Value) -> Option<&str> {
            entry.get("activated_at").and_then(Value::as_str)
        }
        for space in self.namespaces.values_mut().filter_map(Value::as_object_mut) {
            let sessions = space.get("sessions").and_then(Value::as_object);
            let latest = sessions.and_then(|sessions| {
                let activations = sessions.iter().filter(|(_, entry)| activated(entry).is_some());
                activations.max_by(|(_, left), (_, right)| activated(left).cmp(&activated(right)))
            });
            let Some((id, entry)) = latest else { continue };
            let (id, active) = (id.clone(), entry.get("is_active").cloned().unwrap_or(false.into()));
            let phase = entry.get("phase").filter(|_| active == true).cloned();
            space.shift_insert(0, "is_active".to_owned(), active);
            space.shift_insert(1, "session_id".to_owned(), id.into());
            space.shift_remove("current_phase");
            if let Some(phase) = phase {
                space.shift_insert(2, "current_phase".to_owned(), phase);
            }
        }
    }

    /// The summary as it is written.
    pub fn to_bytes(&self) -> Vec<u8> {
        let content = SummaryContent { version: VERSION, revision: self.revision, namespaces: &self.namespaces };
        let mut bytes = serde_json::to_vec_pretty(&content).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

/// Whether `cache.json` shows the modes of a session differently.
pub(super) fn differs(before: &SessionModes, after: &SessionModes) -> bool {
    let is_same = |name: &String, state: &ModeState| {
        before.get(name).is_some_and(|old| **old == *state || timeless(old) == timeless(state))
    };
    before.len() != after.len() || !after.iter().all(|(name, state)| is_same(name, state))
}

/// What is shown of a state, without the time of its last change.
fn timeless(state: &ModeState) -> ModeState {
    let mut shown = state.shown();
    shown.other.shift_remove(UPDATED);
    shown
}

fn keep_newest(sessions: &mut Map<String, Value>) {
    while sessions.len() > SESSIONS {
        let changed = |entry: &Value| entry.get(UPDATED).and_then(Value::as_str).map(str::to_owned);
        let oldest = sessions.iter().min_by_key(|(_, entry)| changed(entry)).map(|(id, _)| id.clone());
        oldest.and_then(|oldest| sessions.shift_remove(&oldest));
    }
}

/// Keys of a namespace that scripts do not set for all sessions.
fn is_reserved(key: &str) -> bool {
    matches!(key, "sessions" | "is_active" | "session_id")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::Arc;

    fn session(id: &str, at: &str) -> Session {
        let state: ModeState =
            serde_json::from_value(json!({"is_active": true, "activated_at": at, "updated_at": at})).unwrap();
        Session { id: id.into(), modes: [("plan_mode".to_owned(), Arc::new(state))].into(), ..Session::default() }
    }

    #[test]
    fn the_current_phase_is_shown_while_the_mode_is_active() {
        let mut summary = StateSummary::default();
        let mut one = session("one", "2026-01-01");
        for (active, shown) in [(true, json!("draft")), (false, Value::Null)] {
            let state = one.mode_state_mut("plan_mode").unwrap();
            (state.phase, state.is_active) = (Some("draft".to_owned()), active);
            summary.put(&one);
            summary.summarize();
            assert_eq!(summary.namespaces["plan_mode"].get("current_phase").cloned().unwrap_or_default(), shown);
        }
    }

    #[test]
    fn a_summary_shows_a_session_until_somebody_edits_it() {
        let mut summary = StateSummary::default();
        let one = session("one", "2026-01-01");
        assert!(!summary.shows(&one));
        summary.put(&one);
        assert!(summary.shows(&one) && !summary.shows(&session("two", "2026-01-01")));
        assert_eq!(StateSummary::parse(&summary.to_bytes()).namespaces, summary.namespaces);
        summary.namespaces["plan_mode"]["sessions"]["one"]["is_active"] = false.into();
        assert!(!summary.shows(&one));
        summary.put(&one);
        assert!(summary.shows(&one));
        assert!(!summary.shows(&Session { id: "one".into(), ..Session::default() }));
    }

    #[test]
    fn a_summary_stays_small() {
        let mut summary = StateSummary::default();
        for number in 0..SESSIONS + 20 {
            summary.put(&session(&format!("s{number}"), &format!("2026-01-01T{number:06}")));
        }
        summary.trim();
        summary.summarize();
        let sessions = summary.namespaces["plan_mode"]["sessions"].as_object().unwrap();
        assert_eq!(sessions.len(), SESSIONS);
        let newest = format!("s{}", SESSIONS + 19);
        assert!(!sessions.contains_key("s0") && sessions.contains_key(&newest));
        assert_eq!(summary.latest("plan_mode"), Some(newest.as_str()));
    }

    #[test]
    fn the_example_in_the_documents_can_be_read() {
        let document = include_str!("../../../docs/journal.md");
        let (_, rest) = document.split_once("```json cache\n").unwrap();
        let state = StateSummary::parse(rest.split("```").next().unwrap().as_bytes());
        assert_eq!(state.status, StateStatus::Sound);
        assert_eq!(state.entry("plan_mode", "demo-session").unwrap()["done"][0], "draft");
    }
}
