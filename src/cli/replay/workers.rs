//! Works on several inputs, or parts of one, at the same time and passes their messages on in order.

use super::collector::{CollectorOptions, ReplayMessage, ResultCollector};
use super::inputs::ReplayInput;
use super::journal_follower::JournalFollower;
use super::journal_parts::{PartRange, PartText};
use super::line_decider::{DecidedPart, LineDecider};
use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many batches an input may be ahead of its turn.
const AHEAD: usize = 4;

/// How many inputs or parts each thread may be ahead of the one whose turn it is.
const WINDOW: usize = 4;

/// Replays inputs.
pub(super) trait InputReplayer: Sync {
    /// Replays an input.
    fn replay(&self, input: &ReplayInput, collector: &mut ResultCollector<'_>);

    /// The parts of a journal that is worth several threads.
    fn parts(&self, _: &ReplayInput) -> Vec<PartRange> {
        Vec::new()
    }

    /// Decides the lines of a journal.
    fn decider(&self, _: &ReplayInput) -> Option<LineDecider<'_>> {
        None
    }
}

/// An input or a part of one.
struct Job<'a> {
    input: &'a ReplayInput,
    part: Option<PartRange>,
    sender: SyncSender<JobOutput>,
}

/// A job that is worked on.
struct OpenJob<'a> {
    input: &'a ReplayInput,
    part: Option<PartRange>,
    receiver: Receiver<JobOutput>,
}

enum JobOutput {
    Messages(Vec<ReplayMessage>),
    Part(thread::Result<io::Result<DecidedPart>>),
}

/// Replays every input on worker threads, and calls `receive` with all messages in the order of the inputs.
///
/// Workers are at most a few batches ahead, so memory does not grow with the number of inputs.
pub(super) fn run<'a>(
    inputs: &'a [ReplayInput],
    threads: usize,
    options: CollectorOptions,
    replayer: &impl InputReplayer,
    mut receive: impl FnMut(&'a ReplayInput, ReplayMessage),
) {
    if threads == 1 {
        for input in inputs {
            let work = |collector: &mut ResultCollector<'_>| replayer.replay(input, collector);
            one(input, options, work, &mut |batch| batch.into_iter().for_each(|message| receive(input, message)));
        }
        return;
    }
    let (sender, receiver) = sync_channel::<Job<'a>>(threads * WINDOW);
    let receiver = Mutex::new(receiver);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| work_on_jobs(&receiver, options, replayer));
        }
        let mut jobs = JobQueue { waiting: inputs.iter(), parts: VecDeque::new(), open: VecDeque::new(), sender };
        while let Some(job) = jobs.next(threads, replayer) {
            let mut send =
                |batch: Vec<ReplayMessage>| batch.into_iter().for_each(|message| receive(job.input, message));
            if job.part.is_none() {
                for output in job.receiver {
                    if let JobOutput::Messages(batch) = output {
                        send(batch);
                    }
                }
                continue;
            }
            let input = job.input;
            let mut next = Some(job);
            let work = |collector: &mut ResultCollector<'_>| {
                let Some(decider) = replayer.decider(input) else { return };
                let mut follower = JournalFollower::new(&input.files, decider, collector);
                while let Some(OpenJob { part: Some(part), receiver, .. }) = next.take() {
                    if let Ok(JobOutput::Part(decided)) = receiver.recv() {
                        follower.part(&part, decided.unwrap_or_else(|panic| resume_unwind(panic)));
                    }
                    next = jobs.next_part(input, threads, replayer);
                }
                follower.end();
            };
            one(input, options, work, &mut send);
            while jobs.next_part(input, threads, replayer).is_some() {}
        }
    });
}

/// The jobs that are not done, in order.
struct JobQueue<'a, I> {
    waiting: I,
    /// The other parts of the input that is next.
    parts: VecDeque<(&'a ReplayInput, PartRange)>,
    open: VecDeque<OpenJob<'a>>,
    sender: SyncSender<Job<'a>>,
}

impl<'a, I: Iterator<Item = &'a ReplayInput>> JobQueue<'a, I> {
    fn next(&mut self, threads: usize, replayer: &impl InputReplayer) -> Option<OpenJob<'a>> {
        self.fill(threads, replayer);
        self.open.pop_front()
    }

    /// The next job, if it is a part of this input.
    fn next_part(&mut self, of: &ReplayInput, threads: usize, replayer: &impl InputReplayer) -> Option<OpenJob<'a>> {
        self.fill(threads, replayer);
        self.open.pop_front_if(|job| job.part.is_some() && std::ptr::eq(job.input, of))
    }

    /// Gives the workers enough to do.
    fn fill(&mut self, threads: usize, replayer: &impl InputReplayer) {
        while self.open.len() < threads * WINDOW {
            let (input, part) = if let Some((input, part)) = self.parts.pop_front() {
                (input, Some(part))
            } else {
                let Some(input) = self.waiting.next() else { return };
                self.parts = replayer.parts(input).into_iter().map(|part| (input, part)).collect();
                (input, self.parts.pop_front().map(|(_, part)| part))
            };
            let (sender, receiver) = sync_channel(AHEAD);
            if self.sender.send(Job { input, part: part.clone(), sender }).is_ok() {
                self.open.push_back(OpenJob { input, part, receiver });
            }
        }
    }
}

/// Works on jobs until there are none.
fn work_on_jobs(queue: &Mutex<Receiver<Job<'_>>>, options: CollectorOptions, replayer: &impl InputReplayer) {
    let mut last: Option<(&ReplayInput, LineDecider<'_>)> = None;
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { input, part, sender }) = next else { break };
        // The receiver is gone only when everything ends, or after a crash.
        let Some(part) = part else {
            let work = |collector: &mut ResultCollector<'_>| replayer.replay(input, collector);
            one(input, options, work, &mut |batch| drop(sender.send(JobOutput::Messages(batch))));
            continue;
        };
        let known = last.take().filter(|(last, _)| std::ptr::eq(*last, input)).map(|(_, decider)| decider);
        let decided = catch_unwind(AssertUnwindSafe(|| {
            let mut decider = known.or_else(|| decider_of_part(input, &part, replayer));
            let mut text = PartText::spare();
            text.read(&input.files, &part)?;
            let lines = decider.as_mut().map(|decider| decider.decide(text)).ok_or(io::ErrorKind::Unsupported)?;
            last = decider.map(|decider| (input, decider));
            Ok(lines)
        }));
        drop(sender.send(JobOutput::Part(decided)));
    }
}

/// A decider with the modes that the input begins with.
fn decider_of_part<'r>(
    input: &ReplayInput,
    part: &PartRange,
    replayer: &'r impl InputReplayer,
) -> Option<LineDecider<'r>> {
    let mut decider = replayer.decider(input)?;
    if part.file > 0 || part.bytes.start > 0 {
        let first = PartRange { file: 0, bytes: 0..1 };
        let mut text = PartText::default();
        text.read(&input.files, &first).ok()?;
        decider.decide(text);
    }
    Some(decider)
}

/// Replays one input with `work`.
fn one(
    input: &ReplayInput,
    options: CollectorOptions,
    work: impl FnOnce(&mut ResultCollector<'_>),
    send: &mut dyn FnMut(Vec<ReplayMessage>),
) {
    let mut collector = ResultCollector::new(options, send);
    let file = input.main().to_string_lossy();
    // Without its end, every input behind this one would wait for ever.
    if catch_unwind(AssertUnwindSafe(|| work(&mut collector))).is_err() {
        collector.unmet(&file, 0, "modegate crashed on this input; please report it");
    }
    collector.close(&file);
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests write files")]
mod tests {
    use super::super::inputs::FoundInputs;
    use super::*;

    struct Crashing;

    impl InputReplayer for Crashing {
        fn replay(&self, input: &ReplayInput, _: &mut ResultCollector<'_>) {
            assert!(!input.main().ends_with("3.json"), "on purpose");
        }
    }

    #[test]
    fn a_crash_on_one_input_does_not_stop_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<_> = (0..20).map(|number| folder.path().join(format!("{number}.json"))).collect();
        for path in &paths {
            std::fs::write(path, "").unwrap();
        }
        let found = FoundInputs::shards(&paths).unwrap();
        for threads in [1, 2] {
            let (mut ends, mut problems) = (0, 0);
            run(&found.inputs, threads, CollectorOptions::default(), &Crashing, |_, message| match message {
                ReplayMessage::End(_) => ends += 1,
                ReplayMessage::Problem(problem) => problems += u32::from(problem.unmet),
                _ => {}
            });
            assert_eq!((ends, problems), (20, 1));
        }
    }
}
