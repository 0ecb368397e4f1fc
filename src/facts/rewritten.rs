//! Questions about a tool call whose input gates have rewritten.

use super::{Answer, FactSource, Facts, Question};
use crate::host::event::Event;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A question about the tool call after gates have rewritten its input.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RewrittenQuestion {
    pub question: Box<Question>,
    /// The new input; it follows from the other answers, so it is not recorded.
    #[serde(skip)]
    input: Option<Value>,
}

/// A recorded question matches any input, since the final one is not recorded.
impl PartialEq for RewrittenQuestion {
    fn eq(&self, other: &Self) -> bool {
        let same_input = self.input.is_none() || other.input.is_none() || self.input == other.input;
        same_input && self.question == other.question
    }
}

impl RewrittenQuestion {
    /// The event with the new input; `None` for a question from a recording.
    pub fn event(&self, event: &Event) -> Option<Event> {
        self.input.clone().map(|input| event.with_input(input))
    }
}

/// The facts of an event after its tool's input was rewritten: what does not depend on the input is unchanged.
pub struct RewrittenFacts<'a> {
    facts: &'a Facts<'a>,
    input: &'a Value,
}

impl<'a> RewrittenFacts<'a> {
    /// Asks `facts`, and about `input` instead of the event's own.
    pub const fn new(facts: &'a Facts<'a>, input: &'a Value) -> Self {
        Self { facts, input }
    }
}

impl FactSource for RewrittenFacts<'_> {
    fn answer(&self, question: &Question) -> Answer {
        let question = question.clone();
        self.facts.ask(if question.is_about_input() {
            let input = Some(self.input.clone());
            Question::Rewritten(RewrittenQuestion { question: Box::new(question), input })
        } else {
            question
        })
    }

    fn answer_all(&self, questions: &[Question]) -> Vec<Answer> {
        self.facts.prepare(questions.to_vec());
        questions.iter().map(|question| self.answer(question)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::RecordedAnswers;
    use serde_json::json;

    #[test]
    fn a_recorded_question_has_no_input_and_fits_every_input() {
        let asked = |input: Value| {
            let question = Box::new(Question::HookEntries);
            Question::Rewritten(RewrittenQuestion { question, input: Some(input) })
        };
        assert_ne!(asked(json!({"a": 1})), asked(json!({"a": 2})));
        let written = serde_json::to_value(asked(json!({"a": 1}))).unwrap();
        assert_eq!(written, json!({"rewritten": "hook_entries"}));
        let read: Question = serde_json::from_value(written).unwrap();
        assert_eq!(read, asked(json!({"a": 2})));
    }

    #[test]
    fn only_questions_about_the_input_are_asked_again() {
        let source = RecordedAnswers::default();
        let facts = Facts::new(&source);
        let input = json!({"command": "ls"});
        let rewritten = RewrittenFacts::new(&facts, &input);
        rewritten.answer(&Question::Head);
        rewritten.answer(&Question::Calls(vec!["ls".to_owned()]));
        let asked: Vec<Value> =
            facts.asked().iter().map(|(question, _)| serde_json::to_value(question).unwrap()).collect();
        assert_eq!(asked, [json!("head"), json!({"rewritten": {"calls": ["ls"]}})]);
    }
}
