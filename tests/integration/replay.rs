//! `modegate replay`: recorded events are decided again, and differences are reported.

use crate::project::today;
use crate::project::{CommandOutput, Project};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn fixture(name: &str) -> String {
    format!("{ROOT}/fixtures/recordings/{name}")
}

/// A project without modes of its own, in which to replay.
fn elsewhere() -> Project {
    Project::new()
}

fn replay(project: &Project, words: &[&str]) -> CommandOutput {
    project.run(&[&["replay"], words].concat())
}

/// The decisions that `--json` prints.
fn retrials(output: &CommandOutput) -> Vec<Value> {
    output.stdout.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// The lines of a journal or recording.
fn lines(path: &str) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

/// Writes a recording into the project and gives its path.
fn put(project: &Project, name: &str, lines: &[String]) -> String {
    project.write(name, lines.join("\n") + "\n");
    project.home().join(name).to_string_lossy().into_owned()
}

/// A journal of a few events that were played in a project.
fn played() -> (Project, PathBuf) {
    let project = Project::installed();
    let event = |value: Value| project.hook(&value);
    event(json!({"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt_id": "p", "prompt": "/plan x"}));
    let start = json!({"hook_event_name": "PreToolUse", "session_id": "s1", "tool_name": "Agent",
        "tool_input": {"subagent_type": "strategic-planner", "prompt": "x"}});
    event(start.clone());
    project.write("project/research/research_x_010126.md", "# Research\n");
    event(start);
    let stop = json!({"hook_event_name": "SubagentStop", "session_id": "s1", "agent_id": "a", "agent_type": "strategic-planner"});
    event(stop.clone());
    project.write(&format!("project/plans/plan_s1_{}.md", today()), "# Plan\n");
    event(stop);
    event(
        json!({"hook_event_name": "PreToolUse", "session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "terraform apply"}}),
    );
    let journal = project.home().join(".claude/hooks/sessions/s1.jsonl");
    (project, journal)
}

#[test]
fn the_recordings_of_the_six_modes_have_no_drift() {
    let output = replay(&elsewhere(), &[&fixture("")]);
    assert_eq!(output.exit, 0, "{}{}", output.stdout, output.stderr);
    assert!(output.stdout.contains("All decisions are unchanged."), "{}", output.stdout);
    assert!(!output.stdout.contains("problem"), "{}", output.stderr);
}

#[test]
fn the_streams_of_the_host_run_as_recordings() {
    let output = replay(&elsewhere(), &[&fixture("streams")]);
    assert_eq!(output.exit, 0, "{}{}", output.stdout, output.stderr);
    assert!(output.stdout.contains("149 events in 12 sessions, 5 blocked."), "{}", output.stdout);
    assert!(output.stdout.contains("149 expectations met, 0 not met."), "{}", output.stdout);
}

#[test]
fn a_fresh_journal_is_decided_the_same() {
    let (project, journal) = played();
    for words in [vec![], vec!["."], vec![journal.to_str().unwrap()], vec!["s1"], vec!["last"]] {
        let output = replay(&project, &words);
        assert_eq!(output.exit, 0, "{}{}", output.stdout, output.stderr);
        assert!(
            output.stdout.starts_with("6 events in 1 session, 2 blocked. All decisions are unchanged."),
            "{}",
            output.stdout
        );
        assert_eq!(output.stderr, "");
    }
}

#[test]
fn an_unknown_session_id_is_an_error() {
    let (project, _) = played();
    let output = replay(&project, &["nope"]);
    assert_eq!(output.exit, 66);
    assert!(output.stderr.starts_with("error: no session `nope` in "), "{}", output.stderr);
    assert!(output.stderr.contains("\n  hint: "), "{}", output.stderr);
}

#[test]
fn a_changed_mode_shows_exactly_its_flips() {
    let project = elsewhere();
    let changed = std::fs::read_to_string(format!("{ROOT}/modes/plan.yaml")).unwrap();
    let changed = changed.replace("Plan not created. Continue working.", "There is no plan yet.");
    let changed = changed.replace("id: research-is-there", "id: research-is-there\n        level: warn");
    project.write("changed/plan.yaml", changed);
    let output = replay(&project, &[&fixture("demo.jsonl"), "--modes", "changed", "--json"]);
    assert_eq!(output.exit, 1);
    let flips: Vec<String> = retrials(&output)
        .iter()
        .filter(|one| one["change"] != "same")
        .map(|one| format!("{} {} {}", one["line"], one["change"].as_str().unwrap(), one["gates"]))
        .collect();
    assert_eq!(flips, [r#"3 newly_allowed ["research-is-there"]"#, r#"6 changed_reason ["plan-is-written"]"#]);
    let output = replay(&project, &[&fixture("demo.jsonl"), "--modes", "changed"]);
    for text in [
        "newly allowed  PreToolUse(Agent strategic-planner)",
        "before   block: Research report not found.",
        "now      warn",
        "gate     research-is-there [plan mode, phase draft] fails: no file matches",
        "asked    which files match",
        "2 of 11 differ from the recorded decision: 1 newly allowed, 1 changed reason.",
    ] {
        assert!(output.stdout.contains(text), "{text}\n{}", output.stdout);
    }
}

#[test]
fn the_modes_of_the_working_tree_are_used_if_there_are_any() {
    let project = elsewhere();
    project.write(".claude/modegate.yaml", "levels: { plan-is-written: observe }\n");
    let changes = |words: &[&str]| {
        let output = replay(&project, &[&[&fixture("demo.jsonl"), "--json"], words].concat());
        let changed = retrials(&output).into_iter().filter(|one| one["change"] != "same");
        (output.exit, changed.map(|one| one["change"].as_str().unwrap().to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(changes(&[]), (1, vec!["newly_allowed".to_owned()]));
    assert_eq!(changes(&["--modes", "."]), (1, vec!["newly_allowed".to_owned()]));
    assert_eq!(changes(&["--modes", "recorded"]), (0, vec![]));
}

#[test]
fn a_missing_answer_is_undecidable_unless_the_event_contains_it() {
    let (project, _) = played();
    let rule = |check: &str| {
        format!("mode: base\ngates:\n  - {{ id: new-rule, on: PreToolUse(Bash), if: {check}, deny: Not here. }}\n")
    };
    let changes = |check: &str| {
        project.write("changed/base.yaml", rule(check));
        let output = replay(&project, &["--modes", "changed", "--json"]);
        let found = retrials(&output).into_iter().filter(|one| one["change"] != "same").collect::<Vec<_>>();
        (output.exit, found)
    };
    let (exit, found) = changes("{ calls: [terraform apply] }");
    assert_eq!((exit, found.len()), (1, 1));
    assert_eq!((&found[0]["change"], &found[0]["gates"]), (&json!("newly_blocked"), &json!(["new-rule"])));
    let (exit, found) = changes("{ file: infra/*.tf }");
    assert_eq!((exit, found.len()), (1, 1));
    assert_eq!(found[0]["change"], "undecidable");
    assert_eq!(found[0]["unrecorded"], json!(["which files match infra/*.tf?"]));
    let (exit, found) = changes("{ calls: [kubectl] }");
    assert_eq!((exit, found.len()), (0, 0), "a rule that does not match changes nothing: {found:?}");
}

#[test]
fn a_decision_that_is_not_the_recorded_one_is_drift() {
    let project = elsewhere();
    let mut recorded = lines(&fixture("demo.jsonl"));
    recorded[2] = recorded[2].replace("\"verdict\":\"block\"", "\"verdict\":\"warn\"");
    recorded[8] = recorded[8].replace("\"count\":1", "\"count\":2");
    let path = put(&project, "tampered.jsonl", &recorded);
    let output = replay(&project, &[&path]);
    assert_eq!(output.exit, 1);
    for text in [
        "drift  PreToolUse(Agent strategic-planner)",
        "tampered.jsonl:3",
        "before   warn: Research report not found.",
        "now      block: Research report not found.",
        "gate     research-is-there",
        "asked    which files match",
        "2 of 11 differ from the recorded decision: 2 drift.",
    ] {
        assert!(output.stdout.contains(text), "{text}\n{}", output.stdout);
    }
}

#[test]
fn whitespace_differences_are_not_drift() {
    let project = elsewhere();
    let spaced = lines(&fixture("demo.jsonl"));
    let spaced: Vec<String> = spaced.iter().map(|line| line.replace("\":", "\" : ").replace("},{", "}, {")).collect();
    let path = put(&project, "spaced.jsonl", &spaced);
    assert_eq!(replay(&project, &[&path]).exit, 0);
}

#[test]
fn bad_input_is_reported_with_its_location_and_the_rest_is_replayed() {
    let project = elsewhere();
    let good = lines(&fixture("plan.jsonl"));
    let last = good.last().unwrap().clone();
    let mut bad = good.clone();
    bad[3] = bad[3].replace("{\"v\":1,", "{\"v\":2,");
    bad.insert(5, good[4].clone());
    bad.insert(7, format!("{{\"v\":1,\"x\":\"{}\"}}", "y".repeat(10_000_001)));
    bad.insert(9, "{\"v\":1,\"event\":{}}".to_owned());
    bad.insert(10, "no json".to_owned());
    bad.push(last[..last.len() / 2].to_owned());
    project.write("corpus/bad.jsonl", bad.join("\n"));
    project.write("corpus/notes.jsonl", "{\"hello\":1}\n");
    project.write("corpus/empty.jsonl", "");
    project.write("corpus/picture.png", [0_u8, 159, 146, 150]);
    project.write("corpus/deep/binary.jsonl", [0_u8, 159, 146, 150, 10, 255]);
    let output = replay(&project, &["corpus"]);
    for text in [
        "corpus/bad.jsonl:4: the line has format 2, written by a newer modegate; this one reads 1",
        "corpus/bad.jsonl:6: duplicate event; it is counted once",
        "corpus/bad.jsonl:8: the line has 10000015 bytes; the limit is 10000000",
        "corpus/bad.jsonl:10: the line cannot be decided: ",
        "corpus/bad.jsonl:11: the line is not JSON: expected ident at column 2",
        &format!("corpus/bad.jsonl:{}: the last line is cut off", bad.len()),
        "corpus/notes.jsonl: not a journal, an event stream or a transcript",
        "corpus/empty.jsonl: empty file",
        "corpus/deep/binary.jsonl: not a journal, an event stream or a transcript",
        "skipped (not a recording): corpus/picture.png",
    ] {
        assert!(output.stderr.contains(text), "{text}\n{}", output.stderr);
    }
    assert_eq!(output.exit, 0, "{}", output.stdout);
    let events = good.len() - 2;
    assert!(output.stdout.contains(&format!("{events} events in 1 session")), "{}", output.stdout);
}

#[test]
fn a_missing_event_and_a_clock_that_went_back_are_reported() {
    let project = elsewhere();
    let good = lines(&fixture("demo.jsonl"));
    let mut gone = good.clone();
    // The event that ended the draft.
    let end = gone.iter().position(|line| line.contains("plan: draft done")).unwrap();
    gone.remove(end);
    let path = put(&project, "gone.jsonl", &gone);
    let output = replay(&project, &[&path]);
    let text =
        format!("gone.jsonl:{}: the session state does not follow from the line before: an event is missing", end + 1);
    assert!(output.stderr.contains(&text), "{}", output.stderr);
    let mut back = good.clone();
    let year = back[4].find("\"at\":\"20").unwrap() + 6;
    back[4].replace_range(year..year + 4, "2001");
    let path = put(&project, "back.jsonl", &back);
    let output = replay(&project, &[&path]);
    assert!(output.stderr.contains("back.jsonl:5: the clock went backwards"), "{}", output.stderr);
    assert_eq!(output.stderr.matches("clock").count(), 1, "{}", output.stderr);
    assert!(output.stdout.contains("11 events"), "{}", output.stdout);
}

#[test]
fn a_recording_of_a_newer_format_is_reported() {
    let project = elsewhere();
    let mut newer = lines(&fixture("demo.jsonl"));
    newer[0] = newer[0].replace("{\"recording\":1,", "{\"recording\":9,");
    let path = put(&project, "newer.jsonl", &newer);
    let output = replay(&project, &[&path]);
    assert!(output.stderr.contains("newer.jsonl:1: the recording has format 9"), "{}", output.stderr);
    assert!(output.stdout.contains("11 events"), "{}", output.stdout);
}

#[test]
fn expectations_are_blessed_met_and_missed() {
    let project = elsewhere();
    let recorded = lines(&fixture("demo.jsonl"));
    let path = put(&project, "demo.jsonl", &recorded);
    let output = replay(&project, &[&path, "--bless"]);
    assert_eq!(output.exit, 0, "{}", output.stderr);
    let sidecar = project.read("demo.expect.yaml");
    assert!(sidecar.contains("events: 11\n") && sidecar.contains("verdict: block"), "{sidecar}");
    let output = replay(&project, &[&path]);
    assert_eq!(output.exit, 0, "{}", output.stdout);
    assert!(output.stdout.contains("11 expectations met, 0 not met."), "{}", output.stdout);
    // A difference that is not expected, although nothing has drifted.
    project.write("demo.expect.yaml", sidecar.replacen("verdict: block", "verdict: pass", 1));
    let output = replay(&project, &[&path]);
    assert_eq!(output.exit, 1);
    assert!(output.stdout.contains("not as expected  PreToolUse(Agent strategic-planner)"), "{}", output.stdout);
    assert!(output.stdout.contains("expected pass"), "{}", output.stdout);
    // An event that has gone.
    project.write("demo.expect.yaml", &sidecar);
    put(&project, "demo.jsonl", &recorded[..recorded.len() - 1]);
    let output = replay(&project, &[&path]);
    assert_eq!(output.exit, 1);
    assert!(output.stderr.contains("demo.jsonl: expected 11 events, found 10"), "{}", output.stderr);
    // A file that cannot be read is not the same as none.
    project.write("demo.expect.yaml", "events: many\n");
    let output = replay(&project, &[&path]);
    assert_eq!(output.exit, 1);
    assert!(output.stderr.contains("demo.expect.yaml: "), "{}", output.stderr);
}

#[test]
fn a_flip_that_is_expected_is_fine() {
    let project = elsewhere();
    project.write(".claude/modegate.yaml", "levels: { plan-is-written: observe }\n");
    let path = put(&project, "demo.jsonl", &lines(&fixture("demo.jsonl")));
    assert_eq!(replay(&project, &[&path]).exit, 1);
    replay(&project, &[&path, "--bless"]);
    let output = replay(&project, &[&path]);
    assert_eq!(output.exit, 0, "{}", output.stdout);
    assert!(output.stdout.contains("1 newly allowed. 1 of these is expected."), "{}", output.stdout);
}

#[test]
fn expect_lines_apply_to_their_events() {
    let project = elsewhere();
    let stream = |expect: &str| {
        let event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/home/ann/app",
            "transcript_path": "/home/ann/.claude/projects/-home-ann-app/s.jsonl",
            "tool_name": "Bash", "tool_input": {"command": "rm -rf /"}});
        put(&project, "stream.jsonl", &[event.to_string(), expect.to_owned()])
    };
    for (expect, exit) in [
        (r#"{"expect": "block"}"#, 0),
        (r#"{"expect": "blocked"}"#, 0),
        (r#"{"expect": {"verdict": "block", "because": ["/"]}}"#, 0),
        (r#"{"expect": "pass"}"#, 1),
        (r#"{"expect": "blokked"}"#, 1),
        (r#"{"expect": {"because": ["moon"]}}"#, 1),
    ] {
        let output = replay(&project, &[&stream(expect)]);
        assert_eq!(output.exit, exit, "{expect}\n{}{}", output.stdout, output.stderr);
    }
    // The same in the lines of a journal.
    let mut recorded = lines(&fixture("demo.jsonl"));
    recorded.insert(3, r#"{"expect": "blocked"}"#.to_owned());
    recorded.push(r#"{"expect": "blocked"}"#.to_owned());
    let path = put(&project, "demo.jsonl", &recorded);
    let output = replay(&project, &[&path]);
    assert_eq!(output.exit, 1);
    assert!(output.stdout.contains("1 expectation met, 1 not met."), "{}", output.stdout);
}

#[test]
fn shards_are_disjoint_and_complete() {
    let project = elsewhere();
    for name in ["demo", "explore", "research", "plan", "code", "code-review"] {
        put(&project, &format!("corpus/{name}.jsonl"), &lines(&fixture(&format!("{name}.jsonl"))));
    }
    let folder = "corpus";
    let whole = replay(&project, &[folder, "--json"]);
    let place = |one: &Value| format!("{}:{}", one["file"], one["line"]);
    let mut all: Vec<String> = retrials(&whole).iter().map(place).collect();
    let mut parts = Vec::new();
    let mut found: Vec<String> = Vec::new();
    for part in 1..=3 {
        let output = replay(&project, &[folder, "--json", "--partition", &format!("{part}/3")]);
        let again = replay(&project, &[folder, "--json", "--partition", &format!("{part}/3"), "--threads", "1"]);
        assert_eq!(output.stdout, again.stdout, "the order does not hang on threads");
        let mut decided = retrials(&output);
        assert_eq!(decided.pop(), Some(json!({"end": {"shard": part, "of": 3}})));
        let sessions: std::collections::BTreeSet<String> =
            decided.iter().map(|one| one["session"].to_string()).collect();
        found.extend(decided.iter().map(place));
        parts.push(sessions);
        project.write(&format!("part-{part}.json"), &output.stdout);
    }
    assert!(parts.iter().filter(|sessions| !sessions.is_empty()).count() > 1);
    assert!(parts[0].is_disjoint(&parts[1]) && parts[1].is_disjoint(&parts[2]) && parts[0].is_disjoint(&parts[2]));
    all.sort();
    found.sort();
    assert_eq!(all, found);
    let names = ["part-1.json", "part-2.json", "part-3.json"];
    let joined = replay(&project, &[&["--merge", "--junit", "a.xml", "--html", "a.html"], &names[..]].concat());
    let direct = replay(&project, &[folder]);
    assert_eq!((joined.exit, joined.stdout), (direct.exit, direct.stdout));
    let again = replay(&project, &[&["--merge", "--json"], &names[..]].concat());
    assert_eq!(retrials(&again).len(), all.len());
    project.write("part-1.json", "{\"half\":");
    let output = replay(&project, &["--merge", "part-1.json", "part-2.json", "part-3.json"]);
    assert_eq!(output.exit, 1, "a part that cannot be read is not fine: {}", output.stdout);
    let output = replay(&project, &["--merge", "part-1.json"]);
    assert_eq!(output.exit, 66, "{}", output.stderr);
}

#[test]
fn reports_are_complete() {
    let project = elsewhere();
    project.write("changed/plan.yaml", "mode: plan\nextends: builtin\nphases:\n  - phase: draft\n    agent: strategic-planner\n    after:\n      - id: plan-is-written\n        check: { file: plan }\n        else: No <plan> & \"nothing\".\n");
    let words = ["--modes", "changed", "--junit", "r.xml", "--sarif", "r.sarif", "--html", "r.html"];
    let output = replay(&project, &[&[fixture("demo.jsonl").as_str()], &words[..]].concat());
    assert_eq!(output.exit, 1, "{}{}", output.stdout, output.stderr);
    let xml = project.read("r.xml");
    assert!(xml.contains("<testsuite name=\"demo-session\"") && xml.ends_with("</testsuites>\n"), "{xml}");
    assert!(xml.contains("No &lt;plan&gt; &amp;"), "{xml}");
    let sarif: Value = serde_json::from_str(&project.read("r.sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert!(results.iter().any(|result| result["ruleId"] == "plan-is-written"), "{sarif}");
    let place = &results.iter().find(|result| result["ruleId"] == "plan-is-written").unwrap()["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "changed/plan.yaml");
    let html = project.read("r.html");
    assert!(html.contains("demo-session") && html.contains("\\u003cplan>") && !html.contains("No <plan>"));
    let left =
        std::fs::read_dir(project.home()).unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    assert!(!left.into_iter().any(|name| Path::new(&name).extension().is_some_and(|end| end == "tmp")));
}

#[test]
fn github_actions_gets_annotations_and_a_summary() {
    let project = elsewhere();
    project.write(
        ".claude/modes/plan.yaml",
        std::fs::read_to_string(format!("{ROOT}/modes/plan.yaml")).unwrap().replace("Plan not created.", "No plan."),
    );
    let mut command = project.modegate();
    command.args(["replay", &fixture("demo.jsonl")]).env("GITHUB_ACTIONS", "true");
    command.env("GITHUB_STEP_SUMMARY", project.home().join("summary.md"));
    let output = crate::project::run_command(&mut command, b"");
    let line = output.stdout.lines().find(|line| line.starts_with("::error ")).expect("an annotation");
    assert!(line.starts_with("::error file=.claude/modes/plan.yaml,line="), "{line}");
    assert!(
        project
            .read("summary.md")
            .contains("| changed reason | SubagentStop(strategic-planner) | block | block | plan-is-written |")
    );
}

#[test]
fn a_markdown_summary_lists_what_changes_and_what_is_accepted() {
    let project = elsewhere();
    let plan = std::fs::read_to_string(format!("{ROOT}/modes/plan.yaml")).unwrap();
    project.write(".claude/modes/plan.yaml", plan.replace("Plan not created.", "No plan, @team | all."));
    project.write("demo.jsonl", std::fs::read(fixture("demo.jsonl")).unwrap());
    let output = replay(&project, &["demo.jsonl", "--modes", ".", "--markdown", "flips.md"]);
    assert_eq!(output.exit, 1);
    let text = project.read("flips.md");
    assert!(text.starts_with("### modegate replay\n\n11 events in 1 session"), "{text}");
    assert!(text.contains("| plan-is-written | 0 | 0 | 1 |"), "{text}");
    assert!(
        text.contains("| changed reason | SubagentStop(strategic-planner) | block | block | plan-is-written |"),
        "{text}"
    );
    assert!(text.contains("  - now: block: No plan, &#64;team \\| all."), "{text}");
    assert_eq!(replay(&project, &["demo.jsonl", "--modes", ".", "--bless"]).exit, 0);
    assert_eq!(replay(&project, &["demo.jsonl", "--modes", ".", "--markdown", "flips.md"]).exit, 0);
    assert!(project.read("flips.md").contains("| changed reason (accepted) |"), "{}", project.read("flips.md"));
}

#[test]
fn a_stream_is_decided_with_the_facts_of_a_real_folder() {
    let project = Project::installed();
    let stream = [
        json!({"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt_id": "p", "prompt": "/plan x"}),
        json!({"hook_event_name": "PreToolUse", "session_id": "s1", "tool_name": "Agent",
            "tool_input": {"subagent_type": "strategic-planner", "prompt": "x"}}),
    ];
    let path = put(&project, "stream.jsonl", &stream.map(|event| event.to_string()));
    let outcome = |words: &[&str]| {
        let output = replay(&elsewhere(), &[&[path.as_str(), "--json"], words].concat());
        let last = retrials(&output).pop().unwrap();
        (last["outcome"].as_str().unwrap().to_owned(), last["change"].as_str().unwrap().to_owned())
    };
    let home = project.home().to_string_lossy().into_owned();
    assert_eq!(outcome(&["--project", &home]), ("blocked".to_owned(), "new".to_owned()));
    project.write("project/research/research_x_010126.md", "# Research\n");
    assert_eq!(outcome(&["--project", &home]), ("allowed".to_owned(), "new".to_owned()));
    // Without a project folder the answer is unknown.
    assert_eq!(outcome(&[]), ("blocked".to_owned(), "undecidable".to_owned()));
    assert!(!project.home().join(".claude/hooks/cache.json").exists(), "a replay leaves no trace");
    assert!(!project.home().join(".claude/hooks/sessions").exists(), "a replay leaves no trace");
}

#[test]
fn a_scenario_runs_programs_only_with_shell() {
    let project = elsewhere();
    project.write("s.yaml", "about: x\nsteps:\n  - shell: touch it\n  - prompt: /plan\n    expect: context\n");
    let output = replay(&project, &["s.yaml"]);
    assert_eq!(output.exit, 1);
    assert!(output.stderr.contains("s.yaml: the scenario runs programs; allow it with `--shell`"), "{}", output.stderr);
    let output = replay(&project, &["s.yaml", "--shell"]);
    assert_eq!(output.exit, 0, "{}{}", output.stdout, output.stderr);
    project.write("out.yaml", "about: x\nfiles: { ../../out.txt: x }\nsteps: []\n");
    let output = replay(&project, &["out.yaml"]);
    assert!(output.stderr.contains("is outside the scenario's project"), "{}", output.stderr);
}

#[test]
fn time_passes_in_a_scenario() {
    let project = elsewhere();
    project.write(
        "wait.yaml",
        "about: x\nclock: 2026-03-02T12:00:00Z\nsteps:\n  - prompt: /plan\n    includes: [_030226.md]\n  - wait: 2 days\n  - starts: strategic-planner\n    expect: blocked\n    because: [_030426.md]\n",
    );
    let output = replay(&project, &["wait.yaml"]);
    assert_eq!(output.exit, 0, "{}{}", output.stdout, output.stderr);
    project.write("odd.yaml", "about: x\nsteps:\n  - wait: soon\n");
    assert!(replay(&project, &["odd.yaml"]).stderr.contains("`wait: soon` is not a duration"));
}

#[test]
fn wrong_usage_says_what_to_do() {
    let project = elsewhere();
    project.write("broken/plan.yaml", "mode: plan\nphases: [{ fase: x }]\n");
    project.write("none/x.txt", "");
    project.write("package.json", "{}\n");
    for (words, exit, text) in [
        (vec![], 66, "no session was recorded here yet"),
        (vec!["nowhere.jsonl"], 66, "cannot read `nowhere.jsonl`"),
        (vec!["none"], 66, "nothing to replay in none"),
        (vec!["--partition", "0/3"], 64, "a shard is K/N"),
        (vec!["--partition", "4/3"], 64, "a shard is K/N"),
        (vec!["--merge"], 64, "<PATHS>"),
        (vec!["--merge", "package.json"], 66, "nothing to merge: the files have no decisions"),
        (vec!["package.json"], 66, "nothing to replay in package.json: not a journal, an event stream or a transcript"),
        (vec!["--last", "x"], 64, "'--last <N>': expected a whole number, such as 5"),
        (vec!["none", "--modes", "nowhere"], 66, "`--modes nowhere` is not a folder"),
        (vec!["none", "--modes", "none"], 66, "`--modes none` has no mode files"),
        (vec!["none", "--modes", "broken"], 65, "is not a mode"),
        (vec!["--html", "no/such/r.html", "DEMO"], 73, "cannot write `no/such/r.html`: its folder does not exist"),
    ] {
        let demo = fixture("demo.jsonl");
        let words: Vec<&str> = words.into_iter().map(|word| if word == "DEMO" { &demo } else { word }).collect();
        let output = replay(&project, &words);
        assert_eq!(output.exit, exit, "{words:?}: {}", output.stderr);
        assert!(output.stderr.contains(text), "{words:?}: {}", output.stderr);
    }
}

#[test]
fn every_written_report_is_named() {
    let project = elsewhere();
    for (option, file) in [("--markdown", "r.md"), ("--sarif", "r.sarif"), ("--junit", "r.xml"), ("--html", "r.html")] {
        let output = replay(&project, &[&fixture("demo.jsonl"), option, file]);
        assert!(output.stderr.contains(&format!("wrote {file}")), "{option}: {}", output.stderr);
    }
}

#[test]
fn transcripts_can_be_replayed() {
    let output =
        replay(&elsewhere(), &[&format!("{ROOT}/fixtures/transcripts/denied-and-blocked"), "--last", "1", "--json"]);
    assert_eq!(output.exit, 0, "{}", output.stderr);
    let found = retrials(&output);
    let blocked: Vec<&Value> =
        found.iter().filter(|one| one["outcome"] == "blocked" && one["change"] == "new").collect();
    assert!(blocked.iter().any(|one| one["gates"] == json!(["system-files-are-not-written"])), "{found:#?}");
}

/// The decisions in the output, without problems and counts.
fn events(output: &CommandOutput) -> Vec<Value> {
    retrials(output).into_iter().filter(|one| one.get("session").is_some()).collect()
}

/// A message in a transcript.
fn message(session: &str, kind: &str, second: u32, content: &Value) -> String {
    json!({
        "type": kind, "sessionId": session, "uuid": format!("{session}-{second}"), "cwd": "/home/ann/app",
        "timestamp": format!("2026-11-16T09:00:{second:02}.000Z"),
        "message": {"role": kind, "id": format!("msg_{second}"), "content": content},
    })
    .to_string()
}

/// A turn with one call.
fn turn(session: &str, start: u32, id: &str) -> Vec<String> {
    vec![
        message(session, "user", start, &json!("go")),
        message(
            session,
            "assistant",
            start + 1,
            // As the host writes it, with the id after the type.
            &json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make"}}]),
        ),
        message(session, "user", start + 2, &json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}])),
        message(session, "assistant", start + 3, &json!([{"type": "text", "text": "done"}])),
    ]
}

#[test]
fn what_a_resumed_session_has_copied_is_counted_once() {
    let project = elsewhere();
    let (first, second) = ("f0000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002");
    put(&project, &format!("t/{first}.jsonl"), &turn(first, 1, "toolu_01A09q90qw90lq917835lq9"));
    let copied = [turn(second, 1, "toolu_01A09q90qw90lq917835lq9"), turn(second, 11, "toolu_01B09q90qw90lq917835lq9")];
    put(&project, &format!("t/{second}.jsonl"), &copied.concat());
    let output = replay(&project, &[&project.home().join("t").to_string_lossy(), "--json"]);
    assert_eq!(output.exit, 0, "{}", output.stderr);
    let of = |session: &str| -> Vec<String> {
        let own = retrials(&output).into_iter().filter(|one| one["session"] == session);
        own.map(|one| one["kind"].as_str().unwrap().to_owned()).collect()
    };
    let events = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];
    assert_eq!((of(first), of(second)), (events.map(str::to_owned).to_vec(), events.map(str::to_owned).to_vec()));
    let skipped = retrials(&output).into_iter().find(|one| one["skipped"] == "record of another session");
    assert_eq!(skipped.unwrap()["count"], 4, "{}", output.stdout);
}

#[test]
fn agents_are_replayed_without_the_transcript_of_their_session() {
    let project = elsewhere();
    let session = "f0000000-0000-4000-8000-000000000001";
    let agent = format!("t/{session}/subagents/agent-a1.jsonl");
    let path = put(&project, &agent, &turn(session, 1, "toolu_1"));
    let folder = project.home().join("t").to_string_lossy().into_owned();
    let subagents = project.home().join(format!("t/{session}/subagents")).to_string_lossy().into_owned();
    for named in [&folder, &subagents, &path] {
        let output = replay(&project, &[named, "--json"]);
        assert_eq!(output.exit, 0, "{}", output.stderr);
        let found = events(&output);
        let kinds: Vec<&str> = found.iter().map(|one| one["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["SubagentStart", "PreToolUse", "PostToolUse", "SubagentStop"], "{named}");
        assert!(found.iter().all(|one| one["session"] == session && one["agent_id"] == "a1"), "{found:#?}");
        assert_eq!(output.stdout.contains("the session's own transcript is missing"), *named != path, "{named}");
    }
    // With its session, each agent is replayed once.
    put(&project, &format!("t/{session}.jsonl"), &turn(session, 1, "toolu_2"));
    let output = replay(&project, &[&folder, "--json"]);
    let of_agent = events(&output).into_iter().filter(|one| one["agent_id"] == "a1").count();
    assert_eq!((of_agent, output.stdout.contains("is missing")), (4, false));
}

#[test]
fn a_transcript_of_another_program_is_not_replayed() {
    let project = elsewhere();
    let session = "f0000000-0000-4000-8000-000000000001";
    let parts = json!({"type": "user", "sessionId": session, "uuid": "u1", "cwd": "/p", "message": {"role": "user", "parts": [{"text": "go"}]}});
    let note = json!({"type": "system", "sessionId": session, "uuid": "u0", "subtype": "ui_telemetry"});
    let foreign = [note.to_string(), parts.to_string()];
    put(&project, "t/other.jsonl", &foreign);
    put(&project, "t/more.jsonl", &[json!({"type": "message", "sessionId": session, "content": []}).to_string()]);
    put(&project, &format!("t/{session}.jsonl"), &turn(session, 1, "toolu_1"));
    let output = replay(&project, &[&project.home().join("t").to_string_lossy(), "--json"]);
    assert_eq!(events(&output).len(), 5, "{}", output.stdout);
    for problem in ["a transcript, but not one of Claude Code", "not a journal, an event stream or a transcript"] {
        assert!(output.stdout.contains(problem), "{problem}: {}", output.stdout);
    }
}

#[test]
fn both_parts_of_a_journal_are_one_session() {
    let (project, journal) = played();
    let all = lines(journal.to_str().unwrap());
    project.write(".claude/hooks/sessions/s1.old.jsonl", all[..2].join("\n") + "\n");
    project.write(".claude/hooks/sessions/s1.jsonl", all[2..].join("\n") + "\n");
    let output = replay(&project, &[]);
    assert_eq!(output.exit, 0);
    assert!(output.stdout.starts_with("6 events in 1 session"), "{}", output.stdout);
    assert_eq!(output.stderr, "", "the state goes on from one part to the other");
}

#[test]
fn a_shard_keeps_lines_that_are_not_decisions() {
    let project = elsewhere();
    let recorded = lines(&fixture("demo.jsonl"));
    let path = put(&project, "demo.jsonl", &recorded);
    replay(&project, &[&path, "--bless"]);
    put(&project, "demo.jsonl", &recorded[..recorded.len() - 1]);
    for words in [vec![], vec!["--partition", "1/1"]] {
        let output = replay(&project, &[&[path.as_str(), "--json"], &words[..]].concat());
        assert_eq!(output.exit, 1);
        project.write("part.json", &output.stdout);
        let joined = replay(&project, &["--merge", "part.json"]);
        assert_eq!(joined.exit, 1, "{}", joined.stdout);
        assert!(joined.stderr.contains("expected 11 events, found 10"), "{}", joined.stderr);
    }
    project.write("part.json", "");
    assert_eq!(replay(&project, &["--merge", "part.json"]).exit, 66);
}

#[test]
fn every_blessed_result_is_met() {
    let project = elsewhere();
    for name in ["foreground-agents", "parallel-and-nested-agents", "denied-and-blocked"] {
        let from = format!("{ROOT}/fixtures/transcripts/{name}");
        for entry in
            walkdir::WalkDir::new(&from).into_iter().filter_map(Result::ok).filter(|entry| entry.file_type().is_file())
        {
            let to = entry.path().strip_prefix(&from).unwrap().to_string_lossy().into_owned();
            project.write(&format!("corpus/{name}/{to}"), std::fs::read(entry.path()).unwrap());
        }
    }
    let demo = lines(&fixture("demo.jsonl"));
    put(&project, "corpus/parts/s.old.jsonl", &demo[..5]);
    put(&project, "corpus/parts/s.jsonl", &demo[5..]);
    let stream = lines(&format!("{ROOT}/fixtures/events/plan-command-foreground-agents.jsonl"));
    let mut both: Vec<String> = Vec::new();
    for line in stream {
        both.extend(
            ["one", "two"].map(|session| line.replace("{session}", session).replace("{home}", "/home/ann/app")),
        );
    }
    put(&project, "corpus/both.jsonl", &both);
    let output = replay(&project, &["corpus", "--bless"]);
    assert_eq!(output.exit, 0, "{}", output.stderr);
    let output = replay(&project, &["corpus"]);
    assert_eq!(output.exit, 0, "{}{}", output.stdout, output.stderr);
    assert!(output.stdout.contains(" 0 not met"), "{}", output.stdout);
    for part in ["1/2", "2/2"] {
        let output = replay(&project, &["corpus", "--partition", part]);
        assert_eq!(output.exit, 0, "{part}: {}{}", output.stdout, output.stderr);
    }
}

#[test]
fn an_undecided_event_does_not_meet_an_expectation() {
    let project = elsewhere();
    let start = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Agent",
        "tool_input": {"subagent_type": "strategic-planner", "prompt": "x"}});
    let plan = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt_id": "p", "prompt": "/plan"});
    let stream = |expect: &str| put(&project, "s.jsonl", &[plan.to_string(), start.to_string(), expect.to_owned()]);
    assert_eq!(replay(&project, &[&stream(r#"{"expect": "blocked"}"#)]).exit, 1);
    assert_eq!(replay(&project, &[&stream(r#"{"expect": {"undecidable": true}}"#)]).exit, 0);
    assert_eq!(replay(&project, &[&stream(r#"{"expect": "undecidable"}"#)]).exit, 0);
}

#[test]
fn an_unknown_word_in_an_expectation_is_an_error() {
    let project = elsewhere();
    let path = put(&project, "demo.jsonl", &lines(&fixture("demo.jsonl")));
    for (entry, text) in [
        ("{ number: 2, becuse: [x] }", "becuse"),
        ("{ number: 2, outcome: blokked }", "unknown outcome `blokked`"),
        ("{ line: 2, verdict: block }", "`number`"),
    ] {
        project.write("demo.expect.yaml", format!("events: 11\nexpect:\n  - {entry}\n"));
        let output = replay(&project, &[&path]);
        assert_eq!(output.exit, 1, "{entry}");
        assert!(output.stderr.contains(text), "{entry}: {}", output.stderr);
    }
}

#[test]
fn an_expectation_after_an_unreadable_line_belongs_to_no_event() {
    let project = elsewhere();
    let mut text = lines(&fixture("demo.jsonl"));
    text.splice(3..3, ["not a line".to_owned(), r#"{"expect":"block"}"#.to_owned()]);
    let path = put(&project, "demo.jsonl", &text);
    let output = replay(&project, &[&path]);
    assert!(output.stderr.contains("demo.jsonl:5: no event comes before this expectation"), "{}", output.stderr);
    assert_eq!(output.exit, 0, "{}", output.stdout);
}

#[test]
fn any_number_of_threads_reports_the_same_in_the_same_order() {
    let project = elsewhere();
    project.write("bad.jsonl", "{\"v\":1,\"event\":{}}\nnot a line\n{\"v\":99,\"event\":{}}");
    let [events, transcripts] = ["events", "transcripts"].map(|name| format!("{ROOT}/fixtures/{name}"));
    let reports = ["junit.xml", "sarif.json", "summary.md", "page.html"];
    let replayed = |threads: &str, more: &[&str]| {
        let words = [
            "bad.jsonl",
            &fixture("demo.jsonl"),
            &fixture("plan.jsonl"),
            &events,
            &transcripts,
            "--threads",
            threads,
            "--junit",
            reports[0],
        ];
        let files = ["--sarif", reports[1], "--markdown", reports[2], "--html", reports[3]];
        let output = replay(&project, &[&words, &files[..], more].concat());
        (output, reports.map(|name| project.read(name)))
    };
    for more in [&[][..], &["--json"], &["--last", "3"], &["--partition", "2/3", "--json"]] {
        let one = replayed("1", more);
        assert!(one.0.exit < 2, "{}", one.0.stderr);
        for threads in ["2", "5"] {
            assert!(replayed(threads, more) == one, "{more:?} with {threads} threads");
        }
    }
}

#[test]
fn gates_of_a_scenario_run_no_programs_without_shell() {
    let project = elsewhere();
    let gate = "mode: base\ngates:\n  - { id: x, on: UserPromptSubmit, check: { run: \"touch 'RAN'\" } }\n";
    let mark = project.home().join("ran");
    let gate = gate.replace("RAN", &mark.to_string_lossy());
    let quoted = serde_json::to_string(&gate).unwrap();
    project.write(
        "s.yaml",
        format!("about: x\nfiles: {{ .claude/modes/base.yaml: {quoted} }}\nsteps:\n  - prompt: hello\n"),
    );
    let output = replay(&project, &["s.yaml"]);
    assert!(output.exit == 1 && output.stderr.contains("allow it with `--shell`"), "{}", output.stderr);
    project.write("there/.claude/modes/base.yaml", &gate);
    let event = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "hello"});
    let path = put(&project, "stream.jsonl", &[event.to_string()]);
    replay(&project, &[&path, "--project", "there"]);
    assert!(!mark.exists(), "a program was run unasked");
    replay(&project, &[&path, "--project", "there", "--shell"]);
    assert!(mark.exists());
}

#[test]
fn a_step_of_a_stream_that_would_be_ignored_is_an_error() {
    let project = elsewhere();
    for (step, text) in [
        ("{ write: { a: b } }", "step 1: the `line` of the stream"),
        ("{ line: 1, prompt: /plan }", "step 1: with a `stream`, steps only change the project"),
        ("{ line: 1, expect: blocked }", "step 1: with a `stream`, steps only change the project"),
    ] {
        project.write("s.yaml", format!("about: x\nstream: s.jsonl\nsteps:\n  - {step}\n"));
        let output = replay(&project, &["s.yaml"]);
        assert!(output.exit == 1 && output.stderr.contains(text), "{step}: {}", output.stderr);
    }
}

#[test]
fn sessions_in_one_file_are_independent() {
    let project = elsewhere();
    let [plan, code] = ["plan.jsonl", "code.jsonl"].map(|name| lines(&fixture(name)));
    let output = replay(&project, &[&put(&project, "one.jsonl", &[plan.clone(), code.clone()].concat())]);
    assert_eq!((output.exit, output.stderr.as_str()), (0, ""), "one after the other");
    let header = plan[0].clone();
    let mut mixed = vec![header];
    for (one, other) in plan[1..].iter().zip(&code[1..]) {
        mixed.extend([one.clone(), other.clone()]);
    }
    let output = replay(&project, &[&put(&project, "mixed.jsonl", &mixed)]);
    assert_eq!((output.exit, output.stderr.as_str()), (0, ""), "at the same time");
}

#[test]
fn a_scenario_runs_no_hidden_programs() {
    let project = elsewhere();
    let proof = project.home().join("proof");
    let gate = format!(
        "mode: base\\ngates:\\n  - {{ id: g, on: UserPromptSubmit, check: {{ run: \\\"touch '{}'\\\" }} }}\\n",
        proof.display()
    );
    let filter = format!("[filter \\\"x\\\"]\\n\\tclean = touch '{}'; cat\\n", proof.display());
    let start = format!(
        "about: x\nfiles: {{ .claude/hooks/.gitkeep: \"\", .claude/modes/base.yaml: \"{gate}\" }}\nsteps:\n  - prompt: hi\n"
    );
    let later = format!(
        "about: x\nfiles: {{ .claude/hooks/.gitkeep: \"\" }}\nsteps:\n  - write: {{ .claude/modes/base.yaml: \"{gate}\" }}\n  - prompt: hi\n"
    );
    let git = format!(
        "about: x\ngit: true\nfiles: {{ .git/config: \"{filter}\", .gitattributes: \"* filter=x\" }}\nsteps:\n  - prompt: hi\n"
    );
    for text in [start, later, git] {
        project.write("s.yaml", &text);
        let output = replay(&project, &["s.yaml"]);
        assert_eq!(output.exit, 1, "{text}{}", output.stdout);
        assert!(output.stderr.contains("allow it with `--shell`"), "{text}{}", output.stderr);
        assert!(!proof.exists(), "{text}");
    }
}

#[test]
fn a_scenarios_stream_has_its_expectations_and_its_own_sidecar() {
    let project = elsewhere();
    let event = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "hi"}).to_string();
    for (expect, exit) in [("allowed", 0), ("block", 1)] {
        let expect = json!({"expect": expect}).to_string();
        put(&project, "a.jsonl", &[event.clone(), expect]);
        project.write("a.scenario.yaml", "about: x\nstream: a.jsonl\n");
        let output = replay(&project, &["a.scenario.yaml"]);
        assert_eq!(output.exit, exit, "{}{}", output.stdout, output.stderr);
    }
    put(&project, "both/a.jsonl", &[event.clone(), event]);
    project.write("both/a.scenario.yaml", "about: x\nsteps:\n  - prompt: /plan\n");
    replay(&project, &["both", "--bless"]);
    let output = replay(&project, &["both"]);
    assert_eq!(output.exit, 0, "{}{}", output.stdout, output.stderr);
}

#[cfg(unix)]
#[test]
fn a_file_that_is_not_regular_is_an_error() {
    let project = elsewhere();
    project.shell("mkfifo pipe");
    project.write("s.yaml", "about: x\nstream: pipe\n");
    for name in ["pipe", "/dev/zero"] {
        let output = replay(&project, &[name]);
        assert_eq!(output.exit, 66, "{}", output.stderr);
        assert!(output.stderr.contains("not a regular file"), "{}", output.stderr);
    }
    let output = replay(&project, &["s.yaml"]);
    assert!(output.stderr.contains("is not a file of events"), "{}", output.stderr);
}

#[test]
fn a_mode_of_the_working_tree_that_cannot_be_read_decides_nothing() {
    let (project, _) = played();
    project.write(".claude/modes/bad.yaml", "mode: [broken\n");
    let output = replay(&project, &[]);
    assert_eq!(output.exit, 65, "{}{}", output.stdout, output.stderr);
}

#[test]
fn two_reports_need_two_files() {
    let project = elsewhere();
    let output = replay(&project, &[&fixture("demo.jsonl"), "--junit", "out", "--sarif", "out"]);
    assert!(output.exit >= 64, "{}", output.stderr);
}

#[test]
fn merged_shards_equal_one_run() {
    let project = elsewhere();
    project
        .shell(&format!("cp -R '{ROOT}/fixtures/transcripts' '{ROOT}/fixtures/recordings' '{ROOT}/fixtures/events' ."));
    let events = |expect: &str| {
        let event = |id: &str| {
            json!({"hook_event_name": "PreToolUse", "session_id": id, "cwd": "/home/ann/app",
            "tool_name": "Bash", "tool_input": {"command": "rm -rf /"}})
        };
        let expect = json!({"expect": expect}).to_string();
        ["s1", "s2", "s3", "s4"].iter().flat_map(|id| [event(id).to_string(), expect.clone()]).collect::<Vec<_>>()
    };
    put(&project, "mine/met.jsonl", &events("block"));
    put(&project, "mine/unmet.jsonl", &events("pass"));
    put(&project, "mine/odd.jsonl", &[&lines(&fixture("demo.jsonl"))[..], &["{\"half\":".to_owned()]].concat());
    project.write("mine/empty.jsonl", "");
    project.write("mine/odd.expect.yaml", "events: many\n");
    project.write("mine/a.scenario.yaml", "about: x\nsteps:\n  - prompt: hi\n    expect: silent\n");
    project.write("mine/b.scenario.yaml", "about: x\nsteps:\n  - prompt: hi\n    expect: blocked\n");
    put(&project, "mine/gone.jsonl", &lines(&fixture("plan.jsonl"))[..9]);
    project.write("mine/gone.expect.yaml", "events: 23\n");
    project.write(".claude/modegate.yaml", "levels: { plan-is-written: observe }\n");
    let all = ["transcripts", "recordings", "events", "mine"];
    let direct = replay(&project, &all);
    let names: Vec<String> = (1..=3).map(|part| format!("part-{part}.json")).collect();
    for (part, name) in (1..).zip(&names) {
        let partition = format!("{part}/3");
        let output = replay(&project, &[&all[..], &["--json", "--partition", &partition]].concat());
        project.write(name, &output.stdout);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let joined = replay(&project, &[&["--merge"], &names[..]].concat());
    let end = |output: &CommandOutput| output.stdout[output.stdout.find(" in ").unwrap_or_default()..].to_owned();
    let summary = |output: &CommandOutput| {
        output
            .stdout
            .lines()
            .filter(|line| line.contains("problem") || line.contains("skipped") || line.contains("recorded with"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(summary(&joined), summary(&direct), "{}\n{}", end(&joined), joined.stderr);
    assert_eq!((joined.exit, direct.exit), (1, 1));
}

#[test]
fn an_unmet_expectation_fails_the_merged_run_and_its_reports() {
    let project = elsewhere();
    project.write("b.scenario.yaml", "about: x\nsteps:\n  - prompt: hi\n    expect: blocked\n");
    let output = replay(&project, &["b.scenario.yaml", "--json", "--junit", "a.xml", "--sarif", "a.sarif"]);
    assert_eq!(output.exit, 1);
    assert!(project.read("a.xml").contains("failures=\"1\""), "{}", project.read("a.xml"));
    assert!(project.read("a.sarif").contains("\"error\""), "{}", project.read("a.sarif"));
    project.write("part.json", &output.stdout);
    assert_eq!(replay(&project, &["--merge", "part.json"]).exit, 1);
}

#[test]
fn a_shard_cannot_be_blessed() {
    let project = elsewhere();
    let output = replay(&project, &[&fixture("demo.jsonl"), "--bless", "--partition", "1/2"]);
    assert!(output.exit >= 64, "{}", output.exit);
}

#[test]
fn the_stopping_agent_is_part_of_the_line() {
    let project = elsewhere();
    let mut recorded = lines(&fixture("plan.jsonl"));
    let line = recorded.iter_mut().find(|line| line.contains("\"who\":\"")).unwrap();
    *line = line.replacen("\"who\":\"", "\"who\":\"not-", 1);
    let output = replay(&project, &[&put(&project, "plan.jsonl", &recorded)]);
    assert_eq!(output.exit, 1, "{}", output.stdout);
    assert!(output.stdout.contains("1 drift"), "{}", output.stdout);
}

#[test]
fn blessed_sessions_in_two_inputs_are_met() {
    let project = elsewhere();
    project.shell(&format!("cp -R '{ROOT}/fixtures/transcripts' '{ROOT}/fixtures/events' ."));
    replay(&project, &["transcripts", "events", "--bless"]);
    let output = replay(&project, &["transcripts", "events"]);
    assert_eq!(output.exit, 0, "{}{}", output.stdout, output.stderr);
    assert!(output.stdout.contains(", 0 not met."), "{}", output.stdout);
}

#[test]
fn both_parts_of_a_journal_are_blessed() {
    let project = elsewhere();
    let recorded = lines(&fixture("demo.jsonl"));
    put(&project, "s/demo.old.jsonl", &recorded[..6]);
    put(&project, "s/demo.jsonl", &recorded[6..]);
    replay(&project, &["s", "--bless"]);
    let output = replay(&project, &["s"]);
    assert_eq!(output.exit, 0, "{}{}", output.stdout, output.stderr);
}

#[test]
fn an_expected_silence_hides_no_drift() {
    let project = elsewhere();
    let mut recorded = lines(&fixture("plan.jsonl"));
    let path = put(&project, "plan.jsonl", &recorded);
    replay(&project, &[&path, "--bless"]);
    let quiet =
        |line: &&mut String| line.contains("\"decision\":{\"verdict\":\"pass\"}") && line.contains("\"saw\":\"");
    let line = recorded.iter_mut().find(quiet).unwrap();
    *line = line.replacen("\"saw\":\"", "\"saw\":\"not ", 1);
    // The same where something is expected, and something else has drifted.
    let named = recorded.iter_mut().find(|line| line.contains("\"moves\":[\"plan mode activated\"]")).unwrap();
    *named = named.replacen("\"context\":[\"", "\"context\":[\"Not ", 1);
    put(&project, "plan.jsonl", &recorded);
    let output = replay(&project, &[&path]);
    assert_eq!(output.exit, 1, "{}", output.stdout);
    assert!(output.stdout.contains("2 drift"), "{}", output.stdout);
    replay(&project, &[&path, "--bless"]);
    let output = replay(&project, &[&path]);
    assert_eq!(output.exit, 0, "who blesses it wants it: {}", output.stdout);
}

#[test]
fn a_missing_or_incomplete_shard_is_an_error() {
    let project = elsewhere();
    let part = |part: u64| {
        let output = replay(&project, &[&fixture("demo.jsonl"), "--json", "--partition", &format!("{part}/2")]);
        project.write(&format!("part-{part}.json"), &output.stdout);
        output.stdout
    };
    let (one, two) = (part(1), part(2));
    let joined = |words: &[&str]| {
        let output = replay(&project, &[&["--merge"], words].concat());
        (output.exit, output.stderr)
    };
    assert_eq!(joined(&["part-1.json", "part-2.json"]).0, 0);
    for name in ["part-1.json", "part-2.json"] {
        let (exit, stderr) = joined(&[name]);
        assert!(exit == 1 && stderr.contains("of 2 is missing"), "{stderr}");
    }
    let (exit, stderr) = joined(&["part-1.json", "part-2.json", "part-2.json"]);
    assert!(exit == 1 && stderr.contains("this shard is there twice"), "{stderr}");
    let half: Vec<&str> = two.lines().take(two.lines().count() - 1).collect();
    project.write("part-2.json", half.join("\n"));
    let (exit, stderr) = joined(&["part-1.json", "part-2.json"]);
    assert!(exit == 1 && stderr.contains("part-2.json: the output is incomplete"), "{stderr}");
    let decisions = |text: &str| text.lines().filter(|line| line.contains("\"kind\":")).count();
    assert_eq!(
        (decisions(&one) + decisions(&two), decisions(&one).min(decisions(&two))),
        (11, 0),
        "one session is in one shard"
    );
}

#[test]
fn a_scenario_uses_the_modes_of_its_project() {
    let project = elsewhere();
    let mode = "mode: mine\nabout: Mine.\ncommands: [/mine]\nbefore:\n  - { id: never, check: { file: never.md }, else: Never. }\n";
    project.write("app/.claude/modes/mine.yaml", mode);
    let scenario = "about: x\nsteps:\n  - { prompt: /mine, expect: blocked, opening: Never. }\n";
    project.write("app/tests/mine.scenario.yaml", scenario);
    let output = replay(&project, &["app/tests/mine.scenario.yaml"]);
    assert_eq!(output.exit, 0, "{}{}", output.stdout, output.stderr);
    let output = replay(&project, &["app/tests/mine.scenario.yaml", "--modes", "recorded"]);
    assert_eq!(output.exit, 1, "without the modes of the project nothing blocks: {}", output.stdout);
    project.write("app/tests/mine.scenario.yaml", scenario.replace("blocked", "refused"));
    let output = replay(&project, &["app/tests/mine.scenario.yaml"]);
    assert!(output.stderr.contains("step 1: unknown result `refused`, which is now `blocked`"), "{}", output.stderr);
}

#[test]
fn the_html_report_is_announced_with_its_size() {
    let project = elsewhere();
    let output = replay(&project, &[&fixture("demo.jsonl"), "--html", "report.html"]);
    assert!(
        output.stderr.contains("wrote report.html (") && output.stderr.contains("B, 1 session)"),
        "{}",
        output.stderr
    );
}
