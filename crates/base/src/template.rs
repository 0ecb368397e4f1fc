//! Variables in texts, written as `{name}`.

/// The first `{name}` in a text, with what is before and after it; `{a,b}` is a glob, not a variable.
pub fn variable(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let start = from + text.get(from..)?.find('{')?;
        let end = start + text.get(start..)?.find('}')?;
        let name = text.get(start + 1..end)?;
        if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
            return Some((text.get(..start)?, name, text.get(end + 1..)?));
        }
        from = start + 1;
    }
}

/// The names of the variables in a text.
pub fn variables(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, name, after) = variable(rest)?;
        rest = after;
        Some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_distinguished_from_globs() {
        let names = |text| variables(text).collect::<Vec<_>>();
        assert_eq!(names("{milestone}/plans/plan_{session}_*.md"), ["milestone", "session"]);
        assert_eq!(names("{src,lib}/**"), Vec::<&str>::new());
        assert_eq!(names("{docs/{date},x}"), ["date"]);
        assert_eq!(names("{unclosed"), Vec::<&str>::new());
    }
}
