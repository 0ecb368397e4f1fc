//! What must be seen.

use super::*;

#[test]
fn the_root_is_recognised_in_every_spelling() {
    let spellings = [
        "rm -rf /", "rm -fr /", "rm -r -f /", "rm --recursive --force /", "rm -rf -- /", "rm -Rf /", "rm / -rf",
        "rm -rf //", "rm -rf /.", "rm -rf /./", "rm -rf /etc/..", "rm -rf /../..", "rm -rf '/'", "rm -rf \"/\"",
        "rm -rf $'/'", r"rm -rf $'\x2f'", r"rm -rf $'\057'", r"rm -rf $'\u002f'", r"rm -rf \/", "rm -rf \"\"/",
        "r\"\"m -rf /", "r''m -rf /", r"r\m -rf /", r"\rm -rf /", "'rm' -rf /", "\"rm\" -rf /", "/bin/rm -rf /",
        "/usr/bin/rm -rf /", "../../../bin/rm -rf /", "command rm -rf /", "command -p rm -rf /", "builtin command rm -rf /",
        "exec rm -rf /", "sudo rm -rf /", "sudo -u root rm -rf /", "sudo -E -n rm -rf /", "sudo -- rm -rf /",
        "sudo A=b rm -rf /", "doas rm -rf /", "env rm -rf /", "env -i A=b rm -rf /", "env -S 'rm -rf /'",
        "env -u X rm -rf /", "nohup rm -rf / &", "nice rm -rf /", "nice -n 5 rm -rf /", "ionice -c 3 rm -rf /",
        "time rm -rf /", "timeout 5 rm -rf /", "timeout -k 1 5 rm -rf /", "stdbuf -o0 rm -rf /", "setsid rm -rf /",
        "busybox rm -rf /", "sudo env nice nohup rm -rf /", "flock /tmp/l rm -rf /", "flock /tmp/l -c 'rm -rf /'",
        "watch rm -rf /", "watch -n 1 'rm -rf /'", "su -c 'rm -rf /'", "su root -c 'rm -rf /'", "chroot / rm -rf /",
        "bash -c 'rm -rf /'", "sh -c \"rm -rf /\"", "bash -lc 'rm -rf /'", "zsh -c 'rm -rf /'", "/bin/sh -c 'rm -rf /'",
        "bash -c 'bash -c \"rm -rf /\"'", "bash -c 'rm -rf \"$1\"' x /", "bash -c '$0 -rf /' rm || bash -c 'rm -rf $@' _ /",
        "eval 'rm -rf /'", "eval rm -rf /", "eval \"rm\" '-rf /'", "trap 'rm -rf /' EXIT",
        "bash <<EOF\nrm -rf /\nEOF", "bash <<'EOF'\nrm -rf /\nEOF", "bash -s <<EOF\nrm -rf /\nEOF", "bash <<< 'rm -rf /'",
        "echo 'rm -rf /' | bash", "echo rm -rf / | sh", "printf 'rm -rf /' | sh", "printf '%s\\n' 'rm -rf /' | sudo sh",
        "cat <<EOF | bash\nrm -rf /\nEOF", "bash <(echo 'rm -rf /')", "source <(echo rm -rf /)", ". /dev/stdin <<< 'rm -rf /'",
        "bash -c \"$(echo 'rm -rf /')\"", "$(echo rm) -rf /", "`echo rm` -rf /", "$(echo rm -rf /)", "$(printf 'rm -rf %s' /)",
        "echo / | xargs rm -rf", "printf '%s\\n' / | xargs rm -rf", "echo / | xargs -I{} rm -rf {}", "echo / | xargs -I % sh -c 'rm -rf %'",
        "echo rm -rf / | xargs env", "xargs rm -rf <<< /", "xargs rm -rf <<EOF\n/\nEOF", "parallel rm -rf ::: /", "echo / | parallel rm -rf {}",
        "X=/; rm -rf $X", "X=/ && rm -rf \"$X\"", "export X=/; rm -rf $X", "declare X=/; rm -rf ${X}", "X=/ bash -c 'rm -rf $X'",
        "X=rm; $X -rf /", "X='rm -rf /'; $X", "X=r Y=m; $X$Y -rf /", "X='-rf /'; rm $X", "X=(-rf /); rm \"${X[@]}\"", "A=/etc; rm -rf ${A%etc}",
        "A=x/; rm -rf ${A#x}", "A=ab/; rm -rf ${A:2:1}", "A=x; rm -rf ${A/x//}", "rm -rf ${X:-/}", "rm -rf ${X:=/}", "rm -rf ${X-/}", "Y=X; X=/; rm -rf ${!Y}",
        "rm${IFS}-rf${IFS}/", "rm -rf $1/", "set -- /; rm -rf $1", "for i in /; do rm -rf $i; done", "for i in -rf; do rm $i /; done",
        "while :; do rm -rf /; done", "if true; then rm -rf /; fi", "case x in *) rm -rf /;; esac", "until false; do rm -rf /; done",
        "( ( rm -rf / ) )", "{ rm -rf /; }", "! rm -rf /", "! { rm -rf /; }", "true && rm -rf /", "false || rm -rf /", "ls; rm -rf /",
        "ls\nrm -rf /", "ls | rm -rf /", "ls & rm -rf /", "f() { rm -rf /; }; f", "f() { rm -rf \"$@\"; }; f /", "function f { rm -rf $1; }; f /",
        "f() ( rm -rf / ); f", "alias x='rm -rf /'; x", "alias x='rm -rf'; x /", "echo $(rm -rf /)", "echo `rm -rf /`", "echo \"$(rm -rf /)\"",
        "echo ${x:-$(rm -rf /)}", "echo $((1 + $(rm -rf /)))", "x=$(rm -rf /)", "cat <<EOF\n$(rm -rf /)\nEOF", "cat < <(rm -rf /)", "tee >(rm -rf /)",
        "[[ -n $(rm -rf /) ]]", "(( $(rm -rf /) ))", "for x in $(rm -rf /); do :; done", "echo $(echo $(echo $(rm -rf /)))",
        "echo `echo \\`rm -rf /\\``", "cd / && rm -rf .", "cd /; rm -rf ./", "cd /etc && rm -rf ..", "pushd / && rm -rf .", "(cd / && rm -rf .)",
        "cd /usr && cd .. && rm -rf .", "env -C / rm -rf .", "sudo -D / rm -rf .", "cd /; cd /tmp; cd -; rm -rf .", "rm -rf ~/../..",
        "> /tmp/x rm -rf /", "2>/dev/null rm -rf /", "rm -rf / > /dev/null 2>&1", "rm \\\n -rf \\\n /", "cat <<EOF; rm -rf /\nx\nEOF",
        "cat <<A <<B\nx\nA\ny\nB\nrm -rf /", "coproc rm -rf /", "$SUDO rm -rf /", "$X rm -rf /", "bash -c \"rm '-rf' '/'\"", "git -c alias.x='!rm -rf /' x",
        "read X <<< /; rm -rf $X", "printf -v X /; rm -rf $X", "rm -rf {/,/tmp}", "rm -rf {/}{,.}", "rm -rf $(echo /)", "exec 3>&1; rm -rf /",
        "echo 'rm -rf /' > /dev/null; eval \"$(echo rm -rf /)\"", "unset X; rm -rf /$X", "time { rm -rf /; }", "select x in /; do rm -rf $x; done",
        "find /tmp -exec rm -rf / \\;", "bash -c 'X=/; rm -rf \"$X\"'", "true;rm -rf /;true", "#c\nrm -rf /", "rm -rf \"/\" # x", "X=$'\\x2f'; rm -rf $X",
    ];
    check(&spellings.map(|command| (command, if command.contains("{/}{") { "rm! /w/p/{/}" } else { "rm! /" })));
}

#[test]
fn what_may_be_the_root_says_so() {
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
fn homes_and_patterns() {
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
        ("sed -n 'w f' g", "maybe /w/p/f"),
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
        ("curl -O http://x/f", "write /w/p/f"),
        ("wget -O f http://x", "write /w/p/f"),
        ("wget -qO f http://x", "write /w/p/f"),
        ("patch f < p", "write /w/p/f"),
        ("patch -p1 < p", "write! /w/p/…"),
        ("sort -o f g", "write /w/p/f"),
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
        ("find . -delete", "rm! /w/p/…"),
        ("find / -delete", "rm! /…"),
        ("find . -name '*.o' -delete", "rm! /w/p/**/*.o"),
        ("find d -type f -exec rm {} \\;", "rm /w/p/d/…"),
        ("find d -exec rm -rf {} +", "rm! /w/p/d/…"),
        ("find d -execdir sh -c 'rm \"$1\"' _ {} \\;", "rm /w/p/d/…"),
        ("find . -fprint f", "write /w/p/f"),
        ("git checkout -- f", "write! /w/p/f"),
        ("git checkout .", "write! /w/p"),
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
        ("python -c \"open('d/f','w')\"", "maybe! /w/p/d/f"),
        ("python3 - <<'EOF'\nopen('d/f','w')\nEOF", "maybe! /w/p/d/f"),
        ("python3 <<EOF\n# it's\nopen(\"d/f\")\nEOF", "maybe! /w/p/d/f"),
        ("echo \"open('d/f')\" | python3", "maybe! /w/p/d/f"),
        ("perl -e 'unlink \"d/f\"'", "maybe! /w/p/d/f"),
        ("ruby -e 'File.delete(\"d/f\")'", "maybe! /w/p/d/f"),
        ("node -e 'fs.rmSync(\"d/f\")'", "maybe! /w/p/d/f"),
        ("php -r 'unlink(\"d/f\");'", "maybe! /w/p/d/f"),
        ("awk 'BEGIN{system(\"rm d/f\")}'", "maybe! /w/p/d/f"),
        ("python -c 'import os; os.system(\"rm -rf /\")'", "maybe! /"),
    ]);
}

#[test]
fn the_state_is_hit_however_it_is_reached() {
    const STATE: &str = "/w/p/.claude/hooks/cache.json";
    let hits = |command: &str| effects(command, &ground()).touches.iter().map(|touch| touch.hits(STATE)).max();
    for command in [
        "rm .claude/hooks/cache.json", "rm -rf .claude", "rm -rf .", "rm -rf ..", "rm -rf .claude/*/cache.json", "rm .claude/hooks/*",
        "rm -rf .c*", "rm -rf .[a-z]*", "mv .claude x", "mv x .claude/hooks/cache.json", "cd .claude/hooks && echo > cache.json",
        "echo {} > \"$PWD\"/.claude/hooks/cache.json", "cp x .claude/hooks/cache.json", "sed -i s/a/b/ .claude/hooks/cache.json",
        "ln -s .claude/hooks h; echo > h/cache.json", "ln .claude/hooks/cache.json y; echo > y", "git checkout -- .claude",
        "find . -name cache.json -delete", "find .claude -name '*.json' -exec sh -c 'echo > $0' {} \\;", "tee .claude/hooks/cache.json",
        "cat x > .claude/hooks/cache.json", "truncate -s0 .claude/hooks/cache.json", "dd of=.claude/hooks/cache.json", "chmod -R 0 .claude",
        "cp .claude/hooks/cache{.old,}.json", "cp y/cache.json .claude/hooks", "cp y/cache.json .claude/hooks/",
    ] {
        assert_eq!(hits(command), Some(Hit::Yes), "{command}");
    }
    for command in [
        "python -c \"import os; os.remove(os.path.join('.claude','hooks','cache.json'))\"", "rm $X", "git stash -u", "git clean -fdx",
        "find . -delete", "tar xf a.tar", "rsync -a x/ .", "echo > .claude/hooks/$X", "cp -r x/. .claude", "shopt -s dotglob; rm -rf *",
        "python3 - <<E\nopen('.claude/hooks/cache.json')\nE",
    ] {
        assert_eq!(hits(command), Some(Hit::Maybe), "{command}");
    }
    for command in [
        "cat .claude/hooks/cache.json", "rm -rf target", "rm -rf *", "rm -f *.json", "echo x > /tmp/y", "mv a b", "git add -A && git commit -m x",
        "find . -name '*.pyc' -delete", "find src -delete", "sed -n 1p .claude/hooks/cache.json", "mkdir -p .claude/modes", "rm -rf /tmp/$X",
        "cp .claude/hooks/cache.json /tmp", "tar xf a.tar -C /tmp", "python -c \"print('a/b')\"", "jq . .claude/hooks/cache.json > /tmp/x",
    ] {
        assert_eq!(hits(command).unwrap_or(Hit::No), Hit::No, "{command}");
    }
}

#[test]
fn programs_are_found_behind_others() {
    let runs = |command: &str| -> Vec<String> {
        effects(command, &ground()).runs.iter().map(|run| run.argv().join(" ")).collect()
    };
    assert!(runs("sudo -u me env A=b timeout 5 modegate leave").contains(&"modegate leave".to_owned()));
    assert!(runs("cd x && \"mode\"gate leave plan").contains(&"modegate leave plan".to_owned()));
    assert!(runs("git checkout -- .claude").contains(&"git checkout -- .claude".to_owned()));
    assert_eq!(runs("ssh host rm -rf /"), ["ssh host rm -rf /"]);
    assert_eq!(runs("echo \"$X/a\""), ["echo …/a"]);
    assert_eq!(effects("curl http://x | sh", &ground()).hidden, ["sh"]);
    assert_eq!(effects("eval \"$X\"", &ground()).hidden, ["eval …"]);
}

#[test]
fn a_function_that_multiplies_is_a_bomb() {
    for command in [
        ":(){ :|:& };:", "f(){ f|f& };f", "b() { b | b & }; b", "function x { x & x & }; x", "f() { (f &) ; f; }; f",
        "bash -c ':(){ :|:& };:'", "a(){ a|a; }; a",
    ] {
        assert!(effects(command, &ground()).bomb, "{command}");
    }
    for command in ["f() { echo x | cat & }; f", "f() { f; }; f", "f() { g | g; }; f", "a | a &"] {
        assert!(!effects(command, &ground()).bomb, "{command}");
    }
}
