//! The files of a project as they are now, beside what the person has agreed to.

use super::{ConfigFiles, TrustRecord};
use crate::host::paths::ProjectPaths;
use crate::policy::mode::ProjectSources;
use crate::state::mode_cache;
use std::io;

pub struct TrustReview {
    pub places: ProjectPaths,
    /// Its sources, trusted or not.
    pub sources: ProjectSources,
    pub files: ConfigFiles,
    pub record: Option<TrustRecord>,
}

impl TrustReview {
    pub fn read_project(places: &ProjectPaths) -> Self {
        let sources = mode_cache::sources(places);
        let files = ConfigFiles::of_project(places, &sources);
        Self { files, record: TrustRecord::of_project(places), sources, places: places.clone() }
    }

    /// Whether the person has agreed to every file.
    pub fn is_trusted(&self) -> bool {
        self.record.as_ref().is_some_and(|record| record.covers(&self.files))
    }

    /// Whether there are files that the person has not agreed to.
    pub fn is_open(&self) -> bool {
        !self.files.is_empty() && !self.is_trusted()
    }

    pub fn agree(&self) -> io::Result<()> {
        let mut record = self.record.clone().unwrap_or_default();
        record.add(&self.files);
        record.write(&self.places)
    }
}

/// Agrees to the current files; a record that cannot be written leaves them untrusted, which events report.
pub fn renew(places: &ProjectPaths) {
    let review = TrustReview::read_project(places);
    if !review.files.is_empty() {
        let _: io::Result<()> = review.agree();
    }
}
