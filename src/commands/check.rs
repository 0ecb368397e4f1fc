//! `modegate check`: runs a check for the user's own hooks and scripts.

mod arguments;

use super::cli_error::{CliError, unknown_mode};
use super::screen;
use super::session_lookup::{find_session, last_session};
use super::{CliResult, EXIT_FAILURE, places, session_start};
use crate::facts::session::Session;
use crate::facts::verdict::{Outcome, Truth};
use crate::facts::{Facts, Unknown};
use crate::host::paths::ProjectPaths;
use crate::policy::check::Scope;
use crate::policy::mode::{BASE, Mode};
use crate::state::mode_cache;
use crate::state::store::StateStore;
use crate::world::{LiveFacts, place};
use arguments::{CheckKindArgs, PathArguments};
use clap::Args;
use std::path::{Path, PathBuf};
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
    /// Session for `{session}` and the state: session id or a prefix of it, or `last` [default: last]
    #[arg(long, global = true, value_name = "ID")]
    session: Option<String>,
    /// Print the outcome as JSON
    #[arg(long, global = true)]
    json: bool,
    /// Print nothing; only set the exit code
    #[arg(long, short, global = true)]
    quiet: bool,
}

impl CheckCommand {
    pub(super) fn run(self, project: Option<PathBuf>) -> CliResult {
        let given = project.clone();
        let places = places(project);
        let catalogue = mode_cache::read(&places);
        let mode = self.mode.as_deref().unwrap_or(BASE);
        let mode = catalogue.mode(mode).ok_or_else(|| unknown_mode(mode, &catalogue))?;
        let session = self.session(&places, catalogue.settings.days)?;
        let cwd = given.map_or_else(std::env::current_dir, |given| base::disk::canonical(&given));
        let cwd = cwd.unwrap_or_else(|_| places.home.clone());
        let tree = place::tree(&places.home, Some(&cwd));
        let paths = PathArguments { roots: [&tree, &places.home], cwd: &cwd, definitions: &mode.definitions };
        let check = self.kind.check(&paths)?;
        let outcome = in_scope(&places, &session, mode, &cwd, |scope| match check {
            Some(check) => check.evaluate(scope),
            None => milestone(scope, &places).unwrap_or_else(Outcome::from),
        });
        self.print(&outcome);
        Ok(ExitCode::from(match outcome.truth {
            Truth::Passes => 0,
            Truth::Fails => EXIT_FAILURE,
            Truth::Unknown => EXIT_UNKNOWN,
        }))
    }

    fn session(&self, places: &ProjectPaths, days: u32) -> Result<Session, CliError> {
        let id = match &self.session {
            Some(given) => find_session(places, given)?,
            None => last_session(places).unwrap_or_else(|| "none".to_owned()),
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

fn milestone(scope: &Scope<'_>, places: &ProjectPaths) -> Result<Outcome, Unknown> {
    if scope.facts.milestone()?.is_none() {
        let outcome = Outcome::fails("no milestone is current");
        return Ok(outcome.remedied("write `project/status.json` with `current_milestone`"));
    }
    let folders = scope.expand("{milestone}")?;
    let there = folders.iter().find(|folder| places.home.join(folder).is_dir());
    Ok(Outcome::passes(there.or(folders.first()).cloned().unwrap_or_default()))
}

/// Looks at the project as a check of `mode` would at the start of a session in `cwd`.
pub(super) fn in_scope<T>(
    places: &ProjectPaths,
    session: &Session,
    mode: &Mode,
    cwd: &Path,
    look: impl FnOnce(&Scope<'_>) -> T,
) -> T {
    let event = session_start(&session.id, cwd);
    let live = LiveFacts::new(&event, places.clone(), places.journal(&session.id));
    look(&Scope {
        event: &event,
        session,
        namespace: &mode.namespace,
        definitions: &mode.definitions,
        facts: &Facts::new(&live),
        input: None,
        parallel: None,
        starting: None,
    })
}
