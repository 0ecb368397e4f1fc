//! `fd`, which finds paths by a pattern and runs commands on them.

use super::args::Args;
use super::target_path::TargetPath;
use super::walker::Walker;
use super::xargs::replaced;
use crate::shell::word::ShellWord;

const VALUED: &str = "-d --max-depth --min-depth --exact-depth -t --type -e --extension -E --exclude -S --size -o --owner \
    -c --color -j --threads --changed-within --changed-before --search-path --base-directory --path-separator \
    --max-results --batch-size --ignore-file --and --format";
/// Options that select some of the paths.
const SELECTING: &str = "-d --max-depth --min-depth --exact-depth -t --type -e --extension -S --size -o --owner \
    --changed-within --changed-before --max-results -1 --and";
/// Options that are followed by a command.
const RUNNING: [&str; 4] = ["-x", "-X", "--exec", "--exec-batch"];

impl Walker<'_> {
    pub fn fd(&mut self, rest: &[ShellWord], input: &ShellWord) -> ShellWord {
        let split = rest.iter().position(|word| RUNNING.iter().any(|option| word.is(option))).unwrap_or(rest.len());
        let (own, command) = rest.split_at_checked(split).unwrap_or((rest, &[]));
        let args = Args::new(own, VALUED);
        let pattern = args.operands.first().map_or_else(String::new, |pattern| pattern.filled("…"));
        let named = args.operands.iter().skip(1).chain(args.values("--search-path --base-directory"));
        let mut roots: Vec<ShellWord> = named.cloned().collect();
        if roots.is_empty() {
            roots.push(ShellWord::new("."));
        }
        let mut lines = ShellWord::default();
        for (at, root) in roots.iter().enumerate() {
            let found = self.found_below(root, &args, &pattern);
            if at > 0 {
                lines.push("\n");
            }
            lines.extend(&found);
            if let Some(command) = command.get(1..) {
                let has_place = command.iter().any(|word| word.filled("").contains("{}"));
                let mut words: Vec<ShellWord> = command.iter().map(|word| replaced(word, "{}", &found)).collect();
                if !has_place {
                    words.push(found);
                }
                self.aside(|walker| walker.run(&words, input));
            }
        }
        if command.is_empty() { lines } else { ShellWord::unknown() }
    }

    /// The paths below a root that match.
    fn found_below(&self, root: &ShellWord, args: &Args, pattern: &str) -> ShellWord {
        let is_plain = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
        let any = ["", ".", ".*", "^"].contains(&pattern);
        let mut found = root.slashed();
        match args.value("-e --extension").map(|end| end.filled("*")) {
            None if any && !args.has(SELECTING) => found.push_glob("*"),
            Some(end) => found.push_glob(&format!("**/*.{end}")),
            None if !any && is_plain(pattern) => found.push_glob(&format!("**/*{pattern}*")),
            // Some files of the project are as harmless as in `rm "$file"`.
            None if matches!(self.target(root), TargetPath::Known { path, .. } if self.is_own(&path)) => {
                return ShellWord::unknown();
            }
            None => found.push_unknown(),
        }
        found
    }

    /// Whether a path is in the project.
    fn is_own(&self, path: &str) -> bool {
        let rest = path.strip_prefix(self.context.project.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}
