//! Commands and agents: the markdown files in which the host finds them.

use super::ground::Ground;
use crate::event::command::{same_agent, same_command};
use crate::facts::live::frontmatter::{self, Frontmatter};
use std::path::{Path, PathBuf};

/// How deep commands, agents and plugins are looked for.
const DEEP: usize = 8;

/// An agent as its file describes it.
pub(super) struct Agent {
    pub(super) path: PathBuf,
    pub(super) name: String,
    /// The tools it may use; `None` for all.
    tools: Option<Vec<String>>,
    denied: Vec<String>,
}

impl Agent {
    fn read(path: &Path) -> Option<Self> {
        let Frontmatter::Map(keys) = frontmatter::read(&std::fs::read(path).ok()?) else { return None };
        let name = keys.get("name").and_then(serde_yaml::Value::as_str);
        let name = name.map(str::to_owned).or_else(|| Some(path.file_stem()?.to_string_lossy().into_owned()))?;
        let tools = keys.get("tools").filter(|tools| !tools.is_null()).map(words);
        let denied = keys.get("disallowedTools").map(words).unwrap_or_default();
        Some(Self { path: path.to_owned(), name, tools, denied })
    }

    /// Whether it may use a tool at all.
    pub(super) fn may(&self, tool: &str) -> bool {
        let has = |tools: &[String]| tools.iter().any(|own| own == tool || own == "*");
        self.tools.as_deref().is_none_or(has) && !has(&self.denied)
    }
}

/// The tools of a list or of a text with commas, without what narrows them.
fn words(value: &serde_yaml::Value) -> Vec<String> {
    let texts: Vec<&str> = match value {
        serde_yaml::Value::Sequence(items) => items.iter().filter_map(serde_yaml::Value::as_str).collect(),
        other => other.as_str().unwrap_or_default().split(',').collect(),
    };
    let plain = |text: &str| text.split('(').next().unwrap_or_default().trim().to_owned();
    texts.into_iter().map(plain).filter(|word| !word.is_empty()).collect()
}

/// Agents that the host brings itself, with all tools.
const BUILT_IN: [&str; 6] = ["general-purpose", "Explore", "Plan", "claude", "claude-code-guide", "fork"];

/// Whether the host has an agent of that name without any file.
pub(super) fn is_built_in(name: &str) -> bool {
    BUILT_IN.iter().any(|own| same_agent(own, name))
}

/// Every agent that the host would find: the project's, the user's, and those of plugins.
pub(super) fn agents(ground: &Ground) -> Vec<Agent> {
    let own = [Some(ground.site.claude.join("agents")), ground.user.as_ref().map(|user| user.join("agents"))];
    let own = own.into_iter().flatten().flat_map(|folder| markdown(&folder));
    let plugins = plugins(ground).into_iter().filter(|path| is_below(path, "agents"));
    own.chain(plugins).filter_map(|path| Agent::read(&path)).collect()
}

/// Whether a project or a user has a command of that name, as a file or as a skill.
pub(super) fn has_command(ground: &Ground, name: &str) -> bool {
    let folders = [Some(ground.site.claude.clone()), ground.user.clone()];
    let own = folders.into_iter().flatten().any(|folder| {
        let skill = folder.join("skills").join(name).join("SKILL.md").is_file();
        skill || markdown(&folder.join("commands")).iter().any(|path| is_called(path, name))
    });
    own || plugins(ground).iter().any(|path| is_below(path, "commands") && is_called(path, name))
}

fn is_called(path: &Path, name: &str) -> bool {
    path.file_stem().is_some_and(|stem| same_command(&stem.to_string_lossy(), name))
}

fn is_below(path: &Path, folder: &str) -> bool {
    path.components().any(|part| part.as_os_str() == folder)
}

fn plugins(ground: &Ground) -> Vec<PathBuf> {
    ground.user.as_ref().map(|user| markdown(&user.join("plugins"))).unwrap_or_default()
}

fn markdown(folder: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(folder).max_depth(DEEP).follow_links(true).into_iter().filter_map(Result::ok);
    entries.map(walkdir::DirEntry::into_path).filter(|path| path.extension().is_some_and(|end| end == "md")).collect()
}
