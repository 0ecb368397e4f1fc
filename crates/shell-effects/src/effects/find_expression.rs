//! The expression of `find`: which paths each of its actions concerns.

use super::Exclusion;
use super::walker::Walker;
use crate::has_name;
use crate::word::ShellWord;
use Selection::{All, Globs, Part};

/// A superset of what tests select.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Selection {
    /// The starting path and everything below it.
    All,
    /// An unknown part of it.
    Part,
    /// Paths that match one of these globs, which begin at the starting path.
    Globs(Vec<String>),
}

/// An action with the paths that it concerns.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FindAction<'w> {
    Delete(Selection),
    Execute(Selection, &'w [ShellWord]),
    Print(Selection),
    /// Writes a file, whatever is found.
    Save(&'w ShellWord),
}

/// The most alternatives.
const GLOBS: usize = 50;
/// Tests that are true of everything, or nearly so, and actions without an effect.
const TRUE: &str = "-depth -d -xdev -mount -noleaf -daystart -follow -prune -quit -true -warn -nowarn \
    -ignore_readdir_race -noignore_readdir_race";
/// Tests and options with a value that narrow the selection in an unknown way.
const VALUED: &str = "-amin -anewer -atime -cmin -cnewer -context -ctime -fstype -gid -group -ilname -inum -ipath \
    -iregex -iwholename -links -lname -maxdepth -mmin -mtime -newer* -perm -regex -regextype -samefile -size -uid -used \
    -user -xtype -Bmin -Btime -flags -path -wholename";

impl Selection {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (All, other) | (Part, other @ Globs(_)) => other,
            (Globs(_), Globs(none)) if none.is_empty() => Globs(none),
            // Each of two limits is true; one is enough.
            (own, _) => own,
        }
    }

    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (All, _) | (_, All) => All,
            (Globs(own), Globs(other)) if own.len() + other.len() <= GLOBS => Globs([own, other].concat()),
            _ => Part,
        }
    }

    /// Whether a starting path is selected itself: `find /etc -name etc`.
    pub fn has_start(&self, start: &ShellWord) -> bool {
        let text = start.text().unwrap_or_else(|| "any".to_owned());
        let name = text.trim_end_matches('/').rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("/");
        match self {
            All => true,
            Part => false,
            Globs(globs) => {
                globs.iter().filter_map(|glob| glob.strip_prefix("**/")).any(|glob| fast_glob::glob_match(glob, name))
            }
        }
    }

    /// What is found below a starting path.
    pub fn below(&self, start: &ShellWord) -> ShellWord {
        start.child(&self.glob().map_or_else(ShellWord::unknown, ShellWord::glob))
    }

    /// One glob for all.
    fn glob(&self) -> Option<String> {
        let Globs(globs) = self else { return None };
        if let [one] = globs.as_slice() {
            return Some(one.clone());
        }
        let names: Option<Vec<&str>> = globs.iter().map(|glob| glob.strip_prefix("**/")).collect();
        let names = names.filter(|names| !names.is_empty() && !names.iter().any(|name| name.contains('/')))?;
        Some(format!("**/{{{}}}", names.join(",")))
    }
}

/// What is selected within parentheses, or in the whole expression.
struct Group {
    /// By the tests before the group.
    outer: Selection,
    /// By the alternatives so far.
    before: Option<Selection>,
    /// By the current one.
    now: Selection,
    negated: bool,
}

impl Group {
    fn new(outer: Selection) -> Self {
        Self { now: outer.clone(), outer, before: None, negated: false }
    }

    fn whole(self) -> Selection {
        match self.before {
            Some(before) => before.or(self.now),
            None => self.now,
        }
    }

    fn narrow(&mut self, selected: Selection) {
        let selected = if std::mem::take(&mut self.negated) && selected != All { Part } else { selected };
        self.now = std::mem::replace(&mut self.now, All).and(selected);
    }
}

/// The actions of an expression; without one, everything selected is printed.
pub(super) fn actions(tests: &[ShellWord]) -> Vec<FindAction<'_>> {
    let (mut rest, mut actions) = (tests, Vec::new());
    let mut outer: Vec<Group> = Vec::new();
    let mut group = Group::new(All);
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        match word.text().as_deref() {
            // It may be `-o`.
            None => group.now = Part,
            Some("(") => {
                let inner = Group::new(group.now.clone());
                outer.push(std::mem::replace(&mut group, inner));
            }
            Some(")") => {
                if let Some(parent) = outer.pop() {
                    let selected = std::mem::replace(&mut group, parent).whole();
                    group.narrow(selected);
                }
            }
            Some("-a" | "-and") => {}
            Some("!" | "-not") => group.negated = !group.negated,
            Some("-o" | "-or" | ",") => {
                let branch = std::mem::replace(&mut group.now, group.outer.clone());
                group.before = Some(group.before.take().map_or(branch.clone(), |before| before.or(branch)));
            }
            Some(test) => {
                let selected = tested(test, &mut rest, &group.now, &mut actions);
                group.narrow(selected);
            }
        }
    }
    if actions.iter().all(|action| matches!(action, FindAction::Save(_))) {
        let whole = outer.into_iter().fold(group.whole(), |whole, group| whole.or(group.whole()));
        actions.push(FindAction::Print(whole));
    }
    actions
}

/// Reads a test or an action with its arguments.
fn tested<'w>(
    test: &str,
    rest: &mut &'w [ShellWord],
    selected: &Selection,
    actions: &mut Vec<FindAction<'w>>,
) -> Selection {
    let mut next = || {
        let (first, after) = rest.split_first()?;
        *rest = after;
        Some(first)
    };
    match test {
        "-delete" => actions.push(FindAction::Delete(selected.clone())),
        "-exec" | "-execdir" | "-ok" | "-okdir" => {
            let end = rest.iter().position(|word| word.is(";") || word.is("+")).unwrap_or(rest.len());
            let (command, after) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            *rest = after.get(1..).unwrap_or_default();
            actions.push(FindAction::Execute(selected.clone(), command));
        }
        "-print" | "-print0" | "-ls" => actions.push(FindAction::Print(selected.clone())),
        "-printf" => {
            next();
            actions.push(FindAction::Print(selected.clone()));
        }
        "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
            actions.extend(next().map(FindAction::Save));
            if test == "-fprintf" {
                next();
            }
        }
        "-mindepth" => drop(next()),
        "-type" | "-xtype" => {
            return match next().and_then(ShellWord::text).as_deref() {
                // Links are skipped.
                Some("l") => Globs(Vec::new()),
                Some(kind) if test == "-type" && kind.contains(['f', 'd']) => All,
                _ => Part,
            };
        }
        // Removing what is empty is harmless.
        "-empty" | "-false" => return Globs(Vec::new()),
        "-name" => return next().and_then(ShellWord::text).and_then(|name| named(&name)).unwrap_or(Part),
        "-iname" => return next().and_then(ShellWord::text).and_then(|name| named(&any_case(&name))).unwrap_or(Part),
        test if has_name(TRUE, test) => {}
        test => {
            if has_name(VALUED, test) {
                next();
            }
            return Part;
        }
    }
    All
}

/// What `-name` selects. `{`, an open `[` and the like could change the meaning of the globs they are joined with.
fn named(name: &str) -> Option<Selection> {
    let is_class = |part: &str| {
        part.split_once(']').is_some_and(|(own, _)| {
            !own.is_empty() && own.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '!')
        })
    };
    let is_plain = !name.contains(['\\', '{', '}', ',']) && name.split('[').skip(1).all(is_class);
    is_plain.then(|| Globs(vec![format!("**/{name}")]))
}

/// The pattern with both cases of each letter.
fn any_case(pattern: &str) -> String {
    let both = |c: char| match c {
        c if c.is_ascii_alphabetic() => format!("[{}{}]", c.to_ascii_lowercase(), c.to_ascii_uppercase()),
        c => c.to_string(),
    };
    if pattern.contains('[') { "*".to_owned() } else { pattern.chars().map(both).collect() }
}

/// Whether an expression plainly leaves out the protected folder: `-not -path './x/*'`, `-path ./x -prune -o`,
/// `-maxdepth 1 -type f`.
pub(super) fn excluded_by(tests: &[ShellWord], starts: &[ShellWord], walker: &Walker<'_>) -> Exclusion {
    let protected = walker.context.protected;
    let is_covered = |pattern: &str| protected.is_covered_by(pattern);
    // `'*/\.*'`: the backslash changes nothing.
    let plain: Vec<String> = tests.iter().map(|word| word.filled("…").replace("\\.", ".")).collect();
    let words: Vec<&str> = [""].into_iter().chain(plain.iter().map(String::as_str)).collect();
    let contains = |names: &str| words.iter().any(|word| has_name(names, word));
    let has = |negated: bool, fits: &dyn Fn(&str, &str) -> bool| {
        let is = |three: &[&str]| matches!(three, [before, test, value] if has_name("! -not", before) == negated && fits(test, value));
        words.windows(3).any(is)
    };
    if contains("-prune") {
        // `-delete` comes to what is in a folder before the folder.
        let is_left_out = |two: &[&[&str]]| match two {
            [own, ["-o" | "-or", ..]] => is_list_with(own, &is_covered),
            _ => false,
        };
        let parts: Vec<&[&str]> = words.split(|word| *word == "-prune").collect();
        let is_left_out = !contains("-delete -depth -d ,") && parts.windows(2).any(is_left_out);
        return if is_left_out { Exclusion::Protected } else { Exclusion::Nothing };
    }
    let is_inside = |text: Option<String>| text.is_none_or(|text| text.contains(protected.folder));
    let is_flat = has(false, &|test, value| test == "-maxdepth" && value == "1")
        && !is_inside(walker.state.folder.clone())
        && !starts.iter().any(|start| start.has_glob() || is_inside(start.text()));
    let matches_folder = |name: &str| {
        let mut folders = protected.subfolders.iter().chain([&protected.folder]);
        folders.any(|folder| fast_glob::glob_match(name.to_lowercase(), folder))
    };
    // Folders with other names hold no protected files.
    let is_other =
        |part: &str| !part.contains(['*', '?', '[', '\\']) && !["", ".", ".."].contains(&part) && !matches_folder(part);
    let is_below_other =
        |path: &str| path.rsplit_once('/').is_some_and(|(folders, _)| folders.split('/').any(is_other));
    let is_excluded = has(false, &|test, value| has_name("-path -wholename", test) && is_below_other(value))
        || has(true, &|test, value| has_name("-path -wholename", test) && value.ends_with('*') && is_covered(value))
        || is_flat && has(true, &|test, value| test == "-name" && is_covered(value))
        || is_flat && has(false, &|test, value| test == "-name" && !fast_glob::glob_match(value, protected.folder))
        || is_flat && has(false, &|test, value| test == "-type" && value == "f")
        || has(false, &|test, value| test == "-type" && value == "d")
            && has(false, &|test, value| has_name("-name -iname", test) && !matches_folder(value));
    // With alternatives, a test may not count for what is selected.
    if is_excluded && !contains("-o -or , (") { Exclusion::Protected } else { Exclusion::Nothing }
}

/// Whether the tests before `-prune` are a list of paths and names, one of which fits: `( -name .git -o -name x )`.
fn is_list_with(tests: &[&str], fits: &dyn Fn(&str) -> bool) -> bool {
    let tests: Vec<&str> = tests.iter().filter(|test| !has_name("( )", test) && !test.is_empty()).copied().collect();
    let tests = tests.strip_prefix(&["-type", "d"]).or_else(|| tests.strip_prefix(&["-o"])).unwrap_or(&tests);
    let mut pairs = tests.split(|test| has_name("-o -or", test));
    let is_pair = |pair: &&[&str]| matches!(pair, [test, _] if has_name("-name -path -wholename", test));
    pairs.clone().all(|pair| is_pair(&pair)) && pairs.any(|pair| pair.last().is_some_and(|value| fits(value)))
}
