//! What all inputs together have come to.

use super::collector::{InputTotals, ReportedEvent};
use crate::replay::change::DecisionChange;
use crate::replay::counts::ReplayCounts;
use crate::replay::problem::ReplayProblem;
use crate::replay::result::ReplayResult;
use crate::verdict::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// How many differences are kept; more nobody reads, and memory must not grow with the corpus.
const KEPT: usize = 2_000;

/// What all inputs together have come to.
#[derive(Default)]
pub(super) struct ReplaySummary {
    pub(super) counts: ReplayCounts,
    /// What is not as it was or as it is expected, as far as it is kept.
    pub(super) failing: Vec<ReplayResult>,
    pub(super) failing_count: u64,
    /// How many differences each gate makes.
    pub(super) gates: BTreeMap<(&'static str, String), u64>,
    /// Decisions that other modes have made.
    pub(super) other_modes: u64,
    /// What was passed over, by reason: how often, and where first.
    pub(super) skipped: BTreeMap<String, (u64, String)>,
    /// What would be refused without ever having been decided, or cannot be told, as far as it is kept.
    pub(super) new_blocks: Vec<ReplayResult>,
    /// How many of those each gate makes.
    pub(super) new_gates: BTreeMap<String, u64>,
    pub(super) problems: Vec<ReplayProblem>,
    /// Whose modes have decided.
    pub(super) mode_sources: BTreeSet<String>,
    sessions: BTreeSet<u64>,
}

impl ReplaySummary {
    pub(super) fn event(&mut self, heard: ReportedEvent) {
        let Some(result) = heard.notable else { return };
        if !heard.failing {
            return self.new_blocks(*result);
        }
        self.failing_count += 1;
        for gate in &result.gates {
            *self.gates.entry((result.title(), gate.to_string())).or_default() += 1;
        }
        if self.failing.len() < KEPT {
            self.failing.push(*result);
        }
    }

    fn new_blocks(&mut self, result: ReplayResult) {
        let fresh = matches!(result.change, DecisionChange::New | DecisionChange::Undecidable);
        if !fresh || result.verdict < Verdict::Ask || result.expected.is_some() {
            return;
        }
        for gate in result.gates.iter().filter(|_| result.change == DecisionChange::New) {
            *self.new_gates.entry(gate.to_string()).or_default() += 1;
        }
        if self.new_blocks.len() < KEPT {
            self.new_blocks.push(result);
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

    pub(super) fn end(&mut self, end: &InputTotals) {
        self.counts.add(&end.counts);
        self.other_modes += end.other_modes;
        self.mode_sources.extend(end.mode_sources.iter().cloned());
        // One session may lie in several files.
        self.sessions.extend(&end.sessions);
        self.counts.sessions = self.sessions.len() as u64;
    }
}
