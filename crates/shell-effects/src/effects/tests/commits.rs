//! What the line stages, and the messages of its commits.

use super::*;

/// The messages of a line's commits, with `…` for unknown text.
fn messages(command: &str) -> Vec<String> {
    let effects = effects(command, &context());
    assert_eq!(effects.unreadable, None, "{command}");
    let text = |message: &CommitMessage| match message {
        CommitMessage::Text(word) => word.filled("…"),
        CommitMessage::File(TargetPath::Known { path, .. }) => format!("file {path}"),
        CommitMessage::File(_) => "file …".to_owned(),
        CommitMessage::Editor => "editor".to_owned(),
        CommitMessage::Earlier => "earlier".to_owned(),
    };
    effects.commits.iter().map(text).collect()
}

#[track_caller]
fn check_messages(table: &[(&str, &[&str])]) {
    for (command, expected) in table {
        assert_eq!(messages(command), *expected, "{command}");
    }
}

#[test]
fn messages_are_found_wherever_they_are_written() {
    check_messages(&[
        ("git commit -m 'fix: x'", &["fix: x"]),
        ("git commit -m one -m two", &["one\n\ntwo"]),
        ("git commit -am one", &["one"]),
        ("git commit -mone", &["one"]),
        ("git commit --message=one", &["one"]),
        ("git commit --message one --no-verify", &["one"]),
        ("git add -A && git -C sub -c user.name=x commit -qm 'a b'", &["a b"]),
        ("sudo -u me git commit -m one", &["one"]),
        ("bash -c \"git commit -m 'one two'\"", &["one two"]),
        ("cd x && FOO=1 env BAR=2 git commit -m one; git commit -m two", &["one", "two"]),
        ("M=one; git commit -m \"$M\"", &["one"]),
        (
            "git commit -m \"$(cat <<'EOF'\nfix: it's \"done\"\n\nA body.\n\nCo-Authored-By: X <x@y.z>\nEOF\n)\"",
            &["fix: it's \"done\"\n\nA body.\n\nCo-Authored-By: X <x@y.z>"],
        ),
        ("git add a.py && git commit -m \"$(cat <<'EOF'\nfeat: a\nEOF\n)\" && git push", &["feat: a"]),
        ("git commit -F - <<EOF\none\nEOF", &["one\n"]),
        ("printf 'one' | git commit -F -", &["one"]),
        ("echo one > m.txt && git commit -F m.txt", &["one\n\n"]),
        ("git commit -F msg/m.txt", &["file /w/p/msg/m.txt"]),
        ("git -C sub commit --file=m.txt", &["file /w/p/sub/m.txt"]),
    ]);
}

#[test]
fn what_the_line_does_not_show_is_not_guessed() {
    check_messages(&[
        ("git commit", &["editor"]),
        ("git commit -a --amend", &["editor"]),
        ("git commit -e -m one", &["editor"]),
        ("git commit --amend --no-edit", &["earlier"]),
        ("git commit --fixup HEAD~1", &["earlier"]),
        ("git commit -C HEAD", &["earlier"]),
        ("git commit -m \"$MSG\"", &["…"]),
        ("git commit -m \"fix: $(date)\"", &["fix: …"]),
        ("git commit -F \"$f\"", &["file …"]),
        ("git commit --dry-run -m one", &[]),
        ("git log -m one; echo git commit -m two", &[]),
    ]);
}

/// What a line stages: `all`, `forced`, `tracked` and paths.
fn staged(command: &str) -> Vec<String> {
    let effects = effects(command, &context());
    assert_eq!(effects.unreadable, None, "{command}");
    let path = |path: &TargetPath| match path {
        TargetPath::Known { path, .. } => path.clone(),
        TargetPath::Below { prefix, .. } => format!("{prefix}…"),
        TargetPath::Unknown { .. } | TargetPath::Anywhere => "…".to_owned(),
    };
    let words = |staged: &StagedFiles| {
        let flags = [(staged.all, "all"), (staged.forced, "forced"), (staged.tracked, "tracked")];
        let flags = flags.into_iter().filter(|(is, _)| *is).map(|(_, word)| word.to_owned());
        flags.chain(staged.paths.iter().map(path)).collect::<Vec<_>>().join(" ")
    };
    effects.staged.iter().map(words).collect()
}

#[test]
fn what_is_staged_is_found() {
    let table: &[(&str, &[&str])] = &[
        ("git add -A", &["all"]),
        ("git add --all", &["all"]),
        ("git add .", &["all"]),
        ("git add ./", &["all"]),
        ("git add *", &["all"]),
        ("git add :/", &["all"]),
        ("git add /w/p", &["all"]),
        ("git -C sub add -A", &["all"]),
        ("git stage -A", &["all"]),
        ("git add -u", &["all tracked"]),
        ("git commit -am x", &["all tracked"]),
        ("git add -f .env", &["forced /w/p/.env"]),
        ("git add -Af", &["all forced"]),
        ("git add -A src", &["/w/p/src"]),
        ("cd src && git add a.rs ../b.rs", &["/w/p/src/a.rs /w/p/b.rs"]),
        ("git -C sub add a.rs", &["/w/p/sub/a.rs"]),
        ("git add :/src/a.rs", &["/w/p/src/a.rs"]),
        ("git add -- -A", &["/w/p/-A"]),
        ("git commit -m x a.rs", &["tracked /w/p/a.rs"]),
        ("git add \"$f\"", &["…"]),
        ("git add src/$f", &["/w/p/src/…"]),
        ("git add . ':!docs'", &["all"]),
        ("git add ':(glob)**/*.rs'", &["…"]),
        ("git add --pathspec-from-file=list", &["…"]),
        ("git add -n .", &[]),
        ("git commit -m 'git add -A'", &[]),
        ("git diff .", &[]),
    ];
    for (command, expected) in table {
        assert_eq!(staged(command), *expected, "{command}");
    }
}
