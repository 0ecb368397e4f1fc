//! Interpreters with code on the command line.
//!
//! The code is not parsed. Three guesses are made from its text: strings in calls that start programs are command lines,
//! strings in calls that remove files are removed, and paths in the strings of code that may write are mentioned.

use super::args::Args;
use super::walker::Walker;
use super::{Effect, copy_move};
use crate::shell::word::ShellWord;
use std::borrow::Cow;

/// Interpreters with the options that take code.
const INTERPRETERS: [(&str, &str); 11] = [
    ("python pypy", "-c"),
    ("perl", "-e -E"),
    ("ruby lua Rscript osascript", "-e"),
    ("node", "-e -p --eval --print -pe"),
    ("nodejs ts-node", "-e -p --eval --print"),
    ("bun tsx", "-e --eval"),
    ("deno", "eval"),
    ("php", "-r"),
    ("awk gawk", "-e --source"),
    ("mawk nawk", ""),
    ("sqlite3", "-cmd"),
];
/// Functions that start a program.
const STARTING: &str = "system popen Popen run call check_call check_output getoutput exec execSync execFile execFileSync \
    spawn spawnSync shell_exec passthru execvp execlp";
/// Functions that remove their argument; a plain `remove` is usually a list's.
const REMOVING: &str = "rmtree unlink os.remove rmdir removedirs rmSync unlinkSync rmdirSync fs.rm rm_rf rm_r \
    Deno.remove Deno.removeSync";
/// Functions that write their first argument.
const WRITING_FIRST: &str = "file_put_contents writeFileSync appendFileSync truncateSync fs.writeFile fs.appendFile \
    fs.outputFileSync createWriteStream Bun.write Deno.writeTextFileSync Deno.writeFileSync File.write IO.write";
/// Functions that write their second argument.
const WRITING_SECOND: &str = "shutil.copy shutil.copyfile shutil.copy2 shutil.copytree os.symlink os.link cpSync \
    copyFileSync symlinkSync linkSync fs.cp fs.copyFile FileUtils.cp FileUtils.cp_r";
/// Those of them that copy folders.
const COPYING_FOLDERS: &str = "shutil.copytree cpSync fs.cp FileUtils.cp_r";
/// Functions that move their first argument to the second.
const MOVING: &str = "shutil.move os.rename os.renames os.replace renameSync fs.rename fs.move FileUtils.mv File.rename \
    Deno.rename";
/// Expressions for the user's home, with single quotes.
const HOMES: [&str; 12] = [
    "os.path.expanduser('~",
    "pathlib.Path.home()",
    "Path.home()",
    "require('os').homedir()",
    "require('node:os').homedir()",
    "os.homedir()",
    "homedir()",
    "process.env.HOME",
    "os.environ['HOME']",
    "os.getenv('HOME')",
    "Dir.home",
    "ENV['HOME']",
];
/// How many of them are followed in one piece of code.
const MOST_HOMES: usize = 20;
/// Interpreters with strings in backticks.
const SCRIPTS: [&str; 6] = ["node", "nodejs", "bun", "deno", "tsx", "ts-node"];
/// Interpreters whose first operand is a script.
const RUNS_FILES: [&str; 11] =
    ["python", "pypy", "perl", "ruby", "node", "nodejs", "bun", "tsx", "ts-node", "php", "lua"];
/// The longest part of the code before a string in which its function is looked for.
const LONGEST_HEAD: usize = 400;
/// Text that code which changes files contains, in lower case.
const WRITING: &str = "write 'w' \"w\" 'wb \"wb 'wt \"wt 'w+ \"w+ 'a' \"a\" 'ab \"ab r+ 'x' \"x\" dump( unlink remove \
    rename replace rmtree rmdir rmsync rm( rm_ copy move truncate popen exec spawn chmod chown link touch appendfile \
    eval delete system subprocess qx cpsync shutil fileinput os.open getattr __import__ importlib runpy ctypes compile(";
/// How many paths of one piece of code are mentioned.
const MOST_PATHS: usize = 100;
/// Words of code that removes files, or runs commands that might.
const DESTROYING: &str = "rmtree unlink remove rmdir rmSync rm_r rimraf system";

fn interpreter(name: &str) -> Option<(&'static str, &'static str)> {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let known = |(names, options): (&'static str, _)| {
        names.split(' ').find(|known| *known == bare || *known == name).map(|known| (known, options))
    };
    INTERPRETERS.into_iter().find_map(known)
}

/// Walks the code of an interpreter; returns false if the program is not one.
pub(super) fn run(walker: &mut Walker<'_>, name: &str, rest: &[ShellWord], input: &ShellWord) -> bool {
    let Some((kind, options)) = interpreter(name) else { return false };
    let args = Args::new(rest, &format!("{options} -F -v -f -W -m -I -M"));
    let mut sources: Vec<ShellWord> = args.values(options).cloned().collect();
    let given = !sources.is_empty();
    let is_awk = kind.ends_with("awk");
    match args.operands.as_slice() {
        [first, ..] if is_awk && sources.is_empty() && !args.has("-f --file") => sources.push(first.clone()),
        [verb, code @ ..] if kind == "deno" && verb.is("eval") => sources.extend_from_slice(code),
        [verb, file, ..] if kind == "deno" && verb.is("run") => drop(walker.script_on_disk(file, kind, &[])),
        [_, code @ ..] if kind == "sqlite3" => sources.extend_from_slice(code),
        [first, ..] if first.is("-") => {
            walker.script_on_input(kind, input);
            sources.push(input.clone());
        }
        [first, ..] if sources.is_empty() => match walker.content(first) {
            Some(code) => sources.push(code),
            None if args.has("-m") || !RUNS_FILES.contains(&kind) => {}
            None => drop(walker.script_on_disk(first, kind, &[])),
        },
        [] if sources.is_empty() && !args.has("-m -V --version -h --help") => {
            walker.script_on_input(kind, input);
            sources.push(input.clone());
        }
        _ => {}
    }
    let in_place = match kind {
        "perl" | "ruby" => args.has("-i") || rest.iter().any(|word| word.prefix().starts_with("-i")),
        _ => is_awk && rest.iter().any(|word| word.is("inplace")),
    };
    if in_place {
        let skip = usize::from(is_awk && !args.has("-f --file"));
        walker.change_all(Effect::Write, args.operands.iter().skip(skip), false);
    }
    for source in sources {
        if source.text().is_none() {
            walker.effects.hidden.push(walker.by.clone());
        }
        let mut code = source.filled("");
        if is_awk {
            let values = args.values("-v --assign").chain(&args.operands);
            let known = values.filter_map(ShellWord::text).take_while(|_| walker.budget.spend(code.len()));
            let known: Vec<String> = known.collect();
            for value in &known {
                code = with_value(&code, value);
            }
        }
        strings_in_calls(walker, kind, &code);
        if kind == "sqlite3" {
            let shell = |line: &str| {
                Some(line.trim().strip_prefix(".shell ").or(line.trim().strip_prefix(".system "))?.to_owned())
            };
            code.lines().filter_map(shell).for_each(|line| guessed(walker, &line));
        }
        if may_write(kind, &code) {
            mention(walker, &code);
            // Code in an option works on the operands.
            walker.change_all(Effect::Mention, args.operands.iter().filter(|_| given), false);
        }
    }
    true
}

/// Whether code may change files; code that only reads may name any path.
pub(in crate::shell) fn may_write(kind: &str, code: &str) -> bool {
    let lower = code.to_lowercase();
    // These languages redirect to files as the shell does.
    let redirects = kind.ends_with("awk") || ["perl", "ruby", "php"].contains(&kind);
    kind == "sqlite3" || redirects && lower.contains('>') || WRITING.split_whitespace().any(|word| lower.contains(word))
}

/// Replaces a variable of awk by its value: `awk -v name=value`.
fn with_value(code: &str, assignment: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let Some((name, value)) = assignment.split_once('=') else { return code.to_owned() };
    if name.is_empty() || !name.chars().all(is_name) || value.contains('"') {
        return code.to_owned();
    }
    let mut out = String::new();
    for (at, part) in code.split('"').enumerate() {
        if at > 0 {
            out.push('"');
        }
        let mut rest = part;
        while let Some(start) = rest.find(is_name).filter(|_| at % 2 == 0) {
            let (before, word) = rest.split_at_checked(start).unwrap_or((rest, ""));
            let end = word.find(|c| !is_name(c)).unwrap_or(word.len());
            let (word, after) = word.split_at_checked(end).unwrap_or((word, ""));
            out.push_str(before);
            let quoted = format!("\"{value}\"");
            out.push_str(if word == name { &quoted } else { word });
            rest = after;
        }
        out.push_str(rest);
    }
    out
}

/// Walks command lines that code passes to calls, and records the paths that its calls remove and write.
pub(super) fn strings_in_calls(walker: &mut Walker<'_>, kind: &str, code: &str) {
    let is_awk = kind.ends_with("awk");
    let quotes = if SCRIPTS.contains(&kind) { "'\"`" } else { "'\"" };
    let code = &with_home(code, &walker.context.home);
    if ["perl", "ruby", "php"].contains(&kind) {
        code.split('`').skip(1).step_by(2).for_each(|line| guessed(walker, line));
    }
    for CodeCall { head, strings, after } in calls(code, quotes) {
        let (function, place) = enclosing(head);
        let name = function.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        let is_any = |names: &str| names.split_whitespace().any(|one| function.ends_with(one));
        let starts = STARTING.split_whitespace().any(|one| one == name) || function == "os.execute";
        match strings.as_slice() {
            // Adjacent strings of awk are one.
            words if is_awk && (starts || head.ends_with('|')) => guessed(walker, &words.concat()),
            [line] if starts => guessed(walker, line),
            words if starts => {
                let words: Vec<ShellWord> = words.iter().map(|word| ShellWord::new(*word)).collect();
                walker.unowned_aside(|walker| walker.run(&words, &ShellWord::unknown()));
            }
            _ => {}
        }
        let at =
            |wanted: usize| wanted.checked_sub(place).and_then(|at| strings.get(at)).map(|path| ShellWord::new(*path));
        let methods = after.trim_start_matches(')');
        let is_path = place == 0 && name == "Path";
        let moves = is_any(MOVING) || function == "rename" || is_path && methods.starts_with(".rename");
        // `[p.unlink() for p in Path('x').glob('*')]`
        let glob = found_by(methods).filter(|_| is_path && code.contains(".unlink("));
        walker.change_all(Effect::Remove, &at(0).zip(glob).map(|(path, glob)| path.child(&glob)), false);
        if is_any(REMOVING) || moves || is_path && methods.starts_with(".unlink") {
            walker.change_all(Effect::Remove, &at(0), true);
        }
        let opens = name == "open" && at(1).is_some_and(|mode| is_writing(&mode.filled("")));
        let redirects = is_awk && head.ends_with('>');
        if is_any(WRITING_FIRST) || opens || redirects || is_path && methods.starts_with(".write_") {
            walker.change_all(Effect::Write, &at(0), false);
        }
        if is_any(WRITING_SECOND) || moves && !is_path || ["copy", "symlink", "link"].contains(&function) {
            walker.change_all(Effect::Write, &at(1), false);
        }
        if let Some((source, target)) = at(0).zip(at(1)).filter(|_| is_any(COPYING_FOLDERS)) {
            copy_move::content(walker, &source, &target);
        }
    }
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
    if !["home", "HOME", "expanduser"].iter().any(|word| code.contains(word)) {
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

/// Walks a string that may not be a command line, so that an error in it does not count.
pub(super) fn guessed(walker: &mut Walker<'_>, line: &str) {
    let unreadable = walker.effects.unreadable.clone();
    walker.unowned_aside(|walker| walker.text(line, &ShellWord::unknown()));
    walker.effects.unreadable = unreadable;
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

/// Mentions what looks like a path in the strings of code.
pub(super) fn mention(walker: &mut Walker<'_>, code: &str) {
    let mut found: Vec<&str> = Vec::new();
    let destroys = DESTROYING.split(' ').any(|word| code.contains(word));
    for text in strings(code) {
        let tokens: Vec<&str> = text.split(|c: char| c.is_whitespace() || ",;:=()[]{}<>|&'\"`".contains(c)).collect();
        let paths = tokens.iter().filter(|token| looks_like_path(token, destroys || tokens.len() > 1));
        for token in paths {
            if found.contains(token) || found.len() >= MOST_PATHS {
                continue;
            }
            found.push(token);
            let word = if token.contains('*') { ShellWord::glob(*token) } else { ShellWord::new(*token) };
            let target = walker.target(&word);
            walker.note(Effect::Mention, target, true);
        }
    }
}

/// A lone slash is usually a separator: it counts only in a command or in code that removes files.
fn looks_like_path(token: &str, slash_counts: bool) -> bool {
    let has_extension = token.rsplit_once('.').is_some_and(|(name, end)| {
        !name.ends_with('.') && !end.is_empty() && end.len() <= 8 && end.chars().all(char::is_alphanumeric)
    });
    let looks = if token.chars().all(|c| "/.".contains(c)) {
        slash_counts && token.starts_with('/')
    } else {
        token.contains('/') || has_extension
    };
    looks && !token.contains(['%', '\\'])
}

/// Quoted strings; a quote without an end runs to the end of its line.
fn strings(code: &str) -> Vec<&str> {
    let mut strings = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find(['\'', '"', '`']) {
        let Some((quote, after)) = rest.get(at..at + 1).zip(rest.get(at + 1..)) else { break };
        let end = after.find(quote).unwrap_or_else(|| after.find('\n').unwrap_or(after.len()));
        strings.extend(after.get(..end));
        rest = after.get(end + 1..).unwrap_or_default();
    }
    strings
}
