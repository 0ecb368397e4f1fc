//! Runs a program in its own process group, with a timeout and limited output.

use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The size of the output that is kept.
const KEPT: usize = 64 * 1024;

/// The time that a program's pipes may stay open after its end: its children may hold them.
const GRACE: Duration = Duration::from_millis(200);

/// The exit code and output of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessOutput {
    /// Its exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Its output; of much output, the beginning and the end.
    pub stdout: String,
    /// Its errors; of many, the beginning and the end.
    pub stderr: String,
}

/// Runs a program to its end; `None` if it takes longer than `until` and is killed with its children.
pub fn run(command: &mut Command, input: Option<Vec<u8>>, until: Instant) -> io::Result<Option<ProcessOutput>> {
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.spawn()?;
    let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
    feed(child.stdin.take(), input);
    let Some(status) = wait(&mut child, until) else {
        kill_group(&child);
        let _: io::Result<()> = child.kill();
        let _: io::Result<ExitStatus> = child.wait();
        return Ok(None);
    };
    let _: [bool; 2] = [&stdout, &stderr].map(PipeReader::is_closed);
    // Ends children that it left behind.
    kill_group(&child);
    Ok(Some(ProcessOutput { code: status.code(), stdout: stdout.text(), stderr: stderr.text() }))
}

/// Writes the input in a thread, since a program may never read it.
fn feed(stdin: Option<ChildStdin>, input: Option<Vec<u8>>) {
    let (Some(mut stdin), Some(input)) = (stdin, input) else { return };
    std::thread::spawn(move || {
        let _: io::Result<()> = stdin.write_all(&input);
    });
}

/// A pipe that is being read; its text is available while children still hold it open.
struct PipeReader {
    kept: Arc<Mutex<Vec<u8>>>,
    end: Receiver<()>,
}

impl PipeReader {
    fn is_closed(&self) -> bool {
        self.end.recv_timeout(GRACE).is_ok()
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.kept.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

/// Reads a pipe to its end, and keeps the beginning and the end.
fn reader(pipe: Option<impl Read + Send + 'static>) -> PipeReader {
    let (sender, end) = channel();
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keeping = Arc::clone(&kept);
    std::thread::spawn(move || {
        let mut buffer = vec![0; KEPT];
        let mut pipe = pipe;
        while let Some(Ok(size @ 1..)) = pipe.as_mut().map(|pipe| pipe.read(&mut buffer)) {
            let mut kept = keeping.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(buffer.iter().take(size));
            // The cause is at the beginning and the error at the end, so the middle is dropped.
            let over = kept.len().saturating_sub(KEPT);
            if over > 0 {
                kept.drain(KEPT / 2..KEPT / 2 + over);
            }
        }
        let _: Result<(), _> = sender.send(());
    });
    PipeReader { kept, end }
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
    fn output(line: &str) -> String {
        let until = Instant::now() + Duration::from_secs(20);
        let ended = run(Command::new("sh").args(["-c", line]), None, until).expect("a shell").expect("an end");
        assert_eq!(ended.code, Some(0));
        ended.stdout
    }

    #[test]
    fn output_in_pieces_is_kept() {
        assert_eq!(output("echo one; sleep 0.1; echo two; sleep 0.1; echo three"), "one\ntwo\nthree\n");
    }

    #[test]
    fn long_output_keeps_its_beginning_and_end() {
        let text = output("echo first; head -c 300000 /dev/zero | tr '\\0' x; sleep 0.1; echo last");
        assert!(text.len() <= KEPT && text.starts_with("first\n") && text.ends_with("last\n"), "{}", text.len());
    }
}
