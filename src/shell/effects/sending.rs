//! Files whose content leaves the machine: as arguments, through a pipe, through `$(…)` or by `git add`.

use super::Effect;
use super::args::Args;
use super::walker::Walker;
use crate::shell::has_name;
use crate::shell::syntax::Redirection;
use crate::shell::word::ShellWord;

/// The most files of a pipe that are followed.
const MOST_FILES: usize = 64;
/// Programs that print the files they name, possibly in another form.
const READERS: &str = "cat tac nl head tail less more bat base64 gbase64 base32 xxd od hexdump gzip bzip2 xz zstd tar gtar \
    zip openssl gpg strings sort uniq dd";
/// Programs that send what they read.
const SENDERS: &str = "nc ncat netcat socat telnet ssh autossh mail mailx sendmail mutt ftp tftp sftp pastebinit dig \
    nslookup";
const CURL: &str = "-d --data --data-ascii --data-binary --data-urlencode --json -F --form -T --upload-file -H --header -X \
    --request -u --user -A --user-agent -e -b -c -o --output -D -m --max-time -w --cert --key --cacert -K --config -x \
    --proxy --connect-timeout --retry";
const SCP: &str = "-c -D -F -i -J -l -o -P -S -X";
/// Programs of services, with the options of their verbs that take a value.
const SERVICES: &str = "gh aws gcloud gsutil rclone s3cmd mc transfer croc wormhole";
const SERVICE: &str = "-d --desc -f --filename --profile --region --repo -R --title --notes -t --exclude --include --filter \
    --exclude-from --include-from --files-from --filter-from --exclude-if-present --rexclude --rinclude --config \
    --endpoint-url --acl --cache-control --content-type --storage-class --metadata --attr --newer-than --older-than \
    --transfers --checkers --bwlimit --log-file --log-level";
const RSYNC: &str = "-e --rsh --exclude --include --filter -f --files-from --log-file --exclude-from --include-from \
    --password-file -B --bwlimit";

impl Walker<'_> {
    /// Walks a command whose files do not flow into the commands after it.
    pub fn apart<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::take(&mut self.reads);
        let found = self.found.clone();
        let result = walk(self);
        self.found = found;
        let own = std::mem::replace(&mut self.reads, outer);
        self.has_read(&own);
        result
    }

    pub fn has_read(&mut self, files: &[ShellWord]) {
        let room = MOST_FILES.saturating_sub(self.reads.len());
        self.reads.extend(files.iter().take(room).cloned());
    }

    /// Records that these files and everything read so far is sent.
    pub fn send(&mut self, files: &[ShellWord], recursive: bool) {
        let read = self.reads.clone();
        self.change_all(Effect::Send, files.iter().filter(|file| !file.is("-")), recursive);
        self.change_all(Effect::Send, read.iter().filter(|file| !file.is("-")), false);
    }

    /// Records the files that a program reads or sends.
    pub fn sending(&mut self, name: &str, rest: &[ShellWord]) {
        match name {
            "curl" | "wget" | "http" | "https" | "xh" if is_local(rest) => {}
            "curl" => {
                let files = uploads(&Args::new(rest, CURL));
                self.send(&files, false);
            }
            "wget" => {
                let args = Args::new(rest, "--post-file --body-file --post-data --method --header -O -o -P");
                let files: Vec<ShellWord> = args.values("--post-file --body-file").cloned().collect();
                self.send(&files, false);
            }
            "http" | "https" | "xh" => {
                let files: Vec<ShellWord> = rest.iter().filter_map(after_at).collect();
                self.send(&files, false);
            }
            "scp" => self.copied(&Args::new(rest, SCP)),
            "rsync" => self.copied(&Args::new(rest, RSYNC)),
            "git" | "hub" => self.staged(rest),
            _ if has_name(SENDERS, name) => {
                let files: Vec<ShellWord> = Args::new(rest, "-a").values("-a").cloned().collect();
                self.send(if has_name("mutt mail mailx", name) { &files } else { &[] }, false);
            }
            _ if has_name(READERS, name) => {
                let operands = Args::new(rest, "-n -c -w -f -C").operands;
                let input = operands.iter().filter_map(|word| word.after("if="));
                let files: Vec<ShellWord> = input.chain(operands.iter().cloned()).collect();
                self.has_read(&files);
            }
            _ => self.uploaded(name, rest),
        }
    }

    /// `scp file… host:path`, and the same of `rsync`.
    fn copied(&mut self, args: &Args) {
        let Some((target, sources)) = args.operands.split_last() else { return };
        if is_remote(target) && !args.has("-n --dry-run") {
            let here: Vec<ShellWord> = sources.iter().filter(|source| !is_remote(source)).cloned().collect();
            let whole = args.has("-r -a --recursive --archive");
            self.send(&here, whole);
        }
    }

    /// `git add file`: what is staged by its name is meant to be pushed.
    fn staged(&mut self, rest: &[ShellWord]) {
        let (_, rest) = Args::leading(rest, "-C -c --git-dir --work-tree");
        if let Some((verb, rest)) = rest.split_first()
            && (verb.is("add") || verb.is("stage"))
        {
            let args = Args::new(rest, "--chmod --pathspec-from-file");
            let names = args.operands.iter().filter(|word| word.text().is_some() && !args.has("-n --dry-run"));
            let names: Vec<ShellWord> = names.cloned().collect();
            self.change_all(Effect::Send, &names, false);
        }
    }

    /// Programs of services with a verb that uploads.
    fn uploaded(&mut self, name: &str, rest: &[ShellWord]) {
        if !has_name(SERVICES, name) {
            return;
        }
        if name == "gh" {
            const FILES: &str = "-F --body-file --notes-file --field --input";
            let args = Args::new(rest, FILES);
            // `gh api -F name=@file`
            let given = args.values(FILES).map(|file| after_at(file).unwrap_or_else(|| file.clone()));
            let files: Vec<ShellWord> = given.collect();
            // What `gh secret set` reads stays secret.
            if !args.operands.first().is_some_and(|noun| noun.is("secret") || noun.is("auth")) {
                self.send(&files, false);
            }
        }
        let args = Args::new(rest, SERVICE);
        let mut operands = args.operands.iter();
        let mut verbs = |wanted: &[&str]| wanted.iter().all(|verb| operands.next().is_some_and(|word| word.is(verb)));
        let skipped = match name {
            "gh" if args.operands.first().is_some_and(|word| word.is("gist")) => {
                verbs(&["gist", "create"]).then_some(2)
            }
            "gh" => verbs(&["release", "upload"]).then_some(3),
            "aws" => (args.operands.first().is_some_and(|word| word.is("s3")) && args.operands.len() > 3).then_some(2),
            "gcloud" => verbs(&["storage", "cp"]).then_some(2),
            "gsutil" | "rclone" | "s3cmd" | "mc" => Some(1),
            "transfer" | "croc" | "wormhole" => Some(0),
            _ => None,
        };
        let Some(skipped) = skipped else { return };
        let files = args.operands.get(skipped..).unwrap_or_default();
        // `--exclude '*' --include .env` uploads what is included.
        let named = files.iter().filter(|file| !is_remote(file)).chain(args.values("--include"));
        let here: Vec<ShellWord> = named.cloned().collect();
        // A download has only its target here.
        if !files.first().is_some_and(is_remote) {
            self.send(&here, args.has("-r --recursive"));
        }
    }
}

/// Whether a redirection leads to another machine.
pub(super) fn to_another_machine(redirect: &Redirection) -> bool {
    ["/dev/tcp/", "/dev/udp/"].iter().any(|begin| redirect.target.starts_with(begin))
}

/// Whether a path is on another machine: `host:path`, `s3://bucket`.
fn is_remote(path: &ShellWord) -> bool {
    path.prefix().split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'))
}

/// Whether all addresses among the arguments are this machine's.
fn is_local(rest: &[ShellWord]) -> bool {
    const LOCAL: [&str; 4] = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"];
    let is_address = |text: &&String| text.contains("://") || LOCAL.iter().any(|host| text.starts_with(host));
    let host = |text: &String| text.split_once("://").map_or(text.clone(), |(_, host)| host.to_owned());
    let texts: Vec<String> = rest.iter().map(ShellWord::prefix).collect();
    let mut addresses = texts.iter().filter(is_address).map(host).peekable();
    addresses.peek().is_some() && addresses.all(|address| LOCAL.iter().any(|host| address.starts_with(host)))
}

/// The files that curl uploads: `-d @file`, `-F name=@file`, `-T file`.
fn uploads(args: &Args) -> Vec<ShellWord> {
    let data = args.values("-d --data --data-ascii --data-binary --data-urlencode --json -F --form");
    args.values("-T --upload-file").cloned().chain(data.filter_map(after_at)).collect()
}

/// The file in `@file`, `name@file`, `name=@file;type=text/plain`.
fn after_at(word: &ShellWord) -> Option<ShellWord> {
    let text = word.prefix();
    let (name, _) = text.split_once('@').or_else(|| text.split_once("=<").map(|(name, _)| (name, "")))?;
    let is_name = name.chars().all(|c| c.is_alphanumeric() || "_-.=[]".contains(c));
    let mark = if text.contains('@') { "@" } else { "=<" };
    let file = word.after(&format!("{name}{mark}")).filter(|_| is_name)?;
    match file.text().and_then(|text| text.split_once(';').map(|(file, _)| file.to_owned())) {
        Some(file) => Some(ShellWord::new(file)),
        None => Some(file),
    }
}
