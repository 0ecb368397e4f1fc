//! `modegate modes`: lists, prints, checks and imports modes.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use super::screen::{self, TextStyle, styled};
use super::{EXIT_FAILURE, EXIT_USAGE, places};
use crate::mode::imported::{self, ImportedFile};
use crate::mode::{Catalogue, EMBEDDED, Mode, ModeOrigin, SETTINGS};
use crate::mode_cache;
use crate::paths::ProjectPaths;
use crate::yaml::did_you_mean;
use clap::Subcommand;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Subcommand)]
#[command(after_help = "Examples:\n  modegate modes list\n  modegate modes check")]
pub(super) enum Modes {
    /// List the modes of this project with their commands and phases
    #[command(after_help = "Example:\n  modegate modes list --json | jq '.[].mode'")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a mode's file
    #[command(after_help = "Example, to start a mode of your own from an embedded one:\n  \
        modegate modes show plan > .claude/modes/plan.yaml")]
    Show {
        /// The mode
        name: String,
        /// Print the parsed mode as JSON
        #[arg(long)]
        json: bool,
    },
    /// Convert a gates.json or hooks.toml file to a base mode and print it
    #[command(after_help = "Example:\n  modegate modes import .claude/hooks.toml > .claude/modes/base.yaml")]
    Import {
        /// The file
        file: PathBuf,
    },
    /// Check mode files and print every problem
    #[command(after_help = "Exits with 1 if there is a problem.\n\nExamples:\n  modegate modes check\n  \
        modegate modes check .claude/modes/release.yaml")]
    Check {
        /// Files to check [default: the project's modes and settings]
        files: Vec<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

impl Modes {
    pub(super) fn run(self, project: Option<PathBuf>) -> ExitCode {
        let places = places(project);
        match self {
            Self::List { json } => list(&mode_cache::read(&places), json),
            Self::Show { name, json } => show(&places, &name, json),
            Self::Check { files, json } => check(&places, &files, json),
            Self::Import { file } => import(&file),
        }
    }
}

fn list(catalogue: &Catalogue, as_json: bool) -> ExitCode {
    if as_json {
        let modes: Vec<Value> = catalogue.entries().map(|(mode, origin)| summary(mode, origin)).collect();
        screen::print_json(&modes);
        return ExitCode::SUCCESS;
    }
    for (mode, origin) in catalogue.entries() {
        let commands: Vec<String> = mode.commands.iter().map(|command| format!("/{command}")).collect();
        let from = match origin {
            ModeOrigin::Embedded => String::new(),
            ModeOrigin::File(file) => format!("  ({file})"),
        };
        let name = styled(TextStyle::Bold, &format!("{:<12}", mode.name));
        screen::print_line(format!("{name:<13}{:<22}{}{from}", commands.join(" "), mode.about));
        let phases: Vec<String> =
            mode.phases.iter().map(|phase| format!("{} ({})", phase.name, phase.worker)).collect();
        if !phases.is_empty() {
            screen::print_line(styled(TextStyle::Dim, &format!("{:<13}{}", "", phases.join(" → "))));
        }
    }
    catalogue.broken.iter().for_each(|broken| screen::print_error(format!("error: {}", broken.summary())));
    ExitCode::SUCCESS
}

fn summary(mode: &Mode, origin: &ModeOrigin) -> Value {
    let phases: Vec<Value> =
        mode.phases.iter().map(|phase| json!({"phase": phase.name, "worker": phase.worker.to_string()})).collect();
    let from = match origin {
        ModeOrigin::Embedded => "embedded",
        ModeOrigin::File(file) => file,
    };
    json!({"mode": mode.name, "about": mode.about, "commands": mode.commands, "namespace": mode.namespace, "origin": from, "phases": phases})
}

fn show(places: &ProjectPaths, name: &str, as_json: bool) -> ExitCode {
    let catalogue = mode_cache::read(places);
    let Some((mode, origin)) = catalogue.entries().find(|(mode, _)| mode.name == name) else {
        let names: Vec<&str> = catalogue.modes.iter().map(|mode| mode.name.as_str()).collect();
        let near = did_you_mean(name, &names);
        screen::print_error(format!("error: no mode is called `{name}`{near}\n  hint: run `modegate modes list`"));
        return ExitCode::from(EXIT_USAGE);
    };
    if as_json {
        screen::print_json(mode);
        return ExitCode::SUCCESS;
    }
    let text = match origin {
        ModeOrigin::Embedded => EMBEDDED.iter().find(|(own, _)| *own == name).map(|(_, text)| (*text).to_owned()),
        ModeOrigin::File(file) => std::fs::read_to_string(places.home.join(file)).ok(),
    };
    screen::print_line(text.unwrap_or_default().trim_end());
    ExitCode::SUCCESS
}

fn check(places: &ProjectPaths, files: &[PathBuf], as_json: bool) -> ExitCode {
    let catalogue = match files {
        [] => mode_cache::read(places),
        files => match with_files(places, files) {
            Ok(catalogue) => catalogue,
            Err(error) => {
                screen::print_error(format!("error: {error}"));
                return ExitCode::from(EXIT_USAGE);
            }
        },
    };
    if as_json {
        screen::print_json(&catalogue.broken);
    } else if catalogue.broken.is_empty() {
        let own = catalogue.entries().filter(|(_, origin)| **origin != ModeOrigin::Embedded).count();
        screen::print_line(format!("{} modes are fine, {own} of them the project's own", catalogue.modes.len()));
    } else {
        catalogue.broken.iter().for_each(|broken| screen::print_line(broken.to_string().trim_end()));
    }
    if catalogue.broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILURE) }
}

/// Prints an imported file as a native mode.
fn import(file: &Path) -> ExitCode {
    let name = file.to_string_lossy();
    let text = match read_text(file) {
        Ok(text) => text,
        Err(error) => {
            screen::print_error(format!("error: {error}"));
            return ExitCode::from(EXIT_FAILURE);
        }
    };
    match imported::parse(&name, &text) {
        Ok(ImportedFile::Mode(node)) => {
            let mode = node.to_yaml();
            screen::print_line(format!("# From {name}; save this as .claude/modes/base.yaml.\n{}", mode.trim_end()));
            return ExitCode::SUCCESS;
        }
        Ok(ImportedFile::Other) => {
            let hint = "gates.json has the keys `gates` and `hooks`, hooks.toml a list `[[hooks]]`";
            screen::print_error(format!("error: `{name}` is not a gates file\n  hint: {hint}"));
        }
        Err(_) => {
            let broken = Catalogue::compose(None, &[(name.into_owned(), text)]).broken;
            for broken in broken {
                screen::print_error(broken.to_string().trim_end());
            }
        }
    }
    ExitCode::from(EXIT_FAILURE)
}

/// A catalogue with the given files in place of the project's own, under the project's settings.
fn with_files(places: &ProjectPaths, files: &[PathBuf]) -> Result<Catalogue, String> {
    let read = |path: &PathBuf| Ok((path.to_string_lossy().into_owned(), read_text(path)?));
    let texts = files.iter().map(read).collect::<Result<Vec<_>, String>>()?;
    let settings = std::fs::read_to_string(places.settings()).ok();
    Ok(Catalogue::compose(settings.as_deref().map(|text| (SETTINGS, text)), &texts))
}

fn read_text(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("`{}` does not exist", path.display()),
        _ => format!("`{}` cannot be read: {error}", path.display()),
    })
}
