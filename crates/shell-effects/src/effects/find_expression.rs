//! The expression of `find`: which paths each of its actions concerns.

use super::Exclusion;
use super::walker::Walker;
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
/// The deepest nesting of parentheses.
const DEPTH: usize = 50;
const TRUE: &str = "-depth -d -xdev -mount -noleaf -daystart -follow -prune -quit -true -warn -nowarn \
    -ignore_readdir_race -noignore_readdir_race";
/// Tests and options with a value that narrow the selection in an unknown way.
const VALUED: &str = "-amin -anewer -atime -cmin -cnewer -context -ctime -fstype -gid -group -ilname -inum -ipath \
    -iregex -iwholename -links -lname -maxdepth -mmin -mtime -newer -perm -regex -regextype -samefile -size -uid -used \
    -user -xtype -Bmin -Btime -flags";

impl Selection {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (All, other) | (Part, other @ Globs(_)) => other,
            (Globs(_), Globs(none)) if none.is_empty() => Globs(none),
            (Globs(own), Globs(other)) if own.len() == 1 && other.len() == 1 => {
                let both =
                    own.iter().zip(&other).find_map(|(own, other)| joined(own, other).or_else(|| joined(other, own)));
                Globs(vec![both.unwrap_or_else(|| own.concat())])
            }
            // Each of two limits is true; one is enough.
            (own, _) => own,
        }
    }

    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (All, _) | (_, All) => All,
            (Part, _) | (_, Part) => Part,
            (Globs(own), Globs(other)) if own.len() + other.len() > GLOBS => Part,
            (Globs(mut own), Globs(other)) => {
                own.extend(other);
                Globs(own)
            }
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

impl FindAction<'_> {
    /// Drops the limits that tests set.
    fn forget(&mut self) {
        match self {
            Self::Delete(selection) | Self::Execute(selection, _) | Self::Print(selection) => *selection = Part,
            Self::Save(_) => {}
        }
    }
}

/// Reads an expression.
pub(super) struct FindExpression<'w> {
    rest: &'w [ShellWord],
    starts: &'w [ShellWord],
    actions: Vec<FindAction<'w>>,
    /// How many parentheses are open.
    depth: usize,
    /// Whether there were too many, so that nothing is known of what is selected.
    is_too_deep: bool,
}

impl<'w> FindExpression<'w> {
    /// The actions of an expression; without one, everything selected is printed.
    pub fn actions(tests: &'w [ShellWord], starts: &'w [ShellWord]) -> Vec<FindAction<'w>> {
        let mut expression = Self { rest: tests, starts, actions: Vec::new(), depth: 0, is_too_deep: false };
        let mut whole = expression.list(&All);
        // A stray `)` is an error, but what follows it must not be lost.
        while !expression.rest.is_empty() {
            whole = whole.or(expression.list(&Part));
        }
        let mut actions = expression.actions;
        if expression.is_too_deep {
            actions.iter_mut().for_each(FindAction::forget);
            whole = Part;
        }
        if actions.iter().all(|action| matches!(action, FindAction::Save(_))) {
            actions.push(FindAction::Print(whole));
        }
        actions
    }

    fn next(&mut self) -> Option<&'w ShellWord> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    /// Reads up to the closing parenthesis. `outer` is what the tests before the opening one select.
    fn list(&mut self, outer: &Selection) -> Selection {
        let mut before: Option<Selection> = None;
        let mut now = All;
        let mut negated = false;
        while let Some(word) = self.next() {
            let Some(text) = word.text() else {
                // It may be `-o`.
                now = Part;
                continue;
            };
            let selected = match text.as_str() {
                ")" => break,
                "-a" | "-and" => continue,
                "!" | "-not" => {
                    negated = !negated;
                    continue;
                }
                "-o" | "-or" | "," => {
                    let branch = std::mem::replace(&mut now, All);
                    before = Some(before.map_or(branch.clone(), |before| before.or(branch)));
                    continue;
                }
                "(" if self.depth > DEPTH => {
                    self.is_too_deep = true;
                    continue;
                }
                "(" => {
                    self.depth += 1;
                    let selected = self.list(&outer.clone().and(now.clone()));
                    self.depth -= 1;
                    selected
                }
                name => self.test(name, &outer.clone().and(now.clone())),
            };
            let selected = if std::mem::take(&mut negated) && selected != All { Part } else { selected };
            now = now.and(selected);
        }
        match before {
            Some(before) => before.or(now),
            None => now,
        }
    }

    /// Reads a test or an action with its arguments.
    fn test(&mut self, test: &str, context: &Selection) -> Selection {
        match test {
            "-delete" => self.actions.push(FindAction::Delete(context.clone())),
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let end = self.rest.iter().position(|word| word.is(";") || word.is("+")).unwrap_or(self.rest.len());
                let (command, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, &[]));
                self.rest = rest.get(1..).unwrap_or_default();
                self.actions.push(FindAction::Execute(context.clone(), command));
            }
            "-print" | "-print0" | "-ls" => self.actions.push(FindAction::Print(context.clone())),
            "-printf" => {
                self.next();
                self.actions.push(FindAction::Print(context.clone()));
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                let file = self.next();
                self.actions.extend(file.map(FindAction::Save));
                if test == "-fprintf" {
                    self.next();
                }
            }
            "-mindepth" => drop(self.next()),
            // Links are skipped.
            "-type" | "-xtype" if self.rest.first().is_some_and(|kind| kind.is("l")) => {
                self.next();
                return Globs(Vec::new());
            }
            "-type" if self.next().and_then(ShellWord::text).is_some_and(|kind| kind.contains(['f', 'd'])) => {}
            // Removing what is empty is harmless.
            "-empty" | "-false" => return Globs(Vec::new()),
            "-name" => return self.next().and_then(ShellWord::text).map_or(Part, |name| named(&name)),
            "-iname" => return self.next().and_then(ShellWord::text).map_or(Part, |name| named(&any_case(&name))),
            "-path" | "-wholename" => return self.next().and_then(ShellWord::text).map_or(Part, |path| self.at(&path)),
            test if TRUE.split_whitespace().any(|word| word == test) => {}
            test => {
                if VALUED.split_whitespace().any(|word| word == test) || test.starts_with("-newer") {
                    self.next();
                }
                return Part;
            }
        }
        All
    }

    /// What `-path` selects. Its `*` matches slashes, too.
    fn at(&self, pattern: &str) -> Selection {
        let texts: Option<Vec<String>> = self.starts.iter().map(ShellWord::text).collect();
        let texts = texts.unwrap_or_default();
        let inside = match (texts.as_slice(), pattern.strip_prefix("*/")) {
            // The star must not stand for a part of the starting path: `find /etc -path '*/etc/*'`.
            (texts, Some(rest)) => {
                let first = rest.split('/').find(|part| *part != "*").unwrap_or_default();
                let is_in_start = texts.iter().any(|start| start.split('/').any(|part| part == first));
                (!texts.is_empty() && !is_in_start).then_some(pattern)
            }
            ([start], None) => {
                pattern.strip_prefix(start.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'))
            }
            _ => None,
        };
        let globs = inside.map(path_glob).filter(|glob| !glob.split('/').all(|part| part == "**"));
        globs.map_or(Part, |glob| Globs(vec![glob]))
    }
}

/// One glob for a folder and a name: `data/**` and `**/*.json`.
fn joined(folder: &str, name: &str) -> Option<String> {
    let name = name.strip_prefix("**/").filter(|name| !name.contains('/'))?;
    folder.ends_with("/**").then(|| format!("{folder}/{name}"))
}

/// What an expression excludes: `-not -path './x/*'`, `-path ./x -prune -o`, `-maxdepth 1 -name '*.json'`.
pub(super) fn excluded_by(tests: &[ShellWord], starts: &[ShellWord], walker: &Walker<'_>) -> Exclusion {
    let protected = walker.context.protected;
    let folder = walker.state.folder.as_deref();
    let is = |at: usize, names: &[&str]| tests.get(at).is_some_and(|word| names.iter().any(|name| word.is(name)));
    let count = |names: &[&str]| (0..tests.len()).filter(|at| is(*at, names)).count();
    let is_negated = |at: usize| at.checked_sub(1).is_some_and(|before| is(before, &["-not", "!"]));
    let has_type = |kind: &str| (0..tests.len()).any(|at| is(at, &["-type"]) && is(at + 1, &[kind]) && !is_negated(at));
    // A test counts in its own branch only.
    let has_branches = count(&["-o", "-or"]) > 0;
    let is_flat = !has_branches
        && (0..tests.len()).any(|at| is(at, &["-maxdepth"]) && is(at + 1, &["1"]))
        && folder.is_some_and(|folder| !folder.contains(&format!("/{}", protected.folder)))
        && !starts
            .iter()
            .any(|start| start.has_glob() || start.text().is_none_or(|text| text.contains(protected.folder)));
    let group = pruned_group(tests);
    let group_end = group.as_ref().and_then(|group| group.last()).map_or(0, |last| last + 2);
    let is_excluded = |at: usize| {
        let is_negated = is_negated(at);
        let Some(pattern) = tests.get(at + 1).and_then(ShellWord::text) else { return false };
        // `'*/\.*'`: the backslash changes nothing.
        let pattern = pattern.replace("\\.", ".");
        let is_name = is(at, &["-name"]);
        // Folders with other names hold no protected files.
        let is_other_folder = (is_name || is(at, &["-iname"]))
            && !is_negated
            && has_type("d")
            && !protected
                .subfolders
                .iter()
                .chain([&protected.folder])
                .any(|folder| fast_glob::glob_match(pattern.to_lowercase(), folder));
        // A folder is left out with what is in it only if `find` comes to the folder first, which `-delete` forbids.
        // Without `-o`, the next action applies to the folder itself.
        let is_grouped = group.as_ref().is_some_and(|group| group.contains(&at));
        let end = if is_grouped { group_end } else { at + 2 };
        let is_pruned = is(end, &["-prune"])
            && is(end + 1, &["-o", "-or"])
            && (pattern.ends_with('*') || count(&["-delete", "-depth", "-d"]) == 0);
        let is_excluded = is_negated && !is_name && pattern.ends_with('*') || is_pruned;
        (is_name || is(at, &["-path", "-wholename"])) && is_excluded && protected.is_covered_by(&pattern)
            || is_name && is_flat && is_negated && protected.is_covered_by(&pattern)
            || is_name && is_flat && !is_negated && !fast_glob::glob_match(&pattern, protected.folder)
            || is_other_folder && !has_branches
            || is_flat && has_type("f")
    };
    // With other alternatives, a test may not count for what is selected.
    let in_group = group.iter().flatten().filter(|at| is(**at, &["-o", "-or", "("])).count();
    let is_one_branch = count(&["-o", "-or", "("]) <= count(&["-prune"]) + in_group && count(&[","]) == 0;
    if is_one_branch && (0..tests.len()).any(is_excluded) { Exclusion::Protected } else { Exclusion::Nothing }
}

/// The places of a group of names that is left out: `( -name .git -o -name x ) -prune -o`.
fn pruned_group(tests: &[ShellWord]) -> Option<Vec<usize>> {
    let is = |at: usize, names: &[&str]| tests.get(at).is_some_and(|word| names.iter().any(|name| word.is(name)));
    let close = (0..tests.len()).find(|at| is(*at, &[")"]) && is(at + 1, &["-prune"]))?;
    let open = (0..close).rev().find(|at| is(*at, &["("]))?;
    // `-name A -o -name B`
    let is_list = (open + 1..close).enumerate().all(|(index, at)| match index % 3 {
        0 => is(at, &["-name", "-path", "-wholename"]),
        1 => true,
        _ => is(at, &["-o", "-or"]),
    });
    is_list.then(|| (open..close).collect())
}

/// A glob that matches at least what `-path` does: beyond the first pattern within a name, anything.
fn path_glob(pattern: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in pattern.split('/') {
        let is_plain = !part.is_empty() && !part.contains(['*', '?', '[', '\\']) && part != "." && part != "..";
        if is_plain {
            parts.push(literal(part));
            continue;
        }
        if parts.last().is_none_or(|last| last != "**") {
            parts.push("**".to_owned());
        }
        if part != "*" {
            break;
        }
    }
    parts.join("/")
}

/// What a pattern of `-name` selects.
fn named(name: &str) -> Selection {
    // `[`, `x\` and the like could change the meaning of the globs they are joined with.
    if is_simple(name) { Globs(vec![format!("**/{}", literal(name))]) } else { Part }
}

/// Whether a pattern has no backslash, and only brackets such as `[co]` and `[!a-z]`.
fn is_simple(pattern: &str) -> bool {
    let mut rest = pattern;
    while let Some((_, after)) = rest.split_once('[') {
        let Some((inside, after)) = after.split_once(']') else { return false };
        let inside = inside.strip_prefix('!').unwrap_or(inside);
        if inside.is_empty() || !inside.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            return false;
        }
        rest = after;
    }
    !pattern.contains('\\')
}

/// Escapes what is special in a glob but not for `find`.
fn literal(pattern: &str) -> String {
    pattern.replace('{', "\\{").replace('}', "\\}").replace(',', "\\,")
}

/// The pattern with both cases of each letter.
fn any_case(pattern: &str) -> String {
    if pattern.contains(['[', '\\']) || !pattern.is_ascii() {
        return "*".to_owned();
    }
    let both = |c: char| match c {
        c if c.is_ascii_alphabetic() => format!("[{}{}]", c.to_ascii_lowercase(), c.to_ascii_uppercase()),
        c => c.to_string(),
    };
    pattern.chars().map(both).collect()
}
