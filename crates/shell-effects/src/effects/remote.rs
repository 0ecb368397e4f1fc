//! `ssh`, `scp` and `rsync`: what the line does on other machines.

use super::args::Args;
use super::walker::Walker;
use super::{Effect, ExecContext, FileEffect, ProgramCall, copy_move};
use crate::syntax::Unreadable;
use crate::word::ShellWord;

/// The user's folder on another machine, in which remote commands start.
const REMOTE_HOME: &str = "/~";

/// Options of ssh with a value.
const VALUED: &str = "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w";

/// The effects of a command line on other machines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemoteEffects {
    /// Changes to files there.
    pub changes: Vec<FileEffect>,
    /// The programs that run there.
    pub calls: Vec<ProgramCall>,
    /// Why a part could not be analysed.
    pub unreadable: Option<Unreadable>,
}

impl ExecContext {
    /// Where remote commands run: in a home folder, without a project.
    pub fn remote() -> Self {
        let home = || REMOTE_HOME.to_owned();
        Self { cwd: home(), home: home(), project: home(), ..Self::default() }
    }
}

/// `ssh [options] host command…`; without a command, the remote shell reads its commands from standard input.
pub(super) fn ssh(walker: &mut Walker<'_>, rest: &[ShellWord], input: &ShellWord) {
    let (args, rest) = Args::leading(rest, VALUED);
    let Some((host, rest)) = rest.split_first().filter(|_| !args.has("-G -Q -V -O")) else { return };
    let (_, command) = Args::leading(rest, VALUED);
    let (script, input) = match command {
        // At a terminal or with unknown input, the commands are not known.
        [] if input.text().is_none() => return,
        [] => (input.clone(), ShellWord::unknown()),
        command => (ShellWord::joined(command), input.clone()),
    };
    let name = host.filled("…");
    if is_this_machine(name.rsplit('@').next().unwrap_or_default()) {
        walker.in_ignored_subshell(|walker| {
            walker.state.enter(Some(walker.context.home.clone()));
            walker.code(&script, &input)
        });
    }
    walker.on_host(&name, |walker| {
        walker.code(&script, &input);
    });
}

fn is_this_machine(host: &str) -> bool {
    ["localhost", "127.0.0.1", "::1"].contains(&host)
}

/// `scp file… host:path`, and the same of `rsync`.
pub(super) fn copy(walker: &mut Walker<'_>, target: &ShellWord) -> bool {
    let text = target.prefix();
    let Some((host, _)) = text.split_once(':').filter(|(host, _)| !host.contains('/')) else { return false };
    let path = target.after(&format!("{host}:")).unwrap_or_default();
    let path = if path.pieces().is_empty() { ShellWord::new(".") } else { path };
    walker.on_host(host, |walker| walker.change(Effect::Write, &path, true));
    true
}

pub(super) fn scp(walker: &mut Walker<'_>, rest: &[ShellWord]) {
    let args = Args::of_program("scp", rest);
    if args.operands.last().is_some_and(|target| !copy(walker, target)) {
        fetched(walker, &args.operands, args.has("-r"));
    }
}

/// `docker cp box:x y`, `aws s3 cp s3://x y`: copies to this machine.
pub(super) fn fetch(walker: &mut Walker<'_>, name: &str, rest: &[ShellWord]) {
    let words: Vec<String> = rest.iter().take(2).map(ShellWord::prefix).collect();
    let verbs = match (name, words.iter().map(String::as_str).collect::<Vec<_>>().as_slice()) {
        ("docker" | "podman" | "nerdctl" | "kubectl" | "oc" | "gsutil", ["cp", ..]) => 1,
        ("aws", ["s3", "cp" | "mv" | "sync"]) | ("gcloud", ["storage", "cp"] | ["compute", "scp"]) => 2,
        _ => return,
    };
    let args = Args::new(rest.get(verbs..).unwrap_or_default(), "--exclude --include --profile --region -n -c --zone");
    fetched(walker, &args.operands, true);
    if let Some(target) = args.operands.last().filter(|target| args.has("--delete") && !target.prefix().contains(':')) {
        walker.change(Effect::Remove, target, true);
    }
}

/// The last operand is written, unless it is on another machine.
fn fetched(walker: &mut Walker<'_>, operands: &[ShellWord], whole: bool) {
    if let Some((target, sources)) = operands.split_last().filter(|(target, _)| !target.prefix().contains(':')) {
        let sources: Vec<ShellWord> = sources.iter().map(without_host).collect();
        copy_move::onto(walker, &sources, Some(target), false, whole);
    }
}

/// The path of `host:path`.
pub(super) fn without_host(path: &ShellWord) -> ShellWord {
    let text = path.prefix();
    let host = text.split_once(':').filter(|(host, _)| !host.contains('/'));
    host.and_then(|(host, _)| path.after(&format!("{host}:"))).unwrap_or_else(|| path.clone())
}

impl Walker<'_> {
    /// Walks commands that run on another machine, about whose files nothing is known.
    fn on_host(&mut self, host: &str, walk: impl FnOnce(&mut Walker<'_>)) {
        let context = ExecContext { protected: self.context.protected, ..ExecContext::remote() };
        let mut remote = self.on_another_machine(&context);
        walk(&mut remote);
        self.spend(&remote);
        let effects = remote.effects;
        let here = &mut self.effects.remote;
        let by = |by: &str| format!("ssh {host}: {by}");
        here.changes.extend(effects.changes.into_iter().map(|change| FileEffect { by: by(&change.by), ..change }));
        here.calls.extend(effects.calls);
        here.changes.extend(effects.remote.changes);
        here.calls.extend(effects.remote.calls);
        here.unreadable = here.unreadable.take().or(effects.unreadable).or(effects.remote.unreadable);
    }
}
