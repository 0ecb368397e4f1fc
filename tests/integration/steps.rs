//! Gates that ask programs and servers, with real programs and a real server: also those that do their worst.

use crate::project::{Project, Said, said};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// What a machine under load may take beside the gates themselves.
const SLACK: Duration = Duration::from_secs(15);

/// A project whose base mode has these gates, written as a YAML list.
fn project(gates: &str) -> Project {
    let project = Project::installed();
    let lines: Vec<&str> = gates.trim().lines().collect();
    project.write(".claude/modes/base.yaml", format!("mode: base\ngates:\n  {}\n", lines.join("\n  ")));
    project
}

fn reading(project: &Project) -> Value {
    json!({
        "hook_event_name": "PreToolUse", "session_id": "abc-123", "cwd": project.home(),
        "tool_name": "Read", "tool_input": {"file_path": "a.txt", "limit": 1}, "tool_use_id": "toolu_1"
    })
}

/// Lets the project hear of a `Read`, and takes down how long that took.
fn heard(project: &Project) -> (Said, Duration) {
    let begun = Instant::now();
    (project.hook(&reading(project)), begun.elapsed())
}

#[track_caller]
fn refused(gates: &str, because: &[&str]) -> Duration {
    let (said, took) = heard(&project(gates));
    assert_eq!(said.exit, 2, "{said:?}");
    for text in because {
        assert!(said.stderr.contains(text), "{text:?} is not in {said:?}");
    }
    took
}

/// The processes in whose environment or command line a mark stands.
#[cfg(target_os = "linux")]
fn alive(mark: &str) -> Vec<PathBuf> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
    let marked = |path: &PathBuf| {
        let has = |name: &str| {
            std::fs::read(path.join(name)).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(mark))
        };
        path.file_name().is_some_and(|name| name.to_string_lossy().parse::<u32>().is_ok())
            && path.join("exe").read_link().is_ok()
            && (has("environ") || has("cmdline"))
    };
    processes.filter(marked).collect()
}

/// Nothing with this mark is left, or will soon not be.
#[cfg(target_os = "linux")]
#[track_caller]
fn nothing_is_left(mark: &str) {
    let begun = Instant::now();
    while !alive(mark).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", alive(mark));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(not(target_os = "linux"))]
fn nothing_is_left(_: &str) {}

#[test]
fn a_gate_that_hangs_is_killed_in_time_and_named() {
    let gates = "- { id: hanging, on: PreToolUse, timeout: 1, check: { run: MARK=hang-7131 exec sleep 600 } }";
    let took = refused(gates, &["Cannot tell: `MARK=hang-7131 exec sleep 600` did not end within 1 s, and was killed"]);
    assert!(took < SLACK, "{took:?}");
    nothing_is_left("hang-7131");
}

#[test]
fn a_gate_that_forks_and_hangs_leaves_no_process_behind() {
    let gates = r#"- { id: forking, on: PreToolUse, timeout: 1, check: { run: "export MARK=fork-7132; (sleep 600 & sleep 600) & sleep 600 & wait" } }"#;
    let took = refused(gates, &["did not end within 1 s, and was killed"]);
    assert!(took < SLACK, "{took:?}");
    nothing_is_left("fork-7132");
}

#[test]
fn a_gate_that_ends_and_leaves_a_child_with_its_pipes_is_still_heard() {
    let gates = r#"
- id: leaving
  on: PreToolUse
  check: { run: "export MARK=left-7133; sleep 600 & echo '[\"block\", \"not today\"]'" }
"#;
    let took = refused(gates, &["objects: not today"]);
    assert!(took < SLACK, "{took:?}");
    nothing_is_left("left-7133");
}

#[test]
fn a_gate_that_ends_and_leaves_a_quiet_child_leaves_no_process_behind() {
    let gates =
        r#"- { on: PreToolUse, check: { run: "export MARK=quiet-7139; sleep 600 > /dev/null 2>&1 & exit 1" } }"#;
    assert!(refused(gates, &["ended with 1"]) < SLACK);
    nothing_is_left("quiet-7139");
}

#[test]
fn a_gate_that_ignores_signals_is_killed_all_the_same() {
    let gates =
        r#"- { on: PreToolUse, timeout: 1, check: { run: "export MARK=deaf-7134; trap '' TERM INT HUP; sleep 600" } }"#;
    assert!(refused(gates, &["did not end within 1 s"]) < SLACK);
    nothing_is_left("deaf-7134");
}

#[test]
fn a_flood_of_a_gigabyte_ends_in_time_and_little_of_it_is_kept() {
    let gates = r#"- { id: flood, on: PreToolUse, timeout: 20, check: { run: "head -c 1000000000 /dev/zero | tr '\\0' x; exit 1" } }"#;
    let project = project(gates);
    let limited = "ulimit -v 400000; exec \"$0\" hook";
    let mut command = project.modegate();
    let mut shell = project.plain("sh");
    shell.args(["-c", limited]).arg(command.get_program()).current_dir(project.home());
    shell.env("CLAUDE_PROJECT_DIR", project.home());
    command = shell;
    let begun = Instant::now();
    let said = said(&mut command, reading(&project).to_string().as_bytes());
    assert!(begun.elapsed() < Duration::from_secs(20) + SLACK, "{:?}", begun.elapsed());
    assert_eq!(said.exit, 2, "{} {}", said.exit, said.stderr.len());
    assert!(said.stderr.len() < 10_000, "{}", said.stderr.len());
    let journal = project.read(".claude/hooks/sessions/abc-123.jsonl");
    assert!(journal.len() < 1_000_000, "{}", journal.len());
}

#[test]
fn half_a_json_is_no_yes() {
    let gates = r#"- { id: half, on: PreToolUse, check: { run: "printf '{\"decision\": \"blo'" } }"#;
    refused(gates, &["Cannot tell", "printed no readable answer: its answer is not JSON"]);
}

#[test]
fn a_gate_that_dies_by_a_signal_is_no_yes() {
    refused(
        "- { id: dying, on: PreToolUse, check: { run: 'kill -9 $$' } }",
        &["Cannot tell: `kill -9 $$` was ended by a signal"],
    );
}

#[test]
fn a_program_that_is_not_there_is_no_yes_and_no_no() {
    let gates = "- { id: absent, on: PreToolUse, check: { run: no-such-program-7135 }, fail: block, unknown: warn }";
    let (said, _) = heard(&project(gates));
    assert_eq!(said.exit, 0, "{said:?}");
    assert!(said.stdout.contains("modegate warns: Cannot tell: `no-such-program-7135` cannot be run"), "{said:?}");
}

#[test]
fn a_missing_shell_is_told_with_the_gates_command() {
    let project = project("- { id: shellless, on: PreToolUse, check: { run: exit 0 } }");
    let said = said(project.modegate().arg("hook").env("PATH", ""), reading(&project).to_string().as_bytes());
    assert_eq!(said.exit, 2, "{said:?}");
    assert!(said.stderr.contains("Cannot tell: `exit 0` cannot be started"), "{said:?}");
}

#[test]
fn a_gate_that_never_reads_its_input_is_heard() {
    let project = project("- { on: PreToolUse, timeout: 20, check: { run: exit 3 } }");
    let mut event = reading(&project);
    event["tool_input"]["content"] = "x".repeat(2_000_000).into();
    let begun = Instant::now();
    let said = project.hook(&event);
    assert!(said.exit == 2 && said.stderr.contains("`exit 3` ended with 3"), "{said:?}");
    assert!(begun.elapsed() < SLACK);
}

#[test]
fn words_that_are_no_utf_8_are_passed_on_as_well_as_can_be() {
    refused(r#"- { on: PreToolUse, check: { run: "printf 'bad \\377 byte' >&2; exit 1" } }"#, &["ended with 1: bad"]);
}

#[test]
fn two_slow_gates_run_at_the_same_time() {
    let slow = "- { on: PreToolUse, check: { run: sleep 4 } }\n- { on: PreToolUse, check: { run: sleep 4.0 } }\n- { on: PreToolUse, check: { run: sleep 4.00 } }";
    let (said, took) = heard(&project(slow));
    assert_eq!((said.exit, said.stdout.as_str()), (0, ""), "{said:?}");
    assert!(took < Duration::from_secs(11), "{took:?}");
}

#[test]
fn reasons_stand_in_the_order_of_the_file_whoever_ends_first() {
    let gates = "
- { id: slow, on: PreToolUse, check: { run: 'sleep 1; echo first; exit 1' } }
- { id: quick, on: PreToolUse, check: { run: 'echo second; exit 1' } }
- { id: plain, on: PreToolUse, deny: third. }
";
    let (said, _) = heard(&project(gates));
    let place = |text: &str| said.stderr.find(text).unwrap_or_else(|| panic!("{text} is not in {said:?}"));
    assert!(place("first.") < place("second.") && place("second.") < place("third."), "{said:?}");
}

#[test]
fn a_command_that_two_gates_have_runs_once_an_event() {
    let gates = "
- { id: one, on: PreToolUse, check: { run: echo x >> ran.txt } }
- { id: two, on: PreToolUse, check: { run: echo x >> ran.txt } }
";
    let project = project(gates);
    heard(&project);
    assert_eq!(project.read("ran.txt"), "x\n");
}

#[test]
fn a_program_gets_the_event_the_project_and_the_names() {
    let project = project(
        "- on: [PreToolUse, SessionStart]\n  check: { run: 'cat > event.json; pwd > pwd.txt; echo \"$HOOK_EVENT,$HOOK_TOOL_NAME,$HOOK_SESSION_ID,$CLAUDE_PROJECT_DIR\" > names.txt' }",
    );
    let event = reading(&project);
    project.hook(&event);
    let home = project.home().display().to_string();
    assert_eq!(serde_json::from_str::<Value>(&project.read("event.json")).unwrap(), event);
    assert_eq!(project.read("names.txt"), format!("PreToolUse,Read,abc-123,{home}\n"));
    assert_eq!(project.read("pwd.txt"), format!("{home}\n"));
    project
        .hook(&json!({"hook_event_name": "SessionStart", "session_id": "abc-123", "cwd": home, "source": "startup"}));
    assert_eq!(project.read("names.txt"), format!("SessionStart,,abc-123,{home}\n"));
}

#[test]
fn a_program_that_shall_not_get_the_event_gets_none() {
    let project = project("- { on: PreToolUse, check: { run: { command: cat > event.json, event: false } } }");
    heard(&project);
    assert_eq!(project.read("event.json"), "");
    assert!(project.home().join("event.json").exists());
}

#[test]
fn gates_that_rewrite_see_what_those_before_them_have_made() {
    let add = |n: u32| {
        format!(
            "- id: add-{n}\n  on: PreToolUse\n  check:\n    run:\n      rewrites: true\n      command: |\n        sed 's/.*\"limit\":\\([0-9]*\\).*/{{\"ModifyInput\": {{\"new_input\": {{\"limit\":\\1{n}}}}}}}/'\n"
        )
    };
    let (said, _) = heard(&project(&(add(2) + &add(3))));
    assert_eq!(said.json()["hookSpecificOutput"]["updatedInput"], json!({"limit": 123}), "{said:?}");
}

#[test]
fn a_gate_after_a_rewrite_runs_once_and_sees_it() {
    let gates = "
- { id: before, on: PreToolUse, rewrite: { limit: 7 } }
- { id: after, on: PreToolUse, check: { run: 'cat >> seen.txt; echo >> seen.txt' } }
- { id: beside, on: PreToolUse, check: { run: 'echo x >> beside.txt' } }
";
    let project = project(gates);
    heard(&project);
    let seen = project.read("seen.txt");
    assert_eq!(seen.trim().lines().count(), 1, "{seen}");
    assert!(seen.contains(r#""limit":7"#), "{seen}");
    assert_eq!(project.read("beside.txt"), "x\n");
}

/// A server on this machine; `answer` is given each connection once its request has been read.
struct Server {
    port: u16,
    requests: Receiver<String>,
}

impl Server {
    fn start(answer: impl Fn(&mut TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, requests) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let request = request(&mut stream);
                if sender.send(request).is_err() {
                    return;
                }
                answer(&mut stream);
            }
        });
        Self { port, requests }
    }

    fn saying(status: &'static str, body: &'static str) -> Self {
        Self::start(move |stream| {
            let length = body.len();
            let _: std::io::Result<()> = stream.write_all(
                format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}").as_bytes(),
            );
        })
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/gate", self.port)
    }

    fn gate(&self) -> String {
        format!("- {{ id: asked, on: PreToolUse, timeout: 5, check: {{ http: \"{}\" }} }}", self.url())
    }
}

/// Head and body of a request.
fn request(stream: &mut TcpStream) -> String {
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                line.to_lowercase()
                    .strip_prefix("content-length:")
                    .map(|number| number.trim().parse::<usize>().unwrap())
            });
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        match stream.read(&mut buffer) {
            Ok(size @ 1..) => bytes.extend(&buffer[..size]),
            _ => return String::from_utf8_lossy(&bytes).into_owned(),
        }
    }
}

#[test]
fn a_server_gets_the_event_and_its_objection_counts() {
    let server = Server::saying("200 OK", r#"{"Reject": {"reason": "the server says no"}}"#);
    let project = project(&server.gate());
    let (said, _) = heard(&project);
    assert_eq!(said.exit, 2, "{said:?}");
    assert!(said.stderr.contains("the server says no"), "{said:?}");
    let request = server.requests.recv().unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /gate HTTP/1.1"), "{head}");
    assert!(head.to_lowercase().contains("content-type: application/json"), "{head}");
    assert_eq!(serde_json::from_str::<Value>(body).unwrap(), reading(&project));
}

#[test]
fn a_server_that_has_no_objection_is_silent() {
    let server = Server::saying("200 OK", "\"Continue\"");
    let (said, _) = heard(&project(&server.gate()));
    assert_eq!((said.exit, said.stdout.as_str()), (0, ""), "{said:?}");
    let server = Server::saying("204 No Content", "");
    let (said, _) = heard(&project(&server.gate()));
    assert_eq!((said.exit, said.stdout.as_str()), (0, ""), "{said:?}");
}

#[test]
fn a_server_that_never_answers_is_given_up_in_time() {
    let server = Server::start(|_| std::thread::sleep(Duration::from_secs(50)));
    let gate = server.gate().replace("timeout: 5", "timeout: 1");
    let took = refused(&gate, &["Cannot tell", "cannot be asked"]);
    assert!(took < SLACK, "{took:?}");
}

#[test]
fn a_server_that_answers_drop_by_drop_is_given_up_in_time() {
    let server = Server::start(|stream| {
        let _: std::io::Result<()> = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
        for _ in 0..300 {
            std::thread::sleep(Duration::from_millis(200));
            if stream.write_all(b" ").is_err() {
                return;
            }
        }
    });
    let gate = server.gate().replace("timeout: 5", "timeout: 1");
    assert!(refused(&gate, &["Cannot tell", "cannot be asked"]) < SLACK);
}

#[test]
fn a_server_in_trouble_is_no_yes() {
    let server = Server::saying("500 Internal Server Error", "down for lunch");
    refused(&server.gate(), &["answered 500: down for lunch"]);
}

#[test]
fn an_answer_of_ten_megabytes_is_none() {
    let server = Server::start(|stream| {
        let _: std::io::Result<()> = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n");
        for _ in 0..1_000 {
            if stream.write_all(&[b' '; 10_000]).is_err() {
                return;
            }
        }
    });
    refused(&server.gate(), &["Cannot tell", "its answer is larger than 1 MiB"]);
}

#[test]
fn half_a_json_of_a_server_is_no_yes() {
    let server = Server::saying("200 OK", "{\"Reject\": ");
    refused(&server.gate(), &["Cannot tell", "its answer is not JSON"]);
}

#[test]
fn a_server_that_leads_elsewhere_is_not_followed() {
    let other = Server::saying("200 OK", "\"Continue\"");
    let target = other.url().replace("127.0.0.1", "localhost");
    let server = Server::start(move |stream| {
        let head = format!("HTTP/1.1 307 Temporary Redirect\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n");
        let _: std::io::Result<()> = stream.write_all(head.as_bytes());
    });
    refused(&server.gate(), &["Cannot tell", "it leads elsewhere"]);
    assert!(other.requests.try_recv().is_err());
}

#[test]
fn a_server_that_is_down_is_no_yes_and_no_no() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let gate = format!("- {{ on: PreToolUse, unknown: warn, check: {{ http: \"http://127.0.0.1:{port}/x\" }} }}");
    let (said, _) = heard(&project(&gate));
    assert_eq!(said.exit, 0, "{said:?}");
    assert!(said.stdout.contains("modegate warns: Cannot tell") && said.stdout.contains("cannot be asked"), "{said:?}");
}

#[test]
fn what_stands_behind_the_address_is_not_told() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let gate = format!("- {{ on: PreToolUse, check: {{ http: \"http://127.0.0.1:{port}/x?token=hush-7136\" }} }}");
    let (said, _) = heard(&project(&gate));
    assert_eq!(said.exit, 2, "{said:?}");
    assert!(!said.stderr.contains("hush-7136") && !said.stdout.contains("hush-7136"), "{said:?}");
}

fn with_header(server: &Server, env: &str) -> Project {
    project(&format!(
        "- on: PreToolUse\n  check:\n    http:\n      url: \"{}\"\n      method: put\n      headers: {{ Authorization: \"Bearer ${{GATE_TOKEN}}\" }}\n{env}",
        server.url()
    ))
}

fn with_token(project: &Project) -> Said {
    said(project.modegate().arg("hook").env("GATE_TOKEN", "hush-7137"), reading(project).to_string().as_bytes())
}

#[test]
fn a_header_has_the_variables_that_are_allowed() {
    let server = Server::saying("200 OK", "");
    let project = with_header(&server, "      env: [GATE_TOKEN]");
    let said = with_token(&project);
    assert_eq!(said.exit, 0, "{said:?}");
    let request = server.requests.recv().unwrap();
    assert!(request.starts_with("PUT /gate"), "{request}");
    assert!(request.to_lowercase().contains("authorization: bearer hush-7137"), "{request}");
    assert!(!project.read(".claude/hooks/sessions/abc-123.jsonl").contains("hush-7137"));
}

#[test]
fn a_header_has_no_variable_that_is_not_allowed() {
    let server = Server::saying("200 OK", "");
    let said = with_token(&with_header(&server, ""));
    assert_eq!(said.exit, 2, "{said:?}");
    assert!(said.stderr.contains("`${GATE_TOKEN}` in a header is not among the allowed variables"), "{said:?}");
    assert!(server.requests.try_recv().is_err());
}

#[test]
fn a_header_whose_variable_is_not_set_is_not_sent() {
    let server = Server::saying("200 OK", "");
    let project = with_header(&server, "      env: [GATE_TOKEN]");
    let (said, _) = heard(&project);
    assert!(said.exit == 2 && said.stderr.contains("the variable `GATE_TOKEN` is not set"), "{said:?}");
    assert!(server.requests.try_recv().is_err());
}

#[test]
fn servers_may_change_the_input_one_after_the_other_and_are_asked_once() {
    let (one, two) = (
        Server::saying("200 OK", r#"{"ModifyInput": {"new_input": {"limit": 2}}}"#),
        Server::saying("200 OK", r#"{"ModifyInput": {"new_input": {"limit": 3}}}"#),
    );
    let gate = |id: &str, server: &Server| {
        format!(
            "- {{ id: {id}, on: PreToolUse, check: {{ http: {{ url: \"{}\", rewrites: true }} }} }}\n",
            server.url()
        )
    };
    let (said, _) = heard(&project(&(gate("one", &one) + &gate("two", &two))));
    assert_eq!(said.json()["hookSpecificOutput"]["updatedInput"], json!({"limit": 3}), "{said:?}");
    assert_eq!(one.requests.try_iter().count(), 1);
    let seen: Vec<String> = two.requests.try_iter().collect();
    assert!(seen.len() == 1 && seen[0].contains(r#""tool_input":{"limit":2}"#), "{seen:?}");
}

fn hooks_toml(text: &str) -> Project {
    let project = Project::installed();
    project.write(".claude/hooks.toml", text);
    project
}

#[test]
fn a_webhook_of_hooks_toml_takes_its_variables_from_the_settings() {
    let server = Server::saying("200 OK", r#"{"Reject": {"reason": "no reading"}}"#);
    let toml = format!(
        "[[hooks]]\nevent = \"PreToolUse\"\ntool_matcher = \"Re*\"\n[hooks.webhook]\nurl = \"{}\"\nmethod = \"Put\"\nheaders = {{ Authorization = \"Bearer ${{GATE_TOKEN}}\" }}\n",
        server.url()
    );
    let project = hooks_toml(&toml);
    let said = with_token(&project);
    assert_eq!(said.exit, 0, "what cannot be asked is told, and goes on: {said:?}");
    assert!(said.stdout.contains("not among the allowed variables"), "{said:?}");
    assert!(server.requests.try_recv().is_err());
    project.write(".claude/modegate.yaml", "env: [GATE_TOKEN]\n");
    let said = with_token(&project);
    assert!(said.exit == 2 && said.stderr.contains("no reading"), "{said:?}");
    let request = server.requests.recv().unwrap();
    assert!(request.starts_with("PUT /gate"), "{request}");
    assert!(request.to_lowercase().contains("authorization: bearer hush-7137"), "{request}");
}

#[test]
fn a_hook_of_hooks_toml_that_takes_too_long_is_told_and_lets_things_go_on() {
    let project = hooks_toml(
        "[[hooks]]\nname = \"slow\"\nevent = \"PreToolUse\"\ntimeout_sec = 1\n[hooks.shell]\ncommand = \"MARK=slow-7138 exec sleep 600\"\n",
    );
    let (said, took) = heard(&project);
    assert!(took < SLACK, "{took:?}");
    assert_eq!(said.exit, 0, "{said:?}");
    assert!(said.stdout.contains("did not end within 1 s"), "{said:?}");
    nothing_is_left("slow-7138");
}

#[cfg(unix)]
#[test]
fn a_pipe_among_the_context_files_holds_nobody_up() {
    let project = Project::installed();
    project.write(".claude/context/.keep", "");
    project.shell("mkfifo .claude/context/read-pre.md");
    let (said, took) = heard(&project);
    assert!(took < SLACK && said.exit == 0, "{took:?} {said:?}");
}
