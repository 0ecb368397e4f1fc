//! Replays several inputs at the same time.

use super::collector::ReplayMessage;
use super::inputs::ReplayInput;
use base::crash;
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many messages and inputs a thread may be ahead of the report, so that memory does not grow with the inputs.
const AHEAD: usize = 32;

/// Has threads replay every input, and calls `receive` with their messages in the order of the inputs.
pub(crate) fn replay_all<'a>(
    inputs: &'a [ReplayInput],
    threads: usize,
    replay: impl Fn(&ReplayInput, &mut dyn FnMut(ReplayMessage)) + Sync,
    mut receive: impl FnMut(&'a ReplayInput, ReplayMessage),
) {
    let replay = |input: &ReplayInput, send: &mut dyn FnMut(ReplayMessage)| {
        crash::working_on(input.main());
        replay(input, send);
    };
    if threads < 2 {
        return inputs.iter().for_each(|input| replay(input, &mut |message| receive(input, message)));
    }
    let (order, results) = sync_channel(AHEAD);
    let work = Mutex::new((inputs.iter(), order));
    let next = || {
        let mut work = work.lock().unwrap_or_else(PoisonError::into_inner);
        let input = work.0.next()?;
        let (sender, messages) = sync_channel(AHEAD);
        work.1.send((input, messages)).ok()?;
        Some((input, sender))
    };
    let work_off = || {
        while let Some((input, sender)) = next() {
            // Nobody waits for messages only if this process ends.
            replay(input, &mut |message| drop(sender.send(message)));
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work_off);
        }
        for (input, messages) in results.iter().take(inputs.len()) {
            for message in messages {
                receive(input, message);
            }
        }
    });
}
