//! Code of other languages: whether it only reads, and the strings in it that may name files to change.

use super::effects::may_write;
use super::has_name;

/// Words of code that starts programs, or makes code or lists of words from strings; there, every string counts.
const OPAQUE: &str = "system popen Popen subprocess spawn exec eval shell qx %x %w split( getattr __import__ importlib runpy \
    compile( ctypes";
/// Functions that read the file they are given.
const READING: &str =
    "open load exists isfile isdir stat readFileSync existsSync statSync read readlines require file_get_contents";
/// Modules that change files only with functions whose names say so.
const MODULES: &str = "argparse ast base64 collections csv datetime difflib fs glob hashlib io itertools json math node:fs node:os \
    node:path os os.path path pathlib pprint re string sys textwrap time tomllib typing util yaml";

/// Whether code has none of the words with which code changes things, and uses no other modules than those that are known.
pub(super) fn only_reads(kind: &str, code: &str) -> bool {
    let plain = code.replace('\\', "");
    let arguments = |(at, name): (usize, &str)| plain.get(at + name.len()..).unwrap_or_default();
    !may_write(kind, &plain)
        && !["](", ")(", "$`", "reopen", "PStore", "Dir["].iter().any(|word| plain.contains(word))
        && plain.match_indices("open(").map(arguments).all(opens_to_read)
        && plain.split([';', '\n']).all(imports_known_modules)
}

/// Whether the arguments of `open` have no mode, or one for reading.
fn opens_to_read(arguments: &str) -> bool {
    let end = arguments.find(')').unwrap_or(arguments.len());
    let mut others = arguments.get(..end).unwrap_or_default().split(',').skip(1).map(str::trim);
    others.all(|argument| {
        let value = argument.strip_prefix("mode=").unwrap_or(argument).trim_matches(['\'', '"']);
        argument.starts_with("encoding=") || argument.starts_with("errors=") || has_name("r rb rt br tr", value)
    })
}

/// Whether the modules in a statement are known: `import a, b`, `from a import b`, `require('a')`.
fn imports_known_modules(statement: &str) -> bool {
    let words = statement.split(|c: char| c.is_whitespace() || "(){}[]=,'\"".contains(c));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let is_known = |name: &&str| has_name(MODULES, name) || name.rsplit('.').next() == Some("json");
    let named = words.windows(2).filter(|pair| pair.first().is_some_and(|word| ["from", "require"].contains(word)));
    let imported = words.iter().skip_while(|word| **word != "import").skip(1).take_while(|word| **word != "as");
    let imported = imported.filter(|_| !words.contains(&"from"));
    named.filter_map(|pair| pair.last()).chain(imported).all(is_known)
}

/// Code without the strings that are text for people, or name a file that is only read.
pub fn naming(kind: &str, code: &str) -> String {
    let (mut out, mut outside, mut rest) = (String::with_capacity(code.len()), String::new(), code);
    while let Some((before, quote, string, after)) = next_string(rest) {
        out.push_str(before);
        outside.push_str(before);
        if is_prose(string) || is_read(before, after) {
            out.push(' ');
        } else {
            out.extend([quote, string, quote]);
        }
        rest = after;
    }
    out.push_str(rest);
    outside.push_str(rest);
    let is_opaque = code.contains("child_process")
        || OPAQUE.split(' ').any(|word| outside.contains(word))
        || ["perl", "ruby", "php"].contains(&kind) && outside.contains('`');
    if is_opaque { code.to_owned() } else { out }
}

/// The next string, with the code before and after it; a quote without an end, as in `# don't`, is an empty one.
fn next_string(code: &str) -> Option<(&str, &str, &str, &str)> {
    let (before, from) = code.split_at_checked(code.find(['\'', '"'])?)?;
    let quote = ["'''", "\"\"\"", "'", "\""].into_iter().find(|quote| from.starts_with(quote))?;
    let inner = from.get(quote.len()..)?;
    let line = if quote.len() == 1 { inner.lines().next().unwrap_or_default() } else { inner };
    let is_end = |at: &usize| {
        let before = inner.get(..*at).unwrap_or_default();
        (before.len() - before.trim_end_matches('\\').len()) % 2 == 0
    };
    let end = line.match_indices(quote).map(|(at, _)| at).find(is_end).unwrap_or(0);
    let (string, rest) = inner.split_at_checked(end)?;
    Some((before, quote, string, rest.strip_prefix(quote).unwrap_or(rest)))
}

/// Whether a string is text: it has words that are no names of files.
fn is_prose(string: &str) -> bool {
    let is_word = |word: &&str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        bare.len() > 1 && bare.chars().all(char::is_alphabetic) && !word.starts_with(['-', '.', '/'])
    };
    string.split_whitespace().filter(is_word).nth(1).is_some()
}

/// Whether a string is read as a file, or replaced in a text: `open('x')`, `Path('x').read_text()`, `text.replace('x', 'y')`.
fn is_read(before: &str, after: &str) -> bool {
    let Some(function) = before.strip_suffix('(') else { return false };
    let mode: String = after.chars().take(9).filter(|c| *c != ' ').collect::<String>().replace('"', "'");
    match function.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default() {
        "Path" => [").read", ").exists", ").is_"].iter().any(|method| after.starts_with(method)),
        "replace" | "replaceAll" | "sub" => after.starts_with(',') && !function.ends_with("os.replace"),
        name => {
            has_name(READING, name)
                && [")", ",'r')", ",'rb')", ",'utf8')", ",'utf-8"].iter().any(|end| mode.starts_with(end))
        }
    }
}
