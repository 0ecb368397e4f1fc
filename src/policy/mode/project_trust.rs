//! Whether the user trusts a project's files, and which of them are used.

use base::printable::one_line;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The trust in a project's files when its catalogue was made.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProjectTrust {
    pub state: TrustState,
    /// The files that the user has not agreed to.
    pub files: Vec<String>,
    /// The accepted hashes of context files and scripts, by path; `None` if every file is used.
    pub accepted: Option<BTreeMap<String, Vec<String>>>,
    /// Whether the project's own settings ask to be trusted, which is ignored.
    pub asks_for_itself: bool,
}

/// What is used of a project's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrustState {
    /// The current files; also if there are none.
    #[default]
    Trusted,
    /// The files as they were when the user last agreed.
    Changed,
    /// None of them.
    Untrusted,
}

impl ProjectTrust {
    /// What the user should know, if anything.
    pub fn notice(&self) -> Option<String> {
        let text = match self.state {
            TrustState::Trusted => None,
            TrustState::Changed => Some(format!(
                "{} changed since you trusted this project; the version that you trusted is used until you run \
                 `modegate trust`",
                self.subject()
            )),
            TrustState::Untrusted => Some(format!(
                "you have not trusted this project ({}); only the built-in modes and rules are used until you run \
                 `modegate trust`",
                self.named()
            )),
        };
        let ignored = "`MODEGATE_TRUST` is ignored, because the project's own settings set it";
        match text {
            Some(text) if self.asks_for_itself => Some(format!("{text}; {ignored}")),
            None if self.asks_for_itself => Some(ignored.to_owned()),
            text => text,
        }
    }

    /// What the user should know if these files are context files and scripts.
    pub fn others_notice(&self) -> Option<String> {
        let subject = self.subject();
        let text = format!("{subject} changed since you trusted this project, so it is not used; run `modegate trust`");
        (!self.files.is_empty()).then_some(text)
    }

    fn named(&self) -> String {
        match self.files.as_slice() {
            [] => "a file".to_owned(),
            [one] => format!("`{}`", one_line(one)),
            [one, others @ ..] => format!("`{}` and {} more", one_line(one), others.len()),
        }
    }

    fn subject(&self) -> String {
        format!("{} {}", self.named(), if self.files.len() > 1 { "have" } else { "has" })
    }
}
