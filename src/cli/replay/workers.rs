//! Works on several inputs, or parts of one, at the same time and passes their messages on in order.

use super::collector::{CollectorOptions, ReplayMessage, ResultCollector};
use super::inputs::ReplayInput;
use super::journal_follower::JournalFollower;
use super::line_decider::LineDecider;
use super::line_reader::{PartRange, PartText};
use crate::crash;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// How many jobs each thread may be ahead of the one whose turn it is.
const WINDOW: usize = 4;

pub(super) trait InputReplayer: Sync {
    fn replay(&self, input: &ReplayInput, collector: &mut ResultCollector<'_>);

    /// The parts of a journal that is worth several threads, or one job for the whole input.
    fn parts(&self, _: &ReplayInput) -> Vec<Option<PartRange>> {
        vec![None]
    }

    /// Decides the lines of a journal.
    fn decider(&self, _: &ReplayInput) -> Option<LineDecider<'_>> {
        None
    }
}

/// Replays every input on worker threads, and calls `receive` with all messages in the order of the inputs.
///
/// Workers are at most a few messages and jobs ahead, so memory does not grow with the number of inputs.
pub(super) fn run<'a>(
    inputs: &'a [ReplayInput],
    threads: usize,
    options: CollectorOptions,
    replayer: &impl InputReplayer,
    receive: impl FnMut(&'a ReplayInput, ReplayMessage) + Send,
) {
    let jobs = inputs.iter().flat_map(|input| replayer.parts(input).into_iter().map(move |part| (input, part)));
    let jobs = Mutex::new(jobs.enumerate());
    let state = OutputState { receive, turn: 0, early: BTreeMap::new() };
    let output = OrderedOutput { state: Mutex::new(state), advanced: Condvar::new(), window: threads * WINDOW };
    // Parts are followed in the order of the jobs, so only one journal at a time.
    let divided = Mutex::new(None);
    let work = || {
        let mut last_decider = None;
        loop {
            let next = lock(&jobs).next();
            let Some((number, (input, part))) = next else { break };
            crash::working_on(input.main());
            let rest = if let Some(part) = part {
                let wait = || drop(output.wait(number));
                replay_part((input, &part), replayer, &mut last_decider, &divided, options, wait)
            } else {
                let mut send = |messages| output.pass_on(number, input, messages);
                let mut collector = ResultCollector::new(options, Some(&mut send));
                replayer.replay(input, &mut collector);
                collector.close(&input.main().to_string_lossy())
            };
            output.finish(number, input, rest);
        }
    };
    if threads == 1 {
        return work();
    }
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
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

/// A journal that is divided; without its follower if its beginning cannot be read.
type DividedJournal = (Option<JournalFollower>, ResultCollector<'static>);

/// Decides the lines of a part, waits for its turn and follows them; returns the messages.
fn replay_part<'a, 'r>(
    (input, part): (&'a ReplayInput, &PartRange),
    replayer: &'r impl InputReplayer,
    last_decider: &mut Option<(&'a ReplayInput, LineDecider<'r>)>,
    divided: &Mutex<Option<DividedJournal>>,
    options: CollectorOptions,
    wait: impl Fn(),
) -> Vec<ReplayMessage> {
    let mut follow = || {
        let known = last_decider.take().filter(|(of, _)| std::ptr::eq(*of, input)).map(|(_, decider)| decider);
        let Some(mut decider) = known.or_else(|| decider_of_part(input, part, replayer)) else { return };
        let modes = Arc::clone(&decider.modes);
        let mut text = PartText::default();
        let read = text.read(&input.files, part);
        let mut lines = decider.decide(&text);
        let early: Vec<_> = lines.by_ref().collect();
        let count = lines.lines.count;
        wait();
        let mut journal = lock(divided);
        let new = || (Some(JournalFollower::new(&input.files, &modes)), ResultCollector::new(options, None));
        let (follower, collector) = journal.get_or_insert_with(new);
        let Some(follower) = follower else { return };
        follower.begin_part(part, collector);
        match read {
            Err(error) => follower.unreadable(&error, collector),
            Ok(()) if Arc::ptr_eq(&modes, &follower.modes) => {
                follower.follow(early.into_iter(), collector);
                follower.before += count;
            }
            // A header in an earlier part has changed the modes.
            Ok(()) => {
                decider.use_modes(&follower.modes);
                follower.decide(&text, &mut decider, collector);
            }
        }
        *last_decider = Some((input, decider));
    };
    follow();
    wait();
    let mut journal = lock(divided);
    let (_, collector) = journal.get_or_insert_with(|| (None, ResultCollector::new(options, None)));
    let is_last = part.bytes.end == u64::MAX && part.file + 1 == input.files.len();
    if !is_last {
        return std::mem::take(&mut collector.messages);
    }
    let Some((follower, mut collector)) = journal.take() else { return Vec::new() };
    if let Some(follower) = follower {
        follower.end(&mut collector);
    }
    collector.close(&input.main().to_string_lossy())
}

/// A decider with the modes that the input begins with.
fn decider_of_part<'r>(
    input: &ReplayInput,
    part: &PartRange,
    replayer: &'r impl InputReplayer,
) -> Option<LineDecider<'r>> {
    let mut decider = replayer.decider(input)?;
    if part.file > 0 || part.bytes.start > 0 {
        let mut text = PartText::default();
        text.read(&input.files, &PartRange { file: 0, bytes: 0..1 }).ok()?;
        decider.decide(&text).for_each(drop);
    }
    Some(decider)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests write files")]
mod tests {
    use super::super::inputs::FoundInputs;
    use super::*;
    use crate::cli::{EXIT_CRASH, end_after_crash};
    use std::path::Path;
    use std::process::Command;

    struct Crashing;

    impl InputReplayer for Crashing {
        fn replay(&self, input: &ReplayInput, _: &mut ResultCollector<'_>) {
            assert!(!input.main().ends_with("3.json"), "on purpose");
        }
    }

    #[test]
    fn a_crash_ends_the_replay_and_names_the_input() {
        const NAME: &str = "cli::replay::workers::tests::a_crash_ends_the_replay_and_names_the_input";
        if let Some(folder) = std::env::var_os("MODEGATE_TEST_CRASH") {
            crash::handle_panics(end_after_crash);
            let paths: Vec<_> = (0..20).map(|number| Path::new(&folder).join(format!("{number}.json"))).collect();
            let found = FoundInputs::shards(&paths).unwrap();
            return run(&found.inputs, 2, CollectorOptions::default(), &Crashing, |_, _| {});
        }
        let folder = tempfile::tempdir().unwrap();
        for number in 0..20 {
            std::fs::write(folder.path().join(format!("{number}.json")), "").unwrap();
        }
        // The crash ends a process of its own.
        let mut test = Command::new(std::env::current_exe().unwrap());
        let test = test.args(["--exact", NAME, "--nocapture"]).env("MODEGATE_TEST_CRASH", folder.path());
        let output = test.output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(i32::from(EXIT_CRASH)), "{errors}");
        let named = format!("error: modegate crashed on {}\n", folder.path().join("3.json").display());
        assert!(errors.contains(&named) && errors.contains("on purpose"), "{errors}");
    }
}
