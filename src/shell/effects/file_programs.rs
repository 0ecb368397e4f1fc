//! Programs that change the files in their arguments.

use super::Effect;
use super::args::Args;
use super::builtins::each;
use super::walker::Walker;
use crate::shell::word::ShellWord;

pub(super) fn run(walker: &mut Walker<'_>, name: &str, rest: &[ShellWord]) {
    let plain = |valued: &str| Args::new(rest, valued);
    match name {
        "rm" | "grm" => {
            let args = plain("");
            each(walker, Effect::Remove, &args.operands, args.has("-r -R --recursive"));
        }
        "rmdir" | "unlink" | "trash" | "srm" | "rimraf" => {
            each(walker, Effect::Remove, &plain("").operands, name != "unlink");
        }
        "shred" => {
            let args = plain("-n -s --iterations --size --random-source");
            each(walker, Effect::Write, &args.operands, false);
            if args.has("-u --remove") {
                each(walker, Effect::Remove, &args.operands, false);
            }
        }
        "truncate" | "fallocate" => {
            let args = plain("-s -r -o -l --size --reference --offset --length");
            each(walker, Effect::Write, &args.operands, false);
        }
        "touch" | "mkdir" | "mkfifo" | "mknod" | "mktemp" => {
            let args = plain("-d -r -t -m -p -Z --date --reference --mode --tmpdir");
            // `mkdir -p x` has no value, `mktemp -p x` does.
            let values = args.values("-p").cloned().collect::<Vec<_>>();
            each(walker, Effect::Write, &args.operands, false);
            each(walker, Effect::Write, &values, false);
        }
        "chmod" | "gchmod" | "chattr" | "chflags" => changed(walker, Effect::Mode, rest),
        "chown" | "chgrp" | "gchown" => changed(walker, Effect::Own, rest),
        "setfacl" => {
            let args = plain("-m -x -M -X --modify --remove --set --restore");
            each(walker, Effect::Mode, &args.operands, args.has("-R --recursive"));
        }
        "ssh-keygen" => {
            let args = plain("-t -b -C -N -P -f -R -F -Y -m -O -I -n -s");
            if !args.has("-l -y -F -B -e") {
                let files: Vec<ShellWord> = args.values("-f").cloned().collect();
                each(walker, Effect::Write, &files, false);
            }
        }
        "dd" => {
            for file in rest.iter().filter_map(|word| word.after("of=")) {
                walker.write(&file);
            }
        }
        "wipefs" | "mkswap" | "fdisk" | "sfdisk" | "cfdisk" | "gdisk" | "sgdisk" | "parted" | "blkdiscard"
        | "hdparm" | "mke2fs" | "diskutil" => devices(walker, name, rest),
        _ if name.starts_with("mkfs") || name.starts_with("newfs") => devices(walker, name, rest),
        "sed" | "gsed" => sed(walker, rest),
        "yq" | "sd" | "rename" | "dos2unix" | "unix2dos" => {
            let args = plain("");
            if name != "yq" || args.has("-i --inplace --in-place") {
                each(walker, Effect::Write, &args.operands, false);
            }
        }
        "ed" | "ex" | "vi" | "vim" | "nvim" | "view" | "nano" | "emacs" | "pico" | "micro" | "code" => {
            let args = plain("-c -S -u -p --cmd");
            each(walker, Effect::Write, &args.operands, false);
            for script in args.values("-c --cmd") {
                super::inline_code::mention(walker, &format!("'{}'", script.filled("")));
            }
        }
        "tar" | "gtar" | "bsdtar" => tar(walker, rest),
        "unzip" => {
            let args = plain("-d -x -P");
            if !args.has("-l -t -p -v -Z") {
                let here = ShellWord::new(".");
                below(walker, Effect::Write, args.value("-d").unwrap_or(&here));
            }
        }
        "zip" | "7z" | "ar" => each(walker, Effect::Write, plain("").operands.get(..1).unwrap_or_default(), false),
        "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "zstd" | "unzstd" | "compress" => {
            let args = plain("-S -o");
            if !args.has("-c --stdout -t -l --list --test") {
                each(walker, Effect::Write, &args.operands, false);
            }
        }
        "curl" => curl(walker, rest),
        "wget" => {
            let args = plain("-O -P -o -a --output-document --directory-prefix --output-file -U");
            let named = "-O -o -a --output-document --output-file";
            let files: Vec<ShellWord> = args.values(named).filter(|file| !file.is("-")).cloned().collect();
            each(walker, Effect::Write, &files, false);
            if !args.has("-O --output-document") {
                let here = ShellWord::new(".");
                below(walker, Effect::Write, args.value("-P --directory-prefix").unwrap_or(&here));
            }
        }
        "sort" | "split" | "csplit" | "gcc" | "cc" | "clang" | "rustc" | "ld" | "pandoc" | "openssl" | "xxd" => {
            let args = plain("-o -out --output");
            let out: Vec<ShellWord> = args.values("-o -out --output").cloned().collect();
            each(walker, Effect::Write, &out, false);
        }
        "uniq" => each(walker, Effect::Write, plain("-f -s -w").operands.get(1..).unwrap_or_default(), false),
        _ => {}
    }
}

/// Records a change of an unknown path below a folder.
pub(super) fn below(walker: &mut Walker<'_>, effect: Effect, folder: &ShellWord) {
    let mut inside = folder.clone();
    inside.push("/");
    inside.push_unknown();
    let target = walker.target(&inside);
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
    let files = if named { args.operands.as_slice() } else { args.operands.get(1..).unwrap_or_default() };
    each(walker, effect, files, args.has("-R --recursive"));
}

fn devices(walker: &mut Walker<'_>, name: &str, rest: &[ShellWord]) {
    const VALUED: &str = "-t -L -U -b -n -N -s -o --type --label";
    let args = Args::new(rest, if name == "parted" { "" } else { VALUED });
    if args.has("-l --list") {
        return;
    }
    for device in args.operands.iter().filter(|word| word.prefix().parse::<u64>().is_err()) {
        let target = walker.target(device);
        walker.note(Effect::Device, target, true);
    }
}

fn sed(walker: &mut Walker<'_>, rest: &[ShellWord]) {
    let args = Args::new(rest, "-e -f -l --expression --file --line-length");
    let scripted = args.has("-e -f --expression --file");
    let skip = usize::from(!scripted);
    let scripts: Vec<ShellWord> =
        args.values("-e --expression").chain(args.operands.iter().take(skip)).cloned().collect();
    for script in scripts.iter().map(|script| script.filled("")) {
        // `w file` and `s/a/b/w file` write files even without `-i`.
        for (_, file) in script.split(['\n', ';', '{']).filter_map(|line| line.split_once("w ")) {
            let target = walker.target(&ShellWord::new(file.trim().trim_end_matches('}')));
            walker.note(Effect::Mention, target, false);
        }
    }
    if args.has("-i --in-place -I") {
        each(walker, Effect::Write, args.operands.get(skip..).unwrap_or_default(), false);
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
        below(walker, Effect::Write, args.value("-C --directory").unwrap_or(&here));
    } else if args.has("-c -r -u --create --append --update")
        && let Some(file) = args.value("-f --file").filter(|file| !file.is("-"))
    {
        walker.write(file);
    }
    if args.has("--remove-files") {
        each(walker, Effect::Remove, &args.operands, true);
    }
}

fn curl(walker: &mut Walker<'_>, rest: &[ShellWord]) {
    const VALUED: &str = "-o --output --output-dir -H --header -d --data --data-raw --data-binary -X --request -u --user -A --user-agent -e -b -c --cookie-jar -D --dump-header -F --form -T -m --max-time -w --trace";
    let args = Args::new(rest, VALUED);
    let folder = args.value("--output-dir");
    let named = "-o --output -D --dump-header -c --cookie-jar --trace";
    for file in args.values(named).filter(|file| !file.is("-")) {
        match folder {
            Some(folder) => {
                let mut whole = folder.clone();
                whole.push("/");
                whole.extend(file);
                walker.write(&whole);
            }
            None => walker.write(file),
        }
    }
    if args.has("-O --remote-name --remote-name-all") {
        for url in &args.operands {
            let mut file = folder.cloned().unwrap_or_else(|| ShellWord::new("."));
            file.push("/");
            match url.text().and_then(|url| url.rsplit('/').next().map(str::to_owned)) {
                Some(name) => file.push(&name),
                None => file.push_unknown(),
            }
            walker.write(&file);
        }
    }
}

pub(super) fn patch(walker: &mut Walker<'_>, rest: &[ShellWord], input: &ShellWord) {
    let args = Args::new(rest, "-i -o -d -p -D -F -B -r --input --output --directory --strip");
    let out: Vec<ShellWord> = args.values("-o --output").cloned().collect();
    let here = ShellWord::new(".");
    match (out.as_slice(), args.operands.first()) {
        ([_, ..], _) => each(walker, Effect::Write, &out, false),
        (_, Some(file)) => walker.write(file),
        _ => {
            let folder = args.value("-d --directory").unwrap_or(&here);
            below(walker, Effect::Write, folder);
            let given = args.value("-i --input").and_then(|file| walker.content(file));
            let given = given.unwrap_or_else(|| input.clone());
            walker.aside(|walker| {
                walker.enter(folder);
                patched(walker, &given);
                ShellWord::default()
            });
        }
    }
}

/// Records writes to the files that a known patch names.
pub(super) fn patched(walker: &mut Walker<'_>, patch: &ShellWord) {
    let text = patch.filled("");
    let named = text.lines().filter_map(|line| line.strip_prefix("+++ ").or_else(|| line.strip_prefix("--- ")));
    for file in named.filter_map(|name| name.split('\t').next()).filter(|name| *name != "/dev/null") {
        // `a/` and `b/` may be missing.
        let bare = file.split_once('/').map_or(file, |(_, bare)| bare);
        for file in [file, bare] {
            walker.write(&ShellWord::new(file));
        }
    }
}
