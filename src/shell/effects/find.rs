//! `find`: it finds paths below its operands, limited by `-name`.

use super::Effect;
use super::walker::Walker;
use super::xargs::replaced;
use crate::shell::word::ShellWord;

impl Walker<'_> {
    pub fn find(&mut self, rest: &[ShellWord], input: &ShellWord) -> ShellWord {
        let begins = |word: &ShellWord| {
            let text = word.prefix();
            text.starts_with('-') && text.len() > 1 || text == "(" || text == "!"
        };
        let rest = match rest.iter().position(|word| !["-H", "-L", "-P"].iter().any(|option| word.is(option))) {
            Some(at) => rest.get(at..).unwrap_or_default(),
            None => rest,
        };
        let split = rest.iter().position(begins).unwrap_or(rest.len());
        let (paths, tests) = rest.split_at_checked(split).unwrap_or((rest, &[]));
        let here = [ShellWord::new(".")];
        let paths = if paths.is_empty() { here.as_slice() } else { paths };
        let whole = is_whole(tests);
        let is_empty = tests.iter().any(|test| test.is("-empty"));
        let found: Vec<ShellWord> = paths.iter().map(|path| found(path, tests)).collect();
        let mut tests = tests;
        while let Some((test, after)) = tests.split_first() {
            tests = after;
            match test.text().unwrap_or_default().as_str() {
                // Removing empty files is harmless.
                "-delete" if is_empty => {}
                "-delete" => {
                    let gone = if whole { paths } else { found.as_slice() };
                    self.change_all(Effect::Remove, gone, true);
                }
                "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                    if let Some(file) = after.first() {
                        self.write(file);
                    }
                }
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let end = after.iter().position(|word| word.is(";") || word.is("+")).unwrap_or(after.len());
                    let (command, after) = after.split_at_checked(end).unwrap_or((after, &[]));
                    tests = after;
                    let removes = command.iter().any(|word| word.is("rm") || word.prefix().ends_with("/rm"));
                    if whole && removes {
                        self.change_all(Effect::Remove, paths, true);
                    }
                    for one in &found {
                        let words: Vec<ShellWord> = command.iter().map(|word| replaced(word, "{}", one)).collect();
                        self.aside(|walker| walker.run(&words, input));
                    }
                }
                _ => {}
            }
        }
        match found.as_slice() {
            [one] => one.clone(),
            _ => ShellWord::unknown(),
        }
    }
}

/// Whether the tests select everything, so that actions affect the starting paths as a whole.
fn is_whole(tests: &[ShellWord]) -> bool {
    const PLAIN: [&str; 6] = ["-depth", "-d", "-xdev", "-mount", "-print", "-print0"];
    let mut tests = tests.iter().filter_map(ShellWord::text);
    while let Some(test) = tests.next() {
        match test.as_str() {
            "-delete" | "-exec" | "-execdir" => return true,
            "-type" if tests.next().is_some_and(|kind| !kind.contains(['f', 'd'])) => return false,
            "-mindepth" => drop(tests.next()),
            "-type" => {}
            test if PLAIN.contains(&test) => {}
            _ => return false,
        }
    }
    false
}

/// What `find` finds below a path.
fn found(path: &ShellWord, tests: &[ShellWord]) -> ShellWord {
    const WIDENING: [&str; 6] = ["-o", "-or", "!", "-not", ",", "-regex"];
    let mut found = path.slashed();
    let name =
        tests.iter().position(|test| test.is("-name")).and_then(|at| tests.get(at + 1)).and_then(ShellWord::text);
    match name {
        Some(name) if !tests.iter().any(|test| WIDENING.iter().any(|word| test.is(word))) => {
            found.push_glob("**");
            found.push("/");
            found.push_glob(&name);
        }
        _ => found.push_unknown(),
    }
    found
}
