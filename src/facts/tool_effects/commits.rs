//! Answers about commits: their messages, and what they stage.

use super::{ToolEffects, shortened};
use crate::facts::{Answer, FoundStaging, StagingQuery, TextFindings, TextQuery, Unknown, search_text};
use shell_effects::{CommitMessage, StagedFiles, TargetPath};

/// Reads a file, for the message of a commit.
type ReadFile<'a> = dyn Fn(&str) -> Result<Vec<u8>, Unknown> + 'a;

/// Lists files that would be staged.
pub(crate) trait StageListing {
    /// A path relative to the project, or an absolute path outside of it.
    fn relative(&self, path: &str) -> String;

    /// The files that staging a path of the project would include.
    fn files(&self, path: &str, staged: &StagedFiles) -> Result<Vec<String>, Unknown>;
}

impl ToolEffects {
    /// Searches the messages of all commits; what is missing in one of them is missing.
    pub(crate) fn commit_message(&self, wanted: &TextQuery, read: &ReadFile<'_>) -> Result<Answer, Unknown> {
        self.readable()?;
        let mut all: Option<TextFindings> = None;
        for message in &self.line.commits {
            let found = search_text(&text_of(message, read)?, wanted)?;
            let all = all.get_or_insert(TextFindings { chars: found.chars, missing: Vec::new() });
            all.chars = found.chars.min(all.chars);
            let new: Vec<String> = found.missing.into_iter().filter(|new| !all.missing.contains(new)).collect();
            all.missing.extend(new);
        }
        Ok(all.map_or(Answer::NoText, Answer::Text))
    }

    /// Finds the first command that stages what is asked about.
    pub(crate) fn added(
        &self,
        asked: &StagingQuery,
        listing: &dyn StageListing,
    ) -> Result<Option<FoundStaging>, Unknown> {
        let mut doubt = self.readable().err();
        for staged in self.line.staged.iter().filter(|staged| staged.forced || !asked.forced) {
            let may_be_all = staged.paths.iter().any(|path| matches!(path, TargetPath::Unknown { .. }));
            if asked.all && !staged.all {
                doubt = doubt.or_else(|| may_be_all.then(|| not_shown(staged)));
                continue;
            }
            let by = shortened(&staged.by);
            if asked.paths.is_empty() {
                return Ok(Some(FoundStaging { by, path: None }));
            }
            match matching(staged, &asked.paths, listing) {
                Ok(Some(path)) => return Ok(Some(FoundStaging { by, path: Some(path) })),
                Ok(None) => {}
                Err(why) => doubt = Some(why),
            }
        }
        doubt.map_or(Ok(None), Err)
    }

    fn readable(&self) -> Result<(), Unknown> {
        let why = self.unreadable.as_ref();
        why.map_or(Ok(()), |why| Err(Unknown::unreadable_command(why)))
    }
}

fn text_of(message: &CommitMessage, read: &ReadFile<'_>) -> Result<String, Unknown> {
    const NOT_SHOWN: &str = "the command line does not show the whole commit message";
    match message {
        CommitMessage::Text(word) => word.text().ok_or_else(|| NOT_SHOWN.into()),
        CommitMessage::File(TargetPath::Known { path, glob: false }) => {
            read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        }
        CommitMessage::File(_) => Err(NOT_SHOWN.into()),
        CommitMessage::Editor => Err("the commit message is written in an editor".into()),
        CommitMessage::Earlier => Err("the commit message is that of an earlier commit".into()),
    }
}

/// The first staged file that matches one of `globs`.
fn matching(staged: &StagedFiles, globs: &[String], listing: &dyn StageListing) -> Result<Option<String>, Unknown> {
    let fits = |path: &String| globs.iter().any(|glob| fast_glob::glob_match(glob.as_str(), path.as_str()));
    let mut doubt = None;
    let everything = || listing.files(".", staged);
    for target in staged.all.then_some(None).into_iter().chain(staged.paths.iter().map(Some)) {
        let files = match target {
            None => everything(),
            Some(TargetPath::Known { path, glob }) => {
                let path = listing.relative(path);
                if fits(&path) {
                    return Ok(Some(path));
                }
                // A quoted glob is expanded by git.
                if *glob || path.contains('*') {
                    let own = |file: &String| fast_glob::glob_match(path.as_str(), file.as_str());
                    everything().map(|files| files.into_iter().filter(own).collect())
                } else {
                    listing.files(&path, staged)
                }
            }
            Some(_) => Err(not_shown(staged)),
        };
        match files {
            Ok(files) => {
                if let Some(found) = files.into_iter().find(fits) {
                    return Ok(Some(found));
                }
            }
            Err(why) => doubt = Some(why),
        }
    }
    doubt.map_or(Ok(None), Err)
}

fn not_shown(staged: &StagedFiles) -> Unknown {
    format!("the command line does not show what `{}` stages", shortened(&staged.by)).into()
}
