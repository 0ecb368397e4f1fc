//! The HTML report in a real browser: contents, keys and clicks, and hostile texts that must stay texts.
//!
//! Chromium runs a script that is appended to the page (`drive.js`) and writes one line per check. Without a browser
//! the tests are ignored. `MODEGATE_CHROMIUM` names a browser; an empty value names none.
//!
//! This is a binary of its own, so that no browser slows down the tests that wait for locks.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop where it cannot go on"
)]

use libtest_mimic::{Arguments, Trial};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SCRIPT: &str = include_str!("drive.js");

/// A text that tries to break out of its place on the page.
const HOSTILE: &str = "</script><script>window.pwned = 1</script><img src=x onerror=\"window.pwned = 1\"> \u{202e}rtl\u{202c} שלום \u{1f9e8} \u{2028} {{data}}";

fn browser() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("MODEGATE_CHROMIUM") {
        return (!named.is_empty()).then(|| PathBuf::from(named));
    }
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

/// A test by its name.
type BrowserTest = (&'static str, fn(&Path));

fn main() {
    let browser = browser();
    let tests: [BrowserTest; 3] = [
        ("the_page_works_in_a_browser", the_page_works_in_a_browser),
        ("a_page_without_differences_says_so", a_page_without_differences_says_so),
        ("a_page_without_data_opens", a_page_without_data_opens),
    ];
    let trials = tests.map(|(name, test)| {
        let (path, missing) = (browser.clone().unwrap_or_default(), browser.is_none());
        let run = move || {
            test(&path);
            Ok(())
        };
        Trial::test(name, run).with_ignored_flag(missing)
    });
    libtest_mimic::run(&Arguments::from_args(), trials.into()).exit();
}

/// The page that `replay --html` writes, with `data` in place of its own; unit tests check how that is escaped.
fn page(folder: &Path, data: &Value) -> String {
    const DATA: &str = "<script type=\"application/json\" id=\"data\">";
    let file = folder.join("page.html");
    let recording = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recordings/demo.jsonl");
    let mut replay = Command::new(env!("CARGO_BIN_EXE_modegate"));
    replay.arg("replay").arg(recording).arg("--html").arg(&file).current_dir(folder).output().unwrap();
    let page = std::fs::read_to_string(file).unwrap();
    let (before, rest) = page.split_once(DATA).unwrap();
    let (_, after) = rest.split_once("</script>").unwrap();
    let json = data.to_string().replace('<', "\\u003c");
    format!("{before}{DATA}{json}</script>{after}")
}

/// The lines that the appended script writes about the page of `data`.
fn driven(browser: &Path, data: &Value, part: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    let page = page(folder.path(), data);
    let script = format!("<pre id=\"result\"></pre><script>const PART = {part:?};\n{SCRIPT}</script></body>");
    let (before, after) = page.rsplit_once("</body>").unwrap();
    std::fs::write(&file, format!("{before}{script}{after}")).unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"])
        .args(["--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--window-size=1400,1000"])
        .args(["--virtual-time-budget=60000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(address(&file))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    let result = dom.split_once("<pre id=\"result\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    result.map(|(lines, _)| lines.lines().map(str::to_owned).collect()).unwrap_or_default()
}

fn address(file: &Path) -> String {
    let mut address = "file://".to_owned();
    for byte in file.to_string_lossy().bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => address.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => address.push(char::from(byte)),
            byte => write!(address, "%{byte:02X}").unwrap(),
        }
    }
    address
}

#[track_caller]
fn assert_fine(lines: &[String]) {
    let wrong: Vec<&String> = lines.iter().filter(|line| line.starts_with("FAIL")).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(lines.last().map(String::as_str), Some("DONE"), "the script did not finish: {lines:#?}");
    assert!(lines.iter().filter(|line| line.starts_with("PASS")).count() > 3, "{lines:#?}");
}

fn modes() -> Value {
    let gate = |id: &str, says: &str| json!({ "id": id, "says": says });
    json!([
        { "name": "plan", "about": "A consulted plan.", "commands": ["/plan"], "phases": [
            { "name": "draft", "worker": "strategic-planner",
              "before": [gate("research-is-there", "Research report not found.")],
              "after": [gate("plan-is-written", "Plan not created.")] },
            { "name": "repair", "worker": "troubleshooter", "detour": true },
            { "name": "consult", "worker": "consulting-expert", "after": [gate("plan-is-consulted", "Plan not consulted.")] },
        ] },
        { "name": HOSTILE, "phases": [{ "name": HOSTILE, "worker": HOSTILE, "before": [gate(HOSTILE, HOSTILE)] }, {}] },
    ])
}

/// A planner whose stop is blocked, then allowed; two decisions differ from before.
fn story() -> Value {
    let failed = json!({ "truth": "fails", "saw": "none of 2 passes", "parts": [
        { "truth": "fails", "saw": "no file matches plans/*.md", "remedy": "write plans/plan.md" },
        { "truth": "unknown", "saw": "unknown" },
    ] });
    let blocked = json!({ "mode": "plan", "phase": "draft", "gate": "plan-is-written", "verdict": "block",
        "reason": "Plan not created. Continue working.", "outcome": failed });
    let allowed = json!({ "mode": "plan", "phase": "draft", "gate": "plan-is-written", "verdict": "pass",
        "outcome": { "truth": "passes", "saw": "`plans/plan.md` exists" } });
    json!({ "id": "story", "file": "a/story.jsonl", "source": "journal", "events": [
        { "line": 1, "at": "2026-11-16T04:17:39.05Z", "event": "UserPromptSubmit(/plan x)", "kind": "UserPromptSubmit", "outcome": "allowed",
          "verdict": "pass", "moves": ["plan mode activated"], "modes": { "plan": "draft" }, "change": "same", "context": ["Planning Phase."],
          "reply": { "stdout": "{\"a\":{\"b\":1}}", "exit": 0 } },
        { "line": 2, "at": "2026-11-16T04:17:40Z", "event": "SubagentStop(strategic-planner)", "kind": "SubagentStop", "agent": "strategic-planner",
          "agent_id": "a1", "outcome": "blocked", "verdict": "block", "reason": "Plan not created. Continue working.", "modes": { "plan": "draft" },
          "change": "newly_blocked", "was": { "verdict": "pass", "moves": ["plan: draft done"] }, "findings": [blocked],
          "facts": [["which files match plans/*.md?", "none"]], "reply": { "stdout": "{\"decision\":\"block\"}", "stderr": "oh", "exit": 2 } },
        { "line": 3, "at": "2026-11-16T04:18:40Z", "event": "SubagentStop(strategic-planner)", "kind": "SubagentStop", "agent": "strategic-planner",
          "agent_id": "a1", "outcome": "allowed", "verdict": "pass", "modes": { "plan": "consult" }, "moves": ["plan: draft done"],
          "change": "same", "findings": [allowed], "expected": { "verdict": "block" }, "met": false },
        { "line": 4, "event": "PostToolUse(Bash)", "kind": "PostToolUse", "tool": "Bash", "outcome": "allowed", "verdict": "pass",
          "change": "undecidable", "unrecorded": ["which commit is HEAD?"], "messages": ["for the user"] },
    ] })
}

fn hostile() -> Value {
    let finding = json!({ "mode": HOSTILE, "phase": HOSTILE, "gate": HOSTILE, "verdict": "block", "reason": HOSTILE,
        "outcome": { "truth": HOSTILE, "saw": HOSTILE, "remedy": HOSTILE, "parts": [{}, 7, { "truth": "fails" }] } });
    json!({ "id": HOSTILE, "file": HOSTILE, "source": HOSTILE, "events": [
        { "line": 1, "at": HOSTILE, "event": HOSTILE, "agent": HOSTILE, "agent_id": HOSTILE, "outcome": HOSTILE, "verdict": "block",
          "reason": HOSTILE.repeat(40), "context": [HOSTILE], "messages": [HOSTILE], "moves": [HOSTILE], "modes": { HOSTILE: HOSTILE, "__proto__": "x" },
          "change": "drift", "was": { "verdict": HOSTILE, "reason": HOSTILE, "moves": [HOSTILE] }, "unrecorded": [HOSTILE],
          "expected": { "verdict": HOSTILE, "reason": HOSTILE }, "met": false, "findings": [finding, 3, null],
          "facts": [[HOSTILE, HOSTILE], ["x".repeat(5000), "y".repeat(5000)], 1], "reply": { "stdout": HOSTILE, "stderr": HOSTILE, "exit": 2 } },
        {}, null, 5, { "change": "__proto__", "verdict": "constructor", "modes": [], "facts": {}, "findings": {} },
    ] })
}

/// A long session of many agents.
fn long() -> Value {
    let event = |line: usize| {
        let verdict = if line.is_multiple_of(37) { "block" } else { "pass" };
        let mut event = json!({ "line": line, "event": format!("PreToolUse(Bash {line})"), "kind": "PreToolUse", "tool": "Bash",
            "at": format!("2026-11-16T{:02}:{:02}:{:02}Z", line / 3600, line / 60 % 60, line % 60), "verdict": verdict, "outcome": verdict,
            "change": if line.is_multiple_of(500) { "changed_reason" } else { "same" }, "modes": { "plan": if line < 2500 { "draft" } else { "consult" } },
            "findings": [{ "mode": "plan", "gate": "plan-is-written", "verdict": verdict, "outcome": { "truth": "passes", "saw": "x" } }] });
        if !line.is_multiple_of(3) {
            event["agent"] = json!(if line.is_multiple_of(2) { "worker" } else { "helper" });
            event["agent_id"] = json!(format!("agent-{}", line % 200));
        }
        event
    };
    json!({ "id": "long", "source": "stream", "events": (1..=5000).map(event).collect::<Vec<_>>() })
}

fn the_page_works_in_a_browser(browser: &Path) {
    let data = json!({ "modegate": "0.1.0", "comparison": "modes", "modes": modes(), "sessions": [story(), hostile(), long()],
        "summary": { "sessions": 3, "events": 5007, "newly_blocked": 1, "drift": 1, "changed_reason": 10, "undecidable": 1, "unmet": 2 },
        "problems": [{ "file": "x.jsonl", "line": 12, "what": "the last line is cut off" }, { "what": HOSTILE }],
        "left_out": { "sessions": 2, "events": 30 } });
    assert_fine(&driven(browser, &data, "full"));
}

fn a_page_without_differences_says_so(browser: &Path) {
    let mut calm = story();
    calm["events"] = json!([calm["events"][0]]);
    assert_fine(&driven(
        browser,
        &json!({ "comparison": "drift", "summary": { "events": 1, "sessions": 1 }, "sessions": [calm] }),
        "calm",
    ));
}

fn a_page_without_data_opens(browser: &Path) {
    for data in
        [json!(null), json!({ "sessions": [{ "id": "quiet" }, {}, 3], "modes": null, "summary": 3, "problems": {} })]
    {
        assert_fine(&driven(browser, &data, "empty"));
    }
}
