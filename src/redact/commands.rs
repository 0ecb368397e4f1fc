//! Finds secrets in command lines that only the command gives away: `curl -u`, `mysql -p`, `sshpass -p`.

use super::MASK;
use std::ops::Range;

/// Words that such a command line has; without one of them it is not looked at.
const SIGNS: [&str; 8] = [" -u", " -U", " -p", "-user", "<<<", "pass:", "configure set", " -a"];

/// The secrets that the commands in a text reveal.
pub(super) fn command_secrets(text: &str) -> Vec<Range<usize>> {
    let mut secrets = Vec::new();
    // Most texts are names and paths, which have none of these characters.
    let may_have_sign = text.bytes().any(|byte| matches!(byte, b' ' | b'-' | b'<' | b':'));
    if !may_have_sign || !SIGNS.iter().any(|sign| text.contains(sign)) {
        return secrets;
    }
    let mut command = ScannedCommand::default();
    let mut at = 0;
    while let Some(word) = next_word(text, at) {
        at = word.end.max(at + 1);
        if text.get(word.clone()).is_some_and(|word| matches!(word, ";" | "|" | "||" | "&&" | "&" | "\n")) {
            command = ScannedCommand::default();
            continue;
        }
        secrets.extend(command.secret(text, &word));
        command.add(text.get(word).unwrap_or_default());
    }
    secrets
}

/// The next word, with the blanks in its quotes, or the next sign between commands.
fn next_word(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_blank = |byte: u8| byte == b' ' || byte == b'\t' || byte == b'\r';
    let is_sign = |byte: u8| matches!(byte, b';' | b'|' | b'&' | b'\n');
    let start = from + bytes.get(from..)?.iter().position(|byte| !is_blank(*byte))?;
    let first = *bytes.get(start)?;
    if is_sign(first) {
        let same = bytes.get(start..)?.iter().take_while(|byte| **byte == first).take(2).count();
        return Some(start..start + if first == b'\n' { 1 } else { same });
    }
    let mut end = start;
    while let Some(&byte) = bytes.get(end).filter(|byte| !is_blank(**byte) && !is_sign(**byte)) {
        end += 1;
        if byte == b'"' || byte == b'\'' {
            let rest = bytes.get(end..).unwrap_or_default();
            let close = rest.iter().position(|other| *other == byte || *other == b'\n');
            end += close.filter(|close| rest.get(*close) == Some(&byte)).map_or(0, |close| close + 1);
        }
    }
    Some(start..end)
}

/// What was seen of a command.
#[derive(Default)]
struct ScannedCommand<'t> {
    program: &'t str,
    previous: &'t str,
    /// Whether it logs in to a registry.
    login: bool,
    /// Whether it reads a secret from standard input.
    from_input: bool,
    /// How many words it has.
    words: usize,
}

impl<'t> ScannedCommand<'t> {
    fn add(&mut self, word: &'t str) {
        let is_assignment = word.split('=').next().is_some_and(|name| word != name && !name.starts_with('-'));
        if self.program.is_empty() && !is_assignment && !matches!(word, "sudo" | "env" | "exec" | "time" | "command") {
            self.program = word.rsplit('/').next().unwrap_or(word);
        }
        self.login |= word == "login";
        self.from_input |= word == "login" || word == "--with-token" || word.ends_with("-stdin");
        self.previous = word;
        self.words += 1;
    }

    /// The secret in a word, if the words before it show that it is one.
    fn secret(&self, text: &str, word: &Range<usize>) -> Option<Range<usize>> {
        let own = text.get(word.clone())?;
        let takes_password = match self.program {
            "sshpass" => true,
            "docker" | "podman" | "helm" | "nerdctl" | "buildah" | "skopeo" | "oc" | "az" => self.login,
            _ => false,
        };
        let is_mysql = ["mysql", "mariadb"].iter().any(|name| self.program.starts_with(name));
        let attached = |length: usize| (own.len() > length).then_some(word.start + length..word.end);
        let found = match (self.previous, own) {
            ("-u" | "-U" | "--user" | "--proxy-user", _) => return after_colon(text, word.clone()),
            (_, own) if own.starts_with("--user=") => return after_colon(text, word.start + 7..word.end),
            (_, own) if own.starts_with("-u") && self.program == "curl" => {
                return after_colon(text, word.start + 2..word.end);
            }
            ("-p", _) if takes_password => word.clone(),
            (_, own) if own.starts_with("-p") && (takes_password || is_mysql) => attached(2)?,
            ("-a", _) if self.program == "redis-cli" => word.clone(),
            ("<<<", _) if self.from_input => word.clone(),
            (_, own) if own.starts_with("<<<") && self.from_input => attached(3)?,
            (_, own) if own.starts_with("pass:") && self.previous.starts_with("-pass") => attached(5)?,
            (name, _) if self.program == "aws" && name.starts_with("aws_") && self.words >= 4 => word.clone(),
            _ => return None,
        };
        Some(unquoted(text, found)).filter(|secret| is_real(text.get(secret.clone()).unwrap_or_default()))
    }
}

/// The password in `user:password`; a number is a group.
///
/// With quotes inside, as in `"user":"password"`, it is both: half of a pair would quote what follows.
fn after_colon(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let whole = unquoted(text, word);
    let (user, password) = text.get(whole.clone())?.split_once(':')?;
    let is_plain = !user.is_empty() && !user.contains('/') && !password.is_empty();
    let is_number = password.bytes().all(|byte| byte.is_ascii_digit());
    let is_secret = is_plain && !is_number && is_real(password.trim_start_matches(['"', '\'']));
    let start = if user.contains(['"', '\'']) { whole.start } else { whole.start + user.len() + 1 };
    is_secret.then_some(start..whole.end)
}

fn unquoted(text: &str, word: Range<usize>) -> Range<usize> {
    let own = text.get(word.clone()).unwrap_or_default();
    let is_quoted = own.len() > 1 && ["\"", "'"].iter().any(|quote| own.starts_with(quote) && own.ends_with(quote));
    if is_quoted { word.start + 1..word.end - 1 } else { word }
}

/// Whether a value is neither masked already nor a variable.
fn is_real(value: &str) -> bool {
    !value.is_empty() && !value.starts_with(['$', '-', '<', '(']) && !value.contains(MASK)
}

#[cfg(test)]
mod tests {
    use super::super::masked_text;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(masked_text(text), expected);
        assert_eq!(masked_text(expected), expected, "masked twice");
    }

    #[test]
    fn secrets_of_commands_are_masked() {
        check("curl -u ann:hunter2 https://x", "curl -u ann:[masked] https://x");
        check("curl -sS -uann:hunter2 https://x", "curl -sS -uann:[masked] https://x");
        check("curl --user 'ann:hunter 2' https://x", "curl --user 'ann:[masked]' https://x");
        check("curl --user=ann:hunter2 x", "curl --user=ann:[masked] x");
        check("curl -u \"ann\":\"hunter2\" x", "curl -u \"[masked]\" x");
        check("curl -u \"$USER\":\"hunter2\" x", "curl -u \"[masked]\" x");
        check("curl --user='<me>':'hunter2' x", "curl --user='[masked]' x");
        check("curl -u \"$USER:hunter2\" x", "curl -u \"$USER:[masked]\" x");
        check("curl -u \"ann\":\"$PASSWORD\" x", "curl -u \"ann\":\"$PASSWORD\" x");
        check("curl -u ann:'hunter 2'x y", "curl -u ann:[masked] y");
        check("mysql -uroot -phunter2 app", "mysql -uroot -p[masked] app");
        check("cd x && mysqldump -p'hunter 2' app | gzip", "cd x && mysqldump -p'[masked]' app | gzip");
        check("mysql --password=hunter2 app", "mysql --password=[masked] app");
        check("sshpass -p hunter2 ssh a@b", "sshpass -p [masked] ssh a@b");
        check("sudo sshpass -phunter2 scp x y", "sudo sshpass -p[masked] scp x y");
        check("PGPASSWORD=hunter2 psql -h db", "PGPASSWORD=[masked] psql -h db");
        check("docker login -u ann -p hunter2 registry", "docker login -u ann -p [masked] registry");
        check("gh auth login --with-token <<< hunter2", "gh auth login --with-token <<< [masked]");
        check("gh auth login --with-token <<<\"hunter2\"", "gh auth login --with-token <<<\"[masked]\"");
        check("openssl rsa -in k -passin pass:hunter2", "openssl rsa -in k -passin pass:[masked]");
        check("aws configure set aws_secret_access_key abc/def", "aws configure set aws_secret_access_key [masked]");
        check("redis-cli -a hunter2 ping", "redis-cli -a [masked] ping");
        check(
            "ansible-playbook x.yml --extra-vars 'db_password=hunter2'",
            "ansible-playbook x.yml --extra-vars 'db_password=[masked]'",
        );
        check("curl -H 'X-Api-Key: hunter2' x", "curl -H 'X-Api-Key: [masked]' x");
        check("x --token=hunter2 y", "x --token=[masked] y");
    }

    #[test]
    fn a_password_with_half_a_pair_of_quotes_does_not_change_the_words_after_it() {
        check("curl -u a\"nn:x y\"z -u t\"o 1:2 -b\"c d", "curl -u [masked] -u [masked] d");
    }

    #[test]
    fn a_mask_that_changes_the_quotes_shows_no_other_secret() {
        let text = "~t\"] }\n\" maMriadb1001 -p G080:80 -v ./x:/x imag~ run -u '0glsoat-00:1000 -esecr^t:'fak# The fileS\
            e*t0 -v ./x:/x imagr run -u '0glsoat-00:1000 -esecret:'fak# The fileSe*ttinfs1~~~44298t\"dommmmmmcker -rN ummm";
        let masked = masked_text(text);
        assert_eq!(masked_text(&masked), masked);
    }

    #[test]
    fn other_options_are_kept() {
        for text in [
            "docker run -u 1000:1000 -p 8080:80 image",
            "git push -u origin main",
            "mkdir -p src/a && ssh -p 2222 host",
            "mysql -p app < dump.sql",
            "curl -u \"$USER:$PASSWORD\" x",
            "grep -u a:b x; tar -p -xf y",
            "cat <<< hello",
            "bypass: none",
        ] {
            let kept = masked_text(text);
            assert!(kept == text || text.contains("$USER") || text.starts_with("grep"), "{kept}");
        }
    }
}
