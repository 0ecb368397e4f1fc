//! Reads one event from standard input, which the caller may leave open.

use std::io::{self, Read};
use std::time::Duration;

const LARGEST: usize = 256 * 1024 * 1024;

/// How long to wait for more of an event.
///
/// An event that is given up is allowed, so the time must be enough on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
pub(super) enum InputError {
    #[error("standard input cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    #[error("the event on standard input is larger than {} MiB", LARGEST >> 20)]
    TooLarge,
    #[error(
        "standard input is still open, but nothing more of the event came in {} seconds; it was allowed",
        PATIENCE.as_secs()
    )]
    Incomplete,
}

/// Reads until the JSON document is complete or the input ends.
pub(super) fn read_event() -> Result<Vec<u8>, InputError> {
    read_from(standard_input()?, is_ready)
}

/// Standard input without a buffer, of which [`is_ready`] would not know.
#[cfg(unix)]
fn standard_input() -> io::Result<impl Read> {
    std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned().map(std::fs::File::from)
}

#[cfg(not(unix))]
fn standard_input() -> io::Result<impl Read> {
    Ok(io::stdin().lock())
}

fn read_from(mut input: impl Read, mut ready: impl FnMut() -> io::Result<bool>) -> Result<Vec<u8>, InputError> {
    const BLOCK: usize = 4 * 1024;
    const GROWTH: usize = 8;
    let (mut bytes, mut size) = (vec![0; BLOCK], 0);
    let mut document = DocumentEnd::default();
    loop {
        if !ready()? {
            return Err(InputError::Incomplete);
        }
        match input.read(bytes.get_mut(size..).unwrap_or_default()) {
            Ok(0) => break,
            Ok(more) => size += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        }
        let whole = bytes.get(..size).unwrap_or_default();
        if size > LARGEST {
            return Err(InputError::TooLarge);
        }
        if whole.trim_ascii_end().last() == Some(&b'}') && document.is_in(whole) {
            break;
        }
        if size == bytes.len() {
            bytes.resize(size * GROWTH, 0);
        }
    }
    bytes.truncate(size);
    Ok(bytes)
}

/// Whether a read would not block; `false` after [`PATIENCE`].
#[cfg(unix)]
fn is_ready() -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let limit = Timespec { tv_sec: PATIENCE.as_secs().cast_signed(), tv_nsec: 0 };
    let stdin = rustix::stdio::stdin();
    loop {
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&limit)) {
            Ok(ready) => return Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(not(unix))]
fn is_ready() -> io::Result<bool> {
    Ok(true)
}

/// Finds the end of a JSON document; each byte is looked at once.
#[derive(Debug, Default)]
struct DocumentEnd {
    seen: usize,
    depth: usize,
    in_text: bool,
    is_escaped: bool,
    is_complete: bool,
}

impl DocumentEnd {
    /// Whether `bytes`, which begin with those of the last call, have a complete object or list.
    fn is_in(&mut self, bytes: &[u8]) -> bool {
        for byte in bytes.get(self.seen..).unwrap_or_default() {
            if self.is_complete {
                break;
            }
            self.seen += 1;
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.in_text => self.is_escaped = true,
                b'"' => self.in_text = !self.in_text,
                _ if self.in_text => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.is_complete = self.depth == 0;
                }
                _ => {}
            }
        }
        self.is_complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Gives one piece per read, and then nothing, as a pipe that stays open.
    struct OpenPipe(VecDeque<Vec<u8>>);

    impl Read for OpenPipe {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let mut piece = self.0.pop_front().unwrap_or_default();
            let rest = piece.split_off(piece.len().min(into.len()));
            into[..piece.len()].copy_from_slice(&piece);
            if !rest.is_empty() {
                self.0.push_front(rest);
            }
            Ok(piece.len())
        }
    }

    #[track_caller]
    fn check(pieces: &[&str], is_complete: bool) {
        let pipe = OpenPipe(pieces.iter().map(|piece| piece.as_bytes().to_vec()).collect());
        let mut left = pieces.len();
        let read = read_from(pipe, || {
            let now = left;
            left = left.saturating_sub(1);
            Ok(now > 0)
        });
        assert_eq!(read.is_ok(), is_complete, "{pieces:?}");
    }

    #[test]
    fn a_document_is_complete_at_its_last_bracket() {
        let event = r#"{"a": "} \" \\", "b": [{"c": "{["}], "d": {}}"#;
        check(&[event], true);
        check(&[event, "\n"], true);
        for cut in 1..event.len() {
            let (before, after) = event.split_at(cut);
            check(&[before, after], true);
            check(&[before], false);
        }
        let mut end = DocumentEnd::default();
        for size in 0..event.len() {
            assert!(!end.is_in(&event.as_bytes()[..size]), "{size}");
        }
        assert!(end.is_in(event.as_bytes()) && end.seen == event.len());
    }

    #[test]
    fn what_is_not_an_object_is_read_to_its_end() {
        for text in ["", "null", "\"}\"", "hello"] {
            let read = read_from(text.as_bytes(), || Ok(true)).unwrap();
            assert_eq!(read, text.as_bytes());
        }
    }

    #[test]
    fn a_long_event_is_read_whole() {
        let event = format!("{{\"a\": \"{}\"}}", "}".repeat(300_000));
        assert_eq!(read_from(event.as_bytes(), || Ok(true)).unwrap(), event.as_bytes());
    }
}
