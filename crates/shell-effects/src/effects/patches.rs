//! `patch`, `git apply` and `git am`: writes to the files that a patch names, whether its text is on the line or on disk.

use super::Effect;
use super::args::Args;
use super::file_programs::below;
use super::git;
use super::walker::Walker;
use crate::quoting;
use crate::word::ShellWord;
use std::collections::BTreeSet;

/// The beginnings of lines that name a file.
const HEADERS: [&str; 7] = ["+++ ", "--- ", "rename from ", "rename to ", "copy to ", "Index: ", "diff --git "];
const PATCH: &str = "-i -o -d -p -D -F -B -r -V -Y -z -g --input --output --directory --strip --fuzz --ifdef --prefix \
    --reject-file --suffix";
const GIT: &str = "-p -C --directory --exclude --include --whitespace --patch-format --build-fake-ancestor";
/// Options of `git apply` with which it only prints, or changes only the index.
const CHECKS: &str = "--check --stat --numstat --summary --cached";
/// Options of `git am` that need no patch.
const GOES_ON: &str = "--continue -r --resolved --skip --abort --quit --retry --show-current-patch";

pub(super) fn patch(walker: &mut Walker<'_>, rest: &[ShellWord], input: &ShellWord) {
    let args = Args::new(rest, PATCH);
    let here = ShellWord::new(".");
    let folder = args.value("-d --directory").unwrap_or(&here);
    let target = args.value("-o --output").or(args.operands.first());
    if target.is_none() {
        below(walker, Effect::Write, folder);
    }
    let files: Vec<ShellWord> = args.values("-i --input").cloned().collect();
    let mut patches = texts(walker, &files, input);
    walker.in_subshell(|walker| {
        walker.enter(folder);
        if let Some(target) = target {
            walker.write(target);
            return ShellWord::default();
        }
        // `patch` enters its folder before it opens the file.
        if args.has("-d --directory") {
            patches.extend(files.iter().filter_map(|file| walker.text_on_disk(file)));
        }
        patched(walker, &patches);
        ShellWord::default()
    });
}

/// Walks `git apply` or `git am` in the current folder.
pub(super) fn git(walker: &mut Walker<'_>, command: &str, rest: &[ShellWord], input: &ShellWord) {
    let args = Args::new(rest, GIT);
    let is_idle = match command {
        "apply" => args.has(CHECKS) && !args.has("--apply"),
        _ => args.has(GOES_ON),
    };
    if is_idle {
        return;
    }
    let patches = texts(walker, &args.operands, input);
    // In a repository, names begin at its root.
    let root = git::root(walker).filter(|root| walker.state.folder.as_ref() != Some(root)).map(ShellWord::new);
    for folder in [ShellWord::new(".")].into_iter().chain(root) {
        let folder = args.value("--directory").map_or_else(|| folder.clone(), |below| folder.child(below));
        walker.in_subshell(|walker| {
            walker.enter(&folder);
            walker.state.other_folders.clear();
            patched(walker, &patches);
            ShellWord::default()
        });
    }
}

/// The texts that may be the patch: what the line wrote, what is on disk, and what standard input has.
fn texts(walker: &mut Walker<'_>, files: &[ShellWord], input: &ShellWord) -> Vec<String> {
    let mut texts = vec![input.filled("")];
    let read = walker.reads.clone();
    for file in files.iter().chain(&read) {
        texts.extend(walker.text_on_disk(file));
    }
    texts
}

/// Records writes to the files that patches name; one without names is not known, and may change the user's settings if
/// it is applied to the home folder.
fn patched(walker: &mut Walker<'_>, patches: &[String]) {
    if !walker.budget.spend(patches.iter().map(String::len).sum::<usize>() / 16) {
        return;
    }
    let names: BTreeSet<String> = patches.iter().flat_map(|patch| patch.lines()).filter_map(named).collect();
    // Folders at the beginning may be left out, as `-p` says.
    let paths = |name: &'_ String| {
        let starts = name.match_indices('/').map(|(at, _)| at + 1);
        std::iter::once(0).chain(starts).filter_map(|at| name.get(at..).map(str::to_owned)).collect::<Vec<_>>()
    };
    for path in names.iter().flat_map(paths).filter(|path| !path.is_empty()).collect::<BTreeSet<_>>() {
        walker.write(&ShellWord::new(path));
    }
    if names.is_empty() && is_around_home(walker) {
        let settings = ShellWord::new(format!("{}/{}", walker.context.home, walker.context.protected.folder));
        below(walker, Effect::Write, &settings);
    }
}

/// Whether the current folder is the user's home or one above it.
fn is_around_home(walker: &Walker<'_>) -> bool {
    let rest = |folder: &String| walker.context.home.strip_prefix(folder.trim_end_matches('/'));
    walker.state.folder.as_ref().and_then(rest).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The name of a file in a line of a patch.
fn named(line: &str) -> Option<String> {
    let (header, name) = HEADERS.iter().find_map(|header| Some((header, line.strip_prefix(header)?)))?;
    let name = name.split('\t').next().unwrap_or_default().trim();
    // `diff --git a/x b/x`, alone in patches of binary files.
    let name = if header.starts_with("diff") { name.rsplit(' ').next().unwrap_or_default() } else { name };
    // git writes unusual names as strings of C.
    let inner = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    let name = inner.map_or_else(|| name.to_owned(), quoting::ansi);
    (name != "/dev/null").then_some(name)
}
