//! Random repositories as shell scripts: the same seed gives the same script.

use std::fmt::Write;

const FOLDERS: [&str; 8] = ["", "src/", "src/deep/", "docs/", "build/", "x/", "Über uns/", "src/deep/er/"];
const NAMES: [&str; 12] =
    ["a.txt", "b.txt", "A.TXT", "x.log", "x", "keep.log", "two words.md", "ünï.rs", "out.o", ".hidden", "x.a", "x-b"];
const LINES: [&str; 9] =
    ["one", "two", "three", "four lines of text", "five", "six", "seven", "$Id$", "nine is long enough"];
const RULES: [&str; 16] = [
    "*.log",
    "!keep.log",
    "build/",
    "/build",
    "*.o",
    "x",
    "x/",
    "!x/",
    "docs/*",
    "!docs/a.txt",
    "**/er",
    "src/deep/",
    "*.txt",
    "!a.txt",
    "two words.md",
    "/*",
];
const ATTRIBUTES: [&str; 8] = [
    "* text=auto",
    "*.txt text",
    "*.txt text eol=crlf",
    "*.o -text",
    "*.rs ident",
    "*.md text eol=lf",
    "*.o binary",
    "a.txt !text",
];

/// A small generator of pseudo-random numbers (`SplitMix64`).
pub struct RandomNumbers(u64);

impl RandomNumbers {
    pub fn new(seed: u64) -> Self {
        let mut mixer = Self(seed);
        let state = mixer.next() ^ seed.rotate_left(32);
        Self(state)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    /// Whether something happens that happens in `percent` of all cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// The script that makes the repository of a seed in the folder it runs in; steps that do not apply fail silently.
pub fn script(seed: u64) -> String {
    let mut writer =
        ScriptWriter { random: RandomNumbers::new(seed), text: String::new(), links: Vec::new(), format: "" };
    writer.begin();
    for _ in 0..writer.random.below(3) {
        writer.submodule();
    }
    writer.commit();
    for _ in 0..writer.random.below(14) {
        writer.step();
    }
    writer.text
}

struct ScriptWriter {
    random: RandomNumbers,
    text: String,
    /// Nested repositories and submodules.
    links: Vec<String>,
    /// The option for the hash function.
    format: &'static str,
}

impl ScriptWriter {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn path(&mut self) -> String {
        format!("{}{}", self.random.pick(&FOLDERS), self.random.pick(&NAMES))
    }

    /// Writes a file, with its folders.
    fn write(&mut self, path: &str) {
        let mut content = String::new();
        let end = if self.random.chance(15) { "\\r\\n" } else { "\\n" };
        for _ in 0..self.random.below(9) {
            let end = if self.random.chance(4) { "\\r\\n" } else { end };
            write!(content, "{}{end}", self.random.pick(&LINES)).unwrap();
        }
        if self.random.chance(6) {
            content.push_str("\\000binary");
        }
        self.line(&format!("mkdir -p \"$(dirname '{path}')\"; test -p '{path}' || printf '{content}' >'{path}'"));
    }

    fn rules(&mut self, path: &str) {
        let count = 1 + self.random.below(3);
        let rules: Vec<&str> = (0..count).map(|_| self.random.pick(&RULES)).collect();
        self.line(&format!("mkdir -p \"$(dirname '{path}')\"; printf '{}\\n' >>'{path}'", rules.join("\\n")));
    }

    fn attributes(&mut self) {
        let path = self.random.pick(&[".gitattributes", "src/.gitattributes", ".git/info/attributes"]);
        let rule = self.random.pick(&ATTRIBUTES);
        self.line(&format!("mkdir -p \"$(dirname '{path}')\"; printf '{rule}\\n' >>'{path}'"));
    }

    fn begin(&mut self) {
        let format = if self.random.chance(8) { " --object-format=sha256" } else { "" };
        self.format = format;
        let refs = if self.random.chance(4) { " --ref-format=reftable" } else { "" };
        self.line(&format!("git init -q -b main{format}{refs}"));
        let settings = [
            "core.autocrlf true",
            "core.autocrlf input",
            "core.fileMode false",
            "core.untrackedCache true",
            "core.splitIndex true",
            "feature.manyFiles true",
            "index.version 4",
            "index.version 3",
            "core.ignoreCase true",
            "core.symlinks false",
            "status.showUntrackedFiles no",
            "core.trustctime false",
            "core.checkStat minimal",
            "status.renames false",
            "core.eol crlf",
            "diff.ignoreSubmodules dirty",
            "core.precomposeUnicode true",
            "core.ignoreStat true",
            "core.preloadIndex false",
            "core.quotePath false",
            "diff.renames copies",
            "status.submoduleSummary true",
            "core.safecrlf true",
            "status.relativePaths false",
            "submodule.recurse true",
            "index.skipHash true",
        ];
        while self.random.chance(35) {
            let setting = self.random.pick(&settings);
            self.line(&format!("git config {setting}"));
        }
        for _ in 0..self.random.below(12) {
            let path = self.path();
            self.write(&path);
            if self.random.chance(8) {
                self.line(&format!("chmod +x '{path}'"));
            }
        }
        if self.random.chance(15) {
            let (target, path) = (self.path(), self.path());
            self.line(&format!("ln -s '{target}' '{path}'"));
        }
        if self.random.chance(40) {
            let folder = self.random.pick(&FOLDERS);
            self.rules(&format!("{folder}.gitignore"));
        }
        if self.random.chance(20) {
            self.attributes();
        }
    }

    /// Adds a nested repository with a commit, and stages it.
    fn submodule(&mut self) {
        let path = self.random.pick(&["sub", "lib/sub", "src/mod", "lib/two words"]).to_owned();
        self.nested(&path, true);
        self.line(&format!("git add -f '{path}'"));
        if self.random.chance(60) {
            let ignore = if self.random.chance(12) {
                format!("\\tignore = {}\\n", self.random.pick(&["all", "dirty", "untracked", "none"]))
            } else {
                String::new()
            };
            self.line(&format!(
                "printf '[submodule \"{path}\"]\\n\\tpath = {path}\\n\\turl = ./none\\n{ignore}' >>.gitmodules"
            ));
        }
    }

    /// Makes a repository inside of this one.
    fn nested(&mut self, path: &str, always: bool) {
        let apart =
            if self.random.chance(30) { format!(" --separate-git-dir='.git/modules/{path}'") } else { String::new() };
        self.line(&format!("mkdir -p '{path}' .git/modules; git init -q{}{apart} '{path}'", self.format));
        for _ in 0..self.random.below(3) {
            let inner = self.path();
            self.write(&format!("{path}/{inner}"));
        }
        if always || self.random.chance(60) {
            self.line(&format!("git -C '{path}' add -A; git -C '{path}' commit -q --allow-empty -m one"));
        }
        self.links.push(path.to_owned());
    }

    fn commit(&mut self) {
        if self.random.chance(95) {
            let add = if self.random.chance(70) { "git add -A" } else { "git add -A -f" };
            self.line(add);
            self.line("git commit -q --allow-empty -m some");
        }
        if self.random.chance(50) {
            // Dates files back, so that timestamps are trusted.
            self.line("find . -name .git -prune -o -type f -exec touch -d '2020-01-01 00:00:00' {} +; git update-index -q --refresh");
        }
    }

    fn step(&mut self) {
        match self.random.below(100) {
            0..50 => self.file_step(),
            50..62 => self.index_step(),
            62..72 => self.ignore_step(),
            72..86 => self.nested_step(),
            _ => self.repository_step(),
        }
    }

    fn file_step(&mut self) {
        let (path, other) = (self.path(), self.path());
        let folder = FOLDERS[1 + self.random.below(FOLDERS.len() - 1)].trim_end_matches('/');
        let line = match self.random.below(19) {
            0..5 => return self.write(&path),
            5 => format!("test -p '{path}' || printf 'more\\n' >>'{path}'"),
            6 => format!("rm '{path}'"),
            7 => format!("mv '{path}' '{other}'"),
            8 => format!("test -e '{path}' && chmod +x '{path}'"),
            9 => format!("rm -rf '{folder}'"),
            10 => format!("rm -rf '{path}'; ln -s '{other}' '{path}'"),
            11 => format!("rm -rf '{path}'; mkdir -p '{path}'; printf 'in\\n' >'{path}/in'"),
            12 => format!("rm -rf '{folder}'; printf 'file\\n' >'{folder}'"),
            13 => format!(
                "mv '{folder}' elsewhere; ln -s '{}elsewhere' '{folder}'",
                "../".repeat(folder.matches('/').count())
            ),
            14 => format!("mkdir -p '{folder}/empty/er'"),
            15 => format!("touch -d '2021-02-03 04:05:06' '{path}'"),
            16 => format!("test -f '{path}' && tr a-y b-z <'{path}' >.t && cat .t >'{path}'; rm -f .t"),
            17 => format!("mkfifo '{path}'"),
            _ => format!("test -f '{path}' && cp -p '{path}' .t && cat .t >'{path}' && touch -r .t '{path}'; rm -f .t"),
        };
        self.line(&line);
    }

    fn index_step(&mut self) {
        let (path, other) = (self.path(), self.path());
        let line = match self.random.below(16) {
            0 | 1 => format!("git add '{path}'"),
            2 => "git add -A".to_owned(),
            3 | 4 => format!("git add -N '{path}'"),
            5 => format!("git rm -q --cached '{path}'"),
            6 | 7 => format!("mkdir -p \"$(dirname '{other}')\"; git mv '{path}' '{other}'"),
            8 | 9 => format!("git update-index --assume-unchanged '{path}'"),
            10 | 11 => format!("git update-index --skip-worktree '{path}'"),
            12 => format!("git update-index --chmod=+x '{path}'"),
            13 => format!("git add -f '{path}'"),
            14 => format!("git rm -rqf '{path}'"),
            _ => "git ls-files -z | head -z -n 3 | xargs -0 git update-index --skip-worktree --".to_owned(),
        };
        self.line(&line);
    }

    fn ignore_step(&mut self) {
        let folder = self.random.pick(&FOLDERS);
        match self.random.below(6) {
            0..3 => self.rules(&format!("{folder}.gitignore")),
            3 => self.rules(".git/info/exclude"),
            4 => {
                self.rules(".git/excludes");
                self.line("git config core.excludesFile .git/excludes");
            }
            _ => self.attributes(),
        }
    }

    fn nested_step(&mut self) {
        if self.links.is_empty() || self.random.chance(25) {
            let path = self.random.pick(&["docs", "vendor/inner", "build/repo", "src/deep", "sub/inner", "x/repo"]);
            return self.nested(path, false);
        }
        let repo = self.links[self.random.below(self.links.len())].clone();
        let inner = self.path();
        let line = match self.random.below(13) {
            0..3 => return self.write(&format!("{repo}/{inner}")),
            3 => format!("git -C '{repo}' commit -q --allow-empty -m two"),
            4 => format!("git -C '{repo}' commit -q --allow-empty -m two; git add -f '{repo}'"),
            5 => format!("rm -rf '{repo}'; mkdir -p '{repo}'"),
            6 => format!("rm -rf '{repo}'"),
            7 => format!("rm -rf '{repo}/.git'"),
            8 => format!("git -C '{repo}' add -A"),
            9 => format!("git -C '{repo}' add -A; git -C '{repo}' commit -q --allow-empty -m three"),
            10 => format!("git rm -rq --cached '{repo}'"),
            11 => format!("git -C '{repo}' add -N ."),
            _ => format!("git config 'submodule.{repo}.ignore' {}", self.random.pick(&["all", "dirty", "untracked"])),
        };
        self.line(&line);
    }

    fn repository_step(&mut self) {
        let path = self.path();
        let line = match self.random.below(22) {
            0 => return self.commit(),
            1 => "git commit -q -a -m all".to_owned(),
            2 => "git checkout -q --detach".to_owned(),
            3 => "git checkout -q --orphan other".to_owned(),
            4 | 5 => {
                return self.conflict(&path);
            }
            6 => "git sparse-checkout set --cone src".to_owned(),
            7 => "git sparse-checkout set --no-cone 'src/*' '!src/deep/'".to_owned(),
            8 => "test -f .git/index && git sparse-checkout set --cone --sparse-index docs".to_owned(),
            9 => "git update-index --split-index".to_owned(),
            10 => "git update-index --index-version 4".to_owned(),
            11 => "git update-index --untracked-cache; git status >/dev/null".to_owned(),
            12 => "git gc -q".to_owned(),
            13 => "git pack-refs --all".to_owned(),
            14 => "git worktree add -q --detach .claude/worktrees/side".to_owned(),
            15 => "git stash -q".to_owned(),
            16 => "git reset -q".to_owned(),
            17 => "git reset -q --soft HEAD~".to_owned(),
            // With a sparse index and none at all, git contradicts itself.
            18 => "git config core.sparseCheckout || rm -f .git/index".to_owned(),
            19 => "git config core.sparseCheckout || git read-tree --empty".to_owned(),
            20 => "git status >/dev/null".to_owned(),
            _ => "git commit -q --allow-empty -m e; git replace HEAD \"$(git commit-tree -m r \"$(git hash-object -w -t tree /dev/null)\")\"".to_owned(),
        };
        self.line(&line);
    }

    /// Changes a file on two branches, and merges.
    fn conflict(&mut self, path: &str) {
        self.line("git checkout -q -b side$$");
        self.write(path);
        self.line(&format!("git add -f '{path}'; git commit -q -m side; git checkout -q main"));
        if self.random.chance(70) {
            self.write(path);
        } else {
            self.line(&format!("git rm -q '{path}'"));
        }
        self.line(&format!("git add -f '{path}'; git commit -q -m main; git merge -q -m merge side$$"));
    }
}
