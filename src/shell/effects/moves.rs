//! Programs that take things from one place to another.

use super::args::Args;
use super::programs::each;
use super::target::Target;
use super::walk::Walk;
use super::{Deed, files};
use crate::shell::word::Word;

const VALUED: [&str; 12] =
    ["-t", "--target-directory", "-S", "--suffix", "-m", "--mode", "-o", "--owner", "-g", "--group", "--backup", "-Z"];

pub(super) fn mv(walk: &mut Walk<'_>, rest: &[Word]) {
    let args = Args::new(rest, &VALUED);
    let (sources, target) = ends(&args);
    each(walk, Deed::Remove, &sources, true);
    onto(walk, &sources, target.as_ref(), args.has(&["-T", "--no-target-directory"]), true);
    // What was reached by the old name is reached by the new one.
    if let ([source], Some(target)) = (sources.as_slice(), &target)
        && let (Target::Known { path: from, glob: false }, Target::Known { path: to, glob: false }) =
            (walk.target(source), walk.target(target))
    {
        walk.state.links.push((to, from));
    }
}

pub(super) fn cp(walk: &mut Walk<'_>, name: &str, rest: &[Word]) {
    let args = Args::new(rest, &VALUED);
    if name.ends_with("install") && args.has(&["-d", "--directory"]) {
        return each(walk, Deed::Write, &args.operands, false);
    }
    let (sources, target) = ends(&args);
    let whole = args.has(&["-r", "-R", "-a", "--recursive", "--archive"]);
    onto(walk, &sources, target.as_ref(), args.has(&["-T", "--no-target-directory"]), whole);
    let pairs = places(walk, &sources, target.as_ref());
    if args.has(&["-l", "--link", "-s", "--symbolic-link"]) {
        walk.state.links.extend(pairs);
    } else {
        walk.state.copies.extend(pairs);
    }
}

pub(super) fn ln(walk: &mut Walk<'_>, rest: &[Word]) {
    let args = Args::new(rest, &VALUED);
    let (mut sources, mut target) = ends(&args);
    if sources.is_empty()
        && let Some(only) = target.take()
    {
        // `ln -s /a/b` makes `./b`.
        sources.push(only);
        target = Some(Word::new("."));
    }
    onto(walk, &sources, target.as_ref(), args.has(&["-T", "-n", "-h", "--no-dereference"]), false);
    let pairs = places(walk, &sources, target.as_ref());
    walk.state.links.extend(pairs);
}

/// Where things are found under another name, each with what it was: a path through a link is seen for what it is.
fn places(walk: &Walk<'_>, sources: &[Word], target: Option<&Word>) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let Some(target) = target else { return pairs };
    for source in sources {
        for place in [target.clone(), inside(target, source)] {
            if let (Target::Known { path: to, .. }, Target::Known { path: from, .. }) =
                (walk.target(source), walk.target(&place))
                && to != from
            {
                pairs.push((from, to));
            }
        }
    }
    pairs
}

pub(super) fn rsync(walk: &mut Walk<'_>, rest: &[Word]) {
    let args =
        Args::new(rest, &["-e", "--rsh", "--exclude", "--include", "--filter", "-f", "--files-from", "--log-file"]);
    let Some((target, sources)) = args.operands.split_last() else { return };
    if args.has(&["-n", "--dry-run"]) || target.prefix().split('/').next().is_some_and(|host| host.contains(':')) {
        return;
    }
    files::below(walk, Deed::Write, target);
    onto(walk, sources, Some(target), false, true);
    if args.has(&["--delete", "--delete-before", "--delete-after", "--delete-excluded", "--delete-during"]) {
        walk.touch(Deed::Remove, target, true);
    }
    if args.has(&["--remove-source-files"]) {
        each(walk, Deed::Remove, sources, true);
    }
}

fn ends(args: &Args) -> (Vec<Word>, Option<Word>) {
    match (args.value(&["-t", "--target-directory"]), args.operands.split_last()) {
        (Some(target), _) => (args.operands.clone(), Some(target.clone())),
        (None, Some((target, sources))) => (sources.to_vec(), Some(target.clone())),
        (None, None) => (Vec::new(), None),
    }
}

/// Whether the target is a folder cannot be told: both what that would mean and what it would not is written.
fn onto(walk: &mut Walk<'_>, sources: &[Word], target: Option<&Word>, replaces: bool, whole: bool) {
    let Some(target) = target else { return };
    walk.touch(Deed::Write, target, replaces);
    for source in sources {
        walk.touch(Deed::Write, &inside(target, source), whole);
        if whole && !replaces && source.prefix().ends_with(['/', '.']) {
            files::below(walk, Deed::Write, target);
        }
    }
}

/// A source's place in a target that is a folder.
fn inside(target: &Word, source: &Word) -> Word {
    let mut inside = target.clone();
    inside.push("/");
    match source.text() {
        Some(text) => {
            let name = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            if source.has_glob() { inside.push_glob(name) } else { inside.push(name) }
        }
        None => inside.push_hole(),
    }
    inside
}
