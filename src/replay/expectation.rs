//! What a recording is expected to come to: lines beside its events, or a file beside it.

use super::change::DecisionChange;
use super::result::ReplayResult;
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What is expected of one event; what is left out may be anything.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Expectation {
    /// The verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// What comes of it, in a word: `allowed`, `blocked`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The whole reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Texts that the reason has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
    /// What happens to the modes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<Vec<String>>,
    /// The difference that is wanted, as `--bless` has found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<DecisionChange>,
    /// That it cannot be decided: whoever expects it wants to hear when it can be.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub undecidable: bool,
}

/// An expectation as people write it: a word, or more.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenExpectation {
    Word(String),
    Whole(Expectation),
}

/// The words for what comes of an event.
const OUTCOMES: [&str; 6] = ["allowed", "allowed unmet", "asked", "blocked", "stopped", "warned"];

impl Expectation {
    /// Reads what stands behind `expect`.
    pub fn read(text: &str) -> Result<Self, String> {
        let written = serde_json::from_str(text).map_err(|_| {
            "an expectation is a word such as \"block\", or an object with `verdict`, `outcome`, `reason`, `because`, `moves`"
                .to_owned()
        })?;
        Self::written(written)
    }

    fn written(written: WrittenExpectation) -> Result<Self, String> {
        let expectation = match written {
            WrittenExpectation::Whole(expectation) => expectation,
            WrittenExpectation::Word(word) if word == "undecidable" => Self { undecidable: true, ..Self::default() },
            WrittenExpectation::Word(word) => match serde_json::from_value(word.as_str().into()) {
                Ok(verdict) => Self { verdict: Some(verdict), ..Self::default() },
                Err(_) => Self { outcome: Some(word), ..Self::default() },
            },
        };
        expectation.checked()
    }

    fn checked(self) -> Result<Self, String> {
        match &self.outcome {
            Some(word) if !OUTCOMES.contains(&word.as_str()) => {
                Err(format!("no outcome is called `{word}`; there are {}", OUTCOMES.join(", ")))
            }
            _ => Ok(self),
        }
    }

    /// That nothing comes of an event.
    #[must_use]
    pub fn silence() -> Self {
        Self { verdict: Some(Verdict::Pass), moves: Some(Vec::new()), ..Self::default() }
    }

    /// That the same comes of an event.
    #[must_use]
    pub fn of(result: &ReplayResult) -> Self {
        if result.change == DecisionChange::Undecidable {
            return Self { undecidable: true, ..Self::default() };
        }
        let change = Some(result.change).filter(|change| change.differs());
        let reason = (!result.reason.is_empty()).then(|| result.reason.clone());
        let moves = Some(result.moves.clone()).filter(|moves| !moves.is_empty());
        Self { verdict: Some(result.verdict), reason, moves, change, ..Self::default() }
    }

    /// Whether a difference is wanted: only what is named is, and silence names nothing.
    #[must_use]
    pub fn wants(&self, change: DecisionChange) -> bool {
        let verdict = self.verdict.is_some() || self.outcome.is_some();
        let named = match change {
            DecisionChange::New | DecisionChange::Same => true,
            DecisionChange::NewlyBlocked | DecisionChange::NewlyAllowed => verdict,
            DecisionChange::ChangedReason => self.reason.is_some() || !self.because.is_empty(),
            DecisionChange::Undecidable => self.undecidable,
            // What is told, given and kept is not in an expectation.
            DecisionChange::Drift | DecisionChange::ChangedOtherwise => false,
        };
        self.change == Some(change) || named && *self != Self::silence()
    }

    /// Whether it is met.
    #[must_use]
    pub fn is_met(&self, result: &ReplayResult) -> bool {
        // What cannot be decided meets nothing but that.
        if self.undecidable || result.change == DecisionChange::Undecidable {
            return self.undecidable && result.change == DecisionChange::Undecidable;
        }
        let is_outcome =
            |word: &String| *word == result.outcome || word == "blocked" && result.verdict >= Verdict::Block;
        self.verdict.is_none_or(|verdict| verdict == result.verdict)
            && self.outcome.as_ref().is_none_or(is_outcome)
            && self.reason.as_ref().is_none_or(|reason| *reason == result.reason)
            && self.because.iter().all(|text| result.reason.contains(text.as_str()))
            && self.moves.as_ref().is_none_or(|moves| *moves == result.moves)
    }
}

impl std::fmt::Display for Expectation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.verdict.map(|verdict| verdict.word().to_owned()));
        parts.extend(self.outcome.clone());
        parts.extend(self.reason.as_ref().map(|reason| format!("the reason {reason:?}")));
        parts.extend(self.because.iter().map(|text| format!("{text:?} in the reason")));
        parts.extend(self.moves.as_ref().filter(|moves| !moves.is_empty()).map(|moves| moves.join(", ")));
        parts.extend(self.moves.as_ref().filter(|moves| moves.is_empty()).map(|_| "no mode moves".to_owned()));
        parts.extend(self.undecidable.then(|| "that it cannot be decided".to_owned()));
        f.write_str(&parts.join(", "))
    }
}

/// The file beside a recording: what is expected of those of its events from which something comes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectationFile {
    /// How many events the recording has.
    pub events: u64,
    /// What is expected; of an event that is not named, nothing comes.
    #[serde(default)]
    pub expect: Vec<EventExpectation>,
}

/// What is expected of an event at its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub struct EventExpectation {
    /// Which event it is, from 1: one line may tell of several, and several files of one session.
    pub number: u64,
    /// Its line, for people.
    #[serde(default)]
    pub line: u64,
    /// The event, for people.
    #[serde(default)]
    pub event: String,
    /// What is expected.
    #[serde(flatten)]
    pub expected: Expectation,
}

/// A word that is not known must not pass for an expectation that is met, and so each is looked at.
impl TryFrom<Map<String, Value>> for EventExpectation {
    type Error = String;

    fn try_from(mut fields: Map<String, Value>) -> Result<Self, String> {
        let number = fields.shift_remove("number").and_then(|number| number.as_u64());
        let line = fields.shift_remove("line").and_then(|line| line.as_u64()).unwrap_or_default();
        let event = fields.shift_remove("event").and_then(|event| event.as_str().map(str::to_owned));
        let expected = serde_json::from_value(Value::Object(fields)).map_err(|error| error.to_string())?;
        let number = number.ok_or("an expectation needs the `number` of its event")?;
        Ok(Self { number, line, event: event.unwrap_or_default(), expected })
    }
}

/// What stands at the top of the file.
const HEAD: &str = "# What modegate is expected to decide, written by `modegate replay --bless`. Of an event that is not named\n# here nothing comes: it passes, and no mode moves.\n";

impl ExpectationFile {
    /// Reads the file; the error is a clause with the place.
    pub fn read(text: &str) -> Result<Self, String> {
        let sidecar: Self = serde_yaml::from_str(text).map_err(|error| error.to_string())?;
        for at in &sidecar.expect {
            at.expected.clone().checked().map_err(|why| format!("event {}: {why}", at.number))?;
        }
        Ok(sidecar)
    }

    /// The file's text.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{HEAD}{}", serde_yaml::to_string(self).unwrap_or_default())
    }

    /// What is expected of an event, by its number.
    #[must_use]
    pub fn at(&self, number: u64) -> Expectation {
        let found = self.expect.iter().find(|at| at.number == number);
        found.map_or_else(Expectation::silence, |at| at.expected.clone())
    }

    /// Expects what has come of an event.
    pub fn bless(&mut self, result: &ReplayResult) {
        self.events += 1;
        let expected = Expectation::of(result);
        if result.change.differs() || !Expectation::silence().is_met(result) {
            let (number, line, event) = (self.events, result.line, result.event.clone());
            self.expect.push(EventExpectation { number, line, event, expected });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(verdict: Verdict, reason: &str, outcome: &str) -> ReplayResult {
        ReplayResult { verdict, reason: reason.to_owned(), outcome: outcome.to_owned(), ..ReplayResult::default() }
    }

    #[track_caller]
    fn check(text: &str, verdict: Verdict, expected: bool) {
        let blocked = result(verdict, "No plan. Write it.", "blocked");
        assert_eq!(Expectation::read(text).expect(text).is_met(&blocked), expected, "{text}");
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
    fn what_is_no_expectation_says_so() {
        assert!(Expectation::read(r#""blokked""#).unwrap_err().contains("no outcome is called `blokked`"));
        assert!(Expectation::read(r#"{"verdikt":"block"}"#).unwrap_err().contains("`verdict`"));
        assert!(ExpectationFile::read("events: 1\nexpect: [{number: x}]").unwrap_err().contains("number"));
    }

    #[test]
    fn a_blessed_file_reads_back_and_expects_silence_elsewhere() {
        let mut sidecar = ExpectationFile::default();
        sidecar.bless(&ReplayResult { line: 1, ..ReplayResult::default() });
        sidecar.bless(&ReplayResult { line: 2, ..result(Verdict::Block, "a: \"b\"\nc # d", "blocked") });
        let again = ExpectationFile::read(&sidecar.text()).unwrap();
        assert_eq!(again, sidecar);
        assert_eq!(again.events, 2);
        assert_eq!(again.at(2).reason.as_deref(), Some("a: \"b\"\nc # d"));
        assert_eq!(again.at(1), Expectation::silence());
    }
}
