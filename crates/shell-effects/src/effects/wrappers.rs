//! Programs that run other programs.

use super::args::Args;
use super::target_path::{TargetPath, absolute};
use super::walker::Walker;
use super::{ProgramCall, builtins};
use crate::has_name;
use crate::programs::{DEFAULT, GLOBBED, SHELL, WINDOWS, has_trait, names_with};
use crate::syntax::CommandTree;
use crate::word::{self, ShellWord, UNKNOWN};
use std::rc::Rc;

/// Programs that run others: names, the verbs of those that need one, options with a value, and the number of operands before
/// the command.
pub(super) const WRAPPERS: [(&str, &str, &str, usize); 51] = [
    ("nohup setsid command builtin busybox toybox unbuffer chronic unshare fakeroot bunx pnpx dlx shx", "", "", 0),
    // Of zsh.
    ("noglob nocorrect -", "", "", 0),
    ("repeat faketime", "", "", 1),
    ("sudo", "", "-u -g -h -p -C -D -R -T -U -r -t --user --group --chdir", 0),
    ("doas", "", "-u -C", 0),
    ("env", "", "-u -C -S --unset --chdir --split-string", 0),
    ("nice", "", "-n --adjustment", 0),
    ("ionice", "", "-c -n -p --class --classdata", 0),
    ("time", "", "-o -f --output --format", 0),
    ("timeout gtimeout", "", "-k -s --kill-after --signal", 1),
    ("stdbuf", "", "-i -o -e --input --output --error", 0),
    ("exec", "", "-a", 0),
    ("chroot", "", "--userspec --groups", 1),
    ("taskset", "", "", 1),
    ("chrt", "", "-T -P -D", 1),
    ("caffeinate", "", "-t -w", 0),
    ("strace ltrace", "", "-o -e -p -s", 0),
    ("systemd-run", "", "-u -p --unit --property", 0),
    ("xvfb-run", "", "-n -s", 0),
    ("pkexec", "", "--user", 0),
    ("nsenter", "", "-t --target -S -G", 0),
    ("npx", "", "-p --package", 0),
    // `Start-Process x -ArgumentList y`
    ("Start-Process saps", "", "", 0),
    ("uvx", "", "--from --with -p --python --index --index-url", 0),
    ("rtk corepack xcrun cross-env cross-env-shell", "", "", 0),
    ("dotenv flox", "", "-e -f -p -v", 0),
    ("c8 nyc", "", "-r --reporter -x --exclude -n --include --temp-dir", 0),
    ("winpty wsl dumb-init catchsegv with-contenv heaptrack dbus-run-session valgrind firejail", "", "-d -u", 0),
    ("proxychains proxychains4 torsocks tsocks", "", "-f", 0),
    ("tini", "", "-p -e", 0),
    ("gosu su-exec setarch", "", "", 1),
    ("arch", "", "-arch -e -d", 0),
    ("setpriv", "", "--reuid --regid --groups --inh-caps --ambient-caps --bounding-set --securebits", 0),
    ("numactl", "", "-m -N -C -i -p -P --membind --cpunodebind --physcpubind --interleave --preferred", 0),
    ("cgexec", "", "-g", 0),
    ("systemd-inhibit prlimit", "", "--what --who --why --mode", 0),
    // The dynamic loader.
    ("ld-linux* ld-musl*", "", "--library-path --argv0 --preload", 0),
    // With a verb.
    (
        "uv",
        "run",
        "--extra --group --only-group --no-group --with --with-editable --with-requirements --python -p --package \
         --directory --project --env-file --index --index-url --color --refresh-package",
        0,
    ),
    (
        "poetry pipenv pdm rye hatch conda mamba micromamba pixi devbox asdf rbenv pyenv volta dotenv dotenvx op doppler \
         infisical bundle",
        "run exec",
        "-n --name --prefix -e --env -C --directory -P --project -c --config -f --env-file --with --manifest-path",
        0,
    ),
    ("npm pnpm yarn bun", "run exec x dlx", "--filter -F -w --workspace -C --dir --prefix --cwd -p --package -c", 0),
    ("pipx", "run", "--spec --python --index-url --pip-args", 0),
    ("mise rtx", "exec x", "-C --cd -j --jobs -E --env -c --command", 0),
    ("rtk", "test err proxy summary", "", 0),
    ("direnv chamber", "exec", "", 1),
    ("teller", "run", "-c --config", 0),
    ("perf", "stat record trace", "-e -o -p -C -F -r", 0),
    ("mprof", "run", "-T -o --interval", 0),
    ("aws-vault", "exec", "-d --duration", 1),
    ("fnm", "exec", "--using", 0),
    (
        "docker podman nerdctl docker-compose",
        "exec run",
        "-e --env -u --user -w --workdir --env-file -v --volume --name --network --entrypoint -p --publish --platform \
         --mount --index -f --file --project-name --profile -H --host --context -m --memory --cpus --shm-size --net \
         --pid --ipc --userns --add-host --hostname --label --cap-add --cap-drop --security-opt --device --gpus --tmpfs \
         --restart --ulimit --dns --group-add --pull",
        1,
    ),
    ("kubectl oc", "exec", "-n --namespace -c --container --context", 1),
];

impl Walker<'_> {
    /// Walks a command and returns its output.
    pub fn run(&mut self, words: &[ShellWord], input: &ShellWord) -> ShellWord {
        let size: usize = words.iter().map(ShellWord::cost).sum();
        self.budget.spend(size);
        if !self.steps(1 + size / 256) {
            return ShellWord::unknown();
        }
        self.nested(|walker| walker.dispatch(words, input))
    }

    fn dispatch(&mut self, words: &[ShellWord], input: &ShellWord) -> ShellWord {
        // `time -p -- x`
        let words = after_dashes(words);
        let Some((first, rest)) = words.split_first() else { return ShellWord::default() };
        // A link or copy that the line made is also walked under the original name.
        if let Some(origin) = self.origin(first) {
            self.in_ignored_subshell(|walker| walker.named(&[&[ShellWord::new(origin)], rest].concat(), input));
        }
        self.named(words, input)
    }

    fn named(&mut self, words: &[ShellWord], input: &ShellWord) -> ShellWord {
        let Some((first, rest)) = words.split_first() else { return ShellWord::default() };
        let Some(given) = first.text() else {
            self.effects.hidden.push(word::shown(words));
            self.called(words);
            self.unnamed(rest, input);
            return ShellWord::unknown();
        };
        if let Some(alias) = self.alias(&given) {
            let quoted: Vec<String> = rest.iter().map(quoted).collect();
            let printed = self.text(&format!("{alias} {}", quoted.join(" ")), input);
            Rc::make_mut(&mut self.state.aliases).insert(given, alias);
            return printed;
        }
        if let Some(body) = self.state.functions.get(&given).map(Rc::clone) {
            return self.function(&given, body, rest, input);
        }
        let name = given.rsplit('/').next().unwrap_or_default();
        if first.has_glob() {
            // `/bin/r? x` may be any of these; shells come last, as they may run what the others write.
            self.effects.hidden.push(word::shown(words));
            for name in names_with(GLOBBED).rev().filter(|known| fast_glob::glob_match(name, known)) {
                self.in_ignored_subshell(|walker| walker.run(&[&[ShellWord::new(name)], rest].concat(), input));
            }
        }
        if given.contains('/') {
            match self.content(first) {
                Some(script) => drop(self.ignoring_status(|walker| walker.written_script(&script, rest, input))),
                None => self.program_on_disk(first, rest),
            }
        }
        self.called(words);
        self.sending(name, rest);
        self.project_scripts(name, rest, input);
        if let Some(printed) = self.run_by_verb(name, rest, input) {
            return printed;
        }
        if let Some((_, _, valued, operands)) = without_verb(name) {
            return self.wrapped(name, rest, valued, *operands, input);
        }
        match name {
            _ if has_trait(name, SHELL) => self.shell(rest, input),
            _ if has_trait(name, WINDOWS) => self.windows_shell(rest, input),
            "eval" => {
                let rest = after_dashes(rest);
                for word in rest {
                    self.script_on_input("sh", word);
                }
                let printed = self.script(&joined(rest), rest, input);
                if rest.iter().any(|word| word.text().is_none()) {
                    self.mark_redefined("it evaluates unknown code");
                }
                printed
            }
            "su" | "runuser" | "script" | "nix-shell" | "sg" => self.session_shell(name, rest, input),
            "hyperfine" => {
                let args = Args::new(rest, "-r -w -m -M -n -L -P -S -s -p -c --runs --warmup --export-json --prepare");
                let lines = args.operands.iter().chain(args.values("-p --prepare -c --cleanup"));
                lines.for_each(|line| drop(self.in_ignored_subshell(|walker| walker.code(line, input))));
                ShellWord::unknown()
            }
            "cmake" if rest.first().is_some_and(|word| word.is("-E")) => {
                let is_removal = |word: &ShellWord| has_name("rm remove remove_directory", &word.filled(""));
                match rest.get(1..).and_then(|rest| rest.split_first()) {
                    Some((verb, files)) if is_removal(verb) => self
                        .in_subshell(|walker| walker.run(&[&["rm", "-r"].map(ShellWord::new), files].concat(), input)),
                    _ => ShellWord::unknown(),
                }
            }
            "watch" => self.ignoring_status(|walker| {
                let (_, rest) = Args::leading(rest, "-n --interval");
                walker.script(&joined(rest), rest, input)
            }),
            "flock" => {
                let (_, rest) = Args::leading(rest, "-w -E --timeout --wait");
                match rest.get(1..).unwrap_or_default() {
                    [option, script, ..] if option.is("-c") => self.code(script, input),
                    rest => self.run(rest, input),
                }
            }
            "trap" => {
                let script = after_dashes(rest).first().filter(|script| !script.prefix().starts_with('-')).cloned();
                if script.is_some() {
                    self.mark_redefined("it sets a trap");
                }
                script.map_or_else(ShellWord::default, |script| {
                    self.in_ignored_subshell(|walker| walker.code(&script, input))
                })
            }
            "crontab" => self.crontab(rest, input),
            "at" | "batch" => self.ignoring_status(|walker| walker.code(input, &ShellWord::unknown())),
            "xargs" => self.ignoring_status(|walker| walker.given_found(input, |walker| walker.xargs(rest, input))),
            "parallel" => {
                self.ignoring_status(|walker| walker.given_found(input, |walker| walker.parallel(rest, input)))
            }
            "find" | "gfind" => self.ignoring_status(|walker| walker.find(rest, input)),
            "fd" | "fdfind" => self.ignoring_status(|walker| walker.fd(rest, input)),
            _ => self.builtin(name, rest, input).unwrap_or_else(|| builtins::run(self, name, rest, input)),
        }
    }

    /// Walks the lines of a table of `cron`, after their times.
    fn crontab(&mut self, rest: &[ShellWord], input: &ShellWord) -> ShellWord {
        let file = Args::new(rest, "-u").operands.first().filter(|file| !file.is("-")).cloned();
        let table = file.map_or_else(|| Some(input.clone()), |file| self.content(&file));
        let lines = table.into_iter().flat_map(|table| table.split(|c| c == '\n'));
        let lines: Vec<String> = lines.map(|line| after_times(&line.filled(UNKNOWN)).to_owned()).collect();
        self.in_ignored_subshell(|walker| walker.text(&lines.join("\n"), &ShellWord::unknown()))
    }

    /// Removes an alias, while its own text is walked.
    fn alias(&mut self, name: &str) -> Option<String> {
        self.state.aliases.contains_key(name).then(|| Rc::make_mut(&mut self.state.aliases).remove(name)).flatten()
    }

    fn called(&mut self, words: &[ShellWord]) {
        let (own, output) = match self.redefined {
            Some(_) => Default::default(),
            None => (self.own, self.output.clone()),
        };
        let (command, piped, redefined) = (self.command, self.piped, self.redefined.clone());
        self.effects.calls.push(ProgramCall { words: words.to_vec(), own, output, command, piped, redefined });
    }

    fn wrapped(
        &mut self,
        name: &str,
        rest: &[ShellWord],
        valued: &str,
        operands: usize,
        input: &ShellWord,
    ) -> ShellWord {
        // `-S` is followed by the command and its options.
        let split = rest.iter().position(|word| word.is("-S") || word.is("--split-string")).filter(|_| name == "env");
        if let Some(words) = split.and_then(|at| rest.get(at + 1..)) {
            let first = words.first().map(|word| word.filled(UNKNOWN)).unwrap_or_default();
            let quoted: Vec<String> = words.iter().skip(1).map(quoted).collect();
            return self.in_subshell(|walker| walker.text(&format!("{first} {}", quoted.join(" ")), input));
        }
        let (args, rest) = Args::leading(rest, valued);
        if name == "command" && args.has("-v -V") {
            return self.found(rest);
        }
        if name == "sudo" && args.has("-e --edit") {
            self.change_all(super::Effect::Write, rest, false);
        }
        if let Some(words) = args.value("-S --split-string").filter(|_| name == "env") {
            let quoted: Vec<String> = rest.iter().map(quoted).collect();
            let text = format!("{} {}", words.filled(UNKNOWN), quoted.join(" "));
            return self.in_subshell(|walker| walker.text(&text, input));
        }
        let root = rest.first().filter(|_| name == "chroot").and_then(ShellWord::text);
        let before = self.effects.changes.len();
        let mut rest = rest.get(operands..).unwrap_or_default();
        let printed = self.in_subshell(|walker| {
            let folder = match name {
                "sudo" => args.value("-D --chdir"),
                "env" => args.value("-C --chdir"),
                _ => None,
            };
            if let Some(folder) = folder {
                walker.enter(folder);
            }
            while let Some((word, after)) = rest.split_first()
                && ["env", "sudo", "doas", "cross-env", "cross-env-shell"].contains(&name)
                && let Some((variable, _)) = word.prefix().split_once('=')
            {
                let value = word.after(&format!("{variable}="));
                walker.assigned(variable, &value.clone().unwrap_or_default());
                walker.state.set(variable, value.map(|value| vec![value]));
                rest = after;
            }
            let starts_shell = match name {
                "sudo" | "doas" => args.has("-s --shell -i --login"),
                name => has_trait(name, DEFAULT),
            };
            if rest.is_empty() && starts_shell {
                let is_login = args.has("-i --login") && !args.has("-u --user");
                return walker.root_shell(is_login && name == "sudo", &[], input);
            }
            walker.run(rest, input)
        });
        if let Some(root) = root {
            self.changed_below(&root, before);
        }
        if name == "exec" {
            self.mark_redefined("`exec` replaces the shell");
        }
        printed
    }

    /// Records the changes after the first `before` ones as changes below another root, too.
    fn changed_below(&mut self, root: &str, before: usize) {
        let Some(root) = absolute(root, self.state.folder.as_deref()).filter(|root| root != "/") else { return };
        for change in self.effects.changes.get(before..).unwrap_or_default().to_vec() {
            if let TargetPath::Known { path, glob } = change.target {
                let path = format!("{root}{}", path.trim_end_matches('/'));
                self.note(change.effect, TargetPath::Known { path, glob }, change.recursive);
            }
        }
    }

    /// `su -c '…'`, `su - <<< '…'`, `nix-shell --run '…'`.
    fn session_shell(&mut self, name: &str, rest: &[ShellWord], input: &ShellWord) -> ShellWord {
        let (valued, code) = match name {
            "nix-shell" => ("--run --command -p -A", "--run --command"),
            _ => ("-c --command -s -g -G --shell", "-c --command"),
        };
        let args = Args::new(rest, valued);
        if let Some(script) = args.value(code) {
            return self.code(script, input);
        }
        match name {
            // The user is followed by the shell's arguments.
            "su" => {
                let (dashes, words): (Vec<_>, Vec<_>) = args.operands.iter().cloned().partition(|word| word.is("-"));
                let is_login = !dashes.is_empty() || args.has("-l --login");
                let is_root = words.first().is_none_or(|user| user.is("root"));
                self.root_shell(is_login && is_root, words.get(1..).unwrap_or_default(), input)
            }
            "runuser" if args.has("-u --user") => {
                let (_, words) = Args::leading(rest, "-u --user -g --group -G --supp-group");
                self.in_subshell(|walker| walker.run(words, input))
            }
            // The form of macOS: `script file command…`.
            "script" if args.operands.len() > 1 => {
                self.in_subshell(|walker| walker.run(args.operands.get(1..).unwrap_or_default(), input))
            }
            _ => self.shell(&[], input),
        }
    }

    /// Walks a shell of another user, usually root; a login shell starts in that user's home.
    fn root_shell(&mut self, is_login: bool, arguments: &[ShellWord], input: &ShellWord) -> ShellWord {
        self.in_subshell(|walker| {
            if is_login {
                walker.enter(&ShellWord::new("/root"));
            }
            walker.shell(arguments, input)
        })
    }

    fn function(&mut self, name: &str, body: Rc<CommandTree>, rest: &[ShellWord], input: &ShellWord) -> ShellWord {
        let outer = self.state.variables.clone();
        self.state.give(rest);
        // A recursive function is walked once.
        Rc::make_mut(&mut self.state.functions).remove(name);
        let printed = self.ignoring_status(|walker| walker.tree(&body, input));
        self.state.define(name, body);
        let variables = Rc::make_mut(&mut self.state.variables);
        for name in ["@", "*", "#", "1", "2", "3", "4", "5", "6", "7", "8", "9"] {
            match outer.get(name) {
                Some(value) => drop(variables.insert(name.to_owned(), value.clone())),
                None => drop(variables.remove(name)),
            }
        }
        printed
    }

    /// Walks a script that the line has written.
    fn written_script(&mut self, script: &ShellWord, arguments: &[ShellWord], input: &ShellWord) -> ShellWord {
        self.in_subshell(|walker| {
            walker.state.give(arguments);
            walker.code(script, input)
        })
    }

    /// `cmd /c …`, `pwsh -Command …`.
    fn windows_shell(&mut self, rest: &[ShellWord], input: &ShellWord) -> ShellWord {
        let at = rest.iter().position(|word| has_name("/c /C -c -Command -command", &word.filled("")));
        let rest = at.and_then(|at| rest.get(at + 1..)).unwrap_or_default();
        self.in_ignored_subshell(|walker| walker.script(&joined(rest), rest, input))
    }

    /// `sh -c '…'`, `sh <<< '…'`, `sh file`.
    fn shell(&mut self, rest: &[ShellWord], input: &ShellWord) -> ShellWord {
        // `bash +x -c '…'`
        let is_unset = |word: &&ShellWord| word.prefix().starts_with('+') && !word.is("+o") && !word.is("+O");
        let rest = rest.get(rest.iter().take_while(is_unset).count()..).unwrap_or_default();
        let (args, rest) = Args::leading(rest, "-o -O +o --rcfile --init-file");
        self.in_subshell(|walker| {
            // A new shell does not inherit aliases.
            walker.state.aliases = Rc::default();
            if args.has("-n") {
                walker.mark_redefined("the shell only reads its commands");
            }
            walker.shell_options(args.values("-O"));
            (walker.state.strict, walker.state.pipefail) = (false, false);
            for file in args.values("--rcfile --init-file") {
                match walker.content(file) {
                    Some(script) => drop(walker.written_script(&script, &[], &ShellWord::default())),
                    None => drop(walker.script_on_disk(file, "sh", &[])),
                }
            }
            if args.has("-c") {
                let script = rest.first().cloned().unwrap_or_default();
                walker.state.give(rest.get(2..).unwrap_or_default());
                walker.state.set("0", rest.get(1).map(|word| vec![word.clone()]));
                // `bash -c "$(cat x)"`
                walker.script_on_input("sh", &script);
                return walker.code(&script, input);
            }
            match rest.first().filter(|file| !args.has("-s") && !file.is("-") && !file.is("/dev/stdin")) {
                None => {
                    walker.script_on_input("sh", input);
                    walker.code(input, &ShellWord::unknown())
                }
                Some(file) => match walker.content(file) {
                    Some(script) => walker.written_script(&script, rest.get(1..).unwrap_or_default(), input),
                    None if args.has("-n") => ShellWord::unknown(),
                    // `bash <(cat x)`
                    None if file.text().is_none() => {
                        walker.script_on_input("sh", file);
                        ShellWord::unknown()
                    }
                    None => walker.script_on_disk(file, "sh", rest.get(1..).unwrap_or_default()),
                },
            }
        })
    }

    /// Walks a script that may be partly unknown.
    pub fn code(&mut self, script: &ShellWord, input: &ShellWord) -> ShellWord {
        self.script(&script.filled(UNKNOWN), std::slice::from_ref(script), input)
    }

    pub fn script(&mut self, text: &str, from: &[ShellWord], input: &ShellWord) -> ShellWord {
        let known = from.iter().all(|word| word.text().is_some());
        if !known {
            self.effects.hidden.push(self.by.clone());
        }
        if text.replace(UNKNOWN, "").trim().is_empty() {
            return ShellWord::unknown();
        }
        let by = self.by.clone();
        let printed = self.text(text, input);
        self.by = by;
        printed
    }

    /// Changes the current folder.
    pub fn enter(&mut self, folder: &ShellWord) {
        let text = folder.text().filter(|_| !folder.has_glob());
        let folder = text.and_then(|text| absolute(&text, self.state.folder.as_deref()));
        self.state.enter(folder);
    }
}

/// The row of a program that runs its operands.
fn without_verb(name: &str) -> Option<&'static (&'static str, &'static str, &'static str, usize)> {
    WRAPPERS.iter().find(|(names, verbs, ..)| verbs.is_empty() && has_name(names, name))
}

/// The words after a `--`, if they begin with one.
fn after_dashes(words: &[ShellWord]) -> &[ShellWord] {
    words.split_first().filter(|(first, _)| first.is("--")).map_or(words, |(_, rest)| rest)
}

/// Joins words to a script; unlike a [`ShellWord`], a script that is too long is an error.
pub(super) fn joined(words: &[ShellWord]) -> String {
    words.iter().map(|word| word.filled(UNKNOWN)).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for the shell.
pub(super) fn quoted(word: &ShellWord) -> String {
    match word.text() {
        Some(text) if word.has_glob() => text,
        _ => format!("'{}'", word.filled(UNKNOWN).replace('\'', r"'\''")),
    }
}

/// The command of a line of `cron`: `*/5 * * * * command` or `@daily command`.
fn after_times(line: &str) -> &str {
    let line = line.trim_start();
    let times = if line.starts_with('@') { 1 } else { 5 };
    let mut rest = line;
    for _ in 0..times {
        rest = rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start());
    }
    if line.starts_with('#') { "" } else { rest }
}
