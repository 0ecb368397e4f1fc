//! `modegate check`: runs a check for the user's own hooks and scripts.

mod arguments;

use super::cli_error::CliError;
use super::screen;
use super::session_lookup::{find_session, last_journal};
use super::{CliResult, EXIT_FAILURE, places};
use crate::check::Scope;
use crate::event::Event;
use crate::facts::Facts;
use crate::live::{LiveFacts, place};
use crate::mode::BASE;
use crate::mode_cache;
use crate::paths::ProjectPaths;
use crate::session::Session;
use crate::store::StateStore;
use crate::verdict::{Outcome, Truth};
use arguments::{CheckKindArgs, PathArguments};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// The result is unknown; never 2, which is a hook's block.
const EXIT_UNKNOWN: u8 = 3;

#[derive(Args)]
#[command(after_help = "Examples:
  modegate check file 'project/**/research_*.md' --min-chars 200
  modegate check frontmatter plan.md consulted_by=consulting-expert
  modegate check committed docs/plan.md docs/report.md
  modegate check clean src tests '!tests/out'
  modegate check file plan --mode plan
  cd \"$(modegate check milestone)\"
  modegate check yaml '{ any: [{ clean: src }, { branch: wip/* }] }'

Exit codes:
  0   the check passes; prints what it saw
  1   the check fails; prints what it saw and what to do to standard error
  3   the result is unknown, for example because git does not work
  64  wrong usage")]
pub(super) struct CheckCommand {
    #[command(subcommand)]
    kind: CheckKindArgs,
    /// Use the artifacts and variables of this mode [default: base]
    #[arg(long, global = true, value_name = "MODE")]
    mode: Option<String>,
    /// Session for `{session}` and the state: id, a prefix of it, or `last` [default: last]
    #[arg(long, global = true, value_name = "ID")]
    session: Option<String>,
    /// Print the outcome as JSON
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Print nothing; only set the exit code
    #[arg(long, short, global = true)]
    quiet: bool,
}

impl CheckCommand {
    #[expect(clippy::disallowed_methods, reason = "does I/O")]
    pub(super) fn run(self, project: Option<PathBuf>) -> CliResult {
        let given = project.clone();
        let places = places(project);
        let catalogue = mode_cache::read(&places);
        let mode = self.mode.as_deref().unwrap_or(BASE);
        let names: Vec<&str> = catalogue.modes.iter().map(|mode| mode.name.as_str()).collect();
        let mode = catalogue.mode(mode).ok_or_else(|| {
            CliError::unknown("mode", mode, &names).hint("run `modegate modes list` to see all modes")
        })?;
        let session = self.session(&places, catalogue.settings.days)?;
        let cwd = given.map_or_else(std::env::current_dir, |given| crate::disk::canonical(&given));
        let cwd = cwd.unwrap_or_else(|_| places.home.clone());
        let tree = place::tree(&places.home, Some(&cwd));
        let paths =
            PathArguments { roots: [tree, places.home.clone()], cwd: cwd.clone(), definitions: &mode.definitions };
        let check = self.kind.check(&paths)?;
        let event =
            json!({"hook_event_name": "SessionStart", "session_id": &*session.id, "cwd": cwd.to_string_lossy()});
        let event = Event::from_value(event).map_err(|error| CliError::failure(error.to_string()))?;
        let live = LiveFacts::new(&event, places.clone(), places.journal(&session.id));
        let facts = Facts::new(&live);
        let scope = Scope {
            event: &event,
            session: &session,
            namespace: &mode.namespace,
            definitions: &mode.definitions,
            facts: &facts,
            input: None,
            parallel: None,
            starting: None,
        };
        let outcome = check.map_or_else(|| milestone(&scope, &places), |check| check.evaluate(&scope));
        self.print(&outcome);
        Ok(ExitCode::from(match outcome.truth {
            Truth::Passes => 0,
            Truth::Fails => EXIT_FAILURE,
            Truth::Unknown => EXIT_UNKNOWN,
        }))
    }

    /// The session that the check is about; without any, one that has done nothing.
    fn session(&self, places: &ProjectPaths, days: u32) -> Result<Session, CliError> {
        let last = || last_journal(places)?.file_stem().map(|name| name.to_string_lossy().into_owned());
        let id = match &self.session {
            Some(given) => find_session(places, given)?,
            None => last().unwrap_or_else(|| "none".to_owned()),
        };
        Ok(StateStore::new(places.clone(), days).read(&id).session)
    }

    fn print(&self, outcome: &Outcome) {
        if self.quiet {
            return;
        }
        if self.json {
            screen::print_json(outcome);
        } else if outcome.truth != Truth::Passes {
            screen::print_error(outcome.sentence(""));
        } else if matches!(self.kind, CheckKindArgs::Milestone) {
            screen::print_line(&outcome.saw);
        } else {
            screen::print_line(outcome.sentence(""));
        }
    }
}

/// The folder of the current milestone.
#[expect(clippy::disallowed_methods, reason = "does I/O")]
fn milestone(scope: &Scope<'_>, places: &ProjectPaths) -> Outcome {
    match scope.facts.milestone() {
        Err(unknown) => Outcome::unknown(unknown),
        Ok(None) => {
            Outcome::fails("no milestone is current").remedied("write `project/status.json` with `current_milestone`")
        }
        Ok(Some(_)) => {
            let folders = scope.expand("{milestone}").unwrap_or_default();
            let there = folders.iter().find(|folder| places.home.join(folder).is_dir());
            Outcome::passes(there.or(folders.first()).cloned().unwrap_or_default())
        }
    }
}
