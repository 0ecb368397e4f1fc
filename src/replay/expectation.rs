//! Expected decisions: lines between the events of a recording, or a file next to it.

use crate::facts::frontmatter::nests_too_deep;
use crate::facts::verdict::Verdict;
use crate::replay::change::DecisionChange;
use crate::replay::result::ReplayResult;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// The expected decision of one event; a key that is left out matches anything.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Expectation {
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    /// The result in a word: `allowed`, `blocked`.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    because: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moves: Option<Vec<String>>,
    /// The accepted difference, as `--bless` found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<DecisionChange>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    undecidable: bool,
}

/// An expectation as people write it.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenExpectation {
    Word(String),
    Whole(Expectation),
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ExpectationError {
    #[error(
        "an expectation is a word such as \"block\", or an object with `verdict`, `outcome`, `reason`, `because`, `moves`"
    )]
    Shape,
    #[error("unknown outcome `{0}`{renamed}; the outcomes are {words}", renamed = renamed(.0), words = OUTCOMES.join(", "))]
    Outcome(String),
    #[error("event {0}: {1}")]
    Event(u64, Box<ExpectationError>),
    #[error(transparent)]
    Yaml(#[from] serde_yaml::Error),
    #[error("too many brackets are open")]
    TooDeep,
    #[error("cannot read the file: {0}")]
    Io(#[from] io::Error),
}

const OUTCOMES: [&str; 6] = ["allowed", "asked", "blocked", "stopped", "unfinished", "warned"];

/// The word that replaces one of an earlier version, as part of an error.
pub(crate) fn renamed(word: &str) -> String {
    let new = match word {
        "refused" | "held" => "blocked",
        "released" => "allowed",
        "told" => "context",
        "tells" => "includes",
        "hides" => "excludes",
        "gives" => "input",
        _ => return String::new(),
    };
    format!(", which is now `{new}`")
}

impl Expectation {
    pub(crate) fn parse(text: &str) -> Result<Self, ExpectationError> {
        let expected = match serde_json::from_str(text).map_err(|_| ExpectationError::Shape)? {
            WrittenExpectation::Word(word) if word == "undecidable" => Self { undecidable: true, ..Self::default() },
            WrittenExpectation::Word(word) => match serde_json::from_value(word.as_str().into()) {
                Ok(verdict) => Self { verdict: Some(verdict), ..Self::default() },
                Err(_) => Self { outcome: Some(word), ..Self::default() },
            },
            WrittenExpectation::Whole(expected) => expected,
        };
        expected.check().map(|()| expected)
    }

    fn check(&self) -> Result<(), ExpectationError> {
        let unknown = self.outcome.as_ref().filter(|word| !OUTCOMES.contains(&word.as_str()));
        unknown.map_or(Ok(()), |word| Err(ExpectationError::Outcome(word.clone())))
    }

    fn silence() -> Self {
        Self { verdict: Some(Verdict::Pass), moves: Some(Vec::new()), ..Self::default() }
    }

    fn from_result(result: &ReplayResult) -> Self {
        if result.compared.change == DecisionChange::Undecidable {
            return Self { undecidable: true, ..Self::default() };
        }
        let change = Some(result.compared.change).filter(|change| change.differs());
        let reason = (!result.now.reason.is_empty()).then(|| result.now.reason.clone());
        let moves = Some(result.now.moves.clone()).filter(|moves| !moves.is_empty());
        Self { verdict: Some(result.now.verdict), reason, moves, change, ..Self::default() }
    }

    /// Whether it accepts a difference: only what it names is accepted, and silence names nothing.
    pub(crate) fn accepts(&self, change: DecisionChange) -> bool {
        let verdict = self.verdict.is_some() || self.outcome.is_some();
        let named = match change {
            DecisionChange::New | DecisionChange::Same => true,
            DecisionChange::NewlyBlocked | DecisionChange::NewlyAllowed => verdict,
            DecisionChange::ChangedReason => self.reason.is_some() || !self.because.is_empty(),
            DecisionChange::Undecidable => self.undecidable,
            // Context and messages are not part of an expectation.
            DecisionChange::Drift | DecisionChange::ChangedOtherwise => false,
        };
        self.change == Some(change) || named && *self != Self::silence()
    }

    pub(crate) fn is_met(&self, result: &ReplayResult) -> bool {
        if self.undecidable || result.compared.change == DecisionChange::Undecidable {
            return self.undecidable && result.compared.change == DecisionChange::Undecidable;
        }
        let is_outcome =
            |word: &String| *word == result.now.outcome || word == "blocked" && result.now.verdict >= Verdict::Block;
        self.verdict.is_none_or(|verdict| verdict == result.now.verdict)
            && self.outcome.as_ref().is_none_or(is_outcome)
            && self.reason.as_ref().is_none_or(|reason| *reason == result.now.reason)
            && self.because.iter().all(|text| result.now.reason.contains(text.as_str()))
            && self.moves.as_ref().is_none_or(|moves| *moves == result.now.moves)
    }
}

impl std::fmt::Display for Expectation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.verdict.map(|verdict| verdict.word().to_owned()));
        parts.extend(self.outcome.clone());
        parts.extend(self.reason.as_ref().map(|reason| format!("the reason {reason:?}")));
        parts.extend(self.because.iter().map(|text| format!("{text:?} in the reason")));
        let moves = |moves: &Vec<String>| if moves.is_empty() { "no mode moves".to_owned() } else { moves.join(", ") };
        parts.extend(self.moves.as_ref().map(moves));
        parts.extend(self.undecidable.then(|| "that the event cannot be decided".to_owned()));
        f.write_str(&parts.join(", "))
    }
}

/// The `NAME.expect.yaml` next to a recording.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectationFile {
    pub(crate) events: u64,
    /// Every other event is expected to pass and to move nothing.
    #[serde(default)]
    pub(crate) expect: Vec<EventExpectation>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventExpectation {
    /// The number of the event, from 1: one line may have several events, and one session several files.
    number: u64,
    /// Its line, for people.
    #[serde(default)]
    line: u64,
    /// The event, for people.
    #[serde(default)]
    event: String,
    #[serde(flatten)]
    expected: Expectation,
}

const HEAD: &str = "# Expected decisions, written by `modegate replay --bless`. Every event that is not listed is expected to\n# pass, and to move no mode.\n";

impl ExpectationFile {
    pub(crate) fn parse(text: &str) -> Result<Self, ExpectationError> {
        if nests_too_deep(text) {
            return Err(ExpectationError::TooDeep);
        }
        let file: Self = serde_yaml::from_str(text)?;
        for at in &file.expect {
            at.expected.check().map_err(|why| ExpectationError::Event(at.number, Box::new(why)))?;
        }
        Ok(file)
    }

    /// The expectations in a file, if there is one.
    pub(crate) fn from_path(path: &Path) -> Result<Option<Self>, ExpectationError> {
        match base::disk::read_text(path, base::disk::LARGEST) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            text => Self::parse(&text?).map(Some),
        }
    }

    pub(crate) fn to_yaml(&self) -> String {
        format!("{HEAD}{}", serde_yaml::to_string(self).unwrap_or_default())
    }

    /// The expectation of an event, by its number.
    pub(crate) fn event(&self, number: u64) -> Expectation {
        let found = self.expect.iter().find(|at| at.number == number);
        found.map_or_else(Expectation::silence, |at| at.expected.clone())
    }

    pub(crate) fn bless(&mut self, result: &ReplayResult) {
        self.events += 1;
        if result.compared.change.differs() || !Expectation::silence().is_met(result) {
            let (number, line, event) = (self.events, result.event.line, result.event.words.clone());
            self.expect.push(EventExpectation { number, line, event, expected: Expectation::from_result(result) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::result::NewDecision;

    fn result(verdict: Verdict, reason: &str, outcome: &str) -> ReplayResult {
        let (reason, outcome) = (reason.to_owned(), outcome.to_owned());
        ReplayResult {
            now: NewDecision { outcome, verdict, reason, ..NewDecision::default() },
            ..ReplayResult::default()
        }
    }

    #[track_caller]
    fn check(text: &str, verdict: Verdict, expected: bool) {
        let blocked = result(verdict, "No plan. Write it.", "blocked");
        assert_eq!(Expectation::parse(text).expect(text).is_met(&blocked), expected, "{text}");
    }

    #[test]
    fn an_expectation_is_a_word_or_more() {
        check(r#""block""#, Verdict::Block, true);
        check(r#""block""#, Verdict::Pass, false);
        check(r#""blocked""#, Verdict::Block, true);
        check(r#""allowed""#, Verdict::Block, false);
        check(r#"{"verdict":"block","because":["plan","Write"]}"#, Verdict::Block, true);
        check(r#"{"because":["research"]}"#, Verdict::Block, false);
        check(r#"{"reason":"No plan."}"#, Verdict::Block, false);
        check(r#"{"moves":["x"]}"#, Verdict::Block, false);
    }

    #[test]
    fn an_invalid_expectation_is_an_error() {
        assert!(Expectation::parse(r#""blokked""#).unwrap_err().to_string().contains("unknown outcome `blokked`"));
        assert!(Expectation::parse(r#"{"verdikt":"block"}"#).unwrap_err().to_string().contains("`verdict`"));
        assert!(ExpectationFile::parse("events: 1\nexpect: [{number: x}]").unwrap_err().to_string().contains("number"));
    }

    #[test]
    fn a_word_of_an_earlier_version_names_the_new_one() {
        for (old, new) in [("refused", "blocked"), ("held", "blocked"), ("released", "allowed"), ("told", "context")] {
            let error = Expectation::parse(&format!("{old:?}")).unwrap_err().to_string();
            assert!(error.starts_with(&format!("unknown outcome `{old}`, which is now `{new}`")), "{error}");
        }
    }

    #[test]
    fn a_blessed_file_reads_back_and_expects_silence_elsewhere() {
        let mut sidecar = ExpectationFile::default();
        sidecar.bless(&ReplayResult::default());
        sidecar.bless(&result(Verdict::Block, "a: \"b\"\nc # d", "blocked"));
        let again = ExpectationFile::parse(&sidecar.to_yaml()).unwrap();
        assert_eq!(again, sidecar);
        assert_eq!(again.events, 2);
        assert_eq!(again.event(2).reason.as_deref(), Some("a: \"b\"\nc # d"));
        assert_eq!(again.event(1), Expectation::silence());
    }
}
