//! Real processes on one `cache.json`.

use crate::project::Project;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// How often each writer writes; wine needs a long time to start a process.
const ROUNDS: usize = if cfg!(windows) { 3 } else { 50 };

/// 64 sessions, each with its own processes, `ROUNDS` state changes each; and one that reads all the while.
#[test]
fn no_update_is_lost_and_the_file_always_parses() {
    let project = Project::installed();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| watch(&project, &over));
        let writers: Vec<_> = (0..64)
            .map(|worker| {
                scope.spawn({
                    let project = &project;
                    move || change(project, worker)
                })
            })
            .collect();
        let lost = writers.into_iter().map(std::thread::ScopedJoinHandle::join).filter(Result::is_err).count();
        // Before any assertion: otherwise a failing one would leave the reader running forever.
        over.store(true, Ordering::Relaxed);
        assert_eq!(lost, 0, "writers that failed");
        assert!(reader.join().unwrap() > 0);
    });
    let cache = project.cache();
    assert_eq!(cache["revision"], 64 * ROUNDS);
    for worker in 0..64 {
        assert_eq!(cache["counter"][format!("w{worker}")], ROUNDS - 1, "worker {worker}");
    }
}

/// Sets a counter `ROUNDS` times. A process that gives up on the lock says so and changes nothing, so it is started again.
fn change(project: &Project, worker: usize) {
    for count in 0..ROUNDS {
        loop {
            let output = project.run(&["cache", "set", "counter", &format!("w{worker}"), &count.to_string()]);
            if output.exit == 0 {
                break;
            }
            assert!(output.stderr.contains("holds the lock"), "{}", output.stderr);
        }
    }
}

fn watch(project: &Project, over: &AtomicBool) -> usize {
    let mut reads = 0;
    while !over.load(Ordering::Relaxed) {
        let text = project.read(".claude/hooks/cache.json");
        if !text.is_empty() {
            serde_json::from_str::<Value>(&text).expect("whole JSON at every moment");
            reads += 1;
        }
    }
    reads
}

/// Hooks of one session that run at the same time, as those of parallel agents do: each move is kept.
#[test]
fn parallel_agents_of_one_session_lose_no_update() {
    let project = Project::installed();
    let phase = |n| format!("  - {{ phase: p{n}, agent: a{n}, after: [{{ check: {{ file: done.md }} }}] }}");
    let phases = (0..16).map(phase).collect::<Vec<_>>().join("\n");
    project.write(
        ".claude/modes/many.yaml",
        format!("mode: many\ncommands: [/many]\nphases:\n{phases}\n  - {{ phase: last, main: true }}\n"),
    );
    project.write("done.md", "x");
    project
        .hook(&json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt_id": "p", "prompt": "/many"}));
    thread::scope(|scope| {
        for n in 0..16 {
            let project = &project;
            scope.spawn(move || {
                let stop = json!({"hook_event_name": "SubagentStop", "session_id": "s", "agent_id": format!("i{n}"), "agent_type": format!("a{n}")});
                assert_eq!(project.hook(&stop).exit, 0);
            });
        }
    });
    let cache = project.cache();
    let state = &cache["many_mode"]["sessions"]["s"];
    assert_eq!(state["done"].as_array().unwrap().len(), 16, "{state}");
    assert_eq!(state["phase"], "last");
}

/// Agents of one phase that start and stop at the same time: each gets a path of its own, and the last one completes it.
#[test]
fn parallel_agents_of_one_phase_get_a_path_each() {
    let project = Project::installed();
    let page = "{ id: written, check: { file: 'pages/page_*.md' }, else: Write. }";
    let phases = format!("  - {{ phase: write, agent: writer, after: [{page}] }}\n  - {{ phase: last, main: true }}\n");
    project.write(".claude/modes/many.yaml", format!("mode: many\ncommands: [/many]\nphases:\n{phases}"));
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt_id": "p", "prompt": "/many"});
    project.hook(&prompt);
    let event = |name: &str, n: usize| json!({"hook_event_name": name, "session_id": "s", "agent_id": format!("i{n}"), "agent_type": "writer"});
    let all = |name: &str| {
        thread::scope(|scope| {
            let project = &project;
            let events = (0..8).map(|n| event(name, n));
            let hooks: Vec<_> = events.map(|event| scope.spawn(move || project.hook(&event))).collect();
            hooks.into_iter().map(|hook| hook.join().unwrap()).collect::<Vec<_>>()
        })
    };
    let briefs = all("SubagentStart");
    let mut paths: Vec<String> = briefs
        .iter()
        .map(|brief| brief.stdout.split_once("the file `").unwrap().1.split('`').next().unwrap().to_owned())
        .collect();
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), 8, "{paths:?}");
    for path in &paths {
        project.write(path, "x");
    }
    assert!(all("SubagentStop").iter().all(|stop| stop.exit == 0));
    let cache = project.cache();
    let state = &cache["many_mode"]["sessions"]["s"];
    assert_eq!((&state["phase"], &state["agents"], &state["waiting"]), (&json!("last"), &json!(null), &json!(null)));
}

/// Locks that others hold delay no session but their own, and lose nothing.
#[cfg(unix)]
#[test]
fn a_session_waits_for_no_lock_but_its_own() {
    let project = Project::installed();
    let prompt =
        |session: &str| json!({"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": "/plan x"});
    project.hook(&prompt("other"));
    let locks = [project.home().join(".claude/hooks/cache.lock"), project.state_file("other").with_extension("lock")];
    let held: Vec<_> = locks.iter().map(|path| std::fs::File::options().write(true).open(path).unwrap()).collect();
    for lock in &held {
        lock.lock().unwrap();
    }
    thread::scope(|scope| {
        for number in 0..64 {
            let project = &project;
            scope.spawn(move || {
                let output = project.hook(&prompt(&format!("s{number}")));
                // A hook that had waited for a lock in vain would say so.
                assert_eq!((output.exit, output.stderr.as_str()), (0, ""), "{output:?}");
                assert!(output.json().get("systemMessage").is_none(), "{output:?}");
            });
        }
    });
    drop(held);
    for number in 0..64 {
        let value = project.run(&["cache", "get", "plan_mode", "is_active", "--session", &format!("s{number}")]);
        assert_eq!(value.stdout, "true\n", "s{number}");
    }
    // The summary was not written; the next prompt does that, and does not blame anybody.
    let next = project.hook(&json!({"hook_event_name": "UserPromptSubmit", "session_id": "s7", "prompt": "hello"}));
    assert_eq!(next.stdout.matches("cache.json").count(), 0, "{}", next.stdout);
    assert_eq!(project.cache()["plan_mode"]["sessions"]["s7"]["is_active"], true);
}

/// A process that dies while it writes leaves a whole file behind.
#[test]
fn a_killed_writer_leaves_a_complete_file() {
    let project = Project::installed();
    for round in 0..if cfg!(windows) { 10 } else { 200_u64 } {
        let mut child = project.modegate().args(["cache", "set", "n", "v", &round.to_string()]).spawn().unwrap();
        thread::sleep(std::time::Duration::from_micros(round * 20));
        let _: std::io::Result<()> = child.kill();
        child.wait().unwrap();
        let text = project.read(".claude/hooks/cache.json");
        assert!(text.is_empty() || serde_json::from_str::<Value>(&text).is_ok(), "{text}");
    }
    assert_eq!(project.run(&["cache", "set", "n", "v", "1"]).exit, 0);
}
