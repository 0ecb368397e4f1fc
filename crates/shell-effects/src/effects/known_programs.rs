//! Reads the table of programs: what a program does with its arguments.

use super::args::Args;
use super::sending::{after_at, is_local, is_remote};
use super::walker::Walker;
use super::wrappers::joined;
use super::{Effect, file_programs};
use crate::has_name;
use crate::programs::{CONTAINER, DEFAULT, Fact, Files, Program, When, has_trait};
use crate::syntax::Unreadable;
use crate::word::ShellWord;

/// Programs whose status says nothing about the commands they run.
const WITHOUT_STATUS: &str = "entr screen";

/// A call of a program of the table.
struct KnownCall<'w> {
    name: &'w str,
    valued: &'static str,
    rest: &'w [ShellWord],
    args: Args,
    input: &'w ShellWord,
}

impl Walker<'_> {
    /// Walks a program of the table; `None` if it runs no other program.
    pub fn known_program(&mut self, name: &str, rest: &[ShellWord], input: &ShellWord) -> Option<ShellWord> {
        if let Some(words) = self.project_wrapper(name, rest) {
            return Some(self.in_subshell(|walker| walker.run(words, input)));
        }
        let is_split = |word: &ShellWord| word.prefix().starts_with("-S") || word.prefix().starts_with("--split");
        if name == "env" && rest.iter().any(is_split) {
            self.give_up(Unreadable::NotFollowed("env -S"));
        }
        let program = Program::named(name)?;
        let valued = program.valued;
        let dashed = if name.ends_with("tar") { with_dash(rest) } else { rest.to_vec() };
        let call = KnownCall { name, valued, rest: &dashed, args: Args::new(&dashed, valued), input };
        program.facts.iter().find_map(|fact| self.fact(&call, fact))
    }

    fn fact(&mut self, call: &KnownCall<'_>, fact: &Fact) -> Option<ShellWord> {
        let KnownCall { name, rest, args, input, .. } = call;
        match fact {
            Fact::Changes(when, effect, files) if call.holds(when) && !args.flags().any(|flag| flag == "--dry-run") => {
                self.changes(args, *effect, files);
            }
            Fact::Sends(when, options) if call.holds(when) && !is_local(rest) => {
                // `gh api -F name=@file`
                let files = args.exact_values(options).map(|file| after_at(file).unwrap_or_else(|| file.clone()));
                let files: Vec<ShellWord> = files.collect();
                self.send(&files, false);
            }
            Fact::Uploads(noun, skipped)
                if noun.is_empty() || args.operands.first().is_some_and(|own| own.is(noun)) =>
            {
                let files = args.operands.get(*skipped..).unwrap_or_default();
                // `--exclude '*' --include .env` uploads what is included.
                let named = files.iter().filter(|file| !is_remote(file)).chain(args.values("--include"));
                let here: Vec<ShellWord> = named.cloned().collect();
                // A download has only its target here.
                if !files.first().is_none_or(is_remote) {
                    self.send(&here, args.has("-r --recursive"));
                }
            }
            // In `$(grep KEY .env)` a part of a file is a value to log in with.
            Fact::Filters(given, quiet) if !self.is_substituted && !args.has(quiet) => {
                self.has_read(args.operands.get(usize::from(!args.has(given))..).unwrap_or_default());
            }
            Fact::RunsLine => {
                let (_, words) = Args::leading(rest, call.valued);
                return Some(self.in_ignored_subshell(|walker| walker.script(&joined(words), words, input)));
            }
            Fact::RunsEach(options) => {
                let lines = args.operands.iter().chain(args.values(options));
                lines.for_each(|line| drop(self.in_ignored_subshell(|walker| walker.code(line, input))));
                return Some(ShellWord::unknown());
            }
            Fact::RunsAfter(marks) => {
                let at = rest.iter().position(|word| word.text().is_some_and(|text| has_name(marks, &text)))?;
                let (before, words) = rest.split_at_checked(at)?;
                // `mise run test -- --verbose`
                words.get(1).filter(|first| !first.prefix().starts_with('-'))?;
                let args = Args::new(before, call.valued);
                return Some(self.wrapped(name, &args, before.last(), words.get(1..)?, input));
            }
            Fact::Runs(when, skipped, lines) => {
                let (mut args, mut words) = Args::leading(rest, call.valued);
                // `docker compose exec`, `uv tool run`
                let is_group = |word: &ShellWord| has_name("compose container tool", &word.filled(""));
                if matches!(when, When::Verb(_)) && words.first().is_some_and(is_group) {
                    (args, words) = Args::leading(words.get(1..)?, call.valued);
                }
                if !holds(when, &args, words) {
                    return None;
                }
                let mut last = None;
                for _ in 0..*skipped {
                    let Some((first, after)) = words.split_first() else { break };
                    last = Some(first);
                    words = if args.has("--entrypoint") { after } else { args.more(after, call.valued) };
                }
                let run = |walker: &mut Self| match args.value(lines) {
                    Some(line) => walker.in_subshell(|walker| walker.code(line, input)),
                    None => walker.wrapped(name, &args, last, words, input),
                };
                return Some(if has_name(WITHOUT_STATUS, name) { self.ignoring_status(run) } else { run(self) });
            }
            _ => {}
        }
        None
    }

    /// Changes files of a program.
    fn changes(&mut self, args: &Args, effect: Effect, files: &Files) {
        let operands = args.operands.iter();
        let here = ShellWord::new(".");
        match files {
            Files::Operands(recursive) => self.change_all(effect, operands, args.has(recursive)),
            Files::Trees => self.change_all(effect, operands, true),
            Files::First => self.change_all(effect, operands.take(1), effect == Effect::Remove),
            Files::Second => self.change_all(effect, operands.skip(1).take(1), false),
            Files::Rest => self.change_all(effect, operands.skip(1), false),
            Files::Last => self.change_all(effect, operands.skip(1).last(), true),
            Files::Devices => {
                self.change_all(effect, operands.filter(|word| word.prefix().parse::<u64>().is_err()), true);
            }
            Files::AfterOf => {
                operands.filter_map(|word| word.after("of=")).for_each(|file| self.change(effect, &file, false));
            }
            Files::Values(options) => {
                self.change_all(effect, args.values(options).filter(|file| !file.is("-")), false);
            }
            Files::Folder(options) => file_programs::below(self, effect, args.value(options).unwrap_or(&here)),
            Files::Members(options) => {
                let folder = args.value(options).unwrap_or(&here);
                operands.for_each(|member| self.change(effect, &folder.child(member), true));
            }
        }
    }

    /// Runs the command of a wrapper. `last` is the word before it that is no option.
    fn wrapped(
        &mut self,
        name: &str,
        args: &Args,
        last: Option<&ShellWord>,
        words: &[ShellWord],
        input: &ShellWord,
    ) -> ShellWord {
        if name == "command" && args.has("-v -V") {
            return self.found(words);
        }
        if name == "sudo" && args.has("-e --edit") {
            self.change_all(Effect::Write, words, false);
        }
        let entry = args.value("--entrypoint").filter(|entry| !entry.pieces().is_empty());
        let words = [entry.cloned().as_slice(), &interpreter(name, args, last, words), words].concat();
        if has_trait(name, CONTAINER) && !last.is_some_and(|verb| verb.is("unshare")) {
            return self.in_container(args, &words, input);
        }
        let before = self.effects.changes.len();
        let printed = self.in_subshell(|walker| walker.in_wrapper(name, args, &words, input));
        if name == "chroot" && !last.is_some_and(|root| root.is("/")) && self.effects.changes.len() > before {
            self.give_up(Unreadable::NotFollowed("chroot"));
        }
        if name == "exec" {
            self.mark_redefined("`exec` replaces the shell");
        }
        printed
    }

    /// Runs a command in the folder and with the variables that a wrapper sets.
    fn in_wrapper(&mut self, name: &str, args: &Args, mut words: &[ShellWord], input: &ShellWord) -> ShellWord {
        let folder = match name {
            "sudo" => args.value("-D --chdir"),
            "env" => args.value("-C --chdir"),
            _ => None,
        };
        if let Some(folder) = folder {
            self.enter(folder);
        }
        while let Some((word, after)) = words.split_first()
            && let Some((variable, _)) = word.prefix().split_once('=').filter(|(name, _)| is_variable(name))
        {
            let value = word.after(&format!("{variable}="));
            self.assigned(variable, &value.clone().unwrap_or_default());
            self.state.set(variable, value.map(|value| vec![value]));
            words = after;
        }
        let starts_shell = match name {
            "sudo" | "doas" => args.has("-s --shell -i --login"),
            name => has_trait(name, DEFAULT),
        };
        if words.is_empty() && starts_shell {
            let is_login = args.has("-i --login") && !args.has("-u --user");
            return self.root_shell(is_login && name == "sudo", &[], input);
        }
        self.run(words, input)
    }

    /// The words behind a wrapper that the project names.
    fn project_wrapper<'w>(&self, name: &str, rest: &'w [ShellWord]) -> Option<&'w [ShellWord]> {
        self.context.wrappers.iter().find_map(|wrapper| {
            let (program, wanted) = wrapper.split_once(' ').unwrap_or((wrapper, ""));
            let wanted: Vec<&str> = wanted.split_whitespace().collect();
            let (own, words) = rest.split_at_checked(wanted.len()).filter(|_| program == name)?;
            let fits = own.iter().zip(wanted).all(|(word, want)| want == "*" || word.is(want));
            let (_, words) = Args::leading(words, "");
            (fits && !words.is_empty()).then_some(words)
        })
    }
}

impl KnownCall<'_> {
    fn holds(&self, when: &When) -> bool {
        // `-sdel` is one option of 7-Zip.
        let is_word = |options: &str| self.rest.iter().any(|word| has_name(options, &word.filled("")));
        // `hdparm /dev/sda` and `fdisk -s /dev/sda` print.
        let prints = self.name == "hdparm" && self.args.flags().next().is_none()
            || self.name == "fdisk" && self.args.flags().all(|flag| flag == "-s") && self.args.has("-s");
        if matches!(when, When::NotListing) && prints {
            return false;
        }
        matches!(when, When::With(options) if is_word(options)) || holds(when, &self.args, &self.args.operands)
    }
}

fn holds(when: &When, args: &Args, operands: &[ShellWord]) -> bool {
    let is_verb = |verbs: &str| operands.first().and_then(ShellWord::text).is_some_and(|verb| has_name(verbs, &verb));
    match when {
        When::Always => true,
        When::With(options) => args.has(options),
        When::Without(options) => !args.has(options),
        When::Verb(verbs) => is_verb(verbs),
        When::NotVerb(verbs) => !is_verb(verbs),
        When::NotListing => !only_lists(args),
    }
}

/// Whether a disk tool only lists: among its options and words are none that it changes something with.
fn only_lists(args: &Args) -> bool {
    const LISTING: &str =
        "-l --list -d --dump -J --json -p --print -i --info -I -t -T -V --version -h --help print list info";
    const OTHERS: &str = "-s free all unit s B kB MB GB TB KiB MiB GiB TiB";
    let words = args.operands.iter().filter(|word| !word.prefix().contains('/')).map(|word| word.filled("…"));
    let words: Vec<String> = args.flags().map(str::to_owned).chain(words).collect();
    let is_listing = |word: &String| has_name(LISTING, word);
    words.iter().any(is_listing) && words.iter().all(|word| is_listing(word) || has_name(OTHERS, word))
}

/// The words of `tar xzf a.tar` with a dash before the first options.
fn with_dash(words: &[ShellWord]) -> Vec<ShellWord> {
    let mut words = words.to_vec();
    if let Some(first) = words.first_mut().filter(|first| !first.prefix().starts_with('-')) {
        let mut dashed = ShellWord::new("-");
        dashed.extend(first);
        *first = dashed;
    }
    words
}

/// The interpreter of the file that a wrapper runs: `uv run x.py`, `bun run x.ts`, `yarn workspace a test`.
fn interpreter(name: &str, args: &Args, last: Option<&ShellWord>, words: &[ShellWord]) -> Vec<ShellWord> {
    let file = words.first().map(|word| word.filled("")).unwrap_or_default();
    let is_python = file == "-" || file.ends_with("py");
    let own: &[&str] = match name {
        "uv" | "coverage" if args.has("-m --module") => &["python", "-m"],
        "uv" | "coverage" if is_python => &["python"],
        "bun" if file.ends_with("ts") || file.ends_with("js") => &["bun"],
        "yarn" if last.is_some_and(|verb| !has_name("run exec x dlx", &verb.filled(""))) => &["yarn"],
        _ => &[],
    };
    own.iter().map(|word| ShellWord::new(*word)).collect()
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
