//! Counts the substitutions of a text before it is parsed.

/// The number of `$(…)`, `<(…)`, `>(…)` and `` `…` ``, without those in here-documents whose delimiter is quoted.
///
/// The count only limits work, so it may be wrong about a `<<'EOF'` that is itself quoted.
pub(super) fn substitutions(text: &str) -> usize {
    let (mut parentheses, mut backquotes) = (0, 0);
    // Escaped substitutions run, too, inside backticks.
    let plain = without_escapes(text);
    let text = if plain.contains('`') { text } else { plain.as_str() };
    for line in lines_with_substitutions(text) {
        parentheses += ["$(", "<(", ">("].iter().map(|open| line.matches(open).count()).sum::<usize>();
        backquotes += line.matches('`').count();
    }
    parentheses + backquotes / 2
}

/// A text without backslashes and what they escape, except for the ends of lines.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => plain.extend(chars.next().filter(|next| *next == '\n')),
            c => plain.push(c),
        }
    }
    plain
}

/// The lines of a text, without those of here-documents whose delimiter is quoted.
fn lines_with_substitutions(text: &str) -> impl Iterator<Item = &str> {
    let mut bodies: Vec<(&str, bool)> = Vec::new();
    text.split('\n').filter(move |line| {
        let Some((end, tabs)) = bodies.first() else {
            bodies = quoted_delimiters(line);
            return true;
        };
        let line = if *tabs { line.trim_start_matches('\t') } else { line };
        if line == *end {
            bodies.remove(0);
        }
        false
    })
}

/// The delimiters of a line's here-documents, each with whether tabs before it are ignored; none if any is not quoted,
/// because substitutions in its body run.
fn quoted_delimiters(line: &str) -> Vec<(&str, bool)> {
    let here = line.match_indices("<<").filter(|(at, _)| {
        let (before, after) = (line.get(..*at).unwrap_or_default(), line.get(at + 2..).unwrap_or_default());
        !before.ends_with('<') && !after.starts_with('<')
    });
    let delimiter = |(at, _): (usize, &str)| {
        let rest = line.get(at + 2..)?;
        let word = rest.strip_prefix('-').unwrap_or(rest).trim_start_matches([' ', '\t']);
        let quote = word.chars().next().filter(|quote| ['\'', '"'].contains(quote))?;
        let end = word.get(1..)?.split(quote).next()?;
        Some((end, rest.starts_with('-')))
    };
    here.map(delimiter).collect::<Option<Vec<_>>>().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_of_a_quoted_here_document_does_not_count() {
        for (text, expected) in [
            ("echo $(a) `b` <(c) >(d)", 4),
            ("cat <<'EOF' > x\n$(a) `b`\nEOF\necho $(c)", 1),
            ("cat <<\"EOF\"\n$(a)\nEOF", 0),
            ("cat <<-'EOF'\n\t$(a)\n\tEOF\n$(b)", 1),
            ("cat <<'EOF'\n$(a)\n EOF\n$(b)", 0),
            ("cat << 'A' - <<'B'\n$(a)\nA\n$(b)\nB\n$(c)", 1),
            ("cat <<EOF\n$(a)\nEOF", 1),
            ("cat <<'A' <<B\n$(a)\nA\n$(b)\nB", 2),
            ("cat <<<'EOF'\n$(a)\nEOF", 1),
            ("git commit -m \"$(cat <<'EOF'\nuses `x` and $(y)\nEOF\n)\"", 1),
            ("cat > x.md <<EOF\n\\`a\\` \\$(b)\nEOF\necho $(c)", 1),
            ("echo `a \\`b\\``", 2),
            ("", 0),
        ] {
            assert_eq!(substitutions(text), expected, "{text}");
        }
    }

    #[test]
    fn a_document_with_many_words_in_backquotes_is_readable() {
        let body = "`a` | $(b)\n".repeat(200);
        let context = crate::ExecContext { cwd: "/p".to_owned(), ..Default::default() };
        let line = |delimiter: &str| format!("cat > x.md <<{delimiter}\n{body}EOF\nrm y");
        let effects = crate::effects(&line("'EOF'"), &context);
        assert_eq!((effects.unreadable, effects.changes.len()), (None, 2));
        assert!(crate::effects(&line("EOF"), &context).unreadable.is_some());
    }
}
