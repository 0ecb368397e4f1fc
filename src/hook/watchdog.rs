//! The reply of a hook that crashes or takes too long, and the one place that prints a reply.

use super::reply::{self, Reply};
use crate::host::event::Event;
use base::crash;
use base::screen;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The size of an event, in bytes, above which its analysis is watched. Shorter ones are limited by counted work alone: starting a
/// thread would slow down every event.
const LONG_EVENT: usize = 4 * 1024;

/// How long the analysis of an event may take; counted work ends nearly all of them long before.
const LONGEST_ANALYSIS: Duration = Duration::from_secs(3);

/// The event, for the reply after a crash.
static EVENT: OnceLock<Vec<u8>> = OnceLock::new();

pub(super) fn keep_event(bytes: Vec<u8>) -> &'static [u8] {
    EVENT.get_or_init(|| bytes)
}

/// Replies after a panic in any thread: a bug must not stop the user's work, and is reported like any other problem.
pub(super) fn handle_panics() {
    crash::handle_panics(|_| end_after_crash());
}

/// Ends the analysis of a long event after a time limit.
pub(super) fn watch_long_event(bytes: &[u8], exit_zero: bool) {
    if bytes.len() > LONG_EVENT {
        crash::watch_analyses(LONGEST_ANALYSIS, move || end_after_time(exit_zero));
    }
}

/// Nothing has been printed yet: that is the last thing the hook does.
fn end_after_crash() {
    // A panic here would end the hook without a reply, so the event is only parsed if that has worked before.
    let event = EVENT.get().filter(|_| crash::is_analyzing()).and_then(|bytes| Event::parse(bytes).ok());
    end_with(&event.map_or_else(reply::crashed, |event| reply::crashed_on_command(&event)), false);
}

/// Replies in place of an analysis that takes too long: without an answer, the host goes on as if the gates had passed.
fn end_after_time(exit_zero: bool) {
    let event = EVENT.get().and_then(|bytes| Event::parse(bytes).ok());
    end_with(&event.map_or_else(reply::crashed, |event| reply::too_slow(&event)), exit_zero);
}

#[expect(clippy::exit, reason = "nothing is left to do, and a program that panicked cannot end in another way")]
pub(super) fn end_with(reply: &Reply, exit_zero: bool) {
    static IS_REPLYING: AtomicBool = AtomicBool::new(false);
    if IS_REPLYING.swap(true, Ordering::Relaxed) {
        // Another thread ends the process.
        std::thread::sleep(Duration::from_secs(1));
    } else {
        print(reply);
    }
    std::process::exit(if exit_zero { 0 } else { i32::from(reply.exit) });
}

/// Prints a reply with one write per stream, so that nobody reads half of it.
pub(super) fn print(reply: &Reply) {
    if !reply.stdout.is_empty() {
        let _: io::Result<()> = io::stdout().write_all(format!("{}\n", reply.stdout).as_bytes());
    }
    if !reply.stderr.is_empty() {
        screen::print_error(&reply.stderr);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_crash_gets_a_reply() {
        let allowed =
            r#"{"systemMessage":"modegate: a bug in modegate stopped it from deciding this event; it was allowed"}"#;
        let asked = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"modegate: a bug in modegate stopped it from analyzing this command, so its gates were not run"}}"#;
        for (crash, event, reply) in [
            ("", "PreToolUse", allowed),
            ("thread", "PreToolUse", allowed),
            ("analysis", "PreToolUse", asked),
            ("analysis in thread", "PreToolUse", asked),
            ("analysis", "PostToolUse", allowed),
            // Who waits for such a thread goes on without it.
            ("contained thread", "PreToolUse", "went on"),
        ] {
            // The crash ends a process of its own.
            let mut test = Command::new(std::env::current_exe().unwrap());
            let test = test.args(["--exact", "hook::watchdog::tests::crashes", "--nocapture"]);
            let output = test.env("MODEGATE_TEST_CRASH", crash).env("MODEGATE_TEST_EVENT", event).output().unwrap();
            let printed = String::from_utf8(output.stdout).unwrap();
            assert_eq!(output.status.code(), Some(0), "{crash}: {printed}");
            assert!(printed.contains(&format!("{reply}\n")), "{crash} {event}: {printed}");
        }
    }

    /// Crashes if the test above runs it.
    #[test]
    #[expect(clippy::exit, reason = "a thread that is left behind would keep the test runner from ending")]
    fn crashes() {
        let Ok(crash) = std::env::var("MODEGATE_TEST_CRASH") else { return };
        let event = format!(r#"{{"hook_event_name": "{}"}}"#, std::env::var("MODEGATE_TEST_EVENT").unwrap());
        EVENT.set(event.into_bytes()).unwrap();
        crash::handle_panics(|_| end_after_crash());
        let panics = || panic!("on purpose");
        match crash.as_str() {
            "thread" => std::thread::spawn(panics).join().unwrap(),
            "analysis" => crash::analyzing(panics),
            "analysis in thread" => std::thread::spawn(move || crash::analyzing(panics)).join().unwrap(),
            "contained thread" => {
                assert!(crash::start(std::thread::Builder::new(), panics).unwrap().recv().is_err());
                println!("went on");
                std::process::exit(0);
            }
            _ => panics(),
        }
    }
}
