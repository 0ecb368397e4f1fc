//! The starter workflow: commands and agents for a project that has none yet.
//!
//! `/plan` and `/code-review` reach hooks only if the project has a command of that name.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StarterFile {
    pub path: &'static str,
    pub text: &'static str,
}

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        /// Every file, commands first.
        pub const FILES: &[StarterFile] = &[$(StarterFile { path: $path, text: include_str!(concat!("../../modes/", $path)) },)*];
    };
}

files! {
    "commands/explore.md",
    "commands/research.md",
    "commands/plan.md",
    "commands/code.md",
    "commands/code-review.md",
    "commands/implement.md",
    "agents/codebase-explorer.md",
    "agents/research-specialist.md",
    "agents/research-consultant.md",
    "agents/strategic-planner.md",
    "agents/consulting-expert.md",
    "agents/code-reviewer.md",
    "agents/test-engineer.md",
    "agents/troubleshooter.md",
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::hook_entries::{plugin_hooks, required_events};
    use crate::policy::mode::Catalogue;
    use std::fs;
    use std::path::Path;

    /// The text of a file in modegate's plugin: the host knows the commands and agents of a plugin by a prefix.
    fn text_in_plugin(file: &StarterFile) -> String {
        let mut text = file.text.to_owned();
        for file in FILES {
            let (folder, name) = file.path.split_once('/').unwrap();
            let name = name.trim_end_matches(".md");
            if folder == "commands" {
                text = text.replace(&format!("`/{name}`"), &format!("`/modegate:{name}`"));
            }
            let (bare, prefixed) = (format!("`{name}`"), format!("`modegate:{name}`"));
            // A folder of the project has the name of a command.
            let folder_of = |text: &str| format!("{text} folder");
            text = text.replace(&bare, &prefixed).replace(&folder_of(&prefixed), &folder_of(&bare));
        }
        text
    }

    #[test]
    fn names_have_the_prefix_of_the_plugin() {
        let text = |path: &str| text_in_plugin(FILES.iter().find(|file| file.path == path).unwrap());
        let plan = text("commands/plan.md");
        assert!(plan.contains("call the command `modegate:research` with"), "{plan}");
        assert!(plan.contains("in the `research` folder") && plan.contains("Inside `/modegate:implement`"), "{plan}");
        assert!(plan.contains("Call `modegate:strategic-planner`.") && !plan.contains("modegate:modegate"), "{plan}");
    }

    /// The generated files of the plugin, by their paths.
    fn plugin_files() -> Vec<(String, String)> {
        let hooks = plugin_hooks(&required_events(Catalogue::compose(None, &[]).event_kinds()));
        let workflow = FILES.iter().map(|file| (file.path.to_owned(), text_in_plugin(file)));
        [("hooks/hooks.json".to_owned(), hooks)].into_iter().chain(workflow).collect()
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test reads the plugin's files")]
    fn the_plugin_has_the_current_entries_commands_and_agents() {
        let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin");
        for (path, text) in plugin_files() {
            if std::env::var_os("MODEGATE_WRITE_PLUGIN").is_some() {
                fs::create_dir_all(plugin.join(&path).parent().unwrap()).unwrap();
                fs::write(plugin.join(&path), &text).unwrap();
            }
            let written = fs::read_to_string(plugin.join(&path)).unwrap_or_default();
            assert!(written == text, "plugin/{path} is not current: run this test with MODEGATE_WRITE_PLUGIN=1");
        }
        for folder in ["commands", "agents"] {
            let count = fs::read_dir(plugin.join(folder)).unwrap().count();
            assert_eq!(count, FILES.iter().filter(|file| file.path.starts_with(folder)).count(), "{folder}");
        }
    }
}
