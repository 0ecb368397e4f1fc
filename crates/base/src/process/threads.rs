//! Talks to a program with a thread per pipe, where pipes cannot be polled.

use super::{GRACE, KeptOutput, ProcessOutput, SHOWN_OUTPUT};
use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, ExitStatus};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Writes the input of a program and reads its output until it ends; `None` if it takes longer than `until`.
pub(super) fn communicate(
    child: &mut Child,
    input: Option<Vec<u8>>,
    until: Instant,
    limit: usize,
) -> io::Result<Option<ProcessOutput>> {
    let (stdout, stderr) = (reader(child.stdout.take(), limit)?, reader(child.stderr.take(), limit)?);
    feed(child.stdin.take(), input)?;
    let Some(status) = wait(child, until) else { return Ok(None) };
    let ended = [&stdout, &stderr].map(PipeReader::is_closed) == [true, true];
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
    kept: Arc<Mutex<KeptOutput>>,
    end: Receiver<()>,
}

impl PipeReader {
    fn is_closed(&self) -> bool {
        self.end.recv_timeout(GRACE).is_ok()
    }

    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner).0)
    }
}

/// Reads a pipe to its end; over `limit` bytes, keeps the beginning and the end.
fn reader(pipe: Option<impl Read + Send + 'static>, limit: usize) -> io::Result<PipeReader> {
    let (sender, end) = channel();
    let kept = Arc::new(Mutex::new(KeptOutput::default()));
    let keeping = Arc::clone(&kept);
    Builder::new().spawn(move || {
        let mut buffer = vec![0; SHOWN_OUTPUT];
        let mut pipe = pipe;
        while let Some(Ok(size @ 1..)) = pipe.as_mut().map(|pipe| pipe.read(&mut buffer)) {
            let mut kept = keeping.lock().unwrap_or_else(PoisonError::into_inner);
            kept.0.extend_from_slice(buffer.get(..size).unwrap_or_default());
            kept.shorten(limit);
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
