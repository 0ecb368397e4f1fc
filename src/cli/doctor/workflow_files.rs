//! Finds the markdown files of commands and agents as the host does.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use super::context::DoctorContext;
use crate::event::command::same_command;
use crate::facts::{Frontmatter, frontmatter};
use crate::ids::same_agent;
use serde_yaml::Value as Yaml;
use std::path::{Path, PathBuf};

/// How deep folders are searched.
const MAX_DEPTH: usize = 8;

/// An agent's frontmatter.
pub(super) struct AgentFile {
    pub(super) path: PathBuf,
    pub(super) name: String,
    /// The allowed tools; `None` for all.
    tools: Option<Vec<String>>,
    denied: Vec<String>,
}

impl AgentFile {
    fn read(path: &Path) -> Option<Self> {
        let bytes = crate::disk::read(path, crate::disk::SMALL).ok()?;
        let (name, tools, denied) = match frontmatter::read(&bytes) {
            Frontmatter::Absent => return None,
            Frontmatter::Keys(keys) => {
                let list = |key: &str| keys.get(key).filter(|value| !value.is_null()).map(words);
                (keys.get("name").and_then(Yaml::as_str).map(str::to_owned), list("tools"), list("disallowedTools"))
            }
            // The host accepts a colon in a description, which is not YAML.
            Frontmatter::Broken(_) => {
                let text = String::from_utf8_lossy(&bytes);
                let line = |key: &str| {
                    text.lines()
                        .skip(1)
                        .take_while(|line| *line != "---")
                        .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))
                };
                let list = |key: &str| {
                    line(key).map(|value| words(&Yaml::String(value.trim().trim_matches(['[', ']']).to_owned())))
                };
                (line("name").map(|name| name.trim().to_owned()), list("tools"), list("disallowedTools"))
            }
        };
        let name = name.or_else(|| Some(path.file_stem()?.to_string_lossy().into_owned()))?;
        Some(Self { path: path.to_owned(), name, tools, denied: denied.unwrap_or_default() })
    }

    /// Whether it may use a tool, perhaps with restrictions.
    pub(super) fn may_use(&self, tool: &str) -> bool {
        // A restricted tool counts: `Bash(git *)` can commit, and a denied `Write(secret/**)` leaves other paths.
        let named = |own: &String| own.split('(').next().unwrap_or_default().trim() == tool || own == "*";
        let has = |tools: &[String]| tools.iter().any(named);
        self.tools.as_deref().is_none_or(has) && !self.denied.iter().any(|own| own == tool)
    }
}

/// The items of a list or of comma-separated text.
fn words(value: &Yaml) -> Vec<String> {
    let texts: Vec<&str> = match value {
        Yaml::Sequence(items) => items.iter().filter_map(Yaml::as_str).collect(),
        other => other.as_str().unwrap_or_default().split(',').collect(),
    };
    texts.into_iter().map(|text| text.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}

/// The host's own agents, which have all tools.
const BUILT_IN: [&str; 6] = ["general-purpose", "Explore", "Plan", "claude", "claude-code-guide", "fork"];

/// Whether the host has an agent of that name built in.
pub(super) fn is_built_in(name: &str) -> bool {
    BUILT_IN.iter().any(|own| same_agent(own, name))
}

/// The agents of the project, the user and enabled plugins.
pub(super) fn agents(context: &DoctorContext) -> Vec<AgentFile> {
    let own = [Some(context.target.claude.join("agents")), context.user.as_ref().map(|user| user.join("agents"))];
    let own = own.into_iter().flatten().flat_map(|folder| markdown(&folder));
    let plugins = context.plugins.iter().flat_map(|root| markdown(&root.join("agents")));
    own.chain(plugins).filter_map(|path| AgentFile::read(&path)).collect()
}

/// Whether the project or the user has a command of that name, as a file or as a skill.
pub(super) fn has_command(context: &DoctorContext, name: &str) -> bool {
    let folders = [Some(context.target.claude.clone()), context.user.clone()];
    // A plugin's command has another name: it starts with the plugin's.
    folders.into_iter().flatten().any(|folder| {
        let skill = folder.join("skills").join(name).join("SKILL.md").is_file();
        skill || markdown(&folder.join("commands")).iter().any(|path| is_called(path, name))
    })
}

fn is_called(path: &Path, name: &str) -> bool {
    path.file_stem().is_some_and(|stem| same_command(&stem.to_string_lossy(), name))
}

fn markdown(folder: &Path) -> Vec<PathBuf> {
    let entries =
        walkdir::WalkDir::new(folder).max_depth(MAX_DEPTH).follow_links(true).into_iter().filter_map(Result::ok);
    let files = entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path);
    files.filter(|path| path.extension().is_some_and(|end| end == "md")).collect()
}
