//! Renders decisions in the host's format. Only this module knows the host's JSON.

use crate::facts::verdict::{Decision, Finding, Verdict};
use crate::host::event::{Blocking, Event, EventKind};
use base::printable;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The exit code of a block, and of nothing else.
pub const BLOCKED: u8 = 2;

/// The output and the exit code of the hook.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reply {
    /// One JSON object, or nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
    /// The reason again, for people and for hosts that read it here.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// 0, or 2 for a block.
    pub exit: u8,
}

/// Renders the reply to `event`.
///
/// A pass is silence, not "allow": an allow would skip the user's own permission prompts, and at a stop any
/// context would make the agent run again. What the user reads names modegate and the mode: the message of a block, and the
/// reason of a question. The model reads only the reason of a block.
pub fn reply(event: &Event, decision: &Decision, findings: &[Finding]) -> Reply {
    let Some(row) = event.kind.map(EventKind::row) else { return Reply::default() };
    let mut json = Map::new();
    let mut specific = Map::new();
    let mut messages = decision.messages.clone();
    let mut reason = decision.reason.clone();
    let mut exit = 0;
    match (decision.verdict, row.blocking) {
        (Verdict::Stop, _) => {
            json.insert("continue".into(), false.into());
            json.insert("stopReason".into(), reason.as_str().into());
        }
        (Verdict::Block, Blocking::Never) => {
            messages.splice(0..0, by_mode(findings, Verdict::Block, |finding| finding.reason.as_str()));
        }
        (Verdict::Block, blocking) => {
            if matches!(row.kind, EventKind::UserPromptSubmit | EventKind::UserPromptExpansion) {
                // The host shows the user this reason, and no message; the model reads neither.
                reason = format!("{reason} [modegate: {}]", blocking_modes(findings).join(", "));
            } else {
                messages.splice(0..0, by_mode(findings, Verdict::Block, Finding::headline));
            }
            block(blocking, &reason, &mut json, &mut specific);
            exit = BLOCKED;
        }
        (Verdict::Ask, Blocking::Permission) => {
            // The host shows this to the user, not to the model.
            let asked = by_mode(findings, Verdict::Ask, |finding| finding.reason.as_str()).join("\n");
            specific.insert("permissionDecision".into(), "ask".into());
            specific.insert("permissionDecisionReason".into(), printable::lines(&asked).into());
        }
        // Only a permission can be asked for; elsewhere the user gets a message.
        (Verdict::Ask, _) if row.message => {
            messages.splice(0..0, by_mode(findings, Verdict::Ask, |finding| finding.reason.as_str()));
        }
        _ => {}
    }
    if row.kind == EventKind::PreToolUse && decision.verdict < Verdict::Block {
        if let Some(input) = &decision.input {
            specific.insert("updatedInput".into(), input.clone());
        }
        // Only where a gate says `allow` itself: it skips the user's own permission prompts.
        if decision.allow && decision.verdict < Verdict::Ask {
            specific.insert("permissionDecision".into(), "allow".into());
        }
    }
    if row.context && !decision.context.is_empty() {
        specific.insert("additionalContext".into(), decision.context.join("\n\n").into());
    }
    let cannot_block = row.blocking == Blocking::Never && decision.verdict == Verdict::Block;
    // A message alone does not make the main agent run again, and the host shows it.
    let shown = row.message || exit == BLOCKED || cannot_block || row.kind == EventKind::Stop;
    if shown && !messages.is_empty() {
        // Names of files and texts of modes are in it, and the host shows it in a terminal.
        json.insert("systemMessage".into(), printable::lines(&messages.join("\n")).into());
    }
    if !specific.is_empty() {
        specific.shift_insert(0, "hookEventName".into(), event.name().into());
        json.insert("hookSpecificOutput".into(), Value::Object(specific));
    }
    let stderr = if decision.verdict >= Verdict::Block { reason } else { String::new() };
    Reply { stdout: printed(json), stderr, exit }
}

/// Returns one line per gate with `verdict` for the user: `modegate: MODE · TEXT`.
fn by_mode<'f>(findings: &'f [Finding], verdict: Verdict, text: impl Fn(&'f Finding) -> &'f str) -> Vec<String> {
    let deciding = findings.iter().filter(|finding| finding.verdict == verdict);
    let mut lines: Vec<String> = deciding.map(|one| format!("modegate: {} · {}", one.mode, text(one))).collect();
    lines.dedup();
    lines
}

fn blocking_modes(findings: &[Finding]) -> Vec<&str> {
    let blocking = findings.iter().filter(|finding| finding.verdict == Verdict::Block);
    let mut modes: Vec<&str> = blocking.map(|finding| finding.mode.as_str()).collect();
    modes.dedup();
    modes
}

fn block(blocking: Blocking, reason: &str, json: &mut Map<String, Value>, specific: &mut Map<String, Value>) {
    match blocking {
        Blocking::Permission => {
            specific.insert("permissionDecision".into(), "deny".into());
            specific.insert("permissionDecisionReason".into(), printable::lines(reason).into());
        }
        Blocking::Behavior => {
            specific.insert("decision".into(), json!({"behavior": "deny", "message": reason}));
        }
        Blocking::Decision => {
            json.insert("decision".into(), "block".into());
            json.insert("reason".into(), reason.into());
        }
        Blocking::Action => {
            specific.insert("action".into(), "decline".into());
        }
        Blocking::Exit | Blocking::Never => {}
    }
}

/// Renders a problem of modegate itself: a message for the user, and the event is allowed.
pub fn internal_error(message: &str) -> Reply {
    let text = format!("modegate: {message}");
    Reply { stdout: json!({"systemMessage": text}).to_string(), stderr: text, exit: 0 }
}

pub fn crashed() -> Reply {
    let text = "modegate: a bug in modegate stopped it from deciding this event; it was allowed";
    // Not with a map: the hasher needs random numbers, and a system that has none may be the reason.
    Reply { stdout: format!(r#"{{"systemMessage":"{text}"}}"#), stderr: text.to_owned(), exit: 0 }
}

/// Renders a crash while the command line of `event` was analyzed: where the user can be asked, they decide.
pub fn crashed_on_command(event: &Event) -> Reply {
    ask_about(event, "modegate: a bug in modegate stopped it from analyzing this command, so its gates were not run")
}

/// Renders the end of an analysis of `event` that took too long: where the user can be asked, they decide.
pub fn too_slow(event: &Event) -> Reply {
    ask_about(event, "modegate: this call takes too long to analyze, so its gates were not run")
}

/// Asks the user, where that is possible, because gates were not run.
fn ask_about(event: &Event, text: &str) -> Reply {
    if event.kind.is_none_or(|kind| kind.row().blocking != Blocking::Permission) {
        return Reply { stderr: text.to_owned(), ..crashed() };
    }
    let asked = json!({
        "hookEventName": event.name(),
        "permissionDecision": "ask",
        "permissionDecisionReason": text,
    });
    Reply { stdout: json!({"hookSpecificOutput": asked}).to_string(), stderr: text.to_owned(), exit: 0 }
}

fn printed(json: Map<String, Value>) -> String {
    if json.is_empty() { String::new() } else { Value::Object(json).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::verdict::Outcome;
    use crate::host::event::TABLE;

    fn event(name: &str) -> Event {
        Event::from_value(json!({"hook_event_name": name})).expect("an event")
    }

    fn blocked() -> (Decision, Vec<Finding>) {
        let findings = vec![Finding {
            mode: "plan".into(),
            phase: None,
            gate: "g".into(),
            verdict: Verdict::Block,
            reason: "Plan not found. No file matches x.".into(),
            outcome: Outcome::fails("no file matches x"),
            unmet: false,
        }];
        (Decision::of(&findings), findings)
    }

    #[track_caller]
    fn check(name: &str, expected: &Value) {
        let (decision, findings) = blocked();
        let reply = reply(&event(name), &decision, &findings);
        assert_eq!(serde_json::from_str::<Value>(&reply.stdout).expect("JSON"), *expected);
        assert_eq!(reply.exit, 2);
        let reason =
            expected.get("reason").or_else(|| expected.pointer("/hookSpecificOutput/permissionDecisionReason"));
        assert!(reason.is_none_or(|reason| *reason == reply.stderr), "{}", reply.stderr);
    }

    #[test]
    fn each_event_blocks_in_its_own_form_and_names_the_mode() {
        let reason = "Plan not found. No file matches x.";
        let message = "modegate: plan · Plan not found.";
        check(
            "PreToolUse",
            &json!({"systemMessage": message, "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}}),
        );
        check("SubagentStop", &json!({"decision": "block", "reason": reason, "systemMessage": message}));
        check("Stop", &json!({"decision": "block", "reason": reason, "systemMessage": message}));
        check(
            "PermissionRequest",
            &json!({"systemMessage": message, "hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": reason}}}),
        );
    }

    #[test]
    fn a_blocked_prompt_names_the_mode_in_the_reason() {
        let reason = "Plan not found. No file matches x. [modegate: plan]";
        check("UserPromptSubmit", &json!({"decision": "block", "reason": reason}));
        check("UserPromptExpansion", &json!({"decision": "block", "reason": reason}));
    }

    #[test]
    fn an_event_that_cannot_block_has_a_message() {
        let (decision, findings) = blocked();
        let reply = reply(&event("SessionStart"), &decision, &findings);
        let expected = r#"{"systemMessage":"modegate: plan · Plan not found. No file matches x."}"#;
        assert_eq!((reply.stdout.as_str(), reply.exit), (expected, 0));
    }

    #[test]
    fn a_question_to_the_user_names_modegate_and_the_mode() {
        let (_, mut findings) = blocked();
        findings.push(Finding { mode: "base".into(), reason: "Another reason.".into(), ..findings[0].clone() });
        for finding in &mut findings {
            finding.verdict = Verdict::Ask;
        }
        let asked = "modegate: plan · Plan not found. No file matches x.\nmodegate: base · Another reason.";
        let decision = Decision::of(&findings);
        let call = reply(&event("PreToolUse"), &decision, &findings);
        let expected = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": asked}});
        assert_eq!(serde_json::from_str::<Value>(&call.stdout).expect("JSON"), expected);
        let prompt = reply(&event("UserPromptSubmit"), &decision, &findings);
        assert_eq!(serde_json::from_str::<Value>(&prompt.stdout).expect("JSON"), json!({"systemMessage": asked}));
        assert_eq!((call.exit, prompt.exit), (0, 0));
    }

    #[test]
    fn a_pass_is_zero_bytes_at_every_event() {
        for row in TABLE {
            assert_eq!(reply(&event(row.name), &Decision::default(), &[]), Reply::default());
        }
    }

    #[test]
    fn an_allowed_stop_never_has_context() {
        let decision = Decision { context: vec!["c".into()], messages: vec!["m".into()], ..Decision::default() };
        assert_eq!(reply(&event("SubagentStop"), &decision, &[]), Reply::default());
        assert_eq!(reply(&event("Stop"), &decision, &[]).stdout, r#"{"systemMessage":"m"}"#);
    }

    #[test]
    fn no_decision_ever_says_allow() {
        for row in TABLE {
            for verdict in [Verdict::Pass, Verdict::Observe, Verdict::Warn, Verdict::Ask, Verdict::Block, Verdict::Stop]
            {
                let decision =
                    Decision { verdict, reason: "why".into(), context: vec!["c".into()], ..Decision::default() };
                let reply = reply(&event(row.name), &decision, &[]);
                assert!(!reply.stdout.contains("allow") && !reply.stdout.contains("approve"), "{}", row.name);
                assert_eq!(
                    reply.exit == 2,
                    verdict == Verdict::Block && row.blocking != Blocking::Never,
                    "{}",
                    row.name
                );
            }
        }
    }

    #[test]
    fn the_reply_repeats_the_event_name_as_received() {
        let context = Decision { context: vec!["c".into()], ..Decision::default() };
        assert!(
            reply(&event("PrePromptSubmit"), &context, &[]).stdout.contains(r#""hookEventName":"PrePromptSubmit""#)
        );
    }

    #[test]
    fn stopping_everything_exits_with_0() {
        let stop = Decision { verdict: Verdict::Stop, reason: "why".into(), ..Decision::default() };
        let reply = reply(&event("PreToolUse"), &stop, &[]);
        assert_eq!((reply.stdout.as_str(), reply.exit), (r#"{"continue":false,"stopReason":"why"}"#, 0));
    }
}
