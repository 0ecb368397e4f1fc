//! `fd`, which finds paths by a pattern and runs commands on them.

use super::args::Args;
use super::target_path::TargetPath;
use super::walker::Walker;
use super::xargs::with_found;
use crate::word::ShellWord;

const VALUED: &str = "-d --max-depth --min-depth --exact-depth -t --type -e --extension -E --exclude -S --size -o --owner \
    -c --color -j --threads --changed-within --changed-before --search-path --base-directory --path-separator \
    --max-results --batch-size --ignore-file --and --format";
/// Options that select some of the paths, besides their type.
const SELECTING: &str = "-d --max-depth --min-depth --exact-depth -e --extension -S --size -o --owner \
    --changed-within --changed-before --max-results -1 --and";
/// Options with which hidden files are found, too.
const HIDDEN: &str = "-H --hidden -u --unrestricted";
/// Options that are followed by a command.
const RUNNING: [&str; 2] = ["--exec", "--exec-batch"];
/// The depths at which files that are not hidden are found.
const DEPTHS: [&str; 4] = ["", "*/", "*/*/", "*/*/*/"];

impl Walker<'_> {
    pub fn fd(&mut self, rest: &[ShellWord], input: &ShellWord) -> ShellWord {
        let split = rest.iter().position(runs).unwrap_or(rest.len());
        let (own, command) = rest.split_at_checked(split).unwrap_or((rest, &[]));
        // `-Hx` is `-H -x`.
        let letters = command.first().map(|word| word.prefix().trim_end_matches(['x', 'X']).to_owned());
        let letters = letters.filter(|letters| letters.len() > 1 && !letters.starts_with("--")).map(ShellWord::new);
        let own: Vec<ShellWord> = own.iter().cloned().chain(letters).collect();
        let args = Args::new(&own, VALUED);
        let pattern = args.operands.first().map_or_else(String::new, |pattern| pattern.filled("…"));
        let named = args.operands.iter().skip(1).chain(args.values("--search-path --base-directory"));
        let mut roots: Vec<ShellWord> = named.cloned().collect();
        if roots.is_empty() {
            roots.push(ShellWord::new("."));
        }
        let mut lines = ShellWord::default();
        // As with `find`, a removal of all files counts as a removal of everything.
        let removes = command.iter().any(|word| word.is("rm"));
        let selecting = if removes { SELECTING } else { &format!("{SELECTING} -t --type") };
        let is_part = args.has(selecting);
        let found = roots.iter().flat_map(|root| self.found_below(root, &args, &pattern, is_part));
        let found: Vec<ShellWord> = found.collect();
        for (at, found) in found.into_iter().enumerate() {
            if at > 0 {
                lines.push("\n");
            }
            lines.extend(&found);
            if let Some(command) = command.get(1..) {
                let words = with_found(command, &found);
                self.in_subshell(|walker| walker.run(&words, input));
            }
        }
        if command.is_empty() { lines } else { ShellWord::unknown() }
    }

    /// The paths below a root that match.
    fn found_below(&self, root: &ShellWord, args: &Args, pattern: &str, is_part: bool) -> Vec<ShellWord> {
        let below = |glob: &str| root.child(&ShellWord::glob(glob));
        let any = ["", ".", ".*", "^"].contains(&pattern);
        let name = match args.value("-e --extension").map(|end| end.filled("*")) {
            Some(end) => Some(format!("*.{end}")),
            None if any => None,
            None if args.has("-g --glob") => Some(pattern.to_owned()),
            None => name_glob(pattern),
        };
        let is_hidden = args.has(HIDDEN);
        match name {
            Some(name) if is_hidden => vec![below(&format!("**/{name}"))],
            Some(name) => DEPTHS.iter().map(|depth| below(&format!("{depth}{name}"))).collect(),
            None if any && !is_part => vec![below(if is_hidden { "**" } else { "*" })],
            // Some files of the project are as harmless as in `rm "$file"`.
            None if matches!(self.target(root), TargetPath::Known { path, .. } if self.is_own(&path)) => {
                vec![ShellWord::unknown()]
            }
            None => vec![root.child(&ShellWord::unknown())],
        }
    }

    /// Whether a path is in the project.
    fn is_own(&self, path: &str) -> bool {
        let rest = path.strip_prefix(self.context.project.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Whether a word begins the command: `-x`, `-X`, `-Hx`; `-etsx` and `-tx` have values.
fn runs(word: &ShellWord) -> bool {
    let text = word.prefix();
    let letters = text.strip_prefix('-').and_then(|letters| letters.strip_suffix(['x', 'X']));
    letters.is_some_and(|letters| letters.chars().all(|c| "HIusigFaLlpq".contains(c)))
        || RUNNING.contains(&text.as_str())
}

/// The glob of the names in which a simple regular expression is found.
fn name_glob(pattern: &str) -> Option<String> {
    let (start, rest) = pattern.strip_prefix('^').map_or(("*", pattern), |rest| ("", rest));
    let (end, rest) = rest.strip_suffix('$').map_or(("*", rest), |rest| ("", rest));
    let plain = rest.replace("\\.", "\0").replace(".*", "*").replace('.', "?").replace('\0', ".");
    let is_plain = plain.chars().all(|c| c.is_alphanumeric() || "_-*?.".contains(c));
    is_plain.then(|| format!("{start}{plain}{end}"))
}
