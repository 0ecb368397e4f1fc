//! Builtins of the shell and programs with known output.

use super::args::Args;
use super::shell_state::user_name;
use super::target_path::TargetPath;
use super::walker::Walker;
use super::{copy_move, file_programs, git, inline_code, patches, remote};
use crate::has_name;
use crate::syntax::Unreadable;
use crate::word::ShellWord;
use std::rc::Rc;

/// Walks a known program and returns its output.
pub(super) fn run(walker: &mut Walker<'_>, name: &str, rest: &[ShellWord], input: &ShellWord) -> ShellWord {
    match name {
        "mv" | "gmv" => copy_move::mv(walker, rest),
        "cp" | "gcp" | "install" | "ginstall" => copy_move::cp(walker, name, rest),
        "ln" | "link" => copy_move::ln(walker, rest),
        "rsync" => copy_move::rsync(walker, rest),
        "ssh" | "autossh" => remote::ssh(walker, rest, input),
        "scp" => remote::scp(walker, rest),
        "git" | "hub" => {
            git::run(walker, rest, input);
            return git::printed(walker, rest);
        }
        "docker" | "podman" | "nerdctl" | "kubectl" | "oc" | "aws" | "gsutil" | "gcloud" => {
            remote::fetch(walker, name, rest);
        }
        "patch" | "gpatch" => patches::patch(walker, rest, input),
        "tee" | "sponge" => {
            for file in Args::new(rest, "").operands {
                walker.write(&file);
                walker.wrote(&file, input.clone());
            }
            return input.clone();
        }
        // Before `xargs -0`.
        "tr" if rest.len() == 2 && rest.first().is_some_and(|word| word.is("\\n")) => return input.clone(),
        "sort" | "uniq" | "tac" | "shuf" | "head" | "tail" => {
            return passed_on(rest, input);
        }
        _ if inline_code::run(walker, name, rest, input) => {}
        _ => file_programs::run(walker, name, rest, input),
    }
    ShellWord::unknown()
}

impl Walker<'_> {
    /// The user's name as programs print it.
    fn user_line(&self) -> ShellWord {
        ShellWord::new(format!("{}\n", user_name(self.context)))
    }

    /// Walks a builtin; `None` if the name is not one.
    pub fn builtin(&mut self, name: &str, rest: &[ShellWord], input: &ShellWord) -> Option<ShellWord> {
        match name {
            "cd" | "pushd" | "chdir" => self.cd(name, rest),
            "popd" => {
                let folder = self.state.pushed.pop().flatten();
                self.state.enter(folder);
            }
            "pwd" => {
                let folder = self.state.folder.as_ref();
                return Some(folder.map_or_else(ShellWord::unknown, |folder| ShellWord::new(format!("{folder}\n"))));
            }
            "whoami" => return Some(self.user_line()),
            "id" if matches!(rest, [option] if option.is("-un")) => return Some(self.user_line()),
            "echo" => return Some(echo(rest)),
            "base64" | "gbase64" if Args::new(rest, "-w").has("-d -D --decode") => {
                let code = self.cat(rest, input).text();
                return Some(code.and_then(|code| decoded(&code)).map_or_else(ShellWord::unknown, ShellWord::new));
            }
            "dirname" | "basename" => return Some(part(name, rest)),
            "ls" => return Some(listed(rest)),
            "grep" | "egrep" | "rg" | "ag" => return Some(matching(rest)),
            "which" => return Some(self.found(rest)),
            "type" if Args::new(rest, "").has("-p -P") => return Some(self.found(rest)),
            "mktemp" => return Some(mktemp(rest)),
            "printf" => return Some(self.printf(rest)),
            "cat" => return Some(self.cat(rest, input)),
            "declare" | "local" | "typeset" if Args::new(rest, "").has("-n") => {
                self.give_up(Unreadable::NotFollowed("declare -n"));
            }
            "export" | "declare" | "local" | "readonly" | "typeset" => self.declare(rest),
            "unset" => rest.iter().filter_map(ShellWord::text).for_each(|name| {
                if self.state.functions.contains_key(&name) {
                    Rc::make_mut(&mut self.state.functions).remove(&name);
                }
                self.state.set(&name, Some(Vec::new()));
            }),
            "read" => self.read_line(rest, input),
            "mapfile" | "readarray" => self.mapfile(rest, input),
            "realpath" | "grealpath" => return Some(self.realpath(rest)),
            "readlink" | "greadlink" if Args::new(rest, "").has("-f -e -m --canonicalize") => {
                return Some(self.realpath(rest));
            }
            "set" => {
                self.state.strict |= rest.iter().any(|word| {
                    let text = word.prefix();
                    text.starts_with('-') && !text.starts_with("--") && text.contains('e') || text == "errexit"
                });
                let stops = |word: &ShellWord| {
                    let text = word.prefix();
                    text.starts_with('-') && !text.starts_with("--") && text.contains(['n', 't']) || text == "noexec"
                };
                if rest.iter().take_while(|word| !word.is("--")).any(stops) {
                    self.mark_redefined("`set` keeps commands from running");
                }
                if let Some(at) = rest.iter().position(|word| word.is("pipefail")) {
                    let option = at.checked_sub(1).and_then(|at| rest.get(at)).map(ShellWord::prefix);
                    self.state.pipefail = option.is_some_and(|option| option.starts_with('-') && option.ends_with('o'));
                }
                if let Some(at) = rest.iter().position(|word| word.is("--")) {
                    self.state.give(rest.get(at + 1..).unwrap_or_default());
                }
            }
            "shift" => {
                let words = self.variable("@").unwrap_or_default();
                self.state.give(words.get(1..).unwrap_or_default());
            }
            "enable" | "hash" => self.mark_redefined(format!("`{name}` changes which programs run")),
            "alias" => {
                if rest.iter().any(|word| word.prefix().contains('=')) {
                    self.mark_redefined("it defines an alias");
                    self.give_up(Unreadable::NotFollowed("alias"));
                }
            }
            "shopt" | "setopt" => self.shell_options(rest),
            "source" | "." => {
                let (file, arguments) = rest.split_first()?;
                return Some(self.sourced(file, arguments, input));
            }
            "true" | "false" | ":" | "test" | "[" | "exit" | "return" | "wait" | "sleep" | "unalias" => {}
            _ => return None,
        }
        Some(ShellWord::default())
    }

    /// Options of the shell: which hidden files a glob then matches is not analysed.
    pub fn shell_options<'w>(&mut self, options: impl IntoIterator<Item = &'w ShellWord>) {
        let names = "dotglob globdots glob_dots";
        if options.into_iter().any(|word| has_name(names, &word.filled("").to_lowercase())) {
            self.give_up(Unreadable::NotFollowed("dotglob"));
        }
    }

    /// Walks the commands of a file in this shell.
    pub fn sourced(&mut self, file: &ShellWord, arguments: &[ShellWord], input: &ShellWord) -> ShellWord {
        let script = if file.is("/dev/stdin") { Some(input.clone()) } else { self.content(file) };
        match script {
            Some(script) => self.code(&script, input),
            None => self.script_on_disk(file, "sh", arguments),
        }
    }

    fn cd(&mut self, name: &str, rest: &[ShellWord]) {
        let args = Args::new(rest, "");
        if name == "pushd" {
            self.state.pushed.push(self.state.folder.clone());
        }
        match args.operands.first() {
            None => {
                let home = self.context.home.clone();
                self.state.enter(Some(home));
            }
            Some(folder) if folder.is("-") => {
                let previous = self.state.previous.clone();
                self.state.enter(previous);
            }
            Some(folder) => {
                let first = folder.prefix();
                let is_searched = !["", ".", ".."].contains(&first.split('/').next().unwrap_or_default());
                let has_path = self.state.variables.contains_key("CDPATH")
                    && self.variable("CDPATH").is_none_or(|words| words.iter().any(|word| !word.is("")));
                if is_searched && has_path {
                    self.give_up(Unreadable::NotFollowed("CDPATH"));
                }
                self.enter(folder);
            }
        }
    }

    /// The path that `which` prints, assumed to be in the folder of user-installed programs.
    pub fn found(&self, rest: &[ShellWord]) -> ShellWord {
        match Args::new(rest, "").operands.as_slice() {
            [name] => {
                let mut path = ShellWord::new(format!("{}/.local/bin/", self.context.home));
                path.extend(name);
                path
            }
            _ => ShellWord::unknown(),
        }
    }

    fn declare(&mut self, rest: &[ShellWord]) {
        for word in rest {
            if let Some((name, _)) = word.prefix().split_once('=') {
                let value = word.after(&format!("{name}="));
                self.assigned(name.trim_end_matches('+'), &value.clone().unwrap_or_default());
                self.state.set(name.trim_end_matches('+'), value.map(|value| vec![value]));
            }
        }
    }

    /// `read x y`: a line may be known in part, such as one that `find` prints.
    fn read_line(&mut self, rest: &[ShellWord], input: &ShellWord) {
        let args = Args::new(rest, "-d -n -N -p -t -u -i");
        let end = delimiter(&args);
        let line = input.split(|c| c == end).into_iter().next().unwrap_or_default();
        let mut names: Vec<String> = args.operands.iter().filter_map(ShellWord::text).collect();
        if names.is_empty() {
            names.push("REPLY".to_owned());
        }
        let text = line.text().filter(|_| !line.has_glob()).map(|text| text.trim().to_owned());
        let Some(text) = text else {
            // Each variable may get the whole line.
            return names.iter().for_each(|name| self.state.set(name, Some(vec![line.clone()])));
        };
        let marks = self.variable("IFS").and_then(|words| words.first()?.text());
        let splits = |c: char| marks.as_ref().map_or(c.is_whitespace(), |marks| marks.contains(c));
        if args.has("-a") {
            let words = text.split(splits).filter(|part| !part.is_empty()).map(ShellWord::new).collect();
            return self.state.set(names.first().map_or("", String::as_str), Some(words));
        }
        let mut parts = text.splitn(names.len(), splits);
        for name in &names {
            self.state.set(name, Some(vec![ShellWord::new(parts.next().unwrap_or_default().trim_start())]));
        }
    }

    /// `mapfile -t a`: an array of lines.
    fn mapfile(&mut self, rest: &[ShellWord], input: &ShellWord) {
        let args = Args::new(rest, "-d -n -O -s -u -C -c");
        let end = delimiter(&args);
        let name = args.operands.first().map_or_else(|| Some("MAPFILE".to_owned()), ShellWord::text);
        if let Some(name) = name {
            self.state.set(&name, Some(input.split(|c| c == end)));
        }
    }

    /// The absolute path that `realpath` prints; links are not followed.
    fn realpath(&self, rest: &[ShellWord]) -> ShellWord {
        let args = Args::new(rest, "--relative-to --relative-base");
        let mut lines = ShellWord::default();
        for path in &args.operands {
            match self.target(path) {
                TargetPath::Known { path: whole, glob: false } => lines.push(&whole),
                _ if path.prefix().is_empty() => lines.push_unknown(),
                _ if path.prefix().starts_with('/') => lines.extend(path),
                _ => {
                    lines.push(&self.state.folder.as_ref().map(|folder| format!("{folder}/")).unwrap_or_default());
                    lines.extend(path);
                }
            }
            lines.push("\n");
        }
        if args.has("--relative-to --relative-base") { ShellWord::unknown() } else { lines }
    }

    fn printf(&mut self, rest: &[ShellWord]) -> ShellWord {
        let (args, rest) = Args::leading(rest, "-v");
        let printed = printf(rest);
        match args.value("-v").and_then(ShellWord::text) {
            Some(name) => {
                self.state.set(&name, Some(vec![printed]));
                ShellWord::default()
            }
            None => printed,
        }
    }

    fn cat(&mut self, rest: &[ShellWord], input: &ShellWord) -> ShellWord {
        let files = Args::new(rest, "").operands;
        match files.as_slice() {
            [] => input.clone(),
            [one] if one.is("-") || one.is("/dev/stdin") => input.clone(),
            [one] => self.content(one).unwrap_or_else(ShellWord::unknown),
            _ => ShellWord::unknown(),
        }
    }
}

/// The character at which `read` and `mapfile` split.
fn delimiter(args: &Args) -> char {
    args.value("-d").map_or('\n', |end| end.prefix().chars().next().unwrap_or('\0'))
}

/// The output of `dirname` or `basename`.
fn part(name: &str, rest: &[ShellWord]) -> ShellWord {
    let Some(path) = Args::new(rest, "-s").operands.first().and_then(ShellWord::text) else {
        return ShellWord::unknown();
    };
    let path = path.trim_end_matches('/');
    let (folder, last) = path.rsplit_once('/').unwrap_or((".", path));
    ShellWord::new(if name == "dirname" { folder } else { last })
}

/// The output of `ls`: for a glob, and with `-d` for a folder, the path itself, else any names.
fn listed(rest: &[ShellWord]) -> ShellWord {
    let args = Args::new(rest, "-I -w --ignore");
    let is_itself = |one: &ShellWord| one.has_glob() || args.has("-d --directory");
    match args.operands.as_slice() {
        _ if args.has("-l -R --recursive") => ShellWord::unknown(),
        [one] if is_itself(one) => one.clone(),
        [] | [_] if !args.has("-d --directory") => {
            let mut names = ShellWord::default();
            names.push_glob("*");
            if args.has("-a -A --all --almost-all") {
                names.push("\n");
                names.push_glob(".[!.]*");
            }
            names
        }
        _ => ShellWord::unknown(),
    }
}

/// The output of a search: with `-l`, paths below its folder.
fn matching(rest: &[ShellWord]) -> ShellWord {
    let args = Args::new(rest, "-e -f -m -A -B -C -g -t --include --exclude");
    let skip = usize::from(!args.has("-e -f"));
    match args.operands.get(skip..) {
        Some([folder]) if args.has("-l --files-with-matches") => folder.child(&ShellWord::unknown()),
        _ => ShellWord::unknown(),
    }
}

/// The output of a program that prints the lines of its input, in another order or only some of them.
fn passed_on(rest: &[ShellWord], input: &ShellWord) -> ShellWord {
    let reads_files =
        !Args::new(rest, "-k -t -S -T -o --output -n -c --lines --bytes -f -s -w -i -e").operands.is_empty();
    // Which of several known lines it prints is not computed.
    let are_known = input.text().is_some_and(|text| !input.has_glob() && text.trim_end().contains('\n'));
    if reads_files || are_known { ShellWord::unknown() } else { input.clone() }
}

/// Decodes base64.
fn decoded(code: &str) -> Option<String> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut pending) = (Vec::new(), 0_u32, 0_u32);
    for digit in code.chars().filter(|c| !c.is_whitespace() && *c != '=') {
        bits = (bits << 6 | u32::try_from(DIGITS.find(digit)?).ok()?) & 0xffff;
        pending += 6;
        if pending >= 8 {
            pending -= 8;
            bytes.push(u8::try_from(bits >> pending & 0xff).ok()?);
        }
    }
    String::from_utf8(bytes).ok()
}

fn echo(rest: &[ShellWord]) -> ShellWord {
    let is_option = |word: &&ShellWord| ["-n", "-e", "-E", "-ne", "-en"].iter().any(|option| word.is(option));
    let options = rest.iter().take_while(is_option).count();
    let escapes = rest.iter().take(options).any(|word| word.filled("").contains('e'));
    let mut printed = ShellWord::joined(rest.get(options..).unwrap_or_default());
    printed.push("\n");
    match printed.text() {
        Some(text) if escapes => ShellWord::new(crate::quoting::ansi(&text)),
        _ => printed,
    }
}

/// The output of `printf` for formats that only insert text.
fn printf(rest: &[ShellWord]) -> ShellWord {
    let Some((format, mut rest)) = rest.split_first() else { return ShellWord::default() };
    let Some(format) = format.text() else { return ShellWord::unknown() };
    let format = crate::quoting::ansi(&format);
    let mut printed = ShellWord::default();
    for _ in 0..100 {
        let before = rest.len();
        let mut parts = format.split('%');
        printed.push(parts.next().unwrap_or_default());
        let mut percent = false;
        for part in parts {
            if std::mem::take(&mut percent) {
                printed.push(part);
                continue;
            }
            match part.chars().next() {
                None => {
                    printed.push("%");
                    percent = true;
                }
                Some(kind @ ('s' | 'q' | 'b' | 'd' | 'i')) => {
                    if let Some((word, after)) = rest.split_first() {
                        let text = word.text().filter(|_| kind == 'b').map(|text| crate::quoting::ansi(&text));
                        printed.extend(&text.map_or_else(|| word.clone(), ShellWord::new));
                        rest = after;
                    }
                    printed.push(part.get(1..).unwrap_or_default());
                }
                Some(_) => return ShellWord::unknown(),
            }
        }
        if rest.is_empty() || rest.len() == before {
            break;
        }
    }
    printed
}

/// The output of `mktemp` is never empty, so `"$d/"*` is not the root.
fn mktemp(rest: &[ShellWord]) -> ShellWord {
    let args = Args::new(rest, "-p --tmpdir --suffix");
    let given = args.operands.first().map(ShellWord::prefix).filter(|template| template.starts_with('/'));
    let mut path = ShellWord::new(given.map_or("/tmp/tmp.".to_owned(), |given| given.trim_end_matches('X').to_owned()));
    path.push_unknown();
    path
}
