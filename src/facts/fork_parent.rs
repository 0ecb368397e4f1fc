//! The session that another was forked from.

use crate::facts::session::SessionModes;
use crate::host::ids::SessionId;
use serde::{Deserialize, Serialize};

/// What is known of the session that this one was forked from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForkParent {
    Found(ParentSession),
    /// The host has not yet written the lines that the two sessions share.
    NotWritten {
        /// Other sessions in which a mode is active.
        active: Vec<SessionId>,
    },
    /// The shared lines are in the transcript of no known session, or of several.
    NotFound {
        /// Other sessions in which a mode is active.
        active: Vec<SessionId>,
    },
}

/// The session that another was forked from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ParentSession {
    pub id: SessionId,
    /// The sessions that it was forked from, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ancestors: Vec<SessionId>,
    /// The state of its modes as a fork begins with it, by namespace.
    #[serde(default, skip_serializing_if = "SessionModes::is_empty")]
    pub modes: SessionModes,
}
