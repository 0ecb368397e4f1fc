//! Questions and answers as text, for `why`.

use super::{Answer, ChangeKind, CommitState, EventText, ForkParent, Question, TextFindings, TextQuery};
use crate::runners::OutputResult;
use std::fmt::{Display, Formatter, Result};

impl Display for Question {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Files(globs) => write!(f, "which files match {}?", globs.first().map_or("", String::as_str)),
            Self::Elsewhere(globs) => {
                write!(f, "which files of other worktrees match {}?", globs.first().map_or("", String::as_str))
            }
            Self::Location(path) => write!(f, "where is {path}, seen from the working directory?"),
            Self::Frontmatter { path, keys } => {
                write!(f, "what does the frontmatter of {path} have for {}?", keys.join(", "))
            }
            Self::Text { path, wanted } => write!(f, "does {path} have {wanted}?"),
            Self::Committed(path) => write!(f, "is the current content of {path} committed?"),
            Self::Changes(paths) => write!(f, "what is uncommitted under {}?", paths.join(", ")),
            Self::ChangesSince { paths, .. } => {
                write!(f, "what has become uncommitted under {}?", paths.join(", "))
            }
            Self::Baseline(paths) => write!(f, "which files are uncommitted under {}?", paths.join(", ")),
            Self::Head => f.write_str("which commit is HEAD?"),
            Self::HeadChanged(since) => write!(f, "do the files of HEAD differ from those of commit {since}?"),
            Self::Branch => f.write_str("which branch is checked out?"),
            Self::Milestone => f.write_str("which milestone is current?"),
            Self::Clock => f.write_str("what time is it?"),
            Self::Writers(path) => write!(f, "which agents wrote {path}?"),
            Self::Writer(path) => write!(f, "who wrote the current content of {path}?"),
            Self::Wrote { path, id } => write!(f, "did the agent {id} write the current content of {path}?"),
            Self::Relative(path) => write!(f, "where in the project is {path}?"),
            Self::Agent { id, .. } => write!(f, "which agent is {id}?"),
            Self::Addressee { to, .. } => write!(f, "which agent does a message to {to} reach?"),
            Self::InFlight => f.write_str("which agents are running?"),
            Self::ForkParent { .. } => f.write_str("which session was this one forked from?"),
            Self::EventText { of, wanted } => write!(f, "does the {of} have {wanted}?"),
            Self::Run(run) => write!(f, "what does `{}` say?", run.command.lines().next().unwrap_or_default()),
            Self::Http(http) => write!(f, "what does {} say?", http.url),
            Self::Touches(asked) => {
                let first = asked.paths.iter().next().unwrap_or("protected paths");
                let more = asked.paths.iter().skip(1).count();
                let more = if more > 0 { format!(" or {more} others") } else { String::new() };
                write!(f, "would it {} {first}{more}?", asked.effect_words())
            }
            Self::Mentions(asked) => {
                let first = asked.paths.iter().next().unwrap_or("protected paths");
                write!(f, "does it name {first} and do more than read?")
            }
            Self::Calls(words) => write!(f, "would it run {}?", words.join(" or ")),
            Self::OwnCalls(except) => write!(f, "would it run modegate, other than {}?", except.join(" or ")),
            Self::RemoteCalls(words) if words.is_empty() => f.write_str("would it run a program on another machine?"),
            Self::RemoteCalls(words) => write!(f, "would it run {} on another machine?", words.join(" or ")),
            Self::Output { commands, .. } => write!(f, "what does the output of {} show?", commands.join(" or ")),
            Self::Added(asked) => {
                let words = [(asked.all, "everything"), (asked.forced, "ignored files")];
                let words = words.into_iter().filter(|(is, _)| *is).map(|(_, word)| word);
                let what: Vec<&str> = words.chain(asked.paths.iter().map(String::as_str)).collect();
                write!(f, "would it stage {}?", what.join(", "))
            }
            Self::HookEntries => f.write_str("would it change modegate's hook entries?"),
            Self::Context(file) => write!(f, "what does .claude/context/{file} say?"),
            Self::History => f.write_str("what has the session done so far?"),
            Self::Transcript { wanted, last, .. } => {
                write!(f, "does {} have {wanted}?", if *last { "the last message" } else { "the conversation" })
            }
            Self::Rewritten(asked) => write!(f, "with the rewritten input: {}", asked.question),
        }
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
        let words: Vec<&str> = [&self.sections, &self.contains, &self.matches, &self.starts]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        f.write_str(&words.join(", "))
    }
}

impl Display for Answer {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Files(files) => match files.as_slice() {
                [] => f.write_str("none"),
                [file] => write!(f, "{} ({} bytes)", file.path, file.size),
                [file, rest @ ..] => write!(f, "{} ({} bytes) and {} more", file.path, file.size, rest.len()),
            },
            Self::Location(Some(path)) => f.write_str(path),
            Self::Location(None) => f.write_str("there"),
            Self::NoFrontmatter => f.write_str("it has none"),
            Self::NoText => f.write_str("there is none"),
            Self::BrokenFrontmatter(why) => write!(f, "it {why}"),
            Self::Frontmatter(values) if values.is_empty() => f.write_str("nothing"),
            Self::Frontmatter(values) => {
                let pairs: Vec<String> = values.iter().map(|(key, value)| format!("{key}: {value}")).collect();
                f.write_str(&pairs.join(", "))
            }
            Self::Text(TextFindings { chars, missing }) if missing.is_empty() => {
                write!(f, "yes, in {chars} characters")
            }
            Self::Text(TextFindings { chars, missing }) => {
                write!(f, "no {}, in {chars} characters", missing.join(", no "))
            }
            Self::Committed(CommitState::Committed) => f.write_str("yes"),
            Self::Committed(commitment) => f.write_str(&format!("{commitment:?}").to_lowercase()),
            Self::Baseline(files) => write!(f, "{} files", files.len()),
            Self::Changes(changes) if changes.is_empty() => f.write_str("nothing"),
            Self::Changes(changes) => {
                let named: Vec<String> =
                    changes.iter().take(3).map(|change| format!("{} ({})", change.path, change.kind)).collect();
                write!(f, "{}{}", named.join(", "), if changes.len() > 3 { ", …" } else { "" })
            }
            Self::Branch(branch) => {
                let default = branch.default.as_ref().map(|name| format!(" (default: {name})"));
                write!(f, "{}{}", branch.name.as_deref().unwrap_or("detached"), default.unwrap_or_default())
            }
            Self::Milestone(Some(milestone)) => write!(f, "{} {}", milestone.id, milestone.description),
            Self::Clock(clock) => f.write_str(&clock.at),
            Self::Head(Some(text)) | Self::Writer(Some(text)) | Self::Agent(Some(text)) | Self::Relative(text) => {
                f.write_str(text)
            }
            Self::Wrote(yes) | Self::HeadChanged(yes) => f.write_str(if *yes { "yes" } else { "no" }),
            Self::Head(None)
            | Self::Milestone(None)
            | Self::Writer(None)
            | Self::Agent(None)
            | Self::Addressee(None) => f.write_str("none"),
            Self::Addressee(Some(addressee)) => {
                write!(f, "{}, {}", addressee.agent, if addressee.running { "running" } else { "stopped" })
            }
            Self::InFlight(agents) | Self::Writers(agents) if agents.is_empty() => f.write_str("none"),
            Self::InFlight(agents) | Self::Writers(agents) => f.write_str(&agents.join(", ")),
            Self::ForkParent(ForkParent::Found(parent)) => f.write_str(&parent.id),
            Self::ForkParent(ForkParent::NotWritten { .. }) => f.write_str("the host has not written it yet"),
            Self::ForkParent(ForkParent::NotFound { .. }) => f.write_str("a session that is not known here"),
            Self::Touches(Some(touched)) => {
                write!(f, "`{}` {} {}", touched.by, touched.effect.third_person(), touched.path)
            }
            Self::Output(OutputResult::Unreadable(why)) => write!(f, "nothing: {why}"),
            Self::Output(OutputResult::Passed) => f.write_str("the tests passed"),
            Self::Output(OutputResult::Failed) => f.write_str("a test failed"),
            Self::Output(OutputResult::Empty) => f.write_str("no test ran"),
            Self::Output(OutputResult::Misused) => f.write_str("the tests were not started"),
            Self::Calls(Some(text)) | Self::Mentions(Some(text)) | Self::HookEntries(Some(text)) => {
                write!(f, "yes: {text}")
            }
            Self::Added(Some(found)) => write!(f, "yes: {}", found.by),
            Self::Touches(None)
            | Self::Mentions(None)
            | Self::Calls(None)
            | Self::Added(None)
            | Self::HookEntries(None) => f.write_str("no"),
            Self::Context(context) => write!(f, "{} characters", context.text.chars().count()),
            Self::History(history) => write!(f, "{} files changed", history.edited_files.len()),
            Self::Ran(result) => write!(f, "exit code {}", result.code),
            Self::Fetched(result) => write!(f, "status {}", result.status),
            Self::Unknown(why) => write!(f, "cannot tell: {why}"),
        }
    }
}

impl Display for ChangeKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Self::Untracked => "untracked",
            Self::Added => "added",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
            Self::Renamed => "renamed",
            Self::TypeChanged => "type changed",
            Self::Conflicted => "conflicted",
            Self::Submodule => "submodule changed",
            Self::Stashed => "stashed",
        })
    }
}
