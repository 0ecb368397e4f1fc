//! Asks whether a tool call would affect protected paths.

use crate::host::paths::hash;
use serde::{Deserialize, Serialize};
use shell_effects::{Certainty, Effect};
use std::sync::Arc;

/// A shared [`ProtectedPaths`]. The journal has only its digest: the lists are long, the same at each event, and written in the mode file.
#[derive(Debug, Clone, Default)]
pub struct EffectQuery(Arc<ProtectedPaths>);

/// Paths, and the effects on them that are asked about.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProtectedPaths {
    pub effects: Vec<Effect>,
    pub paths: PathList,
    pub except: PathList,
    pub recursive: bool,
    /// Whether only files count that exist before the call.
    pub existing: bool,
    /// Whether other machines are asked about instead of this one.
    pub remote: bool,
    digest: String,
}

/// Paths in one text, each with a zero byte behind it: every tool call loads hundreds, and looks at few of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PathList(String);

impl PathList {
    const END: char = '\0';

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.split_terminator(Self::END)
    }
}

impl<T: AsRef<str>> FromIterator<T> for PathList {
    fn from_iter<I: IntoIterator<Item = T>>(paths: I) -> Self {
        let mut list = String::new();
        for path in paths {
            list.push_str(path.as_ref());
            list.push(Self::END);
        }
        Self(list)
    }
}

impl ProtectedPaths {
    /// Whether a path has a variable, which is filled in when the question is asked.
    pub fn has_variables(&self) -> bool {
        self.paths.0.contains('{') || self.except.0.contains('{')
    }

    /// Computes the digest that questions are compared by, once per gate.
    pub fn with_digest(mut self) -> Self {
        let Self { effects, paths, except, recursive, existing, remote, .. } = &self;
        let effects: Vec<&str> = effects.iter().map(|effect| effect.word()).collect();
        let remote = if *remote { " remote" } else { "" };
        let (paths, except): (Vec<&str>, Vec<&str>) = (paths.iter().collect(), except.iter().collect());
        let whole = format!("{effects:?} {paths:?} {except:?} {recursive} {existing}{remote}");
        let words = if effects.is_empty() { "mention".to_owned() } else { effects.join("|") };
        self.digest = format!("{words} {:016x}", hash(whole.as_bytes()));
        self
    }

    pub fn into_query(self) -> EffectQuery {
        EffectQuery(Arc::new(self))
    }
}

impl EffectQuery {
    /// The effects in words. They come from the digest, because a recorded query has nothing else.
    pub(super) fn effect_words(&self) -> String {
        let words = self.digest.split(' ').next().unwrap_or_default().split('|');
        let verb =
            |word| Effect::WORDS.iter().find(|(known, _)| *known == word).map_or(word, |(_, effect)| effect.verb());
        words.map(verb).collect::<Vec<_>>().join(" or ")
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
        self.digest == other.digest
    }
}

impl Eq for EffectQuery {}

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
    pub path: String,
    pub effect: Effect,
    /// The command or tool that would do it, secrets masked.
    pub by: String,
    pub certainty: Certainty,
}
