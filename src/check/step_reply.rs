//! The reply of a program or a server, in any of the forms it may use.

use crate::verdict::{Outcome, ReplyExtras, Verdict};
use serde_json::Value;

/// How many characters of a step's output are shown; the end matters most.
const LONGEST: usize = 4_000;

/// The reply of a step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct StepReply {
    /// Whether it objects.
    objects: bool,
    reason: String,
    extras: ReplyExtras,
}

impl StepReply {
    /// Reads a reply; `None` for plain output, an error for a reply that is not complete JSON.
    pub(super) fn read(text: &str) -> Result<Option<Self>, String> {
        let text = text.trim();
        if !text.starts_with(['{', '[', '"']) {
            return Ok(None);
        }
        match serde_json::from_str::<Value>(text) {
            Ok(value) => Ok(Self::of(&value)),
            // Plain output may begin with a bracket too, as `[INFO]` does.
            Err(error) if ["{\"", "[\"", "[["].iter().any(|start| text.starts_with(start)) => {
                Err(format!("its answer is not JSON: {error}"))
            }
            Err(_) => Ok(None),
        }
    }

    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(word) => is_yes(word).then(Self::default),
            Value::Array(items) => Self::of_pairs(items),
            Value::Object(_) => Self::of_variant(value).or_else(|| Some(Self::of_host(value))),
            _ => None,
        }
    }

    /// `["block", "why"]`, or a list of such pairs: any block wins, all reasons count.
    fn of_pairs(items: &[Value]) -> Option<Self> {
        let [Value::String(word), rest @ ..] = items else {
            let all: Option<Vec<Self>> = items.iter().map(|item| Self::of_pairs(item.as_array()?)).collect();
            return all.map(|all| all.into_iter().fold(Self::default(), Self::joined));
        };
        let text = rest.first().and_then(Value::as_str).map(str::to_owned);
        match word.as_str() {
            "block" | "deny" | "reject" => Some(Self::objection(text.unwrap_or_default())),
            "allow" | "approve" => {
                Some(Self { extras: ReplyExtras { context: text, ..ReplyExtras::default() }, ..Self::default() })
            }
            _ => None,
        }
    }

    fn joined(mut self, other: Self) -> Self {
        let join = |left: &mut String, right: &str| {
            let joint = if left.is_empty() || right.is_empty() { "" } else { "\n" };
            *left = format!("{left}{joint}{right}");
        };
        self.objects |= other.objects;
        join(&mut self.reason, &other.reason);
        if let Some(context) = other.extras.context {
            join(self.extras.context.get_or_insert_default(), &context);
        }
        self
    }

    /// `{"Reject": {"reason": …}}`, `{"ModifyInput": {"new_input": …}}`, `{"Continue": …}`.
    fn of_variant(value: &Value) -> Option<Self> {
        let (name, inner) = value.as_object().filter(|fields| fields.len() == 1)?.iter().next()?;
        match name.as_str() {
            "Continue" => Some(Self::default()),
            "Reject" => {
                let reason = inner.get("reason").or(Some(inner)).and_then(Value::as_str);
                Some(Self::objection(reason.unwrap_or_default()))
            }
            "ModifyInput" => {
                let input = inner.get("new_input").cloned();
                Some(Self { extras: ReplyExtras { input, ..ReplyExtras::default() }, ..Self::default() })
            }
            _ => None,
        }
    }

    /// The host's own JSON.
    fn of_host(value: &Value) -> Self {
        let specific = value.get("hookSpecificOutput");
        let text = |names: &[&str]| {
            let places = [specific, Some(value)].into_iter().flatten();
            let found = places.flat_map(|place| names.iter().filter_map(|name| place.get(*name)?.as_str()));
            found.map(str::to_owned).next()
        };
        let permission = text(&["permissionDecision", "decision"]).unwrap_or_default();
        let reason = text(&["permissionDecisionReason", "reason", "stopReason", "message"]).unwrap_or_default();
        let stops = value.get("continue").and_then(Value::as_bool) == Some(false);
        let verdict = match permission.as_str() {
            _ if stops => Some(Verdict::Stop),
            "ask" => Some(Verdict::Ask),
            _ => None,
        };
        let extras = ReplyExtras {
            context: text(&["additionalContext"]),
            message: text(&["systemMessage"]),
            input: specific.and_then(|specific| specific.get("updatedInput")).cloned(),
            verdict,
            allow: specific.is_some() && permission == "allow",
        };
        let objects = stops || matches!(permission.as_str(), "deny" | "block" | "ask");
        Self { objects, reason, extras }
    }

    fn objection(reason: impl Into<String>) -> Self {
        Self { objects: true, reason: reason.into(), extras: ReplyExtras::default() }
    }

    /// The same reply as an objection.
    pub(super) fn objecting(self) -> Self {
        Self { objects: true, ..self }
    }

    /// The outcome of a step called `name`; `output` is the reason where the reply has none.
    pub(super) fn outcome(self, name: &str, output: &str) -> Outcome {
        let reason = if self.reason.is_empty() { output } else { &self.reason };
        let outcome = match (self.objects, shortened(reason)) {
            (false, _) => Outcome::passes(format!("{name} has no objection")),
            (true, reason) if reason.is_empty() => Outcome::fails(format!("{name} objects")),
            (true, reason) => Outcome::fails(format!("{name} objects: {reason}")),
        };
        let extras = (self.extras != ReplyExtras::default()).then(|| Box::new(self.extras));
        Outcome { extras, ..outcome }
    }
}

fn is_yes(word: &str) -> bool {
    ["continue", "allow", "approve", "ok"].iter().any(|yes| word.eq_ignore_ascii_case(yes))
}

/// The end of a long text.
pub(super) fn shortened(text: &str) -> String {
    let text = text.trim();
    let over = text.chars().count().saturating_sub(LONGEST);
    if over == 0 { text.to_owned() } else { format!("… {}", text.chars().skip(over).collect::<String>()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Truth;
    use serde_json::json;

    #[track_caller]
    fn check(text: &str, truth: Truth, saw: &str) -> ReplyExtras {
        let outcome = StepReply::read(text).expect("JSON").expect("an answer").outcome("`x`", "");
        assert_eq!((outcome.truth, outcome.saw.as_str()), (truth, saw), "{text}");
        outcome.extras.map(|adds| *adds).unwrap_or_default()
    }

    #[test]
    fn every_form_is_understood() {
        let fine = "`x` has no objection";
        assert_eq!(check("\"Continue\"", Truth::Passes, fine), ReplyExtras::default());
        check(r#"{"Reject": {"reason": "no"}}"#, Truth::Fails, "`x` objects: no");
        let adds = check(r#"{"ModifyInput": {"new_input": {"command": "ls"}}}"#, Truth::Passes, fine);
        assert_eq!(adds.input, Some(json!({"command": "ls"})));
        check(r#"["block", "why"]"#, Truth::Fails, "`x` objects: why");
        assert_eq!(check(r#"["allow", "note"]"#, Truth::Passes, fine).context.as_deref(), Some("note"));
        check(r#"[["allow", null], ["block", "a"], ["block", "b"]]"#, Truth::Fails, "`x` objects: a\nb");
        check(r#"{"decision": "block", "reason": "r"}"#, Truth::Fails, "`x` objects: r");
        let deny = r#"{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "d"}}"#;
        check(deny, Truth::Fails, "`x` objects: d");
        let ask = r#"{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "sure?"}}"#;
        assert_eq!(check(ask, Truth::Fails, "`x` objects: sure?").verdict, Some(Verdict::Ask));
        let stop = r#"{"continue": false, "stopReason": "enough"}"#;
        assert_eq!(check(stop, Truth::Fails, "`x` objects: enough").verdict, Some(Verdict::Stop));
        let both = check(r#"{"additionalContext": "c", "systemMessage": "m"}"#, Truth::Passes, fine);
        assert_eq!((both.context.as_deref(), both.message.as_deref()), (Some("c"), Some("m")));
        let allow = check(r#"{"hookSpecificOutput": {"permissionDecision": "allow"}}"#, Truth::Passes, fine);
        assert!(allow.allow);
    }

    #[test]
    fn plain_output_is_not_a_reply_and_half_a_reply_is_an_error() {
        assert_eq!(StepReply::read("all good"), Ok(None));
        assert_eq!(StepReply::read(""), Ok(None));
        assert!(StepReply::read("{\"decision\": \"blo").is_err());
        assert_eq!(StepReply::read("[INFO] all good"), Ok(None));
        assert!(StepReply::read("{\"a\": 1}\n{\"b\": 2}").is_err());
    }
}
