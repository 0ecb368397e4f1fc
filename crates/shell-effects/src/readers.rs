//! Programs that only read, by their names and options.

use super::code_text::only_reads;
use super::programs::{CODE, READS, SHOWS, STATE, has_trait};
use super::protected::ProtectedFiles;
use super::{has_name, sed_script};

/// Git commands that leave the files of the worktree alone.
const GIT: &str = "diff log show status blame check-ignore ls-files ls-tree cat-file grep rev-parse rev-list describe \
    shortlog add commit push fetch";

/// Folders of the system's programs; a program elsewhere only has the name of a reader.
const SYSTEM: [&str; 6] = ["/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/", "/sbin/", "/usr/sbin/"];

/// Options with which readers write files or start programs.
const WRITING_OPTIONS: &str = "-i -o -O --in-place --inplace --output --pre --open-files-in-pager -delete -exec -execdir -ok \
    -okdir -fprint -fprint0 -fprintf -fls";

/// Whether a file is a text for people, and none of those that decide.
pub(super) fn is_document(file: &str) -> bool {
    const ENDINGS: [&str; 6] = [".md", ".mdx", ".rst", ".adoc", ".html", ".txt"];
    // `.gitignore` and the like list paths.
    file == "/dev/null" || ENDINGS.iter().any(|end| file.ends_with(end)) || base(file).ends_with("ignore")
}

/// Whether a command prints what is in the files it names.
pub(super) fn prints_content(words: &[String]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let names_files = |word: &String| word.starts_with('-') && word.contains(['l', 'L', 'H', 'r', 'R']);
    let operands = rest.iter().filter(|word| !word.starts_with('-')).count();
    match base(program) {
        "grep" | "egrep" | "fgrep" => operands == 2 && !rest.iter().any(names_files),
        name => has_trait(name, SHOWS),
    }
}

/// Whether a program with its arguments, unexpanded, and its here-document only reads.
pub(super) fn is_reader(raw: &[String], document: Option<&str>, protected: &ProtectedFiles) -> bool {
    let words: Vec<String> = raw.iter().map(|word| unquoted(word)).collect();
    let Some((program, rest)) = words.split_first() else { return true };
    let rest_is = |list: &str| rest.iter().find(|word| !word.starts_with('-')).is_some_and(|word| has_name(list, word));
    // `-` is the standard input.
    let operands = rest.iter().filter(|word| !word.starts_with('-') || *word == "-").count();
    let writes = rest.iter().any(|word| has_name(WRITING_OPTIONS, word.split('=').next().unwrap_or(word)));
    let begins = |starts: &[&str]| rest.iter().any(|word| starts.iter().any(|start| word.starts_with(start)));
    let name = base(program);
    let is_own_program =
        program.len() > name.len() && !SYSTEM.iter().any(|folder| program.strip_suffix(name) == Some(folder));
    if is_own_program && !has_trait(name, CODE) && !protected.is_program(name) {
        return false;
    }
    match name {
        // A subscript is evaluated: `test -v 'a[$(rm x)]'`.
        "test" | "[" | "printf" | "read" | "mapfile" | "readarray"
            if rest.iter().any(|word| word.contains("[$(") || word.contains("[`")) || begins(&["-C"]) =>
        {
            false
        }
        // `grep -o` and `jq -i` are options of their own.
        "grep" | "egrep" | "fgrep" | "rg" | "ls" | "cut" | "stat" | "diff" | "test" | "[" | "echo" | "printf"
        | "du" | "file" => !begins(&["--pre", "--hostname-bin"]),
        "less" | "more" | "tree" | "bat" => {
            !writes && !begins(&["-o", "-O", "-k", "+", "--out", "--log", "--LOG", "--pager", "--lesskey"])
        }
        name if has_trait(name, READS) => !writes,
        name if has_trait(name, STATE) => true,
        "find" => !writes,
        "yq" => !rest.iter().any(|word| has_name("-i --inplace -s --split-exp", word)),
        "ajv" => rest_is("validate test"),
        "tar" => packs(rest),
        "zip" => {
            let archive = rest.iter().find(|word| !word.starts_with('-'));
            archive.is_some_and(|file| !is_hidden(file))
                && !rest.iter().any(|word| has_name("-m --move -d --delete -T -TT", word) || word.starts_with("-b"))
        }
        "sort" => !begins(&["-o", "--output", "--compress"]),
        "uniq" | "xxd" | "base64" => operands <= 1 && !rest.iter().any(|word| word == "-r"),
        "sed" | "gsed" => sed_script::only_prints(raw.get(1..).unwrap_or_default()),
        "awk" => {
            let is_known = |word: &String| !word.starts_with('-') || word.starts_with("-F") || word.starts_with("-v");
            rest.iter().all(is_known) && !rest.iter().any(|word| awk_writes(word))
        }
        "python" | "python3" if rest.first().is_some_and(|word| word == "-m") => rest_is("json.tool") && operands <= 2,
        name if has_trait(name, CODE) => code_reads(name, raw.get(1..).unwrap_or_default(), document),
        "prettier" | "biome" => {
            rest.iter().any(|word| has_name("--check -c check lint", word))
                && !begins(&["--write", "-w", "--fix", "--apply", "--unsafe"])
        }
        // Nothing is locked by adding permissions.
        "chmod" => rest.iter().find(|word| !word.starts_with('-')).is_some_and(|mode| adds_permissions(mode)),
        "git" => git_reads(rest),
        "gh" => {
            let is_any = |list: &str| rest.iter().any(|word| has_name(list, word));
            rest_is("pr issue search") && !is_any("checkout")
                || rest_is("api") && !is_any("-X --method -f -F --field --raw-field --input")
                || rest_is("run release repo workflow") && is_any("view list")
        }
        "xargs" | "watch" | "time" | "command" | "npx" => {
            let is_option =
                |word: &&String| word.starts_with('-') || word.chars().all(|c| c.is_ascii_digit() || c == '.');
            let command = 1 + raw.iter().skip(1).take_while(is_option).count();
            is_reader(raw.get(command..).unwrap_or_default(), document, protected)
        }
        "tee" => rest.iter().filter(|word| !word.starts_with('-')).all(|word| is_document(word)),
        name if protected.is_program(name) => {
            let option = |word: &String| word.split('=').next().unwrap_or_default().to_owned();
            !rest.iter().any(|word| has_name(protected.writing_options, &option(word)))
                && rest.iter().any(|word| has_name(protected.reading_commands, word))
        }
        _ => false,
    }
}

/// Whether `tar` lists an archive, or makes one that is no hidden file.
fn packs(rest: &[String]) -> bool {
    let [mode, archive, files @ ..] = rest else { return false };
    let letters = mode.strip_prefix('-').unwrap_or(mode);
    let is_plain = letters.ends_with('f') && letters.chars().all(|c| "ctvzjJahf".contains(c));
    let has_option = |word: &String| word.starts_with('-') && !word.starts_with("--exclude");
    is_plain && letters.contains(['c', 't']) && !is_hidden(archive) && !files.iter().any(has_option)
}

/// Whether a path has a hidden name in it.
fn is_hidden(path: &str) -> bool {
    path.contains(['$', '*', '?', '['])
        || path.split('/').any(|name| name.len() > 1 && name.starts_with('.') && name != "..")
}

/// `git diff`, also with `-C` and `--no-pager` before the word; `-c` may start other programs.
fn git_reads(rest: &[String]) -> bool {
    let mut words = rest.iter().map(|word| word.split('=').next().unwrap_or(word));
    let verb = loop {
        match words.next() {
            Some("-C") => drop(words.next()),
            Some("--no-pager" | "-P") => {}
            verb => break verb.unwrap_or_default(),
        }
    };
    // Only the index changes; the files stay as they are.
    let is_any = |list: &str| words.clone().any(|word| has_name(list, word));
    let is_of_index = match verb {
        "restore" => is_any("--staged -S") && !is_any("--worktree -W -SW -WS -p --patch"),
        "reset" => !is_any("--hard --merge --keep"),
        "rm" => is_any("--cached"),
        _ => has_name(GIT, verb),
    };
    // Options can be abbreviated.
    let more = ["--out", "-O", "--open", "--ext", "--up", "--receive", "--exec"];
    is_of_index && !words.any(|word| more.iter().any(|start| word.starts_with(start)))
}

/// The option of an interpreter that takes code.
pub(super) fn code_option(name: &str) -> &'static str {
    if name.starts_with("python") { "-c" } else { "-e" }
}

/// Whether an interpreter runs only code, on its command line or in a here-document, that has none of the words with which code changes things.
fn code_reads(name: &str, rest: &[String], document: Option<&str>) -> bool {
    let code = match rest {
        [first, code, ..] if first == code_option(name) => Some(code.as_str()),
        [] => document,
        [dash] if dash == "-" => document,
        _ => None,
    };
    code.is_some_and(|code| only_reads(name, code))
}

/// Whether a program of `awk` may write a file or run a command; `$2 > 3` does not.
fn awk_writes(program: &str) -> bool {
    let prints_to_file = program.find("print").is_some_and(|at| program.get(at..).unwrap_or_default().contains('>'));
    program.contains("system") || program.contains('|') || prints_to_file
}

/// Whether a mode of `chmod` only adds permissions: `+x`, `u+rwx`.
fn adds_permissions(mode: &str) -> bool {
    let (who, what) = mode.split_once('+').unwrap_or((mode, ""));
    who.chars().all(|c| "ugoa".contains(c)) && !what.is_empty() && what.chars().all(|c| "rwxX".contains(c))
}

/// The name of a program without its folder.
pub(crate) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// A word without quotes and backslashes.
pub(super) fn unquoted(word: &str) -> String {
    word.chars().filter(|c| !['\'', '"', '\\'].contains(c)).collect()
}
