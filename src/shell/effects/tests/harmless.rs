//! What must not be seen.

use super::*;

#[test]
fn text_and_reading_touch_nothing() {
    for command in [
        "echo \"rm -rf /\"", "echo 'rm -rf /'", "echo rm -rf /", "printf 'rm -rf /\\n'", "git commit -m \"rm -rf / is dangerous\"",
        "git commit -m \"$(cat <<'EOF'\nFix: don't rm -rf / (really)\n\nIt's `bad` $(not run)\nEOF\n)\"", "grep 'rm -rf /' x", "grep -r \"rm -rf\" .",
        "rg 'rm -rf /' src", "# rm -rf /", "ls # rm -rf /", "cat <<EOF\nrm -rf /\nEOF", "cat <<'EOF'\n$(rm -rf /)\nEOF", "git log --grep 'rm -rf /'",
        "cat /etc/passwd", "grep x < f", "git show HEAD:f", "git diff", "git status", "git log -p", "diff a b", "ls -la /", "head -5 /etc/hosts",
        "find . -name '*.rs'", "find / -type f -print", "wc -l f", "cargo test 2>&1 | tail -5", "cargo build > /dev/null 2>&1", "ls 2>/dev/null",
        "ssh host 'rm -rf /'", "ssh host rm -rf / ", "echo $((1<<2))", "echo $((4/2))", "[ -f x ] && echo y", "[[ a > b ]]", "[[ $x =~ ^a|b$ ]]", "(( a > b ))",
        "test -d /etc", "sed -n '1,5p' f", "sed 's/a/b/' f", "awk '{print $1}' f", "awk '$1 > 5' f", "perl -ne 'print' f", "jq '.a > 1' f",
        "python3 script.py", "python -m pytest tests/", "node server.js", "cat f | grep x | sort | uniq -c", "git stash list", "git clean -n", "tar tzf a.tgz",
        "unzip -l a.zip", "curl -s http://x/rm", "wget -qO- http://x", "curl -fsSL http://x -o -", "echo 'a > b'", "echo \"a > b\"", "echo a\\>b", "man rm",
        "which rm", "command -v rm", "type rm", "export PATH=$PATH:/x", "cd /tmp && ls", "read -r x", "true", "for i in 1 2; do echo $i; done", "docker run -v /:/x img rm -rf /x",
        "kubectl exec pod -- rm -rf /", "npm run build", "git checkout -b new", "git push --force", "git rm --cached f", "apt list | grep rm", "x=5", "set -euo pipefail",
        "alias x='rm -rf /'", "f() { rm -rf /; }", "while read -r l; do echo \"$l\"; done < f", "exec 3>&1", "echo x >&2", "ls |& cat", "time ls", "rsync -n a b",
        "python -c 'print(1/2)'", "python -c \"print('a/b'.split('/'))\" | grep -v maybe", "git restore --staged f", "rsync -a x host:/y",
        "echo 'it'\\''s'", "cat <<'A' | grep x\n> /etc/passwd\nA", "gh pr create --body \"$(cat <<'EOF'\n## It's > done\n- `rm -rf /`\nEOF\n)\"",
    ] {
        let changes: Vec<String> = touches(command).into_iter().filter(|touch| !touch.starts_with("maybe")).collect();
        assert!(changes.is_empty(), "{command}: {changes:?}");
    }
}

#[test]
fn ordinary_work_touches_what_it_says_and_no_more() {
    for (command, expected) in [
        ("rm -rf target", "rm! /w/p/target"),
        ("rm -f a.o b.o", "rm /w/p/a.o, rm /w/p/b.o"),
        ("mkdir -p a && cd a && touch b", "write /w/p/a, write /w/p/a/b"),
        ("cat > /tmp/x <<'EOF'\nrm -rf /\nEOF", "write /tmp/x"),
        ("echo 'rm -rf /' > clean.sh", "write /w/p/clean.sh"),
        ("cargo test > log 2>&1", "write /w/p/log"),
        ("chmod +x run.sh", "mode /w/p/run.sh"),
        ("sed -i 's|/|x|' f", "write /w/p/f"),
        ("rm \"$TMPDIR/x\"", "rm …/x"),
        ("tmp=$(mktemp -d); rm -rf \"$tmp\"", "rm! …"),
        ("dir=/tmp/x; rm -rf \"$dir\"/y", "rm! /tmp/x/y"),
        ("cd build || exit 1; rm -f x", "rm /w/p/build/x"),
        ("set -e; cd build; rm -f x", "rm /w/p/build/x"),
        ("if cd build; then rm -f x; fi", "rm /w/p/build/x, rm? /w/p/x"),
    ] {
        assert_eq!(touches(command).join(", "), expected, "{command}");
    }
}
