//! Programs that change the files in their arguments.

use super::Effect::{self, Device, Mode, Remove, Write};
use super::args::Args;
use super::code_calls::{strings_in_calls, suspect};
use super::inline_code::guessed;
use super::shell_state::user_name;
use super::target_path::TargetPath;
use super::walker::Walker;
use crate::programs::{EDITS, has_trait};
use crate::word::ShellWord;
use crate::{has_name, sed_script};
use Paths::{AfterOf, Devices, First, Folder, Last, Operands, Rest, Trees, Values};
use When::{Always, Unless, UnlessWords, With, Without};

/// A program whose changes follow from its arguments: its names, its options that take a value, when it changes
/// something, how, and which paths. A program may have several rows.
type FileProgram = (&'static str, &'static str, When, Effect, Paths);

/// The options with or without which a program changes something.
enum When {
    Always,
    With(&'static str),
    Without(&'static str),
    /// Changes something unless it has one of the first options, if there are any, and none but these and the others.
    Unless(&'static str, &'static str),
    /// Changes something unless its operands are paths and at least one of these words.
    UnlessWords(&'static str),
}

/// The arguments that a program changes.
enum Paths {
    /// The operands; with one of these options, everything below them, too.
    Operands(&'static str),
    /// The operands with everything below them.
    Trees,
    First,
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
}

const WGET: &str = "-O -P -o -a --output-document --directory-prefix --output-file -U";
const NODES: &str = "-d -r -t -m -p -Z --date --reference --mode --tmpdir";
const DISK: &str = "-t -L -U -b -n -N -s -o --type --label";
const SHRED: &str = "-n -s --iterations --size --random-source";
const KEYGEN: &str = "-t -b -C -N -P -f -R -F -Y -m -O -I -n -s";
const DISK_TOOLS: &str = "mkfs* newfs* mke2fs mkswap blkdiscard cfdisk";
/// Options with which disk tools only read.
const LISTS: &str = "-l --list -s --getsz -h --help -v -V --version";
const DUMPS: &str = "-d --dump -l --list -J --json -V --verify -h --help --version";
const PRINTS: &str = "-p --print -i --info -v --verify -V --version";
const SIGNATURES: &str = "-n --no-act -i -p --parsable -J --json -q --quiet -h --help";
const MEASURES: &str = "-I -i -g -t -T -C -v -V -h";
/// Words with which they only read.
const DISK_WORDS: &str = "print free all list info information unit s B kB MB GB TB KiB MiB GiB TiB compact help";
const COMPRESSORS: &str = "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd compress";
const OUTPUT: &str = "-o -out --output -keyout";

const FILE_PROGRAMS: [FileProgram; 31] = [
    ("rm grm", "", Always, Remove, Operands("-r -R --recursive")),
    ("unlink", "", Always, Remove, Operands("")),
    ("rmdir trash* gvfs-trash srm wipe rimraf del-cli rename mmv Remove-Item", "", Always, Remove, Trees),
    ("Move-Item Rename-Item", "", Always, Remove, First),
    ("zip", "", With("-m --move"), Remove, Trees),
    // What was there is hidden.
    ("mount", "-t -o -O -L -U --types --options --source --target", Always, Write, Last),
    ("shred", SHRED, Always, Write, Operands("")),
    ("shred", SHRED, With("-u --remove"), Remove, Operands("")),
    ("truncate fallocate", "-s -r -o -l --size --reference --offset --length", Always, Write, Operands("")),
    ("touch mkdir mkfifo mknod mktemp", NODES, Always, Write, Operands("")),
    // `mkdir -p x` has no value, `mktemp -p x` does.
    ("touch mkdir mkfifo mknod mktemp", NODES, Always, Write, Values("-p")),
    ("setfacl", "-m -x -M -X --modify --remove --set --restore", Always, Mode, Operands("-R --recursive")),
    ("ssh-keygen", KEYGEN, Without("-l -y -F -B -e"), Write, Values("-f")),
    ("dd", "", Always, Write, AfterOf),
    (DISK_TOOLS, DISK, Always, Device, Devices),
    ("hdparm", "", Unless("", MEASURES), Device, Devices),
    ("wipefs", "-o --offset", Unless("", SIGNATURES), Device, Devices),
    ("sfdisk", "", Unless(DUMPS, ""), Device, Devices),
    ("fdisk gdisk", "", Unless(LISTS, ""), Device, Devices),
    ("sgdisk", "", Unless(PRINTS, ""), Device, Devices),
    ("parted diskutil", "-a --align", UnlessWords(DISK_WORDS), Device, Devices),
    ("yq", "", With("-i --inplace --in-place"), Write, Operands("")),
    ("sd dos2unix unix2dos", "", Always, Write, Operands("")),
    ("unzip", "-d -x -P", Without("-l -t -p -v -Z"), Write, Folder("-d")),
    ("zip", "", Always, Write, First),
    (COMPRESSORS, "-S -o", Without("-c --stdout -t -l --list --test"), Write, Operands("-r --recursive")),
    ("wget", WGET, Always, Write, Values("-O -o -a --output-document --output-file")),
    ("wget", WGET, Without("-O --output-document"), Write, Folder("-P --directory-prefix")),
    ("aria2c", "-d --dir -o --out -x -s -j", Always, Write, Folder("-d --dir")),
    ("sort split csplit gcc cc clang rustc ld pandoc openssl xxd", OUTPUT, Always, Write, Values(OUTPUT)),
    ("uniq", "-f -s -w", Always, Write, Rest),
];

pub(super) fn run(walker: &mut Walker<'_>, name: &str, rest: &[ShellWord], input: &ShellWord) {
    match name {
        "chmod" | "gchmod" | "chattr" | "chflags" => changed(walker, Mode, rest),
        "chown" | "chgrp" | "gchown" => changed(walker, Effect::Own, rest),
        "sed" | "gsed" => sed(walker, rest),
        _ if has_trait(name, EDITS) => {
            editor(walker, rest, input);
        }
        "gio" if rest.first().is_some_and(|verb| verb.is("trash") || verb.is("remove")) => {
            walker.change_all(Remove, rest.iter().skip(1), true);
        }
        "tar" | "gtar" | "bsdtar" => tar(walker, rest),
        "7z" | "7za" | "7zr" | "7zz" | "ar" => archive(walker, rest),
        "rclone" => rclone(walker, rest),
        "curl" => curl(walker, rest),
        _ if walker.context.protected.is_program(name) => {
            let options = walker.context.protected.report_options;
            listed(walker, &("", options, Always, Write, Values(options)), rest);
        }
        _ => FILE_PROGRAMS.iter().filter(|row| has_name(row.0, name)).for_each(|row| listed(walker, row, rest)),
    }
}

/// Runs a row of the table.
fn listed(walker: &mut Walker<'_>, (_, valued, when, effect, paths): &FileProgram, rest: &[ShellWord]) {
    let args = Args::new(rest, valued);
    let operands = args.operands.iter();
    let runs = match when {
        Always => true,
        With(options) => args.has(options),
        Without(options) => !args.has(options),
        Unless(reading, others) => {
            let reads = reading.is_empty() || args.has(reading);
            !reads || args.flags().any(|flag| !has_name(reading, flag) && !has_name(others, flag))
        }
        UnlessWords(reading) => {
            let mut words = operands.clone().filter(|word| !is_device(word)).peekable();
            words.peek().is_none() || words.any(|word| !has_name(reading, &word.filled("…")))
        }
    };
    match paths {
        _ if !runs => {}
        Operands(recursive) => walker.change_all(*effect, operands, args.has(recursive)),
        Trees => walker.change_all(*effect, operands, true),
        First => walker.change_all(*effect, operands.take(1), *effect == Remove),
        Rest => walker.change_all(*effect, operands.skip(1), false),
        Last => walker.change_all(*effect, operands.skip(1).last(), true),
        Devices => walker.change_all(*effect, operands.filter(|word| word.prefix().parse::<u64>().is_err()), true),
        AfterOf => operands.filter_map(|word| word.after("of=")).for_each(|file| walker.change(*effect, &file, false)),
        Values(options) => walker.change_all(*effect, args.values(options).filter(|file| !file.is("-")), false),
        Folder(options) => below(walker, *effect, args.value(options).unwrap_or(&ShellWord::new("."))),
    }
}

/// Whether an operand of a disk tool is a path or a number rather than a word.
fn is_device(word: &ShellWord) -> bool {
    let text = word.prefix();
    text.contains('/') || text.parse::<u64>().is_ok()
}

/// Records a change of an unknown path below a folder.
pub(super) fn below(walker: &mut Walker<'_>, effect: Effect, folder: &ShellWord) {
    let target = walker.target(&folder.child(&ShellWord::unknown()));
    walker.note(effect, target, true);
}

/// `chmod 600 x`, `chown me x`: the first operand is the mode or owner.
fn changed(walker: &mut Walker<'_>, effect: Effect, rest: &[ShellWord]) {
    let is_mode = |word: &&ShellWord| {
        let text = word.prefix();
        effect == Effect::Mode
            && text.len() > 1
            && text.starts_with('-')
            && text.chars().skip(1).all(|c| "rwxXst".contains(c))
    };
    // `chmod -w x`: the mode looks like an option.
    let mode = rest.iter().find(is_mode).is_some_and(|word| !word.is("-R"));
    let args = Args::new(rest, "--from --reference");
    let named = mode || args.has("--reference");
    let is_given_back =
        effect == Effect::Own && !named && args.operands.first().is_some_and(|owner| is_user(walker, owner));
    for file in args.operands.iter().skip(usize::from(!named)) {
        // `sudo chown -R $USER ~/.npm` repairs what a program left to root.
        if !(is_given_back && is_below_home(walker, file)) {
            walker.change(effect, file, args.has("-R --recursive"));
        }
    }
}

/// Whether an owner, with or without a group, is the user.
fn is_user(walker: &Walker<'_>, owner: &ShellWord) -> bool {
    owner.text().is_some_and(|owner| owner.split([':', '.']).next() == Some(user_name(walker.context)))
}

/// Whether a file is below the home, and the line has made no link of it.
fn is_below_home(walker: &Walker<'_>, file: &ShellWord) -> bool {
    let target = walker.target(file);
    if walker.followed(&target).is_some() {
        return false;
    }
    match target {
        TargetPath::Known { path, glob: false } => {
            path.strip_prefix(&walker.context.home).is_some_and(|rest| rest.len() > 1 && rest.starts_with('/'))
        }
        _ => false,
    }
}

/// `vim -c '!command'`, `vim '+!command'`, `ed x <<< '!command'`, `emacs --eval '(shell-command "…")'`.
fn editor(walker: &mut Walker<'_>, rest: &[ShellWord], input: &ShellWord) {
    const CODE: &str = "-c --cmd --eval -eval --execute";
    let args = Args::new(rest, "-c -S -u -p --cmd --eval -eval --execute");
    walker.change_all(Write, &args.operands, false);
    for script in args.values(CODE).map(|script| script.filled("")) {
        strings_in_calls(walker, "vim", &script);
        suspect(walker, "vim", &script);
    }
    let given = args.values(CODE).chain(&args.operands).map(|script| script.filled(""));
    for script in given.chain(input.text()) {
        let lines = script.lines().filter_map(|line| line.trim_start_matches(['+', ':']).strip_prefix('!'));
        lines.for_each(|line| guessed(walker, line));
    }
}

fn sed(walker: &mut Walker<'_>, rest: &[ShellWord]) {
    let args = Args::new(rest, "-e -f -l --expression --file --line-length");
    let scripted = args.has("-e -f --expression --file");
    let skip = usize::from(!scripted);
    let scripts = args.values("-e --expression").chain(args.operands.iter().take(skip));
    for script in scripts.map(|script| script.filled("")) {
        if let Some(line) = sed_script::started_line(&script) {
            guessed(walker, line);
        }
    }
    if args.has("-i --in-place -I") {
        walker.change_all(Write, args.operands.iter().skip(skip), false);
    }
}

/// `7z x a.7z -ofolder`, `7z a a.7z file…`, `ar rcs a file…`.
fn archive(walker: &mut Walker<'_>, rest: &[ShellWord]) {
    let (verb, operands) = match Args::new(rest, "").operands.split_first() {
        Some((verb, operands)) => (verb.prefix(), operands.to_vec()),
        None => return,
    };
    match verb.trim_start_matches('-') {
        "x" | "e" => {
            let folder = rest.iter().find_map(|word| word.after("-o")).unwrap_or_else(|| ShellWord::new("."));
            below(walker, Write, &folder);
        }
        "l" | "t" | "p" | "tv" => {}
        _ => walker.change_all(Write, operands.first(), false),
    }
    if rest.iter().any(|word| word.is("-sdel")) {
        walker.change_all(Remove, operands.iter().skip(1), true);
    }
}

/// `rclone copy from to`; what is on another machine has a colon.
fn rclone(walker: &mut Walker<'_>, rest: &[ShellWord]) {
    const VALUED: &str = "--config --exclude --include --filter --filter-from --transfers --bwlimit --backup-dir -f \
        --exclude-from --include-from --files-from --exclude-if-present --checkers --log-file --log-level";
    let args = Args::new(rest, VALUED);
    let mut operands = args.operands.iter().filter(|word| !word.prefix().contains(':'));
    let verb = operands.next().map(ShellWord::prefix).unwrap_or_default();
    let is_remote_target = args.operands.last().is_some_and(|word| word.prefix().contains(':'));
    if args.has("-n --dry-run") {
        return;
    }
    match verb.as_str() {
        "purge" | "delete" | "deletefile" | "rmdirs" => walker.change_all(Remove, operands, true),
        "copy" | "sync" | "move" | "bisync" | "copyto" | "moveto" | "copyurl" => {
            let operands: Vec<&ShellWord> = operands.collect();
            if let Some(target) = operands.last().filter(|_| !is_remote_target) {
                below(walker, Write, target);
                walker.change(if verb == "sync" { Remove } else { Write }, target, true);
            }
            if verb.starts_with("move")
                && let Some(source) = args.operands.get(1)
            {
                walker.change_all(Remove, operands.into_iter().filter(|word| *word == source), true);
            }
        }
        _ => {}
    }
}

fn tar(walker: &mut Walker<'_>, rest: &[ShellWord]) {
    const VALUED: &str = "-f -C -T -X --file --directory --exclude -I";
    // `tar xzf a.tar -C x`: the first options need no dash.
    let mut words = rest.to_vec();
    if let Some(first) = words.first_mut()
        && !first.prefix().starts_with('-')
    {
        let mut dashed = ShellWord::new("-");
        dashed.extend(first);
        *first = dashed;
    }
    let args = Args::new(&words, VALUED);
    let here = ShellWord::new(".");
    if args.has("-x --extract --get") {
        let folder = args.value("-C --directory").unwrap_or(&here);
        below(walker, Write, folder);
        for member in &args.operands {
            walker.change(Write, &folder.child(member), true);
        }
    } else if args.has("-c -r -u --create --append --update")
        && let Some(file) = args.value("-f --file").filter(|file| !file.is("-"))
    {
        walker.write(file);
    }
    if args.has("--remove-files") {
        walker.change_all(Remove, &args.operands, true);
    }
}

fn curl(walker: &mut Walker<'_>, rest: &[ShellWord]) {
    const VALUED: &str = "-o --output --output-dir -H --header -d --data --data-raw --data-binary -X --request -u --user -A --user-agent -e -b -c --cookie-jar -D --dump-header -F --form -T -m --max-time -w --trace";
    let args = Args::new(rest, VALUED);
    let folder = args.value("--output-dir");
    let named = "-o --output -D --dump-header -c --cookie-jar --trace";
    for file in args.values(named).filter(|file| !file.is("-")) {
        let mut whole = folder.map(ShellWord::slashed).unwrap_or_default();
        whole.extend(file);
        walker.write(&whole);
    }
    if args.has("-O --remote-name --remote-name-all") {
        for url in &args.operands {
            let mut file = folder.map_or_else(|| ShellWord::new("./"), ShellWord::slashed);
            match url.text().and_then(|url| url.rsplit('/').next().map(str::to_owned)) {
                Some(name) => file.push(&name),
                None => file.push_unknown(),
            }
            walker.write(&file);
        }
    }
}
