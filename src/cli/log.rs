//! `modegate log`: the events of a project's sessions, one a line.

use super::screen::{self, TextStyle, styled};
use super::{EXIT_FAILURE, EXIT_USAGE, places, why};
use crate::engine::outcome;
use crate::event::{Event, EventKind, TABLE};
use crate::journal::JournalLine;
use crate::journal_files;
use crate::paths::ProjectPaths;
use crate::verdict::Verdict;
use clap::Args;
use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(super) struct Log {
    /// Go on showing events as they come
    #[arg(long, short)]
    follow: bool,
    /// Only this session
    #[arg(long)]
    session: Option<String>,
    /// Only this event, like `PreToolUse`
    #[arg(long)]
    event: Option<String>,
    /// Only what was blocked
    #[arg(long)]
    blocked: bool,
    /// Print each line of the journal as JSON
    #[arg(long)]
    json: bool,
    /// Print where the journal is, and nothing else
    #[arg(long)]
    path: bool,
}

impl Log {
    pub(super) fn run(self, project: Option<PathBuf>) -> ExitCode {
        if let Some(name) = self.event.as_deref().filter(|name| EventKind::named(name).is_none()) {
            let names: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
            let near = crate::yaml::nearest(name, &names).map(|near| format!(", did you mean `{near}`?"));
            screen::print_error(format!("error: no event is called `{name}`{}", near.unwrap_or_default()));
            return ExitCode::from(EXIT_USAGE);
        }
        let places = places(project);
        if self.path {
            let path = match &self.session {
                Some(id) => places.journal(id),
                None => why::latest(&places).unwrap_or_else(|| places.sessions()),
            };
            screen::print_line(path.to_string_lossy());
            return ExitCode::SUCCESS;
        }
        let mut lines: Vec<JournalLine> =
            self.journals(&places).iter().flat_map(|path| journal_files::lines(path)).collect();
        lines.sort_by(|left, right| left.at.cmp(&right.at));
        if lines.is_empty() && !self.follow {
            screen::print_error(format!("no event is recorded in {}", places.home.display()));
            return ExitCode::from(EXIT_FAILURE);
        }
        for line in &lines {
            self.tell(line);
        }
        if self.follow {
            self.follow(&places);
        }
        ExitCode::SUCCESS
    }

    fn journals(&self, places: &ProjectPaths) -> Vec<PathBuf> {
        match &self.session {
            Some(id) => vec![places.journal(id)],
            None => journal_files::journals(&places.sessions()),
        }
    }

    /// Shows what is added to the journals, until somebody ends it.
    fn follow(&self, places: &ProjectPaths) {
        const PAUSE: Duration = Duration::from_millis(200);
        let size = |path: &Path| path.metadata().map_or(0, |meta| meta.len());
        let mut read: BTreeMap<PathBuf, u64> =
            self.journals(places).into_iter().map(|path| (path.clone(), size(&path))).collect();
        loop {
            for path in self.journals(places) {
                let at = read.entry(path.clone()).or_default();
                // A journal that was put older_part begins anew.
                *at = if size(&path) < *at { 0 } else { *at };
                for line in added(&path, at) {
                    self.tell(&line);
                }
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn tell(&self, line: &JournalLine) {
        let Ok(event) = Event::from_value(line.event.clone()) else { return };
        let blocked = line.decision.verdict >= Verdict::Block;
        if self.blocked && !blocked || self.event.as_ref().is_some_and(|name| name != event.name()) {
            return;
        }
        if self.json {
            screen::print_line(serde_json::to_string(line).unwrap_or_default());
            return;
        }
        let time = line.at.get(..19).unwrap_or(&line.at).replace('T', " ");
        let session: String = line.before.id.chars().take(8).collect();
        let word = outcome(&line.decision, &line.findings);
        let word = styled(why::colour(line.decision.verdict), &format!("{word:<9}"));
        let reason = line.decision.reason.lines().next().unwrap_or_default();
        let moves = line.decision.moves.join(", ");
        let told = [event.described(), reason.to_owned(), moves].into_iter().filter(|text| !text.is_empty());
        screen::print_line(format!(
            "{} {} {word} {}",
            styled(TextStyle::Dim, &time),
            styled(TextStyle::Cyan, &session),
            told.collect::<Vec<_>>().join(" · ")
        ));
    }
}

/// The whole lines that were added to a file since `at`, which is moved behind them.
fn added(path: &Path, at: &mut u64) -> Vec<JournalLine> {
    let mut bytes = Vec::new();
    let mut read = || -> std::io::Result<()> {
        let mut file = std::fs::File::open(path)?;
        file.seek(SeekFrom::Start(*at))?;
        file.read_to_end(&mut bytes).map(drop)
    };
    if read().is_err() {
        return Vec::new();
    }
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    *at += whole as u64;
    let lines = bytes.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
}
