//! Programs with a verb that runs other programs: `uv run`, `mise exec`, `docker compose exec`.

use super::FileEffect;
use super::args::Args;
use super::inline_code::guessed;
use super::scripts::ScriptLimits;
use super::target_path::{TargetPath, absolute};
use super::walker::Walker;
use super::wrappers::WRAPPERS;
use crate::has_name;
use crate::programs::{CONTAINER, has_trait};
use crate::word::ShellWord;

/// Test programs that `yarn NAME` runs without a verb.
const BINARIES: [&str; 9] = ["jest", "vitest", "mocha", "ava", "playwright", "cypress", "tsc", "eslint", "prettier"];

impl Walker<'_> {
    /// Walks the command that a program runs for others; `None` if it runs none.
    pub fn run_by_verb(&mut self, name: &str, rest: &[ShellWord], input: &ShellWord) -> Option<ShellWord> {
        if let Some(line) = given_line(name, rest) {
            return Some(self.in_subshell(|walker| walker.code(&line, input)));
        }
        match name {
            "screen" if rest.iter().any(|word| word.is("stuff")) => {
                rest.last()
                    .iter()
                    .filter_map(|keys| keys.text())
                    .for_each(|keys| guessed(self, &keys.replace("\\n", "\n")));
                return Some(ShellWord::unknown());
            }
            // On this machine, unlike other commands of `podman`.
            "podman" if rest.first().is_some_and(|verb| verb.is("unshare")) => {
                let (_, words) = Args::leading(rest.get(1..).unwrap_or_default(), "");
                return Some(self.in_subshell(|walker| walker.run(words, input)));
            }
            "entr" => {
                let (args, words) = Args::leading(rest, "");
                return Some(self.in_ignored_subshell(|walker| match words {
                    [line, ..] if args.has("-s") => walker.code(line, input),
                    words => walker.run(words, input),
                }));
            }
            "screen" => {
                let (_, words) = Args::leading(rest, "-S -t -T -h -e -p -s");
                return Some(self.ignoring_status(|walker| walker.run(words, input)));
            }
            "tmux" => rest.iter().skip(1).filter_map(ShellWord::text).for_each(|line| guessed(self, &line)),
            _ => {}
        }
        let words = self.words_after_verb(name, rest)?;
        if !has_trait(name, CONTAINER) {
            return Some(self.in_subshell(|walker| walker.run(&words, input)));
        }
        let valued = with_verb(name).map_or("", |(_, _, valued, _)| valued);
        let args = Args::new(rest, valued);
        let mounts = self.mounts(&args);
        let folder = args.value("-w --workdir").and_then(|folder| absolute(&folder.text()?, None));
        let before = self.effects.changes.len();
        let scripts = std::mem::replace(&mut self.scripts, ScriptLimits::none());
        let printed = self.in_subshell(|walker| {
            walker.state.enter(folder);
            walker.run(&words, input)
        });
        self.scripts = scripts;
        let inside = self.effects.changes.split_off(before);
        self.effects.changes.extend(inside.into_iter().filter_map(|change| outside(change, &mounts)));
        Some(printed)
    }

    /// The folders of this machine that a container sees and may change, each after its path there.
    fn mounts(&self, args: &Args) -> Vec<(String, String)> {
        let folder = self.state.folder.as_deref();
        let mount = |value: &ShellWord| {
            let value = value.text()?;
            let named = |names: &[&str]| {
                let mut fields = value.split(',').filter_map(|field| field.split_once('='));
                fields.find(|(name, _)| names.contains(name)).map(|(_, value)| value)
            };
            let mut parts = value.split(':');
            let (source, target) = (named(&["source", "src"]), named(&["target", "dst", "destination"]));
            let (source, target, options) = match source.zip(target) {
                Some((source, target)) => (source, target, value.as_str()),
                None => (parts.next()?, parts.next()?, parts.next().unwrap_or_default()),
            };
            let mut options = options.split(',').map(|option| option.strip_suffix("=true").unwrap_or(option));
            let is_kept = options.any(|option| option == "ro" || option == "readonly");
            // A name without a folder is a volume of its own.
            let is_path = source.starts_with(['/', '.']) && !is_kept;
            let source = absolute(source, folder).filter(|_| is_path)?;
            Some((absolute(target, None)?, source.trim_end_matches('/').to_owned()))
        };
        args.values("-v --volume --mount").filter_map(mount).collect()
    }

    fn words_after_verb(&self, name: &str, rest: &[ShellWord]) -> Option<Vec<ShellWord>> {
        let is = |word: &ShellWord, names: &str| word.text().is_some_and(|text| has_name(names, &text));
        if let Some(words) = self.project_wrapper(name, rest) {
            return Some(words);
        }
        if name == "coverage" && rest.first().is_some_and(|verb| verb.is("run")) {
            let at = rest.iter().position(|word| word.is("-m")).unwrap_or(1);
            return Some([&[ShellWord::new("python")], rest.get(at..)?].concat());
        }
        if name == "nix" {
            let at = rest.iter().position(|word| is(word, "-c --command"))?;
            return rest.get(at + 1..).map(<[_]>::to_vec);
        }
        let (_, verbs, valued, operands) = with_verb(name)?;
        let (_, mut words) = Args::leading(rest, valued);
        if words.first().is_some_and(|word| is(word, "compose container")) {
            (_, words) = Args::leading(words.get(1..)?, valued);
        }
        if name == "yarn" && words.first().is_some_and(|word| word.is("workspace")) {
            return Some([&[ShellWord::new("yarn")], words.get(2..)?].concat());
        }
        // `uv tool run x` is `uvx x`.
        if name == "uv" && words.first().is_some_and(|word| word.is("tool")) {
            words = words.get(1..)?;
        }
        let verb = words.first()?;
        let packages = has_name("yarn pnpm bun", name);
        if packages && BINARIES.iter().any(|own| verb.is(own)) {
            return Some(words.to_vec());
        }
        if !is(verb, verbs) {
            return None;
        }
        let words = words.get(1..)?;
        // `mise exec node@20 -- npm test`, `kubectl exec pod -- npm test`
        if has_name("mise rtx kubectl oc aws-vault", name)
            && let Some(at) = words.iter().position(|word| word.is("--"))
        {
            return words.get(at + 1..).map(<[_]>::to_vec);
        }
        let (args, words) = Args::leading(words, valued);
        if let Some(entry) = args.value("--entrypoint").filter(|entry| !entry.pieces().is_empty()) {
            return Some([std::slice::from_ref(entry), words.get(*operands..)?].concat());
        }
        // `uv run x.py`, `bun run x.ts`
        let file = words.first().map(|word| word.filled("")).unwrap_or_default();
        let interpreter = match name {
            "uv" if file == "-" || file.ends_with("py") => Some("python"),
            "bun" if file.ends_with("ts") || file.ends_with("js") => Some("bun"),
            _ => None,
        };
        if let Some(interpreter) = interpreter {
            return Some([&[ShellWord::new(interpreter)], words].concat());
        }
        Args::leading(words.get(*operands..)?, "").1.to_vec().into()
    }

    /// The words behind a wrapper that the project names.
    fn project_wrapper(&self, name: &str, rest: &[ShellWord]) -> Option<Vec<ShellWord>> {
        self.context.wrappers.iter().find_map(|wrapper| {
            let mut wanted = wrapper.split_whitespace();
            if wanted.next()? != name {
                return None;
            }
            let mut words = rest;
            for want in wanted {
                let (word, after) = words.split_first()?;
                if want != "*" && !word.is(want) {
                    return None;
                }
                words = after;
            }
            let (_, words) = Args::leading(words, "");
            (!words.is_empty()).then(|| words.to_vec())
        })
    }
}

/// The row of a program that runs others by a verb.
fn with_verb(name: &str) -> Option<&'static (&'static str, &'static str, &'static str, usize)> {
    WRAPPERS.iter().find(|(names, verbs, ..)| !verbs.is_empty() && has_name(names, name))
}

/// The command line of `npx -c`, `npm exec -c` and `mise exec -c`.
fn given_line(name: &str, rest: &[ShellWord]) -> Option<ShellWord> {
    const VALUED: &str = "-c --call --command -p --package -w --workspace -C --cd -j --jobs -E --env";
    let words = match name {
        "npx" => rest,
        "npm" | "mise" | "rtx" => rest.split_first().filter(|(verb, _)| verb.is("exec") || verb.is("x"))?.1,
        _ => return None,
    };
    Args::leading(words, VALUED).0.value("-c --call --command").cloned()
}

/// The change on this machine that a container makes through one of its mounts.
fn outside(change: FileEffect, mounts: &[(String, String)]) -> Option<FileEffect> {
    let TargetPath::Known { path, glob } = &change.target else { return None };
    let below = |target: &str| {
        path.strip_prefix(target.trim_end_matches('/')).filter(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let path = mounts.iter().find_map(|(target, source)| Some(format!("{source}{}", below(target)?)))?;
    let path = if path.is_empty() { "/".to_owned() } else { path };
    Some(FileEffect { target: TargetPath::Known { path, glob: *glob }, ..change })
}
