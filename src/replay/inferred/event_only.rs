//! Answers from a single event.

use super::{InferredAnswers, InferredFacts, named_project};
use crate::event::{Event, TOOLS};
use crate::facts::event_text;
use crate::facts::{Answer, EffectQuery, EventText, FactSource, Question, passed_by_exit_code};
use crate::runners::OutputResult;
use serde_json::Value;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::LazyLock;

/// The facts that an event shows by itself, without the session.
pub(crate) struct EventFacts<'a> {
    event: &'a Event,
    time: Option<&'a str>,
    /// A command line is analyzed once, however many questions are about it.
    answers: OnceCell<InferredAnswers<'a>>,
}

impl<'a> EventFacts<'a> {
    /// The facts of an event at this time in UTC.
    pub(crate) fn new(event: &'a Event, time: Option<&'a str>) -> Self {
        Self { event, time, answers: OnceCell::new() }
    }

    /// Answers a question about the event itself, or its time in UTC; only the user's local date may differ.
    ///
    /// `None` where the text was redacted or cut off, or where the question is about something else.
    pub(crate) fn answer(&self, question: &Question) -> Option<Answer> {
        if let Question::Rewritten(asked) = question {
            return EventFacts::new(&asked.event(self.event)?, self.time).answer(&asked.question);
        }
        let answers = || self.answers.get_or_init(|| NOTHING.at(self.event, self.time));
        let answer = is_answerable(self.event, question).then(|| answers().answer(question));
        answer.filter(|answer| !matches!(answer, Answer::Unknown(_))).or_else(|| unread_output(self.event, question))
    }
}

impl std::fmt::Debug for EventFacts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventFacts").field("event", self.event).field("time", &self.time).finish_non_exhaustive()
    }
}

/// What a session shows that has not begun.
static NOTHING: LazyLock<InferredFacts> = LazyLock::new(InferredFacts::default);

/// Whether the event has all that a question is about.
fn is_answerable(event: &Event, question: &Question) -> bool {
    match question {
        Question::EventText { of: EventText::Commit, .. }
        | Question::Calls(_)
        | Question::OwnCalls(_)
        | Question::RemoteCalls(_)
        | Question::Added(_)
        | Question::Output { .. } => input_is_whole(event),
        // A content that was removed is a mapping instead of a text.
        Question::EventText { of, .. } => event_text(event, of)
            .map_or(event.oddities.is_empty(), |text| matches!(text, Cow::Borrowed(text) if is_whole(text))),
        Question::Touches(asked) => {
            input_is_whole(event) && (names_no_project(asked) || named_project(event).is_some())
        }
        Question::Mentions(_) => names_are_whole(event),
        Question::Clock => true,
        Question::Relative(path) => is_whole(path) && named_project(event).is_some(),
        _ => false,
    }
}

/// A recording from before outputs were read has only the exit code, which decides wherever it is the command's own.
fn unread_output(event: &Event, question: &Question) -> Option<Answer> {
    let Question::Output { commands, wrappers } = question else { return None };
    let decides = input_is_whole(event) && passed_by_exit_code(event, commands, wrappers);
    decides.then(|| Answer::Output(OutputResult::Unreadable("it was not recorded".to_owned())))
}

/// Whether the command and the path of a tool call are complete.
fn input_is_whole(event: &Event) -> bool {
    let Some(input) = event.fields.get("tool_input").and_then(Value::as_object) else { return true };
    let asked = ["command", "file_path", "notebook_path", "path"].map(|name| input.get(name));
    asked.into_iter().flatten().all(|value| value.as_str().is_some_and(is_whole))
}

/// Whether nothing of a tool's input was masked or cut off. The host's own tools name paths only in the fields that
/// [`input_is_whole`] looks at.
fn names_are_whole(event: &Event) -> bool {
    let is_known = event.tool().is_some_and(|tool| TOOLS.contains(&tool));
    let input = event.fields.get("tool_input").map(Value::to_string).unwrap_or_default();
    input_is_whole(event) && (is_known || is_whole(&input) && !input.contains(" bytes, sha256 "))
}

/// Whether the paths mean the same in every project.
fn names_no_project(asked: &EffectQuery) -> bool {
    asked.paths.iter().chain(asked.except.iter()).all(|path| path.starts_with(['/', '~']) || path.starts_with("**/"))
}

/// Whether nothing was masked or cut off.
fn is_whole(text: &str) -> bool {
    let cut = text.ends_with(']') && text.contains("… [") && text.contains(" bytes, sha256 ");
    !text.contains("[masked]") && !text.contains("[too deep]") && !cut
}
