//! Text that tries to break the parser: a hang or a crash fails the test run.

use super::*;
use Unreadable::{TooDeep, TooManyCommands, TooMuchWork};

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
        ("true $_$_; ", "", 3_000),
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

/// Lines that would take seconds or hours if nothing limited the work, by the approximate number of their bytes.
fn endless_lines(bytes: usize) -> Vec<String> {
    let numbered = |first: &str, next: &dyn Fn(usize) -> String, last: &str| {
        let mut line = first.to_owned();
        let mut at = 0;
        while line.len() < bytes {
            at += 1;
            line.push_str(&next(at));
        }
        line + &last.replace('#', &at.to_string())
    };
    let nested = |depth: usize, open: &str, close: &str| {
        let filling = "a ".repeat(bytes / 2 / depth);
        (0..depth).fold("rm".to_owned(), |inner, _| format!("{open}{inner} {filling}{close}"))
    };
    vec![
        numbered("v0='x y';", &|at| format!("v{at}=\"$v{0} $v{0}\";", at - 1), "for i in $v#; do rm $v#; done"),
        numbered("f0() { rm a; };", &|at| format!("f{at}() {{ f{0}; f{0}; }};", at - 1), "f#"),
        numbered("", &|at| format!("if a; then v{at}=1; fi;"), ""),
        numbered("", &|at| format!("> f{at}; a | b;"), ""),
        nested(20, "echo $(", ")"),
        nested(20, "echo \"$(", ")\""),
        nested(10, "$(case x in a) echo $(", ");; esac)"),
        format!("echo $(case x in {} esac)", "a) b;; ".repeat(bytes / 7)),
        format!("rm {}", "{a,b,c,d}{1..9} ".repeat(bytes / 16)),
        format!("for i in {{1..200}}; do for j in {{1..200}}; do {} done; done", "rm $i$j;".repeat(bytes / 8)),
        "set -- \"$@\" a b c; ".repeat(bytes / 20),
        "x=(\"${x[@]}\" \"${x[@]}\" a);".repeat(bytes / 27),
        "find . -exec ".repeat(bytes / 13),
        format!("cd a; cd b; cd c; cd d; x {}", "> f ".repeat(bytes / 4)),
    ]
}

#[test]
fn lines_that_take_too_long_are_unreadable() {
    for line in endless_lines(60_000) {
        let effects = survives(&line);
        let begin: String = line.chars().take(60).collect();
        let why = effects.unreadable;
        assert!(matches!(why, Some(TooDeep | TooManyCommands(_) | TooMuchWork)), "{begin}: {why:?}");
    }
}

#[test]
fn long_everyday_lines_take_a_part_of_the_work() {
    let script = "if [ -n \"$(git status --porcelain)\" ]; then echo \"${x:-none}\" > out/$x.txt; fi\n";
    for line in [
        format!("cat > f.json <<'EOF'\n{}EOF\n", "  {\"a\": [1, {\"b\": \"it's (c)\"}]},\n".repeat(1_000)),
        format!("git commit -m \"$(cat <<'EOF'\n{}EOF\n)\"", "- a change (of two), `b` and $(c)\n".repeat(30)),
        format!("python3 - <<'EOF'\n{}EOF\n", "open('a/b.txt').read()  # it's (read)\n".repeat(800)),
        format!("rm -f {}", "src/some/folder/file.txt ".repeat(300)),
        script.repeat(60),
        format!("for d in {{1..50}}; do {} done", "mkdir -p a/$d; cp b c/$d; ".repeat(3)),
    ] {
        let effects = survives(&line);
        let begin: String = line.chars().take(60).collect();
        assert_eq!(effects.unreadable, None, "{begin}");
        let most = crate::work::MOST_WORK / 2;
        assert!(effects.work < most, "{begin}: {}", effects.work);
    }
}

#[test]
fn many_braces_are_read_as_they_are_written() {
    let line = format!("echo {} > f; x() {{ rm -rf /{{etc,usr}}; }}; x; {{ rm a{{1,2}}; }}", "a{b} ".repeat(200));
    let changes = changes(&line);
    for change in ["rm! /etc", "rm! /usr", "rm /w/p/a1", "rm /w/p/a2", "write /w/p/f"] {
        assert!(changes.iter().any(|own| own == change), "{change}: {changes:?}");
    }
}

#[test]
fn a_line_that_may_be_in_many_folders_may_be_in_any() {
    let branches: Vec<String> = (0..100).map(|number| format!("a) cd b{number};; ")).collect();
    let changes = changes(&format!("case x in {} esac; rm -r x", branches.concat()));
    assert!(changes.len() <= 18, "{}", changes.len());
    assert!(changes.contains(&"rm!? …".to_owned()), "{changes:?}");
}
