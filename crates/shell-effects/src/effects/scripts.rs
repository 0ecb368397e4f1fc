//! Scripts on disk, read before they run: `bash x`, `./x`, `python x`, `make x`, `npm run x`.
//!
//! They are read one level deep. Only certain effects count, and what a project's scripts do to its own files is the
//! project's business. A script that cannot be read counts as harmless.

use super::args::Args;
use super::recipes::{recipes, variables};
use super::target_path::TargetPath;
use super::walker::Walker;
use super::{Effect, FileEffect, LineEffects, ProgramCall, code_calls, inline_code};
use crate::code_text::naming;
use crate::has_name;
use crate::programs::{PACKAGES, has_trait};
use crate::protected::ProtectedFiles;
use crate::reading::non_reading_text;
use crate::syntax::{CommandTree, CompoundKind};
use crate::word::{ShellWord, UNKNOWN};
use crate::work::WorkBudget;
use std::rc::Rc;

/// The most scripts that are read per line.
const MOST_SCRIPTS: usize = 8;
/// The work that all scripts of a line may take.
const MOST_SCRIPT_WORK: usize = 150_000;
/// Folders of installed programs and of files that are not regular.
const INSTALLED: [&str; 9] = ["/usr/", "/bin/", "/sbin/", "/lib", "/opt/", "/nix/", "/dev/", "/proc/", "/sys/"];
/// Commands of npm that run scripts of the same name.
const LIFECYCLE: &str = "test start stop restart install publish pack version";
/// Commands whose result decides whether the next command runs.
const TESTS: &str = "[ test [[ grep command which type";

/// The effects of a script that a line runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScriptEffects {
    /// The command that runs it.
    pub by: String,
    /// Certain changes outside the project, or of protected files.
    pub changes: Vec<FileEffect>,
    /// The programs it runs.
    pub calls: Vec<ProgramCall>,
    /// Its text without commands that only read, if it may name protected files.
    pub text: String,
}

/// What is left for the scripts of a line.
pub(super) struct ScriptLimits {
    count: usize,
    budget: Rc<WorkBudget>,
}

impl Default for ScriptLimits {
    fn default() -> Self {
        Self { count: MOST_SCRIPTS, budget: Rc::new(WorkBudget::new(MOST_SCRIPT_WORK)) }
    }
}

impl ScriptLimits {
    /// No script is read.
    pub fn none() -> Self {
        Self { count: 0, ..Self::default() }
    }
}

impl Walker<'_> {
    /// Walks a script of an interpreter; its output is not known.
    pub fn script_on_disk(&mut self, file: &ShellWord, kind: &str, arguments: &[ShellWord]) -> ShellWord {
        if let Some(text) = self.text_on_disk(file) {
            self.walk_script(kind, &text, file, arguments);
        }
        ShellWord::unknown()
    }

    /// Walks a script that an interpreter reads from standard input: `sh < x`, `cat x | sh`.
    pub fn script_on_input(&mut self, kind: &str, input: &ShellWord) {
        let files = if input.text().is_none() { self.reads.clone() } else { Vec::new() };
        for file in files {
            self.script_on_disk(&file, kind, &[]);
        }
    }

    /// Walks a program that is a script, by its first line.
    pub fn program_on_disk(&mut self, file: &ShellWord, arguments: &[ShellWord]) {
        let Some(text) = self.text_on_disk(file) else { return };
        let first = text.strip_prefix("#!").and_then(|text| text.lines().next()).unwrap_or("sh");
        let mut words = first.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
        let kind = words.find(|word| *word != "env" && !word.starts_with('-')).unwrap_or_default();
        let kind = kind.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        self.walk_script(if kind.ends_with("sh") { "sh" } else { kind }, &text, file, arguments);
    }

    /// Walks what `make`, `npm` and the like run by name.
    pub fn project_scripts(&mut self, name: &str, rest: &[ShellWord], input: &ShellWord) {
        match name {
            "make" | "gmake" => self.makefile(rest, input),
            // `npm pkg set scripts.build='…'`: the script counts as if it ran.
            "npm" if rest.first().is_some_and(|word| has_name("pkg set-script", &word.filled(""))) => {
                let lines = rest.iter().filter_map(|word| {
                    let text = word.text()?;
                    Some(text.split_once('=').map_or(text.as_str(), |(_, line)| line).to_owned())
                });
                lines.for_each(|line| self.walk_script("sh", &line, &ShellWord::new("sh"), &[]));
            }
            _ if has_trait(name, PACKAGES) => self.package_script(name, rest),
            _ => {}
        }
    }

    /// Walks commands that may not run.
    pub fn on_condition<T>(&mut self, is_conditional: bool, walk: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.conditions;
        self.conditions = outer.map(|count| count + usize::from(is_conditional));
        let result = walk(self);
        self.conditions = outer;
        result
    }

    /// Whether a change happens if the line runs. In a script, one under a condition may not, and then only changes count
    /// that no script has a reason for.
    pub fn is_certain(&self, effect: Effect, target: &TargetPath, recursive: bool) -> bool {
        if self.conditions.is_none_or(|count| count == 0) {
            return true;
        }
        let TargetPath::Known { path, .. } = target else { return false };
        let is_whole =
            path.matches('/').count() == 1 || [&self.context.home, &format!("{}/*", self.context.home)].contains(&path);
        self.context.protected.has(path)
            || effect == Effect::Device
            || effect == Effect::Remove && recursive && is_whole
    }

    /// The text of a file when the line uses it: what the line wrote, then what is on disk. The line may have added to
    /// the file, or made it from another one.
    pub fn text_on_disk(&mut self, file: &ShellWord) -> Option<String> {
        let TargetPath::Known { path, glob: false } = self.target(file) else { return None };
        // A script that writes another one could go on without end.
        self.scripts.count = self.scripts.count.checked_sub(1)?;
        let written = self.content(file).map(|text| text.filled(UNKNOWN));
        let is_own = |path: &String| !INSTALLED.iter().any(|folder| path.starts_with(folder));
        let paths = self.originals(&path).into_iter().filter(is_own);
        let on_disk = paths.filter_map(|path| self.disk.script(&path)).filter(|text| !text.contains('\0'));
        let texts: Vec<String> = written.into_iter().chain(on_disk).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// Walks a script and keeps its certain effects.
    fn walk_script(&mut self, kind: &str, text: &str, file: &ShellWord, arguments: &[ShellWord]) {
        let budget = Rc::clone(&self.scripts.budget);
        if !budget.spend(text.len()) {
            return;
        }
        let mut inner = Walker::new(self.context, self.disk);
        inner.budget = budget;
        inner.scripts = ScriptLimits::none();
        inner.state.folder.clone_from(&self.state.folder);
        inner.state.variables = Rc::clone(&self.state.variables);
        inner.state.give(arguments);
        inner.state.set("0", Some(vec![file.clone()]));
        inner.state.set("BASH_SOURCE", Some(vec![file.clone()]));
        inner.by.clone_from(&self.by);
        inner.conditions = Some(0);
        let plain = without_comments(text);
        if kind == "sh" {
            inner.text(text, &ShellWord::unknown());
        } else {
            // What is indented is in a function or under a condition.
            code_calls::strings_in_calls(&mut inner, kind, &at_the_margin(&plain));
            inner.on_condition(true, |inner| code_calls::strings_in_calls(inner, kind, &plain));
        }
        self.keep_certain(inner.effects, naming_protected(kind, &plain, self.context.protected));
    }

    fn keep_certain(&mut self, effects: LineEffects, text: String) {
        let of_script = |change: FileEffect| {
            let by = if change.by == self.by { change.by } else { format!("{}` in `{}", change.by, self.by) };
            FileEffect { by, ..change }
        };
        let changes = effects.changes.into_iter().filter(|change| self.counts(change)).map(of_script).collect();
        self.effects.bomb |= effects.bomb;
        let (by, calls) = (self.by.clone(), effects.calls);
        self.effects.scripts.push(ScriptEffects { by, changes, calls, text });
    }

    /// Whether a change of a script matters outside its project.
    fn counts(&self, change: &FileEffect) -> bool {
        let TargetPath::Known { path, .. } = &change.target else { return false };
        let below =
            |folder: &str| path.strip_prefix(folder.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'));
        let keys = ["/.ssh/", "/.gnupg/"].iter().any(|folder| path.contains(folder));
        let is_outside = match change.effect {
            Effect::Send => return false,
            // Settings of tools in the home folder.
            Effect::Write => !below(&self.context.home) && !below(&self.context.project),
            _ => !below(&self.context.project),
        };
        change.sure && !path.contains("**") && (self.context.protected.has(path) || keys || is_outside)
    }

    /// `make target…`, with what the targets depend on.
    fn makefile(&mut self, rest: &[ShellWord], input: &ShellWord) {
        let args = Args::new(rest, "-C -f -j -l -o -W --directory --file --makefile");
        if args.has("-n --dry-run --just-print -q --question -v --version -h --help") {
            return;
        }
        let folder = args.value("-C --directory").cloned().unwrap_or_else(|| ShellWord::new("."));
        let named = args.value("-f --file --makefile").cloned();
        let usual = || ["GNUmakefile", "makefile", "Makefile"].map(ShellWord::new).to_vec();
        let files = named.map_or_else(usual, |file| vec![file]);
        let left = self.scripts.count;
        let text = files.iter().find_map(|file| {
            // Names that are tried count as one.
            self.scripts.count = left;
            let is_whole = file.prefix().starts_with('/');
            self.text_on_disk(&if is_whole { file.clone() } else { folder.child(file) })
        });
        let is_input = files.iter().any(|file| file.is("-") || file.is("/dev/stdin"));
        let Some(text) = input.text().filter(|_| is_input).or(text) else { return };
        let words: Vec<String> = args.operands.iter().filter_map(ShellWord::text).collect();
        self.in_subshell(|walker| {
            walker.enter(&folder);
            let here = walker.state.folder.clone().unwrap_or_default();
            let builtin = [("CURDIR".to_owned(), here), ("RM".to_owned(), "rm -f".to_owned())];
            for (name, value) in builtin.into_iter().chain(variables(&text, &words)) {
                let value = Some(value).filter(|value| !value.contains('$'));
                walker.state.set(&name, value.map(|value| vec![ShellWord::new(value)]));
            }
            for line in recipes(&text, &words) {
                walker.walk_script("sh", &line, &ShellWord::new("sh"), &[]);
            }
            ShellWord::unknown()
        });
    }

    /// `npm run build`, `yarn build`, `npm test`, with what runs before and after it.
    fn package_script(&mut self, program: &str, rest: &[ShellWord]) {
        let args = Args::of_program(program, rest);
        let words: Vec<String> = args.operands.iter().filter_map(ShellWord::text).collect();
        let name = match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["run" | "run-script", name, ..] => *name,
            ["t" | "tst", ..] => "test",
            ["i" | "ci", ..] => "install",
            [name, ..] if program != "npm" || has_name(LIFECYCLE, name) => *name,
            _ => return,
        };
        let folder = args.value("-C --dir --prefix --cwd").cloned().unwrap_or_else(|| ShellWord::new("."));
        let Some(text) = self.text_on_disk(&folder.child(&ShellWord::new("package.json"))) else { return };
        // The file may have been written several times.
        let packages = serde_json::Deserializer::from_str(&text).into_iter::<serde_json::Value>();
        let packages: Vec<serde_json::Value> = packages.map_while(Result::ok).collect();
        let names = [format!("pre{name}"), name.to_owned(), format!("post{name}")];
        let line =
            |package: &'_ serde_json::Value, name: &str| Some(package.get("scripts")?.get(name)?.as_str()?.to_owned());
        let lines = packages.iter().flat_map(|package| names.iter().filter_map(move |name| line(package, name)));
        self.in_subshell(|walker| {
            walker.enter(&folder);
            lines.for_each(|line| walker.walk_script("sh", &line, &ShellWord::new("sh"), &[]));
            ShellWord::unknown()
        });
    }
}

/// Whether a command only decides whether the next one runs.
pub(super) fn is_test(tree: &CommandTree) -> bool {
    match tree {
        CommandTree::Command(command) => command.words.first().is_some_and(|name| has_name(TESTS, name)),
        CommandTree::Compound(group) => matches!(group.kind, CompoundKind::Branch | CompoundKind::Not),
        CommandTree::Pipeline(parts) => parts.last().is_some_and(is_test),
        CommandTree::List(_) | CommandTree::Function { .. } => false,
    }
}

/// The text that may name protected files and does more than read.
fn naming_protected(kind: &str, plain: &str, protected: &ProtectedFiles) -> String {
    let names = protected.is_named_in(&plain.to_lowercase());
    match kind {
        "sh" if names => non_reading_text(plain, protected, &WorkBudget::default()),
        _ if names && inline_code::may_write(kind, plain) => naming(kind, plain),
        _ => String::new(),
    }
}

/// The lines that are not comments.
fn without_comments(text: &str) -> String {
    let is_code = |line: &&str| !["#", "//", "*", "/*"].iter().any(|start| line.trim_start().starts_with(start));
    text.lines().filter(is_code).collect::<Vec<_>>().join("\n")
}

/// The lines that are not indented.
fn at_the_margin(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with([' ', '\t'])).collect::<Vec<_>>().join("\n")
}
