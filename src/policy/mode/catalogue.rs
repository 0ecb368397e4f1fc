//! The modes of a project: the embedded ones, overridden by its own.

use super::broken_file::{BrokenFile, FileKind};
use super::imported;
use super::named_programs::{NamedProgram, named_programs};
use super::project_trust::ProjectTrust;
use super::read::ReadResult;
use super::{BASE, EMBEDDED, Gate, Mode, Worker, read, read_node, user_only};
use crate::host::event::EventKind;
use crate::host::paths::hash;
use crate::policy::settings::Settings;
use crate::policy::yaml::{FileProblem, Location, MOST_PROBLEMS, Node, did_you_mean};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// Every mode of a project, and its settings.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Catalogue {
    /// The modes; `base` first.
    pub modes: Vec<Mode>,
    /// The origin of each mode, in the same order.
    pub origins: Vec<ModeOrigin>,
    /// The project's settings.
    pub settings: Settings,
    /// Files with problems.
    pub broken: Vec<BrokenFile>,
    /// Files named like a gates file that have another format.
    pub ignored: Vec<String>,
    /// The files of `.claude/context`, by their path in it.
    pub contexts: Vec<String>,
    /// The hash of everything that this was made of.
    pub hash: String,
    /// The trust in the project's files.
    pub trust: ProjectTrust,
}

/// The project's files that a catalogue is made of.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ProjectSources {
    /// The text of `.claude/modegate.yaml`, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<String>,
    /// The user's own settings for this project, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<Settings>,
    /// The project's mode and gates files, each a name and a text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<(String, String)>,
    /// The files of `.claude/context`, by their path in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contexts: Vec<String>,
    /// Files that exist and could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<BrokenFile>,
}

impl ProjectSources {
    /// Builds the catalogue.
    pub fn catalogue(&self) -> Catalogue {
        let settings = self.settings.as_deref().map(|text| (SETTINGS, text));
        let mut catalogue = Catalogue::compose_over(self.user.as_ref(), settings, &self.files);
        catalogue.broken.extend(self.unreadable.iter().cloned());
        catalogue.contexts.clone_from(&self.contexts);
        catalogue
    }
}

/// The settings file, as messages name it.
pub const SETTINGS: &str = ".claude/modegate.yaml";

const GATES: &str = ".claude/gates.json";

/// The project's hooks file.
pub const HOOKS: &str = ".claude/hooks.toml";

/// The gates file of the plugin that calls modegate; gates and events of the project's own replace its.
pub const PLUGIN_GATES: &str = "$CLAUDE_PLUGIN_ROOT/hooks/gates.json";

/// The user's own hooks file; hooks of the project's with the same name replace its.
pub const USER_HOOKS: &str = "~/.claude/hooks.toml";

/// Where a mode comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ModeOrigin {
    Embedded,
    File(String),
}

impl Catalogue {
    /// What is known without loading a mode: the settings, the files with problems, the trust.
    pub fn without_modes(&self) -> Self {
        Self { modes: Vec::new(), origins: Vec::new(), ..self.clone() }
    }

    /// The host's events that gates of the modes can match.
    pub fn event_kinds(&self) -> impl Iterator<Item = EventKind> {
        let gates = self.modes.iter().flat_map(|mode| &mode.gates);
        gates.flat_map(|gate| gate.on.iter()).flat_map(|trigger| trigger.event.kinds())
    }

    /// Builds the catalogue of a project with these settings and mode files, each a name and a text.
    pub fn compose(settings: Option<(&str, &str)>, files: &[(String, String)]) -> Self {
        Self::compose_over(None, settings, files)
    }

    /// Builds the catalogue of a project over the user's own settings.
    fn compose_over(own: Option<&Settings>, settings: Option<(&str, &str)>, files: &[(String, String)]) -> Self {
        let user = own.cloned().unwrap_or_default();
        let mut catalogue = Self { hash: fingerprint(own, settings, files), settings: user.clone(), ..Self::default() };
        if let Some((file, text)) = settings {
            match Settings::read_over(text, &user) {
                Ok(settings) => catalogue.settings = settings,
                Err(problems) => catalogue.report(file, FileKind::Settings, text, problems),
            }
        }
        for ((name, text), result) in EMBEDDED.iter().zip(embedded_modes()) {
            match result {
                Ok((mode, _)) => catalogue.add(mode.clone(), ModeOrigin::Embedded),
                Err(problems) => catalogue.report(&format!("{name}.yaml"), FileKind::Mode, text, problems.clone()),
            }
        }
        let defaults = plugin_gates(files);
        let is_merged = merged_gates(files, defaults);
        let mut user_hooks = Vec::new();
        for (file, text) in files.iter().filter(|(file, _)| !(is_merged && file == PLUGIN_GATES)) {
            let others = if file == USER_HOOKS { catalogue.base_ids() } else { Vec::new() };
            let replaceable = if file == HOOKS { user_hooks.as_slice() } else { &[] };
            catalogue.add_file(file, text, (defaults, replaceable), &user);
            if file == USER_HOOKS {
                user_hooks = catalogue.base_ids();
                user_hooks.retain(|id| !others.contains(id));
            }
        }
        catalogue.drop_broken_flows(files);
        let base = embedded_mode(BASE).unwrap_or_default();
        if let Some((file, text)) = settings {
            let mut problems = catalogue.unknown_names(text);
            problems.extend(user_only::limit_settings(&mut catalogue.settings, &user, &base, text));
            catalogue.warn(file, FileKind::Settings, text, problems);
        }
        if let Some(mode) = catalogue.modes.iter_mut().find(|mode| mode.name == BASE) {
            user_only::keep_levels(&mut mode.gates, mode.level, &catalogue.settings, &user, &base);
        }
        catalogue.apply_settings();
        catalogue
    }

    fn report(&mut self, file: &str, kind: FileKind, text: &str, problems: Vec<FileProblem>) {
        self.add_broken(BrokenFile::new(file, kind, text, problems));
    }

    /// Reports the problems of a file that is still used.
    fn warn(&mut self, file: &str, kind: FileKind, text: &str, problems: Vec<FileProblem>) {
        if !problems.is_empty() {
            self.add_broken(BrokenFile { used: true, ..BrokenFile::new(file, kind, text, problems) });
        }
    }

    /// Keeps one report per file: a file with errors is ignored, whatever else is wrong with it.
    fn add_broken(&mut self, broken: BrokenFile) {
        match self.broken.iter_mut().find(|known| known.file == broken.file) {
            Some(known) => known.merge(broken),
            None => self.broken.push(broken),
        }
    }

    /// Adds a file; an imported one takes what it lacks from `defaults`, and may replace the gates that are `replaceable`.
    fn add_file(
        &mut self,
        file: &str,
        text: &str,
        (defaults, replaceable): (Option<&str>, &[String]),
        user: &Settings,
    ) {
        let known: Vec<&str> = self.settings.variables.keys().map(String::as_str).collect();
        let builtin = |name: &str| if name == BASE { self.mode(BASE).cloned() } else { embedded_mode(name) };
        let gates = matches!(file.rsplit('.').next(), Some("json" | "toml"));
        let kind = if gates { FileKind::Gates } else { FileKind::Mode };
        let read = if gates {
            let base = self.mode(BASE).cloned().unwrap_or_default();
            let taken = clashes(file, text, defaults.filter(|_| file == GATES), &base, replaceable);
            match imported::parse(file, text, defaults.filter(|_| file == GATES), &taken) {
                Ok(Some((node, warnings))) => match read_node(&node, builtin, &known) {
                    Ok((mode, others)) => Ok((mode, [warnings, others].concat())),
                    Err(problems) => Err([problems, warnings].concat()),
                },
                Ok(None) => return self.ignored.push(file.to_owned()),
                Err(problems) => Err(problems),
            }
        } else {
            read(text, builtin, &known)
        };
        let (mut mode, mut warnings) = match read {
            Ok(read) => read,
            Err(problems) => return self.report(file, kind, text, problems),
        };
        warnings.extend(user_only::unlisted_env(&mode, user));
        if mode.name == BASE
            && let Some(base) = embedded_mode(BASE)
        {
            warnings.extend(user_only::restore_gates(&mut mode, &base));
        }
        self.warn(file, kind, text, warnings);
        match self.file_of(&mode.name).filter(|_| mode.name != BASE) {
            Some(first) => {
                let message = format!("`{first}` already defines the mode `{}`", mode.name);
                self.report(file, kind, text, vec![FileProblem::at(Location::START, message)]);
            }
            // Imported gates are added to the base mode, which keeps its origin.
            None if gates => {
                self.modes.iter_mut().filter(|old| old.name == mode.name).for_each(|old| old.clone_from(&mode));
            }
            None => self.add(mode, ModeOrigin::File(file.to_owned())),
        }
    }

    fn base_ids(&self) -> Vec<String> {
        self.mode(BASE).into_iter().flat_map(|base| &base.gates).map(|gate| gate.id.to_string()).collect()
    }

    fn file_of(&self, name: &str) -> Option<String> {
        self.entries().find(|(mode, _)| mode.name == name).and_then(|(_, origin)| match origin {
            ModeOrigin::File(file) => Some(file.clone()),
            ModeOrigin::Embedded => None,
        })
    }

    /// Drops the project's modes whose steps cannot run; an embedded mode of that name is used instead.
    fn drop_broken_flows(&mut self, files: &[(String, String)]) {
        let mut broken = Vec::new();
        for (mode, origin) in self.entries() {
            let ModeOrigin::File(own) = origin else { continue };
            let Some(problem) = self.step_problem(mode) else { continue };
            let at = files.iter().position(|(file, _)| file == own);
            broken.extend(at.and_then(|at| Some((at, files.get(at)?, mode.name.clone(), problem))));
        }
        broken.sort_by_key(|(at, ..)| *at);
        for (_, (file, text), name, problem) in broken {
            self.report(file, FileKind::Mode, text, vec![problem]);
            if let Some(at) = self.modes.iter().position(|mode| mode.name == name) {
                self.modes.remove(at);
                self.origins.remove(at);
            }
            if let Some(shipped) = embedded_mode(&name) {
                self.add(shipped, ModeOrigin::Embedded);
            }
        }
    }

    /// The names in the settings that are neither a mode nor a gate.
    fn unknown_names(&self, text: &str) -> Vec<FileProblem> {
        let modes = self.modes.iter().map(|mode| mode.name.clone());
        let orders = self.modes.iter().map(|mode| format!("{}-keeps-its-order", mode.name));
        let gates = self.modes.iter().flat_map(|mode| mode.all_gates().map(|(_, gate)| gate.id.to_string()));
        let known: Vec<String> = modes.chain(orders).chain(gates).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let Ok(node) = Node::parse(text) else { return Vec::new() };
        let unknown_name = |named: &Node| {
            let name = named.text().filter(|name| !known.contains(name))?;
            let message = format!("no mode and no gate is called `{name}`{}", did_you_mean(name, &known));
            Some(FileProblem::at(named.location, message))
        };
        Settings::names(&node).into_iter().filter_map(unknown_name).take(MOST_PROBLEMS).collect()
    }

    /// A step whose mode does not exist, cannot be started, or waits for this mode.
    fn step_problem(&self, mode: &Mode) -> Option<FileProblem> {
        mode.phases.iter().find_map(|phase| {
            let Worker::Mode(name) = &phase.worker else { return None };
            let (message, hint) = match self.mode(name) {
                None => {
                    let names: Vec<&str> = self.modes.iter().map(|mode| mode.name.as_str()).collect();
                    (format!("no mode is called `{name}`{}", did_you_mean(name, &names)), None)
                }
                Some(step) if step.commands.is_empty() => {
                    (format!("`{name}` has no command, so nothing can start it"), None)
                }
                Some(_) => {
                    let way = self.way_back(name, &mode.name, &mut Vec::new())?;
                    let hint = format!("remove the step `{name}` here or the step back to `{}`", mode.name);
                    (format!("`{}` waits for itself: {} → {way}", mode.name, mode.name), Some(hint))
                }
            };
            let path = format!("phases.{}", phase.name);
            Some(FileProblem { path, hint, ..FileProblem::at(phase.location, message) })
        })
    }

    /// The steps that lead from one mode to another, as `a → b`.
    fn way_back<'a>(&'a self, from: &'a str, to: &str, seen: &mut Vec<&'a str>) -> Option<String> {
        if from == to {
            return Some(to.to_owned());
        }
        if seen.contains(&from) {
            return None;
        }
        seen.push(from);
        self.mode(from)?.phases.iter().find_map(|phase| match &phase.worker {
            Worker::Mode(next) => self.way_back(next, to, seen).map(|way| format!("{from} → {way}")),
            _ => None,
        })
    }

    /// Adds a mode, replacing one of its name.
    fn add(&mut self, mode: Mode, origin: ModeOrigin) {
        let old = self.modes.iter_mut().zip(&mut self.origins).find(|(old, _)| old.name == mode.name);
        if let Some((old, from)) = old {
            (*old, *from) = (mode, origin);
        } else {
            self.modes.push(mode);
            self.origins.push(origin);
        }
    }

    /// Applies the settings: drops disabled modes, also as steps of flows, and sets variables.
    fn apply_settings(&mut self) {
        let disabled = &self.settings.disable;
        let kept = std::mem::take(&mut self.modes).into_iter().zip(std::mem::take(&mut self.origins));
        (self.modes, self.origins) = kept.filter(|(mode, _)| !disabled.contains(&mode.name)).unzip();
        let names: Vec<String> = self.modes.iter().map(|mode| mode.name.clone()).collect();
        for mode in &mut self.modes {
            for (name, values) in &self.settings.variables {
                let own = mode.definitions.variables.remove(name).unwrap_or_default();
                mode.definitions.variables.insert(name.clone(), with_own(name, values, &own));
            }
            mode.allow_env(&self.settings.env);
            mode.phases.retain(|phase| !matches!(&phase.worker, Worker::Mode(step) if !names.contains(step)));
        }
    }

    /// The mode of that name.
    pub fn mode(&self, name: &str) -> Option<&Mode> {
        self.modes.iter().find(|mode| mode.name == name)
    }

    /// The programs and servers in files that are used only together with others, or not as they are, each with its file.
    pub fn doubtful_programs(&self, files: &[(String, String)]) -> Vec<(String, NamedProgram)> {
        let is_broken = |file: &str| self.broken.iter().any(|broken| broken.file == file && !broken.used);
        // A plugin's gates can lead to gates that no event has.
        let doubtful = files.iter().filter(|(file, _)| file == GATES || is_broken(file));
        let programs = |(file, text): &(String, String)| {
            named_programs(file, text).into_iter().map(|program| (file.clone(), program)).collect::<Vec<_>>()
        };
        doubtful.flat_map(programs).collect()
    }

    /// Every mode with its origin.
    pub fn entries(&self) -> impl Iterator<Item = (&Mode, &ModeOrigin)> {
        self.modes.iter().zip(&self.origins)
    }
}

/// Converts files to the gates of one base mode; `None` for a file in another format.
pub fn import(files: &[(String, String)]) -> Result<Option<Node>, Vec<FileProblem>> {
    let mut base = embedded_mode(BASE).unwrap_or_default();
    let mut all: Option<Node> = None;
    for (file, text) in files {
        let taken = clashes(file, text, None, &base, &[]);
        let Some((node, _)) = imported::parse(file, text, None, &taken)? else { return Ok(None) };
        base = read_node(&node, |_| Some(base.clone()), &[])?.0;
        all = Some(all.map_or_else(|| node.clone(), |before| imported::joined(&before, &node)));
    }
    Ok(all)
}

/// The ids of gates that an imported file would replace by other gates, except those that it may replace.
///
/// Its gates get other ids then, because names in one file say nothing about gates in another.
fn clashes(file: &str, text: &str, defaults: Option<&str>, base: &Mode, replaceable: &[String]) -> Vec<String> {
    let Ok(Some((node, _))) = imported::parse(file, text, defaults, &[]) else { return Vec::new() };
    let Ok((mode, _)) = read_node(&node, |_| Some(base.clone()), &[]) else { return Vec::new() };
    let content = |gate: &Gate| Gate { location: Location::default(), ..gate.clone() };
    let is_kept = |gate: &&Gate| mode.gates.iter().any(|new| content(new) == content(gate));
    let lost = base.gates.iter().filter(|gate| !is_kept(gate)).map(|gate| gate.id.to_string());
    lost.filter(|id| !replaceable.contains(id)).collect()
}

/// The text of the plugin's gates file, if it can be used.
fn plugin_gates(files: &[(String, String)]) -> Option<&str> {
    let (file, text) = files.iter().find(|(file, _)| file == PLUGIN_GATES)?;
    matches!(imported::parse(file, text, None, &[]), Ok(Some(_))).then_some(text)
}

/// Whether the project has a gates file that takes the plugin's in.
fn merged_gates(files: &[(String, String)], defaults: Option<&str>) -> bool {
    let own = files.iter().find(|(file, _)| file == GATES);
    let is_usable = |text: &str| matches!(imported::parse(GATES, text, defaults, &[]), Ok(Some(_)));
    defaults.is_some() && own.is_some_and(|(_, text)| is_usable(text))
}

pub fn embedded_mode(name: &str) -> Option<Mode> {
    let at = EMBEDDED.iter().position(|(own, _)| *own == name)?;
    embedded_modes().get(at)?.as_ref().ok().map(|(mode, _)| mode.clone())
}

/// The embedded modes, read once.
fn embedded_modes() -> &'static [ReadResult] {
    static EMBEDDED_MODES: OnceLock<Vec<ReadResult>> = OnceLock::new();
    EMBEDDED_MODES.get_or_init(|| EMBEDDED.iter().map(|(_, text)| read(text, |_| None, &[])).collect())
}

fn fingerprint(user: Option<&Settings>, settings: Option<(&str, &str)>, files: &[(String, String)]) -> String {
    let mut all = String::from(env!("CARGO_PKG_VERSION"));
    all.extend(user.and_then(|user| serde_json::to_string(user).ok()));
    let own = settings.into_iter().chain(files.iter().map(|(file, text)| (file.as_str(), text.as_str())));
    for (name, text) in EMBEDDED.into_iter().chain(own) {
        all.push('\0');
        all.push_str(name);
        all.push('\0');
        all.push_str(text);
    }
    format!("{:016x}", hash(all.as_bytes()))
}

/// The values of a variable in the settings, with `{name}` replaced by the mode's `own` values.
fn with_own(name: &str, values: &[String], own: &[String]) -> Vec<String> {
    let reference = format!("{{{name}}}");
    let value = |value: &String| if *value == reference { own.to_vec() } else { vec![value.clone()] };
    values.iter().flat_map(value).collect()
}
