//! What the user and the log of the host read besides the decision: problems of modegate itself, and changes that something
//! else made to its files.

use super::reply::Reply;
use crate::facts::verdict::{Decision, Verdict};
use crate::facts::{Answer, Question};
use crate::host::event::{Event, EventKind};
use crate::host::paths::ProjectPaths;
use crate::policy::mode::ProjectTrust;
use crate::state::store::{StoreError, Tampering};
use crate::state::trust::TrustRecord;
use crate::state::user_folder::project_paths;
use crate::world::{TRUST_REASON, place};
use base::disk;
use base::printable::one_line;

pub(super) const LINKED: &str =
    "`.claude/hooks` is a link or a file, so no journal is written; make it a folder of the project";

/// The problem with an installation whose folder is missing.
pub(super) const GONE: &str =
    "`.claude/hooks` is gone, and with it the copy of the program there; run `modegate install`";

/// The sentence about a journal that something other than modegate altered.
pub(super) const ALTERED_JOURNAL: &str = "the journal of this session was removed or changed by something other than \
    modegate; what it had about agents and their edits is still known";

#[derive(Debug, Default)]
pub(super) struct Notices {
    /// Problems of modegate itself.
    pub(super) problems: Vec<String>,
    /// Sentences about changes that something other than modegate made to its files.
    pub(super) security: Vec<String>,
    /// Whether the settings on disk would end the hooks, and a tool call made them so.
    pub(super) ends_hooks: bool,
    /// Whether the state of the session is gone and nothing has it.
    pub(super) is_state_lost: bool,
}

impl Notices {
    pub(super) fn add_problem(&mut self, problem: impl Into<String>) {
        self.problems.push(problem.into());
    }

    pub(super) fn add_store_error(&mut self, error: &StoreError) {
        self.add_problem(format!("{error}; {}", error.hint()));
    }

    /// Reports files that the person has not agreed to: when a session starts, and once when they change.
    pub(super) fn add_trust(&mut self, event: &Event, places: &ProjectPaths, trust: &ProjectTrust) {
        let is_start = event.kind == Some(EventKind::SessionStart);
        if !is_start && event.kind != Some(EventKind::UserPromptSubmit) {
            return;
        }
        if is_start {
            self.problems.extend(project_above(places));
        }
        if let Some(notice) = trust.notice()
            && (is_new_notice(places, "trust-notice", &notice) || is_start)
        {
            self.problems.push(notice);
        }
    }

    /// Reports context files that are left out because the person has not agreed to them, once per session.
    pub(super) fn add_left_out(&mut self, event: &Event, places: &ProjectPaths, asked: &[(Question, Answer)]) {
        let reason = |(question, answer): &(Question, Answer)| match (question, answer) {
            (Question::Context(_), Answer::Unknown(why)) => {
                Some(why.to_string()).filter(|why| why.contains(TRUST_REASON))
            }
            _ => None,
        };
        let has_message = event.kind.is_some_and(|kind| kind.row().message);
        let Some(notice) = asked.iter().find_map(reason).filter(|_| has_message && places.state_dir.is_some()) else {
            return;
        };
        if is_new_notice(places, "context-notice", &format!("{}\n{notice}", event.session())) {
            self.problems.push(format!("{notice}; its context is left out"));
        }
    }

    /// Adds the notices to a decision that is in the journal already: they cannot be replayed.
    pub(super) fn add_to_decision(&self, event: &Event, decision: &mut Decision) {
        let message = |text: &String| format!("modegate: {text}");
        if event.kind.is_some_and(|kind| kind.row().message) {
            decision.messages.extend(self.problems.iter().map(message));
        }
        if event.kind == Some(EventKind::Stop) {
            // The host shows a message at a stop, and there may be no next event.
            let linked = self.problems.iter().filter(|text| *text == LINKED);
            decision.messages.extend(self.security.iter().chain(linked).map(message));
        }
        let is_gated = event.kind.is_some_and(|kind| kind == EventKind::PreToolUse || kind.is_stop());
        if self.ends_hooks && event.kind == Some(EventKind::ConfigChange) {
            block(decision, "the changed settings would end modegate's hooks");
        } else if self.is_state_lost && is_gated && decision.verdict < Verdict::Block {
            // A lost state is not "no mode"; it is known again from the next event on.
            let advice = "if a mode was active, the user can start it again with its command; then try again";
            block(decision, &format!("{}; {advice}", Tampering::Lost.sentence()));
        }
    }

    /// Adds the problems to standard error, with the fields of the event that cannot be read.
    pub(super) fn add_to_reply(&self, event: &Event, reply: &mut Reply) {
        for line in self.problems.iter().chain(&field_warnings(event)) {
            let joint = if reply.stderr.is_empty() { "" } else { "\n" };
            reply.stderr = format!("{}{joint}modegate: {line}", reply.stderr);
        }
    }
}

fn block(decision: &mut Decision, reason: &str) {
    decision.verdict = Verdict::Block;
    reason.clone_into(&mut decision.reason);
}

/// Whether a notice differs from the last one of its name, which is kept in the user's folder.
fn is_new_notice(places: &ProjectPaths, name: &str, notice: &str) -> bool {
    let Some(path) = places.state_dir.as_ref().map(|own| own.join(name)) else { return true };
    let is_new = !disk::read_text(&path, disk::SMALL).is_ok_and(|old| old == notice);
    if is_new {
        let _: std::io::Result<()> = disk::write(&path, notice.as_bytes(), disk::LinkPolicy::Replace);
    }
    is_new
}

fn field_warnings(event: &Event) -> Vec<String> {
    const SHOWN: usize = 5;
    let odd = &event.oddities;
    let mut lines: Vec<String> = odd.iter().take(SHOWN).map(|odd| format!("{odd}; the field was left out")).collect();
    if odd.len() > SHOWN {
        lines.push(format!("{} more fields cannot be read", odd.len() - SHOWN));
    }
    lines
}

/// What a person should know if a folder with `.claude/hooks` takes a session out of a project that they trust.
///
/// A pull can add such a folder. One with files of its own that the person trusts is there on purpose.
fn project_above(places: &ProjectPaths) -> Option<String> {
    let root = place::repository_home(&places.home)?;
    let above = places.home.ancestors().skip(1).take_while(|folder| folder.starts_with(&root));
    let mut projects = above.filter(|folder| folder.join(".claude/hooks").is_dir());
    let trusted = projects.find(|folder| TrustRecord::of_project(&project_paths(folder.to_path_buf())).is_some())?;
    if TrustRecord::of_project(places).is_some() {
        return None;
    }
    let below = places.home.strip_prefix(trusted).unwrap_or(&places.home).join(".claude/hooks");
    Some(format!(
        "`{}` makes this folder a project of its own, so the modes and gates of `{}`, which you trust, are not used here",
        one_line(&below.to_string_lossy()),
        one_line(&trusted.to_string_lossy())
    ))
}
