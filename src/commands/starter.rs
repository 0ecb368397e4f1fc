//! The starter workflow: commands and agents for a project that has none yet.
//!
//! `/plan` and `/code-review` reach hooks only if the project has a command of that name.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StarterFile {
    pub path: &'static str,
    pub text: &'static str,
}

impl StarterFile {
    /// Its text in modegate's plugin: the host knows the commands and agents of a plugin by a prefix.
    pub fn text_in_plugin(&self) -> String {
        let mut text = self.text.to_owned();
        for file in FILES {
            let (folder, name) = file.path.split_once('/').unwrap_or_default();
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

    #[test]
    fn names_have_the_prefix_of_the_plugin() {
        let text = |path: &str| FILES.iter().find(|file| file.path == path).unwrap().text_in_plugin();
        let plan = text("commands/plan.md");
        assert!(plan.contains("call the command `modegate:research` with"), "{plan}");
        assert!(plan.contains("in the `research` folder") && plan.contains("Inside `/modegate:implement`"), "{plan}");
        assert!(plan.contains("Call `modegate:strategic-planner`.") && !plan.contains("modegate:modegate"), "{plan}");
    }
}
