//! The packages: their versions and platforms agree, and the launcher of the npm package runs the native program.

use crate::project::{CommandOutput, Project, run_command};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn text(path: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&file).expect(path)
}

/// The lines of a section of a TOML file, as keys and values.
fn section(path: &str, name: &str) -> Vec<(String, String)> {
    let whole = format!("\n{}", text(path));
    let (_, rest) = whole.split_once(&format!("\n[{name}]\n")).expect(name);
    let lines = rest.split("\n[").next().unwrap().lines().filter_map(|line| line.split_once(" = "));
    lines.map(|(key, value)| (key.to_owned(), value.trim_matches('"').to_owned())).collect()
}

fn value(path: &str, name: &str, key: &str) -> String {
    let found = section(path, name).into_iter().find(|(own, _)| own == key);
    found.expect(key).1
}

fn launcher() -> Value {
    serde_json::from_str(&text("npm/modegate/package.json")).unwrap()
}

/// The rows of the table of targets: target, npm platform, archive, tags of the wheel.
fn targets() -> Vec<Vec<String>> {
    let script = text("scripts/lib/targets.sh");
    let (_, rest) = script.split_once("TARGETS='\n").unwrap();
    let rows = rest.split('\'').next().unwrap().lines();
    rows.map(|row| row.split_whitespace().map(str::to_owned).collect()).collect()
}

#[test]
fn all_packages_have_one_version() {
    let version = env!("CARGO_PKG_VERSION");
    let launcher = launcher();
    assert_eq!(launcher["version"], version);
    for (name, wanted) in launcher["optionalDependencies"].as_object().unwrap() {
        assert_eq!(wanted, version, "{name}");
    }
    assert_eq!(value("pyproject.toml", "project", "version"), version);
}

#[test]
fn every_platform_has_a_package_and_a_job() {
    let targets = targets();
    let platforms: BTreeSet<String> = targets.iter().map(|row| format!("@modegate/{}", row[1])).collect();
    let launcher = launcher();
    let listed: BTreeSet<String> = launcher["optionalDependencies"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(platforms, listed);
    let (workflow, page) = (text(".github/workflows/release.yml"), text("docs/platforms.md"));
    for row in &targets {
        assert_eq!(row.len(), 4, "{row:?}");
        assert!(workflow.contains(&format!("target: {}", row[0])), "{} is not built by the workflow", row[0]);
        assert!(page.contains(&row[0]), "{} is not in docs/platforms.md", row[0]);
    }
}

#[test]
fn the_documents_name_the_oldest_supported_rust() {
    let version = value("Cargo.toml", "workspace.package", "rust-version");
    for page in ["README.md", "docs/dependencies.md"] {
        assert!(text(page).contains(&format!("Rust {version}")), "{page} names another version");
    }
}

#[test]
fn every_dependency_is_explained() {
    let names = ["dependencies", "target.'cfg(unix)'.dependencies"].map(|name| section("Cargo.toml", name)).concat();
    assert!(names.len() > 20, "{names:?}");
    let page = text("docs/dependencies.md");
    for (name, _) in names {
        assert!(page.contains(&format!("| `{name}`")), "`{name}` has no row in docs/dependencies.md");
    }
}

#[test]
fn the_verbose_version_tells_how_the_program_was_built() {
    let project = Project::new();
    let output = project.run(&["--version", "--verbose"]);
    assert_eq!(output.exit, 0, "{output:?}");
    assert_eq!(project.run(&["--verbose", "-V"]), output);
    assert_eq!(output.stdout.lines().next(), project.run(&["--version"]).stdout.lines().next());
    let value = |name: &str| {
        let mut values = output.stdout.lines().filter_map(|line| line.strip_prefix(name));
        values.next().expect(name).trim().to_owned()
    };
    assert!(value("target ").starts_with(std::env::consts::ARCH), "{output:?}");
    let folder = Path::new(env!("CARGO_BIN_EXE_modegate")).parent().unwrap();
    assert_eq!(value("profile "), folder.file_name().unwrap().to_str().unwrap());
    assert_eq!(value("features ").contains("tls"), cfg!(feature = "tls"));
    assert!(value("rustc ").starts_with("1."), "{output:?}");
}

/// A folder as npm leaves it: the launcher, and if `complete` the package of this platform.
struct NodeModules {
    project: Project,
    modules: PathBuf,
}

impl NodeModules {
    /// `None` without Node.js.
    fn new(complete: bool) -> Option<Self> {
        let project = Project::new();
        let script = "process.stdout.write(`${process.platform}-${process.arch}`)";
        let platform = project.plain("node").args(["-e", script]).output().ok()?;
        let platform = String::from_utf8(platform.stdout).unwrap();
        let modules = project.home().join("node_modules");
        for file in ["package.json", "bin/modegate.js"] {
            let copy = modules.join("modegate").join(file);
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            fs::write(copy, text(&format!("npm/modegate/{file}"))).unwrap();
        }
        if complete {
            let folder = modules.join("@modegate").join(platform);
            fs::create_dir_all(folder.join("bin")).unwrap();
            fs::write(folder.join("package.json"), "{}").unwrap();
            let name = format!("bin/modegate{}", std::env::consts::EXE_SUFFIX);
            fs::copy(env!("CARGO_BIN_EXE_modegate"), folder.join(name)).unwrap();
        }
        Some(Self { project, modules })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.project.plain("node");
        command.current_dir(self.project.home()).arg(self.modules.join("modegate/bin/modegate.js")).args(arguments);
        command
    }

    fn run(&self, arguments: &[&str], input: &str) -> CommandOutput {
        run_command(&mut self.command(arguments), input.as_bytes())
    }
}

#[test]
fn the_npm_launcher_passes_input_output_and_exit_codes() {
    let Some(npm) = NodeModules::new(true) else { return };
    npm.project.git(&["init", "-q"]);
    let installed = npm.run(&["install"], "");
    assert_eq!(installed.exit, 0, "{installed:?}");
    // The hook must not start Node.js.
    let program = npm.project.home().join(format!(".claude/hooks/modegate{}", std::env::consts::EXE_SUFFIX));
    assert!(fs::read(program).unwrap() == fs::read(env!("CARGO_BIN_EXE_modegate")).unwrap(), "another program");
    let event = |more: Value| {
        let mut event = json!({ "session_id": "s", "cwd": npm.project.home(), "transcript_path": "" });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        npm.run(&["hook"], &event.to_string())
    };
    event(json!({ "hook_event_name": "UserPromptSubmit", "prompt": "/plan x" }));
    let call = json!({ "subagent_type": "strategic-planner", "prompt": "Plan.", "description": "Plan" });
    let blocked = event(json!({ "hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": call }));
    assert_eq!(blocked.exit, 2, "{blocked:?}");
    assert!(blocked.stdout.contains("Research report not found"), "{blocked:?}");
    assert_eq!(npm.run(&["no-such-command"], "").exit, 64);
}

#[test]
fn the_npm_launcher_says_what_to_do_without_its_platform() {
    let Some(npm) = NodeModules::new(false) else { return };
    let output = npm.run(&["hook"], "{}");
    // Never 2: that would block.
    assert_eq!((output.exit, output.stdout.as_str()), (1, ""), "{output:?}");
    for part in ["is not installed", "hint: run `npm install --include=optional modegate@", "uvx modegate"] {
        assert!(output.stderr.contains(part), "{part} is not in {}", output.stderr);
    }
}

#[cfg(unix)]
#[test]
fn the_npm_launcher_ends_with_the_signal_of_the_program() {
    use std::os::unix::process::ExitStatusExt;
    let Some(npm) = NodeModules::new(true) else { return };
    let mut child = npm.command(&["hook"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
    // The program waits for its event; the launcher passes the signal on to it.
    std::thread::sleep(std::time::Duration::from_millis(500));
    // Waiting would close the input, and the program would end by itself.
    let _open = child.stdin.take();
    npm.project.plain("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(15));
}
