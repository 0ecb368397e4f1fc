//! Gates that run real programs and ask a real server, including those that hang, fork and flood.

use crate::project::{CommandOutput, Project, run_command};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
#[cfg(target_os = "linux")]
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A project whose base mode has these gates, written as a YAML list.
fn project(gates: &str) -> Project {
    let project = Project::installed();
    let lines: Vec<&str> = gates.trim().lines().collect();
    project.write(".claude/modes/base.yaml", format!("mode: base\ngates:\n  {}\n", lines.join("\n  ")));
    project
}

fn read_event(project: &Project) -> Value {
    json!({
        "hook_event_name": "PreToolUse", "session_id": "abc-123", "cwd": project.home(),
        "tool_name": "Read", "tool_input": {"file_path": "a.txt", "limit": 1}, "tool_use_id": "toolu_1"
    })
}

/// Sends a `Read` through the hook.
fn send_read(project: &Project) -> CommandOutput {
    project.hook(&read_event(project))
}

#[track_caller]
fn check_blocked(gates: &str, reasons: &[&str]) {
    let output = send_read(&project(gates));
    assert_eq!(output.exit, 2, "{output:?}");
    for text in reasons {
        assert!(output.stderr.contains(text), "{text:?} is not in {output:?}");
    }
}

/// The processes with a mark in their environment or command line.
#[cfg(target_os = "linux")]
fn processes_with(mark: &str) -> Vec<PathBuf> {
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

/// Waits until no process with this mark is left.
#[cfg(target_os = "linux")]
#[track_caller]
fn check_all_killed(mark: &str) {
    for _ in 0..500 {
        if processes_with(mark).is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(processes_with(mark).is_empty(), "still running: {:?}", processes_with(mark));
}

#[cfg(not(target_os = "linux"))]
fn check_all_killed(_: &str) {}

#[test]
fn a_gate_that_hangs_is_killed_and_named() {
    let gates = "- { id: hanging, on: PreToolUse, timeout: 1, check: { run: MARK=hang-7131 exec sleep 600 } }";
    check_blocked(
        gates,
        &["Cannot tell: `MARK=hang-7131 exec sleep 600` was killed, because it did not end within 1 s"],
    );
    check_all_killed("hang-7131");
}

#[test]
fn a_gate_that_forks_and_hangs_leaves_no_process_behind() {
    let gates = r#"- { id: forking, on: PreToolUse, timeout: 1, check: { run: "export MARK=fork-7132; (sleep 600 & sleep 600) & sleep 600 & wait" } }"#;
    check_blocked(gates, &["was killed, because it did not end within 1 s"]);
    check_all_killed("fork-7132");
}

#[test]
fn the_result_counts_when_a_child_keeps_the_pipes_open() {
    let gates = r#"
- id: leaving
  on: PreToolUse
  check: { run: "export MARK=left-7133; sleep 600 & echo '[\"block\", \"not today\"]'" }
"#;
    check_blocked(gates, &["objects: not today"]);
    check_all_killed("left-7133");
}

#[test]
fn a_child_that_outlives_its_gate_is_killed() {
    let gates =
        r#"- { on: PreToolUse, check: { run: "export MARK=quiet-7139; sleep 600 > /dev/null 2>&1 & exit 1" } }"#;
    check_blocked(gates, &["exited with 1"]);
    check_all_killed("quiet-7139");
}

#[test]
fn a_gate_that_ignores_signals_is_killed() {
    let gates =
        r#"- { on: PreToolUse, timeout: 1, check: { run: "export MARK=deaf-7134; trap '' TERM INT HUP; sleep 600" } }"#;
    check_blocked(gates, &["did not end within 1 s"]);
    check_all_killed("deaf-7134");
}

#[test]
fn only_the_beginning_of_a_gigabyte_of_output_is_kept() {
    let gates = r#"- { id: flood, on: PreToolUse, timeout: 20, check: { run: "head -c 1000000000 /dev/zero | tr '\\0' x; exit 1" } }"#;
    let project = project(gates);
    let limited = "ulimit -v 400000; exec \"$0\" hook";
    let mut command = project.modegate();
    let mut shell = project.plain("sh");
    shell.args(["-c", limited]).arg(command.get_program()).current_dir(project.home());
    shell.env("CLAUDE_PROJECT_DIR", project.home());
    command = shell;
    let output = run_command(&mut command, read_event(&project).to_string().as_bytes());
    assert_eq!(output.exit, 2, "{} {}", output.exit, output.stderr.len());
    assert!(output.stderr.len() < 10_000, "{}", output.stderr.len());
    let journal = project.read(".claude/hooks/sessions/abc-123.jsonl");
    assert!(journal.len() < 1_000_000, "{}", journal.len());
}

#[test]
fn incomplete_json_does_not_pass() {
    let gates = r#"- { id: half, on: PreToolUse, check: { run: "printf '{\"decision\": \"blo'" } }"#;
    check_blocked(gates, &["Cannot tell", "printed no readable answer: its answer is not JSON"]);
}

#[test]
fn a_gate_that_is_killed_by_a_signal_does_not_pass() {
    check_blocked(
        "- { id: dying, on: PreToolUse, check: { run: 'kill -9 $$' } }",
        &["Cannot tell: `kill -9 $$` was ended by a signal"],
    );
}

#[test]
fn a_missing_program_is_unknown() {
    let gates = "- { id: absent, on: PreToolUse, check: { run: no-such-program-7135 }, fail: block, unknown: warn }";
    let output = send_read(&project(gates));
    assert_eq!(output.exit, 0, "{output:?}");
    assert!(output.stdout.contains("modegate warns: Cannot tell: `no-such-program-7135` cannot be run"), "{output:?}");
}

#[test]
fn the_shell_of_a_gate_is_not_looked_up_on_path() {
    let project = project("- { id: own-shell, on: PreToolUse, check: { run: exit 0 } }");
    project.write("bin/sh", "#!/bin/sh\nexit 3\n");
    project.shell("chmod +x bin/sh");
    for path in ["", project.home().join("bin").to_str().unwrap()] {
        let output =
            run_command(project.modegate().arg("hook").env("PATH", path), read_event(&project).to_string().as_bytes());
        assert_eq!(output.exit, 0, "{output:?}");
    }
}

#[test]
fn a_gate_need_not_read_its_input() {
    let project = project("- { on: PreToolUse, timeout: 20, check: { run: exit 3 } }");
    let mut event = read_event(&project);
    event["tool_input"]["content"] = "x".repeat(2_000_000).into();
    let output = project.hook(&event);
    assert!(output.exit == 2 && output.stderr.contains("`exit 3` exited with 3"), "{output:?}");
}

#[test]
fn output_with_invalid_utf8_is_shown() {
    check_blocked(
        r#"- { on: PreToolUse, check: { run: "printf 'bad \\377 byte' >&2; exit 1" } }"#,
        &["exited with 1: bad \u{fffd} byte"],
    );
}

#[test]
fn gates_run_at_the_same_time() {
    // Each waits for the file of the other.
    let wait_for = |own: &str, other: &str| {
        format!(
            "- {{ on: PreToolUse, timeout: 30, check: {{ run: 'touch {own}; until [ -e {other} ]; do sleep 0.05; done' }} }}\n"
        )
    };
    let output = send_read(&project(&(wait_for("one", "two") + &wait_for("two", "one"))));
    assert_eq!((output.exit, output.stdout.as_str()), (0, ""), "{output:?}");
}

#[test]
fn reasons_are_in_file_order() {
    let gates = "
- { id: slow, on: PreToolUse, check: { run: 'sleep 1; echo first; exit 1' } }
- { id: quick, on: PreToolUse, check: { run: 'echo second; exit 1' } }
- { id: plain, on: PreToolUse, deny: third. }
";
    let output = send_read(&project(gates));
    let place = |text: &str| output.stderr.find(text).unwrap_or_else(|| panic!("{text} is not in {output:?}"));
    assert!(place("first.") < place("second.") && place("second.") < place("third."), "{output:?}");
}

#[test]
fn a_command_of_two_gates_runs_once_per_event() {
    let gates = "
- { id: one, on: PreToolUse, check: { run: echo x >> ran.txt } }
- { id: two, on: PreToolUse, check: { run: echo x >> ran.txt } }
";
    let project = project(gates);
    send_read(&project);
    assert_eq!(project.read("ran.txt"), "x\n");
}

#[test]
fn a_program_gets_the_event_the_project_and_the_names() {
    let project = project(
        "- on: [PreToolUse, SessionStart]\n  check: { run: 'cat > event.json; pwd > pwd.txt; echo \"$HOOK_EVENT,$HOOK_TOOL_NAME,$HOOK_SESSION_ID,$CLAUDE_PROJECT_DIR\" > names.txt' }",
    );
    let event = read_event(&project);
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
fn a_program_gets_no_event_if_that_is_disabled() {
    let project = project("- { on: PreToolUse, check: { run: { command: cat > event.json, event: false } } }");
    send_read(&project);
    assert_eq!(project.read("event.json"), "");
    assert!(project.home().join("event.json").exists());
}

#[test]
fn a_gate_that_rewrites_sees_earlier_rewrites() {
    let add = |n: u32| {
        format!(
            "- id: add-{n}\n  on: PreToolUse\n  check:\n    run:\n      rewrites: true\n      command: |\n        sed 's/.*\"limit\":\\([0-9]*\\).*/{{\"ModifyInput\": {{\"new_input\": {{\"limit\":\\1{n}}}}}}}/'\n"
        )
    };
    let output = send_read(&project(&(add(2) + &add(3))));
    assert_eq!(output.json()["hookSpecificOutput"]["updatedInput"], json!({"limit": 123}), "{output:?}");
}

#[test]
fn a_gate_after_a_rewrite_runs_once_and_sees_it() {
    let gates = "
- { id: before, on: PreToolUse, rewrite: { limit: 7 } }
- { id: after, on: PreToolUse, check: { run: 'cat >> seen.txt; echo >> seen.txt' } }
- { id: beside, on: PreToolUse, check: { run: 'echo x >> beside.txt' } }
";
    let project = project(gates);
    send_read(&project);
    let seen = project.read("seen.txt");
    assert_eq!(seen.trim().lines().count(), 1, "{seen}");
    assert!(seen.contains(r#""limit":7"#), "{seen}");
    assert_eq!(project.read("beside.txt"), "x\n");
}

/// A server on this machine; `answer` is given each connection once its request has been read.
pub struct Server {
    pub port: u16,
    pub requests: Receiver<String>,
}

impl Server {
    pub fn start(answer: impl Fn(&mut TcpStream) + Send + 'static) -> Self {
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

    pub fn saying(status: &'static str, body: &'static str) -> Self {
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
fn a_server_gets_the_event_and_can_block_it() {
    let server = Server::saying("200 OK", r#"{"Reject": {"reason": "the server says no"}}"#);
    let project = project(&server.gate());
    let output = send_read(&project);
    assert_eq!(output.exit, 2, "{output:?}");
    assert!(output.stderr.contains("the server says no"), "{output:?}");
    let request = server.requests.recv().unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /gate HTTP/1.1"), "{head}");
    assert!(head.to_lowercase().contains("content-type: application/json"), "{head}");
    assert_eq!(serde_json::from_str::<Value>(body).unwrap(), read_event(&project));
}

/// It would read the event, and could answer in the place of the server.
#[test]
fn a_proxy_that_a_projects_settings_name_is_not_used() {
    let server = Server::saying("200 OK", r#"{"Reject": {"reason": "the server says no"}}"#);
    let project = project(&server.gate());
    let send = || {
        let event = read_event(&project).to_string();
        let mut command = project.modegate();
        crate::project::run_command(command.env("HTTP_PROXY", "http://127.0.0.1:1").arg("hook"), event.as_bytes())
    };
    let output = send();
    assert!(output.stderr.contains("failed"), "the user's proxy is used: {output:?}");
    // The test trusts the project through a variable, which is not in these settings.
    project.write(".claude/settings.json", r#"{"env": {"http_proxy": "http://127.0.0.1:1"}}"#);
    let output = send();
    assert!(output.stderr.contains("the server says no"), "{output:?}");
}

#[test]
fn a_server_without_objection_passes() {
    let server = Server::saying("200 OK", "\"Continue\"");
    let output = send_read(&project(&server.gate()));
    assert_eq!((output.exit, output.stdout.as_str()), (0, ""), "{output:?}");
    let server = Server::saying("204 No Content", "");
    let output = send_read(&project(&server.gate()));
    assert_eq!((output.exit, output.stdout.as_str()), (0, ""), "{output:?}");
}

/// Returns when the client closes the connection.
pub fn wait_for_close(stream: &mut TcpStream) {
    stream.set_read_timeout(None).unwrap();
    let _: std::io::Result<usize> = stream.read(&mut [0]);
}

#[test]
fn a_server_that_never_answers_times_out() {
    let server = Server::start(wait_for_close);
    let gate = server.gate().replace("timeout: 5", "timeout: 1");
    check_blocked(&gate, &["Cannot tell", "did not answer within 1 s"]);
}

#[test]
fn a_server_that_answers_byte_by_byte_times_out() {
    let server = Server::start(|stream| {
        let _: std::io::Result<()> = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
        while stream.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    let gate = server.gate().replace("timeout: 5", "timeout: 1");
    check_blocked(&gate, &["Cannot tell", "did not answer within 1 s"]);
}

#[test]
fn a_server_error_does_not_pass() {
    let server = Server::saying("500 Internal Server Error", "down for lunch");
    check_blocked(&server.gate(), &["answered 500: down for lunch"]);
}

#[test]
fn an_answer_of_ten_megabytes_does_not_pass() {
    let server = Server::start(|stream| {
        let _: std::io::Result<()> = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n");
        for _ in 0..1_000 {
            if stream.write_all(&[b' '; 10_000]).is_err() {
                return;
            }
        }
    });
    check_blocked(&server.gate(), &["Cannot tell", "its response is larger than 1 MiB"]);
}

#[test]
fn incomplete_json_of_a_server_does_not_pass() {
    let server = Server::saying("200 OK", "{\"Reject\": ");
    check_blocked(&server.gate(), &["Cannot tell", "its answer is not JSON"]);
}

#[test]
fn a_redirect_is_not_followed() {
    let other = Server::saying("200 OK", "\"Continue\"");
    let target = other.url().replace("127.0.0.1", "localhost");
    let server = Server::start(move |stream| {
        let head = format!("HTTP/1.1 307 Temporary Redirect\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n");
        let _: std::io::Result<()> = stream.write_all(head.as_bytes());
    });
    check_blocked(&server.gate(), &["Cannot tell", "it redirects elsewhere"]);
    assert!(other.requests.try_recv().is_err());
}

#[test]
fn a_server_that_is_down_is_unknown() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let gate = format!("- {{ on: PreToolUse, unknown: warn, check: {{ http: \"http://127.0.0.1:{port}/x\" }} }}");
    let output = send_read(&project(&gate));
    assert_eq!(output.exit, 0, "{output:?}");
    assert!(
        output.stdout.contains("modegate warns: Cannot tell") && output.stdout.contains("request to "),
        "{output:?}"
    );
}

/// The server ends each connection at once: with TLS the handshake fails, without TLS it is not even asked.
#[test]
fn an_https_server_needs_a_build_with_tls() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, connections) = channel();
    std::thread::spawn(move || listener.incoming().try_for_each(|_| sender.send(())));
    let gate = format!("- {{ on: PreToolUse, check: {{ http: \"https://127.0.0.1:{port}/x\" }} }}");
    let why =
        if cfg!(feature = "tls") { "the request to " } else { "built without TLS; build it with `--features tls`" };
    check_blocked(&gate, &["Cannot tell", why]);
    assert_eq!(connections.try_recv().is_ok(), cfg!(feature = "tls"));
}

#[test]
fn the_query_of_a_url_is_not_shown() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let gate = format!("- {{ on: PreToolUse, check: {{ http: \"http://127.0.0.1:{port}/x?token=hush-7136\" }} }}");
    let output = send_read(&project(&gate));
    assert_eq!(output.exit, 2, "{output:?}");
    assert!(!output.stderr.contains("hush-7136") && !output.stdout.contains("hush-7136"), "{output:?}");
}

fn with_header(server: &Server, env: &str) -> Project {
    project(&format!(
        "- on: PreToolUse\n  check:\n    http:\n      url: \"{}\"\n      method: put\n      headers: {{ Authorization: \"Bearer ${{GATE_TOKEN}}\" }}\n{env}",
        server.url()
    ))
}

fn with_token(project: &Project) -> CommandOutput {
    run_command(
        project.modegate().arg("hook").env("GATE_TOKEN", "hush-7137"),
        read_event(project).to_string().as_bytes(),
    )
}

#[test]
fn a_header_can_use_allowed_variables() {
    let server = Server::saying("200 OK", "");
    let project = with_header(&server, "      env: [GATE_TOKEN]");
    let unlisted = with_token(&project);
    assert!(unlisted.exit == 2 && server.requests.try_recv().is_err(), "a project cannot allow it: {unlisted:?}");
    project.write("../.claude/modegate.yaml", "env: [GATE_TOKEN]\n");
    let output = with_token(&project);
    assert_eq!(output.exit, 0, "{output:?}");
    let request = server.requests.recv().unwrap();
    assert!(request.starts_with("PUT /gate"), "{request}");
    assert!(request.to_lowercase().contains("authorization: bearer hush-7137"), "{request}");
    assert!(!project.read(".claude/hooks/sessions/abc-123.jsonl").contains("hush-7137"));
}

#[test]
fn a_header_cannot_use_other_variables() {
    let server = Server::saying("200 OK", "");
    let output = with_token(&with_header(&server, ""));
    assert_eq!(output.exit, 2, "{output:?}");
    assert!(output.stderr.contains("`${GATE_TOKEN}` in a header is not among the allowed variables"), "{output:?}");
    assert!(server.requests.try_recv().is_err());
}

#[test]
fn a_header_with_an_unset_variable_is_not_sent() {
    let server = Server::saying("200 OK", "");
    let project = with_header(&server, "      env: [GATE_TOKEN]");
    project.write("../.claude/modegate.yaml", "env: [GATE_TOKEN]\n");
    let output = send_read(&project);
    assert!(output.exit == 2 && output.stderr.contains("the variable `GATE_TOKEN` is not set"), "{output:?}");
    assert!(server.requests.try_recv().is_err());
}

#[test]
fn servers_rewrite_the_input_in_order_and_are_asked_once() {
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
    let output = send_read(&project(&(gate("one", &one) + &gate("two", &two))));
    assert_eq!(output.json()["hookSpecificOutput"]["updatedInput"], json!({"limit": 3}), "{output:?}");
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
    let output = with_token(&project);
    assert_eq!(output.exit, 2, "a webhook that cannot be reached rejects: {output:?}");
    assert!(output.stdout.contains("not among the allowed variables"), "{output:?}");
    assert!(server.requests.try_recv().is_err());
    project.write(".claude/modegate.yaml", "env: [GATE_TOKEN]\n");
    assert!(with_token(&project).stdout.contains("not among the allowed"), "a project's settings do not count");
    assert!(server.requests.try_recv().is_err());
    project.write("../.claude/modegate.yaml", "env: [GATE_TOKEN]\n");
    let output = with_token(&project);
    assert!(output.exit == 2 && output.stderr.contains("no reading"), "{output:?}");
    let request = server.requests.recv().unwrap();
    assert!(request.starts_with("PUT /gate"), "{request}");
    assert!(request.to_lowercase().contains("authorization: bearer hush-7137"), "{request}");
}

#[test]
fn a_webhook_of_the_users_own_hooks_toml_uses_the_variables_of_the_users_own_settings() {
    let server = Server::saying("200 OK", r#"{"Reject": {"reason": "no reading"}}"#);
    let project = Project::installed();
    let config = project.home().parent().unwrap().join(".claude");
    std::fs::create_dir_all(&config).unwrap();
    let toml = format!(
        "[[hooks]]\nevent = \"PreToolUse\"\n[hooks.webhook]\nurl = \"{}\"\nheaders = {{ Authorization = \"Bearer ${{GATE_TOKEN}}\" }}\n",
        server.url()
    );
    std::fs::write(config.join("hooks.toml"), toml).unwrap();
    let output = with_token(&project);
    assert!(output.exit == 2 && output.stderr.contains("not among the allowed variables"), "{output:?}");
    std::fs::write(config.join("modegate.yaml"), "env: [GATE_TOKEN]\n").unwrap();
    let output = with_token(&project);
    assert!(output.exit == 2 && output.stderr.contains("no reading"), "{output:?}");
    let request = server.requests.recv().unwrap();
    assert!(request.to_lowercase().contains("authorization: bearer hush-7137"), "{request}");
}

#[track_caller]
fn check_webhook(status: &'static str, body: &'static str, exit: i32, text: &str) {
    let server = Server::saying(status, body);
    let toml = format!("[[hooks]]\nevent = \"PreToolUse\"\n[hooks.webhook]\nurl = \"{}\"\n", server.url());
    let output = send_read(&hooks_toml(&toml));
    assert_eq!(output.exit, exit, "{output:?}");
    assert!(output.stdout.contains(text), "{text:?} is not in {output:?}");
}

#[test]
fn the_answer_of_a_webhook_of_hooks_toml_decides() {
    check_webhook("403 Forbidden", "closed", 2, "answered 403: closed");
    check_webhook("200 OK", r#"{"Reject": {"reason": "not this"}}"#, 2, "not this");
    check_webhook("200 OK", r#"{"ModifyInput": {"new_input": {"limit": 2}}}"#, 0, r#""updatedInput":{"limit":2}"#);
    check_webhook("200 OK", "\"Continue\"", 0, "");
    check_webhook("204 No Content", "", 0, "");
    check_webhook("200 OK", "thanks", 0, "");
    check_webhook("200 OK", "{\"Reject\": ", 0, "sent no readable answer");
}

#[test]
fn a_slow_webhook_of_hooks_toml_is_reported_and_does_not_block() {
    let server = Server::start(wait_for_close);
    let toml =
        format!("[[hooks]]\nevent = \"PreToolUse\"\ntimeout_sec = 1\n[hooks.webhook]\nurl = \"{}\"\n", server.url());
    let output = send_read(&hooks_toml(&toml));
    assert_eq!(output.exit, 0, "{output:?}");
    assert!(output.stdout.contains("did not answer within 1 s"), "{output:?}");
}

#[test]
fn a_webhook_of_hooks_toml_on_a_closed_port_rejects() {
    let toml =
        |event: &str| format!("[[hooks]]\nevent = \"{event}\"\n[hooks.webhook]\nurl = \"http://127.0.0.1:9/gate\"\n");
    let output = send_read(&hooks_toml(&toml("PreToolUse")));
    assert!(
        output.exit == 2 && output.stderr.contains("No answer: the request to http://127.0.0.1:9/gate failed"),
        "{output:?}"
    );
    let after = json!({"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Read", "tool_input": {}, "tool_response": {}});
    let output = hooks_toml(&toml("PostToolUse")).hook(&after);
    assert_eq!((output.exit, output.stdout.as_str()), (0, ""), "{output:?}");
}

#[test]
fn a_slow_hook_of_hooks_toml_is_reported_and_does_not_block() {
    let project = hooks_toml(
        "[[hooks]]\nname = \"slow\"\nevent = \"PreToolUse\"\ntimeout_sec = 1\n[hooks.shell]\ncommand = \"MARK=slow-7138 exec sleep 600\"\n",
    );
    let output = send_read(&project);
    assert_eq!(output.exit, 0, "{output:?}");
    assert!(output.stdout.contains("did not end within 1 s"), "{output:?}");
    check_all_killed("slow-7138");
}

#[cfg(unix)]
#[test]
fn a_pipe_among_the_context_files_does_not_hang_the_hook() {
    let project = Project::installed();
    project.write(".claude/context/.keep", "");
    project.shell("mkfifo .claude/context/read-pre.md");
    let output = send_read(&project);
    assert_eq!(output.exit, 0, "{output:?}");
}
