//! Finds and weighs summaries in an output.

use super::filters::SeenPart;
use super::missing_tests::names_missing_tests;
use super::programs::{LineMeaning, PROGRAMS, Summary, SummaryLayout, summaries};
use super::{LineOutput, OutputResult};
use anstream::adapter::strip_str;
use regex::{RegexSet, RegexSetBuilder};
use shell_effects::ProgramCall;
use std::sync::{LazyLock, OnceLock};

/// Runners that run the runners of the tests; both print a summary.
const RUN_RUNNERS: [&str; 2] = ["tox", "nox"];

/// What a line shows, with the place of its runner; `None` for programs that run others.
type RunnerSign = (Option<usize>, LineMeaning);

/// Finds signs of the runners that a command may have started.
pub(super) struct SummaryReader {
    summaries: Vec<&'static Summary>,
    patterns: RegexSet,
    /// The sign of each pattern.
    meanings: Vec<RunnerSign>,
    /// Whether the command is the runner itself.
    direct: bool,
}

impl SummaryReader {
    /// Reads the output of the runner that all these calls are, or of any.
    pub fn for_runs(runs: &[&ProgramCall]) -> &'static Self {
        static OWN: LazyLock<Vec<(&Summary, OnceLock<SummaryReader>)>> =
            LazyLock::new(|| summaries().map(|summary| (summary, OnceLock::new())).collect());
        let prints = |summary: &Summary, run: &ProgramCall| summary.commands.iter().any(|own| run.matches(own));
        let is_own = |summary: &Summary, run: &ProgramCall| {
            runs.iter().any(|other| other.command == run.command && prints(summary, other))
        };
        let same = |summary: &Summary| {
            runs.iter().all(|run| is_own(summary, run)) && !summary.commands.iter().any(|own| RUN_RUNNERS.contains(own))
        };
        let own = OWN.iter().find(|(summary, _)| same(summary));
        own.map_or_else(Self::for_any, |(summary, reader)| reader.get_or_init(|| Self::new(vec![*summary], true)))
    }

    /// Reads the output of any runner.
    pub fn for_any() -> &'static Self {
        static ALL: LazyLock<SummaryReader> = LazyLock::new(|| SummaryReader::new(summaries().collect(), false));
        &ALL
    }

    fn new(summaries: Vec<&'static Summary>, direct: bool) -> Self {
        let own = summaries.iter().enumerate().map(|(at, summary)| (Some(at), summary.signs));
        let rows = own.chain(PROGRAMS.iter().map(|program| (None, program.signs)));
        let signs =
            rows.flat_map(|(at, signs)| signs.iter().map(move |(meaning, sign)| (filled(sign), (at, *meaning))));
        let (patterns, meanings): (Vec<String>, Vec<RunnerSign>) = signs.unzip();
        let patterns =
            RegexSetBuilder::new(patterns).size_limit(64 << 20).build().unwrap_or_else(|_| RegexSet::empty());
        Self { summaries, patterns, meanings, direct }
    }

    /// Whether a line of the text is the sign of a result.
    pub fn has_result(&self, text: &str) -> bool {
        text.lines().any(|line| self.signs_and_text(line).0.iter().any(|(_, sign)| *sign != LineMeaning::NotStarted))
    }

    /// Whether a line of the text says that the tests were not started.
    pub fn has_not_started(&self, text: &str) -> bool {
        self.seen_signs(text).has(LineMeaning::NotStarted)
    }

    /// The signs of a line, and its text without a prefix.
    fn signs_and_text<'a>(&self, line: &'a str) -> (Vec<RunnerSign>, &'a str) {
        let found = |text: &str| -> Vec<RunnerSign> {
            self.patterns.matches(text).iter().filter_map(|at| self.meanings.get(at).copied()).collect()
        };
        let mut text = line.trim();
        let mut signs = found(text);
        // Lines of `grep -n`, of packages that run in parallel, and of containers have a prefix.
        for _ in 0..2 {
            let is_plain = signs.iter().all(|(_, sign)| *sign == LineMeaning::NotStarted);
            let Some(rest) = without_prefix(text, self.direct).filter(|_| is_plain) else { break };
            text = rest;
            signs.extend(found(text));
        }
        (signs, text)
    }

    /// The result of `runs` runs. If the exit code says that they `passed`, a failure counts unless a summary after it shows a
    /// pass: a run that passed may print anything, and may have tried again.
    pub fn result(&self, output: &LineOutput, part: &SeenPart, runs: usize, passed: bool) -> OutputResult {
        let mut seen = self.seen_signs(&output.text);
        if passed && self.ends_with_pass(&seen) {
            seen.signs.retain(|(_, sign)| !matches!(sign, LineMeaning::Failed | LineMeaning::Aborted));
        }
        let is_misused = || seen.has(LineMeaning::Misused) || output.has_failed() && seen.has(LineMeaning::NotStarted);
        let is_idle = |at: &usize| {
            let shows = |sign| seen.signs.contains(&(Some(*at), sign));
            shows(LineMeaning::Idle) && !shows(LineMeaning::Ran) && !part.start_cut
        };
        let (idle, passing): (Vec<usize>, Vec<usize>) = self.with(&seen, LineMeaning::Passed).partition(is_idle);
        let parts: Vec<usize> = self.with(&seen, LineMeaning::Part).collect();
        let has_empty_parts = !parts.is_empty() && !part.start_cut;
        match () {
            () if output.has_failed() && names_missing_tests(&output.text) => OutputResult::Misused,
            () if seen.signs.iter().any(|(at, sign)| *sign == LineMeaning::Failed && at.is_some()) => {
                OutputResult::Failed
            }
            () if passing.is_empty() && is_misused() => OutputResult::Misused,
            () if seen.has(LineMeaning::Aborted) => OutputResult::Failed,
            () if passing.is_empty() && (seen.has(LineMeaning::Empty) || !idle.is_empty()) => OutputResult::Empty,
            () if seen.has(LineMeaning::Failed) => OutputResult::Failed,
            () if passing.is_empty() && has_empty_parts => OutputResult::Empty,
            // The last part had no tests, and those before it are not seen: they passed, or it would not have run.
            () if passing.is_empty() => self.passed(&parts, &seen, part, runs),
            () => self.passed(&passing, &seen, part, runs),
        }
    }

    /// Whether these summaries show that everything passed.
    fn passed(&self, deciding: &[usize], seen: &SeenSigns, part: &SeenPart, runs: usize) -> OutputResult {
        if deciding.is_empty() {
            return super::unreadable("no summary of the tests is seen");
        }
        let hides = |at: &usize| {
            self.summaries.get(*at).is_none_or(|summary| {
                let cut = match summary.layout {
                    SummaryLayout::Final => false,
                    SummaryLayout::Parts => part.end_cut,
                    SummaryLayout::EachPart => part.end_cut || part.start_cut,
                    SummaryLayout::Listed => seen.unheaded && part.start_cut,
                };
                let lacks_whole = summary.needs_whole() && !seen.signs.contains(&(Some(*at), LineMeaning::Whole));
                cut || lacks_whole || summary.failing.is_some_and(|line| !part.shows(line))
            })
        };
        if deciding.iter().any(hides) || seen.passes < runs {
            return super::unreadable("only a part of the summary is seen");
        }
        OutputResult::Passed
    }

    /// Whether a runner shows a pass after the last failure.
    fn ends_with_pass(&self, seen: &SeenSigns) -> bool {
        let after = seen.signs.get(seen.after_failure..).unwrap_or_default();
        let passes = |(at, summary): (usize, &&Summary)| {
            let shows = |sign| after.contains(&(Some(at), sign));
            // Of the other layouts, a failure is not repeated at the end.
            let repeats = matches!(summary.layout, SummaryLayout::Final | SummaryLayout::Parts);
            let decides = repeats || !seen.signs.contains(&(Some(at), LineMeaning::Failed));
            let passes = shows(LineMeaning::Passed) && (!summary.needs_whole() || shows(LineMeaning::Whole));
            passes && decides && !may_ignore_failures(summary)
        };
        self.summaries.iter().enumerate().any(passes)
    }

    fn seen_signs(&self, text: &str) -> SeenSigns {
        let mut seen = SeenSigns::default();
        let mut before: Option<String> = None;
        let is_listed = |at: Option<usize>| {
            at.and_then(|at| self.summaries.get(at)).is_some_and(|summary| summary.layout == SummaryLayout::Listed)
        };
        let text = strip_str(text).to_string();
        for line in text.split(['\n', '\r']).filter(|line| !line.trim().is_empty()) {
            let (mut signs, text) = self.signs_and_text(line);
            if signs.iter().any(|(_, sign)| *sign == LineMeaning::Skipped) && is_all_skipped(before.as_deref(), text) {
                seen.replace_pass(&mut signs);
            }
            seen.passes +=
                usize::from(signs.iter().any(|(_, sign)| matches!(sign, LineMeaning::Passed | LineMeaning::Part)));
            if signs.iter().any(|(at, sign)| *sign == LineMeaning::Passed && is_listed(*at)) {
                seen.unheaded |= before.as_deref().is_none_or(is_failure_item);
            }
            let is_failure = signs.iter().any(|(_, sign)| matches!(sign, LineMeaning::Failed | LineMeaning::Aborted));
            seen.last_line = seen.signs.len();
            seen.signs.extend(signs);
            if is_failure {
                seen.after_failure = seen.signs.len();
            }
            before = Some(line.to_owned());
        }
        seen
    }

    /// The summaries that show a sign.
    fn with(&self, seen: &SeenSigns, wanted: LineMeaning) -> impl Iterator<Item = usize> {
        (0..self.summaries.len()).filter(move |at| seen.signs.contains(&(Some(*at), wanted)))
    }
}

impl Summary {
    fn needs_whole(&self) -> bool {
        self.signs.iter().any(|(sign, _)| *sign == LineMeaning::Whole)
    }
}

/// The signs of an output.
#[derive(Default)]
struct SeenSigns {
    signs: Vec<RunnerSign>,
    /// Where the signs of the last line begin.
    last_line: usize,
    /// Where the signs after the last failure begin.
    after_failure: usize,
    /// The number of summaries without a failure.
    passes: usize,
    /// Whether a list of failures may have been cut off before a summary.
    unheaded: bool,
}

impl SeenSigns {
    fn has(&self, wanted: LineMeaning) -> bool {
        self.signs.iter().any(|(_, sign)| *sign == wanted)
    }

    /// Makes the pass of a line, or of the line before it, a run without tests.
    fn replace_pass(&mut self, signs: &mut Vec<RunnerSign>) {
        let is_pass = |(_, sign): &RunnerSign| *sign == LineMeaning::Passed;
        if signs.iter().any(is_pass) {
            signs.retain(|sign| !is_pass(sign));
        } else if let Some(at) = self.signs.iter().skip(self.last_line).position(is_pass) {
            self.signs.remove(self.last_line + at);
            self.passes = self.passes.saturating_sub(1);
        }
        let runners: Vec<_> =
            signs.iter().filter(|(_, sign)| *sign == LineMeaning::Skipped).map(|(at, _)| *at).collect();
        signs.extend(runners.into_iter().map(|at| (at, LineMeaning::Empty)));
    }
}

/// Whether the pass of a runner is that of a build, in which the failures of tests may be ignored.
fn may_ignore_failures(summary: &Summary) -> bool {
    summary.commands.iter().any(|own| *own == "gradle" || RUN_RUNNERS.contains(own))
}

/// Whether a line says that as many tests were skipped as there are; without a total of its own, the line before it has that.
fn is_all_skipped(before: Option<&str>, line: &str) -> bool {
    let own = numbers(line);
    let (total, others) = match (own.as_slice(), before.map(numbers)) {
        ([skipped], Some(before)) => (before.first().copied(), vec![*skipped]),
        ([total, others @ ..], _) => (Some(*total), others.to_vec()),
        ([], _) => return false,
    };
    total == Some(others.iter().sum())
}

/// The numbers of a line up to its times.
fn numbers(line: &str) -> Vec<u64> {
    let ends = [", Time", " in ", " ("];
    let end = ends.iter().filter_map(|end| line.find(end).filter(|at| *at > 2)).min().unwrap_or(line.len());
    let text = line.get(..end).filter(|text| text.contains(|c: char| c.is_ascii_digit())).unwrap_or(line);
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

fn filled(pattern: &str) -> String {
    // The classes of Unicode are large, and no runner prints them here.
    let classes = [(r"\S", r"[^ \t]"), (r"\s", r"[ \t]"), (r"\b", r"(?-u:\b)")];
    let pattern = pattern.replace("<n>", "[0-9]+").replace("<some>", "[1-9][0-9]*");
    classes.iter().fold(pattern, |pattern, (class, plain)| pattern.replace(class, plain))
}

/// Whether a line is one of a list of failed tests.
fn is_failure_item(line: &str) -> bool {
    line.starts_with("    ") && line.contains('›') && !line.contains('✓')
}

/// The line without one prefix: a line number, or for other programs also the name of a package.
fn without_prefix(line: &str, direct: bool) -> Option<&str> {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if digits.len() < line.len()
        && let Some(rest) = digits.strip_prefix([':', '-', '\t'])
    {
        return Some(rest.trim_start());
    }
    if direct {
        return None;
    }
    let is_name = |name: &str| name.len() < 80 && name.chars().all(|c| c.is_alphanumeric() || "@/:._#- ".contains(c));
    if let Some((name, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        // `git commit` prints `[branch hash] subject`.
        return (is_name(name) && !name.contains(' ')).then(|| rest.trim_start());
    }
    let named = line.split_once(" | ").or_else(|| line.split_once(": "));
    named.filter(|(name, _)| is_name(name)).map(|(_, rest)| rest.trim_start())
}
