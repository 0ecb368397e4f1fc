//! Programs that run code which is given to them: the code is not read, but what it names may be touched.

use super::Effect;
use super::args::Args;
use super::builtins::each;
use super::code;
use super::walker::Walker;
use crate::shell::word::ShellWord;

/// Interpreters with the options that take code.
const INTERPRETERS: [(&str, &[&str]); 18] = [
    ("python", &["-c"]),
    ("pypy", &["-c"]),
    ("perl", &["-e", "-E"]),
    ("ruby", &["-e"]),
    ("node", &["-e", "-p", "--eval", "--print", "-pe"]),
    ("nodejs", &["-e", "-p", "--eval", "--print"]),
    ("bun", &["-e", "--eval"]),
    ("deno", &["eval"]),
    ("tsx", &["-e", "--eval"]),
    ("php", &["-r"]),
    ("lua", &["-e"]),
    ("Rscript", &["-e"]),
    ("osascript", &["-e"]),
    ("awk", &["-e", "--source"]),
    ("gawk", &["-e", "--source"]),
    ("mawk", &[]),
    ("nawk", &[]),
    ("sqlite3", &["-cmd"]),
];

fn interpreter(name: &str) -> Option<(&'static str, &'static [&'static str])> {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.into_iter().find(|(known, _)| *known == bare || *known == name)
}

pub(super) fn is_interpreter(name: &str) -> bool {
    interpreter(name).is_some()
}

pub(super) fn run(walker: &mut Walker<'_>, name: &str, rest: &[ShellWord], input: &ShellWord) {
    let Some((kind, options)) = interpreter(name) else { return };
    let valued: Vec<&str> = options.iter().copied().chain(["-F", "-v", "-f", "-W", "-m", "-I", "-M"]).collect();
    let args = Args::new(rest, &valued);
    let mut named: Vec<ShellWord> = args.values(options).cloned().collect();
    let given = !named.is_empty();
    let is_awk = kind.ends_with("awk");
    match args.operands.as_slice() {
        [first, ..] if is_awk && named.is_empty() && !args.has(&["-f", "--file"]) => named.push(first.clone()),
        [verb, code @ ..] if kind == "deno" && verb.is("eval") => named.extend_from_slice(code),
        [_, code @ ..] if kind == "sqlite3" => named.extend_from_slice(code),
        [first, ..] if first.is("-") => named.push(input.clone()),
        [first, ..] if named.is_empty() => named.extend(walker.content(first)),
        [] if named.is_empty() && !args.has(&["-m", "-V", "--version", "-h", "--help"]) => named.push(input.clone()),
        _ => {}
    }
    let in_place = match kind {
        "perl" | "ruby" => args.has(&["-i"]) || rest.iter().any(|word| word.prefix().starts_with("-i")),
        _ => is_awk && rest.iter().any(|word| word.is("inplace")),
    };
    if in_place {
        let skip = usize::from(is_awk && !args.has(&["-f", "--file"]));
        each(walker, Effect::Write, args.operands.get(skip..).unwrap_or_default(), false);
    }
    for word in named {
        if word.text().is_none() {
            walker.effects.hidden.push(walker.by.clone());
        }
        let text = word.filled("");
        code::handed(walker, &text);
        if code::writes(kind, &text) {
            mention(walker, &word);
            // Code that stands in the line works on the words behind it.
            each(walker, Effect::Mention, args.operands.get(..).filter(|_| given).unwrap_or_default(), false);
        }
    }
}

/// Notes what code names.
pub(super) fn mention(walker: &mut Walker<'_>, code: &ShellWord) {
    for path in paths(&code.filled("")) {
        let mut word = ShellWord::default();
        if path.contains('*') {
            word.push_glob(&path);
        } else {
            word.push(&path);
        }
        let target = walker.target(&word);
        walker.note(Effect::Mention, target, true);
    }
}

/// What looks like a path in the texts that code holds.
fn paths(code: &str) -> Vec<String> {
    const DESTROYING: [&str; 8] = ["rmtree", "unlink", "remove", "rmdir", "rmSync", "rm_r", "rimraf", "system"];
    let destroys = DESTROYING.iter().any(|word| code.contains(word));
    let mut found: Vec<String> = Vec::new();
    // An apostrophe in a comment turns the texts after it inside out, but not on the next line.
    for text in texts(code).into_iter().chain(code.lines().flat_map(texts)) {
        let tokens: Vec<&str> = text.split(|c: char| c.is_whitespace() || ",;:=()[]{}<>|&'\"`".contains(c)).collect();
        let is_path = |token: &&str| {
            let dotted = token.rsplit_once('.').is_some_and(|(name, end)| {
                !name.ends_with('.') && !end.is_empty() && end.len() <= 8 && end.chars().all(char::is_alphanumeric)
            });
            // A slash alone is what texts are split at, unless the text is a command or the code removes things.
            let bare = token.chars().all(|c| "/.".contains(c));
            let looks = if bare {
                (destroys || tokens.len() > 1) && token.starts_with('/')
            } else {
                token.contains('/') || dotted
            };
            looks && !token.contains(['%', '\\'])
        };
        for token in tokens.iter().filter(|token| is_path(token)) {
            if !found.iter().any(|known| known == token) && found.len() < 100 {
                found.push((*token).to_owned());
            }
        }
    }
    found
}

/// The texts in quotes; a quote without an end calls to the end of its line.
fn texts(code: &str) -> Vec<&str> {
    let mut texts = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find(['\'', '"', '`']) {
        let Some((quote, after)) = rest.get(at..at + 1).zip(rest.get(at + 1..)) else { break };
        let end = after.find(quote).unwrap_or_else(|| after.find('\n').unwrap_or(after.len()));
        texts.extend(after.get(..end));
        rest = after.get(end + 1..).unwrap_or_default();
    }
    texts
}
