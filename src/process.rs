//! Runs a program in its own process group, with a timeout and limited output.

use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// How much output of a program is shown, in bytes.
pub const SHOWN_OUTPUT: usize = 64 * 1024;

/// The time that a program's pipes may stay open after its end: its children may hold them.
const GRACE: Duration = Duration::from_millis(200);

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
    let pipes = || {
        Ok((reader(child.stdout.take(), limit)?, reader(child.stderr.take(), limit)?, feed(child.stdin.take(), input)?))
    };
    let pipes: io::Result<_> = pipes();
    let (stdout, stderr, ()) = match pipes {
        Ok(pipes) => pipes,
        Err(error) => {
            kill(&mut child);
            return Err(error);
        }
    };
    let Some(status) = wait(&mut child, until) else {
        kill(&mut child);
        return Ok(None);
    };
    let ended = [&stdout, &stderr].map(PipeReader::is_closed) == [true, true];
    // Ends children that it left behind.
    kill_group(&child);
    Ok(Some(ProcessOutput { code: status.code(), stdout: stdout.take(), stderr: stderr.take(), ended }))
}

/// Writes the input in a thread, since a program may never read it.
fn feed(stdin: Option<ChildStdin>, input: Option<Vec<u8>>) -> io::Result<()> {
    let (Some(mut stdin), Some(input)) = (stdin, input) else { return Ok(()) };
    let feeding = Builder::new().spawn(move || {
        let _: io::Result<()> = stdin.write_all(&input);
    });
    feeding.map(drop)
}

/// A pipe that is being read; its bytes are available while children still hold it open.
struct PipeReader {
    kept: Arc<Mutex<Vec<u8>>>,
    end: Receiver<()>,
}

impl PipeReader {
    fn is_closed(&self) -> bool {
        self.end.recv_timeout(GRACE).is_ok()
    }

    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Reads a pipe to its end; over `limit` bytes, keeps the beginning and the end.
fn reader(pipe: Option<impl Read + Send + 'static>, limit: usize) -> io::Result<PipeReader> {
    let (sender, end) = channel();
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keeping = Arc::clone(&kept);
    Builder::new().spawn(move || {
        let mut buffer = vec![0; SHOWN_OUTPUT];
        let mut pipe = pipe;
        while let Some(Ok(size @ 1..)) = pipe.as_mut().map(|pipe| pipe.read(&mut buffer)) {
            let mut kept = keeping.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(buffer.iter().take(size));
            // The cause is at the beginning and the error at the end, so the middle is dropped.
            let over = kept.len().saturating_sub(limit);
            if over > 0 {
                kept.drain(limit / 2..limit / 2 + over);
            }
        }
        let _: Result<(), _> = sender.send(());
    })?;
    Ok(PipeReader { kept, end })
}

#[expect(clippy::disallowed_methods, reason = "does I/O")]
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

/// Kills a program with its children.
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

    #[expect(clippy::disallowed_methods, reason = "the test runs a program")]
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
