//! `git add` and `git commit`: what they stage, and the message of the commit.

use super::args::Args;
use super::target_path::TargetPath;
use super::walker::Walker;
use crate::word::{self, ShellWord};

/// The message of a commit that the line makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitMessage {
    /// The text, possibly with unknown pieces.
    Text(ShellWord),
    /// A file that exists before the line runs.
    File(TargetPath),
    /// It is written in an editor.
    Editor,
    /// The message of an earlier commit.
    Earlier,
}

/// What a `git add` or `git commit` stages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StagedFiles {
    /// The command, for messages.
    pub by: String,
    /// Whether it stages everything here: `-A`, `-u`, `.`, `git commit -a`.
    pub all: bool,
    /// Whether it stages ignored files, too.
    pub forced: bool,
    /// Whether it leaves out untracked files.
    pub tracked: bool,
    /// The paths it names.
    pub paths: Vec<TargetPath>,
}

/// `git add`, also known as `git stage`.
pub(super) fn add(walker: &mut Walker<'_>, rest: &[ShellWord]) {
    let args = Args::new(rest, "--chmod --pathspec-from-file");
    if args.has("-n --dry-run") {
        return;
    }
    let mut staged = named(walker, "git add", rest, &args.operands);
    let everything = args.has("-A --all --no-ignore-removal -u --update") && args.operands.is_empty();
    staged.all |= everything;
    staged.forced = args.has("-f --force");
    staged.tracked = args.has("-u --update");
    if args.has("--pathspec-from-file") {
        staged.paths.push(TargetPath::Unknown { bare: None });
    }
    if staged.all || !staged.paths.is_empty() {
        walker.effects.staged.push(staged);
    }
}

pub(super) fn commit(walker: &mut Walker<'_>, rest: &[ShellWord], input: &ShellWord) {
    const VALUED: &str = "-m --message -F --file -C --reuse-message -c --reedit-message --fixup --squash --author --date \
                          -t --template --trailer --cleanup --pathspec-from-file";
    let args = Args::new(rest, VALUED);
    if args.has("--dry-run") {
        return;
    }
    let mut staged = named(walker, "git commit", rest, &args.operands);
    staged.all |= args.has("-a --all");
    staged.tracked = true;
    if staged.all || !staged.paths.is_empty() {
        walker.effects.staged.push(staged);
    }
    let message = message(walker, &args, input);
    walker.effects.commits.push(message);
}

fn message(walker: &Walker<'_>, args: &Args, input: &ShellWord) -> CommitMessage {
    let mut text = ShellWord::default();
    for part in args.values("-m --message") {
        if !text.pieces().is_empty() {
            text.push("\n\n");
        }
        text.extend(part);
    }
    let edited = args.has("-e --edit -c --reedit-message -p --patch --interactive");
    match args.value("-F --file") {
        _ if edited => CommitMessage::Editor,
        _ if args.has("--fixup --squash -C --reuse-message") => CommitMessage::Earlier,
        Some(file) if file.is("-") || file.is("/dev/stdin") => CommitMessage::Text(input.clone()),
        Some(file) => {
            walker.content(file).map_or_else(|| CommitMessage::File(walker.target(file)), CommitMessage::Text)
        }
        None if args.has("-m --message") => CommitMessage::Text(text),
        None if args.has("--no-edit") => CommitMessage::Earlier,
        None => CommitMessage::Editor,
    }
}

/// The pathspecs of a command.
fn named(walker: &Walker<'_>, command: &str, rest: &[ShellWord], operands: &[ShellWord]) -> StagedFiles {
    let by = [&[ShellWord::new(command)], rest].concat();
    let mut staged = StagedFiles { by: word::shown(&by), all: false, forced: false, tracked: false, paths: Vec::new() };
    for operand in operands {
        let text = operand.filled("");
        let text = text.strip_prefix(":/").or_else(|| text.strip_prefix(":(top)")).unwrap_or(&text);
        let whole = ["", ".", "./", "*", "./*"].contains(&text) && operand.text().is_some();
        let root = walker.context.project.trim_end_matches('/');
        if whole || operand.is(root) || operand.is(&format!("{root}/")) {
            staged.all = true;
        } else if text.starts_with(":(") {
            staged.paths.push(TargetPath::Unknown { bare: None });
        } else if !text.starts_with(":!") && !text.starts_with(":^") {
            let top = operand.after(":/").map(|below| ShellWord::new(root).child(&below));
            staged.paths.push(walker.target(top.as_ref().unwrap_or(operand)));
        }
    }
    staged
}
