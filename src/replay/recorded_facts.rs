//! Answers what was recorded, and remembers what was asked beside.

use super::inferred::from_event;
use crate::event::Event;
use crate::facts::{Answer, Clock, FactSource, Question};
use std::cell::RefCell;

/// A recording that is asked: what it does not know it says, and notes that it was asked.
#[derive(Debug)]
pub struct RecordedFacts<'a> {
    event: &'a Event,
    recorded: &'a [(Question, Answer)],
    at: Option<&'a str>,
    gaps: RefCell<Vec<Question>>,
}

impl<'a> RecordedFacts<'a> {
    /// A recorded_facts of an event that came at that time.
    #[must_use]
    pub fn new(event: &'a Event, recorded: &'a [(Question, Answer)], at: Option<&'a str>) -> Self {
        Self { event, recorded, at, gaps: RefCell::default() }
    }

    /// What was asked and not recorded.
    #[must_use]
    pub fn gaps(self) -> Vec<Question> {
        self.gaps.into_inner()
    }

    /// The time is in every line; only the day may be another where the user lived.
    fn clock(&self) -> Option<Answer> {
        let at = self.at?;
        let (year, month, day) = (at.get(2..4)?, at.get(5..7)?, at.get(8..10)?);
        Some(Answer::Clock(Clock { at: at.to_owned(), date: format!("{month}{day}{year}") }))
    }
}

impl FactSource for RecordedFacts<'_> {
    fn answer(&self, question: &Question) -> Answer {
        if let Some((_, answer)) = self.recorded.iter().find(|(asked, _)| asked == question) {
            return answer.clone();
        }
        let own = if *question == Question::Clock { self.clock() } else { from_event(self.event, question) };
        own.unwrap_or_else(|| {
            self.gaps.borrow_mut().push(question.clone());
            Answer::Unknown("this was not recorded".to_owned())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_not_recorded_is_a_gap() {
        let recorded = [(Question::Head, Answer::Head(None))];
        let event = Event::from_value(json!({
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "terraform apply"},
        }));
        let event = event.unwrap();
        let recorded_facts = RecordedFacts::new(&event, &recorded, Some("2026-11-16T04:17:39Z"));
        assert_eq!(recorded_facts.answer(&Question::Head), Answer::Head(None));
        let clock = Clock { at: "2026-11-16T04:17:39Z".to_owned(), date: "111626".to_owned() };
        assert_eq!(recorded_facts.answer(&Question::Clock), Answer::Clock(clock));
        let calls = Question::Calls(vec!["terraform apply".to_owned()]);
        assert_eq!(
            recorded_facts.answer(&calls),
            Answer::Calls(Some("terraform apply".to_owned())),
            "the event tells it"
        );
        assert!(matches!(recorded_facts.answer(&Question::Milestone), Answer::Unknown(_)));
        assert_eq!(recorded_facts.gaps(), [Question::Milestone]);
    }
}
