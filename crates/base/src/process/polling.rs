//! Talks to a program in one thread: a poll wakes up when a pipe is ready or the program ends.

#![expect(clippy::disallowed_methods, reason = "does I/O")]

use super::{GRACE, KeptOutput, ProcessOutput};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::io::{self, Write};
use std::process::{Child, ChildStdin, ExitStatus};
use std::time::{Duration, Instant};

/// How often a program is looked at where the system cannot announce its end.
const NAP: Duration = Duration::from_millis(2);

/// How much of a pipe is read at once, at least.
const BLOCK: usize = 4 * 1024;
const MOST_BLOCKS: usize = 256;

/// Writes the input of a program and reads its output until it ends; `None` if it takes longer than `until`.
pub(super) fn communicate(
    child: &mut Child,
    input: Option<Vec<u8>>,
    until: Instant,
    limit: usize,
) -> io::Result<Option<ProcessOutput>> {
    let end = exit_signal(child);
    let mut input = InputPipe::new(child.stdin.take(), input)?;
    let mut outputs = [OutputPipe::new(child.stdout.take())?, OutputPipe::new(child.stderr.take())?];
    let mut status: Option<(ExitStatus, Instant)> = None;
    loop {
        let is_closed = outputs.iter().all(|output| output.pipe.is_none());
        let deadline = status.map_or(until, |(_, ended)| ended + GRACE);
        let now = Instant::now();
        match status {
            Some((status, _)) if is_closed || now >= deadline => {
                let [stdout, stderr] = outputs.map(|output| output.kept.0);
                return Ok(Some(ProcessOutput { code: status.code(), stdout, stderr, ended: is_closed }));
            }
            None if now >= until => return Ok(None),
            _ => {}
        }
        let longest = deadline.saturating_duration_since(now);
        let wait = if end.is_some() || status.is_some() { longest } else { longest.min(NAP) };
        wait_for(&input, &outputs, end.as_ref().filter(|_| status.is_none()), wait)?;
        input.write();
        for output in &mut outputs {
            output.read(limit);
        }
        if status.is_none() {
            status = child.try_wait()?.map(|status| (status, Instant::now()));
        }
    }
}

/// A file that becomes readable when the program ends.
#[cfg(target_os = "linux")]
fn exit_signal(child: &Child) -> Option<OwnedFd> {
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw)?;
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn exit_signal(_: &Child) -> Option<OwnedFd> {
    None
}

/// Waits until a pipe is ready or the program ends.
fn wait_for(input: &InputPipe, outputs: &[OutputPipe; 2], end: Option<&OwnedFd>, longest: Duration) -> io::Result<()> {
    let mut files: Vec<PollFd<'_>> = Vec::with_capacity(4);
    files.extend(input.pipe.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
    let open = outputs.iter().filter_map(|output| output.pipe.as_ref());
    files.extend(open.map(|pipe| PollFd::new(pipe, PollFlags::IN)));
    files.extend(end.map(|end| PollFd::new(end, PollFlags::IN)));
    let seconds = i64::try_from(longest.as_secs()).unwrap_or(i64::MAX);
    let limit = Timespec { tv_sec: seconds, tv_nsec: longest.subsec_nanos().into() };
    match poll(&mut files, Some(&limit)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Makes reads and writes return at once.
fn set_nonblocking(pipe: &impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(pipe)?;
    Ok(fcntl_setfl(pipe, flags | OFlags::NONBLOCK)?)
}

/// Whether an operation has to wait for the other side.
fn must_wait(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// The input of a program, which may never read it.
struct InputPipe {
    /// `None` once everything is written, or the reader is gone.
    pipe: Option<ChildStdin>,
    bytes: Vec<u8>,
    written: usize,
}

impl InputPipe {
    fn new(pipe: Option<ChildStdin>, bytes: Option<Vec<u8>>) -> io::Result<Self> {
        pipe.iter().try_for_each(set_nonblocking)?;
        let mut input = Self { pipe, bytes: bytes.unwrap_or_default(), written: 0 };
        input.write();
        Ok(input)
    }

    fn write(&mut self) {
        while let (Some(pipe), Some(rest @ [_, ..])) = (&mut self.pipe, self.bytes.get(self.written..)) {
            match pipe.write(rest) {
                Ok(size) if size > 0 => self.written += size,
                Err(error) if must_wait(&error) => return,
                _ => break,
            }
        }
        self.pipe = None;
    }
}

/// The output or the errors of a program.
struct OutputPipe {
    /// `None` at the end.
    pipe: Option<OwnedFd>,
    kept: KeptOutput,
}

impl OutputPipe {
    fn new(pipe: Option<impl Into<OwnedFd>>) -> io::Result<Self> {
        let pipe = pipe.map(Into::into);
        pipe.iter().try_for_each(set_nonblocking)?;
        Ok(Self { pipe, kept: KeptOutput::default() })
    }

    fn read(&mut self, limit: usize) {
        // A program that prints without end must not keep this one from looking at the time.
        for _ in 0..MOST_BLOCKS {
            let Some(pipe) = &self.pipe else { return };
            self.kept.0.reserve(BLOCK);
            match rustix::io::read(pipe, rustix::buffer::spare_capacity(&mut self.kept.0)) {
                Ok(size) if size > 0 => self.kept.shorten(limit),
                Err(error) if must_wait(&error.into()) => return,
                _ => self.pipe = None,
            }
        }
    }
}
