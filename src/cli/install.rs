//! `modegate install`: the program, the hook entries and the starter workflow.

use super::change::{self, Change, Deed, text_of};
use super::screen::{self, Colour, paint};
use super::site::{Scope, Site};
use super::{FOUND, doctor};
use crate::disk::IGNORED;
use crate::event::Kind;
use crate::library;
use crate::starter;
use crate::wiring::{self, Refusal};
use clap::Args;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(super) struct Install {
    #[command(flatten)]
    scope: Scope,
    /// Call the `modegate` on PATH instead of a copy in the project, so that committed settings work for everyone
    #[arg(long)]
    path: bool,
    /// Leave out the starter workflow: six commands and eight agents
    #[arg(long)]
    no_workflow: bool,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Install {
    pub(super) fn run(self, project: Option<PathBuf>) -> ExitCode {
        let done = self.scope.site(project).and_then(|site| {
            let events = wiring::needed(&library::read(&site.places()));
            let changes = self.plan(&site, &events)?;
            self.carry_out(&site, &events, &changes)
        });
        done.unwrap_or_else(|error| {
            screen::complain(format!("error: {error}"));
            ExitCode::from(FOUND)
        })
    }

    /// Everything that has to be done, in order: a settings file never names a program that is not there yet.
    fn plan(&self, site: &Site, events: &[Kind]) -> Result<Vec<Change>, String> {
        let mut changes = Vec::new();
        if !site.is_users {
            changes.push(ignored(site)?);
        }
        if !self.path {
            changes.push(program(site)?);
        }
        if !self.no_workflow {
            changes.extend(workflow(site)?);
        }
        changes.extend(self.settings(site, events)?);
        Ok(changes)
    }

    fn settings(&self, site: &Site, events: &[Kind]) -> Result<Vec<Change>, String> {
        let command = if self.path { wiring::ON_PATH.to_owned() } else { site.command() };
        let before = text_of(&site.settings)?;
        let text = before.clone().unwrap_or_default();
        let after = wiring::wire(&text, &command, events).map_err(|refusal| refused(site, &refusal))?;
        let pristine = wiring::unwire(&text).is_ok_and(|without| without == text);
        let mut changes = Vec::new();
        if before.is_some() && pristine && after != text {
            changes.push(Change::new(
                site.backup(),
                Deed::Backup { of: site.settings.clone() },
                "the settings as they were",
            ));
        }
        let note = format!("{} hook entries calling {command}", events.len());
        changes.push(Change::text(site.settings.clone(), before, after, note));
        Ok(changes)
    }

    fn carry_out(&self, site: &Site, events: &[Kind], changes: &[Change]) -> Result<ExitCode, String> {
        if !self.dry_run {
            for change in changes {
                change.apply().map_err(|error| format!("`{}`: {error}", change.path.display()))?;
            }
        }
        let problems = if self.dry_run { Vec::new() } else { doctor::problems(site) };
        if self.json {
            let names: Vec<&str> = events.iter().map(|kind| kind.name()).collect();
            let changes: Vec<Value> = changes.iter().map(Change::as_json).collect();
            screen::json(&json!({
                "version": env!("CARGO_PKG_VERSION"), "home": site.home, "settings": site.settings, "events": names,
                "dry_run": self.dry_run, "changes": changes, "problems": problems,
            }));
            return Ok(ExitCode::SUCCESS);
        }
        let would = if self.dry_run { "would be installed" } else { "installed" };
        screen::say(format!(
            "modegate {} {would} in {}",
            env!("CARGO_PKG_VERSION"),
            paint(Colour::Bold, &site.home.to_string_lossy())
        ));
        change::tell(changes, site, self.dry_run);
        for problem in &problems {
            problem.tell();
        }
        if !self.dry_run {
            tell_next(site);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn tell_next(site: &Site) {
    let at = if site.is_users { "in a project" } else { "here" };
    screen::say(format!(
        "\nNext: start Claude Code {at} and type {} (or /explore, /research, /code, /code-review, /implement).",
        paint(Colour::Bold, "/plan")
    ));
    screen::say(
        "A planner that the model calls without a research report is refused; `modegate why` tells what was seen.",
    );
    screen::say("`modegate doctor --live` tries every hook; `modegate uninstall` takes all of this out again.");
}

/// The program itself, copied from the one that runs.
fn program(site: &Site) -> Result<Change, String> {
    let running = std::env::current_exe().and_then(|path| path.canonicalize());
    let running = running.map_err(|error| format!("the running program cannot be found: {error}"))?;
    let program = site.program();
    let bytes = fs::read(&running).map_err(|error| format!("`{}` cannot be read: {error}", running.display()))?;
    let same = fs::read(&program).is_ok_and(|there| there == bytes);
    #[expect(clippy::cast_precision_loss, reason = "megabytes for people")]
    let note = format!("{:.1} MB", bytes.len() as f64 / 1e6);
    Ok(Change::new(program, if same { Deed::Same } else { Deed::Program(bytes) }, note))
}

/// `.claude/hooks/.gitignore`; one that is there keeps its lines.
fn ignored(site: &Site) -> Result<Change, String> {
    let path = site.own.join(".gitignore");
    let before = text_of(&path)?;
    let mut after = before.clone().unwrap_or_default();
    let has = |text: &str, line: &str| text.lines().any(|own| own.trim() == line);
    if after.is_empty() {
        IGNORED.clone_into(&mut after);
    }
    for line in IGNORED.lines().filter(|line| !line.starts_with('#')) {
        if !has(&after, line) {
            let joint = if after.ends_with('\n') { "" } else { "\n" };
            after = format!("{after}{joint}{line}\n");
        }
    }
    Ok(Change::text(path, before, after, "program, state and journals stay out of git"))
}

/// The commands and agents; a file that is there is somebody's.
fn workflow(site: &Site) -> Result<Vec<Change>, String> {
    let mut changes = Vec::new();
    for file in starter::FILES {
        let path = site.claude.join(file.path);
        changes.push(match text_of(&path)? {
            Some(own) if own != file.text => Change::new(path, Deed::Keep, "it was there before"),
            Some(_) => Change::new(path, Deed::Same, ""),
            None => Change::new(path, Deed::New(file.text), ""),
        });
    }
    Ok(changes)
}

/// A settings file that is left alone, with the place and the way out.
pub(super) fn refused(site: &Site, refusal: &Refusal) -> String {
    let file = site.short(&site.settings);
    let place = refusal.place.map(|(line, column)| format!("\n   --> {file}:{line}:{column}")).unwrap_or_default();
    format!(
        "`{file}` is not a settings file: {}{place}\n  hint: mend the file and run this again; nothing was changed",
        refusal.why
    )
}
