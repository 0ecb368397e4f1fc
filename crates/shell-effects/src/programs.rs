//! The table of programs: what each of them does, as far as more than one part of the analysis asks.
//!
//! How options are read and which arguments are files or commands is in the tables of `effects/file_programs`
//! and `effects/wrappers`.

use crate::has_name;

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
/// It is the program of a service, with verbs that upload.
pub const UPLOADS: ProgramTraits = 1 << 6;
/// It is a shell.
pub const SHELL: ProgramTraits = 1 << 7;
/// It is a shell of Windows, whose command lines are walked as if they were bash's.
pub const WINDOWS: ProgramTraits = 1 << 8;
/// It starts a shell if it is given no command.
pub const DEFAULT: ProgramTraits = 1 << 9;
/// It is a candidate for a glob in place of a name: `/bin/r?`.
pub const GLOBBED: ProgramTraits = 1 << 10;
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

/// Names with the same traits, separated by spaces; every name is in one row.
#[rustfmt::skip]
const PROGRAMS: [(&str, ProgramTraits); 47] = [
    (". awk gawk source", KEEPS | RUNS),
    (": ag basename dirname du false file mkdir read readlink realpath rg sleep stat tr tree true", READS | KEEPS),
    ("Rscript deno elixir escript esno expect gmake groovy guile java jiti julia lua luajit make mawk nawk", RUNS),
    ("[ cmp diff echo egrep fgrep grep ls printf test", READS | KEEPS | INSPECTS),
    ("ack alias apk apropos apt apt-cache apt-get asdf banner bind brew cargo cheat choco compgen", KEEPS),
    ("ash csh dash fish ksh mksh nu rbash tcsh zsh", SHELL | RUNS),
    ("autossh dig ftp mail mailx mutt nc ncat netcat nslookup pastebinit sendmail sftp socat ssh telnet", SENDS),
    ("aws croc gcloud gsutil mc rclone s3cmd transfer wormhole", UPLOADS),
    ("base32 base64 bzip2 gbase64 gpg gtar gzip openssl paste xxd xz zstd", PRINTS),
    ("bash sh", SHELL | GLOBBED | RUNS),
    ("bat less more", READS | PRINTS | KEEPS),
    ("biome gofmt jest mocha phpunit pylint pyright pytest rspec rubocop rustfmt tsc vitest", CHECKS),
    ("black eslint flake8 isort mypy prettier ruff", CHECKS | INSPECTS),
    ("bun", PACKAGES | KEEPS | RUNS),
    ("cat head tail", READS | SHOWS | PRINTS | KEEPS | INSPECTS),
    ("cd", STATE | KEEPS | INSPECTS),
    ("check-jsonschema colordiff column comm date delta difft exa eza fold fx gron jless jsonlint lsd", READS),
    ("chmod chown cp find git ln mv rm sed tee", GLOBBED | KEEPS),
    ("chroot fakeroot nsenter pkexec setarch unshare wsl", DEFAULT),
    ("cksum md5sum sha1sum sha256sum sha512sum", READS | SHOWS),
    ("cmd cmd.exe powershell powershell.exe pwsh.exe", WINDOWS),
    ("code emacs nano nvim vi vim", KEEPS | EDITS),
    ("complete composer conda cowsay df dnf dpkg eval expr fc fd figlet gem glab go hash help hg history", KEEPS),
    ("cut", READS | SHOWS | PRINTS | KEEPS),
    ("dd", PRINTS | GLOBBED),
    ("declare exit export local popd pushd readonly return set typeset unset", STATE | KEEPS),
    ("docker docker-compose kubectl nerdctl oc podman", CONTAINER),
    ("ed ex micro pico view", EDITS),
    ("gh", UPLOADS | KEEPS),
    ("hadolint shellcheck shfmt", INSPECTS),
    ("hexdump nl od rev strings tac", READS | SHOWS | PRINTS),
    ("info jj jobs kill killall locate logger mamba man nix-env notify-send open pacman pgrep pidof pip", KEEPS),
    ("jq wc", READS | SHOWS | KEEPS),
    ("lsof mapfile pbcopy pwd readarray wl-copy xclip xsel yamllint", READS),
    ("node python ruby", CODE | RUNS),
    ("nodejs ocaml osascript php pypy racket runghc tclsh ts-node tsx uv wish", RUNS),
    ("npm pnpm yarn", PACKAGES | KEEPS),
    ("perl", GLOBBED | RUNS),
    ("pip3 pipx pkill port print ps rmdir rpm say scoop snap svn tldr touch unalias unzip wait wall", KEEPS),
    ("pwsh", WINDOWS | RUNS),
    ("python3", CODE | GLOBBED),
    ("shred truncate", GLOBBED),
    ("sort tar uniq zip", PRINTS | KEEPS),
    ("tftp", SENDS),
    ("type whereis which zgrep", READS | KEEPS),
    ("whatis winget write xdg-open yes yq yum", KEEPS),
    ("yash", SHELL),
];

/// Whether a program, by its name without a folder, has one of these traits.
#[must_use]
pub fn has_trait(program: &str, traits: ProgramTraits) -> bool {
    PROGRAMS.iter().any(|(names, own)| own & traits != 0 && has_name(names, program))
}

/// The names of the programs with one of these traits.
pub(crate) fn names_with(traits: ProgramTraits) -> impl DoubleEndedIterator<Item = &'static str> {
    PROGRAMS.iter().filter(move |(_, own)| own & traits != 0).flat_map(|(names, _)| names.split(' '))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_table_is_sorted_and_each_name_is_in_one_row() {
        let firsts: Vec<&str> = PROGRAMS.iter().filter_map(|(names, _)| names.split(' ').next()).collect();
        assert!(firsts.is_sorted());
        assert!(PROGRAMS.iter().all(|(names, _)| names.split(' ').is_sorted()));
        let mut seen = BTreeSet::new();
        let twice: Vec<&str> = names_with(ProgramTraits::MAX).filter(|name| !seen.insert(*name)).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
