//! Parts of questions and answers as text, for `why`.

use super::{
    CommitState, CurrentBranch, EffectQuery, EventText, ForkParent, FoundEffect, FoundFile, GitChange,
    MessageAddressee, Milestone, StagingQuery, TextFindings, TextQuery,
};
use serde_json::{Map, Value};
use std::fmt::{Display, Formatter, Result};
use test_results::OutputResult;

pub(super) fn first_of(texts: &[String]) -> &str {
    texts.first().map_or("", String::as_str)
}

pub(super) fn or_none(text: Option<&str>) -> &str {
    text.unwrap_or("none")
}

pub(super) fn yes_or_no(found: Option<&str>) -> String {
    found.map_or_else(|| "no".to_owned(), |found| format!("yes: {found}"))
}

pub(super) fn of_files(files: &[FoundFile]) -> String {
    match files {
        [] => "none".to_owned(),
        [file] => format!("{} ({} bytes)", file.path, file.size),
        [file, rest @ ..] => format!("{} ({} bytes) and {} more", file.path, file.size, rest.len()),
    }
}

pub(super) fn of_frontmatter(values: &Map<String, Value>) -> String {
    let pairs: Vec<String> = values.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    if pairs.is_empty() { "nothing".to_owned() } else { pairs.join(", ") }
}

pub(super) fn of_text(TextFindings { chars, missing }: &TextFindings) -> String {
    match missing.as_slice() {
        [] => format!("yes, in {chars} characters"),
        missing => format!("no {}, in {chars} characters", missing.join(", no ")),
    }
}

pub(super) fn of_commit_state(state: CommitState) -> String {
    match state {
        CommitState::Committed => "yes".to_owned(),
        state => format!("{state:?}").to_lowercase(),
    }
}

pub(super) fn of_changes(changes: &[GitChange]) -> String {
    if changes.is_empty() {
        return "nothing".to_owned();
    }
    let named: Vec<String> =
        changes.iter().take(3).map(|change| format!("{} ({})", change.path, change.kind)).collect();
    format!("{}{}", named.join(", "), if changes.len() > 3 { ", …" } else { "" })
}

pub(super) fn of_agents(agents: &[String]) -> String {
    if agents.is_empty() { "none".to_owned() } else { agents.join(", ") }
}

pub(super) fn of_branch(branch: &CurrentBranch) -> String {
    let default = branch.default.as_ref().map(|name| format!(" (default: {name})"));
    format!("{}{}", branch.name.as_deref().unwrap_or("detached"), default.unwrap_or_default())
}

pub(super) fn of_milestone(milestone: Option<&Milestone>) -> String {
    milestone.map_or_else(|| "none".to_owned(), |Milestone { id, description }| format!("{id} {description}"))
}

pub(super) fn of_addressee(addressee: Option<&MessageAddressee>) -> String {
    let shown = |to: &MessageAddressee| format!("{}, {}", to.agent, if to.running { "running" } else { "stopped" });
    addressee.map_or_else(|| "none".to_owned(), shown)
}

pub(super) fn of_parent(parent: &ForkParent) -> &str {
    match parent {
        ForkParent::Found(parent) => &parent.id,
        ForkParent::NotWritten { .. } => "the host has not written it yet",
        ForkParent::NotFound { .. } => "a session that is not known here",
    }
}

pub(super) fn of_effect(found: Option<&FoundEffect>) -> String {
    let shown = |found: &FoundEffect| format!("`{}` {} {}", found.by, found.effect.third_person(), found.path);
    found.map_or_else(|| "no".to_owned(), shown)
}

pub(super) fn of_output(result: &OutputResult) -> String {
    match result {
        OutputResult::Unreadable(why) => return format!("nothing: {why}"),
        OutputResult::Passed => "the tests passed",
        OutputResult::Failed => "a test failed",
        OutputResult::Empty => "no test ran",
        OutputResult::Misused => "the tests were not started",
    }
    .to_owned()
}

impl EffectQuery {
    pub(super) fn first_path(&self) -> &str {
        self.paths.iter().next().unwrap_or("protected paths")
    }

    pub(super) fn as_question(&self) -> String {
        let more = self.paths.iter().skip(1).count();
        let more = if more > 0 { format!(" or {more} others") } else { String::new() };
        format!("would it {} {}{more}?", self.effect_words(), self.first_path())
    }
}

impl StagingQuery {
    pub(super) fn as_question(&self) -> String {
        let words = [(self.all, "everything"), (self.forced, "ignored files")];
        let words = words.into_iter().filter(|(is, _)| *is).map(|(_, word)| word);
        let what: Vec<&str> = words.chain(self.paths.iter().map(String::as_str)).collect();
        format!("would it stage {}?", what.join(", "))
    }
}

impl Display for EventText {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Prompt => f.write_str("prompt"),
            Self::Command => f.write_str("command"),
            Self::Message => f.write_str("message"),
            Self::Commit => f.write_str("commit message"),
            Self::Input(field) => write!(f, "input `{field}`"),
        }
    }
}

impl Display for TextQuery {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self { sections, contains, matches, starts } = self;
        f.write_str(&[sections.as_slice(), contains, matches, starts].concat().join(", "))
    }
}
