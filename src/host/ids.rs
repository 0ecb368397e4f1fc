//! Ids shared by several modules, each with its own type.

use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

/// The id of a session; empty when the host did not send one.
#[derive(Debug, Clone, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(String);

/// The id of a gate, unique within its mode.
#[derive(Debug, Clone, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GateId(String);

/// The id of a subagent in a session.
#[derive(Debug, Clone, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgentId(String);

/// The name of an agent.
///
/// Names compare as the product does: case, `-`, `_`, spaces and modegate's own plugin prefix are ignored.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgentName(String);

macro_rules! id {
    ($($id:ident),+) => {$(
        impl $id {
            /// The text as received.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl AsRef<str> for $id {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Deref for $id {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $id {
            fn from(text: &str) -> Self {
                text.to_owned().into()
            }
        }

        impl From<String> for $id {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl From<$id> for String {
            fn from(id: $id) -> Self {
                id.0
            }
        }
    )+};
}

id!(SessionId, GateId, AgentId, AgentName);

macro_rules! exact {
    ($($id:ident),+) => {$(
        impl Borrow<str> for $id {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl<T: AsRef<str>> PartialEq<T> for $id {
            fn eq(&self, other: &T) -> bool {
                self.as_str() == other.as_ref()
            }
        }
    )+};
}

exact!(SessionId, GateId, AgentId);

impl AgentName {
    /// Whether `other` names the same agent; an empty name matches no agent.
    pub fn is(&self, other: &str) -> bool {
        same_agent(&self.0, other)
    }
}

impl PartialEq for AgentName {
    fn eq(&self, other: &Self) -> bool {
        if self.0 == other.0 {
            return true;
        }
        let (own, other) = comparable(&self.0, &other.0);
        folded(own).eq(folded(other))
    }
}

impl Eq for AgentName {}

/// The prefix of the commands and agents in modegate's own plugin.
const OWN_PREFIX: &str = "modegate:";

/// The prefix in a mode file for the commands or agents of every plugin.
const ANY_PREFIX: &str = "*:";

/// Returns a name without its `plugin:` prefix.
pub fn without_plugin(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, bare)| bare)
}

/// Returns the two names in the form in which they are compared.
///
/// Another plugin's `acme:plan` is not `plan`: only `acme:plan` and `*:plan` in a mode file mean it.
pub fn comparable<'a>(own: &'a str, other: &'a str) -> (&'a str, &'a str) {
    match own.strip_prefix(ANY_PREFIX) {
        Some(bare) => (bare, without_plugin(other)),
        None => (own.strip_prefix(OWN_PREFIX).unwrap_or(own), other.strip_prefix(OWN_PREFIX).unwrap_or(other)),
    }
}

/// What the type of a teammate is called while it is not known: its name is no evidence.
pub const UNKNOWN_TEAMMATE: &str = "unknown teammate";

/// Returns the name of a teammate from its id, `a<name>-<16 hex digits>`; other agents have ids without a dash.
///
/// The host puts this name where the agent's type is expected.
pub fn teammate_name(id: &str) -> Option<&str> {
    let (name, number) = id.strip_prefix('a')?.rsplit_once('-')?;
    let is_number = number.len() == 16 && number.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_number && !name.is_empty()).then_some(name)
}

/// Whether two names mean the same agent; `own` is the name in a mode file.
///
/// Case, `-`, `_`, spaces and modegate's own plugin prefix are ignored.
pub fn same_agent(own: &str, other: &str) -> bool {
    let (own, other) = comparable(own, other);
    folded(own).next().is_some() && folded(own).eq(folded(other))
}

fn folded(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_compare_without_case_and_dashes() {
        assert_eq!(AgentName::from("Strategic_Planner"), AgentName::from("strategic-planner"));
        assert_ne!(AgentName::from("strategic-planner-2"), AgentName::from("strategic-planner"));
    }

    #[test]
    fn only_our_own_plugin_prefix_is_ignored() {
        assert!(same_agent("strategic-planner", "modegate:strategic-planner"));
        assert!(!same_agent("strategic-planner", "acme:strategic-planner"));
        assert!(same_agent("acme:strategic-planner", "acme:Strategic_Planner"));
        assert!(!same_agent("acme:strategic-planner", "strategic-planner"));
        assert!(same_agent("*:planner", "acme:planner") && same_agent("*:planner", "planner"));
    }

    #[test]
    fn a_teammates_id_has_its_name() {
        assert_eq!(teammate_name("apat-ca8898140fa38f45"), Some("pat"));
        assert_eq!(teammate_name("aconsulting-expert-369dd8c2fd860279"), Some("consulting-expert"));
        for other in ["ab6e9831bfd78277c", "id-strategic-planner", "a-369dd8c2fd860279", "pat@session-b1841022", ""] {
            assert_eq!(teammate_name(other), None, "{other}");
        }
    }

    #[test]
    fn an_empty_name_is_not_an_agent() {
        assert!(!AgentName::default().is(""));
        assert!(!same_agent("-", "_"));
    }

    #[test]
    fn ids_are_plain_strings_in_json() {
        let id: GateId = serde_json::from_str("\"plan-is-written\"").expect("an id");
        assert_eq!(serde_json::to_string(&id).expect("JSON"), "\"plan-is-written\"");
        assert_eq!(format!("{id:>17}|"), "  plan-is-written|");
    }
}
