//! Unknown programs that may run their arguments: `foo git push`.

use super::ProgramCall;
use crate::has_name;
use crate::word::ShellWord;

/// Programs that do not run a program of the same name as their first argument: they print it, search for it, explain
/// it, install it or use it as a file.
const OTHERS: &str = "echo printf print say cowsay figlet banner notify-send logger wall write yes true false : test [ expr \
    grep egrep fgrep rg ag ack zgrep pgrep pidof pkill killall ps which type whereis whatis apropos man info tldr cheat help hash \
    alias unalias export declare local readonly typeset unset set read return exit cd pushd popd dirname basename realpath \
    readlink ls tree cat less more head tail bat wc sort uniq cut tr sed awk gawk jq yq diff cmp stat file touch mkdir rmdir \
    rm mv cp ln tee chmod chown find fd locate du df zip unzip tar git hg svn jj gh glab brew apt apt-get apt-cache dpkg dnf \
    yum rpm pacman apk snap port choco scoop winget asdf nix-env conda mamba pip pip3 pipx gem composer go cargo npm yarn \
    pnpm bun complete compgen bind kill sleep wait jobs source . eval history fc open xdg-open code vim vi nvim nano emacs";

/// Words between an unknown program and what it runs.
const BETWEEN: &str = "run exec x with --";

impl ProgramCall {
    /// The call that it makes of its arguments, if it is an unknown program that runs them.
    #[must_use]
    pub fn possible_call(&self) -> Option<Self> {
        let name = self.words.first().and_then(ShellWord::text)?;
        if has_name(OTHERS, name.rsplit('/').next().unwrap_or_default()) {
            return None;
        }
        let is_between = |word: &str| word.starts_with('-') || has_name(BETWEEN, word);
        let between = self.words.iter().skip(1).take_while(|word| is_between(&word.filled("…"))).count();
        let rest = self.words.get(1 + between..).filter(|rest| !rest.is_empty())?;
        Some(Self { words: rest.to_vec(), ..self.clone() })
    }
}
