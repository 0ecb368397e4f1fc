//! Has several processes work on inputs, or on parts of one, and passes their messages on in order.

use crate::crash;
use crate::replay::collector::{CollectorOptions, ReplayMessage, ResultCollector};
use crate::replay::inputs::ReplayInput;
use crate::replay::journal::JournalFollower;
use crate::replay::journal::line_decider::LineDecider;
use crate::replay::line_reader::{PartRange, PartText};
use crate::replay::mode_source::{ModeSource, ResolvedModes};
use crate::replay::wire::{Bytes, PartReader, WorkerFrame, decoded};
use crate::replay::worker_process::WorkerProcess;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder};

/// How many jobs each worker may be ahead of the one whose turn it is.
const WINDOW: usize = 4;

pub(crate) trait InputReplayer: Sync {
    fn replay(&self, input: &ReplayInput, collector: &mut ResultCollector<'_>);

    /// The parts of a journal that is worth this many workers, or one job for the whole input.
    fn parts(&self, _: &ReplayInput, _workers: usize) -> Vec<Option<PartRange>> {
        vec![None]
    }

    /// Decides the lines of a journal.
    fn decider(&self, _: &ReplayInput) -> Option<LineDecider<'_>> {
        None
    }
}

/// Has the workers replay every input, and calls `receive` with all messages in the order of the inputs. Without workers,
/// this process replays them.
///
/// Workers are at most a few messages and jobs ahead, so memory does not grow with the number of inputs.
pub(crate) fn run<'a>(
    inputs: &'a [ReplayInput],
    workers: Vec<WorkerProcess>,
    options: CollectorOptions,
    replayer: &impl InputReplayer,
    receive: impl FnMut(&'a ReplayInput, ReplayMessage) + Send,
) {
    let count = workers.len();
    let jobs = inputs.iter().flat_map(|input| replayer.parts(input, count).into_iter().map(move |part| (input, part)));
    let jobs = Mutex::new(jobs.enumerate());
    let state = OutputState { receive, turn: 0, early: BTreeMap::new() };
    let output = OrderedOutput { state: Mutex::new(state), advanced: Condvar::new(), window: count * WINDOW };
    // Parts are followed in the order of the jobs, so only one journal at a time.
    let divided = Mutex::new(None);
    let work = |mut worker: Option<WorkerProcess>| {
        loop {
            let next = lock(&jobs).next();
            let Some((number, (input, part))) = next else { break };
            crash::working_on(input.main());
            let rest = if let Some(part) = part {
                let decided = worker.as_mut().map(|worker| worker.decide(input, &part));
                let decided = decided.and_then(|decided| decided.inspect_err(|_| worker = None).ok());
                drop(output.wait(number));
                follow_part(input, &part, decided.as_deref(), replayer, &divided, options)
            } else {
                replay_input(input, &mut worker, replayer, options, |messages| output.pass_on(number, input, messages))
            };
            output.finish(number, input, rest);
        }
    };
    let (work, mut workers) = (&work, workers.into_iter());
    let first = workers.next();
    thread::scope(|scope| {
        for worker in workers {
            // Without a thread for it, there is one worker less.
            let _: io::Result<_> = Builder::new().spawn_scoped(scope, move || work(Some(worker)));
        }
        work(first);
    });
}

/// Replays an input and passes messages on; returns the last ones.
///
/// If the worker ends, this process begins again, leaves out the messages that were passed on, and does the rest of the
/// worker's jobs.
fn replay_input(
    input: &ReplayInput,
    worker: &mut Option<WorkerProcess>,
    replayer: &impl InputReplayer,
    options: CollectorOptions,
    pass_on: impl Fn(Vec<ReplayMessage>) + Sync,
) -> Vec<ReplayMessage> {
    let mut passed = 0;
    if let Some(process) = worker {
        let messages = process.replay(input, options.json, |messages| {
            passed += messages.len();
            pass_on(messages);
        });
        match messages {
            Ok(messages) => return messages,
            Err(_) => *worker = None,
        }
    }
    let mut skip_passed = |messages: &mut Vec<ReplayMessage>| {
        let known = messages.len().min(passed);
        messages.drain(..known);
        passed -= known;
    };
    let mut send = |mut messages| {
        skip_passed(&mut messages);
        pass_on(messages);
    };
    let mut collector = ResultCollector::new(options, Some(&mut send));
    replayer.replay(input, &mut collector);
    let mut rest = collector.close(&input.main().to_string_lossy());
    skip_passed(&mut rest);
    rest
}

/// Passes on the messages of jobs in the order of the jobs.
struct OrderedOutput<'a, R> {
    state: Mutex<OutputState<'a, R>>,
    /// Notified when it is the turn of another job.
    advanced: Condvar,
    window: usize,
}

struct OutputState<'a, R> {
    receive: R,
    /// The number of the job whose turn it is.
    turn: usize,
    /// The messages of jobs that ended before their turn.
    early: BTreeMap<usize, (&'a ReplayInput, Vec<ReplayMessage>)>,
}

impl<'a, R: FnMut(&'a ReplayInput, ReplayMessage)> OrderedOutput<'a, R> {
    /// Waits for the turn of a job.
    fn wait(&self, number: usize) -> MutexGuard<'_, OutputState<'a, R>> {
        let waited = self.advanced.wait_while(lock(&self.state), |state| state.turn < number);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    fn pass_on(&self, number: usize, input: &'a ReplayInput, messages: Vec<ReplayMessage>) {
        let mut state = self.wait(number);
        for message in messages {
            (state.receive)(input, message);
        }
    }

    /// Ends a job, whose last messages may have to wait for its turn.
    fn finish(&self, number: usize, input: &'a ReplayInput, messages: Vec<ReplayMessage>) {
        let mut state = lock(&self.state);
        state.early.insert(number, (input, messages));
        while let OutputState { receive, turn, early } = &mut *state
            && let Some((input, messages)) = early.remove(turn)
        {
            *turn += 1;
            for message in messages {
                receive(input, message);
            }
        }
        self.advanced.notify_all();
        drop(self.advanced.wait_while(state, |state| state.early.len() > self.window));
    }
}

/// A journal that is divided.
struct DividedJournal<'r> {
    follower: JournalFollower,
    collector: ResultCollector<'static>,
    source: &'r ModeSource,
    /// The modes that the first part begins with.
    first_modes: Arc<ResolvedModes>,
    /// Those that the other parts begin with, unless a later header has changed them.
    modes: Option<Arc<ResolvedModes>>,
}

/// Follows the lines of a part that a worker has decided, when it is its turn; returns the messages.
fn follow_part<'r>(
    input: &ReplayInput,
    part: &PartRange,
    answer: Option<&[u8]>,
    replayer: &'r impl InputReplayer,
    divided: &Mutex<Option<DividedJournal<'r>>>,
    options: CollectorOptions,
) -> Vec<ReplayMessage> {
    let mut divided = lock(divided);
    let new = || {
        let decider = replayer.decider(input)?;
        let (source, first_modes) = (decider.source, Arc::clone(&decider.modes));
        let follower = JournalFollower::new(&input.files, &first_modes);
        let collector = ResultCollector::new(options, None);
        Some(DividedJournal { follower, collector, source, first_modes, modes: None })
    };
    let Some(mut journal) = divided.take().or_else(new) else { return Vec::new() };
    journal.follow(input, part, answer, replayer);
    let is_last = part.bytes.end == u64::MAX && part.file + 1 == input.files.len();
    if is_last {
        journal.follower.end(&mut journal.collector);
        return journal.collector.close(&input.main().to_string_lossy());
    }
    let messages = std::mem::take(&mut journal.collector.messages);
    *divided = Some(journal);
    messages
}

impl DividedJournal<'_> {
    fn follow(&mut self, input: &ReplayInput, part: &PartRange, answer: Option<&[u8]>, replayer: &impl InputReplayer) {
        if self.modes.is_none() && !part.is_first() {
            self.modes = decider_of_part(input, part, replayer).map(|decider| Arc::clone(&decider.modes));
        }
        let assumed = if part.is_first() { Some(&self.first_modes) } else { self.modes.as_ref() };
        let is_usable = assumed.is_some_and(|modes| Arc::ptr_eq(modes, &self.follower.modes));
        let Self { follower, collector, .. } = self;
        follower.begin_part(part, collector);
        if let Some(Ok(WorkerFrame::Part(Bytes(lines), count, error))) = answer.filter(|_| is_usable).map(decoded) {
            let mut lines = PartReader::new(lines, self.source);
            follower.follow(&mut lines, collector);
            follower.before += count;
            if !lines.rest.is_empty() {
                collector.unmet(&input.main().to_string_lossy(), 0, "the answer of a worker process cannot be read");
            }
            if let Some(error) = error {
                follower.unreadable(error, collector);
            }
            return;
        }
        // A header in an earlier part has changed the modes, or the worker is gone.
        let Some(mut decider) = replayer.decider(input) else { return };
        decider.use_modes(&follower.modes);
        let mut text = PartText::default();
        match text.read(&input.files, part) {
            Ok(()) => follower.decide(&text, &mut decider, collector),
            Err(error) => follower.unreadable(error, collector),
        }
    }
}

/// A decider with the modes that the input begins with.
pub(crate) fn decider_of_part<'r>(
    input: &ReplayInput,
    part: &PartRange,
    replayer: &'r impl InputReplayer,
) -> Option<LineDecider<'r>> {
    let mut decider = replayer.decider(input)?;
    if !part.is_first() {
        let mut text = PartText::default();
        text.read(&input.files, &PartRange { file: 0, bytes: 0..1 }).ok()?;
        decider.decide(&text).for_each(drop);
    }
    Some(decider)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
