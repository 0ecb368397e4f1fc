//! The strings of code that may name files, without text for people and files that are only read.
//!
//! Code that starts programs is left as it is: there, a string may be a command line.

use super::has_name;

/// Words of code that starts programs, or makes code or lists of words from strings.
const OPAQUE: &str = "system popen Popen subprocess spawn exec eval shell qx %x %w split() split(/ getattr __import__ importlib \
    runpy compile( ctypes";
/// Languages in which backticks start programs.
const WITH_BACKTICKS: [&str; 3] = ["perl", "ruby", "php"];
/// Functions that read the file in their only argument.
const READING: &str = "open load exists isfile isdir getsize getmtime stat lstat readFileSync existsSync statSync readlink \
    read_text read_bytes read readlines loads file_get_contents";
/// Functions of texts, whose two arguments are no files.
const OF_TEXTS: &str = "replace replaceAll sub gsub subn replace_all index find count startswith endswith includes";

/// Functions with which code reads a file and prints a part of it, in any of the languages.
const READING_CALLS: &str = "abs abspath add all any append assert basename bool callback catch concat console.log count Counter decode \
    dict dir dirname dump_s dumps each elif encode end endswith entries enumerate env error every except exists existsSync exit \
    expanduser extend extname filter finally find findall first flat flatMap float for forEach format fromEntries get getcwd \
    getenv getsize glob hasOwnProperty hasattr hash hexdigest home if in includes index indexOf inspect int is_dir is_file isdir \
    isfile isinstance items iter iterdir join json keys lambda last len length list listdir load loads log lower map match max \
    md5 min next not object ord p parse parseInt Path pformat pop pp pprint print print_r push puts range read readFile \
    readFileSync read_bytes read_text readdirSync readlines realpath reduce relative repr require resolve return rglob safe_load \
    scan search select set sha256 size slice some sort sorted split splitlines stat statSync startsWith startswith str String \
    stringify strip sum then title toString to_a to_h to_s trim tuple type uniq update upper values walk warn while with yield zip";

/// Whether code calls only functions that read.
pub(super) fn only_reads(kind: &str, code: &str) -> bool {
    // `rm['x']()`, `` $`rm x` ``
    let has_any = |words: &[&str]| words.iter().any(|word| code.contains(word));
    // Ruby calls functions without parentheses.
    let is_bare = kind == "ruby" && has_any(&["FileUtils", "PStore", "reopen", "Dir[", "File.open"]);
    let hides_calls = is_bare || has_any(&["](", ")(", "$`"]);
    let is_known = |(at, _)| {
        let before = code.get(..at).unwrap_or_default();
        match before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default() {
            "" => true,
            "open" => opens_to_read(code.get(at + 1..).unwrap_or_default()),
            name => has_name(READING_CALLS, name),
        }
    };
    !hides_calls && code.match_indices('(').all(is_known)
}

/// Whether the arguments of `open` have no mode, or one for reading.
fn opens_to_read(arguments: &str) -> bool {
    let end = arguments.find(')').unwrap_or(arguments.len());
    let others = arguments.get(..end).unwrap_or_default().split(',').skip(1).map(str::trim);
    others.into_iter().all(|argument| {
        let value = argument.strip_prefix("mode=").unwrap_or(argument).trim_matches(['\'', '"']);
        argument.starts_with("encoding=") || argument.starts_with("errors=") || has_name("r rb rt br tr", value)
    })
}

/// Code without the strings that are no paths, or only those of files to read.
#[must_use]
pub fn naming(kind: &str, code: &str) -> String {
    let (mut out, mut outside, mut rest) = (String::with_capacity(code.len()), String::new(), code);
    let mut splits = false;
    while let Some((before, quote, string, after)) = next_string(rest) {
        let head = code.get(..code.len() - rest.len() + before.len()).unwrap_or_default();
        out.push_str(before);
        outside.push_str(before);
        splits |= string.trim().is_empty() && head.ends_with("split(");
        if is_prose(string) || is_read(head, after) || is_of_text(head, after) || is_temporary(head) {
            out.push(' ');
        } else {
            out.extend([quote, string, quote]);
        }
        rest = after;
    }
    out.push_str(rest);
    outside.push_str(rest);
    let is_opaque = splits
        || code.contains("child_process")
        || OPAQUE.split(' ').any(|word| outside.contains(word))
        || WITH_BACKTICKS.contains(&kind) && outside.contains('`');
    if is_opaque { code.to_owned() } else { out }
}

/// The next string, with the code before and after it; a quote without an end, as in `# don't`, is an empty one.
fn next_string(code: &str) -> Option<(&str, &str, &str, &str)> {
    let at = code.find(['\'', '"'])?;
    let (before, from) = code.split_at_checked(at)?;
    let quote = ["'''", "\"\"\"", "'", "\""].into_iter().find(|quote| from.starts_with(quote))?;
    let inner = from.get(quote.len()..)?;
    let end = end_of_string(inner, quote);
    let (string, rest) = inner.split_at_checked(end)?;
    Some((before, quote, string, rest.strip_prefix(quote).unwrap_or(rest)))
}

fn end_of_string(inner: &str, quote: &str) -> usize {
    let is_escaped = |at: usize| {
        let before = inner.get(..at).unwrap_or_default();
        (before.len() - before.trim_end_matches('\\').len()) % 2 == 1
    };
    let line = inner.get(..inner.find('\n').filter(|_| quote.len() == 1).unwrap_or(inner.len())).unwrap_or(inner);
    line.match_indices(quote).map(|(at, _)| at).find(|at| !is_escaped(*at)).unwrap_or(0)
}

/// Whether a string is text: it has words that are no names of files.
fn is_prose(string: &str) -> bool {
    let is_word = |word: &&str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        bare.len() > 1 && bare.chars().all(char::is_alphabetic) && !word.starts_with(['-', '.', '/'])
    };
    string.split_whitespace().filter(is_word).nth(1).is_some()
}

/// Whether a string is the only argument of a function that reads: `open('x')`, `Path('x').read_text()`.
fn is_read(head: &str, after: &str) -> bool {
    let Some(rest) = after.strip_prefix(')') else {
        let mode = after.trim_start_matches([',', ' ']);
        let is_mode = ["'r')", "\"r\")", "'rb')", "\"rb\")", "'utf8')", "\"utf8\")", "'utf-8')", "\"utf-8\")"];
        return called(head).is_some_and(|name| has_name(READING, name))
            && is_mode.iter().any(|mode_text| mode.starts_with(mode_text));
    };
    let method = rest.strip_prefix('.').and_then(|rest| rest.split_once('(')).map_or("", |(name, _)| name);
    match called(head) {
        Some("Path") => has_name("read_text read_bytes exists is_file is_dir stat", method),
        Some(name) => has_name(READING, name),
        None => false,
    }
}

/// Whether a string is an argument of a function that works on texts: `text.replace('a', 'b')`; `os.replace` moves a file.
fn is_of_text(head: &str, after: &str) -> bool {
    let is_first = after.starts_with(',') && !head.trim_end().ends_with(',');
    let open = head.rfind('(').unwrap_or(0);
    let (before, inner) = head.split_at_checked(open).unwrap_or((head, ""));
    let is_second = inner.contains(',') && !inner.contains(')');
    let name = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    (is_first || is_second) && has_name(OF_TEXTS, name) && before.len() > name.len() && !before.ends_with("os.replace")
}

/// Whether a path is below a temporary folder: `tmp_path / 'a'`, `os.path.join(tmp, 'x')`.
fn is_temporary(head: &str) -> bool {
    let Some(before) = head.trim_end().strip_suffix(['/', ',']) else { return false };
    let bare = before.trim_end();
    let start = bare.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    let name = bare.get(start..).unwrap_or_default().to_lowercase();
    name.contains("tmp") || name.contains("temp")
}

/// The name of the function that is called right before `head` ends.
fn called(head: &str) -> Option<&str> {
    let before = head.strip_suffix('(')?;
    Some(before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default())
}
