//! All the modes of a project: the embedded ones, and its own over them.

use super::imported::{self, ImportedFile};
use super::{BASE, EMBEDDED, Mode, Worker, read, read_node};
use crate::paths::hash;
use crate::settings::Settings;
use crate::yaml::{Diagnostic, Location, Node, nearest};
use serde::{Deserialize, Serialize};

/// Every mode that a project has, and its settings.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Catalogue {
    /// The modes; `base` first.
    pub modes: Vec<Mode>,
    /// Where each mode comes from, in the same order.
    pub origins: Vec<ModeOrigin>,
    /// The project's settings.
    pub settings: Settings,
    /// Files that could not be read, and so were left out.
    pub broken: Vec<BrokenFile>,
    /// Files of a imported name that are something else, and were left alone.
    pub ignored: Vec<String>,
    /// The files of `.claude/context`, by their path in it.
    pub contexts: Vec<String>,
    /// The hash of all that this was made of.
    pub hash: String,
}

/// All that a catalogue is made of beside the embedded modes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ProjectSources {
    /// The text of `.claude/modegate.yaml`, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<String>,
    /// The project's files of modes and gates, each a name and a text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<(String, String)>,
    /// The files of `.claude/context`, by their path in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contexts: Vec<String>,
    /// Files that are there and could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<BrokenFile>,
}

impl ProjectSources {
    /// The catalogue that is made of them.
    #[must_use]
    pub fn catalogue(&self) -> Catalogue {
        let settings = self.settings.as_deref().map(|text| (SETTINGS, text));
        let mut catalogue = Catalogue::compose(settings, &self.files);
        catalogue.broken.extend(self.unreadable.iter().cloned());
        catalogue.contexts.clone_from(&self.contexts);
        catalogue
    }
}

/// What the settings' file is called in messages.
pub const SETTINGS: &str = ".claude/modegate.yaml";

/// The first word of a file.
const TOP: Location = Location { line: 1, column: 1, width: 1 };

/// Whether a file has gates in a form of others.
fn is_imported(file: &str) -> bool {
    matches!(file.rsplit('.').next(), Some("json" | "toml"))
}

/// Where a mode comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ModeOrigin {
    /// The binary.
    Embedded,
    /// A file of the project.
    File(String),
}

/// A file that is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokenFile {
    /// The file, relative to the project.
    pub file: String,
    /// What it should have been.
    pub what: String,
    /// Everything that is wrong with it, with the line it is wrong in.
    pub problems: Vec<(Diagnostic, String)>,
    /// Whether what is right of it counts all the same.
    pub kept: bool,
}

impl Catalogue {
    /// The catalogue of a project with these settings and mode files, each a name and a text.
    #[must_use]
    pub fn compose(settings: Option<(&str, &str)>, files: &[(String, String)]) -> Self {
        let mut catalogue = Self { hash: fingerprint(settings, files), ..Self::default() };
        if let Some((file, text)) = settings {
            match Settings::read(text) {
                Ok(settings) => catalogue.settings = settings,
                Err(problems) => catalogue.broken.push(BrokenFile::new(file, "modegate's settings", text, problems)),
            }
        }
        for (name, text) in EMBEDDED {
            match read(text, |_| None, &[]) {
                Ok(mode) => catalogue.add(mode, ModeOrigin::Embedded),
                Err(problems) => {
                    catalogue.broken.push(BrokenFile::new(&format!("{name}.yaml"), "a mode", text, problems))
                }
            }
        }
        for (file, text) in files {
            catalogue.add_file(file, text);
        }
        catalogue.drop_unknown_steps(files);
        if let Some((file, text)) = settings {
            let unknown = catalogue.unknown_names(text);
            if !unknown.is_empty() {
                let broken = BrokenFile::new(file, "quite right; the rest of it counts", text, unknown);
                catalogue.broken.push(BrokenFile { kept: true, ..broken });
            }
        }
        catalogue.apply_settings();
        catalogue
    }

    fn add_file(&mut self, file: &str, text: &str) {
        let known: Vec<&str> = self.settings.variables.keys().map(String::as_str).collect();
        let base = self.mode(BASE).cloned();
        let builtin = |name: &str| if name == BASE { base.clone() } else { embedded(name) };
        if is_imported(file) {
            let mode = match imported::parse(file, text) {
                Ok(ImportedFile::Mode(node)) => read_node(&node, builtin, &known),
                Ok(ImportedFile::Other) => return self.ignored.push(file.to_owned()),
                Err(problems) => Err(problems),
            };
            return match mode {
                Ok(mode) => self.put(mode),
                Err(problems) => self.broken.push(BrokenFile::new(file, "a file of gates", text, problems)),
            };
        }
        match read(text, builtin, &known) {
            Ok(mode) if mode.name == BASE => self.add(mode, ModeOrigin::File(file.to_owned())),
            Ok(mode) => match self.file_of(&mode.name) {
                Some(first) => {
                    let message = format!("`{first}` is already called `{}`", mode.name);
                    self.broken.push(BrokenFile::new(
                        file,
                        "a mode of its own",
                        text,
                        vec![Diagnostic::at(TOP, message)],
                    ));
                }
                None => self.add(mode, ModeOrigin::File(file.to_owned())),
            },
            Err(problems) => self.broken.push(BrokenFile::new(file, "a mode", text, problems)),
        }
    }

    /// The project's file that has a mode of that name.
    fn file_of(&self, name: &str) -> Option<String> {
        self.entries().find(|(mode, _)| mode.name == name).and_then(|(_, origin)| match origin {
            ModeOrigin::File(file) => Some(file.clone()),
            ModeOrigin::Embedded => None,
        })
    }

    /// Takes out the project's modes with a step that does not exist; the embedded one of that name stands.
    fn drop_unknown_steps(&mut self, files: &[(String, String)]) {
        for (file, text) in files {
            let own = ModeOrigin::File(file.clone());
            let Some(at) = self.origins.iter().position(|origin| *origin == own) else { continue };
            let Some(problem) = self.modes.get(at).and_then(|mode| self.unknown_step(mode)) else { continue };
            self.broken.push(BrokenFile::new(file, "a mode", text, vec![problem]));
            let gone = self.modes.remove(at);
            self.origins.remove(at);
            if let Some(shipped) = embedded(&gone.name) {
                self.add(shipped, ModeOrigin::Embedded);
            }
        }
    }

    /// Names in the settings that are neither a mode nor a gate.
    fn unknown_names(&self, text: &str) -> Vec<Diagnostic> {
        let modes = self.modes.iter().map(|mode| mode.name.clone());
        let orders = self.modes.iter().map(|mode| format!("{}-keeps-its-order", mode.name));
        let gates = self.modes.iter().flat_map(|mode| mode.all_gates().map(|(_, gate)| gate.id.to_string()));
        let known: Vec<String> = modes.chain(orders).chain(gates).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let Ok(node) = Node::parse(text) else { return Vec::new() };
        let unknown_name = |named: &Node| {
            let name = named.text().filter(|name| !known.contains(name))?;
            let near = nearest(name, &known).map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
            Some(Diagnostic::at(named.location, format!("no mode and no gate is called `{name}`{near}")))
        };
        Settings::names(&node).into_iter().filter_map(unknown_name).collect()
    }

    /// A phase whose worker is a mode that does not exist, or that nothing can begin.
    fn unknown_step(&self, mode: &Mode) -> Option<Diagnostic> {
        mode.phases.iter().find_map(|phase| {
            let Worker::Mode(name) = &phase.worker else { return None };
            let message = match self.mode(name) {
                None => format!("no mode is called `{name}`"),
                Some(step) if step.commands.is_empty() => format!("`{name}` has no command, so nothing can begin it"),
                Some(_) => return None,
            };
            Some(Diagnostic { path: format!("phases.{}", phase.name), message, location: phase.location })
        })
    }

    /// Puts a mode in place of one of its name, which stays whose it was.
    fn put(&mut self, mode: Mode) {
        if let Some(old) = self.modes.iter_mut().find(|old| old.name == mode.name) {
            *old = mode;
        }
    }

    /// Adds a mode, in place of one of its name.
    fn add(&mut self, mode: Mode, origin: ModeOrigin) {
        let old = self.modes.iter_mut().zip(&mut self.origins).find(|(old, _)| old.name == mode.name);
        if let Some((old, from)) = old {
            (*old, *from) = (mode, origin);
        } else {
            self.modes.push(mode);
            self.origins.push(origin);
        }
    }

    /// Applies the settings: modes switched off go, also as steps of flows, and variables are set.
    fn apply_settings(&mut self) {
        let disabled = std::mem::take(&mut self.settings.disable);
        let keep: Vec<bool> = self.modes.iter().map(|mode| !disabled.contains(&mode.name)).collect();
        let mut kept = keep.iter();
        self.modes.retain(|_| *kept.next().unwrap_or(&true));
        let mut kept = keep.iter();
        self.origins.retain(|_| *kept.next().unwrap_or(&true));
        self.settings.disable = disabled;
        let names: Vec<String> = self.modes.iter().map(|mode| mode.name.clone()).collect();
        for mode in &mut self.modes {
            mode.definitions.variables.extend(self.settings.variables.clone());
            mode.allow_env(&self.settings.env);
            mode.phases.retain(|phase| !matches!(&phase.worker, Worker::Mode(step) if !names.contains(step)));
        }
    }

    /// The mode of that name.
    #[must_use]
    pub fn mode(&self, name: &str) -> Option<&Mode> {
        self.modes.iter().find(|mode| mode.name == name)
    }

    /// Every mode with where it comes from.
    pub fn entries(&self) -> impl Iterator<Item = (&Mode, &ModeOrigin)> {
        self.modes.iter().zip(&self.origins)
    }
}

/// The embedded mode of that name.
fn embedded(name: &str) -> Option<Mode> {
    let (_, text) = EMBEDDED.iter().find(|(own, _)| *own == name)?;
    read(text, |_| None, &[]).ok()
}

fn fingerprint(settings: Option<(&str, &str)>, files: &[(String, String)]) -> String {
    let mut all = String::from(env!("CARGO_PKG_VERSION"));
    let own = settings.into_iter().chain(files.iter().map(|(file, text)| (file.as_str(), text.as_str())));
    for (name, text) in EMBEDDED.into_iter().chain(own) {
        all.push('\0');
        all.push_str(name);
        all.push('\0');
        all.push_str(text);
    }
    format!("{:016x}", hash(all.as_bytes()))
}

impl BrokenFile {
    fn new(file: &str, what: &str, text: &str, problems: Vec<Diagnostic>) -> Self {
        let line = |problem: &Diagnostic| {
            text.lines().nth(problem.location.line.saturating_sub(1)).unwrap_or_default().to_owned()
        };
        let problems = problems.into_iter().map(|problem| (problem.clone(), line(&problem))).collect();
        Self { file: file.to_owned(), what: what.to_owned(), problems, kept: false }
    }

    /// A file that could not be read at all.
    #[must_use]
    pub fn unreadable(file: &str, what: &str, why: &str) -> Self {
        Self::new(file, what, "", vec![Diagnostic::at(TOP, why.to_owned())])
    }

    /// The first problem in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let Self { file, what, problems, kept } = self;
        let rest = if *kept { "" } else { ", so it is left out" };
        match problems.first() {
            Some((problem, _)) => {
                let Location { line, column, .. } = problem.location;
                format!(
                    "`{file}` is not {what} ({line}:{column}: {}){rest}; run `modegate modes check`",
                    problem.message
                )
            }
            None => format!("`{file}` is not {what}"),
        }
    }
}

impl std::fmt::Display for BrokenFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "error: `{}` is not {}", self.file, self.what)?;
        for (Diagnostic { path, message, location }, line) in &self.problems {
            let path = if path.is_empty() { String::new() } else { format!("{path}: ") };
            let Location { line: number, column, width } = location;
            let gutter = " ".repeat(number.to_string().len());
            let before: String =
                line.chars().take(column.saturating_sub(1)).map(|c| if c == '\t' { c } else { ' ' }).collect();
            let width = (*width).min(line.chars().count().saturating_sub(column - 1)).max(1);
            writeln!(f, "  caused by: {path}{message}")?;
            writeln!(f, "  {gutter}--> {}:{number}:{column}", self.file)?;
            writeln!(f, "   {number} | {line}")?;
            writeln!(f, "   {gutter} | {before}{}", "^".repeat(width))?;
        }
        Ok(())
    }
}
