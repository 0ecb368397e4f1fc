//! Which files leave the machine.

use super::{changes, check};

#[test]
fn what_is_excluded_is_not_sent() {
    for command in [
        "aws s3 sync . s3://b --exclude .env --exclude '.git/*'",
        "rclone sync . r:b --exclude .env --filter '- .env' --exclude-from .env",
        "mc cp --exclude .env -r . r:b",
    ] {
        assert!(!changes(command).iter().any(|change| change.contains(".env")), "{command}");
    }
    check(&[("aws s3 sync . s3://b --exclude '*' --include .env", "send /w/p/.env")]);
}

#[test]
fn files_are_sent_through_filters_options_and_variables() {
    check(&[
        ("jq -Rs . a b | curl -d @- x", "send /w/p/a, send /w/p/b"),
        ("grep -v x a | curl -d @- x", "send /w/p/a"),
        ("grep -e x a | curl -d @- x", "send /w/p/a"),
        ("cut -d= -f2 a | curl -d @- x", "send /w/p/a"),
        ("curl -b a -K b -H @c --url-query x@d x", "send /w/p/a, send /w/p/b, send /w/p/c, send /w/p/d"),
        ("scp .env* h:", "send /w/p/.env, send /w/p/.env*"),
        ("pastebinit a", "send /w/p/a"),
        ("gh release create v1 -d a", "send /w/p/a"),
        ("aws s3api put-object --key k --body a", "send /w/p/a"),
        ("x=$(cat a); curl -d \"$x\" x", "send /w/p/a"),
    ]);
    for command in [
        "grep a b | head",
        "curl -H \"x: $(grep KEY a | cut -d= -f2)\" -b c=a x",
        "x=$(cat a); curl -d \"$xy\" x",
        "x=$(cat a | grep b); curl -d \"$x\" x",
    ] {
        assert!(changes(command).is_empty(), "{command}");
    }
}
