//! Finds and weighs summaries in an output.

use super::filters::SeenPart;
use super::grammars::{LineMeaning, NOT_STARTED, RUNNERS, RunnerGrammar, SummaryLayout, WRAPPER_SIGNS};
use super::missing_tests::names_missing_tests;
use super::{LineOutput, OutputResult};
use regex::{RegexSet, RegexSetBuilder};
use shell_effects::ProgramCall;
use std::sync::OnceLock;

/// The ends of a shell's messages about a command that it did not start.
const SHELL_ERRORS: [&str; 6] = [
    "not found",
    "No such file or directory",
    "Permission denied",
    "Is a directory",
    "ambiguous redirect",
    "Directory nonexistent",
];

/// Runners that run the runners of the tests; both print a summary.
const RUN_RUNNERS: [&str; 2] = ["tox", "nox"];

/// What a line shows, with the place of its runner; `None` for programs that run others.
type RunnerSign = (Option<usize>, LineMeaning);

/// Finds signs of the runners that a command may have started.
pub(super) struct SummaryReader {
    runners: Vec<&'static RunnerGrammar>,
    patterns: RegexSet,
    /// The sign of each pattern.
    meanings: Vec<RunnerSign>,
    /// Whether the command is the runner itself.
    direct: bool,
}

impl SummaryReader {
    /// Reads the output of the runner that all these calls are, or of any.
    pub fn of_runs(runs: &[&ProgramCall]) -> &'static Self {
        static OWN: [OnceLock<SummaryReader>; RUNNERS.len()] = [const { OnceLock::new() }; RUNNERS.len()];
        let prints = |runner: &RunnerGrammar, run: &ProgramCall| runner.commands.iter().any(|own| run.matches(own));
        let is_own = |runner: &RunnerGrammar, run: &ProgramCall| {
            runs.iter().any(|other| other.command == run.command && prints(runner, other))
        };
        let same = |runner: &&RunnerGrammar| {
            runs.iter().all(|run| is_own(runner, run)) && !runner.commands.iter().any(|own| RUN_RUNNERS.contains(own))
        };
        let own = RUNNERS.iter().zip(&OWN).find(|(runner, _)| same(runner));
        own.map_or_else(Self::of_all, |(runner, reader)| reader.get_or_init(|| Self::of(vec![runner], true)))
    }

    /// Reads the output of any runner.
    pub fn of_all() -> &'static Self {
        static ALL: OnceLock<SummaryReader> = OnceLock::new();
        ALL.get_or_init(|| Self::of(RUNNERS.iter().collect(), false))
    }

    fn of(runners: Vec<&'static RunnerGrammar>, direct: bool) -> Self {
        let (mut patterns, mut meanings) = (Vec::new(), Vec::new());
        for (at, runner) in runners.iter().enumerate() {
            for (sign, pattern) in runner.signs {
                patterns.push(filled(pattern));
                meanings.push((Some(at), *sign));
            }
        }
        for (sign, pattern) in &WRAPPER_SIGNS {
            patterns.push(filled(pattern));
            meanings.push((None, *sign));
        }
        let patterns =
            RegexSetBuilder::new(patterns).size_limit(64 << 20).build().unwrap_or_else(|_| RegexSet::empty());
        Self { runners, patterns, meanings, direct }
    }

    /// The signs of a line.
    pub fn signs(&self, line: &str) -> Vec<RunnerSign> {
        self.signs_and_text(line).0
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
            let Some(rest) = without_prefix(text, self.direct).filter(|_| signs.is_empty()) else { break };
            text = rest;
            signs = found(text);
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
        let is_misused =
            || seen.has(LineMeaning::Misused) || output.has_failed() && output.text.lines().any(is_not_started);
        let is_idle = |runner: &&RunnerGrammar| {
            let shows = |sign| self.with(&seen, sign).any(|own| std::ptr::eq(own, *runner));
            shows(LineMeaning::Idle) && !shows(LineMeaning::Ran) && !part.start_cut
        };
        let (idle, passing): (Vec<&RunnerGrammar>, Vec<_>) = self.with(&seen, LineMeaning::Passed).partition(is_idle);
        let parts: Vec<&RunnerGrammar> = self.with(&seen, LineMeaning::Part).collect();
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

    /// Whether the summaries of these runners show that everything passed.
    fn passed(&self, deciding: &[&RunnerGrammar], seen: &SeenSigns, part: &SeenPart, runs: usize) -> OutputResult {
        if deciding.is_empty() {
            return super::unreadable("no summary of the tests is seen");
        }
        let lacks_whole = |runner: &RunnerGrammar| {
            let needs = runner.signs.iter().any(|(sign, _)| *sign == LineMeaning::Whole);
            needs && !self.with(seen, LineMeaning::Whole).any(|own| std::ptr::eq(own, runner))
        };
        let hides = |runner: &RunnerGrammar| {
            let cut = match runner.layout {
                SummaryLayout::Final => false,
                SummaryLayout::Parts => part.end_cut,
                SummaryLayout::EachPart => part.end_cut || part.start_cut,
                SummaryLayout::Listed => seen.unheaded && part.start_cut,
            };
            cut || runner.failing.is_some_and(|line| !part.shows(line))
        };
        if deciding.iter().any(|runner| lacks_whole(runner) || hides(runner)) || seen.passes < runs {
            return super::unreadable("only a part of the summary is seen");
        }
        OutputResult::Passed
    }

    /// Whether a runner shows a pass after the last failure.
    fn ends_with_pass(&self, seen: &SeenSigns) -> bool {
        let after = seen.signs.get(seen.after_failure..).unwrap_or_default();
        let passes = |(at, runner): (usize, &&RunnerGrammar)| {
            let shows = |sign| after.contains(&(Some(at), sign));
            let needs_whole = runner.signs.iter().any(|(sign, _)| *sign == LineMeaning::Whole);
            // Of the other layouts, a failure is not repeated at the end.
            let repeats = matches!(runner.layout, SummaryLayout::Final | SummaryLayout::Parts);
            let decides = repeats || !seen.signs.contains(&(Some(at), LineMeaning::Failed));
            let passes = shows(LineMeaning::Passed) && (!needs_whole || shows(LineMeaning::Whole));
            passes && decides && !may_ignore_failures(runner)
        };
        self.runners.iter().enumerate().any(passes)
    }

    fn seen_signs(&self, text: &str) -> SeenSigns {
        let mut seen = SeenSigns::default();
        let mut before: Option<String> = None;
        let is_listed = |at: Option<usize>| {
            at.and_then(|at| self.runners.get(at)).is_some_and(|runner| runner.layout == SummaryLayout::Listed)
        };
        for line in plain(text).split(['\n', '\r']).filter(|line| !line.trim().is_empty()) {
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

    /// The runners that show a sign.
    fn with<'a>(
        &'a self,
        seen: &'a SeenSigns,
        wanted: LineMeaning,
    ) -> impl Iterator<Item = &'static RunnerGrammar> + 'a {
        let shows = move |at: usize| seen.signs.contains(&(Some(at), wanted));
        self.runners.iter().enumerate().filter(move |(at, _)| shows(*at)).map(|(_, runner)| *runner)
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
}

/// Whether the pass of a runner is that of a build, in which the failures of tests may be ignored.
fn may_ignore_failures(runner: &RunnerGrammar) -> bool {
    runner.commands.iter().any(|own| *own == "gradle" || RUN_RUNNERS.contains(own))
}

impl SeenSigns {
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

/// Whether a line says that the tests were not started.
pub(super) fn is_not_started(line: &str) -> bool {
    // `sh: 1: jest: not found`, `bash: line 1: /x/log: No such file or directory`
    let is_of_shell = || {
        let shell = line.trim_start().split(": ").next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
        ["sh", "bash", "zsh", "dash"].contains(&shell) && SHELL_ERRORS.iter().any(|end| line.trim_end().ends_with(end))
    };
    NOT_STARTED.iter().any(|part| line.contains(part)) || is_of_shell()
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

/// The text without colors and other control sequences.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\u{1b}', Some('[')) => {
                chars.next();
                for c in chars.by_ref() {
                    if ('\u{40}'..='\u{7e}').contains(&c) {
                        break;
                    }
                }
            }
            ('\u{1b}', _) => drop(chars.next()),
            _ => plain.push(c),
        }
    }
    plain
}
