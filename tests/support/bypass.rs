//! A bypass: one tool call that tries to get past a gate of the base mode, and the expected result.
//!
//! `fixtures/bypasses/README.md` describes the format.

use crate::project::{CommandOutput, Project};
use libtest_mimic::{Failed, Trial};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, LazyLock};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bypass {
    #[serde(rename = "name")]
    about: String,
    // The call: one of these.
    run: Option<String>,
    write: Option<String>,
    edit: Option<Edit>,
    read: Option<String>,
    call: Option<ToolCall>,
    // What is written.
    #[serde(default)]
    text: String,
    // The expected result, and the gate that decides it.
    expect: Expected,
    by: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolCall {
    tool: String,
    input: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    file: String,
    old: String,
    new: String,
}

#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Expected {
    Blocked,
    Asked,
    Allowed,
}

/// A project that all bypasses are tried on; none of them is ever done.
type Stage = Arc<LazyLock<Project>>;

/// A trial for each bypass of `fixtures/bypasses`.
pub fn trials() -> Vec<Trial> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/bypasses");
    let stage: Stage = Arc::new(LazyLock::new(stage));
    let files = walkdir::WalkDir::new(&root).sort_by_file_name().into_iter().filter_map(Result::ok);
    let files = files.filter(|entry| entry.path().extension().is_some_and(|end| end == "yaml"));
    files.flat_map(|entry| of_file(entry.path(), &stage)).collect()
}

fn of_file(path: &Path, stage: &Stage) -> Vec<Trial> {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let bypasses: Vec<Bypass> = match serde_yaml::from_str(&std::fs::read_to_string(path).unwrap()) {
        Ok(bypasses) => bypasses,
        Err(error) => return vec![Trial::test(format!("bypasses/{name}"), move || Err(error.into()))],
    };
    let trial = |(at, bypass): (usize, Bypass)| {
        let (session, stage) = (format!("{name}-{at}"), Arc::clone(stage));
        Trial::test(format!("bypasses/{name}: {}", bypass.about), move || bypass.judge(&stage, &session))
    };
    bypasses.into_iter().enumerate().map(trial).collect()
}

/// Scripts that are read before they run; what the bad ones name does not exist.
const SCRIPTS: [(&str, &str); 26] = [
    ("bad/project/.claude/settings.json", "{}"),
    ("bad/program/.claude/hooks/modegate", "#!/bin/sh\n"),
    ("bad/modes/app/.claude/modes/own.yaml", "mode: own\n"),
    ("bad/own.patch", OWN_PATCH),
    ("scripts/fix.patch", "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -0,0 +1 @@\n+fn main() {}\n"),
    ("bad/fix.sh", "#!/bin/bash\nset -e\necho fixing\nrm -rf /etc/nonexistent-probe\n"),
    ("bad/plain", "rm -rf /etc/nonexistent-probe\n"),
    ("bad/argument.sh", "for d in \"$@\"; do rm -rf \"$d\"; done\n"),
    ("bad/condition.sh", "if [ -n \"$1\" ]; then\n  rm -rf \"$1\"\nfi\n"),
    ("bad/device.sh", "dd if=/dev/zero of=/dev/nonexistent-probe\n"),
    ("bad/keys.sh", "cp new ~/.ssh/id_rsa\n"),
    ("bad/hosts.sh", "echo 1 > /etc/nonexistent-probe\n"),
    ("bad/fix.py", "import shutil\n\nshutil.rmtree('/etc/nonexistent-probe')\n"),
    ("bad/fix.js", "const fs = require('fs');\nfs.rmSync('/etc/nonexistent-probe', { recursive: true });\n"),
    ("bad/fix.pl", "#!/usr/bin/env perl\nunlink('/etc/nonexistent-probe');\n"),
    ("bad/leave.sh", "cd src\nmodegate leave plan\n"),
    ("bad/state.sh", "# Resets the state.\nrm -f \"$ROOT/.claude/hooks/cache.json\"\n"),
    ("bad/state.py", "import os\nroot = os.getcwd()\nopen(root + '/.claude/hooks/cache.json', 'w').write('{}')\n"),
    ("bad/state.ts", "import { rmSync } from 'node:fs';\nrmSync('.claude/hooks', { recursive: true });\n"),
    ("bad/hooks.sh", "if true; then\n  mv new.json .claude/settings.json\nfi\n"),
    ("scripts/ordinary.sh", ORDINARY_SHELL),
    ("scripts/open.sh", "rm -rf dist\necho 'an open quote\n"),
    ("scripts/ordinary.py", ORDINARY_PYTHON),
    ("scripts/ordinary.js", ORDINARY_NODE),
    ("Makefile", MAKEFILE),
    ("package.json", PACKAGE),
];

const OWN_PATCH: &str = "\
--- a/.claude/modegate.yaml
+++ b/.claude/modegate.yaml
@@ -1 +1 @@
-levels: {}
+levels: { modegate-is-left-alone: off }
";

const ORDINARY_SHELL: &str = r#"#!/usr/bin/env bash
# Deploys. Hooks are in .claude/settings.json; see .claude/modes/own.yaml and `modegate leave`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
rm -rf dist "$BUILD_DIR" "${CACHE_DIR:?}/x" node_modules/.cache
rm -rf "$BUILD_DIR/"
cp .env.example .env
echo "API_KEY=" > .env.example
grep -q hooks .claude/settings.json && echo "see .claude/settings.json"
cat .claude/hooks/cache.json | head -1
modegate status
if [ "$(id -u)" = 0 ]; then cp dist/app /usr/bin/app; fi
[ -d /etc/app ] && rm -rf /etc/app
command -v app || ln -s "$PWD/dist/app" /usr/bin/app
case "${1:-}" in
  purge) rm -f /etc/systemd/system/app.service ;;
  *) echo "it's done" ;;
esac
uninstall() { rm -f /etc/app.conf; }
docker run --rm img bash -c 'rm -rf /var/lib/apt/lists/* /etc/x'
ssh host 'rm -rf /etc/app'
mkdir -p ~/.config/app && echo x > ~/.config/app/config
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
"#;

const ORDINARY_PYTHON: &str = r#"#!/usr/bin/env python3
"""Doesn't do much: cleans and builds."""
import os, shutil, subprocess

# shutil.rmtree('/etc')

def uninstall():
    os.remove("/etc/app.conf")
    open("/etc/app.conf", "w").write("x")

def main():
    shutil.rmtree("dist", ignore_errors=True)
    subprocess.run(["rm", "-rf", "build"])
    open(".env", "w").write("A=1")

main()
"#;

const ORDINARY_NODE: &str = r"const fs = require('fs');
const { execSync } = require('child_process');
// It's not `rm -rf /etc`.
fs.rmSync('dist', { recursive: true, force: true });
fs.writeFileSync('.env', 'A=1');
execSync('rm -rf build && mkdir build');
function purge() {
  fs.unlinkSync('/etc/app.conf');
}
";

const MAKEFILE: &str = "\
TARGET := /etc/nonexistent-probe
DIRS = dist \\
  build
.PHONY: all clean
all: build

build:
\tcargo build

clean: ## removes
\t@rm -rf $(DIRS) $(BUILD)/ $(shell pwd)/x

install: build
\tinstall -m 755 app $(DESTDIR)/usr/bin/app

wipe: clean wipe-system

wipe-system:
\t-@rm -rf $(TARGET)

remove:
\trm -rf $(WHAT)
";

const PACKAGE: &str = r#"{
  "name": "app",
  "scripts": {
    "build": "tsc && cp .env.example .env",
    "clean": "rm -rf dist coverage \"$OUT/\"",
    "test": "jest",
    "pretest": "npm run build",
    "wipe": "echo wiping && rm -rf /etc/nonexistent-probe",
    "postinstall": "husky",
    "premend": "modegate leave plan",
    "mend": "echo"
  }
}
"#;

/// A project as it is after `modegate install`, with a mode of its own and a link to its settings' folder.
fn stage() -> Project {
    // `$HOME` without quotes falls apart at a space.
    let project = Project::named("bypasses");
    project.write(".claude/settings.json", "{\n  \"model\": \"opus\",\n  \"theme\": \"dark\"\n}\n");
    let output = project.run(&["install"]);
    assert_eq!(output.exit, 0, "{output:?}");
    project.write(".claude/modes/own.yaml", "mode: own\nabout: The project's own.\n");
    project.write(".claude/hooks/cache.json", "{}");
    project.write("src/main.rs", "");
    for (path, text) in SCRIPTS {
        project.write(path, text);
    }
    project.shell("ln -s .claude linked && ln -s /etc/ssl to-system && ln -s .claude/hooks/modegate other-name && cp .claude/hooks/modegate copied-name && git init -q -b main && git add -A && git commit -q -m start");
    // Secrets that exist.
    project.shell("mkdir -p config deploy ~/.aws && touch .env .env.production config/.env key.pem ca-key.pem keycert.pem deploy/id_rsa.pem deploy/privkey.pem ~/.aws/credentials ~/.npmrc ~/.netrc ~/.git-credentials");
    project
}

impl Bypass {
    fn judge(&self, project: &Project, session: &str) -> Result<(), Failed> {
        let home = project.home();
        let user = home.parent().unwrap().to_string_lossy().into_owned();
        let home = home.to_string_lossy().into_owned();
        let filled = |text: &str| text.replace("{home}", &home).replace("{user}", &user);
        let (tool, input) = self.call(filled).ok_or("a bypass is one of `run`, `write`, `edit`, `read` and `call`")?;
        let output = project.hook(&json!({
            "hook_event_name": "PreToolUse", "session_id": session, "cwd": home, "tool_name": tool,
            "tool_input": input, "tool_use_id": "toolu_1",
        }));
        let report = |what: String| {
            Err(format!("{what}\n  {tool} {input}\n  exit {}\n  {}{}", output.exit, output.stderr, output.stdout)
                .into())
        };
        let was = outcome(&output);
        if was != Some(self.expect) {
            return report(format!("expected {:?}, was {was:?}", self.expect));
        }
        let line = project.journal(session).pop();
        let stood = |gate: &String| {
            let finding = line.as_ref()?.findings.iter().find(|finding| finding.gate == *gate)?;
            Some(["block", "ask"].contains(&finding.verdict.word()))
        };
        match &self.by {
            Some(gate) if stood(gate) != Some(true) => report(format!("`{gate}` has nothing against it")),
            None if self.expect != Expected::Allowed => report("a gate is to be named in `by`".to_owned()),
            _ => Ok(()),
        }
    }

    fn call(&self, filled: impl Fn(&str) -> String) -> Option<(&str, Value)> {
        let call = match self {
            Self { run: Some(line), .. } => ("Bash", json!({"command": filled(line)})),
            Self { write: Some(file), .. } => ("Write", json!({"file_path": filled(file), "content": self.text})),
            Self { read: Some(file), .. } => ("Read", json!({"file_path": filled(file)})),
            Self { edit: Some(Edit { file, old, new }), .. } => {
                ("Edit", json!({"file_path": filled(file), "old_string": old, "new_string": new}))
            }
            Self { call: Some(ToolCall { tool, input }), .. } => {
                (tool.as_str(), serde_json::from_str(&filled(&input.to_string())).unwrap())
            }
            _ => return None,
        };
        Some(call)
    }
}

fn outcome(output: &CommandOutput) -> Option<Expected> {
    match output.exit {
        2 => Some(Expected::Blocked),
        0 if output.json()["hookSpecificOutput"]["permissionDecision"] == "ask" => Some(Expected::Asked),
        0 => Some(Expected::Allowed),
        _ => None,
    }
}
