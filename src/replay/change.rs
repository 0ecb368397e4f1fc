//! How decisions differ from the recorded ones, and how many do.

use crate::facts::session::Session;
use crate::facts::verdict::{Decision, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a decision differs from the recorded one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionChange {
    /// There is no recorded decision.
    #[default]
    New,
    /// It is the same.
    Same,
    /// The same modes decide differently: modegate itself has changed.
    Drift,
    /// Other modes block what was allowed.
    NewlyBlocked,
    /// Other modes allow what was blocked.
    NewlyAllowed,
    /// The verdict is the same, the reason is not.
    ChangedReason,
    /// The context, the messages, the tool's input or the modes differ.
    ChangedOtherwise,
    /// The decision needs a fact that was not recorded.
    Undecidable,
}

impl DecisionChange {
    /// Every difference, the most severe first.
    pub(crate) const DIFFERENCES: [Self; 6] = [
        Self::Drift,
        Self::NewlyBlocked,
        Self::NewlyAllowed,
        Self::ChangedReason,
        Self::ChangedOtherwise,
        Self::Undecidable,
    ];

    /// Whether there is a recorded decision and this one differs from it.
    pub(crate) fn differs(self) -> bool {
        !matches!(self, Self::New | Self::Same)
    }

    /// The change in a word or two.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Same => "same",
            Self::Drift => "drift",
            Self::NewlyBlocked => "newly blocked",
            Self::NewlyAllowed => "newly allowed",
            Self::ChangedReason => "changed reason",
            Self::ChangedOtherwise => "changed otherwise",
            Self::Undecidable => "undecidable",
        }
    }

    /// The change that other modes make; findings that do not show in the decision are ignored.
    pub(crate) fn between(was: (&Decision, &Session), now: (&Decision, &Session)) -> Self {
        let (before, after) = (was.0, now.0);
        let is_block = |decision: &Decision| decision.verdict >= Verdict::Block;
        match (is_block(before), is_block(after)) {
            (false, true) => Self::NewlyBlocked,
            (true, false) => Self::NewlyAllowed,
            _ if before.verdict == after.verdict && before.reason != after.reason => Self::ChangedReason,
            _ if before == after && phases(was.1).eq(phases(now.1)) => Self::Same,
            _ => Self::ChangedOtherwise,
        }
    }
}

/// The active modes and phases of a session, without counters.
fn phases(session: &Session) -> impl Iterator<Item = (&String, bool, Option<&String>)> {
    let modes = session.modes.iter().map(|(name, mode)| (name, mode.is_active, mode.phase.as_ref()));
    modes.filter(|(_, is_active, phase)| *is_active || phase.is_some())
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(crate) struct ReplayCounts {
    pub(crate) sessions: u64,
    pub(crate) events: u64,
    pub(crate) blocked: u64,
    #[serde(flatten)]
    changes: BTreeMap<DecisionChange, u64>,
    /// Events without a recorded decision whose session shows too little to decide them.
    pub(crate) undecided: u64,
    pub(crate) met: u64,
    pub(crate) unmet: u64,
    /// Differences that an expectation accepts.
    pub(crate) accepted: u64,
    /// Lines and files that could not be read, or look wrong.
    pub(crate) problems: u64,
}

impl ReplayCounts {
    pub(crate) fn changed(&self, change: DecisionChange) -> u64 {
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

    pub(crate) fn sentence(&self) -> String {
        let plural = |count: u64, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
        let (events, sessions) = (plural(self.events, "event"), plural(self.sessions, "session"));
        let mut parts = vec![format!("{events} in {sessions}, {} blocked.", self.blocked)];
        let (compared, differing) = (self.events - self.changed(DecisionChange::New), self.differing());
        if differing > 0 {
            let kinds = DecisionChange::DIFFERENCES.iter().filter(|change| self.changed(**change) > 0);
            let kinds: Vec<String> =
                kinds.map(|change| format!("{} {}", self.changed(*change), change.words())).collect();
            let verb = if differing == 1 { "differs" } else { "differ" };
            parts.push(format!("{differing} of {compared} {verb} from the recorded decision: {}.", kinds.join(", ")));
        } else if compared > 0 {
            parts.push("All decisions are unchanged.".to_owned());
        }
        let (accepted, undecided) = (self.accepted, self.undecided);
        let verb = if accepted == 1 { "is" } else { "are" };
        let optional = [
            (accepted, format!("{accepted} of these {verb} expected.")),
            (undecided, format!("{undecided} cannot be decided from what the session shows.")),
            (self.met + self.unmet, format!("{} met, {} not met.", plural(self.met, "expectation"), self.unmet)),
            (self.problems, format!("{}.", plural(self.problems, "problem"))),
        ];
        parts.extend(optional.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text));
        parts.join(" ")
    }

    /// Adds the events of an input; sessions and problems are counted when all inputs are known.
    pub(crate) fn add(&mut self, other: &Self) {
        self.events += other.events;
        self.blocked += other.blocked;
        self.undecided += other.undecided;
        self.met += other.met;
        self.unmet += other.unmet;
        self.accepted += other.accepted;
        for (change, count) in &other.changes {
            *self.changes.entry(*change).or_default() += count;
        }
    }

    /// Recorded decisions that are not the same now, accepted ones included.
    pub(crate) fn differing(&self) -> u64 {
        DecisionChange::DIFFERENCES.iter().map(|change| self.changed(*change)).sum()
    }

    /// Whether every decision is as recorded, or as expected.
    pub(crate) fn is_fine(&self) -> bool {
        self.unmet == 0 && self.differing() == self.accepted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(verdict: Verdict, reason: &str) -> Decision {
        Decision { verdict, reason: reason.to_owned(), ..Decision::default() }
    }

    #[track_caller]
    fn check(was: &Decision, now: &Decision, expected: DecisionChange) {
        let session = Session::default();
        assert_eq!(DecisionChange::between((was, &session), (now, &session)), expected);
    }

    #[test]
    fn a_change_is_named_by_its_effect_on_the_user() {
        let pass = decision(Verdict::Pass, "");
        let block = decision(Verdict::Block, "no plan");
        check(&pass, &pass, DecisionChange::Same);
        check(&pass, &block, DecisionChange::NewlyBlocked);
        check(&block, &pass, DecisionChange::NewlyAllowed);
        check(&block, &decision(Verdict::Block, "no research"), DecisionChange::ChangedReason);
        check(&pass, &decision(Verdict::Warn, ""), DecisionChange::ChangedOtherwise);
        check(
            &pass,
            &Decision { moves: vec!["plan: draft done".to_owned()], ..pass.clone() },
            DecisionChange::ChangedOtherwise,
        );
    }

    #[test]
    fn from_stopped_to_blocked_is_not_newly_allowed() {
        check(&decision(Verdict::Stop, "x"), &decision(Verdict::Block, "x"), DecisionChange::ChangedOtherwise);
    }

    #[test]
    fn another_phase_is_a_change() {
        let decision = Decision::default();
        let mut session = Session::default();
        std::sync::Arc::make_mut(session.modes.entry("plan_mode".to_owned()).or_default()).enter("draft");
        assert_eq!(
            DecisionChange::between((&decision, &Session::default()), (&decision, &session)),
            DecisionChange::ChangedOtherwise
        );
    }

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
        assert!(DecisionChange::DIFFERENCES.iter().all(|change| both.changed(*change) == 2));
    }
}
