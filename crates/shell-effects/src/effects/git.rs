//! `git` commands that change the working tree.

use super::args::Args;
use super::find_expression::Selection;
use super::target_path::TargetPath;
use super::walker::Walker;
use super::{Effect, Exclusion, copy_move, git_code, git_index, patches};
use crate::word::ShellWord;

/// Options of git before its command, with a value.
const VALUED: &str = "-C -c --git-dir --work-tree --namespace --exec-path --config-env";

pub(super) fn run(walker: &mut Walker<'_>, rest: &[ShellWord], input: &ShellWord) {
    let (global, rest) = Args::leading(rest, VALUED);
    let Some((command, rest)) = rest.split_first() else { return };
    let command = command.filled("");
    let alias = global.values("-c").find_map(|set| set.after(&format!("alias.{command}=")));
    walker.in_subshell(|walker| {
        for folder in global.values("-C --work-tree") {
            if !walker.budget.spend(walker.state.folder.as_ref().map_or(1, String::len)) {
                break;
            }
            walker.enter(folder);
            // If the folder does not exist, git changes nothing.
            walker.state.other_folders.clear();
        }
        if let Some(alias) = &alias {
            return git_code::alias(walker, alias, rest, input);
        }
        git_code::run(walker, &global, &command, rest, input);
        match command.as_str() {
            "add" | "stage" => git_index::add(walker, rest),
            "commit" => git_index::commit(walker, rest, input),
            command => {
                walker.excludes = if rest.iter().any(|word| excludes_protected(walker, word)) {
                    Exclusion::Protected
                } else if cleans_ignored(walker, command, rest) {
                    Exclusion::Nothing
                } else {
                    Exclusion::Ignored
                };
                subcommand(walker, command, rest);
                walker.excludes = Exclusion::Nothing;
            }
        }
        if command == "apply" || command == "am" {
            patches::git(walker, &command, rest, input);
        }
        ShellWord::default()
    });
}

/// The output of `git ls-files` and `git rev-parse`.
pub(super) fn printed(walker: &mut Walker<'_>, rest: &[ShellWord]) -> ShellWord {
    let (global, rest) = Args::leading(rest, VALUED);
    match rest.split_first() {
        Some((verb, rest)) if verb.is("ls-files") => listed(walker, rest),
        Some((verb, rest)) if verb.is("rev-parse") => walker.in_subshell(|walker| {
            global.values("-C").for_each(|folder| walker.enter(folder));
            located(walker, rest).map_or_else(ShellWord::unknown, |path| ShellWord::new(format!("{path}\n")))
        }),
        _ => ShellWord::unknown(),
    }
}

/// The folder or file that `git rev-parse` looks for.
fn located(walker: &Walker<'_>, rest: &[ShellWord]) -> Option<String> {
    let root = root(walker)?;
    let word = rest.iter().find(|word| !word.prefix().starts_with("--path-format"))?.text()?;
    match word.as_str() {
        "--show-toplevel" => Some(root),
        "--git-dir" | "--absolute-git-dir" | "--git-common-dir" => Some(format!("{root}/.git")),
        "--git-path" => Some(format!("{root}/.git/{}", rest.last()?.text()?)),
        _ => None,
    }
}

/// The output of `git ls-files path`: the path, or files below it; without a path, every tracked file.
fn listed(walker: &mut Walker<'_>, rest: &[ShellWord]) -> ShellWord {
    let args = Args::new(rest, "-x --exclude -X --exclude-from --format");
    let is_part = args.has("-o --others -i --ignored -m --modified -d --deleted -u --unmerged -k --killed");
    match args.operands.as_slice() {
        [] if !is_part => walker.listed(Selection::All),
        [path] if !path.has_glob() && !path.filled("").contains(['*', ':']) => {
            let mut lines = path.clone();
            lines.push("\n");
            lines.extend(&path.child(&ShellWord::unknown()));
            lines
        }
        _ => ShellWord::unknown(),
    }
}

fn subcommand(walker: &mut Walker<'_>, command: &str, rest: &[ShellWord]) {
    let split = rest.iter().position(|word| word.is("--"));
    let (own, paths) = match split {
        Some(at) => (rest.get(..at).unwrap_or_default(), Some(rest.get(at + 1..).unwrap_or_default())),
        None => (rest, None),
    };
    let args = Args::new(own, "-b -B -c -C -m -s --source -o --output -e --exclude");
    let given = || [args.operands.as_slice(), paths.unwrap_or_default()].concat();
    if ["archive", "diff", "log", "show", "format-patch", "bundle"].contains(&command) {
        walker.change_all(Effect::Write, args.values("-o --output"), false);
    }
    match command {
        "checkout" | "switch" | "checkout-index" => match paths {
            Some(paths) if args.operands.iter().all(|from| from.is("HEAD")) => set_back(walker, paths),
            Some(paths) => pathspecs(walker, Effect::Write, paths),
            None if args.has("-b -B -c -C --orphan") && args.operands.is_empty() => {}
            None => {
                if command == "checkout" {
                    match args.operands.as_slice() {
                        [only] => set_back(walker, std::slice::from_ref(only)),
                        several => pathspecs(walker, Effect::Write, several),
                    }
                }
                tree(walker, Effect::Write);
            }
        },
        "restore" if !args.has("-S --staged") || args.has("-W --worktree") => {
            let is_from_source = args.has("-s --source");
            if is_from_source { pathspecs(walker, Effect::Write, &given()) } else { set_back(walker, &given()) }
        }
        "reset" if args.has("--hard --merge --keep") => tree(walker, Effect::Write),
        "clean" if !args.has("-n --dry-run") => {
            if given().is_empty() {
                super::file_programs::below(walker, Effect::Remove, &ShellWord::new("."));
            }
            pathspecs(walker, Effect::Remove, &given());
        }
        "stash" => {
            let verb = args.operands.first().map(|verb| verb.filled("")).unwrap_or_default();
            // `--all` removes ignored files, too.
            if args.has("-a --all") {
                walker.change(Effect::Remove, &ShellWord::new("."), true);
            }
            if !["list", "show", "drop", "clear", "create", "store", "branch"].contains(&verb.as_str()) {
                let named = args.operands.get(1..).filter(|_| verb == "push").unwrap_or_default();
                match (paths, named) {
                    (None, []) => tree(walker, Effect::Write),
                    (paths, named) => pathspecs(walker, Effect::Write, &[named, paths.unwrap_or_default()].concat()),
                }
            }
        }
        "rm" if !args.has("--cached -n --dry-run") => pathspecs(walker, Effect::Remove, &given()),
        "mv" => copy_move::mv(walker, rest),
        "apply" if args.has("--check --stat --numstat --summary --cached") => {}
        "apply" | "am" | "merge" | "rebase" | "pull" | "cherry-pick" | "revert" | "bisect" | "read-tree"
        | "sparse-checkout" | "submodule" | "filter-branch" | "filter-repo" => tree(walker, Effect::Write),
        "clone" | "init" => {
            if let Some(folder) = args.operands.get(usize::from(command == "clone")) {
                super::file_programs::below(walker, Effect::Write, folder);
            }
        }
        "worktree" => {
            walker.change_all(Effect::Write, args.operands.get(1), true);
        }
        _ => {}
    }
}

/// Whether it is a `git clean` that also removes ignored files, such as protected ones.
fn cleans_ignored(walker: &Walker<'_>, command: &str, rest: &[ShellWord]) -> bool {
    if command != "clean" {
        return false;
    }
    let args = Args::new(rest, "-e --exclude");
    let is_own = |pattern: &ShellWord| pattern.text().is_some_and(|text| walker.context.protected.is_covered_by(&text));
    // Outside of the project, more than this folder matters.
    let keeps_own = || root(walker).is_some() && args.values("-e --exclude").any(is_own);
    args.has("-x -X") && !keeps_own()
}

/// Whether a pathspec excludes the protected folder.
fn excludes_protected(walker: &Walker<'_>, pathspec: &ShellWord) -> bool {
    excluded(pathspec).and_then(|path| path.text()).is_some_and(|path| walker.context.protected.is_covered_by(&path))
}

/// The path that a pathspec excludes.
fn excluded(pathspec: &ShellWord) -> Option<ShellWord> {
    [":!:", ":!", ":^", ":(exclude)"].iter().find_map(|mark| pathspec.after(mark))
}

/// The paths that a pathspec with a pattern matches, or more; its `*` matches slashes, too.
fn glob(pathspec: &str) -> Option<String> {
    let path = pathspec.strip_prefix(":(glob)").unwrap_or(pathspec);
    let (before, _) = path.split_once('*').filter(|_| !path.starts_with(':'))?;
    let folder = before.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    let name = path.rsplit('/').next().unwrap_or(path);
    Some(format!("{folder}**/{name}"))
}

/// Changes pathspecs: a folder includes everything in it. With exclusions alone, everything else is meant.
fn pathspecs(walker: &mut Walker<'_>, effect: Effect, words: &[ShellWord]) {
    let excludes = words.iter().any(|word| excluded(word).is_some());
    if excludes && words.iter().all(|word| excluded(word).is_some()) && walker.excludes != Exclusion::Protected {
        return walker.change(effect, &ShellWord::new("."), true);
    }
    for word in words.iter().filter(|word| excluded(word).is_none()) {
        if walker.excludes == Exclusion::Protected && word.is(".") {
            tree(walker, effect);
            continue;
        }
        if let Some(glob) = word.text().and_then(|text| glob(&text)) {
            walker.change(effect, &ShellWord::glob(format!("./{glob}")), true);
            continue;
        }
        let top = word.after(":/").or_else(|| word.after(":(top)"));
        let word =
            top.map_or_else(|| word.clone(), |below| ShellWord::new(walker.context.project.as_str()).child(&below));
        walker.change(effect, &word, true);
    }
}

/// Restores paths from the index. Restoring the whole tree counts as little as checking out a branch: git changes only
/// files that differ.
fn set_back(walker: &mut Walker<'_>, words: &[ShellWord]) {
    let root = walker.context.project.trim_end_matches('/').to_owned();
    let at_root = walker.state.folder.as_deref() == Some(root.as_str());
    for word in words {
        let whole = at_root && (word.is(".") || word.is("./")) || word.is(&root) || word.is(&format!("{root}/"));
        if whole {
            tree(walker, Effect::Write);
        } else {
            pathspecs(walker, Effect::Write, std::slice::from_ref(word));
        }
    }
}

/// Changes unknown files of the working tree.
fn tree(walker: &mut Walker<'_>, effect: Effect) {
    let target = match (root(walker), &walker.state.folder) {
        (Some(root), _) => TargetPath::Below { prefix: format!("{root}/"), bare: root },
        (None, Some(folder)) => {
            TargetPath::Below { prefix: format!("{}/", folder.trim_end_matches('/')), bare: folder.clone() }
        }
        (None, None) => TargetPath::Unknown { bare: None },
    };
    walker.note(effect, target, true);
}

/// The root of the working tree, if the current folder is in the project.
pub(super) fn root(walker: &Walker<'_>) -> Option<String> {
    let project = walker.context.project.trim_end_matches('/');
    let folder = walker.state.folder.as_ref()?;
    let inside = folder.strip_prefix(project).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    inside.then(|| project.to_owned())
}
