//! Command lines that code keeps in a variable: `cmd = 'rm -rf x'; os.system(cmd)`.
//!
//! One counts if the variable gets to a call that starts programs, also through another variable or a function of the code.
//! Tests and guards are full of command lines that are only compared.

use super::code_calls::{enclosing, is_starting, last_name};
use crate::work::WorkBudget;

/// The most variables that a command is followed through.
const MOST_VARIABLES: usize = 8;
/// The most places of a variable that are looked at; one with more counts.
const MOST_PLACES: usize = 200;
/// Words before the name of a function that the code defines.
const DEFINING: [&str; 5] = ["def ", "function ", "sub ", "const ", "let "];

/// Whether strings after `head` are a command that the code keeps, and starts.
pub(super) fn is_started_later(code: &str, head: &str, strings: &[&str], budget: &WorkBudget) -> bool {
    let assigned = head.strip_suffix('=').filter(|name| !name.ends_with(['=', '!', '<', '>']));
    let is_command = strings.len() > 1 || strings.iter().any(|line| line.contains(' '));
    let Some(name) = assigned.filter(|_| is_command).and_then(variable) else { return false };
    let mut names = vec![name];
    let mut at = 0;
    while let Some(name) = names.get(at).copied() {
        at += 1;
        for (count, place) in places(code, name).enumerate() {
            if count == MOST_PLACES || names.len() > MOST_VARIABLES || !budget.spend(40) {
                return true;
            }
            let before = code.get(..place).unwrap_or_default();
            if is_passed_on(code, before) {
                return true;
            }
            let taker = taker(before).filter(|taker| !names.contains(taker));
            names.extend(taker);
        }
    }
    false
}

/// The variable at the end of the code before `=`; a field of an object is not followed further than its name.
fn variable(before: &str) -> Option<&str> {
    let bare = before.trim_end();
    // `cmd: str = 'x'`
    let line = bare.rsplit(['\n', ';', '{']).next().unwrap_or(bare);
    let bare = line.split_once(':').map_or(line, |(name, _)| name).trim_end();
    let start = bare.rfind(|c: char| !is_of_name(c)).map_or(0, |at| at + 1);
    bare.get(start..).filter(|name| !name.is_empty())
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || "_$@".contains(c)
}

/// Where a variable is in the code.
fn places<'c>(code: &'c str, name: &'c str) -> impl Iterator<Item = usize> + 'c {
    let is_alone = move |at: &usize| {
        let before = code.get(..*at).and_then(|text| text.chars().next_back());
        let after = code.get(at + name.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(|c| is_of_name(c) && c != '$') && !after.is_some_and(is_of_name)
    };
    code.match_indices(name).map(|(at, _)| at).filter(is_alone)
}

/// Whether what comes after `before` is an argument of a call that starts programs, or of a function of this code.
fn is_passed_on(code: &str, before: &str) -> bool {
    // `f'cd x && {cmd}'`, `` `cd x && ${cmd}` ``
    let before = before.strip_suffix("${").or_else(|| before.strip_suffix('{')).unwrap_or(before);
    // `run(['guard', '--check', cmd])` gives it to a program; `run(['sh', '-c', cmd])` runs it.
    let list = before.rsplit_once('[').map_or("", |(_, list)| list);
    if list.contains(',') && !list.contains(']') && !["'-c'", "\"-c\""].iter().any(|option| list.contains(option)) {
        return false;
    }
    let mut before = before;
    // `subprocess.run(shlex.split(cmd))`, `subprocess.run(list(cmd))`
    for _ in 0..3 {
        let (function, _) = enclosing(before);
        if is_starting(function) || starts_in_body(code, last_name(function)) {
            return true;
        }
        let Some(at) = before.rfind(function).filter(|_| !function.is_empty()) else { return false };
        before = before.get(..at).unwrap_or_default();
    }
    false
}

/// Whether the code defines a function with a call that starts programs.
pub(super) fn starts_in_body(code: &str, name: &str) -> bool {
    let definition = DEFINING.iter().find_map(|word| code.split_once(&format!("{word}{name}")));
    let Some((_, rest)) = definition.filter(|_| !name.is_empty()) else { return false };
    let end = DEFINING.iter().filter_map(|word| rest.find(&format!("\n{word}"))).min().unwrap_or(rest.len());
    let body = rest.get(..end).unwrap_or_default();
    body.match_indices('(').any(|(at, _)| is_starting(body.get(..at).unwrap_or_default()))
}

/// The variable that takes the value over: `args = cmd.split()`, `for one in cmd`.
fn taker(before: &str) -> Option<&str> {
    let line = before.rsplit(['\n', ';']).next().unwrap_or(before);
    if let Some((name, _)) = line.split_once(" in ").or_else(|| line.split_once(" of ")) {
        return variable(name);
    }
    let (name, _) = line.split_once('=').filter(|(_, rest)| !rest.starts_with(['=', '>']))?;
    (!name.ends_with(['!', '<', '>'])).then(|| variable(name)).flatten()
}
