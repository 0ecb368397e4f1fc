//! Answers from a recording, for replay and tests.

use super::{Answer, FactSource, Question};

/// Answers only the recorded questions.
#[derive(Debug, Clone, Default)]
pub struct RecordedAnswers(Vec<(Question, Answer)>);

impl RecordedAnswers {
    /// Answers from these pairs.
    pub fn new(answers: Vec<(Question, Answer)>) -> Self {
        Self(answers)
    }
}

impl FactSource for RecordedAnswers {
    fn answer(&self, question: &Question) -> Answer {
        let found = self.0.iter().find(|(asked, _)| asked == question);
        found.map_or_else(|| Answer::Unknown("this was not recorded".into()), |(_, answer)| answer.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unrecorded_answer_is_unknown() {
        let recorded = RecordedAnswers::new(vec![(Question::Head, Answer::Head(None))]);
        assert_eq!(recorded.answer(&Question::Head), Answer::Head(None));
        assert_eq!(recorded.answer(&Question::Milestone), Answer::Unknown("this was not recorded".into()));
    }
}
