//! `modegate modes`: which modes there are, what they say, and whether they read.

use super::screen::{self, TextStyle, styled};
use super::{EXIT_FAILURE, EXIT_USAGE, places};
use crate::mode::imported::{self, ImportedFile};
use crate::mode::{Catalogue, EMBEDDED, Mode, ModeOrigin};
use crate::mode_cache;
use crate::paths::ProjectPaths;
use clap::Subcommand;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Subcommand)]
pub(super) enum Modes {
    /// List the modes of this project with their commands and phases
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a mode's file
    Show {
        /// The mode
        name: String,
        /// Print the mode as it is understood, as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a file of gates in another form (gates.json, hooks.toml) as a native base mode
    Import {
        /// The file
        file: PathBuf,
    },
    /// Read mode files and show every problem
    Check {
        /// Files to check [default: the project's own modes and settings]
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
        screen::print_line(format!(
            "{:<13}{:<22}{}{from}",
            styled(TextStyle::Bold, &format!("{:<12}", mode.name)),
            commands.join(" "),
            mode.about
        ));
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
        let near =
            crate::yaml::nearest(name, &names).map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
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
    let catalogue = if files.is_empty() { mode_cache::read(places) } else { given(places, files) };
    if as_json {
        screen::print_json(&catalogue.broken);
    } else {
        catalogue.broken.iter().for_each(|broken| screen::print_line(broken.to_string().trim_end()));
        if catalogue.broken.is_empty() {
            let own = catalogue.entries().filter(|(_, origin)| **origin != ModeOrigin::Embedded).count();
            screen::print_line(format!("{} modes are fine, {own} of them the project's own", catalogue.modes.len()));
        }
    }
    if catalogue.broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILURE) }
}

/// Prints a imported file as native YAML.
fn import(file: &std::path::Path) -> ExitCode {
    let name = file.to_string_lossy();
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            screen::print_error(format!("error: `{name}` cannot be read: {error}"));
            return ExitCode::from(EXIT_FAILURE);
        }
    };
    match imported::parse(&name, &text) {
        Ok(ImportedFile::Mode(node)) => {
            screen::print_line(format!(
                "# From {name}; put this into .claude/modes/base.yaml.\n{}",
                node.to_yaml().trim_end()
            ));
            ExitCode::SUCCESS
        }
        Ok(ImportedFile::Other) => {
            let hint = "gates.json has the keys `gates` and `hooks`, hooks.toml a list `[[hooks]]`";
            screen::print_error(format!("error: `{name}` is no file of gates\n  hint: {hint}"));
            ExitCode::from(EXIT_FAILURE)
        }
        Err(_) => {
            let broken = Catalogue::compose(None, &[(name.into_owned(), text)]).broken;
            for broken in &broken {
                screen::print_error(broken.to_string().trim_end());
            }
            ExitCode::from(EXIT_FAILURE)
        }
    }
}

/// A catalogue with the given files in place of the project's own, under the project's settings.
fn given(places: &ProjectPaths, files: &[PathBuf]) -> Catalogue {
    let read =
        |path: &PathBuf| (path.to_string_lossy().into_owned(), std::fs::read_to_string(path).unwrap_or_default());
    let texts: Vec<(String, String)> = files.iter().map(read).collect();
    let settings = std::fs::read_to_string(places.settings()).ok();
    Catalogue::compose(settings.as_deref().map(|text| (".claude/modegate.yaml", text)), &texts)
}
