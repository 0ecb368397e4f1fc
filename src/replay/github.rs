//! Annotations for GitHub Actions.

use super::problem::ReplayProblem;
use super::result::ReplayResult;
use super::sarif::place;
use crate::mode::Catalogue;

/// GitHub shows no more annotations of one level.
const SHOWN: usize = 10;

/// Renders workflow commands that annotate the run.
pub(crate) fn annotations(failing: &[ReplayResult], problems: &[ReplayProblem], catalogue: &Catalogue) -> Vec<String> {
    let errors = failing.iter().take(SHOWN).map(|result| {
        let own = || (result.file.clone(), result.line);
        let (file, line) = place(catalogue, result).unwrap_or_else(own);
        let title = format!("{}: {}", result.title(), result.event);
        let text = format!("{}\n{}:{} (session {})", result.description(), result.file, result.line, result.session);
        command("error", &file, line, &title, &text)
    });
    let (unmet, other): (Vec<&ReplayProblem>, Vec<&ReplayProblem>) = problems.iter().partition(|problem| problem.unmet);
    let command_for = |level: &'static str| {
        move |problem: &ReplayProblem| command(level, &problem.file, problem.line, "modegate replay", &problem.what)
    };
    let unmet = unmet.into_iter().take(SHOWN).map(command_for("error"));
    let warnings = other.into_iter().take(SHOWN).map(command_for("warning"));
    errors.chain(unmet).chain(warnings).collect()
}

fn command(level: &str, file: &str, line: u64, title: &str, text: &str) -> String {
    let plain = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let value = |text: &str| plain(text).replace(':', "%3A").replace(',', "%2C");
    format!("::{level} file={},line={},title={}::{}", value(file), line.max(1), value(title), plain(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_break_out_of_its_line() {
        let text = command("error", "a,b:c.jsonl", 0, "t::x", "100%\n::error::y");
        assert_eq!(text, "::error file=a%2Cb%3Ac.jsonl,line=1,title=t%3A%3Ax::100%25%0A::error::y");
    }
}
