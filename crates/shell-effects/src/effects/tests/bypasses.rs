//! Commands whose changes must be recognised.

use super::*;

/// All of these remove the root.
const ROOT: &[&str] = &[
    "echo 'rm -rf /' > a.sh; mv a.sh b.sh; sh b.sh",
    "echo 'rm -rf /' > a.sh; mv a.sh tools/; sh tools/a.sh",
    "echo 'rm -rf /' > a.sh; cp a.sh b.sh && cp b.sh c.sh && bash c.sh",
    "echo 'rm -rf /' > a.sh; ln -s a.sh b.sh; . ./b.sh",
    "echo 'rm -rf /' > t/a.sh; cp -r t/. u; chmod +x u/a.sh; u/a.sh",
    "echo true > b.sh; echo 'rm -rf /' > a.sh; mv a.sh b.sh; sh b.sh",
    "git submodule foreach 'rm -rf /'",
    "git submodule --quiet foreach --recursive rm -rf /",
    "git submodule foreach 'rm -rf $toplevel/../..'",
    "git grep -O'rm -rf /' x",
    "git grep --open-files-in-pager='rm -rf /' x",
    "git grep -iO'rm -rf /' x",
    "ls *.py | entr -s 'rm -rf /'",
    "ls *.py | entr -cs 'rm -rf /'",
    "declare -a A=(rm -rf /); \"${A[@]}\"",
    "export X='rm -rf /'; $X",
    "ln -s / r; rm -rf r",
    "while read f; do rm -rf \"$f\"; done <<< /",
    "{rm,-rf,/}",
    "function rm() { command rm -rf /; }; rm x",
    "echo 'rm -rf /' 2>/tmp/log | sh",
    "bash 3<<< x <<< 'rm -rf /'",
    "bash <<< 'rm -rf /' 3<<< x",
    "echo 'rm -rf /' 2>&1 | sh",
    "{ echo 'rm -rf /'; } 2>l | sh",
    "IFS=,; X=rm,-rf,/; $X",
    "echo 'rm -rf /' > /tmp/x.sh; sh /tmp/x.sh",
    "cat > x.sh <<EOF\nrm -rf /\nEOF\nbash x.sh",
    "echo 'rm -rf /' | tee x; chmod +x x; ./x",
    "echo rm -rf / > x; . ./x",
    "echo rm -rf / > x && bash < x",
    "/bin/r? -rf /",
    "/???/rm -rf /",
    "at now <<< 'rm -rf /'",
    "exec -a x rm -rf /",
    "sudo -i rm -rf /",
    "sudo bash -c 'rm -rf /'",
    "sh -c rm\\ -rf\\ /",
    "sh < <(echo rm -rf /)",
    "printf '\\x72\\x6d -rf /' | sh",
    "xargs -0 rm -rf < <(printf '/\\0')",
    "a=rm b=-rf c=/; $a $b $c",
    "uv run rm -rf /",
    "cat x | (cd /; rm -rf .)",
    "mv / /tmp",
    "busybox sh -c 'rm -rf /'",
    "echo x; (echo y; (rm -rf /) &) | cat",
    "rm -rf /",
    "rm -fr /",
    "rm -r -f /",
    "rm --recursive --force /",
    "rm -rf -- /",
    "rm -Rf /",
    "rm / -rf",
    "rm -rf //",
    "rm -rf /.",
    "rm -rf /./",
    "rm -rf /etc/..",
    "rm -rf /../..",
    "rm -rf '/'",
    "rm -rf \"/\"",
    "rm -rf $'/'",
    r"rm -rf $'\x2f'",
    r"rm -rf $'\057'",
    r"rm -rf $'\u002f'",
    r"rm -rf \/",
    "rm -rf \"\"/",
    "r\"\"m -rf /",
    "r''m -rf /",
    r"r\m -rf /",
    r"\rm -rf /",
    "'rm' -rf /",
    "\"rm\" -rf /",
    "/bin/rm -rf /",
    "/usr/bin/rm -rf /",
    "../../../bin/rm -rf /",
    "command rm -rf /",
    "command -p rm -rf /",
    "builtin command rm -rf /",
    "exec rm -rf /",
    "sudo rm -rf /",
    "sudo -u root rm -rf /",
    "sudo -E -n rm -rf /",
    "sudo -- rm -rf /",
    "sudo A=b rm -rf /",
    "doas rm -rf /",
    "env rm -rf /",
    "env -i A=b rm -rf /",
    "env -u X rm -rf /",
    "nohup rm -rf / &",
    "nice rm -rf /",
    "nice -n 5 rm -rf /",
    "ionice -c 3 rm -rf /",
    "time rm -rf /",
    "timeout 5 rm -rf /",
    "timeout -k 1 5 rm -rf /",
    "stdbuf -o0 rm -rf /",
    "setsid rm -rf /",
    "busybox rm -rf /",
    "sudo env nice nohup rm -rf /",
    "flock /tmp/l rm -rf /",
    "flock /tmp/l -c 'rm -rf /'",
    "watch rm -rf /",
    "watch -n 1 'rm -rf /'",
    "su -c 'rm -rf /'",
    "su root -c 'rm -rf /'",
    "chroot / rm -rf /",
    "bash -c 'rm -rf /'",
    "sh -c \"rm -rf /\"",
    "bash -lc 'rm -rf /'",
    "zsh -c 'rm -rf /'",
    "/bin/sh -c 'rm -rf /'",
    "bash -c 'bash -c \"rm -rf /\"'",
    "bash -c 'rm -rf \"$1\"' x /",
    "bash -c '$0 -rf /' rm || bash -c 'rm -rf $@' _ /",
    "eval 'rm -rf /'",
    "eval rm -rf /",
    "eval \"rm\" '-rf /'",
    "trap 'rm -rf /' EXIT",
    "bash <<EOF\nrm -rf /\nEOF",
    "bash <<'EOF'\nrm -rf /\nEOF",
    "bash -s <<EOF\nrm -rf /\nEOF",
    "bash <<< 'rm -rf /'",
    "echo 'rm -rf /' | bash",
    "echo rm -rf / | sh",
    "printf 'rm -rf /' | sh",
    "printf '%s\\n' 'rm -rf /' | sudo sh",
    "echo 'rm -rf /' | sudo -s",
    "sudo -n -s <<< 'rm -rf /'",
    "sudo -i <<< 'rm -rf ..'",
    "sudo --login <<'E'\nrm -rf /\nE",
    "sudo -u root -i <<< 'rm -rf /'",
    "doas -s <<< 'rm -rf /'",
    "pkexec <<< 'rm -rf /'",
    "sudo nsenter -t 1 -m <<< 'rm -rf /'",
    "cat <<EOF | bash\nrm -rf /\nEOF",
    "bash <(echo 'rm -rf /')",
    "source <(echo rm -rf /)",
    ". /dev/stdin <<< 'rm -rf /'",
    "bash -c \"$(echo 'rm -rf /')\"",
    "$(echo rm) -rf /",
    "`echo rm` -rf /",
    "$(echo rm -rf /)",
    "$(printf 'rm -rf %s' /)",
    "echo / | xargs rm -rf",
    "printf '%s\\n' / | xargs rm -rf",
    "echo / | xargs -I{} rm -rf {}",
    "echo / | xargs -I % sh -c 'rm -rf %'",
    "echo rm -rf / | xargs env",
    "xargs rm -rf <<< /",
    "xargs rm -rf <<EOF\n/\nEOF",
    "parallel rm -rf ::: /",
    "echo / | parallel rm -rf {}",
    "X=/; rm -rf $X",
    "X=/ && rm -rf \"$X\"",
    "export X=/; rm -rf $X",
    "declare X=/; rm -rf ${X}",
    "X=/ bash -c 'rm -rf $X'",
    "X=rm; $X -rf /",
    "X='rm -rf /'; $X",
    "X=r Y=m; $X$Y -rf /",
    "X='-rf /'; rm $X",
    "X=(-rf /); rm \"${X[@]}\"",
    "A=/etc; rm -rf ${A%etc}",
    "A=x/; rm -rf ${A#x}",
    "A=ab/; rm -rf ${A:2:1}",
    "A=x; rm -rf ${A/x//}",
    "rm -rf ${X:-/}",
    "rm -rf ${X:=/}",
    "rm -rf ${X-/}",
    "Y=X; X=/; rm -rf ${!Y}",
    "rm${IFS}-rf${IFS}/",
    "rm -rf $1/",
    "set -- /; rm -rf $1",
    "for i in /; do rm -rf $i; done",
    "for i in -rf; do rm $i /; done",
    "while :; do rm -rf /; done",
    "if true; then rm -rf /; fi",
    "case x in *) rm -rf /;; esac",
    "until false; do rm -rf /; done",
    "( ( rm -rf / ) )",
    "{ rm -rf /; }",
    "! rm -rf /",
    "! { rm -rf /; }",
    "true && rm -rf /",
    "false || rm -rf /",
    "ls; rm -rf /",
    "ls\nrm -rf /",
    "ls | rm -rf /",
    "ls & rm -rf /",
    "f() { rm -rf /; }; f",
    "f() { rm -rf \"$@\"; }; f /",
    "function f { rm -rf $1; }; f /",
    "f() ( rm -rf / ); f",
    "echo $(rm -rf /)",
    "echo `rm -rf /`",
    "echo \"$(rm -rf /)\"",
    "echo ${x:-$(rm -rf /)}",
    "echo $((1 + $(rm -rf /)))",
    "x=$(rm -rf /)",
    "cat <<EOF\n$(rm -rf /)\nEOF",
    "cat < <(rm -rf /)",
    "tee >(rm -rf /)",
    "[[ -n $(rm -rf /) ]]",
    "(( $(rm -rf /) ))",
    "for x in $(rm -rf /); do :; done",
    "echo $(echo $(echo $(rm -rf /)))",
    "echo `echo \\`rm -rf /\\``",
    "cd / && rm -rf .",
    "cd /; rm -rf ./",
    "cd /etc && rm -rf ..",
    "pushd / && rm -rf .",
    "ls / && rm -rf $_",
    "ls -d /; rm -rf \"${_}\"",
    "ls / && (true x); true x | cat; rm -rf $_",
    "ls / && cd $_ && rm -rf .",
    "for _ in /; do rm -rf $_; done",
    "f() { true x; }; f /; rm -rf $_",
    "(cd / && rm -rf .)",
    "cd /usr && cd .. && rm -rf .",
    "env -C / rm -rf .",
    "sudo -D / rm -rf .",
    "cd /; cd /tmp; cd -; rm -rf .",
    "rm -rf ~/../..",
    "> /tmp/x rm -rf /",
    "2>/dev/null rm -rf /",
    "rm -rf / > /dev/null 2>&1",
    "rm \\\n -rf \\\n /",
    "cat <<EOF; rm -rf /\nx\nEOF",
    "cat <<A <<B\nx\nA\ny\nB\nrm -rf /",
    "coproc rm -rf /",
    "$SUDO rm -rf /",
    "$X rm -rf /",
    "bash -c \"rm '-rf' '/'\"",
    "git -c alias.x='!rm -rf /' x",
    "read X <<< /; rm -rf $X",
    "printf -v X /; rm -rf $X",
    "rm -rf {/,/tmp}",
    "rm -rf $(echo /)",
    "exec 3>&1; rm -rf /",
    "echo 'rm -rf /' > /dev/null; eval \"$(echo rm -rf /)\"",
    "unset X; rm -rf /$X",
    "time { rm -rf /; }",
    "select x in /; do rm -rf $x; done",
    "find /tmp -exec rm -rf / \\;",
    "bash -c 'X=/; rm -rf \"$X\"'",
    "true;rm -rf /;true",
    "#c\nrm -rf /",
    "rm -rf \"/\" # x",
    "X=$'\\x2f'; rm -rf $X",
];

#[test]
fn what_is_not_analysed_is_unreadable() {
    for line in [
        "declare -n r=x; x=/; rm -rf \"$r\"",
        "f() { local -n r=$1; rm -rf $r; }; x=/; f x",
        "CDPATH=/; cd usr && rm -rf *",
        "shopt -s dotglob; rm -rf *",
        "GLOBIGNORE=x; rm -rf *",
        "ln -s /etc x; rm x/../y",
    ] {
        let unreadable = effects(line, &context()).unreadable;
        assert!(matches!(unreadable, Some(Unreadable::NotFollowed(_))), "{line}: {unreadable:?}");
    }
}

#[test]
fn every_spelling_of_the_root_is_recognised() {
    check(&ROOT.iter().map(|command| (*command, "rm! /")).collect::<Vec<_>>());
}

#[test]
fn a_path_that_may_be_the_root_is_possible() {
    check(&[
        ("rm -rf \"$DIR/\"", "rm! …/"),
        ("rm -rf $DIR/*", "rm! …/*"),
        ("rm -rf /$DIR", "rm! /…"),
        ("rm -rf \"$DIR\"", "rm! …"),
        ("rm -rf $(pwd)/x", "rm! /w/p/x"),
        ("rm -rf $(cat f)", "rm! …"),
        ("bash -c \"rm -rf '$X'/\"", "rm! …/"),
        ("find / -name x | xargs rm -rf", "rm! /**/x"),
        ("cat f | xargs rm", "rm …"),
    ]);
}

#[test]
fn homes_and_globs_are_resolved() {
    check(&[
        ("rm -rf ~", "rm! /home/me"),
        ("rm -rf ~/", "rm! /home/me"),
        ("rm -rf $HOME", "rm! /home/me"),
        ("rm -rf \"${HOME}\"/", "rm! /home/me"),
        ("rm -rf ${HOME:-/x}", "rm! /home/me"),
        ("rm -rf ~me", "rm! /home/me"),
        ("rm -rf ~root/x", "rm! /root/x"),
        ("rm -rf ~bob", "rm! /home/bob"),
        ("cd; rm -rf .", "rm! /home/me"),
        ("cd ~ && rm -rf x", "rm! /home/me/x"),
        ("rm -rf ~/.*", "rm! /home/me/.*"),
        ("rm -rf /*", "rm! /*"),
        ("rm -rf /e?c /[e]tc", "rm! /e?c, rm! /[e]tc"),
        ("rm -rf /{etc,usr}", "rm! /etc, rm! /usr"),
        ("rm -rf /a{1..3}", "rm! /a1, rm! /a2, rm! /a3"),
        ("rm -rf '/*'", "rm! /*"),
        ("rm -rf $PWD", "rm! /w/p"),
        ("cd x; rm -rf $OLDPWD", "rm! /w/p"),
        ("rm -rf $CLAUDE_PROJECT_DIR/.claude", "rm! /w/p/.claude"),
        ("rm -rf ~+/x", "rm! /w/p/x"),
        ("cd sub && rm x", "rm /w/p/sub/x"),
        ("(cd sub && true); rm x", "rm /w/p/x"),
        ("cd $X; rm y", "rm …"),
        ("cd /nowhere; rm x", "rm /nowhere/x, rm? /w/p/x"),
        ("cd /nowhere || rm x", "rm? /w/p/x"),
        ("if cd /nowhere; then :; else rm x; fi", "rm? /w/p/x"),
        ("make -C x; rm y", "rm /w/p/y"),
        ("rm x\\ y \"a b\"", "rm /w/p/x y, rm /w/p/a b"),
    ]);
}

#[test]
fn every_way_to_change_a_file() {
    check(&[
        ("echo x > f", "write /w/p/f"),
        ("echo x >> f", "write /w/p/f"),
        ("echo x >| f", "write /w/p/f"),
        ("echo x &> f", "write /w/p/f"),
        ("echo x &>> f", "write /w/p/f"),
        ("echo x >& f", "write /w/p/f"),
        ("echo x 2> f", "write /w/p/f"),
        ("exec 3<> f", "write /w/p/f"),
        ("exec > f", "write /w/p/f"),
        (": > f", "write /w/p/f"),
        ("> f", "write /w/p/f"),
        ("cat > f <<EOF\nx\nEOF", "write /w/p/f"),
        ("cat <<EOF > f\nx\nEOF", "write /w/p/f"),
        ("{ echo a; } > f", "write /w/p/f"),
        ("while read x; do :; done < g > f", "write /w/p/f"),
        ("if true; then :; fi > f", "write /w/p/f"),
        ("f() { echo; } > g; f", "write /w/p/g"),
        ("echo x | tee f", "write /w/p/f"),
        ("echo x | sudo tee -a f g", "write /w/p/f, write /w/p/g"),
        ("jq . f | sponge f", "write /w/p/f"),
        ("sed -i s/a/b/ f", "write /w/p/f"),
        ("sed -i.bak -e s/a/b/ f", "write /w/p/f"),
        ("sed --in-place=x 's/a/b/' f", "write /w/p/f"),
        ("sed -n -i p f", "write /w/p/f"),
        ("perl -pi -e s/a/b/ f", "write /w/p/f"),
        ("perl -i.bak -pe s/a/b/ f", "write /w/p/f"),
        ("ruby -i -pe x f", "write /w/p/f"),
        ("awk -i inplace '{print}' f", "write /w/p/f"),
        ("ed f <<< w", "write /w/p/f"),
        ("ex -sc '%s/a/b/|x' f", "write /w/p/f"),
        ("vim -c wq f", "write /w/p/f"),
        ("touch f", "write /w/p/f"),
        ("mkdir -p a/b", "write /w/p/a/b"),
        ("truncate -s 0 f", "write /w/p/f"),
        ("dd if=/dev/zero of=f", "write /w/p/f"),
        ("cp a f", "write /w/p/f, write /w/p/f/a"),
        ("cp -t d a", "write /w/p/d/a"),
        ("cp -r a/. d", "write! /w/p/d/…"),
        ("install -m 755 a f", "write /w/p/f"),
        ("mv a f", "rm! /w/p/a, write /w/p/f, write! /w/p/f/a"),
        ("mv -T a d", "write! /w/p/d"),
        ("mv {a,b} d", "rm! /w/p/a, write! /w/p/d/b"),
        ("mv f{,.bak}", "rm! /w/p/f, write /w/p/f.bak"),
        ("ln -sf a f", "write /w/p/f"),
        ("ln -sfn a d", "write! /w/p/d"),
        ("rsync -a a/ d/", "write! /w/p/d/…"),
        ("rsync -a --delete a/ d", "rm! /w/p/d"),
        ("tar xzf a.tgz -C d", "write! /w/p/d/…"),
        ("tar -xf a.tar", "write! /w/p/…"),
        ("tar czf f d", "write /w/p/f"),
        ("unzip a.zip -d d", "write! /w/p/d/…"),
        ("curl -o f http://x", "write /w/p/f"),
        ("curl -sSLo f http://x", "write /w/p/f"),
        ("curl -O http://x/f", "write! /w/p/…"),
        ("wget -O f http://x", "write /w/p/f"),
        ("wget -qO f http://x", "write /w/p/f"),
        ("patch f < p", "write /w/p/f"),
        ("patch -p1 < p", "write! /w/p/…"),
        ("sort -o f g", "write /w/p/f"),
    ]);
}

#[test]
fn every_other_way_to_change_something() {
    check(&[
        ("chmod 777 f", "mode /w/p/f"),
        ("chmod -R 777 /", "mode! /"),
        ("chmod -w f", "mode /w/p/f"),
        ("chmod --reference=a f", "mode /w/p/f"),
        ("sudo chown -R me:me /", "own! /"),
        ("chgrp x f", "own /w/p/f"),
        ("rmdir d", "rm! /w/p/d"),
        ("unlink f", "rm /w/p/f"),
        ("shred -u f", "write /w/p/f, rm /w/p/f"),
        ("dd if=x of=/dev/sda", "device /dev/sda"),
        ("cat x > /dev/sda", "device /dev/sda"),
        ("shred /dev/sda", "device /dev/sda"),
        ("mkfs.ext4 /dev/sda1", "device! /dev/sda1"),
        ("mkfs -t ext4 /dev/sda1", "device! /dev/sda1"),
        ("wipefs -a /dev/sda", "device! /dev/sda"),
        ("find . -delete", "rm! /w/p"),
        ("find / -delete", "rm! /"),
        ("find . -name '*.o' -delete", "rm! /w/p/**/*.o"),
        ("find d -type f -exec rm {} \\;", "rm /w/p/d/…"),
        ("find d -exec rm -rf {} +", "rm! /w/p/d/…"),
        ("find d -execdir sh -c 'rm \"$1\"' _ {} \\;", "rm /w/p/d/…"),
        ("find . -fprint f", "write /w/p/f"),
        ("git checkout -- f", "write! /w/p/f"),
        ("git checkout .", "write! /w/p/…"),
        ("git checkout main", "write! /w/p/…"),
        ("git restore f", "write! /w/p/f"),
        ("git -C d restore f", "write! /w/p/d/f"),
        ("git reset --hard", "write! /w/p/…"),
        ("git clean -fdx", "rm! /w/p/…"),
        ("git clean -fd d", "rm! /w/p/d"),
        ("git stash -u", "write! /w/p/…"),
        ("git rm -r d", "rm! /w/p/d"),
        ("git mv a b", "rm! /w/p/a, write /w/p/b"),
        ("git apply x.patch", "write! /w/p/…"),
        ("git pull --rebase", "write! /w/p/…"),
        ("cd sub && git merge x", "write! /w/p/…"),
        ("ln -s d l; rm l/f", "rm /w/p/d/f, rm /w/p/l/f"),
        ("mv d e; rm e/f", "rm /w/p/d/f, rm /w/p/e/f"),
        ("python -c \"open('d/f','w')\"", "write /w/p/d/f"),
        ("python3 - <<'EOF'\nopen('d/f','w')\nEOF", "write /w/p/d/f"),
        ("echo \"open('d/f', 'w')\" | python3", "write /w/p/d/f"),
        ("perl -e 'unlink \"d/f\"'", "rm! /w/p/d/f"),
        ("ruby -e 'File.delete(\"d/f\")'", "rm! /w/p/d/f"),
        ("node -e 'fs.rmSync(\"d/f\")'", "rm! /w/p/d/f"),
        ("php -r 'unlink(\"d/f\");'", "rm! /w/p/d/f"),
        ("awk 'BEGIN{system(\"rm d/f\")}'", "rm /w/p/d/f"),
        ("python3 -c \"import shutil; shutil.rmtree('/')\"", "rm! /"),
        ("python -c 'import os; os.system(\"rm -rf /\")'", "rm! /"),
    ]);
}

#[test]
fn code_that_starts_programs_is_suspected_of_every_command_line_in_it() {
    for (command, expected) in [
        ("python3 -c \"import os; cmd = 'rm -rf /etc'; os.system(cmd)\"", "rm! /etc"),
        ("python3 -c \"import subprocess; c = ['rm', '-rf', '/etc']; subprocess.run(c)\"", "rm! /etc"),
        ("node -e 'const {execSync: x} = require(\"child_process\"); x(`rm -rf ~`)'", "rm! /home/me"),
        ("ruby -e 'system %q(rm -rf /etc)'", "rm! /etc"),
        ("php -r 'echo `rm -rf /etc`;'", "rm! /etc"),
        ("python3 -c \"from shutil import rmtree as r; r('/etc')\"", "rm! /etc"),
        ("python3 -c \"print('rm -rf /etc')\"", ""),
        ("python3 -c \"import subprocess; subprocess.run(['rm', '-rf', 'build'])\"", "rm! /w/p/build"),
    ] {
        let effects = effects(command, &context());
        let found: Vec<String> =
            effects.in_code.iter().map(short).filter(|change| change.starts_with("rm! /")).collect();
        assert_eq!(found.first().map_or("", String::as_str), expected, "{command}: {found:?}");
    }
}

#[test]
fn every_path_to_the_state_file_is_recognised() {
    const STATE: &str = "/w/p/.claude/hooks/cache.json";
    let hits =
        |command: &str| effects(command, &context()).changes.iter().filter_map(|change| change.hits(STATE)).max();
    for command in [
        "rm .claude/hooks/cache.json",
        "rm -rf .claude",
        "rm -rf .",
        "rm -rf ..",
        "rm -rf .claude/*/cache.json",
        "rm .claude/hooks/*",
        "rm -rf .c*",
        "rm -rf .[a-z]*",
        "mv .claude x",
        "mv x .claude/hooks/cache.json",
        "cd .claude/hooks && echo > cache.json",
        "echo {} > \"$PWD\"/.claude/hooks/cache.json",
        "cp x .claude/hooks/cache.json",
        "sed -i s/a/b/ .claude/hooks/cache.json",
        "ln -s .claude/hooks h; echo > h/cache.json",
        "ln .claude/hooks/cache.json y; echo > y",
        "git checkout -- .claude",
        "find . -name cache.json -delete",
        "find .claude -name '*.json' -exec sh -c 'echo > $0' {} \\;",
        "tee .claude/hooks/cache.json",
        "cat x > .claude/hooks/cache.json",
        "truncate -s0 .claude/hooks/cache.json",
        "dd of=.claude/hooks/cache.json",
        "chmod -R 0 .claude",
        "cp .claude/hooks/cache{.old,}.json",
        "cp y/cache.json .claude/hooks",
        "cp y/cache.json .claude/hooks/",
        "find . -delete",
        "python3 - <<E\nopen('.claude/hooks/cache.json', 'w')\nE",
        "echo \"open('.claude/hooks/cache.json','w')\" > x.py; python x.py",
    ] {
        assert_eq!(hits(command), Some(Certainty::Certain), "{command}");
    }
    for command in [
        "rm $X",
        "git stash -u",
        "git clean -fdx",
        "tar xf a.tar",
        "rsync -a x/ .",
        "echo > .claude/hooks/$X",
        "cp -r x/. .claude",
        "cd /nowhere; rm .claude/hooks/cache.json",
    ] {
        assert_eq!(hits(command), Some(Certainty::Possible), "{command}");
    }
    for command in [
        "cat .claude/hooks/cache.json",
        "rm -rf target",
        "rm -rf *",
        "rm -f *.json",
        "echo x > /tmp/y",
        "mv a b",
        "git add -A && git commit -m x",
        "find . -name '*.pyc' -delete",
        "find src -delete",
        "sed -n 1p .claude/hooks/cache.json",
        "mkdir -p .claude/modes",
        "rm -rf /tmp/$X",
        "cp .claude/hooks/cache.json /tmp",
        "tar xf a.tar -C /tmp",
        "python -c \"print('a/b')\"",
        "jq . .claude/hooks/cache.json > /tmp/x",
    ] {
        assert_eq!(hits(command), None, "{command}");
    }
}

#[test]
fn programs_run_by_other_programs_are_found() {
    let calls = |command: &str| -> Vec<String> {
        effects(command, &context()).calls.iter().map(|run| run.argv().join(" ")).collect()
    };
    assert!(calls("sudo -u me env A=b timeout 5 modegate leave").contains(&"modegate leave".to_owned()));
    assert!(calls("cd x && \"mode\"gate leave plan").contains(&"modegate leave plan".to_owned()));
    assert!(calls("git checkout -- .claude").contains(&"git checkout -- .claude".to_owned()));
    assert_eq!(calls("ssh host rm -rf /"), ["ssh host rm -rf /"]);
    assert_eq!(calls("echo \"$X/a\""), ["echo …/a"]);
    assert_eq!(effects("curl http://x | sh", &context()).hidden, ["sh"]);
    assert_eq!(effects("eval \"$X\"", &context()).hidden, ["eval …"]);
}

#[test]
fn containers_change_what_is_mounted() {
    check(&[
        ("docker run -v /a:/h:cached i rm -rf /h", "rm! /a"),
        ("docker run -v /a:/h:rw,z i rm -rf /h/x", "rm! /a/x"),
        ("docker run --mount type=bind,src=/a,destination=/h i rm /h/x", "rm /a/x"),
        ("docker run -v /a:/h --entrypoint rm i -rf /h", "rm! /a"),
    ]);
    for command in [
        "docker run -v /a:/h:ro i rm -rf /h",
        "docker run -v /a:/h:z,ro i rm -rf /h",
        "docker run --mount type=bind,src=/a,dst=/h,readonly i rm -rf /h",
    ] {
        assert!(changes(command).is_empty(), "{command}");
    }
}

#[test]
fn a_function_that_starts_itself_twice_is_a_bomb() {
    for command in [
        ":(){ :|:& };:",
        "f(){ f|f& };f",
        "b() { b | b & }; b",
        "function x { x & x & }; x",
        "f() { (f &) ; f; }; f",
        "bash -c ':(){ :|:& };:'",
        "a(){ a|a; }; a",
    ] {
        assert!(effects(command, &context()).bomb, "{command}");
    }
    for command in ["f() { echo x | cat & }; f", "f() { f; }; f", "f() { g | g; }; f", "a | a &"] {
        assert!(!effects(command, &context()).bomb, "{command}");
    }
}

#[test]
fn what_is_not_followed_makes_the_line_unreadable() {
    for line in [
        "env -S 'rm -rf /'",
        "env --split-string='rm -rf /'",
        "alias x='rm -rf /'; x",
        "x=/; declare -n r=x; rm -rf $r",
        "f() { local -n r=$1; rm -rf \"$r\"; }; x=/; f x",
        "CDPATH=/; cd usr && rm -rf .",
        "export CDPATH=$(cat x); cd usr",
        "sudo su <<< 'rm -rf /'",
        "sudo su - <<'E'\nrm -rf /\nE",
        "su root -- -c 'rm -rf /'",
        "nix-shell <<< 'rm -rf /'",
        "chroot /mnt rm -rf /etc",
        "docker run -v /:/h i chroot /h rm -rf /etc",
    ] {
        let unreadable = effects(line, &context()).unreadable;
        assert!(matches!(unreadable, Some(Unreadable::NotFollowed(_))), "{line}: {unreadable:?}");
    }
    for line in ["CDPATH= cd src", "CDPATH=/; cd ./usr; cd /usr", "alias", "declare -a x=(1)"] {
        assert_eq!(effects(line, &context()).unreadable, None, "{line}");
    }
}
