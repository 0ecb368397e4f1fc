//! `git`: what of it changes the working tree.

use super::args::Args;
use super::target::Target;
use super::walk::Walk;
use super::{Deed, moves};
use crate::shell::word::Word;

pub(super) fn run(walk: &mut Walk<'_>, rest: &[Word], input: &Word) {
    const VALUED: [&str; 7] = ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"];
    let (global, rest) = Args::leading(rest, &VALUED);
    let Some((command, rest)) = rest.split_first() else { return };
    let command = command.filled("");
    let aliases: Vec<Word> =
        global.values(&["-c"]).filter_map(|set| set.after(&format!("alias.{command}=!"))).collect();
    walk.aside(|walk| {
        for folder in global.values(&["-C", "--work-tree"]) {
            walk.enter(folder);
            // Where the folder is not there, git does nothing elsewhere.
            walk.state.elsewhere.clear();
        }
        if let Some(alias) = aliases.first() {
            return walk.code(alias, input);
        }
        subcommand(walk, &command, rest);
        if command == "apply" || command == "am" {
            let files = Args::new(rest, &["-p", "-C", "--directory", "--exclude", "--include"]).operands;
            let given: Vec<Word> = files.iter().filter_map(|file| walk.content(file)).collect();
            given.iter().chain(files.is_empty().then_some(input)).for_each(|patch| super::files::patched(walk, patch));
        }
        Word::default()
    });
}

fn subcommand(walk: &mut Walk<'_>, command: &str, rest: &[Word]) {
    let split = rest.iter().position(|word| word.is("--"));
    let (own, paths) = match split {
        Some(at) => (rest.get(..at).unwrap_or_default(), Some(rest.get(at + 1..).unwrap_or_default())),
        None => (rest, None),
    };
    let args = Args::new(own, &["-b", "-B", "-c", "-C", "-m", "-s", "--source", "-o", "--output", "-e", "--exclude"]);
    let out: Vec<Word> = args.values(&["-o", "--output"]).cloned().collect();
    let writes_out = ["archive", "diff", "log", "show", "format-patch", "bundle"].contains(&command);
    out.iter().filter(|_| writes_out).for_each(|file| walk.write(file));
    match command {
        "checkout" | "switch" | "checkout-index" => match paths {
            Some(paths) if args.operands.iter().all(|from| from.is("HEAD")) => set_back(walk, paths),
            Some(paths) => pathspecs(walk, Deed::Write, paths),
            None if args.has(&["-b", "-B", "-c", "-C", "--orphan"]) && args.operands.is_empty() => {}
            None => {
                if command == "checkout" {
                    match args.operands.as_slice() {
                        [only] => set_back(walk, std::slice::from_ref(only)),
                        several => pathspecs(walk, Deed::Write, several),
                    }
                }
                tree(walk, Deed::Write);
            }
        },
        "restore" if !args.has(&["-S", "--staged"]) || args.has(&["-W", "--worktree"]) => {
            let given = [args.operands.as_slice(), paths.unwrap_or_default()].concat();
            let elsewhere = args.has(&["-s", "--source"]);
            if elsewhere { pathspecs(walk, Deed::Write, &given) } else { set_back(walk, &given) }
        }
        "reset" if args.has(&["--hard", "--merge", "--keep"]) => tree(walk, Deed::Write),
        "clean" if !args.has(&["-n", "--dry-run"]) => {
            let given = [args.operands.as_slice(), paths.unwrap_or_default()].concat();
            if given.is_empty() {
                super::files::below(walk, Deed::Remove, &Word::new("."));
            }
            pathspecs(walk, Deed::Remove, &given);
        }
        "stash" => {
            let verb = args.operands.first().map(|verb| verb.filled("")).unwrap_or_default();
            // With all, what is ignored goes too.
            if args.has(&["-a", "--all"]) {
                walk.touch(Deed::Remove, &Word::new("."), true);
            }
            if !["list", "show", "drop", "clear", "create", "store", "branch"].contains(&verb.as_str()) {
                match paths {
                    Some(paths) => pathspecs(walk, Deed::Write, paths),
                    None => tree(walk, Deed::Write),
                }
            }
        }
        "rm" if !args.has(&["--cached", "-n", "--dry-run"]) => {
            pathspecs(walk, Deed::Remove, &[args.operands.as_slice(), paths.unwrap_or_default()].concat());
        }
        "mv" => moves::mv(walk, rest),
        "apply" if args.has(&["--check", "--stat", "--numstat", "--summary", "--cached"]) => {}
        "apply" | "am" | "merge" | "rebase" | "pull" | "cherry-pick" | "revert" | "bisect" | "read-tree"
        | "sparse-checkout" | "submodule" | "filter-branch" | "filter-repo" => tree(walk, Deed::Write),
        "clone" | "init" => {
            if let Some(folder) = args.operands.get(usize::from(command == "clone")) {
                super::files::below(walk, Deed::Write, folder);
            }
        }
        "worktree" => args.operands.iter().skip(1).take(1).for_each(|folder| walk.touch(Deed::Write, folder, true)),
        _ => {}
    }
}

/// Paths that git is given: a folder stands for all in it.
fn pathspecs(walk: &mut Walk<'_>, deed: Deed, words: &[Word]) {
    for word in words {
        let word = word.after(":/").map_or_else(
            || word.clone(),
            |below| {
                let mut whole = Word::new(walk.ground.project.as_str());
                whole.push("/");
                whole.extend(&below);
                whole
            },
        );
        walk.touch(deed, &word, true);
    }
}

/// Paths that are set back to what is staged. For all of the tree that is no more than what a checkout of a branch
/// does: git changes what differs, which is seldom what is asked about.
fn set_back(walk: &mut Walk<'_>, words: &[Word]) {
    let root = walk.ground.project.trim_end_matches('/').to_owned();
    let at_root = walk.state.folder.as_deref() == Some(root.as_str());
    for word in words {
        let whole = at_root && (word.is(".") || word.is("./")) || word.is(&root) || word.is(&format!("{root}/"));
        if whole {
            tree(walk, Deed::Write);
        } else {
            pathspecs(walk, Deed::Write, std::slice::from_ref(word));
        }
    }
}

/// Whatever in the working tree git finds to change.
fn tree(walk: &mut Walk<'_>, deed: Deed) {
    let target = match (root(walk), &walk.state.folder) {
        (Some(root), _) => Target::Below { prefix: format!("{root}/"), bare: root },
        (None, Some(folder)) => {
            Target::Below { prefix: format!("{}/", folder.trim_end_matches('/')), bare: folder.clone() }
        }
        (None, None) => Target::Unknown { bare: None },
    };
    walk.note(deed, target, true);
}

/// The working tree's root: it is at or above the folder, and of those that are known it is the project.
pub(super) fn root(walk: &Walk<'_>) -> Option<String> {
    let project = walk.ground.project.trim_end_matches('/');
    let folder = walk.state.folder.as_ref()?;
    let inside = folder.strip_prefix(project).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    inside.then(|| project.to_owned())
}
