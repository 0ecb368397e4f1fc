//! What a task is for, by its name.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Test,
    /// It checks code without running it.
    Lint,
    Build,
    Format,
}

impl Purpose {
    pub const ALL: [Self; 4] = [Self::Test, Self::Lint, Self::Build, Self::Format];

    pub fn variable(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Lint => "lint",
            Self::Build => "build",
            Self::Format => "format",
        }
    }

    /// The purpose of a task of this name: `test`, `test:unit`, `lint-fix`, `check_types`.
    pub(super) fn of_task(name: &str) -> Option<Self> {
        let lower = name.to_lowercase();
        let parts: Vec<&str> = lower.split([':', '-', '_', '.', '/']).filter(|part| !part.is_empty()).collect();
        let has = |words: &[&str]| parts.iter().any(|part| words.contains(part));
        if has(&NOT_A_RUN) {
            return None;
        }
        match parts.as_slice() {
            ["test" | "tests" | "spec" | "specs" | "e2e" | "pytest" | "jest" | "vitest", ..]
            | [.., "test" | "tests"] => Some(Self::Test),
            ["lint" | "typecheck" | "types" | "clippy" | "mypy" | "ruff" | "eslint" | "tsc" | "vet", ..]
            | ["type", "check"]
            | ["check", "types"]
            | [.., "lint"] => Some(Self::Lint),
            ["fmt" | "format" | "prettier", ..] => Some(Self::Format),
            ["build" | "compile", ..] => Some(Self::Build),
            _ => None,
        }
    }
}

/// Words of tasks that do not end, or only prepare or clean up.
const NOT_A_RUN: [&str; 17] = [
    "watch", "dev", "debug", "ui", "open", "serve", "setup", "teardown", "clean", "install", "update", "record", "gen",
    "generate", "fixtures", "report", "image",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_task_says_what_it_is_for() {
        for (name, purpose) in [
            ("test", Some(Purpose::Test)),
            ("test:unit", Some(Purpose::Test)),
            ("test-e2e", Some(Purpose::Test)),
            ("unit-test", Some(Purpose::Test)),
            ("test:watch", None),
            ("latest", None),
            ("lint:fix", Some(Purpose::Lint)),
            ("check-types", Some(Purpose::Lint)),
            ("fmt", Some(Purpose::Format)),
            ("build", Some(Purpose::Build)),
            ("build-image", None),
            ("deploy", None),
        ] {
            assert_eq!(Purpose::of_task(name), purpose, "{name}");
        }
    }
}
