//! `replay` with worker processes prints and writes what it does without them, also if one of them dies.

use crate::project::{CommandOutput, Project};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// What a replay prints and returns, and the reports that it writes.
fn replayed(project: &Project, words: &[&str], reports: &[&str]) -> (CommandOutput, Vec<String>) {
    let output = project.run(&[&["replay"], words].concat());
    (output, reports.iter().map(|name| project.read(name)).collect())
}

#[track_caller]
fn assert_same(project: &Project, words: &[&str], reports: &[&str], exit: i32) {
    let alone = replayed(project, &[words, &["--threads", "1"]].concat(), reports);
    assert_eq!(alone.0.exit, exit, "{words:?} {}", alone.0.stderr);
    for workers in ["2", "3"] {
        let shared = replayed(project, &[words, &["--threads", workers]].concat(), reports);
        let lines = |output: &CommandOutput| format!("{}\n{}", output.stderr, output.stdout);
        let (one, other) = (lines(&shared.0), lines(&alone.0));
        let differing = one.lines().zip(other.lines()).find(|(one, other)| one != other);
        assert!(shared == alone, "{words:?} with {workers} workers: {differing:?}");
    }
}

#[test]
fn workers_report_what_one_process_does() {
    let project = Project::new();
    let [recordings, events, transcripts, plan] =
        ["recordings", "events", "transcripts", "scenarios/plan"].map(|name| format!("{ROOT}/fixtures/{name}"));
    let all = [recordings.as_str(), &events, &transcripts];
    let files = ["junit.xml", "sarif.json", "summary.md", "page.html"];
    let reports = ["--junit", files[0], "--sarif", files[1], "--markdown", files[2], "--html", files[3]];
    for words in [&[][..], &["--strict"], &["--last", "3"], &["--partition", "2/3"]] {
        assert_same(&project, &[&all[..], &[&plan], words].concat(), &[], 0);
    }
    // Scenarios have the time of today in these.
    for recording in std::fs::read_dir(&recordings).unwrap().map(|entry| entry.unwrap().path()) {
        if recording.extension().is_some_and(|end| end == "jsonl") {
            let name = recording.file_name().unwrap().to_str().unwrap();
            project.write(&format!("all/{name}"), std::fs::read_to_string(&recording).unwrap());
        }
    }
    let all = ["all", &events];
    for words in [&["--json"][..], &["--partition", "2/3", "--json"]] {
        assert_same(&project, &[&all[..], words].concat(), &[], 0);
    }
    assert_same(&project, &[&all[..], &reports].concat(), &files, 0);
    // Other modes decide differently.
    project.write("draft/mode.yaml", "name: none\nabout: Nothing\n");
    project.write("draft/modegate.yaml", "base: { gates: [] }\n");
    let draft = [&recordings, "--modes", "draft"];
    let exit = project.run(&[&["replay"], &draft[..]].concat()).exit;
    for words in [&[][..], &["--json"], &reports[..6], &["--strict", "--junit", "junit.xml"]] {
        let written = &files[..if words.len() == 6 { 3 } else { 0 }];
        assert_same(&project, &[&draft[..], words].concat(), written, exit);
    }
}

#[test]
fn workers_report_the_same_problems() {
    let project = Project::new();
    project.write("x.jsonl", "{\"v\":1,\"event\":{}}\nnot a line\n{\"v\":99,\"event\":{}}");
    project.write("y.jsonl", "{\"expect\":\"block\"}\n{\"v\":1,\"event\":{}}\n{\"expect\":\"blokked\"}\n");
    assert_same(&project, &["x.jsonl", "y.jsonl"], &[], 1);
    assert_same(&project, &["x.jsonl", "nothing.jsonl"], &[], 66);
}

#[test]
#[cfg(unix)]
fn another_process_goes_on_where_a_worker_was_killed() {
    let project = Project::new();
    let killed = project.home().join("killed");
    // The shell's parent is the worker; the first scenario that runs ends it, and is run again.
    let kill = format!("test -e \"{0}\" || {{ touch \"{0}\"; kill -9 $PPID; }}", killed.display());
    for number in 0..8 {
        let text = format!("about: x\nsteps:\n  - prompt: /plan\n  - shell: '{kill}'\n  - stops: strategic-planner\n");
        project.write(&format!("s/{number}.scenario.yaml"), text);
    }
    let words = ["replay", "s", "--shell", "--trust", "--json", "--threads"];
    let [two, three] = ["2", "3"].map(|workers| {
        let output = project.run(&[&words[..], &[workers]].concat());
        assert!(killed.exists(), "{workers} {output:?}");
        std::fs::remove_file(&killed).unwrap();
        output
    });
    std::fs::write(&killed, "").unwrap();
    let alone = project.run(&[&words[..], &["1"]].concat());
    let without_times = |output: &CommandOutput| {
        let lines = output.stdout.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let key = |line: serde_json::Value| (line["file"].clone(), line["line"].clone(), line["outcome"].clone());
        lines.map(key).collect::<Vec<_>>()
    };
    assert_eq!(without_times(&alone).len(), 16);
    for output in [two, three] {
        assert_eq!((output.exit, &output.stderr), (alone.exit, &alone.stderr));
        assert_eq!(without_times(&output), without_times(&alone));
    }
}
