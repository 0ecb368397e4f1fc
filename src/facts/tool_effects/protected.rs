//! The files of the host and of modegate that decide about tool calls.

use shell_effects::ProtectedFiles;

/// What the analysis of command lines must know of them; the base mode names them, too.
pub(crate) static PROTECTED_FILES: ProtectedFiles = ProtectedFiles {
    folder: ".claude",
    subfolders: &["hooks", "sessions", "modes"],
    worktrees: "worktrees/",
    files: &[
        ("settings.json", "settings.json"),
        ("settings.local.json", "settings.local.json"),
        ("modegate.yaml", "modegate.yaml"),
        ("gates.json", "gates.json"),
        ("hooks.toml", "hooks.toml"),
        // Any mode in the folder counts.
        ("modes", "modes/any.yaml"),
        ("hooks/modegate", "hooks/modegate"),
        ("hooks/modegate.exe", "hooks/modegate.exe"),
        ("hooks/modegate.sh", "hooks/modegate.sh"),
        ("hooks/cache.json", "hooks/cache.json"),
        ("hooks/modes.bin", "hooks/modes.bin"),
        ("hooks/installed.json", "hooks/installed.json"),
        ("modegate/modegate", "modegate/modegate"),
    ],
    ends: &["/bin/modegate"],
    parts: &["/state/modegate"],
    program: "modegate",
    reading_commands: "status why log doctor modes help cache check replay --version --help",
    writing_options: "--html --junit --sarif --markdown --bless --out --output",
    report_options: "--html --junit --sarif --markdown --out",
    project_variable: "CLAUDE_PROJECT_DIR",
};
