//! The command lines that a makefile has for a target.

use crate::word::UNKNOWN;

/// The most targets that are followed.
const MOST_TARGETS: usize = 16;
/// The most lines that are used.
const MOST_LINES: usize = 200;

/// The variables of a makefile and of the command line, in order; the shell's `${x}` stands for make's `$(x)`.
pub(super) fn variables(text: &str, words: &[String]) -> Vec<(String, String)> {
    let text = text.replace("\\\n", " ");
    let own = text.lines().filter(|line| !line.starts_with('\t')).filter_map(variable);
    own.chain(words.iter().filter_map(|word| variable(word))).collect()
}

/// The lines that `make words…` runs: those of the named targets or of the first one, and of what they depend on.
pub(super) fn recipes(text: &str, words: &[String]) -> Vec<String> {
    let text = text.replace("\\\n", " ");
    let wanted = wanted(&text, words);
    let mut lines = Vec::new();
    let mut is_wanted = false;
    for line in text.lines() {
        match line.strip_prefix('\t') {
            Some(recipe) if is_wanted && lines.len() < MOST_LINES => {
                lines.push(for_shell(recipe.trim_start_matches(['@', '-', '+', ' '])));
            }
            Some(_) => {}
            None => {
                if let Some((targets, needs)) = rule(line) {
                    is_wanted = targets.split_whitespace().any(|target| wanted.iter().any(|name| name == target));
                    // `target: needs ; recipe`
                    let recipe = needs.split_once(';').filter(|_| is_wanted);
                    lines.extend(recipe.map(|(_, recipe)| for_shell(recipe)));
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
fn variable(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', ' ', '\t']).trim_start_matches("export ").trim();
    is_name(name).then(|| (name.to_owned(), value.trim().to_owned()))
}

/// A recipe for the shell: `$(x)` is `${x}`, and `$$` is `$`; what functions of make return is unknown.
fn for_shell(recipe: &str) -> String {
    let recipe = recipe.replace("$$", "\0");
    let mut parts = recipe.split('$');
    let mut line = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name = part.strip_prefix('(').and_then(|part| part.split_once(')'));
        match name.or_else(|| part.strip_prefix('{')?.split_once('}')) {
            Some((name, after)) if is_name(name) => line.extend(["${", name, "}", after]),
            Some((_, after)) => line.extend([UNKNOWN, after]),
            None => line.extend([UNKNOWN, part.trim_start_matches(['(', '{', '@', '<', '^'])]),
        }
    }
    line.replace('\0', "$")
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
