//! The results of all inputs together.

use super::collector::InputTotals;
use crate::replay::change::DecisionChange;
use crate::replay::counts::ReplayCounts;
use crate::replay::problem::ReplayProblem;
use crate::replay::result::ReplayResult;
use std::collections::{BTreeMap, BTreeSet};

/// How many results and problems are kept, so that memory does not grow with the corpus.
const KEPT: usize = 2_000;

/// The results of all inputs together.
#[derive(Default)]
pub(super) struct ReplaySummary {
    pub(super) counts: ReplayCounts,
    /// The first failing results.
    pub(super) failing: Vec<ReplayResult>,
    pub(super) failing_count: u64,
    /// The number of failing results by title and gate.
    pub(super) gates: BTreeMap<(&'static str, String), u64>,
    /// Decisions that other modes made.
    pub(super) other_modes: u64,
    /// Skipped records by reason: how many, and the first place.
    pub(super) skipped: BTreeMap<String, (u64, String)>,
    /// The first results that would be blocked or asked and were never decided before.
    pub(super) new_blocks: Vec<ReplayResult>,
    pub(super) new_block_gates: BTreeMap<String, u64>,
    pub(super) problems: Vec<ReplayProblem>,
    /// The modes that decided, for people.
    pub(super) modes: BTreeSet<String>,
    sessions: BTreeSet<u64>,
}

impl ReplaySummary {
    pub(super) fn event(&mut self, result: ReplayResult) {
        let kept = if result.is_failing() {
            self.failing_count += 1;
            for gate in &result.gates {
                *self.gates.entry((result.title(), gate.to_string())).or_default() += 1;
            }
            &mut self.failing
        } else if result.is_new_block() {
            for gate in result.gates.iter().filter(|_| result.change == DecisionChange::New) {
                *self.new_block_gates.entry(gate.to_string()).or_default() += 1;
            }
            &mut self.new_blocks
        } else {
            return;
        };
        if kept.len() < KEPT {
            kept.push(result);
        }
    }

    pub(super) fn problem(&mut self, problem: ReplayProblem) {
        self.counts.problems += u64::from(!problem.unmet);
        self.counts.unmet += u64::from(problem.unmet);
        if self.problems.len() < KEPT {
            self.problems.push(problem);
        }
    }

    pub(super) fn skipped(&mut self, first: &ReplayProblem, count: u64) {
        let place = || format!("{}:{}", first.file, first.line);
        self.skipped.entry(first.what.clone()).or_insert_with(|| (0, place())).0 += count;
    }

    pub(super) fn end(&mut self, totals: &InputTotals) {
        self.counts.add(&totals.counts);
        self.other_modes += totals.other_modes;
        self.modes.extend(totals.modes.iter().cloned());
        // One session may be in several files.
        self.sessions.extend(&totals.sessions);
        self.counts.sessions = self.sessions.len() as u64;
    }
}
