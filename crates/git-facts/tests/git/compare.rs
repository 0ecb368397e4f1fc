//! Compares the git module with `git status` in random repositories.
//!
//! `tests/git-compare N` compares N of them; a failure is repeated with its seed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::project::Project;
use super::random_repo::{RandomNumbers, script};
use super::repo::parse_status;
use super::{ChangeKind, CommitState, changes, commit_state};

/// How many repositories a plain `cargo test` compares.
const FEW: u64 = 40;

#[test]
fn random_repositories_agree_with_git() {
    let setting = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    agree(setting("MODEGATE_COMPARE_FROM").unwrap_or(1), setting("MODEGATE_COMPARE").unwrap_or(FEW));
}

/// A folder that becomes a file in one branch, with conflicts, while another file is deleted: git takes the conflicted file for
/// the new name of the deleted one.
#[test]
fn a_deleted_file_beside_a_conflict_is_listed() {
    agree(89_213, 1);
}

/// Compares this many repositories, from this seed on.
fn agree(first: u64, count: u64) {
    let project = Project::new();
    // The settings and ignore rules of whoever runs the test must not matter, so a process of its own has them.
    let home = project.home();
    fs::create_dir_all(home.join(".config/git")).unwrap();
    fs::write(home.join(".config/git/ignore"), "x-b\n").unwrap();
    let jobs = if count > FEW { 2 } else { 1 };
    let children: Vec<_> = (0..jobs)
        .map(|job| {
            let mut command = project.plain(std::env::current_exe().unwrap());
            command.args(["--exact", "compare::part", "--ignored", "--nocapture", "--quiet"]).env("HOME", &home);
            command.env("COMPARE_SEEDS", format!("{} {} {jobs}", first + job, first + count));
            command.env("TMPDIR", std::env::temp_dir());
            command.stdout(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let (mut passed, mut failed) = (0, 0);
    let readers: Vec<_> = children.into_iter().map(|child| std::thread::spawn(move || read_results(child))).collect();
    for reader in readers {
        let (good, bad) = reader.join().unwrap();
        (passed, failed) = (passed + good, failed + bad);
    }
    say(&format!("{count} repositories\n{passed} passed, {failed} failed"));
    assert!(failed == 0 && passed > 0, "see the seeds above");
}

/// Prints the failures as they come, and counts.
fn read_results(mut child: Child) -> (u64, u64) {
    let mut counts = None;
    for line in BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap) {
        if let Some((good, bad)) = line.strip_prefix("compared ").and_then(|counts| counts.split_once(' ')) {
            counts = Some((good.parse().unwrap(), bad.parse().unwrap()));
        } else if line.starts_with("seed ") {
            say(&line);
        }
    }
    child.wait().unwrap();
    counts.expect("a comparison that ran to its end")
}

#[expect(clippy::print_stdout, reason = "the result of the comparison")]
fn say(line: &str) {
    println!("{line}");
}

/// Runs in a process of its own, see above.
#[test]
#[ignore = "run by the comparison, in a process of its own"]
fn part() {
    let Ok(seeds) = std::env::var("COMPARE_SEEDS") else { return };
    let numbers: Vec<usize> = seeds.split(' ').map(|number| number.parse().unwrap()).collect();
    let (mut passed, mut failed) = (0, 0);
    for seed in (numbers[0]..numbers[1]).step_by(numbers[2]) {
        let comparison = Comparison::new(seed as u64);
        let (asked, wrong) = comparison.run();
        passed += asked - wrong.len();
        failed += wrong.len();
        for line in wrong {
            say(&format!("seed {seed}: {line}"));
        }
    }
    say(&format!("compared {passed} {failed}"));
}

/// Prints the script of a seed, to make its repository by hand.
#[test]
#[ignore = "prints the script of one seed, for `tests/git-compare`"]
fn show() {
    if let Ok(seed) = std::env::var("MODEGATE_COMPARE_FROM") {
        say(&script(seed.parse().unwrap()));
    }
}

/// A random repository, and what git says about it.
struct Comparison {
    project: Project,
    seed: u64,
}

/// What git says about the files of one repository.
struct GitStatus {
    /// The records for each path; a removed and recreated file has two.
    records: BTreeMap<String, String>,
    /// Tracked files.
    tracked: BTreeSet<String>,
    /// Submodules.
    links: BTreeSet<String>,
}

type GitStatuses = BTreeMap<PathBuf, GitStatus>;

impl Comparison {
    fn new(seed: u64) -> Self {
        let project = Project::new();
        let made = Self { project, seed };
        let mut shell = made.command("sh", &made.root());
        shell.args(["-c", &script(seed)]).output().unwrap();
        made
    }

    fn root(&self) -> PathBuf {
        self.project.home()
    }

    fn command(&self, program: &str, folder: &Path) -> Command {
        let mut command = self.project.plain(program);
        command.current_dir(folder).env("HOME", std::env::var_os("HOME").unwrap());
        command.envs([("LC_ALL", "C.UTF-8"), ("GIT_OPTIONAL_LOCKS", "0"), ("GIT_LITERAL_PATHSPECS", "1")]);
        command.envs([("GIT_AUTHOR_DATE", "2020-01-01T00:00:00Z"), ("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z")]);
        command
    }

    /// What git prints, `None` if it fails or cannot look at a file: it lists a deleted file below a link to itself
    /// neither as deleted nor as there.
    fn git(&self, repo: &Path, args: &[&str]) -> Option<String> {
        let mut command = self.command("git", repo);
        let index = self.unmarked_index(repo);
        if index.exists() {
            command.env("GIT_INDEX_FILE", index);
        }
        let output = command.args(args).output().unwrap();
        let is_lost = String::from_utf8_lossy(&output.stderr).contains("Too many levels of symbolic links");
        (output.status.success() && !is_lost).then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn unmarked_index(&self, repo: &Path) -> PathBuf {
        let name: String = repo.strip_prefix(self.root()).unwrap().to_string_lossy().replace('/', "%");
        self.root().parent().unwrap().join(format!("index of {name}"))
    }

    /// The questions asked, and the answers that differ from git's.
    ///
    /// The git module answers first; then everything that hides changes on purpose is undone, and git is asked.
    fn run(&self) -> (usize, Vec<String>) {
        let root = self.root();
        let paths = paths(&root);
        let files: Vec<&String> = paths.iter().filter(|path| !path.ends_with('/')).collect();
        let scopes = self.scopes(&paths);
        let states: Vec<_> = files.iter().map(|path| commit_state(&root, Path::new(path))).collect();
        let lists: Vec<_> = scopes.iter().map(|scope| changes(&root, scope)).collect();
        let repos = self.repositories();
        for repo in &repos {
            self.reveal(repo);
        }
        let statuses: GitStatuses =
            repos.into_iter().filter_map(|repo| Some((repo.clone(), self.status(&repo)?))).collect();
        let (mut asked, mut wrong) = (0, Vec::new());
        for (path, found) in files.into_iter().zip(states) {
            let Some(expected) = expected(&statuses, &root, path) else { continue };
            asked += 1;
            if found != Ok(expected) {
                wrong.push(format!("`{path}` is {expected:?} for git, not {found:?}"));
            }
        }
        for (scope, found) in scopes.iter().zip(lists) {
            let Some(expected) = self.expected_changes(&statuses, &root, scope) else { continue };
            asked += 1;
            let found = match found {
                Ok(found) => shown(found.into_iter().map(|change| (change.path, change.kind))),
                Err(why) => why.to_string(),
            };
            let expected = shown(expected);
            if found != expected {
                wrong.push(format!("changes under {scope:?} are {expected} for git, not {found}"));
            }
        }
        (asked, wrong)
    }

    /// The paths whose changes are asked for: everything, and some lists of files and folders.
    fn scopes(&self, paths: &[String]) -> Vec<Vec<String>> {
        let mut random = RandomNumbers::new(self.seed ^ 0xabcd);
        let paths: Vec<&str> = paths.iter().map(String::as_str).chain(["none", "src/none"]).collect();
        let mut scopes = vec![vec![String::new()]];
        for _ in 0..3 {
            let all: Vec<_> = (0..=random.below(2)).map(|_| random.pick(&paths).trim_end_matches('/')).collect();
            // git names the files of an untracked folder if one of them is asked for as well.
            let outer = all.iter().filter(|path| !all.iter().any(|other| is_inside(path, other)));
            scopes.push(outer.map(|path| (*path).to_owned()).collect());
        }
        scopes
    }

    /// Undoes what hides changes: settings for submodules outside of `.gitmodules`, and marks in the index.
    fn reveal(&self, repo: &Path) {
        let hiding = [
            "config",
            "--local",
            "-z",
            "--name-only",
            "--get-regexp",
            r"^(diff\.ignoresubmodules|submodule\..*\.ignore)$",
        ];
        for key in self.git(repo, &hiding).unwrap_or_default().split('\0').filter(|key| !key.is_empty()) {
            self.git(repo, &["config", "--local", "--unset-all", key]);
        }
        self.unmark(repo);
    }

    /// The repository and all that git finds inside of it, the outer ones first.
    fn repositories(&self) -> Vec<PathBuf> {
        let root = self.root();
        let mut found = vec![root.clone()];
        for path in paths(&root).into_iter().filter(|path| path.ends_with('/')) {
            let folder = root.join(path.trim_end_matches('/'));
            if folder.join(".git").symlink_metadata().is_ok() {
                let top = self.git(&folder, &["rev-parse", "--show-toplevel"]);
                if top.is_some_and(|top| Path::new(top.trim_end_matches('\n')) == folder) {
                    found.push(folder);
                }
            }
        }
        found
    }

    /// Makes an index in which no file that exists is marked as unchanged: such marks do not hide a change from a gate.
    /// A file that is marked skip-worktree and absent is one that a sparse checkout leaves out.
    fn unmark(&self, repo: &Path) {
        let Some(listed) = self.git(repo, &["ls-files", "-v", "-z"]) else { return };
        let sparse =
            self.git(repo, &["config", "--type=bool", "core.sparseCheckout"]).is_some_and(|text| text == "true\n");
        let is_there = |path: &str| repo.join(path).symlink_metadata().is_ok();
        let records: Vec<_> = listed.split('\0').filter_map(|record| record.split_at_checked(2)).collect();
        let assumed = records.iter().filter(|(tag, _)| tag.starts_with(|letter: char| letter.is_lowercase()));
        let skipped = records.iter().filter(|(tag, path)| tag.starts_with(['S', 's']) && (!sparse || is_there(path)));
        let marked = [
            ("--no-assume-unchanged", assumed.map(|(_, path)| *path).collect::<Vec<_>>()),
            ("--no-skip-worktree", skipped.map(|(_, path)| *path).collect()),
        ];
        if marked.iter().all(|(_, paths)| paths.is_empty()) {
            return;
        }
        let git_dir = self.git(repo, &["rev-parse", "--absolute-git-dir"]).unwrap();
        let index = Path::new(git_dir.trim_end_matches('\n')).join("index");
        fs::copy(&index, self.unmarked_index(repo)).unwrap();
        // Its time decides whose timestamps can be believed.
        let copy = fs::File::options().append(true).open(self.unmarked_index(repo)).unwrap();
        copy.set_modified(index.metadata().unwrap().modified().unwrap()).unwrap();
        for (option, paths) in marked {
            self.git(repo, &[&["update-index", option, "--"], paths.as_slice()].concat()).unwrap();
        }
    }

    fn status(&self, repo: &Path) -> Option<GitStatus> {
        let args = ["status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignored", "--no-renames"];
        let mut records: BTreeMap<String, String> = BTreeMap::new();
        for record in self.git(repo, &args)?.split('\0').filter(|record| !record.is_empty()) {
            let path = if record.starts_with(['?', '!']) { &record[2..] } else { parse_status(record).0 };
            // A file that was removed from the index only is listed twice.
            records.insert(path.to_owned(), record.to_owned());
        }
        let listed = self.git(repo, &["ls-files", "-s", "-z"])?;
        let (mut tracked, mut links) = (BTreeSet::new(), BTreeSet::new());
        for (facts, path) in listed.split('\0').filter_map(|record| record.split_once('\t')) {
            let set = if facts.starts_with("160000") { &mut links } else { &mut tracked };
            set.insert(path.to_owned());
        }
        Some(GitStatus { records, tracked, links })
    }

    /// What `git status` lists under `scope`; paths in submodules are asked for there.
    fn expected_changes(
        &self,
        statuses: &GitStatuses,
        repo: &Path,
        scope: &[String],
    ) -> Option<Vec<(String, ChangeKind)>> {
        let links = &statuses.get(repo)?.links;
        let (mut own, mut found) = (Vec::new(), Vec::new());
        for path in scope {
            let link =
                links.iter().find(|link| path.strip_prefix(link.as_str()).is_some_and(|rest| rest.starts_with('/')));
            match link {
                Some(link) if statuses.contains_key(&repo.join(link)) => {
                    let inner =
                        self.expected_changes(statuses, &repo.join(link), &[path[link.len() + 1..].to_owned()])?;
                    found.extend(inner.into_iter().map(|(path, kind)| (format!("{link}/{path}"), kind)));
                }
                // git lists nothing under a path in a repository that is no submodule; the repository is untracked.
                _ if statuses.keys().any(|nested| {
                    nested.starts_with(repo)
                        && nested != repo
                        && repo.join(path) != *nested
                        && repo.join(path).starts_with(nested)
                }) =>
                {
                    return None;
                }
                _ => own.push(if path.is_empty() { "." } else { path }),
            }
        }
        if !own.is_empty() {
            let options =
                ["status", "--porcelain=v2", "-z", "--untracked-files=normal", "--ignored=no", "--find-renames", "--"];
            let output = self.git(repo, &[&options, own.as_slice()].concat())?;
            let mut records = output.split('\0').filter(|record| !record.is_empty());
            let (mut sources, mut is_conflicted) = (BTreeSet::new(), false);
            while let Some(record) = records.next() {
                let (path, kind) = parse_status(record);
                // With `core.splitIndex` and `index.skipHash`, git can write an index with a nameless entry.
                if path.is_empty() {
                    return None;
                }
                is_conflicted |= kind == ChangeKind::Conflicted;
                found.push((path.to_owned(), kind));
                if record.starts_with("2 ") {
                    sources.extend(records.next());
                }
            }
            if is_conflicted {
                found
                    .extend(self.deleted(repo, &own)?.into_iter().filter(|(path, _)| !sources.contains(path.as_str())));
            }
        }
        found.sort();
        found.dedup();
        Some(found)
    }

    /// The files that git lists as deleted when it looks for no renames. Otherwise it drops one that resembles a file
    /// with conflicts.
    fn deleted(&self, repo: &Path, scope: &[&str]) -> Option<Vec<(String, ChangeKind)>> {
        let options = ["status", "--porcelain=v2", "-z", "--untracked-files=no", "--no-renames", "--"];
        let output = self.git(repo, &[&options, scope].concat())?;
        let records = output.split('\0').filter(|record| record.starts_with("1 .D"));
        Some(records.map(parse_status).map(|(path, kind)| (path.to_owned(), kind)).collect())
    }
}

fn is_inside(path: &str, folder: &str) -> bool {
    (folder.is_empty() && !path.is_empty()) || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

fn shown(changes: impl IntoIterator<Item = (String, ChangeKind)>) -> String {
    changes.into_iter().map(|(path, kind)| format!("{path} ({kind:?})")).collect::<Vec<_>>().join(", ")
}

/// All files and folders below `root`, outside of git's own; a folder ends in a slash.
fn paths(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).into_iter().flatten().flatten() {
            let path = format!("{folder}{}", entry.file_name().to_string_lossy());
            if entry.file_name() == ".git" {
                continue;
            }
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                folders.push(format!("{path}/"));
                found.push(format!("{path}/"));
            } else if kind.is_file() || kind.is_symlink() {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// What git says about the file at `path` of the repository at `repo`, `None` if it fails.
fn expected(statuses: &GitStatuses, repo: &Path, path: &str) -> Option<CommitState> {
    let status = statuses.get(repo)?;
    let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
    let nested = folders.clone().find(|folder| statuses.contains_key(&repo.join(folder)));
    if let Some(nested) = nested.filter(|nested| status.links.contains(*nested)) {
        return expected(statuses, &repo.join(nested), &path[nested.len() + 1..]);
    }
    // A file that was only removed from the index may be in a folder that is untracked or ignored.
    let record = status.records.get(path).map(String::as_str).filter(|record| !record.starts_with("1 D."));
    let folder = folders.clone().find_map(|folder| status.records.get(&format!("{folder}/")));
    Some(match (record, folder) {
        (None, None) if status.tracked.contains(path) || status.links.contains(path) => CommitState::Committed,
        (None, Some(folder)) if folder.starts_with('!') => CommitState::Ignored,
        (None, _) => CommitState::Untracked,
        (Some(record), _) => match &record[..4.min(record.len())] {
            text if text.starts_with('?') => CommitState::Untracked,
            text if text.starts_with('!') => CommitState::Ignored,
            text if text.starts_with('1') && text.ends_with(['.', 'A']) => CommitState::Staged,
            _ => CommitState::Modified,
        },
    })
}
