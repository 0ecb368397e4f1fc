//! Values that scripts set for all sessions: a sealed file in the user's folder.

use super::sealed::{self, Durability, StateStatus};
use super::summary::SharedValues;
use super::{StateStore, StoreError};
use crate::facts::session::{ModeState, Session};
use crate::state::user_folder::create_private;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::Arc;

const PURPOSE: &[u8] = b"values";

impl StateStore {
    fn values_file(&self) -> Option<PathBuf> {
        self.places.state_dir.as_ref().map(|own| own.join("values.json"))
    }

    /// The values for all sessions, and whether their file could be read.
    pub(super) fn values(&self) -> (SharedValues, StateStatus) {
        let Some(path) = self.values_file() else { return Default::default() };
        match sealed::read(&path, || self.key().cloned(), &self.purpose(PURPOSE)) {
            Ok(values) => (values, StateStatus::Sound),
            Err(status) => (SharedValues::new(), status),
        }
    }

    pub fn values_status(&self) -> StateStatus {
        self.values().1
    }

    /// Adds the values that a check may ask for; larger ones are not part of a session.
    pub fn add_values(&self, session: &mut Session) {
        for (name, mut values) in self.values().0 {
            values.retain(|_, value| is_small(value));
            if !values.is_empty() {
                session.values.insert(name, values);
            }
        }
    }

    /// Sets a value in a session, or for all sessions.
    ///
    /// Without a session, a key that belongs to sessions is set in the one of the latest activation.
    pub fn set(
        &self,
        namespace: &str,
        key: &str,
        value: Value,
        session: Option<&str>,
        at: &str,
    ) -> Result<(), StoreError> {
        let is_own = matches!(key, "is_active" | "phase" | "current_phase");
        let latest = || self.summary().latest(namespace).map(str::to_owned);
        let session = session.map(str::to_owned).or_else(|| if is_own { latest() } else { None });
        if let Some(id) = session {
            let fields = Map::from_iter([(key.to_owned(), value)]);
            return self.set_fields(namespace, &id, fields, at);
        }
        let moved = self.change_values(at, |values| {
            let space = values.entry(namespace.to_owned()).or_default();
            space.insert(key.to_owned(), value);
            session_fields(space)
        })?;
        moved.map_or(Ok(()), |(id, fields)| self.set_fields(namespace, &id, fields, at))
    }

    fn set_fields(&self, namespace: &str, id: &str, fields: Map<String, Value>, at: &str) -> Result<(), StoreError> {
        let set = self.change(id, at, |stored| {
            let modes = &mut stored.session.modes;
            let fresh = || json!({"is_active": false, "activated_at": at});
            let old = modes.get(namespace).and_then(|state| serde_json::to_value(state).ok());
            let Value::Object(mut entry) = old.unwrap_or_else(fresh) else { return Ok(()) };
            for (key, value) in fields {
                let key = if key == "current_phase" { "phase".to_owned() } else { key };
                entry.insert(key, value);
            }
            let state: Arc<ModeState> = serde_json::from_value(Value::Object(entry))
                .map_err(|error| StoreError::WrongType(error.to_string()))?;
            modes.insert(namespace.to_owned(), state);
            Ok(())
        })?;
        set.value
    }

    pub(super) fn change_values<T>(
        &self,
        at: &str,
        change: impl FnOnce(&mut SharedValues) -> T,
    ) -> Result<T, StoreError> {
        let path = self.values_file().ok_or(StoreError::NoFolder)?;
        let io = |error| StoreError::Io(path.clone(), error);
        let _guard = self.lock_in_folder(&path.with_extension("lock"))?;
        // A summary without this folder means that something removed it.
        self.session_folder().map_or(Ok(()), |folder| create_private(&folder)).map_err(io)?;
        let (mut values, status) = self.values();
        if let StateStatus::Newer(version) = status {
            return Err(StoreError::Newer(version));
        }
        let changed = change(&mut values);
        values.retain(|_, values| !values.is_empty());
        let key = self.key().map_err(io)?;
        sealed::write(&path, key, &self.purpose(PURPOSE), &values, Durability::Synced).map_err(io)?;
        self.update_summary(None, at)?;
        Ok(changed)
    }
}

/// The values of a namespace in the flat format, taken out for the session that they name.
fn session_fields(space: &mut Map<String, Value>) -> Option<(String, Map<String, Value>)> {
    let id = space.get("session_id")?.as_str()?.to_owned();
    if !space.contains_key("is_active") && space.len() < 2 {
        return None;
    }
    let mut fields = std::mem::take(space);
    fields.shift_remove("session_id");
    fields.entry("is_active").or_insert(false.into());
    Some((id, fields))
}

fn is_small(value: &Value) -> bool {
    const LONGEST: usize = 256;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => text.len() <= LONGEST,
        Value::Array(_) | Value::Object(_) => false,
    }
}
