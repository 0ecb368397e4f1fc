//! Secrets in a text, recognised by how they look and by what stands in front of them.

use std::borrow::Cow;
use std::ops::Range;

use super::MASK;
use super::scan::SecretScanner;

/// A text with its secrets masked.
pub(super) fn masked(text: &str) -> Cow<'_, str> {
    let secrets = secrets(text);
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut masked = String::with_capacity(text.len());
    let mut done = 0;
    for secret in secrets {
        // Two that overlap are masked as one.
        if secret.start >= done {
            masked.push_str(text.get(done..secret.start).unwrap_or_default());
            masked.push_str(MASK);
        }
        done = done.max(secret.end);
    }
    masked.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(masked)
}

/// The secrets of a text, by where they begin.
pub(super) fn secrets(text: &str) -> Vec<Range<usize>> {
    let scan = SecretScanner::new(text);
    let mut secrets: Vec<Range<usize>> = Vec::new();
    let mut before = b' ';
    for (at, byte) in text.bytes().enumerate() {
        // Inside a secret nothing else begins, though between a name and its value something may.
        let within = secrets.last().is_some_and(|last| last.contains(&at));
        secrets.extend(match byte {
            _ if within => None,
            b'=' | b':' => scan.assigned(at),
            b'-' if before != b'-' => scan.dashed(at),
            b's' | b'g' | b'x' | b'A' | b'e' | b'n' | b'h' | b'p' | b'w' | b'd' if !before.is_ascii_alphanumeric() => {
                scan.token(at)
            }
            _ => None,
        });
        before = byte;
    }
    secrets.sort_unstable_by_key(|secret| secret.start);
    secrets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_masked_and_the_rest_is_kept() {
        for (text, expected) in [
            ("key sk-ant-api03-abcDEF_123-xyz.", "key [masked]."),
            ("OPENAI sk-proj-Ab12Cd34Ef56Gh78_x", "OPENAI [masked]"),
            ("(sk-abcdefghijklmnopqrstuvwx)", "([masked])"),
            ("ghp_0123456789abcdefABCDEF0123456789abcd ä", "[masked] ä"),
            ("github_pat_11ABCDEFG0123456789_abc", "[masked]"),
            ("ä glpat-abcdefghij0123456789", "ä [masked]"),
            ("xoxb-1234567890-abc, xoxp-1234567890-abc", "[masked], [masked]"),
            ("id AKIAIOSFODNN7EXAMPLE, ASIAIOSFODNN7EXAMPLE", "id [masked], [masked]"),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl", "[masked]"),
            ("AIzaSyA-0123456789abcdefghijklmnopqrs_", "[masked]"),
            ("npm_abcdefghijklmnopqrstuvwxyz0123456789", "[masked]"),
            ("hf_abcdefghijklmnop0123, pypi-abcdefghijklmnop0123", "[masked], [masked]"),
            ("passphrase=abc Passwort: geheim12", "passphrase=[masked] Passwort: [masked]"),
            ("curl -H 'Authorization: Bearer abc.def' x", "curl -H 'Authorization: Bearer [masked]' x"),
            ("authorization: basic dXNlcjpwYXNz\nnext", "authorization: basic [masked]\nnext"),
            ("{'Authorization': 'Bearer abc'}", "{'Authorization': 'Bearer [masked]'}"),
            ("password=hunter2 x", "password=[masked] x"),
            ("?a=1&access_token=abc&b=2", "?a=1&access_token=[masked]&b=2"),
            ("export API_KEY='a b' x", "export API_KEY='[masked]' x"),
            ("DB_PASSWORD=\"p\\\"q\" x", "DB_PASSWORD=\"[masked]\" x"),
            ("{\"api-key\": \"abc\", \"n\": 1}", "{\"api-key\": \"[masked]\", \"n\": 1}"),
            (
                "-d \"{\\\"password\\\": \\\"abc\\\", \\\"n\\\": 1}\"",
                "-d \"{\\\"password\\\": \\\"[masked]\\\", \\\"n\\\": 1}\"",
            ),
            ("password: hunter2, then", "password: [masked], then"),
            ("  password: correcthorse\n  user: me", "  password: [masked]\n  user: me"),
            ("token: abc", "token: [masked]"),
            ("secret = \"abc\"", "secret = \"[masked]\""),
            ("'secret' => 'abc',", "'secret' => '[masked]',"),
            ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_secret_access_key = [masked]"),
            ("login --user me --password pä55 --x", "login --user me --password [masked] --x"),
            ("login --token 'a b'", "login --token '[masked]'"),
            ("login --api-key=abc -v", "login --api-key=[masked] -v"),
            ("https://user:pa:ss@host/x?y", "https://user:[masked]@host/x?y"),
            ("https://ghp_0123456789abcdef01:x@host", "https://[masked]:[masked]@host"),
            ("password=a(b1 x", "password=[masked] x"),
            ("secret=/a/b x", "secret=[masked] x"),
            ("password=token=abc x", "password=[masked] x"),
            ("password=\"my token: \" and more1 \"x\"", "password=\"[masked]\" and more1 \"x\""),
            ("https://0123456789abcdef0123456789@host", "https://[masked]@host"),
            ("-----BEGIN RSA PRIVATE KEY-----\nab\n-----END RSA PRIVATE KEY-----\nx", "[masked]\nx"),
            ("a -----BEGIN PRIVATE KEY-----\nab", "a [masked]"),
        ] {
            assert_eq!(masked(text), expected, "{text}");
            assert_eq!(masked(expected), expected, "masked twice");
        }
    }

    #[test]
    fn ordinary_text_survives() {
        for text in [
            "",
            "The secret: be kind. A token is a piece of text; the password policy was changed: see below.",
            "Pass --token to the tool, or --password and so on. Cookie: a small file.",
            "let token = lexer.next_token(); if token == other { secret::reveal(token) }",
            "fn login(password: &str, token: Option<String>, secret: [u8; 32]) -> Token;",
            "struct A {\n    token: Token,\n    pub secret: String,\n}\ntoken: string\ntoken?: string;",
            "token = tokens[i]\ncall(token=token, password=read_password())\nfor token in tokens: print(token)",
            "match kind { Kind::Token => parse(), Kind::Secret => {} }",
            "git show 9fceb02d0ae598e95dc970b74767f19372d61af8 8bbcceab-0b3e-4e24-98c9-ec146b1ca8c6",
            "/home/u/ask-me/task-1234567890abcdef/disk-0123456789abcdef.md sk-learn sk-some-kebab-name-2024",
            "https://example.com:8080/a?b=c#d ssh://git@github.com/a/b http://[::1]:80 git@github.com:a/b.git",
            "max_tokens=5 context_tokens: 25613 input_tokens = 100000",
            "TOKEN=$TOKEN PASSWORD=${PASSWORD} SECRET=$(pass show x) --token $TOKEN \"$TOKEN\"",
            "-H \"Authorization: Bearer $TOKEN\" {'Authorization': 'Bearer ${TOKEN}'}",
            "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
            "python why which dc hf_short pypi-server whsec xapp sharp shpat_x; a passphrase is a long password",
            "npm_config_registry_of_the_whole_wide_world ghp_short ASIA and AKIA eyJust.a.word",
            "-- comment --- --------- a == b; x := y; 12:30:05; {\"a\": \"b\"} [masked]",
            "toolu_015R8tPjv7FUHuW6MDJj8HpT claude-haiku-4-5-20251001 é: ü = ß -- ẞ",
            "password=",
            "token:",
            "--secret",
            "://@",
            "https://:@",
            "=",
            "\"secret\": \"\"",
        ] {
            assert!(matches!(masked(text), Cow::Borrowed(_)), "{}", masked(text));
        }
    }

    #[test]
    fn no_text_takes_long() {
        for piece in [
            "sk-",
            "eyJ-",
            "password=",
            "token: \"",
            "token=$A",
            "token=(",
            "-----BEGIN ",
            "://",
            "--token ",
            "a=",
            "é:",
            "\\\"",
            "AKIA ",
        ] {
            let text = piece.repeat(16 * 1024 / piece.len());
            let begun = std::time::Instant::now();
            let _ = masked(&text);
            assert!(begun.elapsed() < std::time::Duration::from_secs(2), "{piece} {:?}", begun.elapsed());
        }
    }
}
