//! Answers from a recording: the engine of replay and the double of every test.

use super::{Answer, Question, Source};

/// Answers exactly what was recorded, and nothing else.
#[derive(Debug, Clone, Default)]
pub struct Recorded(Vec<(Question, Answer)>);

impl Recorded {
    /// Answers from these pairs.
    #[must_use]
    pub fn new(answers: Vec<(Question, Answer)>) -> Self {
        Self(answers)
    }
}

impl Source for Recorded {
    fn answer(&self, question: &Question) -> Answer {
        let found = self.0.iter().find(|(asked, _)| asked == question);
        found.map_or_else(|| Answer::Unknown("this was not recorded".to_owned()), |(_, answer)| answer.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_recorded_is_unknown() {
        let recorded = Recorded::new(vec![(Question::Head, Answer::Head(None))]);
        assert_eq!(recorded.answer(&Question::Head), Answer::Head(None));
        assert_eq!(recorded.answer(&Question::Milestone), Answer::Unknown("this was not recorded".into()));
    }
}
