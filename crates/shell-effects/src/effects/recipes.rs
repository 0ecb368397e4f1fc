//! The command lines that a makefile has for a target.

use crate::word::UNKNOWN;

/// The most targets that are followed.
const MOST_TARGETS: usize = 16;
/// The most lines that are used.
const MOST_LINES: usize = 200;
/// The longest line, in bytes; what is beyond it is unknown.
const LONGEST_LINE: usize = 16 * 1024;

/// The lines that `make words…` runs: those of the named targets or of the first one, and of what they depend on.
pub(super) fn recipes(text: &str, words: &[String], builtin: &[(&str, &str)]) -> Vec<String> {
    let text = text.replace("\\\n", " ");
    let given = words.iter().filter_map(|word| variable(word));
    let own = text.lines().filter(|line| !line.starts_with('\t')).filter_map(variable);
    let variables: Vec<(&str, &str)> = builtin.iter().copied().chain(own).chain(given).collect();
    let wanted = wanted(&text, words);
    let mut lines = Vec::new();
    let mut is_wanted = false;
    for line in text.lines() {
        match line.strip_prefix('\t') {
            Some(recipe) if is_wanted && lines.len() < MOST_LINES => {
                lines.push(expanded(recipe.trim_start_matches(['@', '-', '+', ' ']), &variables));
            }
            Some(_) => {}
            None => {
                if let Some((targets, needs)) = rule(line) {
                    is_wanted = targets.split_whitespace().any(|target| wanted.iter().any(|name| name == target));
                    // `target: needs ; recipe`
                    let recipe = needs.split_once(';').filter(|_| is_wanted);
                    lines.extend(recipe.map(|(_, recipe)| expanded(recipe, &variables)));
                }
            }
        }
    }
    lines
}

/// The targets that are made, with what they depend on.
fn wanted(text: &str, words: &[String]) -> Vec<String> {
    let rules: Vec<(&str, &str)> = text.lines().filter_map(rule).collect();
    let mut wanted: Vec<String> = words.iter().filter(|word| !word.contains('=')).cloned().collect();
    if wanted.is_empty() {
        let first =
            rules.iter().flat_map(|(targets, _)| targets.split_whitespace()).find(|name| !name.starts_with('.'));
        wanted.extend(first.map(str::to_owned));
    }
    let mut at = 0;
    while let Some(name) = wanted.get(at).filter(|_| at < MOST_TARGETS).cloned() {
        let own = rules.iter().filter(|(targets, _)| targets.split_whitespace().any(|target| target == name));
        let needs = own.filter_map(|(_, needs)| needs.split(';').next());
        for need in needs.flat_map(str::split_whitespace) {
            if wanted.len() < MOST_TARGETS && !wanted.iter().any(|known| known == need) {
                wanted.push(need.to_owned());
            }
        }
        at += 1;
    }
    wanted
}

/// `target: needs`.
fn rule(line: &str) -> Option<(&str, &str)> {
    let (targets, needs) = line.split_once(':').filter(|_| !line.starts_with(['\t', '#', ' ']))?;
    let is_rule = !needs.starts_with(['=', ':']) && !targets.contains('=');
    is_rule.then(|| (targets.trim(), needs.split('#').next().unwrap_or(needs)))
}

/// `NAME = value`.
fn variable(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', ' ', '\t']).trim_start_matches("export ").trim();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    is_name.then(|| (name, value.trim()))
}

/// Replaces make's variables by their values; the shell's are written `$$x`.
fn expanded(recipe: &str, variables: &[(&str, &str)]) -> String {
    let mut line = String::new();
    let mut rest = recipe;
    while let Some((before, after)) = rest.split_once('$') {
        if line.len() > LONGEST_LINE {
            return line + UNKNOWN;
        }
        line.push_str(before);
        let close = match after.chars().next() {
            Some('(') => ')',
            Some('{') => '}',
            next => {
                line.push_str(if next == Some('$') { "$" } else { UNKNOWN });
                rest = after.get(next.map_or(0, char::len_utf8)..).unwrap_or_default();
                continue;
            }
        };
        let (name, after) = after.split_once(close).unwrap_or((after, ""));
        let name = name.trim_start_matches(['(', '{']);
        let value = variables.iter().rev().find(|(own, _)| *own == name).map(|(_, value)| *value);
        line.push_str(value.filter(|value| !value.contains('$')).unwrap_or(UNKNOWN));
        rest = after;
    }
    line.push_str(rest);
    line
}
