//! Counts of what was decided again.

use super::change::DecisionChange;
use serde::{Deserialize, Serialize};

/// How many events there were, and what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplayCounts {
    /// Sessions.
    pub sessions: u64,
    /// Events.
    pub events: u64,
    /// Those that are blocked.
    pub blocked: u64,
    /// Those without a past decision.
    pub new: u64,
    /// Those that are decided as before.
    pub same: u64,
    /// Those that the same modes decide otherwise.
    pub drift: u64,
    /// Those that other modes block.
    pub newly_blocked: u64,
    /// Those that other modes let through.
    pub newly_allowed: u64,
    /// Those with another reason.
    pub changed_reason: u64,
    /// Those that differ in something else.
    pub changed_otherwise: u64,
    /// Those that cannot be decided.
    pub undecidable: u64,
    /// Those without a past decision that cannot be decided either.
    pub open: u64,
    /// Expectations that are met.
    pub met: u64,
    /// Expectations that are not.
    pub unmet: u64,
    /// Differences that meet an expectation, and so are wanted.
    pub accepted: u64,
    /// Lines and files that could not be read, or were odd.
    pub problems: u64,
}

impl ReplayCounts {
    /// The count of a change.
    #[must_use]
    pub fn of(&self, change: DecisionChange) -> u64 {
        match change {
            DecisionChange::New => self.new,
            DecisionChange::Same => self.same,
            DecisionChange::Drift => self.drift,
            DecisionChange::NewlyBlocked => self.newly_blocked,
            DecisionChange::NewlyAllowed => self.newly_allowed,
            DecisionChange::ChangedReason => self.changed_reason,
            DecisionChange::ChangedOtherwise => self.changed_otherwise,
            DecisionChange::Undecidable => self.undecidable,
        }
    }

    /// Counts an event.
    pub fn count(&mut self, change: DecisionChange, blocked: bool, met: Option<bool>) {
        self.events += 1;
        self.blocked += u64::from(blocked);
        self.met += u64::from(met == Some(true));
        self.unmet += u64::from(met == Some(false));
        self.accepted += u64::from(met == Some(true) && change.differs());
        *match change {
            DecisionChange::New => &mut self.new,
            DecisionChange::Same => &mut self.same,
            DecisionChange::Drift => &mut self.drift,
            DecisionChange::NewlyBlocked => &mut self.newly_blocked,
            DecisionChange::NewlyAllowed => &mut self.newly_allowed,
            DecisionChange::ChangedReason => &mut self.changed_reason,
            DecisionChange::ChangedOtherwise => &mut self.changed_otherwise,
            DecisionChange::Undecidable => &mut self.undecidable,
        } += 1;
    }

    /// Counts an event that has no past decision, and of which the session shows too little for a new one.
    pub fn count_open(&mut self, met: Option<bool>) {
        self.met += u64::from(met == Some(true));
        self.unmet += u64::from(met == Some(false));
        self.events += 1;
        self.new += 1;
        self.open += 1;
    }

    /// What came of it, in a sentence or two.
    #[must_use]
    pub fn sentence(&self) -> String {
        let plural = |count: u64, noun: &str| if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") };
        let (events, sessions) = (plural(self.events, "event"), plural(self.sessions, "session"));
        let mut parts = vec![format!("{events} in {sessions}, {} blocked.", self.blocked)];
        let (compared, differing) = (self.events - self.new, self.differing());
        if differing > 0 {
            let kinds = DecisionChange::ALL.iter().filter(|change| self.of(**change) > 0);
            let kinds: Vec<String> = kinds.map(|change| format!("{} {}", self.of(*change), change.words())).collect();
            let verb = if differing == 1 { "is" } else { "are" };
            parts.push(format!("{differing} of {compared} {verb} not decided as before: {}.", kinds.join(", ")));
        } else if compared > 0 {
            parts.push("All are decided as before.".to_owned());
        }
        let told = [
            (
                self.accepted,
                format!("{} of these {} expected.", self.accepted, if self.accepted == 1 { "is" } else { "are" }),
            ),
            (self.open, format!("{} cannot be told: the session does not show what is asked.", self.open)),
            (self.met + self.unmet, format!("{} met, {} not met.", plural(self.met, "expectation"), self.unmet)),
            (self.problems, format!("{}.", plural(self.problems, "problem"))),
        ];
        parts.extend(told.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text));
        parts.join(" ")
    }

    /// Adds the counts of another part.
    pub fn add(&mut self, other: &Self) {
        self.sessions += other.sessions;
        self.events += other.events;
        self.blocked += other.blocked;
        self.new += other.new;
        self.same += other.same;
        self.drift += other.drift;
        self.newly_blocked += other.newly_blocked;
        self.newly_allowed += other.newly_allowed;
        self.changed_reason += other.changed_reason;
        self.changed_otherwise += other.changed_otherwise;
        self.undecidable += other.undecidable;
        self.open += other.open;
        self.met += other.met;
        self.unmet += other.unmet;
        self.accepted += other.accepted;
        self.problems += other.problems;
    }

    /// Past decisions that do not simply stand, wanted ones included.
    #[must_use]
    pub fn differing(&self) -> u64 {
        DecisionChange::ALL.iter().map(|change| self.of(*change)).sum()
    }

    /// Whether everything is as it was, or as it is expected to be.
    #[must_use]
    pub fn is_fine(&self) -> bool {
        self.unmet == 0 && self.differing() == self.accepted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_that_is_expected_is_fine() {
        let mut counts = ReplayCounts::default();
        counts.count(DecisionChange::Same, false, None);
        assert!(counts.is_fine());
        counts.count(DecisionChange::NewlyBlocked, true, Some(true));
        assert!(counts.is_fine());
        counts.count(DecisionChange::Drift, true, None);
        assert!(!counts.is_fine());
        assert_eq!((counts.events, counts.blocked, counts.differing(), counts.accepted), (3, 2, 2, 1));
    }

    #[test]
    fn an_unmet_expectation_is_not_fine() {
        let mut counts = ReplayCounts::default();
        counts.count(DecisionChange::Same, false, Some(false));
        assert!(!counts.is_fine());
    }

    #[test]
    fn parts_add_up() {
        let mut one = ReplayCounts::default();
        DecisionChange::ALL
            .into_iter()
            .chain([DecisionChange::New, DecisionChange::Same])
            .for_each(|change| one.count(change, true, None));
        let mut both = one;
        both.add(&one);
        assert_eq!(both.events, 16);
        assert!(DecisionChange::ALL.iter().all(|change| both.of(*change) == 2));
    }
}
