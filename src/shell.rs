//! A command line as simple commands, for recognising `cargo test` in what was run.

/// One simple command of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    /// Its words, quotes removed, without assignments and redirections.
    pub words: Vec<String>,
    /// Whether the line's success is this command's: nothing that follows can turn its failure into success.
    pub tells_success: bool,
    /// Whether the line's failure is this command's: nothing follows that could have failed instead.
    pub tells_failure: bool,
}

/// Splits a command line at `;`, `&&`, `||`, `|`, `&` and newlines, outside quotes.
///
/// Not a parser of the shell's grammar: what is inside `$(…)` or a function is not looked into.
#[must_use]
pub fn commands(line: &str) -> Vec<Simple> {
    let parts = split(line);
    let pipefail = parts.iter().any(|(words, _)| words.iter().any(|word| word == "pipefail"));
    let mut commands = Vec::with_capacity(parts.len());
    for (index, (words, _)) in parts.iter().enumerate() {
        let rest = parts.get(index..).unwrap_or_default();
        let last = |from: usize| rest.get(from..).is_none_or(|after| after.iter().all(|(words, _)| words.is_empty()));
        let tells_success = rest.iter().enumerate().all(|(at, (_, end))| match end {
            End::And => true,
            End::Pipe => pipefail,
            // Only the very end may close the line with a newline or a semicolon.
            End::Sequence => last(at + 1),
            End::Or | End::Background => false,
        });
        let own = rest.first().map(|(_, end)| *end);
        let tells_failure = tells_success && matches!(own, Some(End::Sequence | End::Pipe));
        commands.push(Simple { words: plain(words), tells_success, tells_failure });
    }
    commands.retain(|command| !command.words.is_empty());
    commands
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    And,
    Or,
    Pipe,
    Sequence,
    Background,
}

fn split(line: &str) -> Vec<(Vec<String>, End)> {
    let mut parts = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let end = match c {
            '\'' => {
                word.get_or_insert_default().extend(chars.by_ref().take_while(|c| *c != '\''));
                continue;
            }
            '"' => {
                quoted(&mut chars, word.get_or_insert_default());
                continue;
            }
            '\\' => {
                if let Some(next) = chars.next().filter(|next| *next != '\n') {
                    word.get_or_insert_default().push(next);
                }
                continue;
            }
            '#' if word.is_none() => {
                while chars.peek().is_some_and(|c| *c != '\n') {
                    chars.next();
                }
                continue;
            }
            // `2>&1` and `&>file` are redirections, not the end of a command.
            '&' if word.as_deref().is_some_and(|word| word.ends_with(['>', '<'])) || chars.peek() == Some(&'>') => {
                word.get_or_insert_default().push(c);
                continue;
            }
            '&' if chars.next_if_eq(&'&').is_some() => End::And,
            '|' if chars.next_if_eq(&'|').is_some() => End::Or,
            '|' => {
                chars.next_if_eq(&'&');
                End::Pipe
            }
            '&' => End::Background,
            ';' | '\n' => End::Sequence,
            c if c.is_whitespace() => {
                words.extend(word.take());
                continue;
            }
            c => {
                word.get_or_insert_default().push(c);
                continue;
            }
        };
        words.extend(word.take());
        parts.push((std::mem::take(&mut words), end));
    }
    words.extend(word);
    parts.push((words, End::Sequence));
    parts
}

fn quoted(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, word: &mut String) {
    while let Some(c) = chars.next() {
        match c {
            '"' => return,
            '\\' => word.extend(chars.next()),
            c => word.push(c),
        }
    }
}

/// The words that name the command: leading assignments, wrappers and all redirections dropped.
fn plain(words: &[String]) -> Vec<String> {
    let is_assignment = |word: &str| {
        word.split_once('=')
            .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_'))
    };
    let is_wrapper = |word: &str| matches!(word, "env" | "time" | "timeout" | "command" | "nice" | "exec" | "{" | "!");
    let mut rest = words.iter().map(|word| word.trim_matches(['(', ')'])).filter(|word| !word.is_empty()).peekable();
    while let Some(word) = rest.next_if(|word| is_assignment(word) || is_wrapper(word)) {
        // `timeout -k 5 120 cargo test`: what follows is options and a time.
        while word == "timeout"
            && rest
                .next_if(|word| word.starts_with(['-', '+']) || word.starts_with(|c: char| c.is_ascii_digit()))
                .is_some()
        {}
    }
    let mut plain = Vec::new();
    while let Some(word) = rest.next() {
        match word.trim_start_matches(|c: char| c.is_ascii_digit()) {
            ">" | ">>" | "<" | "&>" => drop(rest.next()),
            redirection if redirection.starts_with(['>', '<']) || redirection.starts_with("&>") => {}
            _ => plain.push(word.to_owned()),
        }
    }
    plain
}

/// Whether `command` begins with the words of `wanted`; the program's folder does not count.
#[must_use]
pub fn begins_with(command: &[String], wanted: &str) -> bool {
    let mut wanted = wanted.split_whitespace().enumerate().peekable();
    wanted.peek().is_some()
        && wanted.all(|(index, word)| {
            command
                .get(index)
                .is_some_and(|given| given == word || index == 0 && given.rsplit('/').next() == Some(word))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<bool>) {
        let found = commands(line).into_iter().find(|command| begins_with(&command.words, "cargo test"));
        assert_eq!(found.map(|command| command.tells_success), expected, "{line}");
    }

    #[test]
    fn a_test_command_is_recognised_where_it_runs() {
        check("cargo test", Some(true));
        check("cd x && RUST_LOG=1 cargo test --all 2>&1", Some(true));
        check("cargo test > /tmp/log 2>&1\n", Some(true));
        check("/usr/bin/cargo test;", Some(true));
        check("(cargo test)", Some(true));
        check("timeout -k 5 120s cargo test", Some(true));
        check("(cd app && cargo test)", Some(true));
        check("( cargo test --lib )", Some(true));
        check("cargo test && echo fine", Some(true));
    }

    #[test]
    fn what_hides_the_exit_code_does_not_decide() {
        check("cargo test | tail -5", Some(false));
        check("cargo test || true", Some(false));
        check("cargo test; echo done", Some(false));
        check("cargo test &", Some(false));
        check("set -o pipefail; cargo test | tail -5", Some(true));
    }

    #[test]
    fn a_failure_may_be_that_of_what_follows() {
        let tells = |line: &str| commands(line).first().map(|command| command.tells_failure);
        assert_eq!(tells("cargo test"), Some(true));
        assert_eq!(tells("cargo test && git push"), Some(false));
        assert_eq!(tells("cargo test | tail"), Some(false));
    }

    #[test]
    fn a_mention_is_not_a_run() {
        check("echo cargo test", None);
        check("git commit -m 'cargo test'", None);
        check("cargo testing", None);
        check("# cargo test", None);
    }
}
