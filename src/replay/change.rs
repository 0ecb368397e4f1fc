//! How a decision differs from the recorded one.

use crate::session::Session;
use crate::verdict::{Decision, Verdict};
use serde::{Deserialize, Serialize};

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
        session.modes.entry("plan_mode".to_owned()).or_default().enter("draft");
        assert_eq!(
            DecisionChange::between((&decision, &Session::default()), (&decision, &session)),
            DecisionChange::ChangedOtherwise
        );
    }
}
