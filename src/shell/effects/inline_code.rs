//! Interpreters with code on the command line.
//!
//! The code is not parsed. Three guesses are made from its text: strings in calls that start programs are command lines,
//! strings in calls that remove files are removed, and paths in the strings of code that may write are mentioned.

use super::Effect;
use super::args::Args;
use super::walker::Walker;
use crate::shell::word::ShellWord;

/// Interpreters with the options that take code.
const INTERPRETERS: [(&str, &str); 18] = [
    ("python", "-c"),
    ("pypy", "-c"),
    ("perl", "-e -E"),
    ("ruby", "-e"),
    ("node", "-e -p --eval --print -pe"),
    ("nodejs", "-e -p --eval --print"),
    ("bun", "-e --eval"),
    ("deno", "eval"),
    ("tsx", "-e --eval"),
    ("php", "-r"),
    ("lua", "-e"),
    ("Rscript", "-e"),
    ("osascript", "-e"),
    ("awk", "-e --source"),
    ("gawk", "-e --source"),
    ("mawk", ""),
    ("nawk", ""),
    ("sqlite3", "-cmd"),
];
/// Functions that start a program.
const STARTING: &str = "system popen Popen run call check_call check_output getoutput exec execSync execFile execFileSync \
    spawn spawnSync shell_exec passthru execvp execlp";
/// Functions that remove their argument; a plain `remove` is usually a list's.
const REMOVING: &str = "rmtree unlink os.remove rmdir removedirs rmSync unlinkSync rmdirSync fs.rm rm_rf rm_r";
/// Text that code which changes files contains, in lower case.
const WRITING: &str = "write 'w' \"w\" 'wb \"wb 'wt \"wt 'w+ \"w+ 'a' \"a\" 'ab \"ab r+ 'x' \"x\" dump( unlink remove \
    rename replace rmtree rmdir rmsync rm( rm_ copy move truncate popen exec spawn chmod chown link touch appendfile \
    eval delete system subprocess qx";
/// How many paths of one piece of code are mentioned.
const MOST_PATHS: usize = 100;
/// Words of code that removes files, or runs commands that might.
const DESTROYING: &str = "rmtree unlink remove rmdir rmSync rm_r rimraf system";

fn interpreter(name: &str) -> Option<(&'static str, &'static str)> {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.into_iter().find(|(known, _)| *known == bare || *known == name)
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
        [_, code @ ..] if kind == "sqlite3" => sources.extend_from_slice(code),
        [first, ..] if first.is("-") => sources.push(input.clone()),
        [first, ..] if sources.is_empty() => sources.extend(walker.content(first)),
        [] if sources.is_empty() && !args.has("-m -V --version -h --help") => sources.push(input.clone()),
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
        let code = source.filled("");
        strings_in_calls(walker, &code);
        if may_write(kind, &code) {
            mention(walker, &code);
            // Code in an option works on the operands.
            walker.change_all(Effect::Mention, args.operands.iter().filter(|_| given), false);
        }
    }
    true
}

/// Whether code may change files; code that only reads may name any path.
fn may_write(kind: &str, code: &str) -> bool {
    let lower = code.to_lowercase();
    // These languages redirect to files as the shell does.
    let redirects = kind.ends_with("awk") || ["perl", "ruby", "php"].contains(&kind);
    kind == "sqlite3" || redirects && lower.contains('>') || WRITING.split_whitespace().any(|word| lower.contains(word))
}

/// Walks command lines that code passes to calls, and records the paths that its calls remove.
fn strings_in_calls(walker: &mut Walker<'_>, code: &str) {
    for (head, strings) in calls(code) {
        let name = head.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        if STARTING.split_whitespace().any(|function| function == name) {
            // The string may not be a command line, so an error in it does not count.
            let unreadable = walker.effects.unreadable.clone();
            walker.unowned_aside(|walker| match strings.as_slice() {
                [line] => walker.text(line, &ShellWord::unknown()),
                words => {
                    let words: Vec<ShellWord> = words.iter().map(|word| ShellWord::new(*word)).collect();
                    walker.run(&words, &ShellWord::unknown())
                }
            });
            walker.effects.unreadable = unreadable;
        }
        if REMOVING.split_whitespace().any(|function| head.ends_with(function))
            && let Some(path) = strings.first()
        {
            walker.change(Effect::Remove, &ShellWord::new(*path), true);
        }
    }
}

/// Adjacent strings, as in a list of arguments, with the code before them.
fn calls(code: &str) -> Vec<(&str, Vec<&str>)> {
    let mut calls = Vec::new();
    let mut rest = code;
    while let Some((before, mut open)) = rest.find(['\'', '"']).and_then(|at| rest.split_at_checked(at)) {
        let mut strings = Vec::new();
        while let Some(quote) = open.chars().next().filter(|c| ['\'', '"'].contains(c)) {
            let inner = open.get(1..).unwrap_or_default();
            let (string, after) = inner.split_once(quote).unwrap_or((inner, ""));
            strings.push(string);
            rest = after;
            open = after.trim_start_matches([' ', '\n', ',', '[', ']']);
        }
        // `f'…'`, `r'…'`
        let bare = before.strip_suffix(['f', 'r', 'b']).filter(|bare| bare.ends_with(['(', '[', ' ']));
        calls.push((bare.unwrap_or(before).trim_end_matches(['(', '[', ' ', '\n']), strings));
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
            let mut word = ShellWord::default();
            if token.contains('*') {
                word.push_glob(token);
            } else {
                word.push(token);
            }
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
