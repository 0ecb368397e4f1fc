//! Patterns for names: exact, with `*`, as `/regex/`, or with `!` for all others.

use super::alias;

/// Whether the patterns select `subject`: none with `!` matches, and one of the others does if there are any.
pub fn selected(names: &[impl AsRef<str>], subject: &str) -> bool {
    let names = || names.iter().map(AsRef::as_ref);
    let denied = |name: &str| name.strip_prefix('!').is_some_and(|name| fits(name, subject));
    let mut others = names().filter(|name| !name.starts_with('!')).peekable();
    !names().any(denied) && (others.peek().is_none() || others.any(|name| fits(name, subject)))
}

/// Splits `a|b` at its bars, except inside `/…/`.
pub fn split(text: &str) -> Vec<String> {
    let (mut names, mut name, mut inside) = (Vec::new(), String::new(), false);
    for c in text.chars() {
        let starts = name.trim().is_empty() || name.trim() == "!";
        match c {
            '/' if starts && !inside => inside = true,
            '/' if inside && !name.ends_with('\\') => inside = false,
            '|' if !inside => {
                names.push(std::mem::take(&mut name));
                continue;
            }
            _ => {}
        }
        name.push(c);
    }
    names.push(name);
    let names = names.iter().map(|name| name.trim()).filter(|name| !name.is_empty() && *name != "*");
    names.map(str::to_owned).collect()
}

pub fn pattern_error(name: &str) -> Option<String> {
    let pattern = expression(name.strip_prefix('!').unwrap_or(name))?;
    let built = regex::RegexBuilder::new(pattern).size_limit(1 << 20).build();
    built.is_err().then(|| format!("pattern `{pattern}` is not a regular expression"))
}

/// The expression of `/pattern/`; commands and paths do not end with a slash.
fn expression(name: &str) -> Option<&str> {
    name.strip_prefix('/')?.strip_suffix('/').filter(|pattern| !pattern.is_empty())
}

fn fits(name: &str, subject: &str) -> bool {
    if let Some(pattern) = expression(name) {
        return regex::Regex::new(pattern).is_ok_and(|regex| regex.is_match(subject));
    }
    if name == subject || alias(name) == alias(subject) || crate::host::ids::same_agent(name, subject) {
        return true;
    }
    name.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'[')) && fast_glob::glob_match(name, subject)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &str, subject: &str, expected: bool) {
        assert_eq!(selected(&split(names), subject), expected, "{names} {subject}");
    }

    #[test]
    fn names_are_exact_globs_expressions_or_all_but() {
        check("Write|Edit", "Edit", true);
        check("Write | Edit", "Read", false);
        check("*", "Read", true);
        check("mcp__*__write", "mcp__github__write", true);
        check("/^mcp__(a|b)__/", "mcp__b__x", true);
        check("/^mcp__(a|b)__/|Read", "Read", true);
        check("/^mcp__(a|b)__/", "mcp__c__x", false);
        check("!Bash", "Read", true);
        check("!Bash|!Read", "Read", false);
        check("mcp__*|!mcp__a__*", "mcp__a__x", false);
        check("!/^mcp__/", "Bash", true);
        check("Task", "Agent", true);
        check("Strategic_Planner", "strategic-planner", true);
        check("strategic-planner", "acme:strategic-planner", false);
        check("*:strategic-planner", "acme:Strategic_Planner", true);
    }

    #[test]
    fn an_expression_that_does_not_compile_is_reported() {
        assert_eq!(pattern_error("/(/"), Some("pattern `(` is not a regular expression".into()));
        assert_eq!(pattern_error("!/a+/"), None);
        assert_eq!(pattern_error("/plan"), None);
    }
}
