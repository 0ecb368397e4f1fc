//! Runs a program in its own process group, with a timeout and limited output.

#[cfg(unix)]
mod polling;
#[cfg(not(unix))]
mod threads;

#[cfg(unix)]
use polling::communicate;
#[cfg(not(unix))]
use threads::communicate;

use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
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

/// The part of the output that is kept: over `limit` bytes, its beginning and its end.
#[derive(Debug, Default)]
struct KeptOutput(Vec<u8>);

impl KeptOutput {
    /// Drops what is over the limit.
    fn shorten(&mut self, limit: usize) {
        // The cause is at the beginning and the error at the end, so the middle is dropped.
        let over = self.0.len().saturating_sub(limit);
        if over > 0 {
            self.0.drain(limit / 2..limit / 2 + over);
        }
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
