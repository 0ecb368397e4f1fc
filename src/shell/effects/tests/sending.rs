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
