//! Unknown programs that may run their arguments: `foo git push`.

use super::ProgramCall;
use crate::has_name;
use crate::programs::{KEEPS, has_trait};
use crate::word::ShellWord;

/// Words between an unknown program and what it runs.
const BETWEEN: &str = "run exec x with --";

impl ProgramCall {
    /// The call that it makes of its arguments, if it is an unknown program that runs them.
    #[must_use]
    pub fn possible_call(&self) -> Option<Self> {
        let name = self.words.first().and_then(ShellWord::text)?;
        if has_trait(name.rsplit('/').next().unwrap_or_default(), KEEPS) {
            return None;
        }
        let is_between = |word: &str| word.starts_with('-') || has_name(BETWEEN, word);
        let between = self.words.iter().skip(1).take_while(|word| is_between(&word.filled("…"))).count();
        let rest = self.words.get(1 + between..).filter(|rest| !rest.is_empty())?;
        Some(Self { words: rest.to_vec(), ..self.clone() })
    }
}
