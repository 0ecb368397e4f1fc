//! `ssh`, `scp` and `rsync`: what the line does on other machines.

use super::args::Args;
use super::walker::Walker;
use super::{Effect, ExecContext, FileEffect, ProgramCall};
use crate::shell::syntax::Unreadable;
use crate::shell::word::ShellWord;

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
    #[must_use]
    pub fn remote() -> Self {
        let home = || REMOTE_HOME.to_owned();
        Self { cwd: home(), home: home(), project: home(), wrappers: Vec::new() }
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
        walker.unowned_aside(|walker| {
            walker.state.enter(Some(walker.context.home.clone()));
            walker.code(&script, &input)
        });
    }
    walker.elsewhere(&name, |walker| {
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
    walker.elsewhere(host, |walker| walker.change(Effect::Write, &path, true));
    true
}

pub(super) fn scp(walker: &mut Walker<'_>, rest: &[ShellWord]) {
    if let Some(target) = Args::new(rest, "-c -D -F -i -J -l -o -P -S -X").operands.last() {
        copy(walker, target);
    }
}

impl Walker<'_> {
    /// Walks commands that run on another machine, about whose files nothing is known.
    fn elsewhere(&mut self, host: &str, walk: impl FnOnce(&mut Walker<'_>)) {
        let context = ExecContext::remote();
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
