//! What all inputs together have come to.

use super::docket::{End, Heard};
use crate::replay::change::Change;
use crate::replay::problem::Problem;
use crate::replay::retrial::Retrial;
use crate::replay::tally::Tally;
use crate::verdict::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// How many differences are kept; more nobody reads, and memory must not grow with the corpus.
const KEPT: usize = 2_000;

/// What all inputs together have come to.
#[derive(Default)]
pub(super) struct Report {
    pub(super) tally: Tally,
    /// What is not as it was or as it is expected, as far as it is kept.
    pub(super) amiss: Vec<Retrial>,
    pub(super) count_amiss: u64,
    /// How many differences each gate makes.
    pub(super) gates: BTreeMap<(&'static str, String), u64>,
    /// Decisions that other modes have made.
    pub(super) foreign: u64,
    /// What was passed over, by reason: how often, and where first.
    pub(super) skipped: BTreeMap<String, (u64, String)>,
    /// What would be refused without ever having been decided, or cannot be told, as far as it is kept.
    pub(super) news: Vec<Retrial>,
    /// How many of those each gate makes.
    pub(super) new_gates: BTreeMap<String, u64>,
    pub(super) problems: Vec<Problem>,
    /// Whose modes have decided.
    pub(super) laws: BTreeSet<String>,
    sessions: BTreeSet<u64>,
}

impl Report {
    pub(super) fn event(&mut self, heard: Heard) {
        let Some(retrial) = heard.notable else { return };
        if !heard.amiss {
            return self.news(*retrial);
        }
        self.count_amiss += 1;
        for gate in &retrial.gates {
            *self.gates.entry((retrial.title(), gate.to_string())).or_default() += 1;
        }
        if self.amiss.len() < KEPT {
            self.amiss.push(*retrial);
        }
    }

    fn news(&mut self, retrial: Retrial) {
        let fresh = matches!(retrial.change, Change::New | Change::Undecidable);
        if !fresh || retrial.verdict < Verdict::Ask || retrial.expected.is_some() {
            return;
        }
        for gate in retrial.gates.iter().filter(|_| retrial.change == Change::New) {
            *self.new_gates.entry(gate.to_string()).or_default() += 1;
        }
        if self.news.len() < KEPT {
            self.news.push(retrial);
        }
    }

    pub(super) fn problem(&mut self, problem: Problem) {
        self.tally.problems += u64::from(!problem.unmet);
        self.tally.unmet += u64::from(problem.unmet);
        if self.problems.len() < KEPT {
            self.problems.push(problem);
        }
    }

    pub(super) fn skipped(&mut self, first: &Problem, count: u64) {
        let place = || format!("{}:{}", first.file, first.line);
        self.skipped.entry(first.what.clone()).or_insert_with(|| (0, place())).0 += count;
    }

    pub(super) fn end(&mut self, end: &End) {
        self.tally.add(&end.tally);
        self.foreign += end.foreign;
        self.laws.extend(end.laws.iter().cloned());
        // One session may lie in several files.
        self.sessions.extend(&end.sessions);
        self.tally.sessions = self.sessions.len() as u64;
    }
}
