//! The format of recordings: the masked journal of a session with its modes.

use crate::mode::{Catalogue, ProjectSources};
use serde::{Deserialize, Serialize};

/// The version of the format.
pub const VERSION: u32 = 1;

/// The first line of a recording; journal lines follow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format; no journal line has this field.
    pub recording: u32,
    /// The recorded session.
    pub session: String,
    /// The version of modegate that wrote the recording.
    pub modegate: String,
    /// The hash of the modes; lines decided by them have the same.
    pub modes: String,
    /// The sources of all modes that are not embedded.
    #[serde(flatten)]
    pub sources: ProjectSources,
}

impl Header {
    /// The header of a recording with the modes of `sources`.
    #[must_use]
    pub fn new(session: &str, sources: ProjectSources) -> Self {
        Self {
            recording: VERSION,
            session: session.to_owned(),
            modegate: env!("CARGO_PKG_VERSION").to_owned(),
            modes: sources.catalogue().hash,
            sources,
        }
    }

    /// The modes of the recording.
    #[must_use]
    pub fn catalogue(&self) -> Catalogue {
        self.sources.catalogue()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_contains_its_modes() {
        let file = (".claude/modes/mine.yaml".to_owned(), "mode: mine\nabout: Mine.\ncommands: [/mine]\n".to_owned());
        let sources = ProjectSources {
            settings: Some("patience: 2\n".to_owned()),
            files: vec![file],
            ..ProjectSources::default()
        };
        let header = Header::new("s1", sources);
        let again: Header = serde_json::from_str(&serde_json::to_string(&header).unwrap()).unwrap();
        assert_eq!(again, header);
        assert!(again.catalogue().mode("mine").is_some());
        assert_eq!(again.catalogue().hash, header.modes);
    }
}
