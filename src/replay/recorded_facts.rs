//! Answers from a recording and from the event itself, with a note of every question that neither answers.

use crate::facts::{Answer, EffectQuery, EventText, FactSource, Question, event_text, passed_by_exit_code};
use crate::host::event::{Event, TOOLS};
use crate::replay::inferred::{InferredAnswers, InferredFacts, named_project};
use serde_json::Value;
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::sync::LazyLock;
use test_results::OutputResult;

/// The answers recorded with one event, and what the event shows by itself.
pub(crate) struct RecordedFacts<'a> {
    recorded: &'a [(Question, Answer)],
    event: &'a Event,
    time: Option<&'a str>,
    /// A command line is analyzed once, however many questions are about it.
    answers: OnceCell<InferredAnswers<'a>>,
    gaps: RefCell<Vec<Question>>,
}

impl<'a> RecordedFacts<'a> {
    pub(crate) fn new(event: &'a Event, recorded: &'a [(Question, Answer)], time: Option<&'a str>) -> Self {
        Self { recorded, event, time, answers: OnceCell::new(), gaps: RefCell::default() }
    }

    pub(crate) fn gaps(self) -> Vec<Question> {
        self.gaps.into_inner()
    }

    /// Answers a question about the event itself, or its time in UTC; only the user's local date may differ.
    ///
    /// `None` where the text was redacted or cut off, or where the question is about something else.
    pub(super) fn event_answer(&self, question: &Question) -> Option<Answer> {
        if let Question::Rewritten(asked) = question {
            return RecordedFacts::new(&asked.event(self.event)?, &[], self.time).event_answer(&asked.question);
        }
        let answers = || self.answers.get_or_init(|| NOTHING.at(self.event, self.time));
        let answer = is_answerable(self.event, question).then(|| answers().answer(question));
        answer.filter(|answer| !matches!(answer, Answer::Unknown(_))).or_else(|| unread_output(self.event, question))
    }
}

impl FactSource for RecordedFacts<'_> {
    fn answer(&self, question: &Question) -> Answer {
        if let Some((_, answer)) = self.recorded.iter().find(|(asked, _)| asked == question) {
            return answer.clone();
        }
        self.event_answer(question).unwrap_or_else(|| {
            // Recordings of older versions lack these; their messages have other words, not another meaning.
            if !question.is_about_words() {
                self.gaps.borrow_mut().push(question.clone());
            }
            Answer::Unknown("this was not recorded".into())
        })
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

fn is_whole(text: &str) -> bool {
    let cut = text.ends_with(']') && text.contains("… [") && text.contains(" bytes, sha256 ");
    !text.contains("[masked]") && !text.contains("[too deep]") && !cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Clock;
    use serde_json::json;

    #[test]
    fn an_unrecorded_question_is_a_gap() {
        let recorded = [(Question::Head, Answer::Head(None))];
        let event = Event::from_value(json!({
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "terraform apply"},
        }));
        let event = event.unwrap();
        let facts = RecordedFacts::new(&event, &recorded, Some("2026-11-16T04:17:39Z"));
        assert_eq!(facts.answer(&Question::Head), Answer::Head(None));
        let clock = Clock { at: "2026-11-16T04:17:39Z".to_owned(), date: "111626".to_owned() };
        assert_eq!(facts.answer(&Question::Clock), Answer::Clock(clock));
        let calls = Question::Calls(vec!["terraform apply".to_owned()]);
        assert_eq!(
            facts.answer(&calls),
            Answer::Calls(Some("terraform apply".to_owned())),
            "the event itself has the answer"
        );
        assert!(matches!(facts.answer(&Question::Milestone), Answer::Unknown(_)));
        assert!(matches!(facts.answer(&Question::Location("a.md".to_owned())), Answer::Unknown(_)), "only words");
        assert_eq!(facts.gaps(), [Question::Milestone]);
    }
}
