//! `modegate modes`: lists, prints, checks, imports and adds modes.

use super::cli_error::{self, CliError};
use super::file_change::text_of;
use super::screen::{self, TextStyle, styled};
use super::{CliResult, EXIT_FAILURE, EXIT_USAGE, gallery, places};
use crate::host::paths::ProjectPaths;
use crate::policy::mode::{BASE, Catalogue, EMBEDDED, Mode, ModeOrigin, Phase, SETTINGS};
use crate::policy::yaml::Node;
use crate::state::mode_cache;
use base::printable;
use clap::Subcommand;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Subcommand)]
#[command(after_help = "Examples:\n  modegate modes list\n  modegate modes check")]
pub(super) enum ModesCommand {
    /// List the modes of this project with their commands and phases
    #[command(after_help = "Example:\n  modegate modes list --json | jq '.[].mode'")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a mode's file; for `base`, the built-in file and the project's own
    #[command(after_help = "Example, to start your own mode from a built-in one:\n  \
        mkdir -p .claude/modes\n  modegate modes show plan > .claude/modes/plan.yaml")]
    Show {
        /// Name of the mode
        name: String,
        /// Print the parsed mode as JSON
        #[arg(long)]
        json: bool,
    },
    /// Convert gates.json and hooks.toml files to a base mode and print it
    #[command(after_help = "Examples:\n  modegate modes import .claude/hooks.toml > .claude/modes/base.yaml\n  \
        modegate modes import .claude/gates.json .claude/hooks.toml > .claude/modes/base.yaml")]
    Import {
        /// Files to convert
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// List the ready-made gates and modes that you can add
    #[command(after_help = "Example:\n  modegate modes gallery")]
    Gallery {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Add gates and modes from the gallery to this project
    #[command(after_help = "Writes .claude/modes/NAME.yaml; existing files are never overwritten.\n\nExample:\n  \
        modegate modes add tests-before-commit branch-first")]
    Add {
        /// Names from `modegate modes gallery`
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// Show what would be written, and write nothing
        #[arg(long)]
        dry_run: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
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

impl ModesCommand {
    pub(super) fn run(self, project: Option<PathBuf>) -> CliResult {
        let places = places(project);
        match self {
            Self::List { json } => list(&places, json),
            Self::Show { name, json } => show(&places, &name, json)?,
            Self::Check { files, json } => return check(&places, &files, json),
            Self::Import { files } => import(&files)?,
            Self::Gallery { json } => gallery::list(&places, json)?,
            Self::Add { names, dry_run, json } => gallery::add(&places, &names, dry_run, json)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn list(places: &ProjectPaths, as_json: bool) {
    let catalogue = mode_cache::read(places);
    if as_json {
        let modes: Vec<Value> = catalogue.entries().map(|(mode, origin)| summary(mode, origin)).collect();
        return screen::print_json(&modes);
    }
    for (mode, origin) in catalogue.entries() {
        let commands: Vec<String> = mode.commands.iter().map(|command| format!("/{command}")).collect();
        let from = match origin {
            ModeOrigin::Embedded => String::new(),
            ModeOrigin::File(_) if mode.name == BASE => {
                let files: Vec<String> = base_files(places).into_iter().map(|(file, _)| file).collect();
                format!("  ({})", files.join(", "))
            }
            ModeOrigin::File(file) => format!("  ({file})"),
        };
        let name = styled(TextStyle::Bold, &format!("{:<12}", mode.name));
        let about = format!("{:<22}{}{from}", commands.join(" "), mode.about);
        screen::print_line(format!("{name:<13}{}", printable::one_line(&about)));
        let (detours, phases): (Vec<_>, Vec<_>) = mode.phases.iter().partition(|phase| phase.when.is_some());
        let label = |phase: &Phase| format!("{} ({})", phase.name, phase.worker);
        let in_order = phases.into_iter().map(label).collect::<Vec<_>>().join(" → ");
        let detours = detours.into_iter().map(|phase| format!("detour {}", label(phase)));
        let phases: Vec<String> = [in_order].into_iter().chain(detours).collect();
        if !mode.phases.is_empty() {
            screen::print_line(styled(TextStyle::Dim, &format!("{:<13}{}", "", phases.join("; "))));
        }
    }
    for broken in &catalogue.broken {
        screen::print_error(format!("{}: {}", broken.severity(), broken.summary()));
    }
}

/// The project's files that add gates to the base mode, each a name and a text.
fn base_files(places: &ProjectPaths) -> Vec<(String, String)> {
    let is_base = |text: &str| Node::parse(text).is_ok_and(|node| node.get("mode").and_then(Node::text) == Some(BASE));
    let files = mode_cache::trusted_sources(places).files.into_iter();
    files.filter(|(_, text)| is_base(text)).collect()
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

fn show(places: &ProjectPaths, name: &str, as_json: bool) -> Result<(), CliError> {
    let catalogue = mode_cache::read(places);
    let Some((mode, origin)) = catalogue.entries().find(|(mode, _)| mode.name == name) else {
        return Err(cli_error::unknown_mode(name, &catalogue));
    };
    if as_json {
        screen::print_json(mode);
        return Ok(());
    }
    if name == BASE {
        let built_in = EMBEDDED.iter().find(|(own, _)| *own == BASE).map_or("", |(_, text)| *text);
        screen::print_line(built_in.trim_end());
        for (file, text) in base_files(places) {
            screen::print_line(format!("---\n# {}\n{}", printable::one_line(&file), text.trim_end()));
        }
        return Ok(());
    }
    let text = match origin {
        ModeOrigin::Embedded => EMBEDDED.iter().find(|(own, _)| *own == name).map(|(_, text)| (*text).to_owned()),
        ModeOrigin::File(file) => text_of(&places.home.join(file))?,
    };
    screen::print_line(text.unwrap_or_default().trim_end());
    Ok(())
}

fn check(places: &ProjectPaths, files: &[PathBuf], as_json: bool) -> CliResult {
    let catalogue = match files {
        [] => mode_cache::sources(places).catalogue(),
        files => with_files(places, files).map_err(|error| error.exit(EXIT_USAGE))?,
    };
    if as_json {
        screen::print_json(&catalogue.broken);
    } else if catalogue.broken.is_empty() {
        let own = catalogue.entries().filter(|(_, origin)| **origin != ModeOrigin::Embedded).count();
        let all = catalogue.modes.len();
        screen::print_line(match own {
            0 => format!("no problems in the {all} built-in modes"),
            own => format!("no problems in {all} modes, {own} of them from this project"),
        });
    } else {
        catalogue.broken.iter().for_each(|broken| screen::print_line(broken.to_string().trim_end()));
    }
    Ok(if catalogue.broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILURE) })
}

fn import(files: &[PathBuf]) -> Result<(), CliError> {
    let texts = files.iter().map(|file| named_text(file)).collect::<Result<Vec<_>, CliError>>()?;
    let catalogue = Catalogue::compose(None, &texts);
    if let Some(name) = catalogue.ignored.first() {
        return Err(CliError::failure(format!("`{name}` is not a gates file"))
            .hint("gates.json has the keys `gates` and `hooks`, hooks.toml a list `[[hooks]]`"));
    }
    let Ok(Some(mode)) = crate::policy::mode::import(&texts) else { return Err(cli_error::broken(&catalogue.broken)) };
    for broken in &catalogue.broken {
        screen::print_error(broken.to_string().trim_end());
    }
    let names = texts.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" and ");
    let head = format!("# From {names}; save this as .claude/modes/base.yaml, or add its gates to that file.");
    let yaml = serde_yaml::to_string(&mode.to_json()).unwrap_or_default();
    // The screen gets an escape for a control character, which is the same text only in JSON; JSON is YAML, too.
    let is_plain = matches!(printable::lines(&yaml), Cow::Borrowed(_));
    let text = if is_plain { yaml } else { format!("{:#}", mode.to_json()) };
    screen::print_line(format!("{head}\n{}", text.trim_end()));
    Ok(())
}

/// A catalogue with the given files instead of the project's own, and the project's settings.
fn with_files(places: &ProjectPaths, files: &[PathBuf]) -> Result<Catalogue, CliError> {
    let texts = files.iter().map(|file| named_text(file)).collect::<Result<Vec<_>, CliError>>()?;
    let settings = text_of(&places.settings()).ok().flatten();
    Ok(Catalogue::compose(settings.as_deref().map(|text| (SETTINGS, text)), &texts))
}

fn named_text(file: &Path) -> Result<(String, String), CliError> {
    let missing = || CliError::failure(format!("`{}` does not exist", file.display()));
    Ok((file.to_string_lossy().into_owned(), text_of(file)?.ok_or_else(missing)?))
}
