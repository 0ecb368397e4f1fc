//! Code of other languages: the command lines and paths in its calls.
//!
//! Code is not parsed. A string in a call that starts programs is a command line, one in a call that removes or writes files
//! is a path. Other strings of code that starts programs or removes files are only suspected ([`suspect`]).

use super::inline_code::guessed;
use super::target_path::TargetPath;
use super::walker::Walker;
use super::{Effect, copy_move};
use crate::has_name;
use crate::word::ShellWord;
use std::borrow::Cow;

/// Functions that start a program.
const STARTING: &str = "system popen Popen run call check_call check_output getoutput exec execSync execFile execFileSync \
    spawn spawnSync shell_exec passthru execvp execlp execv execl";
/// Text of code that starts programs.
const STARTING_MARKS: &str =
    "system popen Popen subprocess spawn exec passthru getoutput child_process qx %x shell pty. $(";
/// Text of code that removes files.
const REMOVING_MARKS: &str = "rmtree unlink remove rmdir rmSync rm_r rimraf delete";
/// Functions that remove their argument; a plain `remove` is usually a list's.
const REMOVING: &str = "rmtree unlink os.remove rmdir removedirs rmSync unlinkSync rmdirSync fs.rm rm_rf rm_r \
    File.delete File.unlink Dir.delete Dir.rmdir Deno.remove Deno.removeSync remove_tree remove_dir remove_entry removeSync emptyDirSync rimraf rimrafSync";
/// Functions of Node's promises that write their first argument.
const WRITING_PROMISES: &str = "writeFile appendFile truncate";
/// Functions that write their first argument.
const WRITING_FIRST: &str = "file_put_contents writeFileSync appendFileSync truncateSync fs.writeFile fs.appendFile \
    fs.outputFileSync createWriteStream Bun.write Deno.writeTextFileSync Deno.writeFileSync File.write IO.write";
/// Functions that write their second argument.
const WRITING_SECOND: &str = "shutil.copy shutil.copyfile shutil.copy2 shutil.copytree os.symlink os.link cpSync \
    copyFileSync symlinkSync linkSync fs.cp fs.copyFile FileUtils.cp FileUtils.cp_r";
/// Those of them that copy folders.
const COPYING_FOLDERS: &str = "shutil.copytree cpSync fs.cp FileUtils.cp_r";
/// Functions that move their first argument to the second.
const MOVING: &str = "shutil.move os.rename os.renames os.replace renameSync moveSync fs.rename fs.move FileUtils.mv File.rename \
    Deno.rename";
/// Expressions for the user's home, with single quotes.
const HOMES: [&str; 12] = [
    "Path('~').expanduser()",
    "pathlib.Path.home()",
    "Path.home()",
    "require('os').homedir()",
    "require('node:os').homedir()",
    "os.homedir()",
    "homedir()",
    "process.env.HOME",
    "os.environ['HOME']",
    "os.environ.get('HOME')",
    "os.getenv('HOME')",
    "Dir.home",
];
/// What joins a name to the home, and what that makes of the two.
const JOINTS: [(&str, &str); 4] = [("' / '", "/"), ("'/'", "/"), ("' + '", ""), ("'+'", "")];
/// Functions that make another path of a path, so that the call around them counts.
const PATHS: &str = "Path Pathname abspath realpath expanduser expand_path resolve glob iglob";
/// Interpreters with strings in backticks.
const SCRIPTS: &str = "node nodejs bun deno tsx ts-node";
/// Languages in which backticks start programs.
const BACKTICKS: &str = "perl ruby php";
/// The longest part of the code before a string in which its function is looked for.
const LONGEST_HEAD: usize = 400;

/// Walks command lines that code passes to calls, and records the paths that its calls remove and write.
pub(super) fn strings_in_calls(walker: &mut Walker<'_>, kind: &str, code: &str) {
    let is_awk = kind.ends_with("awk");
    let home = walker.context.home.clone();
    let code = &with_home(code, &home);
    let promises = code.contains("promises");
    for CodeCall { head, strings, after } in calls(code, quotes(kind)) {
        let (inner, _) = enclosing(head);
        let is_path = has_name(PATHS, last_name(inner)) && head.ends_with('(');
        let around = head.trim_end_matches('(').strip_suffix(inner).filter(|_| is_path);
        let (function, place) = enclosing(around.unwrap_or(head));
        let name = last_name(function);
        let is_any = |names: &str| names.split_whitespace().any(|one| function.ends_with(one));
        let starts = has_name(STARTING, name) || ["os.execute", "shlex.split"].contains(&function);
        match strings.as_slice() {
            // Adjacent strings of awk are one.
            words if is_awk && (starts || head.ends_with('|')) => guessed(walker, &words.concat()),
            [line] if starts => guessed(walker, line),
            // `for line in ['rm -rf x', 'ls']: os.system(line)`
            lines @ [first, ..] if starts && first.contains(' ') => lines.iter().for_each(|line| guessed(walker, line)),
            words if starts => {
                let words: Vec<ShellWord> = words.iter().map(|word| ShellWord::new(*word)).collect();
                walker.in_ignored_subshell(|walker| walker.run(&words, &ShellWord::unknown()));
            }
            _ => {}
        }
        let word = |path: &str| path_in_code(path, &home, after, inner.ends_with("glob"));
        let at = |wanted: usize| wanted.checked_sub(place).and_then(|at| strings.get(at)).map(|path| word(path));
        let first = || strings.first().map(|path| word(path));
        let methods = after.trim_start_matches(')');
        let has_method = |names: &[&str]| is_path && names.iter().any(|name| methods.starts_with(name));
        let moves = is_any(MOVING) || function == "rename" || promises && name == "rename";
        if is_any(REMOVING) || moves || promises && name == "rm" {
            walker.change_all(Effect::Remove, &at(0), true);
        }
        if has_method(&[".unlink", ".rmtree", ".rmdir", ".rename", ".replace("]) {
            walker.change_all(Effect::Remove, &first(), true);
        }
        let mode = at(1).map(|mode| mode.filled("")).or_else(|| named_mode(after));
        let opens = ["open", "fopen"].contains(&name) && mode.is_some_and(|mode| is_writing(&mode));
        let redirects = is_awk && head.ends_with('>');
        let writes = is_any(WRITING_FIRST) || promises && has_name(WRITING_PROMISES, name);
        if writes || opens || redirects {
            walker.change_all(Effect::Write, &at(0), false);
        }
        let opened = methods.strip_prefix(".open(").and_then(|mode| mode.get(1..)?.split(['\'', '"']).next());
        if has_method(&[".write_"]) || is_path && opened.is_some_and(is_writing) {
            walker.change_all(Effect::Write, &first(), false);
        }
        // `open(my $file, '>>', 'x')`, `open(FILE, '>x')`
        if let Some(mode) = at(1).map(|mode| mode.filled("")).filter(|_| name == "open" && kind == "perl")
            && let Some(path) = mode.strip_prefix('>')
        {
            let path = path.trim_start_matches(['>', ' ']);
            walker.change_all(Effect::Write, &if path.is_empty() { at(2) } else { Some(ShellWord::new(path)) }, false);
        }
        if is_any(WRITING_SECOND) || moves || ["copy", "symlink", "link"].contains(&function) {
            walker.change_all(Effect::Write, &at(1), false);
        }
        if let Some((source, target)) = at(0).zip(at(1)).filter(|_| is_any(COPYING_FOLDERS)) {
            copy_move::content(walker, &source, &target);
        }
    }
}

/// Notes what command lines anywhere in code would do, if the code starts programs, and absolute paths in code that
/// removes files: it may keep them in variables, or call functions by other names.
pub(super) fn suspect(walker: &mut Walker<'_>, kind: &str, code: &str) {
    let has_any = |marks: &str| marks.split(' ').any(|mark| code.contains(mark));
    let is_quoted = has_name(BACKTICKS, kind) && code.contains('`') || kind.ends_with("awk") && code.contains('|');
    let starts = is_quoted || has_any(STARTING_MARKS);
    let removes = has_any(REMOVING_MARKS);
    if !starts && !removes {
        return;
    }
    let outer = std::mem::take(&mut walker.effects);
    for CodeCall { strings, .. } in calls(code, quotes(kind)) {
        if starts {
            let joined = strings.join(" ");
            let lines = strings.iter().copied().chain((strings.len() > 1).then_some(joined.as_str()));
            lines.filter(|line| line.contains(' ')).for_each(|line| guessed(walker, line));
        }
        for path in strings.iter().filter(|path| removes && **path != "/") {
            let word = path_in_code(path, &walker.context.home, "", path.contains('*'));
            if path.starts_with(['/', '~']) || is_protected(walker, &word) {
                walker.change(Effect::Remove, &word, true);
            }
        }
    }
    if starts {
        // Quotes of Perl and Ruby: `qx(rm x)`, `%q{rm x}`.
        let inner = code.split(['(', ')', '{', '}', '[', ']', '`']);
        inner
            .filter(|line| line.contains(' ') && !line.contains(['\'', '"', '\n']))
            .for_each(|line| guessed(walker, line));
    }
    let suspected = std::mem::replace(&mut walker.effects, outer);
    walker.effects.in_code.extend(suspected.changes);
    walker.effects.calls_in_code.extend(suspected.calls);
    // Notes that not all of them could be walked, if there are too many.
    walker.steps(1);
}

fn is_protected(walker: &Walker<'_>, path: &ShellWord) -> bool {
    matches!(walker.target(path), TargetPath::Known { path, .. } if walker.context.protected.has(&path))
}

fn quotes(kind: &str) -> &'static str {
    if has_name(SCRIPTS, kind) { "'\"`" } else { "'\"" }
}

/// A path in a string. If the code goes on with `/` or `+`, names are joined to it.
fn path_in_code(path: &str, home: &str, after: &str, is_glob: bool) -> ShellWord {
    let path = match path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')) {
        Some(rest) => format!("{home}{rest}"),
        None => path.to_owned(),
    };
    let mut word = if is_glob { ShellWord::glob(path) } else { ShellWord::new(path) };
    if after.trim_start_matches(' ').starts_with(['/', '+']) {
        word.push("/");
        word.push_non_empty();
    }
    word
}

/// Replaces expressions for the user's home by its path, with the name that is joined to it.
fn with_home<'c>(code: &'c str, home: &str) -> Cow<'c, str> {
    if !["home", "HOME", "expand"].iter().any(|word| code.contains(word)) {
        return Cow::Borrowed(code);
    }
    let quoted = format!("'{home}'");
    // Not `process.env.HOMEBREW_CACHE`.
    let mut code = HOMES.iter().fold(code.replace('"', "'"), |code, own| with_name_replaced(&code, own, &quoted));
    for (joint, by) in JOINTS {
        code = code.replace(&format!("'{home}{joint}"), &format!("'{home}{by}"));
    }
    Cow::Owned(code)
}

/// Code in which a whole name is replaced.
pub(super) fn with_name_replaced(code: &str, name: &str, by: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut whole = String::with_capacity(code.len());
    let mut rest = code;
    while let Some((before, after)) = rest.split_once(name).filter(|_| !name.is_empty()) {
        let is_part = before.ends_with(is_name) || after.starts_with(is_name);
        whole.extend([before, if is_part { name } else { by }]);
        rest = after;
    }
    whole + rest
}

/// The last part of a function's name.
fn last_name(function: &str) -> &str {
    function.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// The mode in `open('x', mode='w')`.
fn named_mode(after: &str) -> Option<String> {
    let mode = after.trim_start_matches([',', ' ']).strip_prefix("mode=")?;
    mode.get(1..)?.split(['\'', '"']).next().map(str::to_owned)
}

/// Whether a file is opened for writing.
fn is_writing(mode: &str) -> bool {
    mode.len() <= 3 && mode.starts_with(['w', 'a', 'x']) || mode.len() <= 3 && mode.contains('+')
}

/// The function whose argument comes next, and the number of arguments before it.
fn enclosing(head: &str) -> (&str, usize) {
    let (mut open, mut place) = (0_usize, 0);
    for (at, c) in head.char_indices().rev().take(LONGEST_HEAD) {
        match c {
            ')' => open += 1,
            '(' if open == 0 => {
                let name = head.get(..at).unwrap_or_default();
                let start = name.rfind(|c: char| !c.is_alphanumeric() && !"_.".contains(c)).map_or(0, |at| at + 1);
                return (name.get(start..).unwrap_or_default(), place);
            }
            '(' => open -= 1,
            ',' if open == 0 => place += 1,
            ';' | '\n' | '{' | '}' if open == 0 => break,
            _ => {}
        }
    }
    // `unlink "x"`, `system 'x'`
    let bare = head.trim_end_matches(['(', '[', ' ', '\n']);
    let start = bare.rfind(|c: char| !c.is_alphanumeric() && !"_.".contains(c)).map_or(0, |at| at + 1);
    (bare.get(start..).unwrap_or_default(), 0)
}

/// Strings in code.
struct CodeCall<'c> {
    /// The code before them.
    head: &'c str,
    /// Adjacent strings, such as a list of arguments.
    strings: Vec<&'c str>,
    /// The code after them.
    after: &'c str,
}

fn calls<'c>(code: &'c str, quotes: &str) -> Vec<CodeCall<'c>> {
    let mut calls = Vec::new();
    let mut rest = code;
    while let Some((before, mut open)) = rest.find(|c| quotes.contains(c)).and_then(|at| rest.split_at_checked(at)) {
        let mut strings = Vec::new();
        while let Some(quote) = open.chars().next().filter(|c| quotes.contains(*c)) {
            let inner = open.get(1..).unwrap_or_default();
            let (string, after) = inner.split_once(quote).unwrap_or((inner, ""));
            strings.push(string);
            rest = after;
            open = after.trim_start_matches([' ', '\n', ',', '[', ']']);
        }
        // `f'…'`, `r'…'`
        let bare = before.strip_suffix(['f', 'r', 'b']).filter(|bare| bare.ends_with(['(', '[', ' ']));
        calls.push(CodeCall { head: bare.unwrap_or(before).trim_end_matches(['[', ' ', '\n']), strings, after: rest });
    }
    calls
}
