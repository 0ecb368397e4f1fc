//! Reads the arguments of modegate's own program, as its command line does.

use shell_effects::ShellWord;

/// Options with a value that every command accepts.
const VALUED: [&str; 2] = ["--project", "--color"];

/// Whether a call of modegate has the words and options of `allowed`, such as `modes list` or `--help`.
///
/// An option's value is not a word of the command: `--project check leave` is `leave`. What is not clear is not allowed.
pub(super) fn is_command(call: &[ShellWord], allowed: &str) -> bool {
    let (options, words): (Vec<&str>, Vec<&str>) = allowed.split_whitespace().partition(|word| word.starts_with('-'));
    let mut rest = call.get(1..).unwrap_or_default();
    for wanted in words {
        match next_word(rest) {
            Some((word, after)) if word == wanted => rest = after,
            _ => return false,
        }
    }
    options.iter().all(|option| has_option(rest, option))
}

/// The next word that is no option, and the words after it.
fn next_word(mut words: &[ShellWord]) -> Option<(String, &[ShellWord])> {
    loop {
        let (word, after) = words.split_first()?;
        let text = clear_text(word)?;
        words = match text.as_str() {
            "--" => return None,
            option if VALUED.contains(&option) => {
                let (value, after) = after.split_first()?;
                clear_text(value)?;
                after
            }
            option if option.starts_with("--") && option.contains('=') => after,
            // A flag of the command, if it has one with this name; else it is an error.
            "--json" => after,
            option if option.starts_with('-') => return None,
            _ => return Some((text, after)),
        };
    }
}

/// Whether an option is among these words. After an unknown word, which may be `--`, it may be an operand.
fn has_option(words: &[ShellWord], option: &str) -> bool {
    let texts = words.iter().map_while(clear_text);
    texts.take_while(|text| text != "--").any(|text| text == option)
}

/// The text of a word that is surely one word: an unknown one may be none, a glob several.
fn clear_text(word: &ShellWord) -> Option<String> {
    word.text().filter(|_| !word.has_glob())
}

#[cfg(test)]
mod tests {
    use super::is_command;
    use shell_effects::{ExecContext, effects};

    fn is_allowed(line: &str, allowed: &str) -> bool {
        let effects = effects(line, &ExecContext::default());
        effects.calls.iter().all(|call| is_command(&call.words, allowed))
    }

    #[test]
    fn the_value_of_an_option_is_not_the_command() {
        for line in [
            "modegate --project check leave plan",
            "modegate --color check leave plan",
            "modegate --project=. leave check",
            "modegate --project $X check leave plan",
            "modegate --project * check leave plan",
            "modegate --other check leave plan",
            "modegate -- check",
            "modegate $X check",
            "modegate",
        ] {
            assert!(!is_allowed(line, "check"), "{line}");
        }
        assert!(!is_allowed("modegate modes --project list add x", "modes list"));
        assert!(!is_allowed("modegate cache set -- phase --help", "--help"));
        assert!(!is_allowed("modegate --project=--help leave plan", "--help"));
    }

    #[test]
    fn options_around_the_words_of_a_command_are_skipped() {
        for (line, allowed) in [
            ("modegate check clean src", "check"),
            ("modegate --project ../other check", "check"),
            ("modegate --project=leave --color never check", "check"),
            ("modegate modes --project . list --json", "modes list"),
            ("modegate record --json export", "record export"),
            ("modegate --verbose --version", "--version"),
            ("modegate leave plan --help", "--help"),
        ] {
            assert!(is_allowed(line, allowed), "{line}");
        }
    }
}
