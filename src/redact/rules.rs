//! The rules for secrets. The journal uses the names and token prefixes, and looks for PEM and JSON web tokens
//! (`scanner.rs`) and for passwords as arguments of programs (`commands.rs`). What is exported is also searched for the
//! export names and patterns, which cost too much for every event.

use super::shape::TokenAlphabet::{self, Alphanumeric, Dotted, Word};
use super::shape::ValueFilter::{
    self, Any, Argument, Generated, MixedCase, NotNumber, NotPort, Password, Quoted, Value,
};

/// Names of secret values, compared without case, `-` and `_`, at the end of a name.
pub(super) const SECRET_NAMES: [&str; 13] = [
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
pub(super) const EXPORT_NAMES: &str = "pass pwd kennwort passcode passwords secrets apikeys \
    privatekeyid secretkey cookies connectionstring otp authtoken signingkey";

/// Prefixes of tokens, by how many characters must follow, and which. Journal and exports use the same.
pub(super) const TOKEN_PREFIXES: [(usize, TokenAlphabet, &str); 8] = [
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

/// Expressions for exports only, by the filter for the secret in group `s`, or in the whole match.
pub(super) const EXPORT_PATTERNS: &[(ValueFilter, &[&str])] = &[
    (
        Any,
        &[
            // Cloud providers.
            r"\b(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA|AGPA|ANPA)[A-Z0-9]{16}\b",
            r"\b1//0[\w-]{30,}",
            r"\b[\w~.-]{3}8Q~[\w~.-]{30,36}",
            r"(?i)\b(?:AccountKey|SharedAccessKey|SharedAccessSignature)=(?P<s>[A-Za-z0-9+/=%&. -]{20,}[A-Za-z0-9+/=%])",
            r"[?&](?:sig|X-Amz-Signature|X-Goog-Signature|Signature)=(?P<s>[\w%+/=-]{16,})",
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
            r"https://hooks\.slack\.com/(?:services|workflows|triggers)/(?P<s>[\w/-]{8,})",
            r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/(?P<s>\d+/[\w-]+)",
            r"https://[\w-]+\.webhook\.office\.com/(?P<s>\S{16,})",
            r"(?:\b|bot)\d{8,10}:AA[\w-]{32,}",
            r"\b[srp]k_(?:live|test)_\w{8,}",
            r"\bwhsec_[\w+/=-]{16,}",
            r"\b(?:SK|AC)[0-9a-f]{32}\b",
            r"\bkey-[0-9a-f]{32}\b",
            r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
            r"\b(?:glsa|figd|ntn|lin_api|sntrys|sntryu|phx|PMAK|dt0c01|NRAK|nvapi|sbp|tskey-auth|tskey-api|rnd|lsv2_pt)[_.-][\w.-]{20,}",
            // JSON web tokens; the last part may be empty.
            r"\beyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]*",
            // Private keys, also with escaped line ends, also cut off.
            r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)",
            r"Private-Lines: \d+\s+(?P<s>[A-Za-z0-9+/=\s]{16,})",
            r"\bb3BlbnNzaC1rZXktdjE[A-Za-z0-9+/=\s]{16,}",
            // Assignments: environment variables, settings files, connection strings.
            r#"(?i)\bidentified\s+(?:with\s+\S+\s+)?by\s+["'](?P<s>[^"'\n]+)"#,
            // Headers.
            r#"(?i)\b(?:set-)?cookie["']?:\s*["']?(?P<s>[^\s"'=;]+=[^"'\n\r]+)"#,
            r#"(?i)(?:\s|^)(?:-b|--cookie)[ =]["']?(?P<s>[\w.-]+=[^\s"']+)"#,
            // Command-line arguments.
            r#"(?i)\bsecurestring\s+(?:-string\s+)?["'](?P<s>[^"'\n]+)"#,
            // Sentences.
            r"(?i)\b(?:seed|recovery|mnemonic)(?:\s+phrase)?\s*(?:is|:|=)\s*(?P<s>[a-z]+(?:\s+[a-z]+){11,23})",
            r"(?i)\b(?:pin|otp|tan|passcode|(?:access|security|verification|2fa|mfa)[ -]code)\b(?:\s+code)?\s*(?:is|was|ist|lautet|:|=)\s*(?P<s>\d{4,10})\b",
        ],
    ),
    (
        Value,
        &[
            // Assignments: environment variables, settings files, connection strings.
            r#"(?i)\b(?:[\w.-]*[_.-])?(?:password|passwd|passphrase|passwort|kennwort|secret|token|api_?key|access_?key|secret_?key|private_?key|credentials?)["']?\s*=\s*["']?(?P<s>[^\s"'`,;&|<>)]+)"#,
            r#"\b[A-Z0-9_]*(?:PASS|_PWD|_PSW|_PW|_PIN|_OTP)=["']?(?P<s>[^\s"'`;&|<>)]+)"#,
            r#"\b(?:[\w.-]*[_.-])?(?:pass|pwd|pw|psw)=["']?(?P<s>[^\s"'`;&|<>)]{4,})"#,
            r#"(?i)(?:password|passwd|secret|token|api_?key|access_?key)["']\]\s*=\s*["'](?P<s>[^"'\n]+)"#,
            r"(?i)<(?:[\w:]*[._-])?(?:password|passwd|secret|token|api-?key|access-?key)>\s*(?P<s>[^<\s]+)",
            r"(?m)^[\w.*-]+:(?:\d+|\*):[\w*-]+:[\w*-]+:(?P<s>\S+)$",
            r"(?i)\blogin\s+\S+\s+(?:account\s+\S+\s+)?password\s+(?P<s>\S+)",
            r"(?i)\bpassword\s+(?P<s>\S+)\s+login\s+\S+",
            // Headers.
            r#"(?i)\bauthorization:\s*(?:bearer|basic|token|apikey)\s+(?P<s>[^\s"'`\\,;]+)"#,
            r#"(?i)\b(?:x-[\w-]*(?:token|key|auth|secret|signature)|api-key|apikey|private-token|deploy-token|job-token)["']?\s*:\s*["']?(?P<s>[^\s"'`\\,;]{4,})"#,
            // URLs.
            r#"\b[a-zA-Z][\w+.-]*://[^\s/?#"'`@:]*:(?P<s>[^\s/?#"'`]+)@"#,
            // Command-line arguments.
            r#"\b(?:mysql|mysqldump|mysqladmin|mysqlimport|mysqlsh|mariadb|mariadb-dump|mariadb-admin)\b[^\n;|&]*?\s-p\s?["']?(?P<s>[^\s"'`;|&<>-][^\s"'`;|&<>]*)"#,
            r#"\b(?:https?|xhs?)\s[^\n;|&]*?-a\s*["']?[^\s:"'$/-][^\s:"'/]*:(?P<s>[^\s"'`;|&<>]+)"#,
            r#"\bsecret\s+set\b[^\n;|&]*?(?:--body|-b)[ =]["']?(?P<s>[^\s"'`;|&<>]+)"#,
            r#"\bmc\s+(?:alias|config\s+host)\s+(?:set|add)\s+\S+\s+\S+\s+\S+\s+["']?(?P<s>[^\s"'`;|&<>]+)"#,
            r#"\bchpasswd\s*<<<\s*["']?[\w.-]+:(?P<s>[^\s"'`;|&<>]+)"#,
            r#"\blftp\b[^\n;|&]*?-u\s*["']?[^\s,"']+,(?P<s>[^\s"'`;|&<>]+)"#,
            r#"\bsecurity\s+[\w-]*keychain\b[^\n;|&]*?\s-p\s*["']?(?P<s>[^\s"'`;|&<>]+)"#,
            r#"(?i)password-file[ =]<\(\s*(?:echo|printf)\s+["']?(?P<s>[^\s"'`;|&<>)]+)"#,
            r#"\bsshpass\s+(?:-\w\s+)*?-p\s*["']?(?P<s>[^\s"'`]+)"#,
            r#"\b(?:docker|podman|helm|nerdctl|az|oc|buildah|skopeo)\b[^\n;|&]*?\blogin\b[^\n;|&]*?\s-p\s*["']?(?P<s>[^\s"'`;|&<>-][^\s"'`;|&<>]*)"#,
            r#"\bredis-cli\b[^\n;|&]*?\s-a\s*["']?(?P<s>[^\s"'`;|&<>]+)"#,
            r#"\bldap(?:search|add|modify|delete|whoami|passwd)\b[^\n;|&]*?\s-w\s*["']?(?P<s>[^\s"'`;|&<>]+)"#,
            r#"\b(?:smbclient|rpcclient|net)\b[^\n;|&]*?\s-U\s*["']?[^\s%"']+%(?P<s>[^\s"'`;|&<>]+)"#,
            r#"\b(?:7z|7za|7zz|rar|unrar)\b[^\n;|&]*?\s-p["']?(?P<s>[^\s"'`;|&<>]+)"#,
            r#"\b(?:zip|unzip)\b[^\n;|&]*?\s-P\s*["']?(?P<s>[^\s"'`;|&<>]+)"#,
            r#"\bopenssl\b[^\n;|&]*?\s-k\s+["']?(?P<s>[^\s"'`;|&<>]+)"#,
            r#"\bhtpasswd\s+(?:-\w+\s+)*?-\w*b\w*\s+(?:-\w+\s+)*(?:\S+\s+)?\S+\s+["']?(?P<s>[^\s"'`;|&<>]+)"#,
            r#"\b(?:echo|printf)\s+(?:-\w+\s+)*["']?(?P<s>[^\s"'`;|&<>]+)["']?\s*\|[^\n;]*?(?:--password-stdin|--with-token|--pass-stdin|sudo\s+-S|passwd|chpasswd|cryptsetup|--token-stdin)"#,
            r#"\becho\s+["']?[\w.-]+:(?P<s>[^\s"'`;|&<>]+)["']?\s*\|[^\n;]*?chpasswd"#,
            // Names with a colon, as in YAML and JSON.
            r#"(?i)\b(?:[\w.-]*[_.-])?(?:password|passwd|passphrase|passwort|kennwort|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|client[_-]?secret|pwd|pass|pw)\\?["']\s*:\s*\\?["'](?P<s>[^"'\\\n]+)"#,
        ],
    ),
    (
        Quoted,
        &[
            // Assignments: environment variables, settings files, connection strings.
            r#"(?i)\bpassword\s+["'](?P<s>[^"'\n]+)"#,
            // Names with a colon, as in YAML and JSON.
            r#"(?i)\b(?:pass|pw|pwd|secret\w*)\s*:\s*["'`](?P<s>[^"'`\n]+)"#,
            // Sentences.
            r#"(?i)\b(?:secret|token|api[ -]?key|access[ -]?key)\s*(?:is|ist|lautet)\s*:?\s*["'`](?P<s>[^"'`\n]{4,80})["'`]"#,
            r#"(?i)\b(?:\w+_)?(?:password|passwort|kennwort|passphrase|passcode|contraseña|mot de passe|senha|wachtwoord|pw|pwd|passwd)\b(?:\s+(?:for|of|to (?:the|my|our)|on|von|für|zum|zur|de|is for)\s+(?:the\s+|my\s+|den\s+|die\s+|das\s+)?[\w.@-]+){0,2}\s*(?:is|was|are|ist|war|lautet|es|est|to|auf|zu|=|:|->|=>|:=)?\s*["'`„“»](?P<s>[^"'`“”«\n]{3,80})["'`“”«]"#,
        ],
    ),
    (
        MixedCase,
        &[
            // Assignments: environment variables, settings files, connection strings.
            r#"(?i)\b\w+_(?:access_key|secret_key|api_key|auth_token|token|secret|password)\s+["']?(?P<s>[^\s"'`;|&<>]+)"#,
            // Sentences.
            r#"(?i)\b(?:key|schlüssel|token|secret|api[ -]?key|pass)\b\s*(?:is|ist|lautet|=|:)?\s*["'`]?(?P<s>[^\s"'`,;]+)"#,
        ],
    ),
    (
        Generated,
        &[
            // Assignments: environment variables, settings files, connection strings.
            r#"\b[A-Z0-9_]*(?:_KEY|_AUTH|_SALT|_DSN|_PAT|_JWT|_CREDS)=["']?(?P<s>[^\s"'`;&|<>)]+)"#,
            // Headers.
            r#"(?i)\b(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token|digest|apikey|key|negotiate)\s+)?(?P<s>[^\s"'`\\,;]{6,})"#,
            r"(?i)\bbearer[:\s]\s*(?P<s>[\w.~+/=-]{8,})",
            r"(?i)\bbasic\s+(?P<s>[A-Za-z0-9+/]{8,}={0,2})",
            // Command-line arguments.
            r#"\bauth\b[^\n;|&]*?\s-t\s*["']?(?P<s>[^\s"'`;|&<>]+)"#,
            // Names with a colon, as in YAML and JSON.
            r#"\b[A-Z0-9_]+_KEY\s*:\s*["']?(?P<s>[^\s"'`,;]+)"#,
            r#"(?i)\b(?:\w*sess(?:ion)?_?id|connect\.sid)=(?P<s>[^\s"'`;&]{8,})"#,
            r"[?&](?:code|ticket|assertion|SAMLResponse)=(?P<s>[\w%.-]{12,})",
            // Sentences.
            r#"(?i)\blog(?:ged|ging)?[ -]?in\s+(?:with|as|using)\s+[\w.@-]+\s?[:/]\s?(?P<s>[^\s"'`,;]+)"#,
            r#"(?i)\b(?:api[ -]?key|access[ -]?key|secret(?: key)?|auth[ -]?token|token|access[ -]?code|licen[cs]e[ -]?key|credentials?|pass)\b(?:\s+(?:for|of|to|on|von|für|zum|zur)\s+(?:the\s+|my\s+)?[\w.@-]+){0,2}\s*(?:is|was|ist|war|lautet|=|->|=>|:=|:)\s*(?:now\s+|jetzt\s+)?["'`]?(?P<s>[^\s"'`,;]+)"#,
            r#"(?i)\b(?:credentials?|creds|logins?|zugangsdaten)\b\s*(?:are|is|sind|:|=)*\s*[\w.@-]+\s?[:/]\s?(?P<s>[^\s"'`,;]+)"#,
        ],
    ),
    (
        Password,
        &[
            // Assignments: environment variables, settings files, connection strings.
            r#"(?i)(?:^|[;\s"'])(?:pwd|password)\s*=\s*(?P<s>[^;\s"'`]+)"#,
            // Command-line arguments.
            r"(?i)\bnet\s+use\s[^\n;|&]*?(?P<s>\S+)\s+/user:",
            r#"(?:^|\s)--?_?auth[ =]+["']?(?P<s>[^\s"'`;|&<>]+)"#,
            r#"(?i)\s/(?:p|pass|password)[: ]\s*["']?(?P<s>[^\s"'`;|&<>]+)"#,
            r#"\b(?:pass|gopass|op|bw|sudo|gh|docker|vault)\b[^\n;|&]*?<<<\s*["']?(?P<s>[^\s"'`;|&<>]+)"#,
            r#"\b(?:echo|printf)\s+(?:-\w+\s+)*["']?(?P<s>[^\s"'`;|&<>]+)["']?\s*>+\s*\S*(?:pass|secret|token|cred|passwd)\S*"#,
            r#"\bpass:(?P<s>[^\s"'`;|&<>]+)"#,
            r#"(?i)\b(?:setx?|put|add|create)\s+["']?[\w./:-]*(?:secret|password|passwd|token|api_?key|access_?key)[\w]*["']?\s+["']?(?P<s>[^\s"'`;|&<>]+)"#,
            // Names with a colon, as in YAML and JSON.
            r#"(?i)["']auth["']\s*:\s*["'](?P<s>[^"'\n]+)"#,
            // Sentences.
            r#"(?i)\b(?:log_?in|sign_?in|auth(?:enticate)?|connect)\(\s*["'][^"'\n]*["']\s*,\s*["'](?P<s>[^"'\n]+)"#,
            r#"(?i)(?P<s>[^\s"'`,;]{5,})["'`]?\s+(?:is|ist|was|war)\s+(?:the|my|your|our|das|mein|unser)\s+(?:\w+\s+)?(?:password|passwort|kennwort|passphrase|pw|token|secret|api[ -]?key)\b"#,
            r#"(?i)\b(?:\w+_)?(?:password|passwort|kennwort|passphrase|passcode|contraseña|mot de passe|senha|wachtwoord|pw|pwd|passwd)s?\b(?:\s+(?:for|of|to (?:the|my|our)|on|von|für|zum|zur|de)\s+(?:the\s+|my\s+|den\s+|die\s+|das\s+)?[\w.@-]+){0,2}\s*(?:is|was|ist|war|lautet|es|est|to|auf|zu|=|:|->|=>|:=)?\s*(?:(?:now|jetzt|still|changed|set|reset|updated|geändert|gesetzt)\s+)*(?:to\s+|auf\s+|zu\s+)?[:=]?\s*(?P<s>[^\s"'`,;]+)"#,
            r#"(?i)(?P<s>[^\s"'`,;]{5,})["'`]?\s+(?:as|als)\s+(?:the\s+|a\s+|my\s+|your\s+|das\s+|neues\s+|new\s+)*(?:password|passwort|kennwort|passphrase|token|secret|api[ -]?key)\b"#,
        ],
    ),
    (
        Argument,
        &[
            // Command-line arguments.
            r#"(?i)(?:^|\s)--?(?:[\w-]+[-_])?(?:password|passwd|pass|passphrase|token|secret|api-?key|access-?key|secret-?key|auth-?token|credentials?|pat|otp|pin)[ =]+["']?(?P<s>[^\s"'`;|&<>)]+)"#,
            r#"\bssh-keygen\b[^\n;|&]*?\s-[NP]\s*["']?(?P<s>[^\s"'`;|&<>]+)"#,
            r#"(?:^|\s)-\w*pass(?:word|wd)?[ =]+["']?(?P<s>[^\s"'`;|&<>]+)"#,
        ],
    ),
    (
        NotNumber,
        &[
            // Command-line arguments.
            r#"(?:^|\s)(?:-u|--user|--auth|--proxy-user|-U)\s*=?\s*["']?[^\s:"'$/-][^\s:"'/]*:(?P<s>[^\s"'`;|&<>]+)"#,
        ],
    ),
    (
        NotPort,
        &[
            // Command-line arguments.
            r#"\s(?:-u|-U|--user|--username)[ =]?\S+\s(?:[^\n;|&]*?\s)?-p\s*["']?(?P<s>[^\s"'`;|&<>-][^\s"'`;|&<>]*)"#,
        ],
    ),
];
