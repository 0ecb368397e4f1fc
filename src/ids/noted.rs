//! Values of a session that note when they are read.

use serde::{Deserialize, Serialize, Serializer};
use std::cell::Cell;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

thread_local! {
    static IS_READ: Cell<bool> = const { Cell::new(false) };
}

/// A value that differs from session to session, though few decisions read it.
///
/// Replay takes the decision of one session for another if it read no such value; so everything that looks at one is noted,
/// also a comparison.
#[derive(Debug, Clone, Default, Eq, Deserialize)]
#[serde(transparent)]
pub struct Noted<T>(T);

/// Runs `work`; returns its result, and whether it read a noted value.
pub(crate) fn with_notes<R>(work: impl FnOnce() -> R) -> (R, bool) {
    IS_READ.set(false);
    let result = work();
    (result, IS_READ.get())
}

impl<T> Deref for Noted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        IS_READ.set(true);
        &self.0
    }
}

impl<T> DerefMut for Noted<T> {
    fn deref_mut(&mut self) -> &mut T {
        IS_READ.set(true);
        &mut self.0
    }
}

impl<T> From<T> for Noted<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl From<Noted<Self>> for String {
    fn from(Noted(text): Noted<Self>) -> Self {
        IS_READ.set(true);
        text
    }
}

impl<T: PartialEq> PartialEq for Noted<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Ord> PartialOrd for Noted<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Ord> Ord for Noted<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(other)
    }
}

impl<T: Hash> Hash for Noted<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: Serialize> Serialize for Noted<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Session;

    #[track_caller]
    fn check(expected: bool, work: impl FnOnce(&mut Session)) {
        let mut session: Session = serde_json::from_str(
            r#"{"id":"s1","modes":{"plan_mode":{"is_active":true,"phase":"draft","prompt_id":"p1","updated_at":"x"}}}"#,
        )
        .expect("a session");
        assert_eq!(with_notes(|| work(&mut session)).1, expected);
    }

    #[test]
    fn every_look_at_a_noted_value_is_noted() {
        check(true, |session| drop(session.id.to_string()));
        check(true, |session| drop(session.value("plan_mode", "phase")));
        check(true, |session| assert_ne!(*session, Session::default()));
        check(true, |session| assert!(session.modes["plan_mode"].prompt_id.is_some()));
        check(true, |session| drop(session.modes["plan_mode"].other.get("updated_at").cloned()));
        check(true, |session| session.id = session.id.replace('1', "2").into());
    }

    #[test]
    fn a_copy_and_all_else_are_not_noted() {
        check(false, |session| drop(session.clone()));
        check(false, |session| assert!(session.is_active("plan_mode") && session.ancestors().is_empty()));
    }
}
