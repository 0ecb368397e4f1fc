//! Effects and folders in lower case, for file systems on which `.ENV` is `.env`.

use shell_effects::{ExecContext, FileEffect, TargetPath};

/// A change with its path in lower case.
pub(super) fn change(change: &FileEffect) -> FileEffect {
    let target = match &change.target {
        TargetPath::Known { path, glob } => TargetPath::Known { path: path.to_lowercase(), glob: *glob },
        TargetPath::Below { prefix, bare } => {
            TargetPath::Below { prefix: prefix.to_lowercase(), bare: bare.to_lowercase() }
        }
        TargetPath::Unknown { bare } => TargetPath::Unknown { bare: bare.as_ref().map(|bare| bare.to_lowercase()) },
        TargetPath::Anywhere => TargetPath::Anywhere,
    };
    FileEffect { target, ..change.clone() }
}

/// The folders of a command line in lower case.
pub(super) fn context(context: &ExecContext) -> ExecContext {
    ExecContext {
        cwd: context.cwd.to_lowercase(),
        home: context.home.to_lowercase(),
        project: context.project.to_lowercase(),
        wrappers: context.wrappers.clone(),
        protected: context.protected,
    }
}

#[cfg(test)]
mod tests {
    use crate::facts::ProtectedPaths;
    use crate::facts::tool_effects::{AsWritten, PROTECTED_FILES, ResolveLinks, ToolEffects};
    use crate::host::event::Event;
    use serde_json::{Value, json};
    use shell_effects::{DiskView, Effect, ExecContext};

    /// A disk as that of a Mac.
    struct MacDisk;

    impl DiskView for MacDisk {}

    impl ResolveLinks for MacDisk {
        fn ignores_case(&self) -> bool {
            true
        }
    }

    fn found(tool: &str, input: &Value, links: &impl ResolveLinks) -> Option<String> {
        let text = json!({ "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input }).to_string();
        let event = Event::parse(text.as_bytes()).unwrap();
        let folders = ["/Users/Ann/App", "/Users/Ann", "/Users/Ann/App"].map(str::to_owned);
        let [cwd, home, project] = folders;
        let context = ExecContext { cwd, home, project, wrappers: Vec::new(), protected: &PROTECTED_FILES };
        let paths = ["~/.ssh/**", "**/.env", "/etc/**", ".claude/modes/*.yaml"];
        let mut protected = ProtectedPaths::default();
        protected.effects.extend([Effect::Write, Effect::Remove]);
        protected.paths = paths.iter().collect();
        let asked = protected.with_digest().into_query();
        ToolEffects::from_event(&event, context, links).touches(&asked).unwrap().map(|found| found.path)
    }

    #[test]
    fn case_does_not_matter_where_the_disk_ignores_it() {
        for (line, path) in [
            ("echo x > .ENV", "/Users/Ann/App/.ENV"),
            ("rm -rf ~/.SSH/keys", "/Users/Ann/.SSH/keys"),
            ("cd /users/ann/app && touch .Claude/Modes/Plan.YAML", "/users/ann/app/.Claude/Modes/Plan.YAML"),
            ("tee /ETC/hosts", "/ETC/hosts"),
        ] {
            let input = json!({ "command": line });
            assert_eq!(found("Bash", &input, &MacDisk).as_deref(), Some(path), "{line}");
            assert_eq!(found("Bash", &input, &AsWritten), None, "{line}");
        }
        let input = json!({ "file_path": "/USERS/ANN/APP/.Env" });
        assert_eq!(found("Write", &input, &MacDisk).as_deref(), Some("/USERS/ANN/APP/.Env"));
        assert_eq!(found("Write", &json!({ "file_path": "Env.md" }), &MacDisk), None);
    }
}
