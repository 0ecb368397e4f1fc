//! Calls in code of other languages, guessed from their strings: those in calls that start programs are command lines,
//! those in calls that remove or write files are their paths.

use super::inline_code::guessed;
use super::kept_commands::{is_started_later, starts_in_body};
use super::walker::Walker;
use super::{Effect, copy_move};
use crate::has_name;
use crate::word::ShellWord;
use std::borrow::Cow;

/// Functions that start a program.
const STARTING: &str = "system popen Popen run call check_call check_output getoutput exec execSync execFile execFileSync \
    spawn spawnSync shell_exec passthru execvp execlp execv execl";
/// Functions that remove their argument; a plain `remove` is usually a list's.
const REMOVING: &str = "rmtree unlink os.remove rmdir removedirs rmSync unlinkSync rmdirSync fs.rm rm_rf rm_r \
    File.delete File.unlink Dir.delete Dir.rmdir Deno.remove Deno.removeSync remove_tree remove_dir remove_entry removeSync emptyDirSync rimraf rimrafSync";
/// The same in code that uses Node's promises, where they have short names.
const REMOVING_PROMISES: [&str; 1] = ["rm"];
const WRITING_PROMISES: [&str; 3] = ["writeFile", "appendFile", "truncate"];
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
const HOMES: [&str; 15] = [
    "os.path.expanduser('~",
    "File.expand_path('~",
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
    "ENV['HOME']",
];
/// How many of them are followed in one piece of code.
const MOST_HOMES: usize = 20;
/// Functions that make another path of a path, so that the call around them counts.
const PATHS: [&str; 9] =
    ["Path", "Pathname", "abspath", "realpath", "expanduser", "expand_path", "resolve", "glob", "iglob"];
/// Quotes of Perl and Ruby around a command line.
const COMMAND_QUOTES: [(&str, char); 8] = [
    ("qx(", ')'),
    ("qx{", '}'),
    ("%x(", ')'),
    ("%x{", '}'),
    ("system %q(", ')'),
    ("system(%q(", ')'),
    ("system qw(", ')'),
    ("exec qw(", ')'),
];
/// What is written before a command line in the scripts of macOS and in Lisp.
const STARTING_WORDS: [&str; 3] = ["do shell script", "(shell-command", "(shell-command-to-string"];
/// The same before a path that is removed.
const REMOVING_WORDS: [&str; 2] = ["(delete-directory", "(delete-file"];
/// Interpreters with strings in backticks.
const SCRIPTS: [&str; 6] = ["node", "nodejs", "bun", "deno", "tsx", "ts-node"];
/// The longest part of the code before a string in which its function is looked for.
const LONGEST_HEAD: usize = 400;

/// Walks command lines that code passes to calls, and records the paths that its calls remove and write.
pub(super) fn strings_in_calls(walker: &mut Walker<'_>, kind: &str, code: &str) {
    let is_awk = kind.ends_with("awk");
    let quotes = if SCRIPTS.contains(&kind) { "'\"`" } else { "'\"" };
    let code = &with_home(code, &walker.context.home);
    if ["perl", "ruby", "php"].contains(&kind) {
        code.split('`').skip(1).step_by(2).for_each(|line| guessed(walker, line));
        for (open, close) in COMMAND_QUOTES {
            let lines = code.split(open).skip(1).filter_map(|rest| rest.split(close).next());
            lines.for_each(|line| guessed(walker, line));
        }
    }
    let promises = code.contains("promises");
    let empties = ["unlink(", "rmtree(", "os.remove("].iter().any(|call| code.contains(call));
    let starts_any = STARTING.split_whitespace().any(|name| code.contains(&format!("{name}(")));
    for CodeCall { head, strings, after } in calls(code, quotes) {
        let ends = |words: &[&str]| words.iter().any(|word| head.trim_end().ends_with(word));
        if ends(&STARTING_WORDS) {
            for line in &strings {
                guessed(walker, line);
            }
        }
        if ends(&REMOVING_WORDS) {
            strings.iter().take(1).for_each(|path| guessed(walker, &format!("rm -r {path}")));
        }
        let (inner, _) = enclosing(head);
        let inner_name = last_name(inner);
        let is_path = PATHS.contains(&inner_name) && head.ends_with('(');
        let around = head.trim_end_matches('(').strip_suffix(inner).filter(|_| is_path);
        let (function, place) = enclosing(around.unwrap_or(head));
        let function = original(code, function);
        let name = last_name(function);
        let is_any = |names: &str| names.split_whitespace().any(|one| function.ends_with(one));
        let starts = is_starting(function)
            || function == "shlex.split"
            || starts_any && starts_in_body(code, name)
            || starts_any && is_started_later(code, head, &strings, &walker.budget);
        match strings.as_slice() {
            // Adjacent strings of awk are one.
            words if is_awk && (starts || head.ends_with('|')) => guessed(walker, &words.concat()),
            [line] if starts => guessed(walker, line),
            // `for line in ['rm -rf x', 'ls']: os.system(line)`
            lines @ [first, ..] if starts && first.contains(' ') => lines.iter().for_each(|line| guessed(walker, line)),
            words if starts => {
                let words: Vec<ShellWord> = words.iter().map(|word| ShellWord::new(*word)).collect();
                walker.unowned_aside(|walker| walker.run(&words, &ShellWord::unknown()));
            }
            _ => {}
        }
        let word = |path: &str| if inner.ends_with("glob") { ShellWord::glob(path) } else { ShellWord::new(path) };
        let at = |wanted: usize| wanted.checked_sub(place).and_then(|at| strings.get(at)).map(|path| word(path));
        let first = || strings.first().map(|path| word(path));
        let methods = after.trim_start_matches(')');
        let has_method = |names: &[&str]| is_path && names.iter().any(|name| methods.starts_with(name));
        // `[p.unlink() for p in Path('x').glob('*')]`, `for p in glob.glob('x/*'): os.remove(p)`
        let glob = found_by(methods).filter(|_| is_path && empties);
        walker.change_all(Effect::Remove, &first().zip(glob).map(|(path, glob)| path.child(&glob)), false);
        if is_path && empties && inner.ends_with("glob") || has_method(&[".unlink", ".rmtree", ".rmdir"]) {
            walker.change_all(Effect::Remove, &first(), true);
        }
        let moves = is_any(MOVING) || function == "rename" || promises && name == "rename";
        if is_any(REMOVING) || moves || promises && REMOVING_PROMISES.contains(&name) {
            walker.change_all(Effect::Remove, &at(0), true);
        }
        if has_method(&[".rename", ".replace("]) {
            walker.change_all(Effect::Remove, &first(), true);
        }
        let mode = at(1).map(|mode| mode.filled("")).or_else(|| named_mode(after));
        let opens = ["open", "fopen"].contains(&name) && mode.is_some_and(|mode| is_writing(&mode));
        let redirects = is_awk && head.ends_with('>');
        let writes = is_any(WRITING_FIRST) || promises && WRITING_PROMISES.contains(&name);
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

/// The function behind another name: `from shutil import rmtree as r`, `const {execSync: x} = …`.
fn original<'c>(code: &'c str, function: &'c str) -> &'c str {
    let name = last_name(function);
    if name.is_empty() || name.len() < function.len() {
        return function;
    }
    let behind = |mark: &str| {
        let (before, after) = code.split_once(&format!("{mark}{name}"))?;
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let own = before.rsplit(|c: char| !is_name(c)).next().unwrap_or_default();
        (!own.is_empty() && !after.starts_with(is_name)).then_some(own)
    };
    [" as ", ":", ": "].into_iter().find_map(behind).unwrap_or(function)
}

/// Whether a function starts a program.
pub(super) fn is_starting(function: &str) -> bool {
    has_name(STARTING, last_name(function)) || function == "os.execute"
}

/// The last part of a function's name.
pub(super) fn last_name(function: &str) -> &str {
    function.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// The mode in `open('x', mode='w')`.
fn named_mode(after: &str) -> Option<String> {
    let mode = after.trim_start_matches([',', ' ']).strip_prefix("mode=")?;
    mode.get(1..)?.split(['\'', '"']).next().map(str::to_owned)
}

/// The paths below a folder that a method of Python finds: `.glob('*')`, `.rglob('*')`, `.iterdir()`.
fn found_by(methods: &str) -> Option<ShellWord> {
    let (method, rest) = methods.strip_prefix('.')?.split_once('(')?;
    let pattern = || rest.strip_prefix(['\'', '"'])?.split(['\'', '"']).next();
    match method {
        "iterdir" => Some(ShellWord::glob("*")),
        "glob" => Some(ShellWord::glob(pattern()?)),
        "rglob" => Some(ShellWord::glob(format!("**/{}", pattern()?))),
        _ => None,
    }
}

/// Replaces expressions for the user's home by its path, with the names that are joined to it.
fn with_home<'c>(code: &'c str, home: &str) -> Cow<'c, str> {
    if !["home", "HOME", "expand"].iter().any(|word| code.contains(word)) {
        return Cow::Borrowed(code);
    }
    let plain = code.replace('"', "'");
    let (mut out, mut rest) = (String::new(), plain.as_str());
    for _ in 0..MOST_HOMES {
        let found = HOMES.iter().filter_map(|own| Some((rest.find(own)?, *own))).min_by_key(|(at, _)| *at);
        let Some((at, own)) = found else { break };
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let after = from.strip_prefix(own).unwrap_or_default();
        let (path, after) = match joined_to(home, own, after) {
            Some((path, after)) => (format!("'{path}'"), after),
            None => (own.to_owned(), after),
        };
        out.extend([before, &path]);
        rest = after;
    }
    Cow::Owned(out + rest)
}

/// The path that begins with the home, and the code after it; `None` if it goes on in an unknown way.
fn joined_to<'c>(home: &str, expression: &str, mut rest: &'c str) -> Option<(String, &'c str)> {
    let mut path = home.to_owned();
    if expression.ends_with('~') {
        let (name, after) = rest.split_once("')")?;
        path.push_str(name);
        rest = after;
    }
    loop {
        let next = rest.trim_start_matches(' ');
        let Some(operand) = next.strip_prefix(['/', '+']) else { break };
        let (name, after) = operand.trim_start_matches(' ').strip_prefix('\'')?.split_once('\'')?;
        path.push_str(if next.starts_with('/') { "/" } else { "" });
        path.push_str(name);
        rest = after;
    }
    let goes_on = rest.starts_with(|c: char| c.is_alphanumeric() || "_.[".contains(c));
    (!goes_on && !path.contains('\n')).then_some((path, rest))
}

/// Whether a file is opened for writing.
fn is_writing(mode: &str) -> bool {
    mode.len() <= 3 && mode.starts_with(['w', 'a', 'x']) || mode.len() <= 3 && mode.contains('+')
}

/// The function whose argument comes next, and the number of arguments before it.
pub(super) fn enclosing(head: &str) -> (&str, usize) {
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
    /// Adjacent strings, as in a list of arguments.
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
