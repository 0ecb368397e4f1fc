//! Interpreters with code on the command line.
//!
//! The code is not parsed: its calls are guessed from the strings in them.

use super::Effect;
use super::args::Args;
use super::code_calls::{strings_in_calls, suspect, with_name_replaced};
use super::walker::Walker;
use crate::has_name;
use crate::programs::{RUNS, has_trait};
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
/// Modules of Python that run a file; others read it, or test it.
const RUNNING_MODULES: &str = "cProfile profile pdb trace runpy coverage debugpy memray scalene pyinstrument kernprof \
    line_profiler viztracer asyncio";
/// Text that code which changes files contains, in lower case.
const WRITING: &str = "write 'w' \"w\" 'wb \"wb 'wt \"wt 'w+ \"w+ 'a' \"a\" 'ab \"ab r+ 'x' \"x\" dump( unlink \
    remove( remove_ removesync removedirs rename os.replace rmtree rmdir rmsync rm( rm_ copy move truncate popen exec spawn chmod chown link touch appendfile \
    eval delete system subprocess qx cpsync shutil fileinput os.open getattr __import__ importlib runpy ctypes compile( 'bw \"bw 'tw \"tw \
    'at \"at 'a+ \"a+ extract urlretrieve .save( to_json( to_csv( savetxt output mkfifo checkout trunc fileutils reopen";
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
                None if is_awk || !has_trait(kind, RUNS) || !is_script(&script) => {}
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
        for value in args.values("-v --assign").chain(&args.operands).filter_map(ShellWord::text) {
            if is_awk && let Some((name, value)) = value.split_once('=').filter(|_| walker.budget.spend(code.len())) {
                code = with_name_replaced(&code, name, &format!("\"{value}\""));
            }
        }
        strings_in_calls(walker, kind, &code);
        suspect(walker, kind, &code);
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

/// Walks a string that may not be a command line, so that an error in it does not count.
pub(super) fn guessed(walker: &mut Walker<'_>, line: &str) {
    let unreadable = walker.effects.unreadable.clone();
    walker.in_ignored_subshell(|walker| walker.text(line, &ShellWord::unknown()));
    walker.effects.unreadable = unreadable;
}
