//! Answers from a recording, with a note of every question that it does not answer.

use super::inferred::EventFacts;
use crate::event::Event;
use crate::facts::{Answer, FactSource, Question};
use std::cell::{Cell, RefCell};

/// The answers recorded with one event.
#[derive(Debug)]
pub(crate) struct RecordedFacts<'a> {
    recorded: &'a [(Question, Answer)],
    event: EventFacts<'a>,
    gaps: RefCell<Vec<Question>>,
    /// Whether an answer came from the event and its time.
    is_inferred: Cell<bool>,
}

impl<'a> RecordedFacts<'a> {
    pub(crate) fn new(event: &'a Event, recorded: &'a [(Question, Answer)], at: Option<&'a str>) -> Self {
        let event = EventFacts::new(event, at);
        Self { recorded, event, gaps: RefCell::default(), is_inferred: Cell::default() }
    }

    /// The questions that were asked but not recorded, and whether others were answered from the event and its time.
    pub(crate) fn gaps(self) -> (Vec<Question>, bool) {
        (self.gaps.into_inner(), self.is_inferred.get())
    }
}

impl FactSource for RecordedFacts<'_> {
    fn answer(&self, question: &Question) -> Answer {
        if let Some((_, answer)) = self.recorded.iter().find(|(asked, _)| asked == question) {
            return answer.clone();
        }
        self.is_inferred.set(true);
        self.event.answer(question).unwrap_or_else(|| {
            // Recordings of older versions lack these; their messages have other words, not another meaning.
            if !question.is_about_words() {
                self.gaps.borrow_mut().push(question.clone());
            }
            Answer::Unknown("this was not recorded".into())
        })
    }
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
        assert_eq!(facts.gaps(), (vec![Question::Milestone], true));
    }
}
