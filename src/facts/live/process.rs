//! A program that is given the event: run in its own process group, in time, with little to keep.

use super::super::{Answer, Run};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How much of what a program prints is kept.
const KEPT: usize = 64 * 1024;

/// How long a program's pipes may stay open when it has ended: its children may hold them.
const GRACE: Duration = Duration::from_millis(200);

/// What a program gets to know.
#[derive(Debug, Clone)]
pub(super) struct Surroundings<'a> {
    pub(super) event: &'a str,
    pub(super) name: &'a str,
    pub(super) tool: Option<&'a str>,
    pub(super) session: &'a str,
    pub(super) home: &'a Path,
    pub(super) cwd: &'a Path,
}

/// Runs a program; one that does not end in time is killed with its children.
pub(super) fn run(asked: &Run, around: &Surroundings<'_>, until: Instant) -> Answer {
    let name = asked.command.lines().next().unwrap_or_default();
    let until = until.min(Instant::now() + Duration::from_secs(asked.seconds.into()));
    let mut child = match command(asked, around).spawn() {
        Ok(child) => child,
        Err(error) => return Answer::Unknown(format!("`{name}` cannot be started: {error}")),
    };
    let group = Group::of(&child);
    let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
    feed(child.stdin.take(), asked.event.then(|| around.event.to_owned()));
    let status = wait(&mut child, until);
    if status.is_none() {
        group.kill();
        let _: std::io::Result<ExitStatus> = child.wait();
        let seconds = asked.seconds;
        return Answer::Unknown(format!("`{name}` did not end within {seconds} s, and was killed"));
    }
    let (out, err) = (received(&stdout), received(&stderr));
    if out.is_none() || err.is_none() {
        // It has left children behind that hold its pipes open.
        group.kill();
    }
    let text = |bytes: Option<Vec<u8>>| String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
    match status.and_then(|status| status.code()) {
        Some(code) => Answer::Ran { code, stdout: text(out), stderr: text(err) },
        None => Answer::Unknown(format!("`{name}` was ended by a signal")),
    }
}

fn command(asked: &Run, around: &Surroundings<'_>) -> Command {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut command = Command::new(shell);
    command.args([flag, &asked.command]).current_dir(around.cwd);
    command.env("HOOK_EVENT", around.name).env("HOOK_SESSION_ID", around.session);
    command.env("HOOK_TOOL_NAME", around.tool.unwrap_or_default()).env("CLAUDE_PROJECT_DIR", around.home);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}

/// Gives a program its input, in a thread: it may never read it.
fn feed(stdin: Option<std::process::ChildStdin>, input: Option<String>) {
    let (Some(mut stdin), Some(input)) = (stdin, input) else { return };
    std::thread::spawn(move || {
        let _: std::io::Result<()> = stdin.write_all(input.as_bytes());
    });
}

/// Reads a pipe to its end, and keeps the beginning.
fn reader(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let (mut kept, mut buffer) = (Vec::new(), vec![0; KEPT]);
        let mut pipe = pipe;
        while let Some(Ok(size @ 1..)) = pipe.as_mut().map(|pipe| pipe.read(&mut buffer)) {
            let room = KEPT - kept.len();
            kept.extend(buffer.iter().take(size.min(room)));
        }
        let _: Result<(), _> = sender.send(kept);
    });
    receiver
}

fn received(pipe: &Receiver<Vec<u8>>) -> Option<Vec<u8>> {
    pipe.recv_timeout(GRACE).ok()
}

fn wait(child: &mut Child, until: Instant) -> Option<ExitStatus> {
    let mut pause = Duration::from_micros(200);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < until => {}
            _ => return None,
        }
        std::thread::sleep(pause);
        pause = (pause * 3 / 2).min(Duration::from_millis(10));
    }
}

/// A program and its children.
struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl Group {
    #[cfg(unix)]
    fn of(child: &Child) -> Self {
        Self { leader: i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) }
    }

    #[cfg(unix)]
    fn kill(&self) {
        if let Some(leader) = self.leader {
            let _: rustix::io::Result<()> =
                rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }

    #[cfg(windows)]
    fn of(child: &Child) -> Self {
        let _ = child;
        Self {}
    }

    #[cfg(windows)]
    fn kill(&self) {
        let _ = self;
    }
}
