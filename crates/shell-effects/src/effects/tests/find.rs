//! What `find` removes.

use super::{changes, check};

#[test]
fn what_find_removes_follows_from_its_tests() {
    check(&[
        ("find . -delete", "rm! /w/p"),
        ("find . -type f -print -delete", "rm! /w/p"),
        ("find . -name '*.pyc' -not -path './x/*' -delete", "rm! /w/p/**/*.pyc"),
        ("find . \\( -name a -o -name b \\) -delete", "rm! /w/p/**/{a,b}"),
        ("find . -name a -o -name b -delete", "rm! /w/p/**/b"),
        ("find . -name a -delete -o -delete", "rm! /w/p/**/a, rm! /w/p"),
        ("find . -name a , -delete", "rm! /w/p"),
        ("find . ! -name a -delete", "rm! /w/p/…"),
        ("find . ! \\( -name a -o -name b \\) -delete", "rm! /w/p/…"),
        ("find . \\( -name a -o ! -name b \\) -delete", "rm! /w/p/…"),
        ("find . -name a $X -delete", "rm! /w/p/…"),
        ("find . -regex '.*a' -delete", "rm! /w/p/…"),
        ("find . -iname 'a1' -delete", "rm! /w/p/**/[aA]1"),
        ("find . -name '{a,b}' -delete", "rm! /w/p/…"),
        ("find . -name '*.py[co]' -delete", "rm! /w/p/**/*.py[co]"),
        ("find . \\( -name '[' -o -name a \\) -delete", "rm! /w/p/…"),
        ("find . \\( -name 'x\\' -o -name a \\) -delete", "rm! /w/p/…"),
        ("find . -path './build/*' -delete", "rm! /w/p/…"),
        ("find . -path './build/a*/c' -delete", "rm! /w/p/…"),
        ("find . -path '*/cache/*' -delete", "rm! /w/p/…"),
        ("find /a/cache -path '*/cache/*' -delete", "rm! /a/cache/…"),
        ("find /a/cache -path '*/*/cache/*' -delete", "rm! /a/cache/…"),
        ("find . -path ./.git -prune -o -name a -exec rm {} +", "rm /w/p/**/a"),
        ("find /a -name a -exec rm -r {} \\;", "rm! /a, rm! /a/**/a"),
        ("find . \\( -name a -o -name b \\) | xargs rm", "rm /w/p/**/{a,b}"),
        ("find -O3 -D tree -L /a -delete", "rm! /a"),
        ("find \"$X\" -delete", "rm! anywhere"),
        ("find \"$X/\" -delete", "rm! …/"),
        ("find . -name a \\) -delete", "rm! /w/p/**/a"),
    ]);
}

#[test]
fn what_rm_gets_from_find_is_removed_as_by_delete() {
    check(&[
        ("find . -type f | xargs rm", "rm! /w/p"),
        ("find . -type f -print0 | xargs -0 -I{} rm -f {}", "rm! /w/p"),
        ("find . -type f | tee list | sudo xargs rm", "rm! /w/p"),
        ("find . -size +5M | xargs rm", "rm! /w/p/…"),
        ("find a b -size +5M | xargs rm", "rm! /w/p/a/…, rm! /w/p/b/…"),
        ("find . -executable -type f | parallel rm", "rm! /w/p/…"),
        ("find . -type f -mmin -60 -exec rm {} +", "rm! /w/p/…"),
        ("find . -mmin -60 -exec sh -c 'rm \"$1\"' _ {} \\;", "rm! /w/p/…"),
        ("find . -name '*.pyc' | xargs rm", "rm! /w/p/**/*.pyc"),
        ("find \"$X\" | xargs rm -rf", "rm! anywhere"),
    ]);
    for command in [
        "find . -type f | wc -l; grep -rl x . | xargs rm",
        "find . -type f -empty | xargs rm",
        "find . -type f -exec grep -l rm {} +",
        "find . -type d -exec sh -c 'cd \"$1\" && rm -f *.tmp' _ {} \\;",
    ] {
        assert!(!changes(command).iter().any(|change| change.starts_with("rm! /w/p")), "{command}");
    }
}

#[test]
fn what_find_only_lists_is_not_removed() {
    let none: [String; 0] = [];
    for command in ["find \"$X\"", "find / -name a", "find . -empty -delete", "find \"$X\" -name a -delete"] {
        assert_eq!(changes(command), none, "{command}");
    }
}

#[test]
fn parentheses_without_end_hide_nothing() {
    for count in [51, 52, 20_000] {
        let open = "\\( ".repeat(count);
        let line = format!("find . {open} -name a -delete");
        assert_eq!(changes(&line).len(), 1, "{count}");
    }
    let nested = format!("find . {} -name a {} -delete", "\\( ".repeat(100), "\\) ".repeat(100));
    assert_eq!(changes(&nested), ["rm! /w/p/**/a"]);
}
