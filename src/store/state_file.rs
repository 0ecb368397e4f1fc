//! The format of the state file: namespaces with their sessions, and a summary for scripts.

use crate::session::{ModeState, Session};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

/// The version this modegate writes.
const VERSION: u64 = 1;

/// Keys that are not namespaces.
const OWN: [&str; 2] = ["version", "revision"];

/// The content of `cache.json`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StateFile {
    /// Namespaces in the order of the file, unknown ones included.
    pub namespaces: Map<String, Value>,
    /// How often the file has been written.
    pub revision: u64,
    /// Whether the file could be read.
    pub status: StateStatus,
}

/// Whether the file could be read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum StateStatus {
    /// Readable, or missing.
    #[default]
    Sound,
    /// Not a state file, for this reason.
    Broken(String),
    /// The file system failed, for this reason.
    Unreadable(String),
    /// Written by a later modegate.
    Newer(u64),
}

impl StateFile {
    /// Parses the file; the old flat format is migrated.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        let mut map = match serde_json::from_slice(bytes) {
            Ok(Value::Object(map)) => map,
            Ok(_) => return Self::broken("it is not a JSON object"),
            Err(error) => return Self::broken(&error.to_string()),
        };
        let number = |map: &Map<String, Value>, name| map.get(name).and_then(Value::as_u64).unwrap_or_default();
        let (version, revision) = (number(&map, "version"), number(&map, "revision"));
        for own in OWN {
            map.shift_remove(own);
        }
        map.values_mut().for_each(migrate);
        let status = if version > VERSION { StateStatus::Newer(version) } else { StateStatus::Sound };
        Self { namespaces: map, revision, status }
    }

    fn broken(why: &str) -> Self {
        Self { status: StateStatus::Broken(why.to_owned()), ..Self::default() }
    }

    /// The state of one session.
    #[must_use]
    pub fn session(&self, id: &str) -> Session {
        let mut session = Session { id: id.into(), ..Session::default() };
        for (name, space) in &self.namespaces {
            let Value::Object(space) = space else { continue };
            let own = space.get("sessions").and_then(|sessions| sessions.get(id));
            if let Some(own) = own {
                session.modes.insert(name.clone(), mode_state(own).0);
            }
            let values: Map<String, Value> = space
                .iter()
                .filter(|(key, value)| !is_summary(key) && is_small(value))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            if !values.is_empty() {
                session.values.insert(name.clone(), values);
            }
        }
        session
    }

    /// A message for each entry of a session that has a wrong type and is ignored.
    #[must_use]
    pub fn oddities(&self, id: &str) -> Vec<String> {
        let mut odd = Vec::new();
        for (name, space) in &self.namespaces {
            let own = space.get("sessions").and_then(|sessions| sessions.get(id));
            let keys = own.map(|own| mode_state(own).1).unwrap_or_default();
            odd.extend(
                keys.into_iter()
                    .map(|key| format!("`{name}.{key}` in `.claude/hooks/cache.json` has a wrong type and is ignored")),
            );
        }
        odd
    }

    /// Stores a session's modes with the time.
    pub fn put(&mut self, session: &Session, at: &str) {
        for (name, mode_state) in &session.modes {
            let Ok(Value::Object(mut entry)) = serde_json::to_value(mode_state) else { continue };
            let Some(sessions) = self.sessions(name) else { continue };
            let old =
                sessions.get(session.id.as_str()).and_then(|old| serde_json::from_value::<ModeState>(old.clone()).ok());
            if old.as_ref() != Some(mode_state) {
                entry.insert("updated_at".to_owned(), at.into());
                sessions.insert(session.id.to_string(), Value::Object(entry));
                self.summarize(name);
            }
        }
    }

    /// The sessions in which a namespace is active.
    #[must_use]
    pub fn active(&self, namespace: &str) -> Vec<String> {
        let sessions = self.namespaces.get(namespace).and_then(|space| space.get("sessions")?.as_object());
        let is_active = |entry: &Value| entry.get("is_active").and_then(Value::as_bool).unwrap_or(false);
        sessions.into_iter().flatten().filter(|(_, entry)| is_active(entry)).map(|(id, _)| id.clone()).collect()
    }

    /// The ids of all sessions.
    #[must_use]
    pub fn ids(&self) -> Vec<String> {
        let sessions = self.namespaces.values().filter_map(|space| space.get("sessions")?.as_object());
        let mut ids: Vec<String> = sessions.flat_map(|sessions| sessions.keys().cloned()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// A value of a namespace: the session's own, else one that a script has set for all sessions.
    ///
    /// Without a session, the one of the latest activation counts.
    #[must_use]
    pub fn value(&self, namespace: &str, key: &str, session: Option<&str>) -> Option<Value> {
        let space = self.namespaces.get(namespace)?;
        let latest = space.get("session_id").and_then(Value::as_str);
        let own = session.or(latest).and_then(|id| self.session(id).value(namespace, key));
        own.or_else(|| space.get(key).filter(|_| session.is_none() || !is_summary(key)).cloned())
    }

    /// The error for a key that scripts may not set, or a value of a wrong type.
    #[must_use]
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

    /// Sets a value in a session, or for all sessions.
    ///
    /// Without a session, a key that belongs to sessions is set in the one of the latest activation.
    pub fn set(&mut self, namespace: &str, key: &str, value: Value, session: Option<&str>, at: &str) {
        let latest = || self.namespaces.get(namespace)?.get("session_id")?.as_str().map(str::to_owned);
        let own = matches!(key, "is_active" | "phase" | "current_phase");
        let session = session.map(str::to_owned).or_else(|| if own { latest() } else { None });
        let Some(id) = session else {
            let space = self.namespaces.entry(namespace).or_insert_with(|| Value::Object(Map::new()));
            if let Some(space) = space.as_object_mut() {
                space.insert(key.to_owned(), value);
                migrate(self.namespaces.get_mut(namespace).unwrap_or(&mut Value::Null));
            }
            return;
        };
        let key = if key == "current_phase" { "phase" } else { key };
        if let Some(sessions) = self.sessions(namespace) {
            let fresh = || serde_json::json!({"is_active": false, "activated_at": at});
            if let Some(entry) = sessions.entry(id).or_insert_with(fresh).as_object_mut() {
                entry.insert(key.to_owned(), value);
                entry.insert("updated_at".to_owned(), at.into());
            }
        }
        self.summarize(namespace);
    }

    fn sessions(&mut self, namespace: &str) -> Option<&mut Map<String, Value>> {
        let space = self.namespaces.entry(namespace).or_insert_with(|| Value::Object(Map::new()));
        if !space.is_object() {
            *space = Value::Object(Map::new());
        }
        let space = space.as_object_mut()?;
        if !space.get("sessions").is_some_and(Value::is_object) {
            space.insert("sessions".to_owned(), Value::Object(Map::new()));
        }
        space.get_mut("sessions")?.as_object_mut()
    }

    /// Sets `is_active` and `session_id` from the latest activation.
    fn summarize(&mut self, namespace: &str) {
        let Some(space) = self.namespaces.get_mut(namespace).and_then(Value::as_object_mut) else { return };
        let sessions = space.get("sessions").and_then(Value::as_object);
        let activated = |entry: &Value| entry.get("activated_at").and_then(Value::as_str).map(str::to_owned);
        let latest = sessions.and_then(|sessions| {
            sessions.iter().filter(|(_, entry)| activated(entry).is_some()).max_by_key(|(_, entry)| activated(entry))
        });
        let Some((id, entry)) = latest else { return };
        let (id, active) = (id.clone(), entry.get("is_active").cloned().unwrap_or(false.into()));
        space.shift_insert(0, "is_active".to_owned(), active);
        space.shift_insert(1, "session_id".to_owned(), id.into());
    }

    /// Prepares the file for writing: increments the revision and drops old sessions.
    pub(super) fn finalize(&mut self, at: &str, days: u32) {
        self.revision = self.revision.saturating_add(1);
        let Ok(now) = at.parse::<Timestamp>() else { return };
        let Ok(oldest) = now.checked_sub(SignedDuration::from_hours(24 * i64::from(days))) else { return };
        let is_old = |entry: &Value| {
            let stamp = ["updated_at", "activated_at"]
                .iter()
                .find_map(|key| entry.get(key)?.as_str()?.parse::<Timestamp>().ok());
            stamp.is_some_and(|stamp| stamp < oldest)
        };
        for space in self.namespaces.values_mut() {
            if let Some(Value::Object(sessions)) = space.get_mut("sessions") {
                sessions.retain(|_, entry| !is_old(entry));
            }
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut map = Map::with_capacity(self.namespaces.len() + 2);
        map.insert("version".to_owned(), VERSION.into());
        map.insert("revision".to_owned(), self.revision.into());
        map.extend(self.namespaces.clone());
        let mut bytes = serde_json::to_vec_pretty(&map).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

/// Reads an entry field by field; fields of a wrong type are ignored and returned by name.
fn mode_state(entry: &Value) -> (ModeState, Vec<String>) {
    if let Ok(state) = serde_json::from_value(entry.clone()) {
        return (state, Vec::new());
    }
    let Value::Object(fields) = entry else { return (ModeState::default(), vec!["sessions".to_owned()]) };
    let one = |key: &str, value: &Value| Value::Object(Map::from_iter([(key.to_owned(), value.clone())]));
    let fits = |key: &str, value: &Value| serde_json::from_value::<ModeState>(one(key, value)).is_ok();
    let (good, odd): (Map<_, _>, Map<_, _>) = fields.clone().into_iter().partition(|(key, value)| fits(key, value));
    (serde_json::from_value(Value::Object(good)).unwrap_or_default(), odd.into_iter().map(|(key, _)| key).collect())
}

fn is_summary(key: &str) -> bool {
    matches!(key, "sessions" | "is_active" | "session_id")
}

/// Values that a check may ask for; larger ones are not part of a session.
fn is_small(value: &Value) -> bool {
    const LONGEST: usize = 256;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => text.len() <= LONGEST,
        Value::Array(_) | Value::Object(_) => false,
    }
}

/// Moves the values of a namespace in the old flat format into the session it names.
fn migrate(space: &mut Value) {
    let Value::Object(flat) = space else { return };
    let Some(id) = flat.get("session_id").and_then(Value::as_str).map(str::to_owned) else { return };
    if flat.contains_key("sessions") || !flat.contains_key("is_active") && flat.len() < 2 {
        return;
    }
    let mut entry = flat.clone();
    entry.shift_remove("session_id");
    if let Some(phase) = entry.shift_remove("current_phase") {
        entry.insert("phase".to_owned(), phase);
    }
    entry.entry("is_active").or_insert(false.into());
    flat.retain(|key, _| is_summary(key));
    let mut sessions = Map::new();
    sessions.insert(id, Value::Object(entry));
    flat.insert("sessions".to_owned(), Value::Object(sessions));
}
