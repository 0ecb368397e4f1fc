//! Scripts of `sed`: whether they only print and change text, or also write files and run commands.

use super::has_name;
use super::readers::unquoted;

/// Options without a value and without an effect on files.
const HARMLESS: &str =
    "-quiet -silent -regexp-extended -null-data -separate -unbuffered -posix -debug -sandbox -help -version";

/// Whether `sed` with these arguments, unexpanded, changes no file.
pub(super) fn only_prints(arguments: &[String]) -> bool {
    let mut rest = arguments.iter();
    let (mut scripts, mut first) = (Vec::new(), None);
    while let Some(word) = rest.next() {
        let bare = unquoted(word);
        let Some(option) = bare.strip_prefix('-') else {
            first.get_or_insert_with(|| without_quotes(word));
            continue;
        };
        if has_name(HARMLESS, option) {
            continue;
        }
        let (before, script) = match option.split_once("-expression=").or_else(|| option.split_once('e')) {
            _ if option == "-expression" => ("", Some("")),
            Some((before, script)) => (before, Some(script)),
            None => (option, None),
        };
        if before.contains(['i', 'f', '-']) {
            return false;
        }
        match script {
            Some("") => scripts.extend(rest.next().map(|word| without_quotes(word))),
            script => scripts.extend(script.map(str::to_owned)),
        }
    }
    first.filter(|_| scripts.is_empty()).into_iter().chain(scripts).all(|script| !writes(&script))
}

/// A word without the quotes around it; backslashes in single quotes stay.
pub(super) fn without_quotes(word: &str) -> String {
    let inner = |quote: char| word.strip_prefix(quote)?.strip_suffix(quote).filter(|inner| !inner.contains(quote));
    inner('\'').or_else(|| inner('"')).map_or_else(|| unquoted(word), str::to_owned)
}

/// Whether a script may write a file or run a command: `w file`, `s/a/b/w file`, `e`. One that is not understood may.
pub(super) fn writes(script: &str) -> bool {
    writing_part(script).is_some()
}

/// The command line that a script runs: `1e date`.
pub(super) fn started_line(script: &str) -> Option<&str> {
    writing_part(script)?.strip_prefix('e')?.lines().next()
}

/// The rest of a script from the first command that may write a file or run a program, or that is not understood.
fn writing_part(script: &str) -> Option<&str> {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c.is_ascii_digit() || ";{}!,$~+".contains(c));
        let command = rest.chars().next()?;
        let after = rest.get(command.len_utf8()..).unwrap_or_default();
        rest = match command {
            '/' => match part(after, '/') {
                Some(after) => after.trim_start_matches(['I', 'M']),
                None => return Some(rest),
            },
            // `\\,address,`
            '\\' => match after.chars().next().and_then(|mark| part(after.get(mark.len_utf8()..)?, mark)) {
                Some(after) => after.trim_start_matches(['I', 'M']),
                None => return Some(rest),
            },
            's' | 'y' => {
                let Some(mark) = after.chars().next().filter(|mark| !mark.is_alphanumeric()) else { return Some(rest) };
                let parts = after.get(mark.len_utf8()..).and_then(|text| part(part(text, mark)?, mark));
                let Some(after) = parts else { return Some(rest) };
                let flags = after.trim_start_matches(|c: char| "gpiImM".contains(c) || c.is_ascii_digit());
                if flags.starts_with(['w', 'W', 'e']) {
                    return Some(rest);
                }
                flags
            }
            // The rest of the line is text, a label or a file to read.
            'a' | 'i' | 'c' | 'r' | 'R' | '#' => after.split_once('\n').map_or("", |(_, next)| next),
            'b' | 't' | 'T' | ':' => after.split_once([';', '\n', '}']).map_or("", |(_, next)| next),
            'p' | 'd' | 'D' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | '=' | 'z' | 'P' | 'q' | 'Q' | 'l' => after,
            _ => return Some(rest),
        };
    }
}

/// The text after the next `mark` that is neither escaped nor in brackets.
fn part(text: &str, mark: char) -> Option<&str> {
    let (mut is_escaped, mut in_brackets) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == mark && !in_brackets => return text.get(at + c.len_utf8()..),
            '[' => in_brackets = text.get(at..).is_some_and(|rest| rest.contains(']')),
            ']' => in_brackets = false,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{only_prints, started_line, writes};

    #[test]
    fn scripts_that_only_print_or_change_text() {
        for script in [
            "",
            "5p",
            "$p",
            "1,5p",
            "/enable/p",
            "/a/,/b/p",
            "s/words/every/g",
            "s#a/w#e#",
            "/x/!d",
            "s/a/b/;s/c/d/2p",
            "y/abc/wxe/",
            "\\,x,p",
            "1d;$d",
            "s|.a/settings.json|x|g",
            "/x/{s/a/b/;p}",
            "10q",
            "a\\ text with w",
            ":a;N;$!ba;s/\n/ /g",
            "s/[/]w/x/",
        ] {
            assert!(!writes(script), "{script}");
        }
    }

    #[test]
    fn options_that_write_are_found() {
        let only_prints = |line: &str| only_prints(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        for line in
            ["-n 5p x", "s/a/b/ x", "-ne p x", "-es/a/b/ x", "-E -e s/a/b/ -e p x", "--expression=p x", "--quiet p x"]
        {
            assert!(only_prints(line), "{line}");
        }
        for line in
            ["-i p x", "p '-i' x", "-ni p x", "--in-place p x", "-f x y", "wx x", "-e p -e wx x", "--expression wx x"]
        {
            assert!(!only_prints(line), "{line}");
        }
    }

    #[test]
    fn the_command_line_of_a_script() {
        assert_eq!(started_line("1,3e rm x\np"), Some(" rm x"));
        assert_eq!(started_line("/a/{e date\n}"), Some(" date"));
        assert_eq!(started_line("s/e/rm/w x"), None);
    }

    #[test]
    fn scripts_that_write_or_run() {
        for script in [
            "wx",
            "w x",
            "$!d;wx",
            "s/a/b/wx",
            "s/a/b/gw x",
            "e",
            "1e rm x",
            "s/a/b/e",
            "/x/w y",
            "/x/{w y\n}",
            "W x",
            "s/a",
            "k",
        ] {
            assert!(writes(script), "{script}");
        }
    }
}
