//! The reply of a program or a server, in any of the forms it may use.

use crate::facts::verdict::{Outcome, ReplyExtras, Verdict};
use serde_json::Value;

/// How many characters of a step's output are shown; the end matters most.
const LONGEST: usize = 4_000;

/// A reply that is not complete JSON.
#[derive(Debug, thiserror::Error)]
#[error("its answer is not JSON: {0}")]
pub(super) struct UnreadableReply(serde_json::Error);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct StepReply {
    objects: bool,
    reason: String,
    extras: ReplyExtras,
}

impl StepReply {
    /// Reads a reply; `None` for plain output, an error for a reply that is not complete JSON.
    ///
    /// Several JSON values, as `go test -json` prints them, are plain output unless one of them is a reply.
    pub(super) fn parse(text: &str) -> Result<Option<Self>, UnreadableReply> {
        let text = text.trim();
        if !text.starts_with(['{', '[', '"']) {
            return Ok(None);
        }
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        match values.next().unwrap_or(Ok(Value::Null)) {
            Ok(value) if values.byte_offset() == text.len() => Ok(Self::from_value(&value)),
            Ok(first) => {
                let replies =
                    std::iter::once(first).chain(values.map_while(Result::ok)).filter_map(|one| Self::from_value(&one));
                Ok(Some(replies.fold(Self::default(), Self::joined)).filter(|all| *all != Self::default()))
            }
            // Plain output may begin with a bracket too, as `[INFO]` does.
            Err(error) if ["{\"", "[\"", "[["].iter().any(|start| text.starts_with(start)) => {
                Err(UnreadableReply(error))
            }
            Err(_) => Ok(None),
        }
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::String(word) => is_yes(word).then(Self::default),
            Value::Array(items) => Self::from_pairs(items),
            Value::Object(_) => Self::from_variant(value).or_else(|| Some(Self::from_host(value))),
            _ => None,
        }
    }

    /// `["block", "why"]`, or a list of such pairs: any block wins, all reasons count. `null` and unknown words are no
    /// opinion.
    fn from_pairs(items: &[Value]) -> Option<Self> {
        let [Value::String(word), rest @ ..] = items else {
            let pairs = items.iter().filter_map(|item| Self::from_pairs(item.as_array()?));
            return pairs.reduce(Self::joined);
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
        if let Some(message) = other.extras.message {
            join(self.extras.message.get_or_insert_default(), &message);
        }
        self.extras.input = other.extras.input.or(self.extras.input);
        self.extras.verdict = self.extras.verdict.max(other.extras.verdict);
        self.extras.allow |= other.extras.allow;
        self
    }

    /// `{"Reject": {"reason": …}}`, `{"ModifyInput": {"new_input": …}}`, `{"Continue": …}`.
    fn from_variant(value: &Value) -> Option<Self> {
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
    fn from_host(value: &Value) -> Self {
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

/// The output of a program, then its errors: a linter prints what it found on either.
///
/// Long errors leave half of the room to the output.
pub(super) fn both(stdout: &str, stderr: &str) -> String {
    let (stdout, stderr) = (stdout.trim(), stderr.trim());
    let joint = if stdout.is_empty() || stderr.is_empty() { "" } else { "\n" };
    let errors = if stdout.is_empty() { LONGEST } else { LONGEST - (LONGEST / 2).min(stdout.chars().count()) };
    let errors = ending(stderr, errors);
    format!("{}{joint}{errors}", ending(stdout, LONGEST - errors.chars().count().min(LONGEST)))
}

/// The end of a long text.
pub(super) fn shortened(text: &str) -> String {
    ending(text.trim(), LONGEST)
}

/// The end of a text, limited to a number of characters.
fn ending(text: &str, most: usize) -> String {
    let over = text.chars().count().saturating_sub(most);
    if over == 0 { text.to_owned() } else { format!("… {}", text.chars().skip(over).collect::<String>()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::verdict::Truth;
    use serde_json::json;

    #[track_caller]
    fn check(text: &str, truth: Truth, saw: &str) -> ReplyExtras {
        let outcome = StepReply::parse(text).expect("JSON").expect("an answer").outcome("`x`", "");
        assert_eq!((outcome.truth, &*outcome.saw), (truth, saw), "{text}");
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
        assert_eq!(StepReply::parse("all good").unwrap(), None);
        assert_eq!(StepReply::parse("").unwrap(), None);
        assert!(StepReply::parse("{\"decision\": \"blo").is_err());
        assert_eq!(StepReply::parse("[INFO] all good").unwrap(), None);
    }

    #[test]
    fn null_and_unknown_words_in_pairs_are_no_opinion() {
        check(r#"[null, ["block", "why"]]"#, Truth::Fails, "`x` objects: why");
        check(r#"[["maybe", "x"], ["block", "why"]]"#, Truth::Fails, "`x` objects: why");
        let note = check(r#"[["allow", "note"], null]"#, Truth::Passes, "`x` has no objection");
        assert_eq!(note.context.as_deref(), Some("note"));
        for plain in ["[null]", "[]", r#"["maybe", "x"]"#, r#"["a.js", "b.js"]"#, "[1, 2]", r#"[[1], ["a"]]"#] {
            assert_eq!(StepReply::parse(plain).unwrap(), None, "{plain}");
        }
    }

    #[test]
    fn several_values_are_plain_output_unless_one_is_a_reply() {
        assert_eq!(StepReply::parse("{\"Action\":\"run\"}\n{\"Action\":\"pass\"}\n").unwrap(), None);
        assert_eq!(StepReply::parse("{\"Action\":\"run\"}\n{\"Action\":\"pa").unwrap(), None);
        check("{\"log\": 1}\n{\"decision\": \"block\", \"reason\": \"r\"}", Truth::Fails, "`x` objects: r");
        check("[\"block\", \"a\"]\n[\"block\", \"b\"]", Truth::Fails, "`x` objects: a\nb");
    }

    #[test]
    fn output_and_errors_share_the_room() {
        assert_eq!(both("", " e "), "e");
        assert_eq!(both("o\n", "e"), "o\ne");
        let long = both(&"o".repeat(LONGEST), &"e".repeat(LONGEST));
        assert!(long.matches('o').count() + 2 >= LONGEST / 2 && long.matches('e').count() >= LONGEST / 2);
        let mostly = both(&"o".repeat(LONGEST), "e");
        assert!(mostly.matches('o').count() >= LONGEST - 3, "{}", mostly.len());
    }
}
