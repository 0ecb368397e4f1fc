//! Processes that replay inputs, or parts of them, for another one.
//!
//! Threads would wait for each other at the allocator's lock in the static program. A worker is this program, started as
//! `modegate replay --worker`: it reads the work and then jobs from standard input and answers on standard output.

#![expect(clippy::disallowed_methods, reason = "starts processes")]

use crate::cli::{EXIT_CRASH, exit_after_crash};
use crate::crash;
use crate::replay::collector::{BATCH, CollectorOptions, ReplayMessage, ResultCollector};
use crate::replay::command::ReplayWork;
use crate::replay::inputs::ReplayInput;
use crate::replay::journal::line_decider::LineDecider;
use crate::replay::line_reader::{PartRange, PartText};
use crate::replay::mode_source::ResolvedModes;
use crate::replay::wire::{
    Bytes, PartWriter, WorkerFrame, WorkerJob, closed, decoded, encoded, receive, send, write_frame,
};
use crate::replay::workers::{InputReplayer, decider_of_part};
use std::borrow::Cow;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::Arc;

/// What a program must be to understand this one.
const BUILD: (&str, Option<&str>) = (env!("CARGO_PKG_VERSION"), option_env!("MODEGATE_COMMIT"));

/// The size of the buffers for answers.
const BUFFER: usize = 64 * 1024;

/// The running program on Linux, even if its file was replaced or removed.
#[cfg(target_os = "linux")]
const OWN_PROGRAM: &str = "/proc/self/exe";

/// A worker, seen from the process that started it.
pub(crate) struct WorkerProcess {
    child: Child,
    /// Closed to end the worker.
    jobs: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    is_idle: bool,
    /// The key that its first frame must have, until that was read.
    key: Option<u64>,
    content: Vec<u8>,
}

/// Starts workers, as many as the system allows.
pub(crate) fn start(count: usize, work: &ReplayWork) -> Vec<WorkerProcess> {
    let (key, Ok(setup)) = (work.source.key(), encoded(&(BUILD, &work.setup))) else { return Vec::new() };
    let start = || {
        #[cfg(target_os = "linux")]
        if let Ok(worker) = WorkerProcess::start(Command::new(OWN_PROGRAM), &setup, key) {
            return Ok(worker);
        }
        WorkerProcess::start(Command::new(std::env::current_exe()?), &setup, key)
    };
    (0..count).map_while(|_| start().ok()).collect()
}

impl WorkerProcess {
    /// Starts a worker with its work.
    pub(crate) fn start(mut program: Command, setup: &[u8], key: u64) -> io::Result<Self> {
        program.args(["replay", "--worker"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::arg0(&mut program, "modegate");
        let mut child = program.spawn()?;
        let (jobs, answers) = (child.stdin.take(), child.stdout.take().ok_or_else(closed)?);
        let (answers, content) = (BufReader::with_capacity(BUFFER, answers), Vec::new());
        let mut worker = Self { child, jobs, answers, is_idle: true, key: Some(key), content };
        worker.send(setup)?;
        Ok(worker)
    }

    /// Replays an input and passes its messages on; returns the last ones.
    pub(crate) fn replay(
        &mut self,
        input: &ReplayInput,
        has_json: bool,
        mut pass_on: impl FnMut(Vec<ReplayMessage>),
    ) -> io::Result<Vec<ReplayMessage>> {
        self.ask(&(Cow::Borrowed(input), None))?;
        let mut messages = Vec::new();
        loop {
            self.read()?;
            let message = decoded::<WorkerFrame<'_>>(&self.content)?.message(has_json)?;
            let is_last = matches!(message, ReplayMessage::End(_));
            messages.push(message);
            if is_last {
                self.is_idle = true;
                return Ok(messages);
            }
            if messages.len() >= BATCH {
                pass_on(std::mem::take(&mut messages));
            }
        }
    }

    /// Decides a part of a journal; returns the frame with its lines.
    pub(crate) fn decide(&mut self, input: &ReplayInput, part: &PartRange) -> io::Result<Vec<u8>> {
        self.ask(&(Cow::Borrowed(input), Some(Cow::Borrowed(part))))?;
        self.read()?;
        self.is_idle = true;
        Ok(std::mem::take(&mut self.content))
    }

    fn ask(&mut self, job: &WorkerJob<'_>) -> io::Result<()> {
        let job = encoded(job)?;
        self.is_idle = false;
        self.send(&job)?;
        if let Some(key) = self.key.take() {
            self.read()?;
            if !matches!(decoded(&self.content)?, WorkerFrame::Ready(own) if own == key) {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        Ok(())
    }

    fn send(&mut self, content: &[u8]) -> io::Result<()> {
        let jobs = self.jobs.as_mut().ok_or_else(closed)?;
        write_frame(jobs, content).map_err(|error| self.ended(error))
    }

    fn read(&mut self) -> io::Result<()> {
        receive(&mut self.answers, &mut self.content).map_err(|error| self.ended(error))
    }

    /// Looks at a worker whose pipe cannot be used: one that crashed has reported it, so this process ends like it.
    fn ended(&mut self, error: io::Error) -> io::Error {
        let is_closed = matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe);
        let status = if is_closed { self.child.wait().ok() } else { None };
        if status.is_some_and(|status| status.code() == Some(EXIT_CRASH.into())) {
            exit_after_crash();
        }
        error
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if !self.is_idle {
            let _: io::Result<()> = self.child.kill();
        }
        let _: io::Result<_> = self.child.wait();
    }
}

/// Works for another process until that closes standard input.
pub(crate) fn serve() -> ExitCode {
    let (mut jobs, answers) = (io::stdin().lock(), BufWriter::with_capacity(BUFFER, io::stdout()));
    let mut setup = Vec::new();
    let work = receive(&mut jobs, &mut setup).and_then(|()| {
        // Another program may have other types.
        let (build, content) = postcard::take_from_bytes(&setup).map_err(io::Error::other)?;
        if BUILD == build { ReplayWork::new(decoded(content)?).map_err(|_| closed()) } else { Err(closed()) }
    });
    // The process that started this one notices every end that comes too early.
    if let Ok(work) = work {
        let _: io::Result<()> = serve_jobs(&work, work.setup.options, work.source.key(), jobs, answers);
    }
    ExitCode::SUCCESS
}

fn serve_jobs(
    replayer: &impl InputReplayer,
    options: CollectorOptions,
    key: u64,
    mut jobs: impl Read,
    mut answers: impl Write + Send,
) -> io::Result<()> {
    send(&mut answers, &WorkerFrame::Ready(key))?;
    let (mut job, mut last) = (Vec::new(), None);
    loop {
        answers.flush()?;
        receive(&mut jobs, &mut job)?;
        let (input, part): WorkerJob<'static> = decoded(&job)?;
        crash::working_on(input.main());
        match part {
            Some(part) => decide(replayer, &input, &part, &mut last, &mut answers)?,
            None => replay(replayer, &input, options, &mut answers)?,
        }
    }
}

/// Replays a whole input.
fn replay(
    replayer: &impl InputReplayer,
    input: &ReplayInput,
    options: CollectorOptions,
    answers: &mut (impl Write + Send),
) -> io::Result<()> {
    let mut sent = Ok(());
    let mut pass_on = |messages: Vec<ReplayMessage>| {
        if sent.is_ok() {
            let mut frames = messages.iter().filter_map(WorkerFrame::of);
            sent = frames.try_for_each(|frame| send(answers, &frame));
        }
    };
    let mut collector = ResultCollector::new(options, Some(&mut pass_on));
    replayer.replay(input, &mut collector);
    let rest = collector.close(&input.main().to_string_lossy());
    pass_on(rest);
    sent
}

/// The decider of the last part of a journal, and the modes that parts after the first begin with.
struct PartDecider<'r> {
    files: Vec<PathBuf>,
    modes: Arc<ResolvedModes>,
    decider: LineDecider<'r>,
}

/// Decides the lines of a part.
fn decide<'r>(
    replayer: &'r impl InputReplayer,
    input: &ReplayInput,
    part: &PartRange,
    last: &mut Option<PartDecider<'r>>,
    answers: &mut impl Write,
) -> io::Result<()> {
    let known = last.take().filter(|known| known.files == input.files && !part.is_first());
    let (mut decider, modes) = if let Some(PartDecider { mut decider, modes, .. }) = known {
        // A header in the last part may have changed them.
        decider.use_modes(&modes);
        (decider, modes)
    } else {
        let decider = decider_of_part(input, part, replayer).ok_or_else(closed)?;
        let modes = Arc::clone(&decider.modes);
        (decider, modes)
    };
    decider.is_for_other_process = true;
    let (mut text, mut writer, mut count) = (PartText::default(), PartWriter::default(), 0);
    let read = text.read(&input.files, part);
    if read.is_ok() {
        let mut lines = decider.decide(&text);
        lines.try_for_each(|(number, line)| writer.line(number, line))?;
        count = lines.lines.count;
    }
    let error = read.err().map(|error| error.to_string());
    if !part.is_first() {
        *last = Some(PartDecider { files: input.files.clone(), modes, decider });
    }
    send(answers, &WorkerFrame::Part(Bytes(&writer.content), count, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::end_after_crash;
    use crate::replay::inputs::FoundInputs;
    use crate::replay::workers::run;
    use std::path::Path;

    /// Reports the name of each input, and crashes on one of them.
    struct Crashing;

    impl InputReplayer for Crashing {
        fn replay(&self, input: &ReplayInput, collector: &mut ResultCollector<'_>) {
            assert!(!input.main().ends_with("3.json"), "on purpose");
            collector.problem(&input.main().to_string_lossy(), 0, "read");
        }
    }

    fn inputs(folder: &Path, numbers: impl Iterator<Item = u8>) -> Vec<ReplayInput> {
        let paths: Vec<_> = numbers.map(|number| folder.join(format!("{number}.json"))).collect();
        for path in &paths {
            std::fs::write(path, "").unwrap();
        }
        FoundInputs::shards(&paths).unwrap().inputs
    }

    /// Serves jobs, which are read from this file, in a process of its own.
    #[test]
    fn a_crash_ends_the_worker_and_names_the_input() {
        const NAME: &str = "cli::replay::worker_process::tests::a_crash_ends_the_worker_and_names_the_input";
        if let Some(path) = std::env::var_os("MODEGATE_TEST_CRASH") {
            crash::handle_panics(end_after_crash);
            let jobs = std::fs::File::open(path).unwrap();
            return drop(serve_jobs(&Crashing, CollectorOptions::default(), 0, jobs, io::sink()));
        }
        let folder = tempfile::tempdir().unwrap();
        let mut jobs = Vec::new();
        for input in inputs(folder.path(), 0..6) {
            send(&mut jobs, &(Cow::Borrowed(&input), None::<Cow<'_, PartRange>>)).unwrap();
        }
        std::fs::write(folder.path().join("jobs"), jobs).unwrap();
        let mut test = Command::new(std::env::current_exe().unwrap());
        let test = test.args(["--exact", NAME, "--nocapture"]).env("MODEGATE_TEST_CRASH", folder.path().join("jobs"));
        let output = test.output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(i32::from(EXIT_CRASH)), "{errors}");
        let named = format!("error: modegate crashed on {}\n", folder.path().join("3.json").display());
        assert!(errors.contains(&named) && errors.contains("on purpose"), "{errors}");
    }

    /// Replays with a program as its worker that is not one.
    #[cfg(unix)]
    fn replayed_with(shell_line: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let inputs = inputs(folder.path(), 4..9);
        let mut program = Command::new("sh");
        // The options of a worker are arguments of the line.
        program.args(["-c", shell_line]);
        let workers = WorkerProcess::start(program, b"setup", 1).into_iter().collect();
        let mut found = Vec::new();
        run(&inputs, workers, CollectorOptions::default(), &Crashing, |_, message| match message {
            ReplayMessage::Problem(problem) => found.push(problem.file),
            message => assert!(matches!(message, ReplayMessage::End(_))),
        });
        let names = found.iter().map(|path| Path::new(path).file_name().unwrap().to_string_lossy().into_owned());
        names.collect()
    }

    #[test]
    #[cfg(unix)]
    fn the_process_does_the_work_of_a_worker_that_cannot() {
        let expected: Vec<String> = (4..9).map(|number| format!("{number}.json")).collect();
        for line in ["exit 0", "kill -9 $$", "cat", "echo not a frame"] {
            assert_eq!(replayed_with(line), expected, "{line}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_worker_that_crashed_ends_the_replay_with_its_exit_code() {
        const NAME: &str =
            "cli::replay::worker_process::tests::a_worker_that_crashed_ends_the_replay_with_its_exit_code";
        if std::env::var_os("MODEGATE_TEST_CRASH").is_some() {
            drop(replayed_with("head -c 20 >/dev/null; exit 70"));
            return;
        }
        let mut test = Command::new(std::env::current_exe().unwrap());
        let test = test.args(["--exact", NAME, "--nocapture"]).env("MODEGATE_TEST_CRASH", "1");
        assert_eq!(test.output().unwrap().status.code(), Some(i32::from(EXIT_CRASH)));
    }
}
