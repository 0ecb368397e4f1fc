//! A limit for the work of an analysis, counted in units, so that a line has the same result on every machine.

use std::cell::Cell;

/// The units that a line may use; a unit is about a byte that is parsed, or 0.2 µs.
pub const MOST_WORK: usize = 300_000;

/// What is left of the work that a line may use.
#[derive(Debug)]
pub struct WorkBudget(Cell<usize>);

impl Default for WorkBudget {
    fn default() -> Self {
        Self(Cell::new(MOST_WORK))
    }
}

impl WorkBudget {
    /// A budget of at most this many units.
    pub fn new(units: usize) -> Self {
        Self(Cell::new(units.min(MOST_WORK)))
    }

    /// Counts work; returns false once the budget is used up.
    pub fn spend(&self, units: usize) -> bool {
        let left = self.0.get().checked_sub(units);
        self.0.set(left.unwrap_or(0));
        left.is_some_and(|left| left > 0)
    }

    /// Whether nothing is left.
    pub fn is_used_up(&self) -> bool {
        self.0.get() == 0
    }

    /// The units used so far.
    pub fn used(&self) -> usize {
        MOST_WORK - self.0.get()
    }
}

/// The limits of a scan: what nests in it, and the work.
#[derive(Clone, Copy)]
pub(super) struct ScanLimits<'b> {
    pub depth: usize,
    pub budget: &'b WorkBudget,
}

impl ScanLimits<'_> {
    /// The limits one level deeper; `None` if there is none.
    pub fn nested(self) -> Option<Self> {
        self.depth.checked_sub(1).map(|depth| Self { depth, ..self })
    }
}
