//! What is on disk before the line runs, as far as the walker asks for it.

use super::target_path::absolute;
use super::walker::Walker;

/// The most links that are followed in one path, as in the kernel.
const MOST_LINKS: usize = 40;
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
    /// The path that the kernel resolves `text` to, if that differs from the normalised one: `..` leads out of the
    /// target of a link, not out of the folder that has the link.
    pub fn through_links(&self, text: &str) -> Option<String> {
        if !text.split('/').any(|part| part == "..") {
            return None;
        }
        let folder = self.state.folder.as_deref();
        let normal = absolute(text, folder)?;
        let base = if text.starts_with('/') { "" } else { folder? };
        let mut waiting: Vec<String> = format!("{base}/{text}").rsplit('/').map(str::to_owned).collect();
        let (mut path, mut links) = (String::new(), 0);
        while let Some(part) = waiting.pop() {
            match part.as_str() {
                "" | "." => continue,
                ".." => {
                    path.truncate(path.rfind('/').unwrap_or(0));
                    continue;
                }
                part => path = format!("{path}/{part}"),
            }
            if !self.budget.spend(LOOK) {
                return None;
            }
            let Some(target) = self.link_at(&path) else { continue };
            links += 1;
            if links > MOST_LINKS {
                return None;
            }
            let keeps = if target.starts_with('/') { 0 } else { path.rfind('/').unwrap_or(0) };
            path.truncate(keeps);
            waiting.extend(target.rsplit('/').map(str::to_owned));
        }
        let path = if path.is_empty() { "/".to_owned() } else { path };
        (path != normal).then_some(path)
    }

    /// The target of a link that the line made, or that exists.
    fn link_at(&self, path: &str) -> Option<String> {
        let made = self.state.disk.links.iter().rev().find(|(from, _)| from == path);
        made.map(|(_, to)| to.clone()).or_else(|| self.disk.link(path))
    }
}
