//! The parts of a command line that do more than read.
//!
//! A short list of programs that only read, by their names and options. Everything else does more.

use super::parse::parse;
use super::programs::{CHECKS, CODE, STATE, has_trait};
use super::protected::ProtectedFiles;
use super::quoting::backtick;
use super::readers::{base, code_option, is_document, is_reader, prints_content, unquoted};
use super::syntax::{CommandTree, RedirectKind, Redirection, SimpleCommand};
use super::word_parts::{self, WordPart};
use super::work::{ScanLimits, WorkBudget};
use super::{code_text, has_name, sed_script};
use std::borrow::Cow;

/// How deep substitutions are looked at.
const DEPTH: usize = 20;

/// The text of a command line without the commands that only read; empty if all of them do, and the whole line if it
/// cannot be parsed, or the budget is used up.
pub fn non_reading_text(command: &str, protected: &ProtectedFiles, budget: &WorkBudget) -> String {
    let Ok(tree) = parse(command, budget) else { return command.to_owned() };
    if renames_programs(command, protected) {
        return command.to_owned();
    }
    let mut parts = CommandText::new(ScanLimits { depth: DEPTH, budget }, protected);
    parts.tree(&tree);
    for (name, code) in &parts.written_code {
        if parts.users.contains(name) {
            add(&mut parts.text, code);
        }
    }
    if parts.does_more { parts.text } else { parts.redirects }
}

/// Whether a line may make another program run under the name of a reader.
fn renames_programs(command: &str, protected: &ProtectedFiles) -> bool {
    const SETTERS: [&str; 3] = ["hash -p", "alias ", "enable -f"];
    const USUAL: [&str; 10] = ["$PATH", "${PATH", "$HOME", "${HOME", "~", "/usr", "/opt", "/bin", "/sbin", "/nix"];
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let before = |at: usize| command.get(..at).unwrap_or_default();
    let is_usual = |folder: &str| USUAL.iter().any(|start| folder.trim_start_matches(['"', '\'']).starts_with(start));
    let is_search_path = |at: usize| {
        let value = command.get(at + "PATH=".len()..).unwrap_or_default();
        let value = value.split(|c: char| c.is_whitespace() || ";&|)".contains(c)).next().unwrap_or_default();
        !before(at).ends_with(is_of_name) && !value.split(':').all(is_usual)
    };
    // `jq() { rm "$1"; }`
    let is_function = |at: usize| {
        let name = before(at).trim_end().rsplit(|c| !is_of_name(c)).next().unwrap_or_default();
        let is_defined = command.get(at + 2..).is_some_and(|rest| rest.trim_start().starts_with('{'));
        is_defined && !name.is_empty() && is_reader(&[name.to_owned()], None, protected)
    };
    SETTERS.iter().any(|setter| command.contains(setter))
        || command.match_indices("PATH=").any(|(at, _)| is_search_path(at))
        || command.match_indices("()").any(|(at, _)| is_function(at))
}

/// The text of a command line, by what is done with it.
struct CommandText<'b> {
    limits: ScanLimits<'b>,
    protected: &'b ProtectedFiles,
    /// Commands that do more than read, and folders, variables and files that they may use.
    text: String,
    /// Files that readers write to.
    redirects: String,
    does_more: bool,
    /// What is written to files of code, by their names without the ending.
    written_code: Vec<(String, String)>,
    /// The commands that may use such a file; only then does its content count.
    users: String,
}

fn add(text: &mut String, word: &str) {
    text.push(' ');
    text.push_str(word);
}

impl<'b> CommandText<'b> {
    fn new(limits: ScanLimits<'b>, protected: &'b ProtectedFiles) -> Self {
        let (text, redirects, users) = Default::default();
        Self { limits, protected, text, redirects, does_more: false, written_code: Vec::new(), users }
    }

    fn tree(&mut self, tree: &CommandTree) {
        match tree {
            CommandTree::List(items) => items.iter().for_each(|(item, _)| self.tree(item)),
            CommandTree::Function { body, .. } => self.tree(body),
            CommandTree::Pipeline(parts) => {
                let mut inner = Self::new(self.limits, self.protected);
                for part in parts {
                    inner.tree(part);
                }
                if inner.does_more {
                    return self.more(tree);
                }
                // `base64 program | base64 -d > copy`
                if !inner.redirects.is_empty() {
                    let mut copied = String::new();
                    self.all(tree, &mut copied);
                    if self.protected.is_program_in(&copied) {
                        self.text.push_str(&copied);
                    }
                }
                self.text.push_str(&inner.text);
                self.redirects.push_str(&inner.redirects);
                self.written_code.append(&mut inner.written_code);
            }
            CommandTree::Command(command) if self.is_reader(command) => self.reader(command),
            CommandTree::Command(_) => self.more(tree),
            CommandTree::Compound(group) => {
                self.does_more |= group.words.iter().any(|word| self.is_left_by(word));
                group.words.iter().for_each(|word| add(&mut self.text, word));
                group.redirects.iter().filter(|redirect| has_document(redirect)).for_each(|redirect| {
                    add(&mut self.text, &redirect.target);
                });
                self.written(&group.redirects);
                group.parts.iter().for_each(|part| self.tree(part));
            }
        }
    }

    /// A command that does more than read.
    fn more(&mut self, tree: &CommandTree) {
        self.does_more = true;
        let mut text = String::new();
        self.all(tree, &mut text);
        self.text.push_str(&text);
        if !is_check(tree) {
            self.users.push_str(&text);
        }
    }

    /// The files that redirections write.
    fn written(&mut self, redirects: &[Redirection]) {
        let is_number = |target: &str| target.chars().all(|c| c.is_ascii_digit() || c == '-');
        for redirect in redirects.iter().filter(|redirect| writes(redirect) && !is_number(&redirect.target)) {
            add(&mut self.text, &redirect.target);
            if unquoted(&redirect.target) != "/dev/null" {
                add(&mut self.redirects, &redirect.target);
            }
        }
    }

    fn reader(&mut self, command: &SimpleCommand) {
        let written: Vec<&Redirection> = command.redirects.iter().filter(|redirect| writes(redirect)).collect();
        if let [target] = written.as_slice()
            && let Some(name) = name_of_code(&unquoted(&target.target))
            && !command.words.iter().any(|word| substitutes(word))
        {
            let mut code = String::new();
            command.words.iter().for_each(|word| add(&mut code, word));
            command.redirects.iter().for_each(|redirect| add(&mut code, &redirect.target));
            return self.written_code.push((name, code));
        }
        let is_document = written.iter().all(|redirect| is_document(&redirect.target));
        self.written(&command.redirects);
        let paths = command.assignments.iter().filter(|text| !gives_content(text));
        paths.for_each(|text| add(&mut self.text, text));
        let program = command.words.first().map(|word| unquoted(word)).unwrap_or_default();
        let is_content = prints_content(&command.words)
            && !command.words.iter().any(|word| self.protected.is_program_in(word))
            && !command.redirects.iter().any(has_document);
        if has_trait(&program, STATE) || !is_content && !is_document {
            command.words.iter().for_each(|word| add(&mut self.text, word));
            command.redirects.iter().for_each(|redirect| add(&mut self.text, &redirect.target));
        }
    }

    /// All words, assignments, redirections and here-documents of commands.
    fn all(&self, tree: &CommandTree, text: &mut String) {
        match tree {
            CommandTree::Command(command) => {
                command.assignments.iter().for_each(|word| add(text, word));
                self.judged(&command.words).for_each(|word| add(text, &word));
                let code = document_of_interpreter(&command.words);
                for redirect in &command.redirects {
                    let is_quoted = redirect.kind == RedirectKind::Document { quoted: true };
                    let is_plain = is_quoted || has_document(redirect) && !self.is_left_by(&redirect.target);
                    match code.filter(|_| is_plain) {
                        Some(kind) => add(text, &code_text::naming(kind, &redirect.target)),
                        None => add(text, &redirect.target),
                    }
                }
            }
            CommandTree::Pipeline(parts) => parts.iter().for_each(|part| self.all(part, text)),
            CommandTree::List(items) => items.iter().for_each(|(item, _)| self.all(item, text)),
            CommandTree::Compound(group) => {
                group.words.iter().for_each(|word| add(text, word));
                group.redirects.iter().for_each(|redirect| add(text, &redirect.target));
                group.parts.iter().for_each(|part| self.all(part, text));
            }
            CommandTree::Function { body, .. } => self.all(body, text),
        }
    }

    /// The words of a command by which it is judged: not the program itself, what it excludes, the message of a commit or a pull
    /// request, a prompt, the body of a request or a script of `sed`, which are data, or the source of a copy.
    fn judged<'w>(&self, words: &'w [String]) -> impl Iterator<Item = Cow<'w, str>> {
        let data = match words.first().map(String::as_str) {
            Some("git" | "jj" | "hg") => "-m --message",
            Some("gh" | "glab") => {
                "-m --message -b --body -t --title -n --notes -d --description -f --field --raw-field"
            }
            Some("claude") => "-p --print",
            Some("curl") => "-d --data --data-raw --json",
            _ => "",
        };
        let before = |at: usize| at.checked_sub(1).and_then(|before| words.get(before)).map_or("", String::as_str);
        let is_own = words.first().is_some_and(|word| self.protected.is_program(base(&unquoted(word))));
        let skipped = if is_copy(words) { words.len() - 1 } else { usize::from(is_own) };
        let script = script_of_edit(words);
        words.iter().enumerate().skip(skipped).filter_map(move |(at, word)| {
            let is_data = has_name(data, before(at)) || is_excluded(words, at) || is_address(words, word);
            match code_in(words, at) {
                _ if self.is_left_by(word) => Some(Cow::Borrowed(word.as_str())),
                _ if is_data || script == Some(at) => None,
                Some((kind, code)) => Some(Cow::Owned(code_text::naming(kind, &code))),
                None => Some(Cow::Borrowed(word.as_str())),
            }
        })
    }

    /// Whether a command only reads, apart from its redirections.
    fn is_reader(&self, command: &SimpleCommand) -> bool {
        let targets = command.redirects.iter().filter(|redirect| !has_document(redirect));
        let mut all = command.words.iter().chain(&command.assignments).chain(targets.map(|redirect| &redirect.target));
        // Variables of the environment can make a reader start another program.
        let with_environment = !command.assignments.is_empty() && !command.words.is_empty();
        let document = command.redirects.iter().find(|redirect| has_document(redirect));
        !with_environment
            && !all.any(|word| self.is_left_by(word))
            && is_reader(&command.words, document.map(|redirect| redirect.target.as_str()), self.protected)
    }

    /// Whether a word runs commands that do more than read; text that `cat` reads from a here-document is only text.
    fn is_left_by(&self, word: &str) -> bool {
        let is_text = word.trim_start_matches('"').starts_with("$(cat <<") && word.matches("$(").count() == 1;
        !is_text && substitutes(word) && !self.only_reads(word, false)
    }

    /// Whether the substitutions of a text only read.
    fn only_reads(&self, text: &str, quoted: bool) -> bool {
        let Some(limits) = self.limits.nested() else { return false };
        let inner = Self::new(limits, self.protected);
        let mut rest = text;
        while !rest.is_empty() {
            let Some((part, length)) = word_parts::part(rest, quoted, limits) else { return false };
            let reads = match part {
                WordPart::Double(text) => inner.only_reads(text, true),
                WordPart::Command(line) | WordPart::Process(line) => inner.is_reading_line(line),
                WordPart::Backtick(line) => inner.is_reading_line(&backtick(line, quoted)),
                WordPart::Braced(text) | WordPart::Count(text) => !substitutes(text),
                _ => true,
            };
            if !reads {
                return false;
            }
            rest = rest.get(length..).unwrap_or_default();
        }
        true
    }

    /// Whether a command line only reads and writes nowhere.
    fn is_reading_line(&self, line: &str) -> bool {
        let mut inner = Self::new(self.limits, self.protected);
        parse(line, self.limits.budget).is_ok_and(|tree| {
            inner.tree(&tree);
            !inner.does_more && inner.redirects.is_empty() && inner.written_code.is_empty()
        })
    }
}

/// Whether an assignment is of what is in a file, not of its path: `x=$(jq .a x.json)`, `n=$(ls | wc -l)`.
fn gives_content(assignment: &str) -> bool {
    let value = assignment.split_once('=').map_or("", |(_, value)| value.trim_matches('"'));
    let line = value.strip_prefix("$(").and_then(|line| line.strip_suffix(')'));
    let Some(line) = line.filter(|line| !substitutes(line) && !line.contains([';', '&', '\n'])) else { return false };
    let words: Vec<String> = line.split_whitespace().take_while(|word| *word != "|").map(str::to_owned).collect();
    prints_content(&words) || line.contains("| wc ")
}

/// The name of a file of code without its ending.
fn name_of_code(file: &str) -> Option<String> {
    const ENDINGS: &str =
        "py pyi js jsx mjs cjs ts tsx mts go rs rb java kt swift c h cc cpp hpp cs php scala ex exs lua vue svelte";
    let (name, ending) = base(file).rsplit_once('.')?;
    (has_name(ENDINGS, ending) && !name.is_empty() && !file.contains(['*', '$'])).then(|| name.to_owned())
}

/// Whether a command tests, checks or compiles files; tests are not read.
fn is_check(tree: &CommandTree) -> bool {
    let CommandTree::Command(command) = tree else { return false };
    let is_wrapper = |word: &&String| has_name("npx uv uvx poetry bundle run exec pnpm yarn python python3 -m", word);
    let mut words = command.words.iter().skip_while(is_wrapper);
    let first = words.next().map_or("", String::as_str);
    let second = words.next().map_or("", String::as_str);
    has_trait(base(first), CHECKS)
        || has_name("go cargo npm", first) && has_name("test vet check clippy fmt build", second)
        || first == "git"
}

fn writes(redirect: &Redirection) -> bool {
    matches!(redirect.kind, RedirectKind::Write | RedirectKind::Duplicate)
}

fn has_document(redirect: &Redirection) -> bool {
    matches!(redirect.kind, RedirectKind::Document { .. })
}

/// The code in a word after the option of an interpreter, without the quotes of the shell.
fn code_in(words: &[String], at: usize) -> Option<(&str, String)> {
    let option = at.checked_sub(1).and_then(|before| words.get(before))?;
    let kind = base(words.first()?);
    (has_trait(kind, CODE) && option == code_option(kind)).then_some(())?;
    let word = words.get(at)?;
    let inner = |quote: char| word.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    let code = match (inner('\''), inner('"')) {
        (Some(code), _) if !code.contains('\'') => code.to_owned(),
        (_, Some(code)) => {
            let plain = code.replace("\\\\", "\0").replace("\\\"", "\u{1}");
            if plain.contains('"') {
                return None;
            }
            plain.replace('\u{1}', "\"").replace('\0', "\\")
        }
        _ => return None,
    };
    Some((kind, code))
}

/// The interpreter that runs a here-document.
fn document_of_interpreter(words: &[String]) -> Option<&str> {
    let name = match words {
        [name] => name,
        [name, dash] if dash == "-" => name,
        _ => return None,
    };
    Some(base(name)).filter(|name| has_trait(name, CODE))
}

/// `cp a b`: only the last word is written.
fn is_copy(words: &[String]) -> bool {
    let program = words.first().map_or("", String::as_str);
    let is_plain = |word: &String| match program {
        "cp" => has_name("-p -a -r -R -f -v -n", word),
        "scp" => has_name("-p -r -q -C -v", word),
        _ => has_name("-a -v -z -r -av -avz -rv -az", word),
    };
    has_name("cp scp rsync", program)
        && words.len() > 2
        && words.iter().all(|word| !word.starts_with('-') || is_plain(word))
}

/// Whether a word is an address from which no folders are made here.
fn is_address(words: &[String], word: &str) -> bool {
    let makes_folders = |option: &String| {
        let is_short = option.starts_with('-') && !option.starts_with("--") && option.contains(['x', 'r', 'm', 'p']);
        is_short || has_name("--force-directories --recursive --mirror --page-requisites", option)
    };
    let is_web = ["http://", "https://"].iter().any(|begin| unquoted(word).starts_with(begin));
    is_web && !(words.first().is_some_and(|program| program == "wget") && words.iter().any(makes_folders))
}

/// The place of a script that only changes text: `sed -i 's/a/b/' x`, `perl -pi -e 's/a/b/' x`.
fn script_of_edit(words: &[String]) -> Option<usize> {
    let is_option = |word: &String| word.starts_with('-');
    let at = words.iter().skip(1).position(|word| !is_option(word))? + 1;
    let mut script = sed_script::without_quotes(words.get(at)?);
    let is_edit = match words.first()?.as_str() {
        "sed" | "gsed" => !words.iter().any(|word| word == "-f" || word.starts_with("--file")),
        "perl" => {
            // `s{a}{b}`
            script = script.replace("}{", "{").replace('}', "{");
            words.iter().skip(1).take(at - 1).all(|word| has_name("-p -i -pi -e -pe -pie -i.bak", word))
        }
        _ => false,
    };
    (is_edit && !script.is_empty() && !sed_script::writes(&script)).then_some(at)
}

/// Whether a word names what a command leaves out: `--exclude=x`, `':!x'`, `find . -not -path x`.
fn is_excluded(words: &[String], at: usize) -> bool {
    const EXCLUDING: &str =
        "--exclude --exclude-dir --ignore --ignore-pattern --ignore-glob --ignore-path --skip --skip-dirs --skip-files";
    let word = |at: Option<usize>| at.and_then(|at| words.get(at)).map(|word| unquoted(word)).unwrap_or_default();
    let (own, before, next) = (word(Some(at)), word(at.checked_sub(1)), word(Some(at + 1)));
    let name = own.split('=').next().unwrap_or_default();
    let is_zip = words.first().is_some_and(|program| program == "zip") && before == "-x";
    let is_found = words.first().is_some_and(|program| program == "find")
        && has_name("-path -wholename -ipath -name -iname", &before)
        && (has_name("-not !", &word(at.checked_sub(2)))
            || next == "-prune" && has_name("-o -or", &word(Some(at + 2))));
    let is_negated = ["!", ":!", ":^", ":(exclude)"].iter().any(|mark| own.len() > mark.len() && own.starts_with(mark));
    own.contains('=') && has_name(EXCLUDING, name) || has_name(EXCLUDING, &before) || is_zip || is_found || is_negated
}

/// Whether a word may run commands.
fn substitutes(word: &str) -> bool {
    word.contains("$(") || word.contains('`') || word.contains("<(") || word.contains(">(")
}
