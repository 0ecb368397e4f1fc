//! Text that tries to break the parser: a hang or a crash fails the test run.

use super::*;

#[track_caller]
fn survives(text: &str) -> LineEffects {
    effects(text, &context())
}

#[test]
fn deep_nesting_is_unreadable() {
    for (open, close, times) in [
        ("(", ")", 100_000),
        ("(", ")", 30_000),
        ("$(", ")", 10_000),
        ("`", "`", 30_000),
        ("{ ", "; }", 10_000),
        ("${x:-", "}", 9_000),
        ("$((", "))", 9_000),
        ("\"$(", ")\"", 9_000),
        ("<(", ")", 9_000),
        ("if a; then ", "; fi", 3_000),
        ("a=(", ")", 9_000),
        ("[[ ( ", " ) ]]", 5_000),
        ("while a; do ", "; done", 3_000),
        ("case x in a) ", ";; esac", 3_000),
        ("eval '", "'", 9_000),
        ("f() ", "", 9_000),
        ("sudo ", "", 9_000),
        ("! ", "", 9_000),
        ("bash -c ", "", 5_000),
        ("{a,", "}", 9_000),
        ("$(", ")", 60),
        ("echo \"${x:-$(", ")}\"", 60),
        ("$[", "]", 9_000),
        ("\\", "", 60_000),
        ("<<E ", "", 9_000),
        ("x|", "", 30_000),
        ("x&&", "", 20_000),
        ("x;", "", 30_000),
        (">", "", 60_000),
        ("<<", "", 30_000),
        ("f()", "", 20_000),
        ("<<E\n", "", 12_000),
        ("[", "]", 30_000),
        ("${x:-'}'", "}", 6_000),
        ("$(case x in a) ", " ;; esac)", 50),
        ("{0..9}", "", 20),
        ("{a,b}{c,d}", "", 20),
        ("{1..999999999}", "", 3),
        ("xargs ", "", 9_000),
        ("a=$a$a;", "", 60),
        ("f() { f; f; }; f; ", "", 40),
        ("for i in 1 2 3 4 5 6 7 8 9; do ", "done;", 12),
        ("x=(\"${x[@]}\" \"${x[@]}\" a);", "", 40),
    ] {
        for text in [
            format!("{}rm{}", open.repeat(times), close.repeat(times)),
            format!("echo {}rm{}", open.repeat(times), close.repeat(times)),
            open.repeat(times),
        ] {
            survives(&text);
        }
    }
}

#[test]
fn text_beyond_a_limit_is_unreadable() {
    let unreadable_text = |text: &str| survives(text).unreadable.is_some();
    assert!(unreadable_text(&"x".repeat(70_000)));
    assert!(unreadable_text(&format!("echo {}a{}", "$(".repeat(10_000), ")".repeat(10_000))));
    assert!(unreadable_text(&format!("{}a{}", "(".repeat(100_000), ")".repeat(100_000))));
    assert!(
        unreadable_text("echo 'unended")
            && unreadable_text("rm -rf (")
            && unreadable_text("a\0b")
            && unreadable_text("echo $(rm")
    );
    // Bash calls a line before it reads the next.
    for text in
        ["rm -rf /\necho 'unended", "rm -rf /\n(\nls", "ls\nrm -rf /\nfi\nls", "rm -rf /\nls\nls\n\"\nls\nls\nls\n"]
    {
        let effects = survives(text);
        assert!(
            effects.unreadable.is_some() && effects.changes.iter().any(|change| short(change) == "rm! /"),
            "{text}"
        );
    }
    assert!(!unreadable_text(&format!("cat > f <<'EOF'\n{}EOF\n", "a (b) {c} [d] it's;\n".repeat(2_000))));
}

#[test]
fn fragments_and_noise_do_not_panic() {
    let commands = [
        "cd x && cargo test --all 2>&1 | tail -5",
        "rm -rf \"${X:-$(echo /)}\"/{a,b}*",
        "cat <<EOF | bash\nrm $(echo x) `y`\nEOF\n",
        "f(){ f|f& };f",
        "for i in {1..3}; do echo $((i+1)) > $i; done",
        "case $x in a|b) y;; *) z;; esac",
        "find . -name '*.x' -exec rm {} \\; -o -delete",
        "[[ $a =~ ^(b|c)$ ]] && é=ü",
        "bash -c 'python3 - <<E\nopen(\"x/y\")\nE'",
        "git -C d checkout -- 'a b' $'\\x41\\u00e9'",
        "x=(a \"b c\" $(d)); echo \"${x[@]:1:2}\" ${x/a/b} ${!x} ~/x",
    ];
    for command in commands {
        let ends: Vec<usize> = command.char_indices().map(|(at, _)| at).collect();
        for at in &ends {
            survives(&command[..*at]);
            survives(&command[*at..]);
        }
    }
    // A small generator: the same noise each time.
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed >> 33).unwrap() % below
    };
    let marks: Vec<char> = "$(){}[]<>|&;'\"`\\ \n*?~!#=ab/.-:é\u{f8ff}".chars().collect();
    for _ in 0..3_000 {
        let length = next(60);
        let text: String = (0..length).map(|_| marks[next(marks.len())]).collect();
        survives(&text);
    }
}

#[test]
fn a_word_that_doubles_itself_is_limited() {
    let doubled = format!("a=x; {} rm -rf $a", "a=$a$a; ".repeat(40));
    let looped = format!("s=x; for i in {}; do s=$s$s; done; rm -rf $s", "w ".repeat(36));
    // Expanding these words would not end.
    for line in [doubled, looped] {
        assert!(!effects(&line, &context()).changes.is_empty());
    }
}

#[test]
fn eval_with_many_words_is_still_parsed() {
    let effects = survives(&format!("eval rm -rf /{}", " *".repeat(1_500)));
    let removes_root = effects.changes.iter().any(|change| change.hits("/").is_some());
    assert!(removes_root || effects.unreadable.is_some());
}
