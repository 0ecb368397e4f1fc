//! Counts of replayed events.

use super::change::DecisionChange;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The number of events, and of each change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ReplayCounts {
    pub(crate) sessions: u64,
    pub(crate) events: u64,
    pub(crate) blocked: u64,
    #[serde(flatten)]
    changes: BTreeMap<DecisionChange, u64>,
    /// Events without a recorded decision whose session shows too little to decide them.
    pub(crate) undecided: u64,
    /// Expectations that are met.
    pub(crate) met: u64,
    pub(crate) unmet: u64,
    /// Differences that an expectation accepts.
    pub(crate) accepted: u64,
    /// Lines and files that could not be read, or look wrong.
    pub(crate) problems: u64,
}

impl ReplayCounts {
    pub(crate) fn of(&self, change: DecisionChange) -> u64 {
        self.changes.get(&change).copied().unwrap_or_default()
    }

    /// Counts an event; `undecided` is one that has no recorded decision and cannot get a new one.
    pub(crate) fn count(&mut self, change: DecisionChange, blocked: bool, undecided: bool, met: Option<bool>) {
        self.events += 1;
        self.met += u64::from(met == Some(true));
        self.unmet += u64::from(met == Some(false));
        self.undecided += u64::from(undecided);
        self.blocked += u64::from(blocked && !undecided);
        self.accepted += u64::from(met == Some(true) && change.differs() && !undecided);
        let change = if undecided { DecisionChange::New } else { change };
        *self.changes.entry(change).or_default() += 1;
    }

    /// Counts events that pass as recorded.
    pub(crate) fn count_same(&mut self, events: u64) {
        self.events += events;
        *self.changes.entry(DecisionChange::Same).or_default() += events;
    }

    /// Describes the counts in a few sentences.
    pub(crate) fn sentence(&self) -> String {
        let plural = |count: u64, noun: &str| if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") };
        let is_are = |count: u64| if count == 1 { "is" } else { "are" };
        let (events, sessions) = (plural(self.events, "event"), plural(self.sessions, "session"));
        let mut parts = vec![format!("{events} in {sessions}, {} blocked.", self.blocked)];
        let (compared, differing) = (self.events - self.of(DecisionChange::New), self.differing());
        if differing > 0 {
            let kinds = DecisionChange::DIFFERENCES.iter().filter(|change| self.of(**change) > 0);
            let kinds: Vec<String> = kinds.map(|change| format!("{} {}", self.of(*change), change.words())).collect();
            let verb = if differing == 1 { "differs" } else { "differ" };
            parts.push(format!("{differing} of {compared} {verb} from the recorded decision: {}.", kinds.join(", ")));
        } else if compared > 0 {
            parts.push("All decisions are unchanged.".to_owned());
        }
        let (accepted, undecided) = (self.accepted, self.undecided);
        let optional = [
            (accepted, format!("{accepted} of these {} expected.", is_are(accepted))),
            (undecided, format!("{undecided} cannot be decided from what the session shows.")),
            (self.met + self.unmet, format!("{} met, {} not met.", plural(self.met, "expectation"), self.unmet)),
            (self.problems, format!("{}.", plural(self.problems, "problem"))),
        ];
        parts.extend(optional.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text));
        parts.join(" ")
    }

    /// Adds the counts of another input.
    pub(crate) fn add(&mut self, other: &Self) {
        let numbers = [
            (&mut self.sessions, other.sessions),
            (&mut self.events, other.events),
            (&mut self.blocked, other.blocked),
            (&mut self.undecided, other.undecided),
            (&mut self.met, other.met),
            (&mut self.unmet, other.unmet),
            (&mut self.accepted, other.accepted),
            (&mut self.problems, other.problems),
        ];
        for (sum, count) in numbers {
            *sum += count;
        }
        for (change, count) in &other.changes {
            *self.changes.entry(*change).or_default() += count;
        }
    }

    /// Recorded decisions that are not the same now, accepted ones included.
    pub(crate) fn differing(&self) -> u64 {
        DecisionChange::DIFFERENCES.iter().map(|change| self.of(*change)).sum()
    }

    /// Whether every decision is as recorded, or as expected.
    pub(crate) fn is_fine(&self) -> bool {
        self.unmet == 0 && self.differing() == self.accepted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expected_difference_is_fine() {
        let mut counts = ReplayCounts::default();
        counts.count(DecisionChange::Same, false, false, None);
        assert!(counts.is_fine());
        counts.count(DecisionChange::NewlyBlocked, true, false, Some(true));
        assert!(counts.is_fine());
        counts.count(DecisionChange::Drift, true, false, None);
        assert!(!counts.is_fine());
        assert_eq!((counts.events, counts.blocked, counts.differing(), counts.accepted), (3, 2, 2, 1));
    }

    #[test]
    fn an_unmet_expectation_is_not_fine() {
        let mut counts = ReplayCounts::default();
        counts.count(DecisionChange::Same, false, false, Some(false));
        assert!(!counts.is_fine());
    }

    #[test]
    fn counts_of_inputs_add_up() {
        let mut one = ReplayCounts::default();
        for change in DecisionChange::DIFFERENCES.into_iter().chain([DecisionChange::New, DecisionChange::Same]) {
            one.count(change, true, false, None);
        }
        let mut both = one.clone();
        both.add(&one);
        assert_eq!(both.events, 16);
        assert!(DecisionChange::DIFFERENCES.iter().all(|change| both.of(*change) == 2));
    }
}
