//! The rules for secrets: names, prefixes of tokens, and patterns. What leaves the machine is also searched with the
//! names and patterns for exports, which take too long for every event.

use crate::values::TokenAlphabet::{self, Alphanumeric, Dotted, Word};
use crate::values::ValueFilter::{
    self, Any, Argument, Generated, MixedCase, NotNumber, NotPort, Password, Quoted, Random, Real, Value,
};

/// Names of secret values, compared without case, `-` and `_`, at the end of a name.
pub(crate) const SECRET_NAMES: [&str; 13] = [
    "password",
    "passwd",
    "passphrase",
    "passwort",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "authorization",
    "cookie",
    "credential",
    "credentials",
];

/// Further names of secret values, for exports only.
pub(crate) const EXPORT_NAMES: &str = "pass pwd kennwort passcode passwords secrets apikeys \
    privatekeyid secretkey cookies connectionstring otp authtoken signingkey";

/// Prefixes of tokens, by how many characters must follow, and which. Journal and exports use the same.
pub(crate) const TOKEN_PREFIXES: [(usize, TokenAlphabet, &str); 8] = [
    (8, Word, "sk_live_ sk_test_ rk_live_ rk_test_ sk-ant-"),
    (10, Word, "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-"),
    (
        16,
        Word,
        "ghp_ gho_ ghs_ ghu_ ghr_ github_pat_ glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- gloas- \
         hf_ pypi- whsec_ dckr_pat_ dckr_oat_",
    ),
    (
        20,
        Word,
        "ya29. GOCSPX- hvs. hvb. hvr. tgp_v1_ nvapi- lsv2_pt_ ATATT3 glsa_ shpat_ shpca_ shppa_ shpss_ sq0atp- sq0csp- \
         sntrys_ sntryu_ tskey-auth- tskey-api-",
    ),
    (30, Word, "AIza"),
    (20, Alphanumeric, "gsk_ xai- pplx- r8_ AGE-SECRET-KEY-1"),
    (30, Alphanumeric, "npm_"),
    (33, Dotted, "SG."),
];

/// The pattern of a shell word, with the blanks in its quotes; a quote that is not closed is a character like others.
macro_rules! word {
    () => {
        r#"((?:'[^'\n]*'|"[^"\n]*"|[^ \t\n;|&<>])+)"#
    };
}

/// Patterns for every event: the secret is in the last group that matches.
///
/// A pattern is compiled only for a text with one of its signs: compiling takes longer than the rest of the search.
pub(crate) const EVENT_PATTERNS: [(ValueFilter, &[&str], &str); 13] = [
    (Any, &["-----BEGIN "], r"-----BEGIN [A-Z0-9 ]{0,50}PRIVATE KEY[^-]{0,20}(?s:.*?)(?:-----END [^-]*-+|\z)"),
    (Any, &["eyJ"], r"(?:^|[^A-Za-z0-9])(eyJ[A-Za-z0-9_-]{7,}\.[A-Za-z0-9_-]{9,}\.[A-Za-z0-9_-]{8,})"),
    // `scheme://user:password@host`, or a user that is long enough to be a token.
    (Real, &["@"], r#"://[^\s/?#"'`<>\\:]*:([^\s/?#"'`<>\\]+)@"#),
    (Real, &["@"], r#"://([^\s/?#"'`<>\\:]{20,})@"#),
    // `-u user:password`; a number is a group.
    (
        NotNumber,
        &[" -u", " -U", "-user"],
        r#"(?:^|\s)(?:-u|-U|--user|--proxy-user)(?: +|=)(?:'[^\s:'/]+:([^'\n]+)|"[^\s:"/]+:([^"\n]+)|(?:'[^'\n:/]+'|"[^"\n:/]+"|[^\s:/-][^\s:/]*):((?:'[^'\n]*'|"[^"\n]*"|[^\s;|&<>])+))"#,
    ),
    (
        NotNumber,
        &["curl "],
        r#"(?:^|[^\w])curl [^\n;|&]*?\s-u['"]?[^\s:"'/-][^\s:"'/]*:((?:'[^'\n]*'|"[^"\n]*"|[^\s;|&<>])+)"#,
    ),
    (Real, &["mysql", "mariadb"], concat!(r"(?:^|[^\w])(?:mysql|mariadb)[a-z-]*\s(?:[^\n;|&]*?\s)?-p", word!())),
    (Real, &["sshpass "], concat!(r"(?:^|[^\w])sshpass\s(?:[^\n;|&]*?\s)??-p[ \t]*", word!())),
    (
        Real,
        &["login"],
        concat!(
            r"(?:^|[^\w])(?:docker|podman|helm|nerdctl|buildah|skopeo|oc|az)\s(?:[^\n;|&]*?\s)??login\s(?:[^\n;|&]*?\s)??-p[ \t]*",
            word!()
        ),
    ),
    (Real, &["redis-cli "], concat!(r"(?:^|[^\w])redis-cli\s(?:[^\n;|&]*?\s)??-a[ \t]+", word!())),
    (Real, &["<<<"], concat!(r"(?:\blogin|--with-token|-stdin)\s[^\n;|&<>]*?<<<[ \t]*", word!())),
    (Real, &["pass:"], concat!(r"\s-pass[a-z]*[ \t]+pass:", word!())),
    (Real, &["configure set "], concat!(r"(?:^|[^\w])aws\s+configure\s+set\s+aws_\w+\s+", word!())),
];

/// Patterns for exports only: the secret is in the last group that matches, or is the whole match.
pub(crate) const EXPORT_PATTERNS: &[(ValueFilter, &[&str])] = &[
    // Long words of mixed capitals, small letters and digits, such as cloud keys.
    (Random, &[r"[A-Za-z0-9+/_=-]{32,}"]),
    (
        Any,
        &[
            // Cloud providers.
            r"\b(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA|AGPA|ANPA)[A-Z0-9]{16}\b",
            r"\b1//0[\w-]{30,}",
            r"\b[\w~.-]{3}8Q~[\w~.-]{30,36}",
            r"(?i)\b(?:AccountKey|SharedAccessKey|SharedAccessSignature)=([A-Za-z0-9+/=%&. -]{20,}[A-Za-z0-9+/=%])",
            r"[?&](?:sig|X-Amz-Signature|X-Goog-Signature|Signature)=([\w%+/=-]{16,})",
            r"\bdo[opr]_v1_[0-9a-f]{32,}",
            r"\bdapi[0-9a-f]{32}\b",
            r"\bdp\.(?:pt|st|ct|sa)\.[\w.-]{20,}",
            // Code hosts and registries.
            r"\bATB?B[\w=-]{24,}",
            r"\bcio[A-Za-z0-9]{32}\b",
            r"\brubygems_[0-9a-f]{32,}",
            r"\boy2[a-z0-9]{43}\b",
            // Models.
            r"\bsk-(?:ant|proj|svcacct|admin|or|lf)-[\w-]{8,}",
            r"\b(?:gsk|r8|tgp_v1)_[A-Za-z0-9_-]{20,}",
            // Messaging, payment and other services.
            r"https://hooks\.slack\.com/(?:services|workflows|triggers)/([\w/-]{8,})",
            r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/(\d+/[\w-]+)",
            r"https://[\w-]+\.webhook\.office\.com/(\S{16,})",
            r"(?:\b|bot)\d{8,10}:AA[\w-]{32,}",
            r"\b[srp]k_(?:live|test)_\w{8,}",
            r"\bwhsec_[\w+/=-]{16,}",
            r"\b(?:SK|AC)[0-9a-f]{32}\b",
            r"\bkey-[0-9a-f]{32}\b",
            r"\b(?:glsa|figd|ntn|lin_api|sntrys|sntryu|phx|PMAK|dt0c01|NRAK|nvapi|sbp|tskey-auth|tskey-api|rnd|lsv2_pt)[_.-][\w.-]{20,}",
            // JSON web tokens; the last part may be empty.
            r"\beyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]*",
            r"Private-Lines: \d+\s+([A-Za-z0-9+/=\s]{16,})",
            r"\bb3BlbnNzaC1rZXktdjE[A-Za-z0-9+/=\s]{16,}",
            // Assignments: environment variables, settings files, connection strings.
            r#"(?i)\bidentified\s+(?:with\s+\S+\s+)?by\s+["']([^"'\n]+)"#,
            // Headers.
            r#"(?i)\b(?:set-)?cookie["']?:\s*["']?([^\s"'=;]+=[^"'\n\r]+)"#,
            r#"(?i)(?:\s|^)(?:-b|--cookie)[ =]["']?([\w.-]+=[^\s"']+)"#,
            // Command-line arguments.
            r#"(?i)\bsecurestring\s+(?:-string\s+)?["']([^"'\n]+)"#,
            // Sentences.
            r"(?i)\b(?:seed|recovery|mnemonic)(?:\s+phrase)?\s*(?:is|:|=)\s*([a-z]+(?:\s+[a-z]+){11,23})",
            r"(?i)\b(?:pin|otp|tan|passcode|(?:access|security|verification|2fa|mfa)[ -]code)\b(?:\s+code)?\s*(?:is|was|ist|lautet|:|=)\s*(\d{4,10})\b",
        ],
    ),
    (
        Value,
        &[
            // Assignments: environment variables, settings files, connection strings.
            r#"(?i)\b(?:[\w.-]*[_.-])?(?:password|passwd|passphrase|passwort|kennwort|secret|token|api_?key|access_?key|secret_?key|private_?key|credentials?)["']?\s*=\s*["']?([^\s"'`,;&|<>)]+)"#,
            r#"\b[A-Z0-9_]*(?:PASS|_PWD|_PSW|_PW|_PIN|_OTP)=["']?([^\s"'`;&|<>)]+)"#,
            r#"\b(?:[\w.-]*[_.-])?(?:pass|pwd|pw|psw)=["']?([^\s"'`;&|<>)]{4,})"#,
            r#"(?i)(?:password|passwd|secret|token|api_?key|access_?key)["']\]\s*=\s*["']([^"'\n]+)"#,
            r"(?i)<(?:[\w:]*[._-])?(?:password|passwd|secret|token|api-?key|access-?key)>\s*([^<\s]+)",
            r"(?m)^[\w.*-]+:(?:\d+|\*):[\w*-]+:[\w*-]+:(\S+)$",
            r"(?i)\blogin\s+\S+\s+(?:account\s+\S+\s+)?password\s+(\S+)",
            r"(?i)\bpassword\s+(\S+)\s+login\s+\S+",
            // Headers.
            r#"(?i)\bauthorization:\s*(?:bearer|basic|token|apikey)\s+([^\s"'`\\,;]+)"#,
            r#"(?i)\b(?:x-[\w-]*(?:token|key|auth|secret|signature)|api-key|apikey|private-token|deploy-token|job-token)["']?\s*:\s*["']?([^\s"'`\\,;]{4,})"#,
            // Command-line arguments.
            r#"\b(?:mysql|mysqldump|mysqladmin|mysqlimport|mysqlsh|mariadb|mariadb-dump|mariadb-admin)\b[^\n;|&]*?\s-p\s?["']?([^\s"'`;|&<>-][^\s"'`;|&<>]*)"#,
            r#"\b(?:https?|xhs?)\s[^\n;|&]*?-a\s*["']?[^\s:"'$/-][^\s:"'/]*:([^\s"'`;|&<>]+)"#,
            r#"\bsecret\s+set\b[^\n;|&]*?(?:--body|-b)[ =]["']?([^\s"'`;|&<>]+)"#,
            r#"\bmc\s+(?:alias|config\s+host)\s+(?:set|add)\s+\S+\s+\S+\s+\S+\s+["']?([^\s"'`;|&<>]+)"#,
            r#"\bchpasswd\s*<<<\s*["']?[\w.-]+:([^\s"'`;|&<>]+)"#,
            r#"\blftp\b[^\n;|&]*?-u\s*["']?[^\s,"']+,([^\s"'`;|&<>]+)"#,
            r#"\bsecurity\s+[\w-]*keychain\b[^\n;|&]*?\s-p\s*["']?([^\s"'`;|&<>]+)"#,
            r#"(?i)password-file[ =]<\(\s*(?:echo|printf)\s+["']?([^\s"'`;|&<>)]+)"#,
            r#"\bldap(?:search|add|modify|delete|whoami|passwd)\b[^\n;|&]*?\s-w\s*["']?([^\s"'`;|&<>]+)"#,
            r#"\b(?:smbclient|rpcclient|net)\b[^\n;|&]*?\s-U\s*["']?[^\s%"']+%([^\s"'`;|&<>]+)"#,
            r#"\b(?:7z|7za|7zz|rar|unrar)\b[^\n;|&]*?\s-p["']?([^\s"'`;|&<>]+)"#,
            r#"\b(?:zip|unzip)\b[^\n;|&]*?\s-P\s*["']?([^\s"'`;|&<>]+)"#,
            r#"\bopenssl\b[^\n;|&]*?\s-k\s+["']?([^\s"'`;|&<>]+)"#,
            r#"\bhtpasswd\s+(?:-\w+\s+)*?-\w*b\w*\s+(?:-\w+\s+)*(?:\S+\s+)?\S+\s+["']?([^\s"'`;|&<>]+)"#,
            r#"\b(?:echo|printf)\s+(?:-\w+\s+)*["']?([^\s"'`;|&<>]+)["']?\s*\|[^\n;]*?(?:--password-stdin|--with-token|--pass-stdin|sudo\s+-S|passwd|chpasswd|cryptsetup|--token-stdin)"#,
            r#"\becho\s+["']?[\w.-]+:([^\s"'`;|&<>]+)["']?\s*\|[^\n;]*?chpasswd"#,
            // Names with a colon, as in YAML and JSON.
            r#"(?i)\b(?:[\w.-]*[_.-])?(?:password|passwd|passphrase|passwort|kennwort|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|client[_-]?secret|pwd|pass|pw)\\?["']\s*:\s*\\?["']([^"'\\\n]+)"#,
        ],
    ),
    (
        Quoted,
        &[
            // Assignments: environment variables, settings files, connection strings.
            r#"(?i)\bpassword\s+["']([^"'\n]+)"#,
            // Names with a colon, as in YAML and JSON.
            r#"(?i)\b(?:pass|pw|pwd|secret\w*)\s*:\s*["'`]([^"'`\n]+)"#,
            // Sentences.
            r#"(?i)\b(?:secret|token|api[ -]?key|access[ -]?key)\s*(?:is|ist|lautet)\s*:?\s*["'`]([^"'`\n]{4,80})["'`]"#,
            r#"(?i)\b(?:\w+_)?(?:password|passwort|kennwort|passphrase|passcode|contraseña|mot de passe|senha|wachtwoord|pw|pwd|passwd)\b(?:\s+(?:for|of|to (?:the|my|our)|on|von|für|zum|zur|de|is for)\s+(?:the\s+|my\s+|den\s+|die\s+|das\s+)?[\w.@-]+){0,2}\s*(?:is|was|are|ist|war|lautet|es|est|to|auf|zu|=|:|->|=>|:=)?\s*["'`„“»]([^"'`“”«\n]{3,80})["'`“”«]"#,
        ],
    ),
    (
        MixedCase,
        &[
            // Assignments: environment variables, settings files, connection strings.
            r#"(?i)\b\w+_(?:access_key|secret_key|api_key|auth_token|token|secret|password)\s+["']?([^\s"'`;|&<>]+)"#,
            // Sentences.
            r#"(?i)\b(?:key|schlüssel|token|secret|api[ -]?key|pass)\b\s*(?:is|ist|lautet|=|:)?\s*["'`]?([^\s"'`,;]+)"#,
        ],
    ),
    (
        Generated,
        &[
            // Assignments: environment variables, settings files, connection strings.
            r#"\b[A-Z0-9_]*(?:_KEY|_AUTH|_SALT|_DSN|_PAT|_JWT|_CREDS)=["']?([^\s"'`;&|<>)]+)"#,
            // Headers.
            r#"(?i)\b(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token|digest|apikey|key|negotiate)\s+)?([^\s"'`\\,;]{6,})"#,
            r"(?i)\bbearer[:\s]\s*([\w.~+/=-]{8,})",
            r"(?i)\bbasic\s+([A-Za-z0-9+/]{8,}={0,2})",
            // Command-line arguments.
            r#"\bauth\b[^\n;|&]*?\s-t\s*["']?([^\s"'`;|&<>]+)"#,
            // Names with a colon, as in YAML and JSON.
            r#"\b[A-Z0-9_]+_KEY\s*:\s*["']?([^\s"'`,;]+)"#,
            r#"(?i)\b(?:\w*sess(?:ion)?_?id|connect\.sid)=([^\s"'`;&]{8,})"#,
            r"[?&](?:code|ticket|assertion|SAMLResponse)=([\w%.-]{12,})",
            // Sentences.
            r#"(?i)\blog(?:ged|ging)?[ -]?in\s+(?:with|as|using)\s+[\w.@-]+\s?[:/]\s?([^\s"'`,;]+)"#,
            r#"(?i)\b(?:api[ -]?key|access[ -]?key|secret(?: key)?|auth[ -]?token|token|access[ -]?code|licen[cs]e[ -]?key|credentials?|pass)\b(?:\s+(?:for|of|to|on|von|für|zum|zur)\s+(?:the\s+|my\s+)?[\w.@-]+){0,2}\s*(?:is|was|ist|war|lautet|=|->|=>|:=|:)\s*(?:now\s+|jetzt\s+)?["'`]?([^\s"'`,;]+)"#,
            r#"(?i)\b(?:credentials?|creds|logins?|zugangsdaten)\b\s*(?:are|is|sind|:|=)*\s*[\w.@-]+\s?[:/]\s?([^\s"'`,;]+)"#,
        ],
    ),
    (
        Password,
        &[
            // Assignments: environment variables, settings files, connection strings.
            r#"(?i)(?:^|[;\s"'])(?:pwd|password)\s*=\s*([^;\s"'`]+)"#,
            // Command-line arguments.
            r"(?i)\bnet\s+use\s[^\n;|&]*?(\S+)\s+/user:",
            r#"(?:^|\s)--?_?auth[ =]+["']?([^\s"'`;|&<>]+)"#,
            r#"(?i)\s/(?:p|pass|password)[: ]\s*["']?([^\s"'`;|&<>]+)"#,
            r#"\b(?:pass|gopass|op|bw|sudo|gh|docker|vault)\b[^\n;|&]*?<<<\s*["']?([^\s"'`;|&<>]+)"#,
            r#"\b(?:echo|printf)\s+(?:-\w+\s+)*["']?([^\s"'`;|&<>]+)["']?\s*>+\s*\S*(?:pass|secret|token|cred|passwd)\S*"#,
            r#"\bpass:([^\s"'`;|&<>]+)"#,
            r#"(?i)\b(?:setx?|put|add|create)\s+["']?[\w./:-]*(?:secret|password|passwd|token|api_?key|access_?key)[\w]*["']?\s+["']?([^\s"'`;|&<>]+)"#,
            // Names with a colon, as in YAML and JSON.
            r#"(?i)["']auth["']\s*:\s*["']([^"'\n]+)"#,
            // Sentences.
            r#"(?i)\b(?:log_?in|sign_?in|auth(?:enticate)?|connect)\(\s*["'][^"'\n]*["']\s*,\s*["']([^"'\n]+)"#,
            r#"(?i)([^\s"'`,;]{5,})["'`]?\s+(?:is|ist|was|war)\s+(?:the|my|your|our|das|mein|unser)\s+(?:\w+\s+)?(?:password|passwort|kennwort|passphrase|pw|token|secret|api[ -]?key)\b"#,
            r#"(?i)\b(?:\w+_)?(?:password|passwort|kennwort|passphrase|passcode|contraseña|mot de passe|senha|wachtwoord|pw|pwd|passwd)s?\b(?:\s+(?:for|of|to (?:the|my|our)|on|von|für|zum|zur|de)\s+(?:the\s+|my\s+|den\s+|die\s+|das\s+)?[\w.@-]+){0,2}\s*(?:is|was|ist|war|lautet|es|est|to|auf|zu|=|:|->|=>|:=)?\s*(?:(?:now|jetzt|still|changed|set|reset|updated|geändert|gesetzt)\s+)*(?:to\s+|auf\s+|zu\s+)?[:=]?\s*([^\s"'`,;]+)"#,
            r#"(?i)([^\s"'`,;]{5,})["'`]?\s+(?:as|als)\s+(?:the\s+|a\s+|my\s+|your\s+|das\s+|neues\s+|new\s+)*(?:password|passwort|kennwort|passphrase|token|secret|api[ -]?key)\b"#,
        ],
    ),
    (
        Argument,
        &[
            // Command-line arguments.
            r#"(?i)(?:^|\s)--?(?:[\w-]+[-_])?(?:password|passwd|pass|passphrase|token|secret|api-?key|access-?key|secret-?key|auth-?token|credentials?|pat|otp|pin)[ =]+["']?([^\s"'`;|&<>)]+)"#,
            r#"\bssh-keygen\b[^\n;|&]*?\s-[NP]\s*["']?([^\s"'`;|&<>]+)"#,
            r#"(?:^|\s)-\w*pass(?:word|wd)?[ =]+["']?([^\s"'`;|&<>]+)"#,
        ],
    ),
    (
        NotNumber,
        &[
            // Command-line arguments.
            r#"(?:^|\s)(?:-u|--user|--auth|--proxy-user|-U)\s*=?\s*["']?[^\s:"'$/-][^\s:"'/]*:([^\s"'`;|&<>]+)"#,
        ],
    ),
    (
        NotPort,
        &[
            // Command-line arguments.
            r#"\s(?:-u|-U|--user|--username)[ =]?\S+\s(?:[^\n;|&]*?\s)?-p\s*["']?([^\s"'`;|&<>-][^\s"'`;|&<>]*)"#,
        ],
    ),
];
