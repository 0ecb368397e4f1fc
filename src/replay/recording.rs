//! A recording: the journal of a session with the modes that decided it, fit to be kept in a repository.

use crate::mode::{Catalogue, ProjectSources};
use serde::{Deserialize, Serialize};

/// The version of the header's format.
pub const VERSION: u32 = 1;

/// The first line of a recording; the lines after it are those of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of this format; its name tells a recording from a journal.
    pub recording: u32,
    /// The session that was recorded.
    pub session: String,
    /// The modegate that wrote the recording.
    pub modegate: String,
    /// The hash of the modes, as the lines have it that were decided by them.
    pub modes: String,
    /// What the modes are made of, beside those that are embedded.
    #[serde(flatten)]
    pub sources: ProjectSources,
}

impl Header {
    /// The header of a session's recording, decided by the modes of `sources`.
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

    /// The modes that the recording carries, as this modegate reads them.
    #[must_use]
    pub fn catalogue(&self) -> Catalogue {
        self.sources.catalogue()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_carries_its_modes() {
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
