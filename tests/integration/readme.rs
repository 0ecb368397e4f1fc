//! Compares the screens in the README with the program, and checks every link between documents.

use crate::project::Project;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

const README: &str = include_str!("../../README.md");

/// Lines that `modegate demo` prints.
const DEMO: &str = "\
…
The model starts the planner without research.
  event    PreToolUse(Agent strategic-planner)
  asked    which milestone is current? MS-001 Login
  asked    which files match project/MS-001_Login/research/research_*.md? none
  blocked  Research report not found. Call research-specialist first. No file matches project/MS-001_Login/research/research_*.md; …
…
The planner stops without a plan.
  event    SubagentStop(strategic-planner)
  asked    which milestone is current? MS-001 Login
  asked    which files match project/MS-001_Login/plans/plan_demo-session_*.md? none
  blocked  Plan not created. Continue working. No file matches project/MS-001_Login/plans/plan_demo-session_*.md; write …
…";

/// The block that follows a command in the README.
fn screen(command: &str) -> String {
    let opening = format!("```console\n$ {command}\n");
    let (_, rest) = README.split_once(&opening).expect("a screen");
    rest.split("```").next().unwrap().to_owned()
}

/// A screen without what differs between machines: folders, sizes, times, and notes about a debug build or a slow event,
/// which replaces the line about all events.
fn plain(text: &str, home: &str) -> String {
    let mut lines = Vec::new();
    let mut skip = false;
    for line in text.replace(home, "~/modegate-try").lines() {
        if line.contains("debug build") || line.contains(" took ") || skip {
            skip = !skip;
            continue;
        }
        if line.contains("events sent and answered correctly") {
            continue;
        }
        let is_number = |word: &str| word.parse::<f64>().is_ok_and(|_| word.contains('.'));
        let words = line.split_whitespace().map(|word| match word.strip_prefix('(') {
            Some(size) if is_number(size) => "(N",
            None if is_number(word) => "N",
            _ => word,
        });
        lines.push(words.collect::<Vec<_>>().join(" "));
    }
    lines.join("\n")
}

#[test]
fn the_screen_of_install_is_real() {
    let project = Project::new();
    project.git(&["init", "-q"]);
    let home = project.home().to_str().unwrap().to_owned();
    let output = project.run(&["install"]);
    assert_eq!(output.exit, 0, "{output:?}");
    assert_eq!(plain(&output.stdout, &home), plain(&screen("modegate install"), "~/modegate-try"));
    let output = project.run(&["doctor", "--live"]);
    assert_eq!(output.exit, 0, "{output:?}");
    assert!(output.stdout.contains("events sent and answered correctly"), "{output:?}");
}

/// Pastes the quick start into a shell whose home folder is empty.
#[test]
fn the_quick_start_works_as_written() {
    let project = Project::new();
    let (_, rest) = README.split_once("```sh\nmkdir ~/modegate-try").expect("the quick start");
    let block = format!("mkdir ~/modegate-try{}", rest.split("```").next().unwrap());
    let binary = Path::new(env!("CARGO_BIN_EXE_modegate")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut shell = project.plain("sh");
    shell.args(["-ec", &block]).env("HOME", project.home()).env("PATH", format!("{}:{path}", binary.display()));
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(project.home().join("modegate-try/.claude/settings.json").exists());
}

/// The picture has the words that the user and the model get for the prompt in it.
#[test]
fn the_picture_of_a_block_shows_the_real_message() {
    let picture = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/images/block.svg")).unwrap();
    let lines = picture.lines().filter_map(|line| line.strip_prefix("<text ")?.split_once('>')?.1.split('<').next());
    let shown = lines.collect::<Vec<_>>().join(" ");
    let project = Project::installed();
    let session = "fa6e6cff-d2b4-46e5-b70f-c9c4fc470065";
    let prompt = "/plan a login page. Call strategic-planner right away, without research.";
    assert!(shown.contains(prompt), "{shown}");
    let event = |more: serde_json::Value| {
        let mut event = json!({ "session_id": session, "cwd": project.home(), "transcript_path": "" });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        project.hook(&event)
    };
    event(json!({ "hook_event_name": "UserPromptSubmit", "prompt": prompt }));
    let call = json!({ "subagent_type": "strategic-planner", "prompt": "Plan.", "description": "Plan" });
    let reply = event(json!({ "hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": call })).json();
    let today = crate::project::today();
    let words = [&reply["systemMessage"], &reply["hookSpecificOutput"]["permissionDecisionReason"]];
    for text in words.map(|text| text.as_str().unwrap().replace(&today, "111626")) {
        assert!(shown.contains(&text), "{text} is not in {shown}");
    }
}

/// A text without what differs between runs: dates, times and durations.
fn timeless(text: &str) -> String {
    let times = [
        (r"\d{4}-\d\d-\d\d[ T][\d:.]+(Z| [A-Z+\d]+)", "TIME"),
        (r"\d+ s ago", "N s ago"),
        (r"decided in [\d.]+ (µs|ms)", "decided in N ms"),
        (r"_\d{6}\.md", "_DATE.md"),
    ];
    let replace = |text: String, (pattern, name): &(&str, &str)| {
        regex::Regex::new(pattern).unwrap().replace_all(&text, *name).into_owned()
    };
    times.iter().fold(text.to_owned(), replace)
}

/// Compares the lines of a screen with an output: `…` alone stands for any lines, at the end of a line for its rest.
#[track_caller]
fn shows(output: &str, screen: &str) {
    let (output, screen) = (timeless(output), timeless(screen));
    let mut rest: Vec<&str> = output.trim_end().lines().collect();
    let mut skips = false;
    for line in screen.trim_end().lines() {
        if line == "…" {
            skips = true;
            continue;
        }
        let is_it =
            |printed: &&str| line.strip_suffix('…').map_or(*printed == line, |start| printed.starts_with(start));
        let reach = if skips { rest.len() } else { 1 };
        let at = rest.iter().take(reach).position(is_it);
        assert!(at.is_some(), "`{line}` is not next in\n{}", rest.join("\n"));
        rest = rest.split_off(at.map_or(0, |at| at + 1));
        skips = false;
    }
    assert!(skips || rest.is_empty(), "not shown:\n{}", rest.join("\n"));
}

/// The screen after a command in a document.
fn document_screen(document: &str, command: &str) -> String {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(document)).unwrap();
    let (_, rest) = text.split_once(&format!("$ {command}\n")).expect("a screen of this command");
    let screen: Vec<&str> =
        rest.lines().take_while(|line| !line.starts_with("```") && !line.starts_with("$ ")).collect();
    screen.join("\n")
}

#[test]
fn the_demo_shows_a_blocked_start_and_a_blocked_stop() {
    shows(&Project::new().run(&["demo"]).stdout, DEMO);
}

/// Plays the quick start, and compares the commands that explain it.
#[test]
fn the_commands_print_what_the_readme_shows() {
    let project = Project::new();
    assert_eq!(project.run(&["install"]).exit, 0);
    let home = project.home().to_str().unwrap().to_owned();
    let send = |more: serde_json::Value| {
        let mut event =
            json!({ "session_id": "5f1c2b3a-7d40-4c1e-9a52-0d6b8e4f1c77", "cwd": home, "transcript_path": "" });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        project.hook(&event)
    };
    let call = |tool: &str, input: serde_json::Value| {
        send(json!({ "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input }))
    };
    send(json!({ "hook_event_name": "UserPromptSubmit", "prompt": "/plan a login page" }));
    call("Bash", json!({ "command": "ls docs" }));
    call("Agent", json!({ "subagent_type": "strategic-planner", "prompt": "Plan." }));
    let printed = |words: &[&str]| {
        let mut command = project.modegate();
        command.env_remove("MODEGATE_TRUST").env("TZ", "Europe/Berlin").args(words);
        crate::project::run_command(&mut command, b"").stdout.replace(&home, "~/modegate-try")
    };
    for command in ["status", "log", "why"] {
        shows(&printed(&[command]), &screen(&format!("modegate {command}")));
    }
    project.write(".claude/modegate.yaml", "levels: { plan-is-consulted: warn }\n");
    let trusted = printed(&["trust", "--yes"]);
    assert!(trusted.contains("with these files, modegate:\n  sets plan-is-consulted to `warn`"), "{trusted}");
}

/// Follows "Switching it off": an edit has an effect after `modegate trust`, and not before.
#[test]
fn a_gate_is_switched_off_as_the_readme_says() {
    let project = Project::new();
    let run = |words: &[&str], input: &str| {
        let mut command = project.modegate();
        crate::project::run_command(command.env_remove("MODEGATE_TRUST").args(words), input.as_bytes())
    };
    assert_eq!(run(&["install"], "").exit, 0);
    assert!(README.contains("After each edit of `.claude/modegate.yaml` or a mode file, run `modegate trust`"));
    let event = |more: serde_json::Value| {
        let mut event = json!({ "session_id": "s", "cwd": project.home(), "transcript_path": "" });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event.to_string()
    };
    run(&["hook"], &event(json!({ "hook_event_name": "UserPromptSubmit", "prompt": "/plan x" })));
    let call = json!({ "subagent_type": "strategic-planner", "prompt": "Plan." });
    let start = event(json!({ "hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": call }));
    project.write(".claude/modegate.yaml", "levels: { research-is-there: off }\n");
    assert_eq!(run(&["hook"], &start).exit, 2);
    assert_eq!(run(&["trust", "--yes"], "").exit, 0);
    assert_eq!(run(&["hook"], &start).exit, 0);
}

/// Follows the guide: saves the mode and the scenario in a project, and runs the scenario.
#[test]
fn the_tutorial_works_as_written() {
    let guide = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/modes.md")).unwrap();
    let block = |info: &str| {
        let (_, rest) = guide.split_once(&format!("```{info}\n")).expect("a block");
        rest.split("```").next().unwrap().to_owned()
    };
    let project = Project::installed();
    project.write(".claude/modes/release.yaml", block("yaml mode"));
    project.write("tests/release.scenario.yaml", block("yaml scenario"));
    let checked = project.run(&["modes", "check"]);
    assert_eq!(checked.exit, 0, "{checked:?}");
    let replayed = project.run(&["replay", "tests/release.scenario.yaml"]);
    assert_eq!(replayed.exit, 0, "{replayed:?}");
}

#[test]
fn a_replay_prints_what_the_documents_show() {
    let project = Project::new();
    let (_, rest) = README.split_once("mkdir softer && echo '").expect("the settings");
    project.write("softer/modegate.yaml", rest.split('\'').next().unwrap());
    let (root, modes) = (env!("CARGO_MANIFEST_DIR"), project.home().join("softer"));
    let recording = format!("{root}/fixtures/recordings/plan.jsonl");
    let output = project.run(&["replay", &recording, "--modes", modes.to_str().unwrap()]);
    assert_eq!(output.exit, 1, "{output:?}");
    let replayed = output.stdout.replace(&format!("{root}/"), "").replace(modes.to_str().unwrap(), "softer");
    shows(&replayed, &screen("modegate replay fixtures/recordings/plan.jsonl --modes softer"));
}

/// The gate that `docs/replay.md` adds.
fn no_planner() -> String {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/replay.md")).unwrap();
    let (_, rest) = text.split_once("base.yaml` is:\n\n```yaml\n").expect("the gate");
    rest.split("```").next().unwrap().to_owned()
}

#[test]
fn a_replay_of_the_demo_prints_what_its_page_shows() {
    let project = Project::new();
    let demo = project.run(&["demo", "--keep"]).stdout;
    let folder = PathBuf::from(demo.lines().last().unwrap().split_whitespace().last().unwrap().trim_end_matches('.'));
    let beside = folder.parent().unwrap().join("new-modes");
    fs::create_dir_all(&beside).unwrap();
    fs::write(beside.join("base.yaml"), no_planner()).unwrap();
    let run = |words: &[&str]| {
        let mut command = project.modegate();
        command.env_remove("CLAUDE_PROJECT_DIR").current_dir(&folder).args(words);
        let output = crate::project::run_command(&mut command, b"");
        output.stderr + &output.stdout
    };
    let (all, changed, blessed) = (
        run(&["replay"]),
        {
            run(&["record", "export", "last", "--out", "login.jsonl"]);
            run(&["replay", "login.jsonl", "--modes", "../new-modes"])
        },
        run(&["replay", "login.jsonl", "--bless"]),
    );
    let expected = fs::read_to_string(folder.join("login.expect.yaml")).unwrap();
    fs::remove_dir_all(folder.parent().unwrap()).unwrap();
    let page = "docs/replay.md";
    shows(&all, &document_screen(page, "modegate replay"));
    shows(&changed, &document_screen(page, "modegate replay login.jsonl --modes ../new-modes"));
    shows(&blessed, &document_screen(page, "modegate replay login.jsonl --bless"));
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
    assert!(text.contains(&expected.lines().take(10).collect::<Vec<_>>().join("\n")), "{expected}");
}

/// The Markdown files under a folder, `target` and hidden folders excluded.
fn documents(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && !name.starts_with('.') && name != "target" && name != "modes" {
            found.extend(documents(&path));
        } else if path.extension().is_some_and(|end| end == "md") {
            found.push(path);
        }
    }
    found
}

/// The anchors that GitHub gives to the headings of a document.
fn anchors(text: &str) -> Vec<String> {
    let mut fenced = false;
    let headings = text.lines().filter(|line| {
        fenced ^= line.starts_with("```");
        !fenced && line.starts_with('#')
    });
    let anchor = |heading: &str| -> String {
        let kept = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = kept.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn every_link_between_documents_has_a_target() {
    for path in documents(Path::new(env!("CARGO_MANIFEST_DIR"))) {
        let text = fs::read_to_string(&path).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(target.exists(), "{} links to {link}, which does not exist", path.display());
            if !anchor.is_empty() {
                let known = anchors(&fs::read_to_string(&target).unwrap());
                assert!(known.iter().any(|one| one == anchor), "{} links to {link}: {known:?}", path.display());
            }
        }
    }
}

#[test]
fn no_page_has_more_than_700_lines() {
    for path in documents(Path::new(env!("CARGO_MANIFEST_DIR"))) {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= 700, "{} has {lines} lines", path.display());
    }
    let map = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ARCHITECTURE.md")).unwrap();
    assert!(map.lines().count() <= 200, "docs/ARCHITECTURE.md has {} lines", map.lines().count());
}

/// Every word in backticks in the table of invariants is a path, or a test in the file named before it.
#[test]
fn every_invariant_names_tests_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("docs/dev/invariants.md")).unwrap();
    let (_, rest) = text.split_once("| invariant | tested by |\n").expect("the table of invariants");
    let rows: Vec<&str> = rest.lines().skip(1).take_while(|line| line.starts_with('|')).collect();
    assert!(rows.len() > 10, "{rows:#?}");
    for row in rows {
        let tests = row.rsplit('|').nth(1).unwrap();
        let mut source = String::new();
        assert!(tests.contains('`'), "no test is named in {row}");
        for word in tests.split('`').skip(1).step_by(2) {
            if word.contains('.') {
                source = fs::read_to_string(root.join(word)).unwrap_or_else(|error| panic!("{word}: {error}"));
            } else {
                assert!(source.contains(&format!("fn {word}(")), "there is no test `{word}`: {row}");
            }
        }
    }
}

#[test]
fn every_host_test_is_in_the_table_of_results() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = fs::read_to_string(root.join("tests/host/results.md")).unwrap();
    let mut count = 0;
    for entry in fs::read_dir(root.join("tests/host")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        for case in text.split("Case::new(").skip(1) {
            let name = case.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next());
            let Some(name) = name else { continue };
            assert!(
                table.contains(&format!(": {name} |")),
                "`{name}` of {} is not in tests/host/results.md",
                path.display()
            );
            count += 1;
        }
    }
    assert!(count > 40, "{count}");
}

/// The command lines of a document: inline code and lines of blocks that begin with `modegate`.
fn command_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut block: Option<&str> = None;
    for line in text.lines() {
        match (line.trim_start().strip_prefix("```"), block) {
            (Some(info), None) => block = Some(info),
            (Some(_), Some(_)) => block = None,
            (None, Some("sh")) => lines.push(line.trim().to_owned()),
            (None, Some("console")) => lines.extend(line.strip_prefix("$ ").map(str::to_owned)),
            (None, Some(_)) => {}
            (None, None) => lines.extend(line.split('`').skip(1).step_by(2).map(str::to_owned)),
        }
    }
    lines.retain(|line| line.starts_with("modegate ") && !line.contains(": "));
    lines
}

#[test]
fn every_command_line_in_the_documents_has_a_command_and_options_that_exist() {
    let project = Project::new();
    let mut help = std::collections::BTreeMap::<String, String>::new();
    for path in documents(Path::new(env!("CARGO_MANIFEST_DIR"))) {
        for line in command_lines(&fs::read_to_string(&path).unwrap()) {
            let line = line.split(['|', '>', '#', ';', '&']).next().unwrap().replace(['[', ']'], "");
            let words: Vec<&str> = line.split_whitespace().skip(1).collect();
            let (flags, words): (Vec<&str>, Vec<&str>) = words.into_iter().partition(|word| word.starts_with("--"));
            let Some(first) = words.iter().find(|word| word.chars().all(|letter| letter.is_ascii_lowercase())) else {
                continue;
            };
            let mut command = vec![*first];
            if ["modes", "record", "cache", "check"].contains(first) {
                let nested = words.iter().skip_while(|word| *word != first).nth(1);
                command.extend(nested.filter(|word| word.chars().all(|letter| letter.is_ascii_lowercase())));
            }
            let text = help.entry(command.join(" ")).or_insert_with(|| {
                let shown = project.run(&[&command[..], &["--help"]].concat());
                assert_eq!(shown.exit, 0, "{}: `{line}`: {shown:?}", path.display());
                shown.stdout
            });
            for flag in flags.iter().map(|flag| flag.split('=').next().unwrap()) {
                assert!(text.contains(flag), "{}: `{line}` has no {flag}", path.display());
            }
        }
    }
    assert!(help.len() > 15, "{:?}", help.keys());
}

#[test]
fn every_path_for_contributors_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for path in documents(&root.join("docs/dev"))
        .into_iter()
        .chain([root.join("docs/ARCHITECTURE.md"), root.join("CONTRIBUTING.md")])
    {
        let (document, text) = (path.display(), fs::read_to_string(&path).unwrap());
        let words = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
        let folders = ["src/", "crates/", "tests/", "fixtures/", "modes/", "docs/", "benches/", "examples/", "fuzz/"];
        for word in words.filter(|word| folders.iter().any(|folder| word.starts_with(folder))) {
            let placeholder = word.contains(['*', ' ']) || word.contains("KIND") || word.contains("NAME");
            assert!(placeholder || root.join(word).exists(), "{document}: there is no `{word}`");
        }
    }
}
