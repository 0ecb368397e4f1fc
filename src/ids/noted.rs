//! Values of a session that note when they are read.

use serde::{Deserialize, Serialize, Serializer};
use std::cell::Cell;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

thread_local! {
    static IS_READ: Cell<bool> = const { Cell::new(false) };
}

/// A value that differs from session to session, though few decisions read it.
///
/// Replay takes the decision of one session for another if it read no such value; so everything that looks at one is noted,
/// also a comparison.
#[derive(Clone, Default, Eq, Deserialize)]
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

impl<T: fmt::Debug> fmt::Debug for Noted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
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
