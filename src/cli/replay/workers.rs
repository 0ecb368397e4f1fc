//! Several hands, one order: inputs are worked on at the same time and told one after the other.

use super::collector::{CollectorOptions, ReplayMessage, ResultCollector};
use super::inputs::ReplayInput;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many batches an input may be ahead of its turn.
const AHEAD: usize = 4;

/// How many inputs a hand may be ahead of the one whose turn it is.
const WINDOW: usize = 4;

type Job<'a> = (&'a ReplayInput, SyncSender<Vec<ReplayMessage>>);

/// Lets `work` have every input, on so many threads; `hear` is told of each, in order.
///
/// Nothing is kept of what was told, and nobody is further ahead than a few batches: memory does not grow with
/// the number of inputs.
pub(super) fn run<'a>(
    inputs: &'a [ReplayInput],
    threads: usize,
    wanted: CollectorOptions,
    work: impl Fn(&ReplayInput, &mut ResultCollector<'_>) + Sync,
    mut hear: impl FnMut(&'a ReplayInput, ReplayMessage),
) {
    if threads == 1 {
        // Alone there is nobody to wait for, and no lock to take at every allocation.
        for input in inputs {
            one(input, wanted, &work, &mut |batch| batch.into_iter().for_each(|piece| hear(input, piece)));
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
                    let Ok((input, tell)) = next else { break };
                    // Whoever listens has gone only when everything ends.
                    one(input, wanted, &work, &mut |batch| drop(tell.send(batch)));
                }
            });
        }
        let mut waiting = inputs.iter();
        let mut open: VecDeque<(&'a ReplayInput, Receiver<Vec<ReplayMessage>>)> = VecDeque::new();
        let mut hand_out = |open: &mut VecDeque<_>| {
            while open.len() < threads * WINDOW
                && let Some(input) = waiting.next()
            {
                let (tell, told) = sync_channel(AHEAD);
                if jobs.send((input, tell)).is_ok() {
                    open.push_back((input, told));
                }
            }
        };
        hand_out(&mut open);
        while let Some((input, told)) = open.pop_front() {
            hand_out(&mut open);
            for batch in told {
                for piece in batch {
                    hear(input, piece);
                }
            }
        }
        drop(jobs);
    });
}

/// Lets `work` have one input.
fn one(
    input: &ReplayInput,
    wanted: CollectorOptions,
    work: &(impl Fn(&ReplayInput, &mut ResultCollector<'_>) + Sync),
    tell: &mut dyn FnMut(Vec<ReplayMessage>),
) {
    let mut collector = ResultCollector::new(wanted, tell);
    let file = input.main().to_string_lossy();
    // Whoever waits for this input would wait for ever, and so would all behind it.
    if catch_unwind(AssertUnwindSafe(|| work(input, &mut collector))).is_err() {
        collector.unmet(&file, 0, "modegate has failed on it; please report this");
    }
    collector.close(&file);
}

#[cfg(test)]
mod tests {
    use super::super::inputs::FoundInputs;
    use super::*;

    #[test]
    fn an_input_on_which_we_fail_holds_up_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<_> = (0..20).map(|number| folder.path().join(format!("{number}.json"))).collect();
        for path in &paths {
            std::fs::write(path, "").unwrap();
        }
        let found = FoundInputs::parts(&paths).unwrap();
        let work =
            |input: &ReplayInput, _: &mut ResultCollector| assert!(!input.main().ends_with("3.json"), "on purpose");
        for threads in [1, 2] {
            let (mut ends, mut problems) = (0, 0);
            run(&found.inputs, threads, CollectorOptions::default(), work, |_, told| match told {
                ReplayMessage::InputTotals(_) => ends += 1,
                ReplayMessage::ReplayProblem(problem) => problems += u32::from(problem.unmet),
                _ => {}
            });
            assert_eq!((ends, problems), (20, 1));
        }
    }
}
