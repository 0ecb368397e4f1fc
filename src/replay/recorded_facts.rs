//! Answers from a recording, with a note of every question that it does not answer.

use super::inferred::from_event;
use crate::event::Event;
use crate::facts::{Answer, FactSource, Question};
use std::cell::RefCell;

/// The answers recorded with one event.
#[derive(Debug)]
pub(crate) struct RecordedFacts<'a> {
    event: &'a Event,
    recorded: &'a [(Question, Answer)],
    at: Option<&'a str>,
    gaps: RefCell<Vec<Question>>,
}

impl<'a> RecordedFacts<'a> {
    pub(crate) fn new(event: &'a Event, recorded: &'a [(Question, Answer)], at: Option<&'a str>) -> Self {
        Self { event, recorded, at, gaps: RefCell::default() }
    }

    /// The questions that were asked but not recorded.
    pub(crate) fn gaps(self) -> Vec<Question> {
        self.gaps.into_inner()
    }
}

impl FactSource for RecordedFacts<'_> {
    fn answer(&self, question: &Question) -> Answer {
        if let Some((_, answer)) = self.recorded.iter().find(|(asked, _)| asked == question) {
            return answer.clone();
        }
        from_event(self.event, self.at, question).unwrap_or_else(|| {
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
        assert_eq!(facts.gaps(), [Question::Milestone]);
    }
}
