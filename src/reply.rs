//! A decision in the host's words. Only this module knows the host's JSON.

use crate::event::{Blocking, Event};
use crate::verdict::{Decision, Verdict};
use serde_json::{Map, Value, json};

/// The exit code of a block, and of nothing else.
pub const BLOCKED: u8 = 2;

/// What the hook prints, and its exit code.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply {
    /// One JSON object, or nothing.
    pub stdout: String,
    /// The reasons again, for people and for hosts that read them here.
    pub stderr: String,
    /// 0, or 2 for a block.
    pub exit: u8,
}

/// Renders the reply to `event`.
///
/// A pass is silence, not "allow": an allow would skip the user's own permission prompts, and at a stop any
/// context would make the agent run again.
#[must_use]
pub fn reply(event: &Event, decision: &Decision) -> Reply {
    let Some(row) = event.kind.map(crate::event::EventKind::row) else { return Reply::default() };
    let mut json = Map::new();
    let mut specific = Map::new();
    let mut messages = decision.messages.clone();
    let mut exit = 0;
    match (decision.verdict, row.blocking) {
        (Verdict::Stop, _) => {
            json.insert("continue".into(), false.into());
            json.insert("stopReason".into(), decision.reason.as_str().into());
        }
        (Verdict::Block, Blocking::Never) => messages.insert(0, decision.reason.clone()),
        (Verdict::Block, blocking) => {
            block(blocking, &decision.reason, &mut json, &mut specific);
            exit = BLOCKED;
        }
        (Verdict::Ask, Blocking::Permission) => {
            specific.insert("permissionDecision".into(), "ask".into());
            specific.insert("permissionDecisionReason".into(), decision.reason.as_str().into());
        }
        // Only a permission can be asked for: elsewhere the user is told.
        (Verdict::Ask, _) if row.message => messages.insert(0, decision.reason.clone()),
        _ => {}
    }
    if row.kind == crate::event::EventKind::PreToolUse && decision.verdict < Verdict::Block {
        if let Some(input) = &decision.input {
            specific.insert("updatedInput".into(), input.clone());
        }
        // Only where a gate says so in so many words: an allow skips the user's own permission prompts.
        if decision.allow && decision.verdict < Verdict::Ask {
            specific.insert("permissionDecision".into(), "allow".into());
        }
    }
    if row.context && !decision.context.is_empty() {
        specific.insert("additionalContext".into(), decision.context.join("\n\n").into());
    }
    let told = row.message || exit == BLOCKED || row.blocking == Blocking::Never && decision.verdict == Verdict::Block;
    if told && !messages.is_empty() {
        json.insert("systemMessage".into(), messages.join("\n").into());
    }
    if !specific.is_empty() {
        specific.shift_insert(0, "hookEventName".into(), event.name().into());
        json.insert("hookSpecificOutput".into(), Value::Object(specific));
    }
    let stderr = if decision.verdict >= Verdict::Block { decision.reason.clone() } else { String::new() };
    Reply { stdout: printed(json), stderr, exit }
}

fn block(blocking: Blocking, reason: &str, json: &mut Map<String, Value>, specific: &mut Map<String, Value>) {
    match blocking {
        Blocking::Permission => {
            specific.insert("permissionDecision".into(), "deny".into());
            specific.insert("permissionDecisionReason".into(), reason.into());
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

/// modegate's own trouble: the user is told, and works on.
#[must_use]
pub fn trouble(message: &str) -> Reply {
    let text = format!("modegate: {message}");
    Reply { stdout: json!({"systemMessage": text}).to_string(), stderr: text, exit: 0 }
}

fn printed(json: Map<String, Value>) -> String {
    if json.is_empty() { String::new() } else { Value::Object(json).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::TABLE;

    fn event(name: &str) -> Event {
        Event::from_value(json!({"hook_event_name": name})).expect("an event")
    }

    fn blocked() -> Decision {
        Decision { verdict: Verdict::Block, reason: "why".into(), ..Decision::default() }
    }

    #[track_caller]
    fn check(name: &str, expected: &Value) {
        let reply = reply(&event(name), &blocked());
        assert_eq!(serde_json::from_str::<Value>(&reply.stdout).expect("JSON"), *expected);
        assert_eq!((reply.stderr.as_str(), reply.exit), ("why", 2));
    }

    #[test]
    fn each_event_blocks_in_its_own_form() {
        check(
            "PreToolUse",
            &json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "why"}}),
        );
        check("SubagentStop", &json!({"decision": "block", "reason": "why"}));
        check("UserPromptSubmit", &json!({"decision": "block", "reason": "why"}));
        check(
            "PermissionRequest",
            &json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": "why"}}}),
        );
    }

    #[test]
    fn an_event_that_cannot_block_tells_the_user() {
        let reply = reply(&event("SessionStart"), &blocked());
        assert_eq!((reply.stdout.as_str(), reply.exit), (r#"{"systemMessage":"why"}"#, 0));
    }

    #[test]
    fn a_pass_is_zero_bytes_at_every_event() {
        for row in TABLE {
            assert_eq!(reply(&event(row.name), &Decision::default()), Reply::default());
        }
    }

    #[test]
    fn nothing_is_ever_said_at_an_allowed_stop() {
        let told = Decision { context: vec!["c".into()], messages: vec!["m".into()], ..Decision::default() };
        for name in ["Stop", "SubagentStop"] {
            assert_eq!(reply(&event(name), &told), Reply::default());
        }
    }

    #[test]
    fn no_decision_ever_says_allow() {
        for row in TABLE {
            for verdict in [Verdict::Pass, Verdict::Observe, Verdict::Warn, Verdict::Ask, Verdict::Block, Verdict::Stop]
            {
                let decision =
                    Decision { verdict, reason: "why".into(), context: vec!["c".into()], ..Decision::default() };
                let reply = reply(&event(row.name), &decision);
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
    fn the_name_comes_back_as_it_was_received() {
        let context = Decision { context: vec!["c".into()], ..Decision::default() };
        assert!(reply(&event("PrePromptSubmit"), &context).stdout.contains(r#""hookEventName":"PrePromptSubmit""#));
    }

    #[test]
    fn stopping_everything_is_no_block() {
        let stop = Decision { verdict: Verdict::Stop, reason: "why".into(), ..Decision::default() };
        let reply = reply(&event("PreToolUse"), &stop);
        assert_eq!((reply.stdout.as_str(), reply.exit), (r#"{"continue":false,"stopReason":"why"}"#, 0));
    }
}
