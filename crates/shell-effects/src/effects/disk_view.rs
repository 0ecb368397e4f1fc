//! What is on disk before the line runs, as far as the walker asks for it.

use super::target_path::absolute;
use super::walker::Walker;

/// The work of looking at a path on disk.
const LOOK: usize = 20;

/// Answers what is on disk; by default, nothing.
pub trait DiskView {
    /// The target of a link, as it is written.
    fn link(&self, _path: &str) -> Option<String> {
        None
    }

    /// Whether there is a file, a folder or a link.
    fn exists(&self, _path: &str) -> bool {
        false
    }

    /// The text of a small regular file.
    fn script(&self, _path: &str) -> Option<String> {
        None
    }
}

/// Knows nothing about the disk.
pub struct NoDisk;

impl DiskView for NoDisk {}

impl Walker<'_> {
    /// Whether `..` in a path leads out of a link: to the folder of its target, not to the one that has the link.
    pub fn leaves_link(&self, text: &str) -> bool {
        let Some((before, _)) = text.rsplit_once("/..") else { return false };
        let ends = before.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0).chain([before.len()]);
        let mut folders = ends.filter_map(|end| absolute(before.get(..end)?, self.state.folder.as_deref()));
        folders.any(|folder| self.budget.spend(LOOK) && self.link_at(&folder).is_some())
    }

    /// The target of a link that the line made, or that exists.
    fn link_at(&self, path: &str) -> Option<String> {
        let made = self.state.disk.links.iter().rev().find(|(from, _)| from == path);
        made.map(|(_, to)| to.clone()).or_else(|| self.disk.link(path))
    }
}
