//! Files whose content leaves the machine: as arguments, through a pipe, through `$(…)` or by `git add`.

use super::Effect;
use super::args::Args;
use super::target_path::TargetPath;
use super::walker::Walker;
use crate::programs::{PRINTS, SENDS, has_trait};
use crate::syntax::Redirection;
use crate::word::ShellWord;

/// The most files of a pipe that are followed.
const MOST_FILES: usize = 64;
/// The most variables whose files are followed.
const MOST_VARIABLES: usize = 8;
/// Files with secrets that are looked for where a folder or a glob is sent.
const ENVIRONMENTS: [&str; 4] = [".env", ".env.local", ".env.production", ".netrc"];
/// The work of looking for them.
const LOOKS: usize = 50;

impl Walker<'_> {
    /// Walks a command whose files do not flow into the commands after it.
    pub fn with_own_reads<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::take(&mut self.reads);
        let found = self.found.clone();
        let result = walk(self);
        self.found = found;
        let own = std::mem::replace(&mut self.reads, outer);
        self.has_read(&own);
        result
    }

    pub fn has_read(&mut self, files: &[ShellWord]) {
        let room = MOST_FILES.saturating_sub(self.reads.len());
        self.reads.extend(files.iter().take(room).cloned());
    }

    /// Remembers the files that the value of a variable reads, after the first `before` ones.
    pub fn variable_read(&mut self, name: &str, raw: &str, before: usize) {
        self.variable_reads.retain(|(known, _)| known != name);
        let files = self.reads.get(before..).unwrap_or_default();
        // Reading a single value from a file is common: `KEY=$(cat .env | grep KEY | cut -d= -f2)`.
        let is_part = || ["grep", "cut", "sed", "awk", "jq", "head", "tail"].iter().any(|filter| raw.contains(filter));
        if !files.is_empty() && self.variable_reads.len() < MOST_VARIABLES && !is_part() {
            self.variable_reads.push((name.to_owned(), files.to_vec()));
        }
    }

    /// Records that a command reads the files in the variables that its words name.
    pub fn read_variables(&mut self, raw: &[String]) {
        let read = self.variable_reads.iter().filter(|(name, _)| raw.iter().any(|word| names_variable(word, name)));
        let files: Vec<ShellWord> = read.flat_map(|(_, files)| files.clone()).collect();
        self.has_read(&files);
    }

    /// Records that these files and everything read so far is sent.
    pub fn send(&mut self, files: &[ShellWord], recursive: bool) {
        let read = self.reads.clone();
        // `.env*` has `.env` among its matches.
        let hidden = files.iter().filter(|file| file.has_glob()).filter_map(without_stars);
        let mut hidden: Vec<ShellWord> = hidden.collect();
        hidden.extend(files.iter().flat_map(|file| self.environments_in(file, false, false)));
        self.change_all(Effect::Send, &hidden, recursive);
        self.change_all(Effect::Send, files.iter().filter(|file| !file.is("-")), recursive);
        // A copy that the line made is the file itself.
        for file in files {
            if let TargetPath::Known { path, glob: false } = self.target(file) {
                let originals = self.originals(&path).into_iter().skip(1).map(ShellWord::new).collect::<Vec<_>>();
                self.change_all(Effect::Send, &originals, recursive);
            }
        }
        self.change_all(Effect::Send, read.iter().filter(|file| !file.is("-")), false);
    }

    /// The files with secrets that exist and that a glob matches, or that are in a folder which is sent as a whole. A pattern of
    /// git also matches hidden names.
    fn environments_in(&self, file: &ShellWord, recursive: bool, is_pattern: bool) -> Vec<ShellWord> {
        let TargetPath::Known { path, glob } = self.target(file) else { return Vec::new() };
        let (folder, name) = if glob { path.rsplit_once('/').unwrap_or(("", &path)) } else { (path.as_str(), "") };
        if !glob && !recursive || folder.contains('*') || !self.budget.spend(LOOKS) {
            return Vec::new();
        }
        let is_meant = |own: &&str| !glob || (is_pattern || name.starts_with('.')) && fast_glob::glob_match(name, *own);
        let paths =
            ENVIRONMENTS.into_iter().filter(is_meant).map(|own| format!("{}/{own}", folder.trim_end_matches('/')));
        paths.filter(|path| self.disk.exists(path)).map(ShellWord::new).collect()
    }

    /// Records the files that a program reads or sends, besides those of the table.
    pub fn sending(&mut self, name: &str, rest: &[ShellWord]) {
        match name {
            "curl" if !is_local(rest) => {
                let files = uploads(&Args::of_program(name, rest));
                self.send(&files, false);
            }
            "http" | "https" | "xh" if !is_local(rest) => {
                let files: Vec<ShellWord> = rest.iter().filter_map(after_at).collect();
                self.send(&files, false);
            }
            "scp" | "rsync" => self.copied(&Args::of_program(name, rest)),
            "git" | "hub" => self.staged(rest),
            _ if has_trait(name, SENDS) => self.send(&[], false),
            _ if has_trait(name, PRINTS) => {
                let operands = Args::of_program(name, rest).operands;
                let input = operands.iter().filter_map(|word| word.after("if="));
                let files: Vec<ShellWord> = input.chain(operands.iter().cloned()).collect();
                self.has_read(&files);
            }
            _ => {}
        }
    }

    /// `scp file… host:path`, and the same of `rsync`.
    fn copied(&mut self, args: &Args) {
        let Some((target, sources)) = args.operands.split_last() else { return };
        if is_remote(target) && !args.has("-n --dry-run") {
            let here: Vec<ShellWord> = sources.iter().filter(|source| !is_remote(source)).cloned().collect();
            let whole = args.has("-r -a --recursive --archive");
            self.send(&here, whole);
        }
    }

    /// `git add file`: what is staged by its name is meant to be pushed.
    fn staged(&mut self, rest: &[ShellWord]) {
        let (_, rest) = Args::leading(rest, "-C -c --git-dir --work-tree");
        if let Some((verb, rest)) = rest.split_first()
            && (verb.is("add") || verb.is("stage"))
        {
            let args = Args::new(rest, "--chmod --pathspec-from-file");
            let names = args.operands.iter().filter(|word| word.text().is_some() && !args.has("-n --dry-run"));
            let mut names: Vec<ShellWord> = names.cloned().collect();
            if args.has("-f --force") {
                // `--force` stages ignored files, too; git expands patterns itself.
                let all = [ShellWord::new(".")];
                let given = if names.is_empty() && args.has("-A --all") { all.as_slice() } else { names.as_slice() };
                let mut found = Vec::new();
                for word in given {
                    let is_pattern = !word.has_glob() && word.text().is_some_and(|text| text.contains('*'));
                    let meant = if is_pattern { ShellWord::glob(word.filled("")) } else { word.clone() };
                    found.extend(self.environments_in(&meant, true, is_pattern));
                }
                names.extend(found);
            }
            self.change_all(Effect::Send, &names, false);
        } else if let Some((_, rest)) = rest.split_first().filter(|(verb, _)| verb.is("commit") || verb.is("tag")) {
            // A message is pushed with its commit.
            let args = Args::new(rest, "-F --file -m --message -C -c");
            self.change_all(Effect::Send, args.values("-F --file").filter(|file| !file.is("-")), false);
        }
    }
}

/// Whether a word has `$name` or `${name…}`.
fn names_variable(word: &str, name: &str) -> bool {
    word.split('$').skip(1).any(|rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest).strip_prefix(name);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
    })
}

/// Whether a redirection leads to another machine.
pub(super) fn to_another_machine(redirect: &Redirection) -> bool {
    ["/dev/tcp/", "/dev/udp/"].iter().any(|begin| redirect.target.starts_with(begin))
}

/// Whether a path is on another machine: `host:path`, `s3://bucket`.
pub(super) fn is_remote(path: &ShellWord) -> bool {
    path.prefix().split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'))
}

/// Whether all addresses among the arguments are this machine's.
pub(super) fn is_local(rest: &[ShellWord]) -> bool {
    const LOCAL: [&str; 4] = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"];
    let is_address = |text: &&String| text.contains("://") || LOCAL.iter().any(|host| text.starts_with(host));
    let host = |text: &String| text.split_once("://").map_or(text.clone(), |(_, host)| host.to_owned());
    let texts: Vec<String> = rest.iter().map(ShellWord::prefix).collect();
    let mut addresses = texts.iter().filter(is_address).map(host).peekable();
    addresses.peek().is_some() && addresses.all(|address| LOCAL.iter().any(|host| address.starts_with(host)))
}

/// The files that curl uploads: `-d @file`, `-F name=@file`, `-T file`, `-H @file`, and cookies and settings from a file.
fn uploads(args: &Args) -> Vec<ShellWord> {
    let data = args.values("-d --data --data-ascii --data-binary --data-urlencode --json -F --form --url-query");
    let headers = args.values("-H --header").filter_map(|header| header.after("@"));
    let cookies = args.values("-b --cookie").filter(|cookie| cookie.text().is_some_and(|text| !text.contains('=')));
    let whole = args.values("-T --upload-file -K --config").chain(cookies).cloned();
    whole.chain(headers).chain(data.filter_map(after_at)).collect()
}

/// A match of a glob such as `.env*` or `.env.*`.
fn without_stars(glob: &ShellWord) -> Option<ShellWord> {
    let text = glob.text()?;
    let name = text.rsplit('/').next().unwrap_or_default();
    let is_simple = name.starts_with('.') && name.ends_with('*') && !text.contains(['?', '[']);
    let begin = text.trim_end_matches('*');
    is_simple.then(|| ShellWord::new(if begin.ends_with('.') { format!("{begin}local") } else { begin.to_owned() }))
}

/// The file in `@file`, `name@file`, `name=@file;type=text/plain`.
pub(super) fn after_at(word: &ShellWord) -> Option<ShellWord> {
    let text = word.prefix();
    let (name, _) = text.split_once('@').or_else(|| text.split_once("=<").map(|(name, _)| (name, "")))?;
    let is_name = name.chars().all(|c| c.is_alphanumeric() || "_-.=[]".contains(c));
    let mark = if text.contains('@') { "@" } else { "=<" };
    let file = word.after(&format!("{name}{mark}")).filter(|_| is_name)?;
    // Quotes of curl's own.
    let file = match file.text() {
        Some(text) if text.starts_with('"') => ShellWord::new(text.trim_matches('"')),
        _ => file,
    };
    match file.text().and_then(|text| text.split_once(';').map(|(file, _)| file.to_owned())) {
        Some(file) => Some(ShellWord::new(file)),
        None => Some(file),
    }
}
