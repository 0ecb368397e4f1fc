//! Asks whether a tool call would affect protected paths.

use crate::paths::hash;
use crate::shell::{Certainty, Effect};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A shared [`ProtectedPaths`]: one is built per gate and asked at every tool call.
///
/// The journal has only its digest: the lists are long, the same at each event, and written in the mode file.
#[derive(Debug, Clone, Default)]
pub struct EffectQuery(Arc<ProtectedPaths>);

/// Paths, and the effects on them that are asked about.
#[derive(Debug, Clone, Default)]
pub struct ProtectedPaths {
    /// The effects that count.
    pub effects: Vec<Effect>,
    /// The paths that count.
    pub paths: Vec<String>,
    /// Paths that do not count.
    pub except: Vec<String>,
    /// Whether only recursive effects count.
    pub recursive: bool,
    /// Whether other machines are asked about instead of this one.
    pub remote: bool,
    digest: String,
}

impl ProtectedPaths {
    /// Computes the digest that questions are compared by.
    #[must_use]
    pub fn into_query(mut self) -> EffectQuery {
        let Self { effects, paths, except, recursive, remote, .. } = &self;
        let effects: Vec<&str> = effects.iter().map(|effect| effect.word()).collect();
        let remote = if *remote { " remote" } else { "" };
        let whole = format!("{effects:?} {paths:?} {except:?} {recursive} false{remote}");
        let words = if effects.is_empty() { "mention".to_owned() } else { effects.join("|") };
        self.digest = format!("{words} {:016x}", hash(whole.as_bytes()));
        EffectQuery(Arc::new(self))
    }
}

impl EffectQuery {
    /// The effects in words. They come from the digest, because a recorded query has nothing else.
    pub(super) fn effect_words(&self) -> String {
        self.digest.split(' ').next().unwrap_or_default().replace('|', " or ")
    }
}

impl std::ops::Deref for EffectQuery {
    type Target = ProtectedPaths;

    fn deref(&self) -> &ProtectedPaths {
        &self.0
    }
}

impl PartialEq for EffectQuery {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.digest == other.digest
    }
}

impl Serialize for EffectQuery {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.digest)
    }
}

impl<'de> Deserialize<'de> for EffectQuery {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digest = String::deserialize(deserializer)?;
        Ok(Self(Arc::new(ProtectedPaths { digest, ..ProtectedPaths::default() })))
    }
}

/// An effect on a protected path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundEffect {
    /// The path.
    pub path: String,
    /// What would happen to it.
    pub effect: Effect,
    /// The command or tool that would do it, secrets masked.
    pub by: String,
    /// Whether it would happen for certain.
    pub certainty: Certainty,
}
