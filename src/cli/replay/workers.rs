//! Works on several inputs at the same time and passes their messages on in order.

use super::collector::{CollectorOptions, ReplayMessage, ResultCollector};
use super::inputs::ReplayInput;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many batches an input may be ahead of its turn.
const AHEAD: usize = 4;

/// How many inputs each thread may be ahead of the one whose turn it is.
const WINDOW: usize = 4;

type Job<'a> = (&'a ReplayInput, SyncSender<Vec<ReplayMessage>>);

/// Calls `work` with every input on worker threads, and `receive` with all messages in the order of the inputs.
///
/// Workers are at most a few batches ahead, so memory does not grow with the number of inputs.
pub(super) fn run<'a>(
    inputs: &'a [ReplayInput],
    threads: usize,
    options: CollectorOptions,
    work: impl Fn(&ReplayInput, &mut ResultCollector<'_>) + Sync,
    mut receive: impl FnMut(&'a ReplayInput, ReplayMessage),
) {
    if threads == 1 {
        // One thread needs no channels, and no lock at every allocation.
        for input in inputs {
            one(input, options, &work, &mut |batch| batch.into_iter().for_each(|message| receive(input, message)));
        }
        return;
    }
    let (jobs, queue) = sync_channel::<Job<'a>>(threads * WINDOW);
    let queue = Mutex::new(queue);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((input, sender)) = next else { break };
                    // The receiver is gone only when everything ends.
                    one(input, options, &work, &mut |batch| drop(sender.send(batch)));
                }
            });
        }
        let mut waiting = inputs.iter();
        let mut open: VecDeque<(&'a ReplayInput, Receiver<Vec<ReplayMessage>>)> = VecDeque::new();
        let mut enqueue = |open: &mut VecDeque<_>| {
            while open.len() < threads * WINDOW
                && let Some(input) = waiting.next()
            {
                let (sender, receiver) = sync_channel(AHEAD);
                if jobs.send((input, sender)).is_ok() {
                    open.push_back((input, receiver));
                }
            }
        };
        enqueue(&mut open);
        while let Some((input, receiver)) = open.pop_front() {
            enqueue(&mut open);
            receiver.into_iter().flatten().for_each(|message| receive(input, message));
        }
        drop(jobs);
    });
}

/// Calls `work` with one input.
fn one(
    input: &ReplayInput,
    options: CollectorOptions,
    work: &(impl Fn(&ReplayInput, &mut ResultCollector<'_>) + Sync),
    send: &mut dyn FnMut(Vec<ReplayMessage>),
) {
    let mut collector = ResultCollector::new(options, send);
    let file = input.main().to_string_lossy();
    // Without its end, every input behind this one would wait for ever.
    if catch_unwind(AssertUnwindSafe(|| work(input, &mut collector))).is_err() {
        collector.unmet(&file, 0, "modegate crashed on this input; please report it");
    }
    collector.close(&file);
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests write files")]
mod tests {
    use super::super::inputs::FoundInputs;
    use super::*;

    #[test]
    fn a_crash_on_one_input_does_not_stop_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<_> = (0..20).map(|number| folder.path().join(format!("{number}.json"))).collect();
        for path in &paths {
            std::fs::write(path, "").unwrap();
        }
        let found = FoundInputs::shards(&paths).unwrap();
        let work =
            |input: &ReplayInput, _: &mut ResultCollector| assert!(!input.main().ends_with("3.json"), "on purpose");
        for threads in [1, 2] {
            let (mut ends, mut problems) = (0, 0);
            run(&found.inputs, threads, CollectorOptions::default(), work, |_, message| match message {
                ReplayMessage::End(_) => ends += 1,
                ReplayMessage::Problem(problem) => problems += u32::from(problem.unmet),
                _ => {}
            });
            assert_eq!((ends, problems), (20, 1));
        }
    }
}
