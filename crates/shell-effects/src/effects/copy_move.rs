//! `mv`, `cp`, `ln` and `rsync`.

use super::args::Args;
use super::target_path::TargetPath;
use super::walker::Walker;
use super::{Effect, Exclusion, file_programs, remote};
use crate::word::ShellWord;
use std::collections::BTreeSet;

const VALUED: &str = "-t --target-directory -S --suffix -m --mode -o --owner -g --group --backup -Z";

/// The work of looking for them.
const LOOKS: usize = 200;

pub(super) fn mv(walker: &mut Walker<'_>, rest: &[ShellWord]) {
    let args = Args::new(rest, VALUED);
    let (sources, target) = ends(&args);
    walker.change_all(Effect::Remove, &sources, true);
    if args.has("--exchange") {
        walker.change_all(Effect::Remove, target.as_ref(), true);
    }
    onto(walker, &sources, target.as_ref(), args.has("-T --no-target-directory"), true);
    // Paths below the new name are those below the old one.
    if let ([source], Some(target)) = (sources.as_slice(), &target)
        && let (TargetPath::Known { path: from, glob: false }, TargetPath::Known { path: to, glob: false }) =
            (walker.target(source), walker.target(target))
    {
        walker.state.disk.links.push((to, from));
    }
    let pairs = places(walker, &sources, target.as_ref());
    walker.state.disk.copies.extend(pairs);
}

pub(super) fn cp(walker: &mut Walker<'_>, name: &str, rest: &[ShellWord]) {
    let args = Args::new(rest, VALUED);
    if name.ends_with("install") && args.has("-d --directory") {
        let effect = if args.has("-m --mode -o --owner -g --group") { Effect::Mode } else { Effect::Write };
        return walker.change_all(effect, &args.operands, false);
    }
    let (sources, target) = ends(&args);
    let whole = args.has("-r -R -a --recursive --archive");
    match (sources.as_slice(), &target) {
        // `cp -rT x .` is `cp -r x/. .`.
        ([source], Some(target)) if whole && args.has("-T --no-target-directory") => content(walker, source, target),
        _ => onto(walker, &sources, target.as_ref(), args.has("-T --no-target-directory"), whole),
    }
    let pairs = places(walker, &sources, target.as_ref());
    if args.has("-l --link") {
        // What is written to the copy is written to the original.
        walker.change_all(Effect::Write, &sources, whole);
    }
    if args.has("-l --link -s --symbolic-link") {
        walker.state.disk.links.extend(pairs);
    } else {
        walker.state.disk.copies.extend(pairs);
    }
}

pub(super) fn ln(walker: &mut Walker<'_>, rest: &[ShellWord]) {
    let args = Args::new(rest, VALUED);
    let (mut sources, mut target) = ends(&args);
    if sources.is_empty()
        && let Some(only) = target.take()
    {
        // `ln -s /a/b` makes `./b`.
        sources.push(only);
        target = Some(ShellWord::new("."));
    }
    onto(walker, &sources, target.as_ref(), args.has("-T -n -h --no-dereference"), false);
    let pairs = places(walker, &sources, target.as_ref());
    walker.state.disk.links.extend(pairs);
}

/// Pairs of new and original paths.
fn places(walker: &Walker<'_>, sources: &[ShellWord], target: Option<&ShellWord>) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let Some(target) = target else { return pairs };
    for source in sources {
        // A link to `..` is not in the folder of its target.
        let is_dots = source
            .text()
            .is_some_and(|text| text.trim_end_matches('/').split('/').next_back().is_some_and(|name| name == ".."));
        let inner = if is_dots { None } else { Some(inside(target, source)) };
        for place in [target.clone()].into_iter().chain(inner) {
            if let (TargetPath::Known { path: to, .. }, TargetPath::Known { path: from, .. }) =
                (walker.target(source), walker.target(&place))
                && to != from
            {
                pairs.push((from, to));
            }
        }
    }
    pairs
}

pub(super) fn rsync(walker: &mut Walker<'_>, rest: &[ShellWord]) {
    let args = Args::of_program("rsync", rest);
    let Some((target, sources)) = args.operands.split_last() else { return };
    if args.has("-n --dry-run") || remote::copy(walker, target) {
        return;
    }
    if args.values("--exclude").filter_map(ShellWord::text).any(|path| walker.context.protected.is_covered_by(&path)) {
        walker.excludes = Exclusion::Protected;
    }
    file_programs::below(walker, Effect::Write, target);
    let sources: Vec<ShellWord> = sources.iter().map(remote::without_host).collect();
    onto(walker, &sources, Some(target), false, true);
    if args.has("--delete --delete-before --delete-after --delete-excluded --delete-during") {
        walker.change(Effect::Remove, target, true);
    }
    if args.has("--remove-source-files") {
        walker.change_all(Effect::Remove, &sources, true);
    }
    walker.excludes = Exclusion::Nothing;
}

fn ends(args: &Args) -> (Vec<ShellWord>, Option<ShellWord>) {
    match (args.value("-t --target-directory"), args.operands.split_last()) {
        (Some(target), _) => (args.operands.clone(), Some(target.clone())),
        (None, Some((target, sources))) => (sources.to_vec(), Some(target.clone())),
        (None, None) => (Vec::new(), None),
    }
}

/// Writes the target both as a file and as a folder, since either is possible.
pub(super) fn onto(
    walker: &mut Walker<'_>,
    sources: &[ShellWord],
    target: Option<&ShellWord>,
    replaces: bool,
    whole: bool,
) {
    let Some(target) = target else { return };
    walker.change(Effect::Write, target, replaces);
    for source in sources {
        walker.change(Effect::Write, &inside(target, source), whole);
        if whole && !replaces && source.prefix().ends_with(['/', '.']) {
            content(walker, source, target);
        }
    }
}

/// Copies what is in a folder into another one: `cp -r /tmp/x/. .`.
pub(super) fn content(walker: &mut Walker<'_>, source: &ShellWord, target: &ShellWord) {
    file_programs::below(walker, Effect::Write, target);
    brought_along(walker, source, target);
}

/// Writes the protected files that are in a folder whose content is copied.
fn brought_along(walker: &mut Walker<'_>, source: &ShellWord, target: &ShellWord) {
    let TargetPath::Known { path, glob: false } = walker.target(source) else { return };
    for folder in settings_folders(walker, target) {
        // Most copied folders have no settings.
        if !walker.budget.spend(LOOKS) || !walker.disk.exists(&format!("{path}/{folder}")) {
            continue;
        }
        for (name, changed) in walker.context.protected.files {
            if walker.disk.exists(&format!("{path}/{folder}/{name}")) {
                walker.change(Effect::Write, &target.child(&ShellWord::new(format!("{folder}/{changed}"))), false);
            }
        }
    }
}

/// The folders with settings in a target, as paths below it; the project and the home may be there, too.
fn settings_folders(walker: &Walker<'_>, target: &ShellWord) -> BTreeSet<String> {
    let protected = walker.context.protected.folder;
    let mut folders = BTreeSet::from([protected.to_owned()]);
    if let TargetPath::Known { path, glob: false } = walker.target(target) {
        let roots = [&walker.context.project, &walker.context.home].into_iter();
        let below = roots.filter_map(|root| root.strip_prefix(path.trim_end_matches('/'))?.strip_prefix('/'));
        folders.extend(below.map(|rest| format!("{}/{protected}", rest.trim_end_matches('/'))));
    }
    folders
}

/// The path of a source in a target folder.
fn inside(target: &ShellWord, source: &ShellWord) -> ShellWord {
    let name = source.text().map(|text| text.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned());
    target.child(&match name {
        Some(name) if source.has_glob() => ShellWord::glob(name),
        Some(name) => ShellWord::new(name),
        None => ShellWord::unknown(),
    })
}
