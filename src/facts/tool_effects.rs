//! The effects of a tool call, from its path or its command line.

mod commits;
mod lower_case;
mod mentions;
mod own_command;
mod protected;

pub(crate) use commits::StageListing;
pub(crate) use mentions::mentions;
pub(crate) use protected::PROTECTED_FILES;

use crate::facts::{EffectQuery, FoundEffect, PathList, Unknown};
use crate::host::event::{Event, EventKind};
use crate::host::paths::{given_path, lexical, with_slashes};
use serde_json::Value;
use shell_effects::{
    Certainty, DiskView, Effect, Exclusion, ExecContext, FileEffect, LineEffects, MOST_WORK, ProgramCall, ShellWord,
    TargetPath, Unreadable, effects, effects_on, has_name,
};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

/// Resolves links in paths; by default, paths are used as written.
pub(crate) trait ResolveLinks: DiskView {
    /// The path with links resolved, as far as it exists.
    fn real(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }

    /// Whether the path itself is a link.
    fn is_link(&self, _path: &str) -> bool {
        false
    }

    /// Whether names that differ only in upper and lower case are one file, as on macOS and Windows.
    fn ignores_case(&self) -> bool {
        false
    }
}

/// Uses paths as written.
pub(crate) struct AsWritten;

impl DiskView for AsWritten {}

impl ResolveLinks for AsWritten {}

/// The changes and program calls of a tool call.
#[derive(Debug, Default)]
pub(crate) struct ToolEffects {
    /// What its command line does; the changes are those of any tool.
    line: LineEffects,
    /// The calls that unknown programs among them may make, each with its place among the calls.
    possible_calls: OnceCell<Vec<(usize, ProgramCall)>>,
    unreadable: Option<String>,
    /// The folders of a call that is to come; none for one that is over.
    context: Option<ExecContext>,
    /// Files and folders of the project that a glob cannot match because they do not exist.
    absent: Vec<String>,
    /// The files that the call creates.
    created: Vec<String>,
    ignores_case: bool,
}

/// How many files are looked up, whether they are created; the others count as existing.
const MOST_CREATED: usize = 50;

/// The files and folders in `.claude` that many projects do not have.
const RARE: [&str; 5] = [
    ".claude/modegate.yaml",
    ".claude/gates.json",
    ".claude/hooks.toml",
    ".claude/modes",
    ".claude/settings.local.json",
];

impl ToolEffects {
    /// Reads the input of a tool call. Effects are those of a call that is yet to come; the programs of a command line
    /// are known after it too.
    pub(crate) fn from_event(event: &Event, context: ExecContext, links: &impl ResolveLinks) -> Self {
        let line = command_line(event).map(|command| {
            if is_to_come(event) { effects_on(&command, &context, links) } else { effects(&command, &context) }
        });
        Self::from_line(event, line.unwrap_or_default(), context, links)
    }

    /// As [`from_event`](Self::from_event), with the effects of its [`command_line`].
    pub(crate) fn from_line(
        event: &Event,
        mut line: LineEffects,
        context: ExecContext,
        links: &impl ResolveLinks,
    ) -> Self {
        // What a server gets is often no command line, but code or a query; only modegate's own files matter there.
        let is_for_shell =
            || !is_of_server(event) || command_line(event).is_some_and(|text| names_own_files(&text.to_lowercase()));
        let doubt = line.calls_in_code.iter().find(|call| changes_modegate(call));
        let doubt = doubt.map(|call| format!("code in it may run `{}`", shortened(&call.argv().join(" "))));
        let unreadable = line.unreadable.as_ref().filter(|_| is_for_shell()).map(ToString::to_string).or(doubt);
        let mut own = Self { unreadable, ignores_case: links.ignores_case(), ..Self::default() };
        let mut work = 0;
        for guess in guessed_lines(event) {
            if work > MOST_WORK {
                own.unreadable.get_or_insert_with(|| Unreadable::TooMuchWork.to_string());
                break;
            }
            let guessed = effects(&guess, &context);
            work += guessed.work;
            line.calls.extend(guessed.calls);
        }
        let is_to_come = is_to_come(event);
        let is_shell = matches!(event.tool(), Some("Bash" | "Monitor"));
        if !is_shell {
            let is_reading = is_to_come && event.tool().is_some_and(only_reads);
            line.changes = if is_reading { Vec::new() } else { written(event, &context, links) };
        }
        if is_shell && is_to_come {
            own.absent = absent(&line.changes, &context, links);
            let matched: Vec<FileEffect> =
                line.changes.iter().filter_map(|change| matched_program(change, links)).collect();
            for changes in line.scripts.iter_mut().map(|script| &mut script.changes).chain([&mut line.changes]) {
                let followed: Vec<FileEffect> = changes.iter().filter_map(|change| resolved(change, links)).collect();
                changes.extend(followed);
            }
            line.changes.extend(matched);
        } else {
            line.in_code.clear();
            line.bomb = false;
        }
        if is_to_come {
            own.created = created(&line.changes, &context, links);
            own.context = Some(context);
        }
        Self { line, ..own }
    }

    /// What a call that is to come changes.
    pub(crate) fn changes(&self) -> &[FileEffect] {
        if self.context.is_some() { &self.line.changes } else { &[] }
    }

    /// Finds the most certain effect on a protected path; the error says why the command cannot be read.
    pub(crate) fn touches<'q>(&self, asked: &'q EffectQuery) -> Result<Option<FoundEffect>, Unknown> {
        if self.line.bomb && asked.effects.contains(&Effect::Bomb) {
            let by = "a function that starts itself without end".to_owned();
            let path = "this machine".to_owned();
            return Ok(Some(FoundEffect { path, effect: Effect::Bomb, by, certainty: Certainty::Certain }));
        }
        let Some(context) = &self.context else { return Ok(None) };
        let remote;
        let of_remote;
        let (changes, context, unreadable) = if asked.remote {
            remote = ExecContext::remote();
            of_remote = self.line.remote.unreadable.as_ref().map(ToString::to_string);
            (&self.line.remote.changes, &remote, self.unreadable.as_ref().or(of_remote.as_ref()))
        } else {
            (&self.line.changes, context, self.unreadable.as_ref())
        };
        let ignores_case = self.ignores_case && !asked.remote;
        let lower = ignores_case.then(|| lower_case::context(context));
        let context = lower.as_ref().unwrap_or(context);
        // Of scripts, only what is certain counts.
        let of_scripts = self.line.scripts.iter().filter(|_| !asked.remote).flat_map(|script| &script.changes);
        let of_scripts = of_scripts.map(|change| (change, Certainty::Certain, Certainty::Certain));
        // Code may only print or compare a command line, so the user is asked about what it would remove.
        let most = |change: &FileEffect| match change.effect {
            Effect::Remove => Certainty::Possible,
            _ => Certainty::Certain,
        };
        let in_code = self.line.in_code.iter().filter(|_| !asked.remote);
        let in_code = in_code.map(|change| (change, Certainty::Possible, most(change)));
        let all = changes.iter().map(|change| (change, Certainty::Possible, Certainty::Certain));
        let all = all.chain(of_scripts).chain(in_code);
        let mut counting = all.filter(|(change, ..)| counts(change, asked)).peekable();
        // Most command lines change nothing, so the patterns are made only where they are needed.
        let is_needed = counting.peek().is_some();
        let cased = |path| if ignores_case { Cow::Owned(str::to_lowercase(path)) } else { Cow::Borrowed(path) };
        let patterns = |paths: &'q PathList| -> Vec<PathPattern<'q>> {
            let paths = paths.iter().filter(|_| is_needed);
            paths.map(|path| PathPattern::new(cased(path), context)).collect()
        };
        let (patterns, except) = (patterns(&asked.paths), patterns(&asked.except));
        let mut found: Option<FoundEffect> = None;
        for (written, least, most) in counting {
            let lower = ignores_case.then(|| lower_case::change(written));
            let change = lower.as_ref().unwrap_or(written);
            let known = known_path(change);
            // A path with a known beginning is represented by one below it.
            let one = match &change.target {
                TargetPath::Below { prefix, .. } => Some(format!("{prefix}any")),
                _ => known.map(str::to_owned),
            };
            if asked.existing && self.is_created(written) {
                continue;
            }
            let is_glob = matches!(change.target, TargetPath::Known { glob: true, .. });
            for (pattern, shown) in patterns.iter().zip(asked.paths.iter()) {
                if is_glob && self.absent.iter().any(|path| pattern.is_within(path)) {
                    continue;
                }
                let certainty = pattern.effect_on(change, context).filter(|certainty| *certainty >= least);
                let Some(certainty) = certainty.map(|certainty| certainty.min(most)) else { continue };
                if one.as_ref().is_some_and(|path| except.iter().any(|other| other.exempts(path, pattern, context))) {
                    continue;
                }
                let better = found.as_ref().is_none_or(|old| certainty > old.certainty);
                if better {
                    let path = shortened(known_path(written).unwrap_or(shown));
                    found = Some(FoundEffect { path, effect: change.effect, by: shortened(&change.by), certainty });
                }
            }
        }
        let anywhere = |change: &&FileEffect| change.target == TargetPath::Anywhere && counts(change, asked);
        match (unreadable, found) {
            (_, Some(found)) => Ok(Some(found)),
            (Some(why), None) => Err(Unknown::unreadable_command(why)),
            (None, None) => changes.iter().find(anywhere).map_or(Ok(None), |change| {
                let (by, verb) = (shortened(&change.by), change.effect.third_person());
                Err(format!("`{by}` {verb} everything in a folder that is not known").into())
            }),
        }
    }

    /// The files that a call which is over may have written.
    pub(crate) fn written_files(&self) -> Vec<&str> {
        let is_write = |change: &&FileEffect| change.effect == Effect::Write && !change.recursive;
        let changes = self.line.changes.iter().filter(|_| self.context.is_none());
        changes.filter(is_write).filter_map(known_path).collect()
    }

    fn is_created(&self, change: &FileEffect) -> bool {
        if change.excludes == Exclusion::Existing || keeps_content(&change.by) {
            return true;
        }
        let path = known_path(change).filter(|_| change.effect == Effect::Write && !change.recursive);
        path.is_some_and(|path| self.created.iter().any(|own| own == path))
    }

    /// The first program call that matches one of `wanted`, or may: an unknown program can run its arguments.
    pub(crate) fn calls(&self, wanted: &[String]) -> Option<String> {
        let found = self.line.calls.iter().find(|call| wanted.iter().any(|wanted| call.matches(wanted)));
        let found = found.or_else(|| self.possible_call(wanted));
        found.map(|call| shortened(&call.argv().join(" ")))
    }

    /// The first call of an unknown program that may run one of `wanted`.
    fn possible_call(&self, wanted: &[String]) -> Option<&ProgramCall> {
        let possible = self.possible_calls.get_or_init(|| {
            let calls = self.line.calls.iter().enumerate();
            calls.filter_map(|(index, call)| Some((index, call.possible_call()?))).collect()
        });
        // A single word is not enough: it is too often the name of something else.
        let is_long = |wanted: &str| wanted.split_whitespace().filter(|word| !word.starts_with('-')).count() > 1;
        let runs = |call: &ProgramCall| wanted.iter().any(|wanted| call.matches(wanted) && is_long(wanted));
        possible.iter().find(|(_, call)| runs(call)).and_then(|(index, _)| self.line.calls.get(*index))
    }

    /// The first call of modegate with other words than `except`. `is_copy` recognises the program under another name, in
    /// one of the folders that the line enters.
    pub(crate) fn own_calls(&self, except: &[String], is_copy: &dyn Fn(&str, &[String]) -> bool) -> Option<String> {
        let argv = |call: &ProgramCall| call.argv();
        let entered = self.line.calls.iter().map(argv).filter(|argv| argv.first().is_some_and(|name| name == "cd"));
        let folders: Vec<String> = entered.filter_map(|argv| argv.get(1).cloned()).collect();
        let counts = |call: &&ProgramCall, in_script: bool| {
            let Some(program) = call.argv().first().cloned() else { return false };
            let is_allowed = || except.iter().any(|words| own_command::is_command(&call.words, words));
            // Scripts call many programs, so only those with a path are compared.
            let may_be_copy = (!in_script || program.contains('/')) && may_be_own_command(call);
            (is_modegate(call) || may_be_copy && is_copy(&program, &folders)) && !is_allowed()
        };
        if let Some(call) = self.line.calls.iter().find(|call| counts(call, false)).or_else(|| self.harmful_call()) {
            return Some(shortened(&call.argv().join(" ")));
        }
        self.line.scripts.iter().find_map(|script| {
            let call = script.calls.iter().find(|call| counts(call, true))?;
            Some(shortened(&format!("{}` in `{}", call.argv().join(" "), script.by)))
        })
    }

    /// The call that finds modegate's processes for a `kill`, or removes its package.
    fn harmful_call(&self) -> Option<&ProgramCall> {
        const FINDERS: [&str; 4] = ["pgrep", "pidof", "Get-Process", "gps"];
        const KILLERS: [&str; 3] = ["kill", "Stop-Process", "spps"];
        const MANAGERS: [&str; 17] = [
            "npm", "pnpm", "yarn", "bun", "pip", "pip3", "pipx", "uv", "python", "brew", "cargo", "apt", "apt-get",
            "dnf", "mise", "scoop", "winget",
        ];
        const VERBS: [&str; 8] = ["uninstall", "remove", "rm", "un", "unlink", "r", "purge", "prune"];
        let is_any = |call: &ProgramCall, names: &[&str]| names.iter().any(|name| call.matches(name));
        let kills = || self.line.calls.iter().any(|call| is_any(call, &KILLERS));
        let is_package = |word: &&String| {
            let name = word.rsplit('/').next().unwrap_or_default();
            name.split('@').next() == Some("modegate")
        };
        let removes = |call: &ProgramCall| {
            let argv = call.argv();
            let mut words = argv.iter().skip(1);
            words.clone().any(|word| is_package(&word)) && words.any(|word| VERBS.contains(&word.as_str()))
        };
        // `grep x file` finds no process.
        let finds = |call: &ProgramCall| {
            let operands = || call.argv().iter().skip(1).filter(|word| !word.starts_with('-')).count();
            is_any(call, &FINDERS) || is_any(call, &["grep", "rg"]) && operands() == 1
        };
        // `grep '[m]odegate'` does not find itself. Few calls name it.
        self.line
            .calls
            .iter()
            .filter(|call| call.names("odegat"))
            .find(|call| finds(call) && kills() || is_any(call, &MANAGERS) && removes(call))
    }

    /// The first of `paths` that a script names without only reading; a script's other files are the project's business.
    pub(crate) fn mentioned_by_scripts(&self, paths: &PathList) -> Option<String> {
        self.line.scripts.iter().find_map(|script| {
            let path = mentions::mentioned_in_script(&script.text, paths)?;
            Some(shortened(&format!("{path}` in `{}", script.by)))
        })
    }

    /// The first call on another machine that matches one of `wanted`, or any if there are none.
    pub(crate) fn remote_calls(&self, wanted: &[String]) -> Result<Option<String>, Unknown> {
        let fits = |call: &&ProgramCall| wanted.is_empty() || wanted.iter().any(|wanted| call.matches(wanted));
        match (self.line.remote.calls.iter().find(fits), &self.line.remote.unreadable) {
            (Some(call), _) => Ok(Some(shortened(&call.argv().join(" ")))),
            (None, Some(why)) => Err(format!("the remote command cannot be read: {why}").into()),
            (None, None) => Ok(None),
        }
    }
}

fn is_to_come(event: &Event) -> bool {
    matches!(event.kind, Some(EventKind::PreToolUse | EventKind::PermissionRequest))
}

/// The command line of a tool call. Tools of MCP servers call it by several names, and may have its words in a list.
pub(crate) fn command_line(event: &Event) -> Option<Cow<'_, str>> {
    if !is_of_server(event) {
        return event.input("command").map(Cow::Borrowed);
    }
    let mut lines = Vec::new();
    command_lines(event.fields.get("tool_input")?, &mut lines);
    (!lines.is_empty()).then(|| Cow::Owned(lines.join("\n")))
}

/// Whether a text in lower case may name modegate or one of its files: a part of the name is enough.
fn names_own_files(text: &str) -> bool {
    ["claude", "modegate", "gate", "hooks", "settings", "cache.json"].iter().any(|name| text.contains(name))
}

fn is_of_server(event: &Event) -> bool {
    event.tool().is_some_and(|tool| tool.starts_with("mcp__"))
}

/// The commands of modegate; a test of the command line compares them.
pub(crate) const OWN_COMMANDS: [&str; 18] = [
    "cache",
    "check",
    "completions",
    "demo",
    "doctor",
    "help",
    "hook",
    "install",
    "leave",
    "log",
    "man",
    "modes",
    "record",
    "replay",
    "status",
    "trust",
    "uninstall",
    "why",
];

/// The names of fields with command lines.
const COMMANDS: [&str; 7] = ["command", "cmd", "script", "commandLine", "shell_command", "program", "executable"];

fn command_lines(value: &Value, lines: &mut Vec<String>) {
    const LISTS: [&str; 5] = ["args", "argv", "arguments", "command", "cmd"];
    match value {
        Value::Array(values) => values.iter().for_each(|value| command_lines(value, lines)),
        Value::Object(fields) => {
            let line = COMMANDS.iter().find_map(|name| fields.get(*name)?.as_str());
            let list = LISTS.iter().find_map(|name| fields.get(*name)?.as_array());
            let listed = || list.into_iter().flatten().filter_map(Value::as_str);
            let words: Vec<&str> = line.into_iter().chain(listed()).collect();
            lines.extend((!words.is_empty()).then(|| words.join(" ")));
            // A server without a shell passes `a b` as one word.
            if listed().any(|word| word.contains(char::is_whitespace)) {
                let quoted = listed().map(|word| format!("'{}'", word.replace('\'', r"'\''")));
                let words: Vec<String> = line.map(str::to_owned).into_iter().chain(quoted).collect();
                lines.push(words.join(" "));
            }
            let several = fields.get("commands").and_then(Value::as_array);
            lines.extend(several.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
            fields.values().for_each(|value| command_lines(value, lines));
        }
        _ => {}
    }
}

/// Lines that a tool of an MCP server may run: keys for a terminal, code, and the lines of a notebook for the shell.
fn guessed_lines(event: &Event) -> Vec<String> {
    const TYPED: [&str; 3] = ["keys", "text", "input"];
    if !is_of_server(event) || !event.tool().is_some_and(mentions::executes) {
        return Vec::new();
    }
    let typed = TYPED.iter().filter_map(|name| event.input(name)).filter(|text| text.contains(char::is_whitespace));
    let fields = event.fields.get("tool_input").and_then(Value::as_object);
    let is_code = |name: &str| name == "source" || name.ends_with("code");
    let code = fields.into_iter().flatten().filter(|(name, _)| is_code(name)).filter_map(|(_, code)| code.as_str());
    let of_code = code.flat_map(|code| {
        let shell = code.lines().filter_map(|line| line.trim_start().strip_prefix('!').map(str::to_owned));
        let interpreted = format!("python3 -c '{}'", code.replace('\'', r"'\''"));
        shell.chain(code.strip_prefix("%%bash").map(str::to_owned)).chain([interpreted])
    });
    typed.map(str::to_owned).chain(of_code).collect()
}

/// Whether a command changes the content of no file that exists: `cp -n a b`, `touch b`.
fn keeps_content(by: &str) -> bool {
    let mut words = by.split_whitespace();
    match words.next() {
        Some("touch") => !words.any(|word| word == "-r"),
        Some("cp") => words.any(|word| ["-n", "--no-clobber", "--update=none"].contains(&word)),
        _ => false,
    }
}

/// Whether a `chmod` takes nothing from the owner: `u+w`, `a+rX,go-w`, `755`.
fn only_adds(by: &str) -> bool {
    let keeps = |clause: &str| {
        let who = clause.trim_end_matches(|c| !"ugoa".contains(c));
        let who = who.get(..who.find(['+', '-', '=']).unwrap_or(who.len())).unwrap_or_default();
        match clause.get(who.len()..).unwrap_or_default().split_at_checked(1) {
            Some(("+", given)) => !given.contains(['-', '=']),
            Some(("-" | "=", _)) if !who.is_empty() && !who.contains(['u', 'a']) => true,
            Some(("=", given)) => ["rwx", "rwX"].contains(&given),
            _ => false,
        }
    };
    let adds = |mode: &str| {
        let number = mode.chars().all(|c| c.is_ascii_digit());
        if number { mode.trim_start_matches('0').starts_with('7') } else { mode.split(',').all(keeps) }
    };
    let words = by.split_whitespace().skip_while(|word| !word.ends_with("chmod")).skip(1);
    words.filter(|word| !word.starts_with('-')).take(1).any(adds)
}

/// Whether a tool only reads, by its name without the MCP server's.
fn only_reads(tool: &str) -> bool {
    const VERBS: [&str; 10] =
        ["read", "get", "list", "search", "find", "view", "stat", "info", "show", "directory_tree"];
    const CHANGES: [&str; 5] = ["replace", "write", "edit", "delete", "update"];
    // `git add` and `git commit` leave the files alone, too.
    const GIT: [&str; 6] = ["git_diff", "git_log", "git_show", "git_status", "git_add", "git_commit"];
    const TOOLS: &str = "Read Grep Glob LS LSP BashOutput KillShell ReadMcpResourceTool ListMcpResourcesTool";
    let own = tool.rsplit("__").next().unwrap_or(tool).to_lowercase();
    if CHANGES.iter().any(|verb| own.contains(verb)) {
        return false;
    }
    let is_any = |verbs: &[&str]| verbs.iter().any(|verb| own.starts_with(verb));
    // A comment on a file of a pull request: the file is that of the forge.
    let is_about = own.contains("comment") || own.contains("pull_request");
    has_name(TOOLS, tool) || tool.starts_with("mcp__") && (is_any(&VERBS) || is_any(&GIT) || is_about)
}

/// The file that a tool other than the shell writes.
fn written(event: &Event, context: &ExecContext, links: &impl ResolveLinks) -> Vec<FileEffect> {
    let Some(path) = event.path() else { return Vec::new() };
    let by = event.tool().unwrap_or_default();
    let path = given_path(path, Path::new(&context.cwd), Path::new(&context.home));
    // A tool may normalise `..` or leave it to the kernel, which follows links before it.
    let mut paths = vec![links.real(&lexical(&path)), lexical(&links.real(&path))];
    paths.dedup();
    let target = |path: PathBuf| TargetPath::Known { path: with_slashes(&path), glob: false };
    let change = |path| FileEffect {
        effect: Effect::Write,
        target: target(path),
        recursive: false,
        sure: true,
        excludes: Exclusion::Nothing,
        by: by.to_owned(),
    };
    paths.into_iter().map(change).collect()
}

/// The same change to the target of a link.
fn resolved(change: &FileEffect, links: &impl ResolveLinks) -> Option<FileEffect> {
    let TargetPath::Known { path, glob: false } = &change.target else { return None };
    let real = with_slashes(&links.real(Path::new(path)));
    let target = TargetPath::Known { path: real.clone(), glob: false };
    // Removing a link does not remove its target.
    let link = change.effect == Effect::Remove && links.is_link(path);
    (real != *path && !link).then(|| FileEffect { target, ..change.clone() })
}

/// The same change to modegate's program, if a glob matches it: `rm ~/.cargo/bin/*`.
fn matched_program(change: &FileEffect, links: &impl ResolveLinks) -> Option<FileEffect> {
    let TargetPath::Known { path, glob: true } = &change.target else { return None };
    let (folder, name) = path.rsplit_once('/').filter(|(folder, _)| folder.ends_with("/bin"))?;
    let program = format!("{folder}/modegate");
    let is_matched = fast_glob::glob_match(name, "modegate") && links.exists(&program);
    is_matched.then(|| FileEffect { target: TargetPath::Known { path: program, glob: false }, ..change.clone() })
}

/// Those of the rare files that do not exist, if a change has a glob.
fn absent(changes: &[FileEffect], context: &ExecContext, links: &impl ResolveLinks) -> Vec<String> {
    let has_glob = changes.iter().any(|change| matches!(change.target, TargetPath::Known { glob: true, .. }));
    let path = |name: &str| format!("{}/{name}", context.project.trim_end_matches('/'));
    if !has_glob || !links.exists(&path(".claude")) {
        return Vec::new();
    }
    RARE.iter().map(|name| path(name)).filter(|path| !links.exists(path)).collect()
}

/// The files that changes create, if the disk is known.
fn created(changes: &[FileEffect], context: &ExecContext, links: &impl ResolveLinks) -> Vec<String> {
    let written = changes.iter().filter(|change| change.effect == Effect::Write).filter_map(known_path);
    let mut written = written.take(MOST_CREATED).peekable();
    if written.peek().is_none() || !links.exists(&context.project) {
        return Vec::new();
    }
    written.filter(|path| !links.exists(path)).map(str::to_owned).collect()
}

/// The path of a change, if it is known and no glob.
fn known_path(change: &FileEffect) -> Option<&str> {
    match &change.target {
        TargetPath::Known { path, glob: false } => Some(path),
        _ => None,
    }
}

fn counts(change: &FileEffect, asked: &EffectQuery) -> bool {
    asked.effects.contains(&change.effect) && (change.recursive || !asked.recursive)
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 120;
    let masked = redact::masked_text(text);
    let plain: String = masked.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect();
    if text.chars().count() > LONGEST { format!("{plain}…") } else { plain }
}

/// What a protected path covers.
enum PathPattern<'q> {
    /// One path.
    Exact(Cow<'q, str>),
    /// A path and everything below it.
    Tree(Cow<'q, str>),
    /// Everything below a path.
    Children(Cow<'q, str>),
    /// A glob.
    Glob(Cow<'q, str>),
}

impl<'q> PathPattern<'q> {
    fn new(text: Cow<'q, str>, context: &ExecContext) -> Self {
        if text.starts_with("**/") {
            return Self::Glob(text);
        }
        let whole = match text.strip_prefix('~') {
            Some(rest) => Cow::Owned(format!("{}{rest}", context.home)),
            None if text.starts_with('/') => text,
            None => Cow::Owned(format!("{}/{text}", context.project)),
        };
        let root = |end: &str| whole.strip_suffix(end).filter(|root| !root.contains('*')).map(str::len);
        match (root("/**"), root("/*")) {
            (Some(length), _) => Self::Tree(beginning(whole, length)),
            (_, Some(length)) => Self::Children(beginning(whole, length)),
            _ if whole.contains(['*', '?', '[', '{']) => Self::Glob(whole),
            _ => {
                let length = whole.trim_end_matches('/').len();
                Self::Exact(beginning(whole, length))
            }
        }
    }

    /// Whether one of the paths matches that are changed with a folder above them.
    fn any_path(&self, matches: impl Fn(&str) -> bool) -> bool {
        match self {
            Self::Exact(path) | Self::Tree(path) => matches(path),
            Self::Children(root) => {
                ["any", ".any"].iter().any(|name| matches(&format!("{}/{name}", root.trim_end_matches('/'))))
            }
            Self::Glob(_) => false,
        }
    }

    /// Whether a path that matches this one does not count as `protected`. A folder around the project or the home, such
    /// as `/tmp`, does not exempt their own files from names that are protected everywhere, or there.
    fn exempts(&self, path: &str, protected: &Self, context: &ExecContext) -> bool {
        let is_own = |own: &String| matches!(self, Self::Tree(root) if below(root, own)) && below(own, path);
        let is_there = |own: &String| match protected {
            Self::Glob(_) | Self::Exact(_) => true,
            Self::Tree(root) | Self::Children(root) => below(own, root),
        };
        let own = [&context.project, &context.home];
        self.matches(path) && !own.into_iter().any(|own| is_own(own) && is_there(own))
    }

    fn effect_on(&self, change: &FileEffect, context: &ExecContext) -> Option<Certainty> {
        // Creating a folder, or a file in it, does not change the folder itself.
        if let (Self::Tree(root), TargetPath::Known { path, glob: false }) = (self, &change.target)
            && change.effect == Effect::Write
            && !change.recursive
            && root == path
        {
            return None;
        }
        if self.is_repaired(change, context) || change.excludes == Exclusion::Protected && self.is_in_settings() {
            return None;
        }
        // Changes to the path itself, or to a folder above it.
        if self.any_path(|path| change.hits(path) == Some(Certainty::Certain)) {
            return Some(Certainty::Certain);
        }
        // Changes below the path, or of a path that matches the glob.
        if let TargetPath::Known { path, glob } = &change.target {
            let fits = match self {
                Self::Tree(root) => below(root, path),
                Self::Glob(own) if *glob => {
                    // Everything in a folder goes with `folder/*`.
                    own.starts_with('/')
                        && path.strip_suffix("/*").is_some_and(|all| fast_glob::glob_match(own.as_ref(), all))
                }
                Self::Glob(own) => fast_glob::glob_match(own.as_ref(), path),
                _ => false,
            };
            if fits {
                return Some(Certainty::Certain);
            }
        }
        // `find / -name '*.conf'` may select something below the path.
        if let TargetPath::Known { path, glob: true } = &change.target
            && self.may_be_found(path)
        {
            return Some(Certainty::Possible);
        }
        // The known beginning is below the path.
        if let (Self::Tree(root), TargetPath::Below { prefix, .. }) = (self, &change.target)
            && prefix.strip_prefix(root.as_ref()).is_some_and(|rest| rest.starts_with('/'))
        {
            return Some(if change.sure { Certainty::Certain } else { Certainty::Possible });
        }
        self.any_path(|path| is_doubtful(change, path)).then_some(Certainty::Possible)
    }

    /// Whether a path matches.
    fn matches(&self, path: &str) -> bool {
        match self {
            Self::Exact(own) => own == path,
            Self::Tree(root) => below(root, path) || root == path,
            Self::Children(root) => below(root, path),
            Self::Glob(glob) => fast_glob::glob_match(glob.as_ref(), path),
        }
    }

    /// Whether it is a path, or something below it.
    fn is_within(&self, path: &str) -> bool {
        let (Self::Exact(own) | Self::Tree(own) | Self::Children(own) | Self::Glob(own)) = self;
        own == path || below(path, own)
    }

    /// Whether it is a path in a `.claude` folder.
    fn is_in_settings(&self) -> bool {
        let (Self::Exact(own) | Self::Tree(own) | Self::Children(own) | Self::Glob(own)) = self;
        own.contains("/.claude/") || own.ends_with("/.claude")
    }

    /// Whether the permissions of a whole project, or of the folders around the user's state, are repaired. That harms
    /// nothing in them.
    fn is_repaired(&self, change: &FileEffect, context: &ExecContext) -> bool {
        let (Self::Exact(own) | Self::Tree(own)) = self else { return false };
        let TargetPath::Known { path, .. } = &change.target else { return false };
        let is_project = *path == context.project || below(&context.project, path);
        let is_state = || below(&context.home, path) && path.contains("/.local") && own.contains("/.local");
        let to_user = || {
            let user = context.home.rsplit('/').next().unwrap_or_default();
            change.by.split([' ', ':']).any(|word| word == user)
        };
        match change.effect {
            Effect::Own if is_state() => to_user(),
            Effect::Mode if is_state() => only_adds(&change.by),
            Effect::Mode if !only_adds(&change.by) => false,
            Effect::Mode => is_project && own.contains("/.claude"),
            Effect::Own => is_project && own.contains("/.claude") && !path.contains("/.claude"),
            _ => false,
        }
    }

    /// Whether `find` may select something that matches: with a name in it, both names must fit.
    fn may_be_found(&self, found: &str) -> bool {
        let Some((start, names)) = found.split_once("/**") else { return false };
        let above = |root: &str| start == root || below(start, root);
        match self {
            Self::Tree(root) => above(root),
            Self::Glob(own) if own.starts_with('/') && !own.ends_with("/**") => {
                let folder = own.rsplit_once('/').map_or("", |(folder, _)| folder);
                let name = names.rsplit('/').next().unwrap_or_default();
                let likely = [own.replace('*', "any"), format!("{folder}/{name}")];
                let fits =
                    |path: &String| fast_glob::glob_match(found, path) && fast_glob::glob_match(own.as_ref(), path);
                above(folder) && likely.iter().any(fits)
            }
            _ => false,
        }
    }
}

/// The first bytes of a path; the root for none.
fn beginning(path: Cow<'_, str>, length: usize) -> Cow<'_, str> {
    match path {
        _ if length == 0 => Cow::Borrowed("/"),
        Cow::Borrowed(path) => Cow::Borrowed(path.get(..length).unwrap_or(path)),
        Cow::Owned(mut path) => {
            path.truncate(length);
            Cow::Owned(path)
        }
    }
}

/// Whether a call names modegate, also by a glob: `find .claude -name 'modeg*' -exec {} leave plan \;`.
fn is_modegate(call: &ProgramCall) -> bool {
    let found = || {
        let word = call.words.first().filter(|word| word.has_glob())?;
        let glob = word.filled("*");
        let name = glob.rsplit('/').next().filter(|name| name.contains(char::is_alphanumeric))?;
        (fast_glob::glob_match(name, "modegate") && may_be_own_command(call)).then_some(())
    };
    call.matches("modegate") || found().is_some()
}

/// Whether a call of modegate does more than read.
fn changes_modegate(call: &ProgramCall) -> bool {
    let reads = || call.argv().iter().skip(1).any(|word| has_name(PROTECTED_FILES.reading_commands, word));
    is_modegate(call) && may_be_own_command(call) && !reads()
}

/// Whether modegate would do something with the arguments of a call: they have the name of a command, or there are none, as
/// in calls of old hosts. Looking for a program in every folder of `PATH` takes longer than the rest of the analysis.
fn may_be_own_command(call: &ProgramCall) -> bool {
    let arguments = call.words.get(1..).unwrap_or_default();
    let is_command = |text: &str| OWN_COMMANDS.contains(&text);
    let may_be_command = |word: &ShellWord| word.has_glob() || word.text().is_none_or(|text| is_command(&text));
    arguments.is_empty() || arguments.iter().any(may_be_command)
}

/// Whether a possible effect is reported; most `rm "$x"` are not.
fn is_doubtful(change: &FileEffect, path: &str) -> bool {
    let at_or_above = |own: &str| {
        let children = own.strip_suffix("/*").is_some_and(|folder| below(folder, path));
        own == path || children || change.recursive && below(own, path)
    };
    match &change.target {
        // The path is affected if the variable is empty: `rm -rf "$DIR/"`.
        TargetPath::Below { bare, prefix } => {
            let removes = change.effect == Effect::Remove && change.excludes != Exclusion::Ignored;
            // The names in `.claude` are few: `tar xf x.tar -C .claude/hooks`.
            let unpacks = prefix.contains("/.claude/") && path.starts_with(prefix.as_str());
            removes && at_or_above(bare) || unpacks
        }
        TargetPath::Unknown { bare } => change.effect == Effect::Remove && bare.as_deref().is_some_and(at_or_above),
        TargetPath::Known { .. } | TargetPath::Anywhere => false,
    }
}

/// Whether a path is below a folder.
fn below(folder: &str, path: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/') && rest.len() > 1)
}
