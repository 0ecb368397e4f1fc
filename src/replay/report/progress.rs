//! A line on the terminal that shows how far a replay is.

#![expect(clippy::disallowed_methods, reason = "reads the clock")]

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(100);

const WIDTH: u64 = 30;

/// Shows on a terminal how much is done; nothing elsewhere.
pub(crate) struct ProgressLine {
    total: u64,
    done: u64,
    started: Instant,
    /// The time of the last line, and how long it is.
    last: Instant,
    length: usize,
}

impl ProgressLine {
    pub(crate) fn new(total: u64) -> Self {
        let now = Instant::now();
        Self { total, done: 0, started: now, last: now, length: 0 }
    }

    pub(crate) fn add(&mut self, bytes: u64) {
        self.done += bytes;
        if self.last.elapsed() >= PAUSE && io::stderr().is_terminal() {
            self.last = Instant::now();
            self.show(&line(self.done, self.total, self.started.elapsed()));
        }
    }

    pub(crate) fn clear(&mut self) {
        if self.length > 0 {
            self.show("");
        }
    }

    /// Replaces the line; spaces cover what is left of a longer one.
    fn show(&mut self, text: &str) {
        let width = self.length.max(text.len());
        let end = if text.is_empty() { "\r" } else { "" };
        let _: io::Result<()> = write!(io::stderr(), "\r{text:width$}{end}");
        self.length = text.len();
    }
}

fn line(done: u64, total: u64, spent: Duration) -> String {
    let filled = WIDTH * done.min(total) / total.max(1);
    let bar: String = (0..WIDTH).map(|at| if at < filled { '#' } else { '-' }).collect();
    let left = u128::from(total.saturating_sub(done)) * spent.as_millis() / u128::from(done.max(1));
    format!("{bar} {} of {}, {} s to go", decimal(done), decimal(total), left.div_ceil(1000))
}

/// A size in the largest unit that it has one of.
pub(crate) fn decimal(bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match units.into_iter().find(|(size, _)| bytes >= *size) {
        Some((size, unit)) => format!("{}.{:02} {unit}", bytes / size, bytes % size * 100 / size),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_what_is_done_and_the_time_that_is_left() {
        let half = line(48_000_000, 96_500_000, Duration::from_secs(3));
        assert_eq!(half, format!("{}{} 48.00 MB of 96.50 MB, 4 s to go", "#".repeat(14), "-".repeat(16)));
        assert!(line(0, 0, Duration::ZERO).ends_with(" 0 B of 0 B, 0 s to go"));
    }

    #[test]
    fn sizes_have_the_largest_unit() {
        let sizes = [999, 1_000, 27_345, 1_999_999, 3_000_000_000].map(decimal);
        assert_eq!(sizes, ["999 B", "1.00 kB", "27.34 kB", "1.99 MB", "3.00 GB"]);
    }
}
