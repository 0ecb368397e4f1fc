//! Replaces the folders, names and email addresses of a machine and its user by neutral ones.

use super::{MaskCounts, MaskLevel, replace, whole_word};
use crate::host::paths::transcript_folder;
use crate::policy::mode::EMBEDDED;
use regex::{Captures, Regex};
use std::sync::LazyLock;

const HOME: &str = "/home/user";
const PROJECT: &str = "/home/user/project";
const COMMON: &str = "root user admin runner ubuntu debian node app dev test tests build vscode codespace localhost home project \
    claude main agent master host code plan mode git src the and for you";

/// The folders and names of the machine that made a recording.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct MachineIdentity {
    pub(crate) projects: Vec<String>,
    pub(crate) homes: Vec<String>,
    pub(crate) user: Option<String>,
    pub(crate) host: Option<String>,
}

pub(super) struct IdentityMask {
    /// Folders with their replacements, the longest first.
    folders: Vec<(String, String)>,
    words: Vec<(String, &'static str)>,
}

static MAIL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"[A-Za-z0-9][A-Za-z0-9._%+-]*@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}",
    )
    .ok()
});
static HOMES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?P<root>/home/|/Users/|/-home-|/-Users-)(?P<name>[A-Za-z0-9][A-Za-z0-9._]*(?:-[A-Za-z0-9]+)*)").ok()
});
static WINDOWS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?P<root>(?i:[a-z]:|/[a-z]|/mnt/[a-z])[\\/]{1,4}(?i:users)[\\/]{1,4})(?P<name>[^\\/\s"'<>|:*?]+)"#)
        .ok()
});

impl IdentityMask {
    pub(super) fn new(identity: &MachineIdentity) -> Self {
        let mut folders = Vec::new();
        for (own, name) in [(&identity.projects, PROJECT), (&identity.homes, HOME)] {
            folders.extend(own.iter().flat_map(|folder| forms(folder, name)));
        }
        folders.sort_by_key(|(folder, _)| std::cmp::Reverse(folder.len()));
        folders.dedup();
        let user = identity.user.iter().map(|user| (user.as_str(), "user"));
        let hosts = identity.host.iter().flat_map(|host| [host.as_str(), host.split('.').next().unwrap_or_default()]);
        let words = user.chain(hosts.map(|host| (host, "host"))).filter(|(word, _)| is_identifying(word));
        let words = words.map(|(word, name)| (word.to_owned(), name)).collect();
        Self { folders, words }
    }

    pub(super) fn mask(&self, text: &str, level: MaskLevel, counts: &mut MaskCounts) -> String {
        let mut text = text.to_owned();
        if level == MaskLevel::Full && text.contains('@') {
            text = mails(&text, counts);
        }
        for (folder, name) in &self.folders {
            text = replace(&text, folder, name, whole_folder, &mut counts.paths);
        }
        for pattern in [&*HOMES, &*WINDOWS].into_iter().flatten() {
            text = homes(&text, pattern, counts);
        }
        if level == MaskLevel::Full {
            for (word, name) in &self.words {
                text = replace(&text, word, name, whole_word, &mut counts.names);
            }
        }
        text
    }
}

/// The ways in which a folder is written, with their replacements.
fn forms(folder: &str, name: &str) -> Vec<(String, String)> {
    let folder = folder.trim_end_matches(['/', '\\']);
    // The root folder belongs to nobody.
    if folder.len() < 4 {
        return Vec::new();
    }
    let mut forms = vec![folder.to_owned(), folder.replace(' ', "\\ "), folder.replace(' ', "%20")];
    if folder.contains('\\') {
        forms.extend([folder.replace('\\', "/"), folder.replace('\\', "\\\\")]);
    }
    forms.dedup();
    // The host names its folder of a project after the project's path.
    let slug = (transcript_folder(folder), transcript_folder(name));
    forms.into_iter().map(|form| (form, name.to_owned())).chain([slug]).collect()
}

fn is_identifying(name: &str) -> bool {
    let common = COMMON.split_whitespace().any(|word| word.eq_ignore_ascii_case(name));
    let known = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
    name.len() > 2 && !common && !EMBEDDED.iter().any(|(_, text)| known(text))
}

/// Whether a match is a whole folder and not the beginning of a longer name.
fn whole_folder(form: &str, before: Option<char>, after: Option<char>) -> bool {
    let is_slug = form.starts_with('-');
    let begins = before.is_none_or(|c| !c.is_alphanumeric());
    begins && after.is_none_or(|c| !c.is_alphanumeric() && c != '_' && (is_slug || c != '-'))
}

fn mails(text: &str, counts: &mut MaskCounts) -> String {
    const ANYONE: &str = "user@example.com";
    let Some(mail) = MAIL.as_ref() else { return text.to_owned() };
    let masked = |found: &Captures<'_>| {
        let whole = found.get(0).map_or("", |found| found.as_str());
        if whole.starts_with("git@") || whole.starts_with("noreply@") || whole.contains("@example.") {
            return whole.to_owned();
        }
        counts.mails += 1;
        ANYONE.to_owned()
    };
    mail.replace_all(text, masked).into_owned()
}

/// Replaces the folders of other users.
fn homes(text: &str, pattern: &Regex, counts: &mut MaskCounts) -> String {
    const NOBODY: [&str; 8] = ["user", "linuxbrew", "runner", "Shared", "Public", "Default", "me", "u"];
    let masked = |found: &Captures<'_>| {
        let part = |name: &str| found.name(name).map_or("", |found| found.as_str());
        let (root, name) = (part("root"), part("name"));
        // In a name made from a path, what follows the user belongs to the path.
        let (user, rest) = match name.split_once('-') {
            Some((user, rest)) if root.ends_with('-') => (user, format!("-{rest}")),
            _ => (name, String::new()),
        };
        if NOBODY.contains(&user) {
            return format!("{root}{name}");
        }
        counts.paths += 1;
        format!("{root}user{rest}")
    };
    pattern.replace_all(text, masked).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_masked_in_every_form() {
        let names = IdentityMask::new(&MachineIdentity {
            projects: vec![r"C:\Users\ann\my app".into()],
            homes: vec![r"C:\Users\ann".into()],
            ..MachineIdentity::default()
        });
        for (text, expected) in [
            (r"type C:\Users\ann\my app\x", r"type /home/user/project\x"),
            (r#"{"p": "C:\\Users\\ann\\my app\\x"}"#, r#"{"p": "/home/user/project\\x"}"#),
            ("C:/Users/ann/my app/x", "/home/user/project/x"),
            ("/c/Users/ann/x", "/c/Users/user/x"),
            (r"D:\Users\bob\x", r"D:\Users\user\x"),
            ("/home/anna", "/home/user"),
            ("/home/*", "/home/*"),
            ("C--Users-ann-my-app", "-home-user-project"),
        ] {
            assert_eq!(names.mask(text, MaskLevel::Full, &mut MaskCounts::default()), expected, "{text}");
        }
    }

    #[test]
    fn a_folder_is_not_replaced_inside_a_longer_name() {
        let names = IdentityMask::new(&MachineIdentity {
            projects: vec!["/srv/app".into()],
            homes: vec!["/".into()],
            ..MachineIdentity::default()
        });
        let masked = |text: &str| names.mask(text, MaskLevel::Full, &mut MaskCounts::default());
        assert_eq!(
            masked("/srv/app /srv/app/x /srv/application /mnt/srv/app"),
            "/home/user/project /home/user/project/x /srv/application /mnt/srv/app"
        );
    }

    #[test]
    fn text_that_only_looks_like_an_email_address_stays() {
        let names = IdentityMask::new(&MachineIdentity::default());
        for text in ["git@github.com:a/b.git", "pkg@1.2.3", "@scope/pkg", "gate@agent", "t@example.com"] {
            assert_eq!(names.mask(text, MaskLevel::Full, &mut MaskCounts::default()), text);
        }
    }
}
