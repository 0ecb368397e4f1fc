//! The table of programs: what each of them does.
//!
//! By hand remain the builtins, `git`, `find`, `sed`, `patch`, interpreters, and a few programs with arguments of their own kind.

use crate::effects::Effect::{self, Device, Mode, Remove, Write};
use crate::has_name;
use Fact::{Changes, Filters, Runs, RunsAfter, RunsEach, RunsLine, Sends, Uploads};
use Files::{AfterOf, Devices, First, Folder, Last, Members, Operands, Rest, Second, Trees, Values};
use When::{Always, NotListing, NotVerb, Verb, With, Without};

/// What a program does; several are joined with `|`.
pub type ProgramTraits = u32;

/// It only reads files or prints text, whatever its options.
pub const READS: ProgramTraits = 1 << 0;
/// It prints what is in files, not their paths.
pub const SHOWS: ProgramTraits = 1 << 1;
/// It changes the state of the shell only; what it names may be used by later commands.
pub const STATE: ProgramTraits = 1 << 2;
/// It runs code from its command line that is looked at for words that change things.
pub const CODE: ProgramTraits = 1 << 3;
/// It prints the files it names, possibly in another form, so that a pipe can send them.
pub const PRINTS: ProgramTraits = 1 << 4;
/// It sends what it reads.
pub const SENDS: ProgramTraits = 1 << 5;
/// It is a shell.
pub const SHELL: ProgramTraits = 1 << 7;
/// It is a shell of Windows, whose command lines are walked as if they were bash's.
pub const WINDOWS: ProgramTraits = 1 << 8;
/// It starts a shell if it is given no command.
pub const DEFAULT: ProgramTraits = 1 << 9;
/// It acts in a container, whose paths are not those of this machine, except for mounts.
pub const CONTAINER: ProgramTraits = 1 << 11;
/// It runs the scripts of `package.json`.
pub const PACKAGES: ProgramTraits = 1 << 12;
/// It does not run a program named by its first argument: it prints it, searches for it, explains it, installs it or uses it as a file.
pub const KEEPS: ProgramTraits = 1 << 13;
/// It tests, checks or compiles files.
pub const CHECKS: ProgramTraits = 1 << 14;
/// It is an editor.
pub const EDITS: ProgramTraits = 1 << 15;
/// It runs a file that is one of its arguments.
pub const RUNS: ProgramTraits = 1 << 16;
/// It only reads the files it is given, unless an option has code or a configuration.
pub const INSPECTS: ProgramTraits = 1 << 17;

/// A program, or several of which the same is known.
pub(crate) struct Program {
    /// The names, separated by spaces; `*` at the end of one matches any ending.
    names: &'static str,
    traits: ProgramTraits,
    /// The options with a value.
    pub valued: &'static str,
    pub facts: &'static [Fact],
}

/// What a program does with its arguments.
pub(crate) enum Fact {
    /// Changes files.
    Changes(When, Effect, Files),
    /// Sends the values of these options, and what it reads from a pipe.
    Sends(When, &'static str),
    /// Sends the operands behind the first ones, if the first of them is this word.
    Uploads(&'static str, usize),
    /// Prints a part of its files. They follow a pattern or script, unless one of the first options gives it; with one of the
    /// other options nothing is printed.
    Filters(&'static str, &'static str),
    /// Runs the words behind this many operands as a command, or the value of one of these options as a line.
    Runs(When, usize, &'static str),
    /// Runs the words behind one of these words as a command.
    RunsAfter(&'static str),
    /// Runs all operands as one line.
    RunsLine,
    /// Runs each operand, and the values of these options, as a line.
    RunsEach(&'static str),
}

/// The condition of a fact.
pub(crate) enum When {
    Always,
    /// One of these options is given.
    With(&'static str),
    /// None of them is given.
    Without(&'static str),
    /// The first operand is one of these words.
    Verb(&'static str),
    /// It is none of them.
    NotVerb(&'static str),
    /// The options and words of a disk tool do more than list.
    NotListing,
}

/// The files that a program changes.
pub(crate) enum Files {
    /// The operands; with one of these options, everything below them, too.
    Operands(&'static str),
    /// The operands with everything below them.
    Trees,
    First,
    Second,
    /// All operands but the first.
    Rest,
    /// The last of several operands, with everything below it.
    Last,
    /// Operands that are not numbers.
    Devices,
    /// Operands of the form `of=path`.
    AfterOf,
    /// The values of these options, except `-` for standard output.
    Values(&'static str),
    /// Unknown paths below the value of one of these options, or below the current folder.
    Folder(&'static str),
    /// The operands, as paths below that folder.
    Members(&'static str),
}

const CURL: &str = "-d --data --data-ascii --data-binary --data-raw --data-urlencode --json -F --form -T --upload-file -H --header \
    -X --request -u --user -A --user-agent -e -b --cookie -c --cookie-jar -o --output --output-dir -D --dump-header -m \
    --max-time -w --trace --cert --key --cacert -K --config -x --proxy --connect-timeout --retry --url-query";
/// Options of the programs of services.
const SERVICE: &str = "-d --desc -f --filename --profile --region -R --title --notes -t --exclude --include --filter \
    --exclude-from --include-from --files-from --filter-from --exclude-if-present --rexclude --rinclude --config \
    --endpoint-url --acl --cache-control --content-type --storage-class --metadata --attr --newer-than --older-than \
    --transfers --checkers --bwlimit --backup-dir --log-file --log-level --body";
const RSYNC: &str = "-e --rsh --exclude --include --filter -f --files-from --log-file --exclude-from --include-from \
    --password-file -B --bwlimit";
/// Options of programs that run others in an environment.
const ENVIRONMENTS: &str = "-n --name --prefix -e --env -C --directory -P --project -c --config -f --env-file --with \
    --manifest-path -p -o -F -r -T --interval --using --spec --python --index-url --pip-args";
/// Options of npm and the like.
const PACKAGE: &str = "--filter -F -w --workspace -C --dir --prefix --cwd -p --package -c --call";
/// Test programs that `yarn NAME` runs without a verb.
const BINARIES: &str = "jest vitest mocha ava playwright cypress tsc eslint prettier";
const CONTAINERS: &str = "-e --env -u --user -w --workdir --env-file -v --volume --name --network --entrypoint -p --publish \
    --platform --mount --index -f --file --project-name --profile -H --host --context -m --memory --cpus --shm-size --net \
    --pid --ipc --userns --add-host --hostname --label --cap-add --cap-drop --security-opt --device --gpus --tmpfs \
    --restart --ulimit --dns --group-add --pull";

const fn plain(names: &'static str, traits: ProgramTraits) -> Program {
    program(names, traits, "", &[])
}

/// Programs that run their operands.
const fn wrapper(names: &'static str, valued: &'static str) -> Program {
    program(names, 0, valued, &[Runs(Always, 0, "")])
}

const fn program(names: &'static str, traits: ProgramTraits, valued: &'static str, facts: &'static [Fact]) -> Program {
    Program { names, traits, valued, facts }
}

/// All programs, sorted; every name is in one row.
#[rustfmt::skip]
static PROGRAMS: &[Program] = &[
    wrapper(
        "- Start-Process builtin bunx busybox chronic command corepack cross-env cross-env-shell dlx nocorrect \
            noglob nohup pnpx saps setsid shx toybox unbuffer xcrun",
        "",
    ),
    plain(". source", KEEPS | RUNS),
    program("7z 7za 7zr 7zz ar", 0, "-o", &[
        Changes(Verb("x e"), Write, Folder("-o")), Changes(NotVerb("x e l t p tv"), Write, Second),
        Changes(With("-sdel"), Remove, Trees),
    ]),
    plain(": ag basename dirname du false file read readlink realpath rg sleep stat tr tree true", READS | KEEPS),
    program("Move-Item Rename-Item", KEEPS, "", &[Changes(Always, Remove, First)]),
    program("Remove-Item del-cli gvfs-trash mmv remove remove_directory rename rimraf rmdir srm trash* wipe", KEEPS,
        "", &[
        Changes(Always, Remove, Trees),
    ]),
    plain("Rscript deno elixir escript esno expect gmake groovy guile java jiti julia lua luajit make", RUNS),
    plain("[ cmp diff echo ls printf test", READS | KEEPS | INSPECTS),
    plain("ack alias apk apropos apt apt-cache apt-get banner bind brew cargo cheat choco compgen", KEEPS),
    wrapper("arch", "-arch -e -d"),
    program("aria2c", 0, "-d --dir -o --out -x -s -j", &[Changes(Always, Write, Folder("-d --dir"))]),
    program("asdf conda mamba pipx", KEEPS, ENVIRONMENTS, &[Runs(Verb("run exec"), 1, "")]),
    plain("ash csh dash fish ksh mksh nu rbash tcsh zsh", SHELL | RUNS),
    plain("autossh dig ftp nc ncat netcat nslookup sendmail sftp socat ssh telnet", SENDS),
    program("awk gawk", KEEPS | RUNS, "-f -F -v --file --assign", &[Filters("-f --file", "")]),
    program("aws", 0, SERVICE, &[Uploads("s3", 2), Sends(Verb("s3api"), "--body")]),
    program("aws-vault", 0, "-d --duration", &[RunsAfter("--"), Runs(Verb("exec"), 2, "")]),
    plain("base32 base64 gbase64 gpg", PRINTS),
    plain("bash sh", SHELL | RUNS),
    plain("bat less more", READS | PRINTS | KEEPS),
    plain("biome gofmt jest mocha phpunit pylint pyright pytest rspec rubocop rustfmt tsc vitest", CHECKS),
    plain("black eslint flake8 isort mypy prettier ruff", CHECKS | INSPECTS),
    program("blkdiscard cfdisk mke2fs mkfs* mkswap newfs*", 0, "-t -L -U -b -n -N -s -o --type --label", &[
        Changes(Always, Device, Devices),
    ]),
    program("bsdtar gtar tar", PRINTS | KEEPS, "-f -C -T -X --file --directory --exclude -I", &[
        Changes(With("-x --extract --get"), Write, Folder("-C --directory")),
        Changes(With("-x --extract --get"), Write, Members("-C --directory")),
        Changes(With("-c -r -u --create --append --update"), Write, Values("-f --file")),
        Changes(With("--remove-files"), Remove, Trees),
    ]),
    program("bun", PACKAGES | KEEPS | RUNS, PACKAGE, &[
        Runs(Verb("run exec x dlx"), 1, ""), Runs(Verb(BINARIES), 0, ""),
    ]),
    program("bundle devbox doppler dotenvx fnm hatch infisical micromamba mprof op pdm perf pipenv pixi poetry pyenv \
            rbenv rye teller volta", 0, ENVIRONMENTS, &[Runs(Verb("run exec stat record trace"), 1, "")]),
    program("bunzip2 bzip2 compress gunzip gzip unxz unzstd xz zstd", PRINTS, "-S -o", &[
        Changes(Without("-c --stdout -t -l --list --test"), Write, Operands("-r --recursive")),
    ]),
    wrapper("c8 nyc", "-r --reporter -x --exclude -n --include --temp-dir"),
    wrapper("caffeinate", "-t -w"),
    plain("cat", READS | SHOWS | PRINTS | KEEPS | INSPECTS),
    wrapper(
        "catchsegv cgexec dbus-run-session dumb-init firejail heaptrack numactl prlimit proxychains proxychains4 \
            setpriv systemd-inhibit tini torsocks tsocks valgrind winpty with-contenv",
        "-f -p -e -m -N -C -i -P -g --reuid --regid --groups --inh-caps --ambient-caps --bounding-set --securebits \
            --membind --cpunodebind --physcpubind --interleave --preferred --what --who --why --mode",
    ),
    program("cc clang csplit gcc ld openssl pandoc rustc sort split xxd", PRINTS | KEEPS, "-o -out --output -keyout", &[
        Changes(Always, Write, Values("-o -out --output -keyout")),
    ]),
    plain("cd", STATE | KEEPS | INSPECTS),
    program("chamber direnv", 0, "", &[Runs(Verb("exec"), 2, "")]),
    plain("check-jsonschema colordiff column comm date delta difft exa eza fold fx gron jless jsonlint lsd", READS),
    plain("chmod chown cp find git ln mv tee", KEEPS),
    program("chroot setarch", DEFAULT, "--userspec --groups", &[Runs(Always, 1, "")]),
    program("chrt faketime gosu gtimeout repeat su-exec taskset timeout", 0, "-k -s -T -P -D --kill-after --signal", &[
        Runs(Always, 1, ""),
    ]),
    plain("cksum md5sum sha1sum sha256sum sha512sum", READS | SHOWS),
    program("cmake", 0, "", &[Runs(With("-E"), 0, "")]),
    plain("cmd cmd.exe powershell powershell.exe pwsh.exe", WINDOWS),
    plain("code ed emacs ex micro nano nvim pico vi view vim", KEEPS | EDITS),
    plain("complete composer cowsay df dnf dpkg eval expr fc fd figlet gem glab go hash help hg history", KEEPS),
    program("coverage", 0, "", &[Runs(Verb("run"), 1, "")]),
    program("croc transfer wormhole", 0, SERVICE, &[Uploads("", 0)]),
    program("curl", 0, CURL, &[
        Changes(Always, Write, Values("-o --output -D --dump-header -c --cookie-jar --trace")),
        Changes(With("-O --remote-name --remote-name-all --output-dir"), Write, Folder("--output-dir")),
    ]),
    program("cut", READS | SHOWS | PRINTS | KEEPS, "-b -c -d -f", &[]),
    program("dd", PRINTS, "", &[Changes(Always, Write, AfterOf)]),
    plain("declare exit export local popd pushd readonly return set typeset unset", STATE | KEEPS),
    program("diskutil fdisk gdisk hdparm parted sfdisk sgdisk", 0, "", &[Changes(NotListing, Device, Devices)]),
    wrapper("doas sudo", "-u -g -h -p -C -D -R -T -U -r -t --user --group --chdir"),
    program("docker docker-compose nerdctl", CONTAINER, CONTAINERS, &[Runs(Verb("exec run"), 2, "")]),
    program("dos2unix sd unix2dos", 0, "", &[Changes(Always, Write, Operands(""))]),
    program("dotenv flox", 0, "-e -f -p -v -c -n -C --env --env-file --config", &[
        Runs(Verb("run exec"), 1, ""), Runs(Always, 0, ""),
    ]),
    program("egrep fgrep ggrep grep", READS | KEEPS | INSPECTS,
        "-e -f -m -A -B -C --regexp --file --include --exclude --exclude-dir", &[
        Filters("-e -f --regexp --file", "-q --quiet --silent -c --count -l --files-with-matches"),
    ]),
    program("entr", 0, "-s", &[Runs(Always, 0, "-s")]),
    wrapper("env", "-u -C --unset --chdir"),
    wrapper("exec", "-a"),
    program("fakeroot pkexec unshare", DEFAULT, "--user", &[Runs(Always, 0, "")]),
    program("fallocate truncate", 0, "-s -r -o -l --size --reference --offset --length", &[
        Changes(Always, Write, Operands("")),
    ]),
    program("flock", 0, "-w -E --timeout --wait -c", &[Runs(Always, 1, "-c")]),
    program("gcloud", 0, SERVICE, &[Uploads("storage", 2)]),
    program("gh", KEEPS,
        "-F --body-file --notes-file --field --input -f --filename --desc -n --notes -t --title --target -R --repo \
            --discussion-category --notes-start-tag", &[
        Sends(NotVerb("secret auth"), "-F --body-file --notes-file --field --input"), Uploads("gist", 2),
        Uploads("release", 3),
    ]),
    program("gio", 0, "", &[Changes(Verb("trash remove"), Remove, Trees)]),
    program("grm rm", KEEPS, "", &[Changes(Always, Remove, Operands("-r -R --recursive"))]),
    program("gsed sed", KEEPS, "-e -f -l --expression --file --line-length", &[
        Filters("-e -f --expression --file", ""),
    ]),
    program("gsutil mc s3cmd", 0, SERVICE, &[Uploads("", 1)]),
    plain("hadolint shellcheck shfmt", INSPECTS),
    program("head tail", READS | SHOWS | PRINTS | KEEPS | INSPECTS, "-n -c", &[]),
    program("hexdump nl od rev strings tac", READS | SHOWS | PRINTS, "-n -w -N", &[]),
    program("hyperfine", 0, "-r -w -m -M -n -L -P -S -s -p -c --runs --warmup --export-json --prepare", &[
        RunsEach("-p --prepare -c --cleanup"),
    ]),
    plain("info jj jobs kill killall locate logger man nix-env notify-send open pacman pgrep pidof pip", KEEPS),
    wrapper("ionice", "-c -n -p --class --classdata"),
    program("jq", READS | SHOWS | KEEPS, "-f --from-file -L --indent", &[Filters("-f --from-file", "")]),
    program("kubectl oc", CONTAINER, "-n --namespace -c --container --context", &[
        RunsAfter("--"), Runs(Verb("exec"), 2, ""),
    ]),
    // The dynamic loader.
    wrapper("ld-linux* ld-musl*", "--library-path --argv0 --preload"),
    plain("lsof mapfile pbcopy pwd readarray wl-copy xclip xsel yamllint", READS),
    wrapper("ltrace strace", "-o -e -p -s"),
    program("mail mailx mutt", SENDS, "-a", &[Sends(Always, "-a")]),
    program("mawk nawk", RUNS, "-f -F -v --file --assign", &[Filters("-f --file", "")]),
    program("mise rtx", 0, "-C --cd -j --jobs -E --env -c --command", &[
        RunsAfter("--"), Runs(Verb("exec x"), 1, "-c --command"),
    ]),
    program("mkdir", READS | KEEPS, "-m -Z --mode", &[Changes(Always, Write, Operands(""))]),
    program("mkfifo mknod mktemp touch", KEEPS, "-d -r -t -m -p -Z --date --reference --mode --tmpdir", &[
        Changes(Always, Write, Operands("")),
    ]),
    // What was there is hidden.
    program("mount", 0, "-t -o -O -L -U --types --options --source --target", &[Changes(Always, Write, Last)]),
    wrapper("nice stdbuf systemd-run xvfb-run", "-n -i -o -e -u -p -s --adjustment --input --output --error --unit --property"),
    program("nix", 0, "", &[RunsAfter("-c --command")]),
    program("nix-shell runuser script sg su", 0, "-c --command --run -s -g -G --shell -p -A -u --user", &[]),
    plain("node python ruby", CODE | RUNS),
    plain("nodejs ocaml osascript php pypy racket runghc tclsh ts-node tsx wish", RUNS),
    program("npm", PACKAGES | KEEPS, PACKAGE, &[Runs(Verb("run exec x dlx"), 1, "-c --call")]),
    program("npx", 0, "-p --package -c --call", &[Runs(Always, 0, "-c --call")]),
    program("nsenter", DEFAULT, "-t --target -S -G", &[Runs(Always, 0, "")]),
    program("paste", PRINTS, "-d", &[]),
    program("pastebinit", SENDS, "-i -a -b -f -t", &[Sends(Always, "-i"), Uploads("", 0)]),
    plain("perl", RUNS),
    plain("pip3 pkill port print ps rpm say scoop snap svn tldr unalias wait wall", KEEPS),
    program("pnpm", PACKAGES | KEEPS, PACKAGE, &[
        Runs(Verb("run exec x dlx"), 1, ""), Runs(Verb(BINARIES), 0, ""),
    ]),
    program("podman", CONTAINER, CONTAINERS, &[Runs(Verb("unshare"), 1, ""), Runs(Verb("exec run"), 2, "")]),
    plain("pwsh", WINDOWS | RUNS),
    plain("python3", CODE),
    program("rclone", 0, SERVICE, &[
        Uploads("", 1), Changes(Verb("purge delete deletefile rmdirs move moveto"), Remove, Trees),
        Changes(Verb("sync"), Remove, Last),
        Changes(Verb("copy copyto copyurl move moveto bisync sync"), Write, Last),
    ]),
    program("rsync", 0, RSYNC, &[]),
    program("rtk", 0, "", &[Runs(Verb("test err proxy summary"), 1, ""), Runs(Always, 0, "")]),
    program("scp", 0, "-c -D -F -i -J -l -o -P -S -X", &[]),
    wrapper("screen", "-S -t -T -h -e -p -s"),
    program("setfacl", 0, "-m -x -M -X --modify --remove --set --restore", &[
        Changes(Always, Mode, Operands("-R --recursive")),
    ]),
    program("shred", 0, "-n -s --iterations --size --random-source", &[
        Changes(Always, Write, Operands("")), Changes(With("-u --remove"), Remove, Operands("")),
    ]),
    program("ssh-keygen", 0, "-t -b -C -N -P -f -R -F -Y -m -O -I -n -s", &[
        Changes(Without("-l -y -F -B -e"), Write, Values("-f")),
    ]),
    plain("tftp", SENDS),
    wrapper("time", "-o -f --output --format"),
    plain("type whereis which zgrep", READS | KEEPS),
    program("uniq", PRINTS | KEEPS, "-f -s -w", &[Changes(Always, Write, Rest)]),
    program("unlink", KEEPS, "", &[Changes(Always, Remove, Operands(""))]),
    program("unzip", KEEPS, "-d -x -P", &[Changes(Without("-l -t -p -v -Z"), Write, Folder("-d"))]),
    program("uv", RUNS,
        "--extra --group --only-group --no-group --with --with-editable --with-requirements --python -p --package \
            --directory --project --env-file --index --index-url --color --refresh-package", &[
        Runs(Verb("run"), 1, ""),
    ]),
    wrapper("uvx", "--from --with -p --python --index --index-url"),
    program("watch", 0, "-n --interval", &[RunsLine]),
    plain("wc", READS | SHOWS | KEEPS),
    program("wget", 0,
        "-O -P -o -a --output-document --directory-prefix --output-file -U --post-file --body-file --post-data \
            --method --header", &[
        Sends(Always, "--post-file --body-file"),
        Changes(Always, Write, Values("-O -o -a --output-document --output-file")),
        Changes(Without("-O --output-document"), Write, Folder("-P --directory-prefix")),
    ]),
    plain("whatis winget write xdg-open yes yum", KEEPS),
    program("wipefs", 0, "-o --offset -t", &[Changes(With("-a --all -o --offset"), Device, Devices)]),
    program("wsl", DEFAULT, "-d -u", &[Runs(Always, 0, "")]),
    program("yarn", PACKAGES | KEEPS, PACKAGE, &[
        Runs(Verb("workspace"), 2, ""), Runs(Verb("run exec x dlx"), 1, ""), Runs(Verb(BINARIES), 0, ""),
    ]),
    plain("yash", SHELL),
    program("yq", KEEPS, "", &[Changes(With("-i --inplace --in-place"), Write, Operands(""))]),
    program("zip", PRINTS | KEEPS, "", &[Changes(With("-m --move"), Remove, Trees), Changes(Always, Write, First)]),
];

impl Program {
    /// The row of a program, by its name without a folder.
    pub fn named(name: &str) -> Option<&'static Self> {
        PROGRAMS.iter().find(|program| has_name(program.names, name))
    }
}

/// Whether a program, by its name without a folder, has one of these traits.
pub fn has_trait(program: &str, traits: ProgramTraits) -> bool {
    PROGRAMS.iter().any(|row| row.traits & traits != 0 && has_name(row.names, program))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_table_is_sorted_and_each_name_is_in_one_row() {
        let firsts: Vec<&str> = PROGRAMS.iter().filter_map(|row| row.names.split(' ').next()).collect();
        assert!(firsts.is_sorted());
        assert!(PROGRAMS.iter().all(|row| row.names.split(' ').is_sorted()));
        let mut seen = BTreeSet::new();
        let names = PROGRAMS.iter().flat_map(|row| row.names.split(' '));
        let twice: Vec<&str> = names.filter(|name| !seen.insert(*name)).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
