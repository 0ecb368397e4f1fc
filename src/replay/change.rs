//! What has become of a past decision.

use crate::session::Session;
use crate::verdict::{Decision, Verdict};
use serde::{Deserialize, Serialize};

/// What has become of a past decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionChange {
    /// There is no past decision to compare with.
    New,
    /// It is the same.
    Same,
    /// The same modes decide otherwise: modegate itself has changed its mind.
    Drift,
    /// Other modes block what went through.
    NewlyBlocked,
    /// Other modes let through what was blocked.
    NewlyAllowed,
    /// The verdict is the same, for another reason.
    ChangedReason,
    /// The verdict or its reason stay; what is told, given to the tool or moved does not.
    ChangedOtherwise,
    /// Something is asked that was not recorded.
    Undecidable,
}

impl DecisionChange {
    /// Every change that is one, the gravest first.
    pub const ALL: [Self; 6] = [
        Self::Drift,
        Self::NewlyBlocked,
        Self::NewlyAllowed,
        Self::ChangedReason,
        Self::ChangedOtherwise,
        Self::Undecidable,
    ];

    /// Whether there was a decision, and it does not simply stand.
    #[must_use]
    pub fn differs(self) -> bool {
        !matches!(self, Self::New | Self::Same)
    }

    /// The words for it.
    #[must_use]
    pub const fn words(self) -> &'static str {
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

    /// What other modes have made of a decision; what gates merely looked at does not count.
    #[must_use]
    pub fn between(was: (&Decision, &Session), now: (&Decision, &Session)) -> Self {
        let (before, after) = (was.0, now.0);
        let is_block = |decision: &Decision| decision.verdict >= Verdict::Block;
        match (is_block(before), is_block(after)) {
            (false, true) => Self::NewlyBlocked,
            (true, false) => Self::NewlyAllowed,
            _ if before.verdict == after.verdict && before.reason != after.reason => Self::ChangedReason,
            _ if before == after && standings(was.1).eq(standings(now.1)) => Self::Same,
            _ => Self::ChangedOtherwise,
        }
    }
}

/// CaseLocation a session stands in its modes, without what is only counted on the way.
fn standings(session: &Session) -> impl Iterator<Item = (&String, bool, Option<&String>)> {
    let told = |(_, is_active, phase): &(&String, bool, Option<&String>)| *is_active || phase.is_some();
    session.modes.iter().map(|(name, mode)| (name, mode.is_active, mode.phase.as_ref())).filter(told)
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
    fn a_change_is_told_by_what_it_does_to_the_user() {
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
    fn what_was_stopped_and_is_blocked_was_never_allowed() {
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
