//! The effects of a tool call, from its path or its command line.

mod commits;

pub(crate) use commits::StageListing;

use crate::event::{Event, EventKind};
use crate::facts::{EffectQuery, FoundEffect, Unknown};
use crate::paths::lexical;
use crate::shell::{
    Certainty, CommitMessage, Effect, ExecContext, FileEffect, ProgramCall, RemoteEffects, StagedFiles, TargetPath,
    effects,
};
use std::path::{Path, PathBuf};

/// Resolves links in paths; by default, paths are used as written.
pub(crate) trait ResolveLinks {
    /// The path with links resolved, as far as it exists.
    fn real(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }

    /// Whether the path itself is a link.
    fn is_link(&self, _path: &str) -> bool {
        false
    }
}

/// Uses paths as written.
pub(crate) struct AsWritten;

impl ResolveLinks for AsWritten {}

/// The changes and program calls of a tool call.
#[derive(Debug, Default)]
pub(crate) struct ToolEffects {
    changes: Vec<FileEffect>,
    calls: Vec<ProgramCall>,
    commits: Vec<CommitMessage>,
    staged: Vec<StagedFiles>,
    remote: RemoteEffects,
    bomb: bool,
    unreadable: Option<String>,
    context: Option<ExecContext>,
}

impl ToolEffects {
    /// Reads the input of a tool call. Effects are those of a call that is yet to come; the programs of a command line
    /// are known after it, too.
    pub(crate) fn of(event: &Event, context: ExecContext, links: &impl ResolveLinks) -> Self {
        let to_come = matches!(event.kind, Some(EventKind::PreToolUse | EventKind::PermissionRequest));
        let line = event.input("command").map(|command| effects(command, &context)).unwrap_or_default();
        let mut tool_effects = Self {
            calls: line.calls,
            commits: line.commits,
            staged: line.staged,
            remote: line.remote,
            unreadable: line.unreadable.map(|unreadable| unreadable.to_string()),
            ..Self::default()
        };
        if !to_come {
            return tool_effects;
        }
        match event.tool() {
            Some("Bash") => {
                let followed = line.changes.iter().filter_map(|change| resolved(change, links));
                tool_effects.changes = line.changes.iter().cloned().chain(followed).collect();
                tool_effects.bomb = line.bomb;
            }
            Some(tool) if only_reads(tool) => {}
            _ => tool_effects.changes = written(event, Path::new(&context.cwd), links),
        }
        tool_effects.context = Some(context);
        tool_effects
    }

    /// All changes.
    pub(crate) fn all(&self) -> &[FileEffect] {
        &self.changes
    }

    /// Finds the most certain effect on a protected path; the error says why the command cannot be read.
    pub(crate) fn touches(&self, asked: &EffectQuery) -> Result<Option<FoundEffect>, Unknown> {
        if self.bomb && asked.effects.contains(&Effect::Bomb) {
            let by = "a function that starts itself without end".to_owned();
            let path = "this machine".to_owned();
            return Ok(Some(FoundEffect { path, effect: Effect::Bomb, by, certainty: Certainty::Certain }));
        }
        let Some(context) = &self.context else { return Ok(None) };
        let elsewhere = ExecContext::remote();
        let unreadable = self.remote.unreadable.as_ref().map(ToString::to_string);
        let (changes, context, unreadable) = if asked.remote {
            (&self.remote.changes, &elsewhere, self.unreadable.as_ref().or(unreadable.as_ref()))
        } else {
            (&self.changes, context, self.unreadable.as_ref())
        };
        let patterns: Vec<PathPattern> = asked.paths.iter().map(|path| PathPattern::new(path, context)).collect();
        let except: Vec<PathPattern> = asked.except.iter().map(|path| PathPattern::new(path, context)).collect();
        let mut found: Option<FoundEffect> = None;
        for change in changes.iter().filter(|change| counts(change, asked)) {
            let known = match &change.target {
                TargetPath::Known { path, glob: false } => Some(path.as_str()),
                _ => None,
            };
            // A path with a known beginning is represented by one below it.
            let one = match &change.target {
                TargetPath::Below { prefix, .. } => Some(format!("{prefix}any")),
                _ => known.map(str::to_owned),
            };
            for (pattern, shown) in patterns.iter().zip(&asked.paths) {
                if one.as_ref().is_some_and(|path| except.iter().any(|other| other.exempts(path, pattern, context))) {
                    continue;
                }
                let Some(certainty) = pattern.effect_on(change, asked.strict, context) else { continue };
                let better = found.as_ref().is_none_or(|old| certainty > old.certainty);
                if better {
                    let path = shortened(known.unwrap_or(shown));
                    found = Some(FoundEffect { path, effect: change.effect, by: shortened(&change.by), certainty });
                }
            }
        }
        let anywhere = |change: &&FileEffect| change.target == TargetPath::Anywhere && counts(change, asked);
        match (unreadable, found) {
            (_, Some(found)) => Ok(Some(found)),
            _ if asked.strict => Ok(None),
            (Some(why), None) => Err(Unknown::unreadable_command(why)),
            (None, None) => changes.iter().find(anywhere).map_or(Ok(None), |change| {
                let (by, verb) = (shortened(&change.by), change.effect.third_person());
                Err(format!("`{by}` {verb} everything in a folder that is not known").into())
            }),
        }
    }

    /// The first program call that matches one of `wanted`.
    pub(crate) fn calls(&self, wanted: &[String]) -> Option<String> {
        let found = self.calls.iter().find(|call| wanted.iter().any(|wanted| call.matches(wanted)));
        found.map(|call| shortened(&call.argv().join(" ")))
    }

    /// The first call on another machine that matches one of `wanted`, or any if there are none.
    pub(crate) fn remote_calls(&self, wanted: &[String]) -> Result<Option<String>, Unknown> {
        let fits = |call: &&ProgramCall| wanted.is_empty() || wanted.iter().any(|wanted| call.matches(wanted));
        match (self.remote.calls.iter().find(fits), &self.remote.unreadable) {
            (Some(call), _) => Ok(Some(shortened(&call.argv().join(" ")))),
            (None, Some(why)) => Err(format!("the remote command cannot be read: {why}").into()),
            (None, None) => Ok(None),
        }
    }
}

/// Whether a `chmod` only adds permissions for the owner: `u+w`, `a+rX`, `755`.
fn only_adds(by: &str) -> bool {
    let adds = |mode: &str| {
        let number = mode.chars().all(|c| c.is_ascii_digit());
        if number {
            mode.trim_start_matches('0').starts_with('7')
        } else {
            mode.contains('+') && !mode.contains(['-', '='])
        }
    };
    let words = by.split_whitespace().skip_while(|word| !word.ends_with("chmod")).skip(1);
    words.filter(|word| !word.starts_with('-')).take(1).any(adds)
}

/// Whether a tool only reads, by its name without the MCP server's.
fn only_reads(tool: &str) -> bool {
    const VERBS: [&str; 10] =
        ["read", "get", "list", "search", "find", "view", "stat", "info", "show", "directory_tree"];
    let own = tool.rsplit("__").next().unwrap_or(tool).to_lowercase();
    matches!(tool, "Read" | "Grep" | "Glob" | "LS")
        || tool.starts_with("mcp__") && VERBS.iter().any(|verb| own.starts_with(verb))
}

/// The file that a tool other than the shell writes.
fn written(event: &Event, cwd: &Path, links: &impl ResolveLinks) -> Vec<FileEffect> {
    let Some(path) = event.path() else { return Vec::new() };
    let whole = links.real(&lexical(&cwd.join(path))).to_string_lossy().into_owned();
    let by = event.tool().unwrap_or_default().to_owned();
    let target = TargetPath::Known { path: whole, glob: false };
    vec![FileEffect { effect: Effect::Write, target, recursive: false, sure: true, by }]
}

/// The same change to the target of a link.
fn resolved(change: &FileEffect, links: &impl ResolveLinks) -> Option<FileEffect> {
    let TargetPath::Known { path, glob: false } = &change.target else { return None };
    let real = links.real(Path::new(path)).to_string_lossy().into_owned();
    let target = TargetPath::Known { path: real.clone(), glob: false };
    // Removing a link does not remove its target.
    let link = change.effect == Effect::Remove && links.is_link(path);
    (real != *path && !link).then(|| FileEffect { target, ..change.clone() })
}

fn counts(change: &FileEffect, asked: &EffectQuery) -> bool {
    let wanted = match change.effect {
        // Only strict gates care about paths that code names.
        Effect::Mention => asked.strict,
        effect => asked.effects.contains(&effect),
    };
    wanted && (change.recursive || !asked.recursive)
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 120;
    let masked = crate::redact::masked_text(text);
    let plain: String = masked.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect();
    if text.chars().count() > LONGEST { format!("{plain}…") } else { plain }
}

/// A protected path.
enum PathPattern {
    /// One path.
    Exact(String),
    /// A path and everything below it.
    Tree(String),
    /// Everything below a path.
    Children(String),
    /// A glob.
    Glob(String),
}

impl PathPattern {
    fn new(text: &str, context: &ExecContext) -> Self {
        if text.starts_with("**/") {
            return Self::Glob(text.to_owned());
        }
        let whole = match text.strip_prefix('~') {
            Some(rest) => format!("{}{rest}", context.home),
            None if text.starts_with('/') => text.to_owned(),
            None => format!("{}/{text}", context.project),
        };
        let tidy = |path: &str| if path.is_empty() { "/".to_owned() } else { path.to_owned() };
        match (whole.strip_suffix("/**"), whole.strip_suffix("/*")) {
            (Some(root), _) if !root.contains('*') => Self::Tree(tidy(root)),
            (_, Some(root)) if !root.contains('*') => Self::Children(tidy(root)),
            _ if whole.contains(['*', '?', '[', '{']) => Self::Glob(whole),
            _ => Self::Exact(tidy(whole.trim_end_matches('/'))),
        }
    }

    /// Whether a path matches.
    fn is(&self, path: &str) -> bool {
        match self {
            Self::Exact(own) => own == path,
            Self::Tree(root) => below(root, path) || root == path,
            Self::Children(root) => below(root, path),
            Self::Glob(glob) => fast_glob::glob_match(glob, path),
        }
    }

    /// Whether a path that matches this one does not count as `protected`. A folder around the project or the home, such
    /// as `/tmp`, does not exempt their own files from names that are protected everywhere.
    fn exempts(&self, path: &str, protected: &Self, context: &ExecContext) -> bool {
        let is_own = |own: &String| matches!(self, Self::Tree(root) if below(root, own)) && below(own, path);
        let is_everywhere = matches!(protected, Self::Glob(_));
        self.is(path) && !(is_everywhere && [&context.project, &context.home].into_iter().any(is_own))
    }

    fn effect_on(&self, change: &FileEffect, strict: bool, context: &ExecContext) -> Option<Certainty> {
        // Creating a folder, or a file in it, does not change the folder itself.
        if let (Self::Tree(root), TargetPath::Known { path, glob: false }) = (self, &change.target)
            && change.effect == Effect::Write
            && !change.recursive
            && root == path
        {
            return None;
        }
        // Repairing the permissions of a whole project is harmless.
        if let (true, Effect::Mode | Effect::Own, TargetPath::Known { path, .. }) =
            (strict, change.effect, &change.target)
            && !path.contains("/.claude")
            && (change.effect == Effect::Own || only_adds(&change.by))
        {
            return None;
        }
        // Changes to the path itself, or to a folder above it.
        let probes: Vec<String> = match self {
            Self::Exact(path) | Self::Tree(path) => vec![path.clone()],
            Self::Children(root) => {
                ["any", ".any"].map(|name| format!("{}/{name}", root.trim_end_matches('/'))).to_vec()
            }
            Self::Glob(_) => Vec::new(),
        };
        if probes.iter().any(|path| change.hits(path) == Some(Certainty::Certain)) {
            return Some(Certainty::Certain);
        }
        // Changes below the path, or of a path that matches the glob.
        if let TargetPath::Known { path, glob } = &change.target {
            let fits = match self {
                Self::Tree(root) => below(root, path),
                Self::Glob(own) => !glob && fast_glob::glob_match(own, path),
                _ => false,
            };
            if fits {
                return (change.effect != Effect::Mention || strict).then_some(Certainty::Certain);
            }
        }
        // `find / -name '*.conf'` may select something below the path.
        if let (Self::Tree(root), TargetPath::Known { path, glob: true }, false) = (self, &change.target, strict)
            && path.split_once("/**").is_some_and(|(start, _)| start == root || below(start, root))
        {
            return Some(Certainty::Possible);
        }
        // The known beginning is below the path.
        if let (Self::Tree(root), TargetPath::Below { prefix, .. }) = (self, &change.target)
            && prefix.strip_prefix(root.as_str()).is_some_and(|rest| rest.starts_with('/'))
        {
            return Some(if change.sure { Certainty::Certain } else { Certainty::Possible });
        }
        probes.iter().find_map(|path| doubt(change, path, strict, context))
    }
}

/// Whether a possible effect is reported; most `rm "$x"` are not.
fn doubt(change: &FileEffect, path: &str, strict: bool, context: &ExecContext) -> Option<Certainty> {
    // Strict gates protect files in the project; folders far above it are covered by others.
    let near = |own: &str| !strict || own == context.project || below(&context.project, own);
    let at_or_above = |own: &str| {
        let children = own.strip_suffix("/*").is_some_and(|folder| below(folder, path));
        near(own) && (own == path || children || change.recursive && below(own, path))
    };
    // A path that names `.claude` is meant; one that merely includes it is not.
    let named = |own: &str| own.contains("/.claude");
    let is_clean = change.by.starts_with("git clean")
        && !change.by.contains(".claude")
        && change.by.split_whitespace().any(|word| word.starts_with('-') && word.contains(['x', 'X']));
    let worth = match &change.target {
        // Code mentions it, or an earlier `cd` may have failed.
        TargetPath::Known { path: own, .. } => {
            let meant = match change.effect {
                Effect::Mention => near(own) || own == path,
                Effect::Remove => true,
                _ => named(own),
            };
            strict && meant && change.hits(path) == Some(Certainty::Possible)
        }
        // The path is affected if the variable is empty: `rm -rf "$DIR/"`.
        TargetPath::Below { bare, prefix } => {
            let removes = change.effect == Effect::Remove && !change.by.starts_with("git ") || is_clean;
            removes && at_or_above(bare) || strict && prefix.contains("/.claude/") && path.starts_with(prefix.as_str())
        }
        TargetPath::Unknown { bare } => change.effect == Effect::Remove && bare.as_deref().is_some_and(at_or_above),
        TargetPath::Anywhere => false,
    };
    worth.then_some(Certainty::Possible)
}

/// Whether a path is below a folder.
fn below(folder: &str, path: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/') && rest.len() > 1)
}
