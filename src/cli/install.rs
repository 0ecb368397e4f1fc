//! `modegate install`: the program, the hook entries and the starter workflow.

use super::change::{self, Change, Deed, text_of};
use super::receipt::Receipt;
use super::screen::{self, Colour, paint};
use super::site::{Scope, Site};
use super::{FOUND, doctor};
use crate::disk::IGNORED;
use crate::event::EventKind;
use crate::mode_cache;
use crate::starter;
use crate::wiring::{self, Refusal};
use clap::Args;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
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
        let done = self.scope.site(project).and_then(|site| self.install(&site));
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                screen::fail(&error, self.json);
                ExitCode::from(FOUND)
            }
        }
    }

    fn install(&self, site: &Site) -> Result<(), String> {
        let events = wiring::needed(&mode_cache::read(&site.places()));
        let mut changes = self.plan(site, &events)?;
        if !self.dry_run {
            let _guard = site.hold()?;
            // Somebody else may have installed meanwhile.
            changes = self.plan(site, &events)?;
            change::apply(&changes, site)?;
            receive(site, &changes)?;
        }
        self.tell(site, &events, &changes);
        Ok(())
    }

    /// Everything that has to be done, in order: a settings file never names a program that is not there yet.
    fn plan(&self, site: &Site, events: &[EventKind]) -> Result<Vec<Change>, String> {
        let settings = self.settings(site, events)?;
        let mut changes = Vec::new();
        if !site.is_users {
            changes.push(ignored(site)?);
        }
        if !self.path {
            changes.push(program(site)?);
        }
        if !self.no_workflow {
            changes.extend(workflow(site));
        }
        changes.extend(settings);
        if self.path && Receipt::read(site).has(site, &site.program()) {
            changes.push(Change::new(site.program(), Deed::Remove, "the one on PATH is called now"));
        }
        Ok(changes)
    }

    fn settings(&self, site: &Site, events: &[EventKind]) -> Result<Vec<Change>, String> {
        let command = if self.path { wiring::ON_PATH.to_owned() } else { site.command() };
        let before = text_of(&site.settings)?;
        let text = before.clone().unwrap_or_default();
        let after = wiring::wire(&text, &command, events).map_err(|refusal| refused(site, &refusal))?;
        let pristine = wiring::unwire(&text).is_ok_and(|without| without == text);
        let mut changes = Vec::new();
        if before.is_some() && pristine && after != text {
            let deed = Deed::Backup { of: site.settings.clone(), text };
            changes.push(Change::new(site.backup(), deed, "the settings as they were"));
        }
        let note = format!("{} hook entries calling {command}", events.len());
        changes.push(Change::text(site.settings.clone(), before, after, note));
        Ok(changes)
    }

    fn tell(&self, site: &Site, events: &[EventKind], changes: &[Change]) {
        let problems = if self.dry_run { Vec::new() } else { doctor::problems(site) };
        if self.json {
            let names: Vec<&str> = events.iter().map(|kind| kind.name()).collect();
            let changes: Vec<Value> = changes.iter().map(|change| change.as_json(self.dry_run)).collect();
            screen::json(&json!({
                "version": env!("CARGO_PKG_VERSION"), "home": site.home.to_string_lossy(),
                "settings": site.settings.to_string_lossy(), "events": names, "dry_run": self.dry_run,
                "changes": changes, "problems": problems,
            }));
            return;
        }
        let would = if self.dry_run { "would be installed" } else { "installed" };
        let home = site.home.to_string_lossy();
        screen::say(format!("modegate {} {would} in {}", env!("CARGO_PKG_VERSION"), paint(Colour::Bold, &home)));
        change::tell(changes, site, self.dry_run);
        problems.iter().for_each(doctor::Report::tell);
        if !self.dry_run {
            tell_next(site);
        }
    }
}

fn tell_next(site: &Site) {
    let here = std::env::current_dir().is_ok_and(|here| here.canonicalize().is_ok_and(|here| here == site.home));
    let at = match (site.is_users, here) {
        (true, _) => "in a project".to_owned(),
        (false, true) => "here".to_owned(),
        (false, false) => format!("in {}", site.home.display()),
    };
    let plan = paint(Colour::Bold, "/plan");
    screen::say(format!(
        "\nNext: start Claude Code {at} and type {plan} (or /explore, /research, /code, /code-review, /implement)."
    ));
    screen::say(
        "A planner that the model calls without a research report is refused; `modegate why` tells what was seen.",
    );
    let user = if site.is_users { " --user" } else { "" };
    screen::say(format!(
        "`modegate doctor --live` tries every hook; `modegate uninstall{user}` takes all of this out again."
    ));
}

/// Writes the receipt: what is there because of us.
fn receive(site: &Site, changes: &[Change]) -> Result<(), String> {
    let mut receipt = Receipt::read(site);
    for change in changes {
        match &change.deed {
            Deed::Own { before: Some(before), after } => {
                let new = after.lines().filter(|line| !before.lines().any(|own| own == *line));
                receipt.ignored.extend(new.map(str::to_owned));
            }
            _ => change.written().into_iter().for_each(|bytes| receipt.note(site, &change.path, bytes)),
        }
    }
    receipt.write(site).map_err(|error| format!("`{}`: {error}", site.own.display()))
}

/// The program itself, copied from the one that runs.
fn program(site: &Site) -> Result<Change, String> {
    let running = std::env::current_exe().and_then(|path| path.canonicalize());
    let running = running.map_err(|error| format!("the running program cannot be found: {error}"))?;
    let program = site.program();
    let bytes = fs::read(&running).map_err(|error| format!("`{}` cannot be read: {error}", running.display()))?;
    let same = fs::read(&program).is_ok_and(|there| there == bytes) && can_run(&program);
    #[expect(clippy::cast_precision_loss, reason = "megabytes for people")]
    let note = format!("{:.1} MB", bytes.len() as f64 / 1e6);
    Ok(Change::new(program, if same { Deed::Same } else { Deed::Program(bytes) }, note))
}

#[cfg(unix)]
fn can_run(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.permissions().mode() & 0o111 == 0o111)
}

#[cfg(not(unix))]
fn can_run(_: &Path) -> bool {
    true
}

/// `.claude/hooks/.gitignore`; one that is there keeps its lines.
fn ignored(site: &Site) -> Result<Change, String> {
    let path = site.own.join(".gitignore");
    let before = text_of(&path)?;
    let mut after = before.clone().unwrap_or_default();
    let has = |text: &str, line: &str| text.lines().any(|own| own.trim() == line);
    if before.is_none() {
        IGNORED.clone_into(&mut after);
    }
    // A file that git knows must not ignore itself.
    let own = |line: &&str| !line.starts_with('#') && (before.is_none() || *line != "/.gitignore");
    for line in IGNORED.lines().filter(own) {
        if !has(&after, line) {
            let joint = if after.is_empty() || after.ends_with('\n') { "" } else { "\n" };
            after = format!("{after}{joint}{line}\n");
        }
    }
    let same = before.as_deref() == Some(after.as_str());
    let deed = if same { Deed::Same } else { Deed::Own { before, after } };
    Ok(Change::new(path, deed, "program, state and journals stay out of git"))
}

/// The commands and agents; a file that is there is somebody's.
fn workflow(site: &Site) -> Vec<Change> {
    let change = |file: &starter::StarterFile| {
        let path = site.claude.join(file.path);
        match fs::read(&path) {
            Ok(own) if own == file.text.as_bytes() => Change::new(path, Deed::Same, ""),
            _ if fs::symlink_metadata(&path).is_ok() => Change::new(path, Deed::Keep, "it was there before"),
            _ => Change::new(path, Deed::New(file.text), ""),
        }
    };
    starter::FILES.iter().map(change).collect()
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
