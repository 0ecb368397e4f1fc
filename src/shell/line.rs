//! A command line as simple commands, for recognising `cargo test` in what was run.

use super::parse::readable;
use super::syntax::{CommandTree, CompoundCommand, CompoundKind, Connector, SimpleCommand};
use super::word_parts;

/// One simple command of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    /// Its words, quotes removed, without assignments and redirections.
    pub words: Vec<String>,
    /// Whether the line's success is this command's: it must have run, and nothing that follows can turn its
    /// failure into success.
    pub tells_success: bool,
    /// Whether the line's failure is this command's: nothing before or after it could have failed instead.
    pub tells_failure: bool,
}

/// The simple commands of a line in their order, up to where it cannot be read; those of such a line tell nothing.
///
/// What is inside `$(…)` is not looked into.
#[must_use]
pub fn commands(line: &str) -> Vec<Simple> {
    let mut parts = Vec::new();
    let (tree, unreadable) = readable(line);
    if let Some(tree) = tree {
        flatten(&tree, End::Sequence, Around::default(), &mut parts);
    }
    let mut commands = Vec::with_capacity(parts.len());
    // Each is weighed against all others; a line of so many tells nothing.
    let legible = unreadable.is_none() && parts.len() <= 500;
    for (at, part) in parts.iter().enumerate() {
        let (before, rest) = parts.split_at(at);
        let ran = legible && surely_runs(before) && !part.around.negated && !part.around.doubtful;
        let tells_success = ran && stands(rest, pipefail(before));
        let tells_failure = tells_success && alone(before, rest);
        commands.push(Simple { words: part.words.clone(), tells_success, tells_failure });
    }
    commands.retain(|command| !command.words.is_empty());
    commands
}

/// A command with what ends it.
struct WordPart {
    words: Vec<String>,
    around: Around,
    end: End,
}

/// What a command stands in.
#[derive(Debug, Clone, Copy, Default)]
struct Around {
    negated: bool,
    /// Whether it may not run at all, or more than once.
    doubtful: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    And,
    Or,
    Pipe,
    Sequence,
    Background,
}

impl WordPart {
    fn is(&self, name: &str) -> bool {
        self.words.first().is_some_and(|word| word == name)
    }

    /// Whether it only prepares the context: its own failure would be told by the host in so many words.
    fn prepares(&self) -> bool {
        const PREPARING: [&str; 7] = ["cd", "set", "export", "unset", "pushd", "source", "."];
        self.words.is_empty() || PREPARING.iter().any(|name| self.is(name))
    }
}

/// The commands of a tree in a row: what ends a group ends its last command.
fn flatten(tree: &CommandTree, end: End, around: Around, parts: &mut Vec<WordPart>) {
    let mut row = |trees: &[(&CommandTree, End)], around| {
        for (at, (tree, own)) in trees.iter().enumerate() {
            let own = if at + 1 == trees.len() && *own == End::Sequence { end } else { *own };
            flatten(tree, own, around, parts);
        }
    };
    match tree {
        CommandTree::Command(command) => parts.push(WordPart { words: plain(command), around, end }),
        CommandTree::Pipeline(piped) => {
            let last = piped.len().saturating_sub(1);
            let ends = |at| if at == last { End::Sequence } else { End::Pipe };
            row(&piped.iter().enumerate().map(|(at, tree)| (tree, ends(at))).collect::<Vec<_>>(), around);
        }
        CommandTree::List(items) => {
            let ends = |join: &Connector| match join {
                Connector::And => End::And,
                Connector::Or => End::Or,
                Connector::Then => End::Sequence,
                Connector::Background => End::Background,
            };
            row(&items.iter().map(|(tree, join)| (tree, ends(join))).collect::<Vec<_>>(), around);
        }
        CommandTree::CompoundCommand(CompoundCommand { kind, parts: inner, .. }) => {
            let around = match kind {
                CompoundKind::Subshell | CompoundKind::Block => around,
                CompoundKind::Not => Around { negated: true, ..around },
                CompoundKind::Branch | CompoundKind::Loop => Around { doubtful: true, ..around },
            };
            row(&inner.iter().map(|tree| (tree, End::Sequence)).collect::<Vec<_>>(), around);
            if inner.is_empty() {
                // `[[ … ]]` has no words of its own, but may fail.
                parts.push(WordPart { words: vec!["[[".to_owned()], around, end });
            }
        }
        CommandTree::Function { body, .. } => flatten(body, end, Around { doubtful: true, ..around }, parts),
    }
}

/// Whether what comes after `before` calls if the line goes well: not behind `||`, nor after an `exit`.
fn surely_runs(before: &[WordPart]) -> bool {
    let from = before.iter().rposition(|part| part.end == End::Sequence).map_or(0, |at| at + 1);
    let chained = before.get(from..).unwrap_or_default();
    let left = before.iter().any(|part| part.is("exit") || part.is("return"));
    !left && chained.iter().all(|part| part.end != End::Or)
}

/// Whether the shell was told to let a pipe fail with any of its commands.
fn pipefail(before: &[WordPart]) -> bool {
    let set = before.iter().rev().find(|part| part.is("set") && part.words.iter().any(|word| word == "pipefail"));
    set.is_some_and(|part| part.words.iter().any(|word| word.starts_with('-') && word.ends_with('o')))
}

/// Whether a failure of the first command is a failure of the line.
fn stands(rest: &[WordPart], pipefail: bool) -> bool {
    let last = |from: usize| rest.get(from..).is_none_or(|after| after.iter().all(|part| part.words.is_empty()));
    rest.iter().enumerate().all(|(at, part)| match part.end {
        End::And => true,
        End::Pipe => pipefail,
        // Only the very end may close the line with a newline or a semicolon.
        End::Sequence => last(at + 1),
        End::Or | End::Background => false,
    })
}

/// Whether nothing but the first of `rest` could have failed the line: what only passes its output on does not.
fn alone(before: &[WordPart], rest: &[WordPart]) -> bool {
    let strict = |part: &WordPart| part.words.iter().skip(1).any(|word| word.starts_with('-') && word.contains('e'));
    let strict = before.iter().any(|part| part.is("set") && strict(part));
    let chained = |part: &WordPart| part.end != End::Sequence || strict;
    let passes_on = |part: &WordPart| part.words.is_empty() || ["tail", "cat", "tee"].iter().any(|name| part.is(name));
    let (own, after) = match rest {
        [own, after @ ..] => (own.end, after),
        [] => return false,
    };
    let ends = own == End::Sequence || own == End::Pipe && after.iter().all(passes_on);
    ends && before.iter().all(|part| part.prepares() || !chained(part))
}

/// Whether a command line changes into another folder on its way.
#[must_use]
pub fn changes_folder(line: &str) -> bool {
    commands(line).iter().any(|command| command.words.first().is_some_and(|word| word == "cd" || word == "pushd"))
}

/// The words that name the command: leading assignments and wrappers dropped.
fn plain(command: &SimpleCommand) -> Vec<String> {
    let is_assignment = |word: &str| {
        word.split_once('=')
            .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_'))
    };
    let is_wrapper = |word: &str| matches!(word, "env" | "time" | "timeout" | "command" | "nice");
    let words: Vec<String> = command.words.iter().map(|word| bare(word, 20)).collect();
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next_if(|word| is_assignment(word) || is_wrapper(word)) {
        // `timeout -k 5 120 cargo test`, `nice -n 5 make`: what follows is options and numbers.
        let is_option = |word: &&String| word.starts_with(['-', '+']) || word.starts_with(|c: char| c.is_ascii_digit());
        while is_wrapper(word) && rest.next_if(is_option).is_some() {}
    }
    rest.cloned().collect()
}

/// A word without its quotes; what is substituted stays as it is written.
fn bare(raw: &str, depth: usize) -> String {
    let mut text = String::new();
    let mut rest = raw;
    while let Some(first) = rest.chars().next() {
        let (part, length) = match word_parts::part(rest, false, depth) {
            Some((part, length)) => (Some(part), length),
            None => (None, first.len_utf8()),
        };
        let (own, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        match part {
            Some(word_parts::WordPart::Double(inner)) => text.push_str(&inner.replace("\\\"", "\"")),
            Some(word_parts::WordPart::Ansi(inner)) => text.push_str(&super::quoting::ansi(inner)),
            Some(word_parts::WordPart::Escape("\n")) => {}
            Some(word_parts::WordPart::Single(inner) | word_parts::WordPart::Escape(inner)) => text.push_str(inner),
            _ => text.push_str(own),
        }
        rest = after;
    }
    text
}

/// Whether `command` begins with the words of `wanted`: the program's folder, options before its own words
/// (`npm --prefix app test`) and what follows a colon (`test:unit`) do not count.
#[must_use]
pub fn begins_with(command: &[String], wanted: &str) -> bool {
    const WITH_VALUE: [&str; 8] = ["--prefix", "-C", "--dir", "--cwd", "--filter", "-F", "--directory", "--project"];
    let mut given = command.iter().map(String::as_str).peekable();
    let mut wanted = wanted.split_whitespace().peekable();
    if wanted.peek().is_none()
        || !given
            .next()
            .zip(wanted.next())
            .is_some_and(|(given, word)| given == word || given.rsplit('/').next() == Some(word))
    {
        return false;
    }
    wanted.all(|word| {
        while !word.starts_with('-')
            && let Some(option) = given.next_if(|given| given.starts_with(['-', '+']))
        {
            given.next_if(|_| WITH_VALUE.contains(&option));
        }
        given.next().is_some_and(|given| given == word || given.split_once(':').is_some_and(|(own, _)| own == word))
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
        let last = |line: &str| commands(line).last().map(|command| command.tells_failure);
        assert_eq!(last("cd app && cargo test"), Some(true));
        assert_eq!(last("cargo fmt; cargo test"), Some(true));
        assert_eq!(last("cargo build && cargo test"), Some(false));
        assert_eq!(last("set -e; cargo fmt --check; cargo test"), Some(false));
    }

    #[test]
    fn what_may_not_have_run_has_not_passed() {
        check("! cargo test", Some(false));
        check("test -f x || cargo test", Some(false));
        check("exit 0; cargo test", Some(false));
        check("echo pipefail; cargo test | tail", Some(false));
        check("set +o pipefail; cargo test | tail", Some(false));
        check("set -euo pipefail; cargo test | tail", Some(true));
        check("true ||\ncargo test", Some(false));
        check("true || (\ncargo test\n)", Some(false));
        check("echo $(\ncargo test\n)", None);
        check("cargo test &&\n echo ok", Some(true));
    }

    #[test]
    fn a_pipe_that_may_fail_by_itself_tells_no_failure() {
        let tells = |line: &str| {
            commands(line).iter().find(|run| begins_with(&run.words, "cargo test")).map(|run| run.tells_failure)
        };
        assert_eq!(tells("set -o pipefail; cargo test | grep FAILED"), Some(false));
        assert_eq!(tells("set -o pipefail; cargo test 2>&1 | tail -5"), Some(true));
        assert_eq!(tells("source .venv/bin/activate && cargo test"), Some(true));
    }

    #[test]
    fn a_here_document_is_text() {
        check("cat > t.py <<'EOF'\nreturn it's\nexit 1\nEOF\ncargo test", Some(true));
        check("cat <<EOF\ncargo test\nEOF\n", None);
        check("echo $((1<<2))\ncargo test", Some(true));
    }

    #[test]
    fn what_stands_inside_something_is_seen_but_tells_nothing() {
        check("if true; then cargo test; fi", Some(false));
        check("for i in 1 2; do cargo test; done", Some(false));
        check("t() { cargo test; }; t", Some(false));
        check("cargo test\necho 'unended", Some(false));
        check("echo 'unended", None);
    }

    #[test]
    fn options_may_stand_before_the_words() {
        check("cargo +nightly test", Some(true));
        let npm = |line: &str| commands(line).iter().any(|run| begins_with(&run.words, "npm test"));
        assert!(npm("npm --prefix app test") && npm("nice -n 5 npm test") && !npm("npm install test"));
        assert!(commands("npm run test:unit").iter().any(|run| begins_with(&run.words, "npm run test")));
    }

    #[test]
    fn a_mention_is_not_a_run() {
        check("echo cargo test", None);
        check("git commit -m 'cargo test'", None);
        check("cargo testing", None);
        check("# cargo test", None);
    }
}
