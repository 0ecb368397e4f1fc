//! Interpreters with code on the command line.
//!
//! The code is not parsed. Its calls are guessed from the strings in them, and paths in the strings of code that may
//! write are mentioned.

use super::Effect;
use super::args::Args;
use super::code_calls::strings_in_calls;
use super::walker::Walker;
use crate::has_name;
use crate::word::ShellWord;

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
/// Interpreters whose first operand is a script.
const RUNS_FILES: [&str; 11] =
    ["python", "pypy", "perl", "ruby", "node", "nodejs", "bun", "tsx", "ts-node", "php", "lua"];
/// Modules of Python that run a file; others read it, or test it.
const RUNNING_MODULES: &str = "cProfile profile pdb trace runpy coverage debugpy memray scalene pyinstrument kernprof \
    line_profiler viztracer asyncio";
/// Text that code which changes files contains, in lower case.
const WRITING: &str = "write 'w' \"w\" 'wb \"wb 'wt \"wt 'w+ \"w+ 'a' \"a\" 'ab \"ab r+ 'x' \"x\" dump( unlink \
    remove( remove_ removesync removedirs rename os.replace rmtree rmdir rmsync rm( rm_ copy move truncate popen exec spawn chmod chown link touch appendfile \
    eval delete system subprocess qx cpsync shutil fileinput os.open getattr __import__ importlib runpy ctypes compile( 'bw \"bw 'tw \"tw \
    'at \"at 'a+ \"a+ extract urlretrieve .save( to_json( to_csv( savetxt output mkfifo checkout trunc fileutils reopen";
/// How many paths of one piece of code are mentioned.
const MOST_PATHS: usize = 100;
/// Words of code that removes files, or runs commands that might.
const DESTROYING: &str = "rmtree unlink remove rmdir rmSync rm_r rimraf system";

/// Words of code that removes what it is given.
const REMOVING: [&str; 8] = ["rmtree", "unlink", "os.remove", "rmdir", "rmSync", "rm_r", "rimraf", "rm -r"];

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
    let args = Args::new(rest, &format!("{options} -F -v -f -W -X -m -I -M --require --import"));
    let module = args.value("-m").filter(|_| kind == "python").and_then(ShellWord::text);
    let runs_file = module.as_ref().is_none_or(|module| has_name(RUNNING_MODULES, module));
    if let Some(module) = &module {
        unpacked(walker, module, &args);
        walker.script_on_disk(&ShellWord::new(format!("{}.py", module.replace('.', "/"))), kind, &[]);
    }
    for file in args.values("--require --import").filter(|file| file.prefix().starts_with(['.', '/'])) {
        walker.script_on_disk(file, kind, &[]);
    }
    let mut sources: Vec<ShellWord> = args.values(options).cloned().collect();
    let given = !sources.is_empty();
    let is_awk = kind.ends_with("awk");
    match args.operands.as_slice() {
        [first, ..] if is_awk && sources.is_empty() && !args.has("-f --file") => sources.push(first.clone()),
        [verb, code @ ..] if kind == "deno" && verb.is("eval") => sources.extend_from_slice(code),
        [verb, file, ..] if kind == "deno" && verb.is("run") => drop(walker.script_on_disk(file, kind, &[])),
        [_] if kind == "sqlite3" => sources.push(input.clone()),
        [_, code @ ..] if kind == "sqlite3" => sources.extend_from_slice(code),
        [first, ..] if first.is("-") => {
            walker.script_on_input(kind, input);
            sources.push(input.clone());
        }
        operands @ [first, ..] if sources.is_empty() && runs_file => {
            // `python -m cProfile -o out x.py`
            let is_script = |word: &&ShellWord| module.is_none() || word.filled("").ends_with("py");
            let script = operands.iter().find(is_script).unwrap_or(first);
            match walker.content(script) {
                Some(code) => sources.push(code),
                None if !RUNS_FILES.contains(&kind) || !is_script(&script) => {}
                None => drop(walker.script_on_disk(script, kind, &[])),
            }
        }
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
        let takes_arguments = code.to_lowercase().contains("argv");
        if given && takes_arguments && REMOVING.iter().any(|word| code.contains(word)) {
            walker.change_all(Effect::Remove, args.operands.iter(), true);
        }
        if may_write(kind, &code) {
            mention(walker, &code);
            // Code in an option works on the operands.
            walker.change_all(Effect::Mention, args.operands.iter().filter(|_| given), false);
        }
    }
    true
}

/// `python -m venv --clear folder`, `python -m zipfile -e archive folder`.
fn unpacked(walker: &mut Walker<'_>, module: &str, args: &Args) {
    match (module, args.operands.as_slice()) {
        ("venv" | "virtualenv", folders) if args.has("--clear") => walker.change_all(Effect::Remove, folders, true),
        ("zipfile" | "tarfile", [_, folder, ..]) if args.has("-e --extract") => {
            super::file_programs::below(walker, Effect::Write, folder);
        }
        _ => {}
    }
}

/// Whether code may change files; code that only reads may name any path.
pub(crate) fn may_write(kind: &str, code: &str) -> bool {
    let lower = code.to_lowercase();
    // These languages redirect to files as the shell does.
    let redirects = kind.ends_with("awk") || ["perl", "ruby", "php"].contains(&kind);
    // A text is replaced more often than a file.
    let replaces = lower.contains("path") && lower.contains(".replace(");
    let writes = replaces || WRITING.split_whitespace().any(|word| lower.contains(word));
    kind == "sqlite3" || redirects && lower.contains('>') || writes
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

/// Walks a string that may not be a command line, so that an error in it does not count.
pub(super) fn guessed(walker: &mut Walker<'_>, line: &str) {
    let unreadable = walker.effects.unreadable.clone();
    walker.unowned_aside(|walker| walker.text(line, &ShellWord::unknown()));
    walker.effects.unreadable = unreadable;
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
