//! The starter workflow: commands and agents for a project that has none yet.
//!
//! `/plan` and `/code-review` reach hooks only if the project has a command of that name.

/// A file of the starter workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StarterFile {
    /// Its path below `.claude`.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        /// Every file, commands first.
        pub const FILES: &[StarterFile] = &[$(StarterFile { path: $path, text: include_str!(concat!("../modes/", $path)) },)*];
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
