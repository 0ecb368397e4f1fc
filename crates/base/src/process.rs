//! Runs a program in its own process group, with a timeout and limited output.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// How much output of a program is shown, in bytes.
pub const SHOWN_OUTPUT: usize = 64 * 1024;

/// The time that a program's pipes may stay open after its end: its children may hold them.
const GRACE: Duration = Duration::from_millis(200);

/// How long to wait before a program that has closed no pipe is looked at again.
const SHORTEST_PAUSE: Duration = Duration::from_micros(100);
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// The exit code and output of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessOutput {
    /// Its exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Its output; of output over the limit, the beginning and the end.
    pub stdout: Vec<u8>,
    /// Its errors, limited in the same way.
    pub stderr: Vec<u8>,
    /// Whether both were read to their end; children may keep them open.
    pub ended: bool,
}

impl ProcessOutput {
    /// Its output as text.
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Its errors as text.
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

/// Runs a program to its end; `None` if it takes longer than `until` and is killed with its children.
///
/// Of its output and of its errors, at most `limit` bytes each are kept.
pub fn run(
    command: &mut Command,
    input: Option<Vec<u8>>,
    until: Instant,
    limit: usize,
) -> io::Result<Option<ProcessOutput>> {
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.spawn()?;
    match communicate(&mut child, input, until, limit) {
        Ok(Some(output)) => {
            // Ends children that it left behind.
            kill_group(&child);
            Ok(Some(output))
        }
        other => {
            kill(&mut child);
            other
        }
    }
}

/// Writes the input of a program and reads its output until it ends; `None` if it takes longer than `until`.
///
/// Each pipe has a thread: a program may never read its input, and prints on both outputs.
fn communicate(
    child: &mut Child,
    input: Option<Vec<u8>>,
    until: Instant,
    limit: usize,
) -> io::Result<Option<ProcessOutput>> {
    let (closed, closings) = channel();
    let stdout = keep_output(child.stdout.take(), limit, closed.clone())?;
    let stderr = keep_output(child.stderr.take(), limit, closed.clone())?;
    write_input(child.stdin.take(), input)?;
    let (mut open, mut pause) = (2, SHORTEST_PAUSE);
    let status = loop {
        let left = until.saturating_duration_since(Instant::now());
        match child.try_wait()? {
            Some(status) => break status,
            None if left.is_zero() => return Ok(None),
            None => {}
        }
        // Most programs close their pipes when they end.
        pause = if closings.recv_timeout(pause.min(left)).is_ok() {
            open -= 1;
            SHORTEST_PAUSE
        } else {
            (pause * 3 / 2).min(LONGEST_PAUSE)
        };
    };
    let end = Instant::now() + GRACE;
    while open > 0 && closings.recv_timeout(end.saturating_duration_since(Instant::now())).is_ok() {
        open -= 1;
    }
    let [stdout, stderr] =
        [stdout, stderr].map(|kept| std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner)));
    Ok(Some(ProcessOutput { code: status.code(), stdout, stderr, ended: open == 0 }))
}

fn write_input(stdin: Option<ChildStdin>, input: Option<Vec<u8>>) -> io::Result<()> {
    let (Some(mut stdin), Some(input)) = (stdin, input) else { return Ok(()) };
    let writing = Builder::new().spawn(move || {
        let _: io::Result<()> = stdin.write_all(&input);
    });
    writing.map(drop)
}

/// Reads a pipe to its end and then tells `closed`; of more than `limit` bytes, the beginning and the end are kept.
fn keep_output(
    pipe: Option<impl Read + Send + 'static>,
    limit: usize,
    closed: Sender<()>,
) -> io::Result<Arc<Mutex<Vec<u8>>>> {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&kept);
    Builder::new().spawn(move || {
        let mut buffer = vec![0; SHOWN_OUTPUT];
        let mut pipe = pipe;
        while let Some(Ok(size @ 1..)) = pipe.as_mut().map(|pipe| pipe.read(&mut buffer)) {
            let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(buffer.get(..size).unwrap_or_default());
            // The cause is at the beginning and the error at the end, so the middle is dropped.
            let over = kept.len().saturating_sub(limit);
            if over > 0 {
                kept.drain(limit / 2..limit / 2 + over);
            }
        }
        let _: Result<(), _> = closed.send(());
    })?;
    Ok(kept)
}

fn kill(child: &mut Child) {
    kill_group(child);
    let _: io::Result<()> = child.kill();
    let _: io::Result<ExitStatus> = child.wait();
}

/// Kills a program and everything in its process group.
#[cfg(unix)]
fn kill_group(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(leader) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _: rustix::io::Result<()> = kill_process_group(leader, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill_group(_: &Child) {}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn output(line: &str, limit: usize) -> String {
        let until = Instant::now() + Duration::from_secs(20);
        let ended = run(Command::new("sh").args(["-c", line]), None, until, limit).expect("a shell").expect("an end");
        assert!(ended.code == Some(0) && ended.ended);
        ended.stdout_text()
    }

    #[test]
    fn output_in_pieces_is_kept() {
        let text = output("echo one; sleep 0.1; echo two; sleep 0.1; echo three", SHOWN_OUTPUT);
        assert_eq!(text, "one\ntwo\nthree\n");
    }

    #[test]
    fn long_output_keeps_its_beginning_and_end() {
        let line = "echo first; head -c 300000 /dev/zero | tr '\\0' x; sleep 0.1; echo last";
        assert_eq!(output(line, usize::MAX).len(), 300_011);
        let text = output(line, SHOWN_OUTPUT);
        assert!(
            text.len() <= SHOWN_OUTPUT && text.starts_with("first\n") && text.ends_with("last\n"),
            "{}",
            text.len()
        );
    }
}
