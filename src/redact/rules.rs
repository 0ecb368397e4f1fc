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
pub(super) const EXPORT_NAMES: [&str; 14] = [
    "pass",
    "pwd",
    "kennwort",
    "passcode",
    "passwords",
    "secrets",
    "apikeys",
    "privatekeyid",
    "secretkey",
    "cookies",
    "connectionstring",
    "otp",
    "authtoken",
    "signingkey",
];

/// Prefixes of tokens, how many characters must follow, and which. Journal and exports use the same.
pub(super) const TOKEN_PREFIXES: [(&str, usize, TokenAlphabet); 64] = [
    ("sk_live_", 8, Word),
    ("sk_test_", 8, Word),
    ("rk_live_", 8, Word),
    ("rk_test_", 8, Word),
    ("sk-ant-", 8, Word),
    ("ghp_", 16, Word),
    ("gho_", 16, Word),
    ("ghs_", 16, Word),
    ("ghu_", 16, Word),
    ("ghr_", 16, Word),
    ("github_pat_", 16, Word),
    ("glpat-", 16, Word),
    ("gldt-", 16, Word),
    ("glrt-", 16, Word),
    ("glcbt-", 16, Word),
    ("glptt-", 16, Word),
    ("glft-", 16, Word),
    ("glimt-", 16, Word),
    ("glagent-", 16, Word),
    ("glsoat-", 16, Word),
    ("gloas-", 16, Word),
    ("xoxa-", 10, Word),
    ("xoxb-", 10, Word),
    ("xoxc-", 10, Word),
    ("xoxd-", 10, Word),
    ("xoxe-", 10, Word),
    ("xoxo-", 10, Word),
    ("xoxp-", 10, Word),
    ("xoxr-", 10, Word),
    ("xoxs-", 10, Word),
    ("xapp-", 10, Word),
    ("AIza", 30, Word),
    ("ya29.", 20, Word),
    ("GOCSPX-", 20, Word),
    ("hvs.", 20, Word),
    ("hvb.", 20, Word),
    ("hvr.", 20, Word),
    ("hf_", 16, Word),
    ("gsk_", 20, Alphanumeric),
    ("xai-", 20, Alphanumeric),
    ("pplx-", 20, Alphanumeric),
    ("r8_", 20, Alphanumeric),
    ("tgp_v1_", 20, Word),
    ("nvapi-", 20, Word),
    ("lsv2_pt_", 20, Word),
    ("npm_", 30, Alphanumeric),
    ("pypi-", 16, Word),
    ("dckr_pat_", 16, Word),
    ("dckr_oat_", 16, Word),
    ("ATATT3", 20, Word),
    ("SG.", 33, Dotted),
    ("whsec_", 16, Word),
    ("glsa_", 20, Word),
    ("shpat_", 20, Word),
    ("shpca_", 20, Word),
    ("shppa_", 20, Word),
    ("shpss_", 20, Word),
    ("sq0atp-", 20, Word),
    ("sq0csp-", 20, Word),
    ("sntrys_", 20, Word),
    ("sntryu_", 20, Word),
    ("tskey-auth-", 20, Word),
    ("tskey-api-", 20, Word),
    ("AGE-SECRET-KEY-1", 20, Alphanumeric),
];

/// Expressions for exports only, with the filter for the secret in group `s`, or in the whole match.
pub(super) const EXPORT_PATTERNS: &[(&str, ValueFilter)] = &[
    // Cloud providers.
    (r"\b(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA|AGPA|ANPA)[A-Z0-9]{16}\b", Any),
    (r"\b1//0[\w-]{30,}", Any),
    (r"\b[\w~.-]{3}8Q~[\w~.-]{30,36}", Any),
    (r"(?i)\b(?:AccountKey|SharedAccessKey|SharedAccessSignature)=(?P<s>[A-Za-z0-9+/=%&. -]{20,}[A-Za-z0-9+/=%])", Any),
    (r"[?&](?:sig|X-Amz-Signature|X-Goog-Signature|Signature)=(?P<s>[\w%+/=-]{16,})", Any),
    (r"\bdo[opr]_v1_[0-9a-f]{32,}", Any),
    (r"\bdapi[0-9a-f]{32}\b", Any),
    (r"\bdp\.(?:pt|st|ct|sa)\.[\w.-]{20,}", Any),
    // Code hosts and registries.
    (r"\bATB?B[\w=-]{24,}", Any),
    (r"\bcio[A-Za-z0-9]{32}\b", Any),
    (r"\brubygems_[0-9a-f]{32,}", Any),
    (r"\boy2[a-z0-9]{43}\b", Any),
    // Models.
    (r"\bsk-(?:ant|proj|svcacct|admin|or|lf)-[\w-]{8,}", Any),
    (r"\b(?:gsk|r8|tgp_v1)_[A-Za-z0-9_-]{20,}", Any),
    // Messaging, payment and other services.
    (r"https://hooks\.slack\.com/(?:services|workflows|triggers)/(?P<s>[\w/-]{8,})", Any),
    (r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/(?P<s>\d+/[\w-]+)", Any),
    (r"https://[\w-]+\.webhook\.office\.com/(?P<s>\S{16,})", Any),
    (r"(?:\b|bot)\d{8,10}:AA[\w-]{32,}", Any),
    (r"\b[srp]k_(?:live|test)_\w{8,}", Any),
    (r"\bwhsec_[\w+/=-]{16,}", Any),
    (r"\b(?:SK|AC)[0-9a-f]{32}\b", Any),
    (r"\bkey-[0-9a-f]{32}\b", Any),
    (r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}", Any),
    (
        r"\b(?:glsa|figd|ntn|lin_api|sntrys|sntryu|phx|PMAK|dt0c01|NRAK|nvapi|sbp|tskey-auth|tskey-api|rnd|lsv2_pt)[_.-][\w.-]{20,}",
        Any,
    ),
    // JSON web tokens; the last part may be empty.
    (r"\beyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]*", Any),
    // Private keys, also with escaped line ends, also cut off.
    (
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)",
        Any,
    ),
    (r"Private-Lines: \d+\s+(?P<s>[A-Za-z0-9+/=\s]{16,})", Any),
    (r"\bb3BlbnNzaC1rZXktdjE[A-Za-z0-9+/=\s]{16,}", Any),
    // Assignments: environment variables, settings files, connection strings.
    (
        r#"(?i)\b(?:[\w.-]*[_.-])?(?:password|passwd|passphrase|passwort|kennwort|secret|token|api_?key|access_?key|secret_?key|private_?key|credentials?)["']?\s*=\s*["']?(?P<s>[^\s"'`,;&|<>)]+)"#,
        Value,
    ),
    (r#"\b[A-Z0-9_]*(?:PASS|_PWD|_PSW|_PW|_PIN|_OTP)=["']?(?P<s>[^\s"'`;&|<>)]+)"#, Value),
    (r#"\b(?:[\w.-]*[_.-])?(?:pass|pwd|pw|psw)=["']?(?P<s>[^\s"'`;&|<>)]{4,})"#, Value),
    (r#"(?i)(?:password|passwd|secret|token|api_?key|access_?key)["']\]\s*=\s*["'](?P<s>[^"'\n]+)"#, Value),
    (r"(?i)<(?:[\w:]*[._-])?(?:password|passwd|secret|token|api-?key|access-?key)>\s*(?P<s>[^<\s]+)", Value),
    (r#"(?i)\bidentified\s+(?:with\s+\S+\s+)?by\s+["'](?P<s>[^"'\n]+)"#, Any),
    (r#"(?i)\bpassword\s+["'](?P<s>[^"'\n]+)"#, Quoted),
    (
        r#"(?i)\b\w+_(?:access_key|secret_key|api_key|auth_token|token|secret|password)\s+["']?(?P<s>[^\s"'`;|&<>]+)"#,
        MixedCase,
    ),
    (r#"\b[A-Z0-9_]*(?:_KEY|_AUTH|_SALT|_DSN|_PAT|_JWT|_CREDS)=["']?(?P<s>[^\s"'`;&|<>)]+)"#, Generated),
    (r#"(?i)(?:^|[;\s"'])(?:pwd|password)\s*=\s*(?P<s>[^;\s"'`]+)"#, Password),
    (r"(?m)^[\w.*-]+:(?:\d+|\*):[\w*-]+:[\w*-]+:(?P<s>\S+)$", Value),
    (r"(?i)\blogin\s+\S+\s+(?:account\s+\S+\s+)?password\s+(?P<s>\S+)", Value),
    (r"(?i)\bpassword\s+(?P<s>\S+)\s+login\s+\S+", Value),
    // Headers.
    (
        r#"(?i)\b(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token|digest|apikey|key|negotiate)\s+)?(?P<s>[^\s"'`\\,;]{6,})"#,
        Generated,
    ),
    (r#"(?i)\bauthorization:\s*(?:bearer|basic|token|apikey)\s+(?P<s>[^\s"'`\\,;]+)"#, Value),
    (
        r#"(?i)\b(?:x-[\w-]*(?:token|key|auth|secret|signature)|api-key|apikey|private-token|deploy-token|job-token)["']?\s*:\s*["']?(?P<s>[^\s"'`\\,;]{4,})"#,
        Value,
    ),
    (r#"(?i)\b(?:set-)?cookie["']?:\s*["']?(?P<s>[^\s"'=;]+=[^"'\n\r]+)"#, Any),
    (r#"(?i)(?:\s|^)(?:-b|--cookie)[ =]["']?(?P<s>[\w.-]+=[^\s"']+)"#, Any),
    (r"(?i)\bbearer[:\s]\s*(?P<s>[\w.~+/=-]{8,})", Generated),
    (r"(?i)\bbasic\s+(?P<s>[A-Za-z0-9+/]{8,}={0,2})", Generated),
    // URLs.
    (r#"\b[a-zA-Z][\w+.-]*://[^\s/?#"'`@:]*:(?P<s>[^\s/?#"'`]+)@"#, Value),
    // Command-line arguments.
    (
        r#"(?i)(?:^|\s)--?(?:[\w-]+[-_])?(?:password|passwd|pass|passphrase|token|secret|api-?key|access-?key|secret-?key|auth-?token|credentials?|pat|otp|pin)[ =]+["']?(?P<s>[^\s"'`;|&<>)]+)"#,
        Argument,
    ),
    (
        r#"(?:^|\s)(?:-u|--user|--auth|--proxy-user|-U)\s*=?\s*["']?[^\s:"'$/-][^\s:"'/]*:(?P<s>[^\s"'`;|&<>]+)"#,
        NotNumber,
    ),
    (
        r#"\b(?:mysql|mysqldump|mysqladmin|mysqlimport|mysqlsh|mariadb|mariadb-dump|mariadb-admin)\b[^\n;|&]*?\s-p\s?["']?(?P<s>[^\s"'`;|&<>-][^\s"'`;|&<>]*)"#,
        Value,
    ),
    (r#"\b(?:https?|xhs?)\s[^\n;|&]*?-a\s*["']?[^\s:"'$/-][^\s:"'/]*:(?P<s>[^\s"'`;|&<>]+)"#, Value),
    (r#"\bsecret\s+set\b[^\n;|&]*?(?:--body|-b)[ =]["']?(?P<s>[^\s"'`;|&<>]+)"#, Value),
    (r#"\bssh-keygen\b[^\n;|&]*?\s-[NP]\s*["']?(?P<s>[^\s"'`;|&<>]+)"#, Argument),
    (r"(?i)\bnet\s+use\s[^\n;|&]*?(?P<s>\S+)\s+/user:", Password),
    (r#"\bmc\s+(?:alias|config\s+host)\s+(?:set|add)\s+\S+\s+\S+\s+\S+\s+["']?(?P<s>[^\s"'`;|&<>]+)"#, Value),
    (r#"\bchpasswd\s*<<<\s*["']?[\w.-]+:(?P<s>[^\s"'`;|&<>]+)"#, Value),
    (r#"(?:^|\s)--?_?auth[ =]+["']?(?P<s>[^\s"'`;|&<>]+)"#, Password),
    (
        r#"\s(?:-u|-U|--user|--username)[ =]?\S+\s(?:[^\n;|&]*?\s)?-p\s*["']?(?P<s>[^\s"'`;|&<>-][^\s"'`;|&<>]*)"#,
        NotPort,
    ),
    (r#"\blftp\b[^\n;|&]*?-u\s*["']?[^\s,"']+,(?P<s>[^\s"'`;|&<>]+)"#, Value),
    (r#"(?i)\bsecurestring\s+(?:-string\s+)?["'](?P<s>[^"'\n]+)"#, Any),
    (r#"(?:^|\s)-\w*pass(?:word|wd)?[ =]+["']?(?P<s>[^\s"'`;|&<>]+)"#, Argument),
    (r#"(?i)\s/(?:p|pass|password)[: ]\s*["']?(?P<s>[^\s"'`;|&<>]+)"#, Password),
    (r#"\bsecurity\s+[\w-]*keychain\b[^\n;|&]*?\s-p\s*["']?(?P<s>[^\s"'`;|&<>]+)"#, Value),
    (r#"\b(?:pass|gopass|op|bw|sudo|gh|docker|vault)\b[^\n;|&]*?<<<\s*["']?(?P<s>[^\s"'`;|&<>]+)"#, Password),
    (r#"\bauth\b[^\n;|&]*?\s-t\s*["']?(?P<s>[^\s"'`;|&<>]+)"#, Generated),
    (
        r#"\b(?:echo|printf)\s+(?:-\w+\s+)*["']?(?P<s>[^\s"'`;|&<>]+)["']?\s*>+\s*\S*(?:pass|secret|token|cred|passwd)\S*"#,
        Password,
    ),
    (r#"(?i)password-file[ =]<\(\s*(?:echo|printf)\s+["']?(?P<s>[^\s"'`;|&<>)]+)"#, Value),
    (r#"\bsshpass\s+(?:-\w\s+)*?-p\s*["']?(?P<s>[^\s"'`]+)"#, Value),
    (
        r#"\b(?:docker|podman|helm|nerdctl|az|oc|buildah|skopeo)\b[^\n;|&]*?\blogin\b[^\n;|&]*?\s-p\s*["']?(?P<s>[^\s"'`;|&<>-][^\s"'`;|&<>]*)"#,
        Value,
    ),
    (r#"\bredis-cli\b[^\n;|&]*?\s-a\s*["']?(?P<s>[^\s"'`;|&<>]+)"#, Value),
    (r#"\bldap(?:search|add|modify|delete|whoami|passwd)\b[^\n;|&]*?\s-w\s*["']?(?P<s>[^\s"'`;|&<>]+)"#, Value),
    (r#"\b(?:smbclient|rpcclient|net)\b[^\n;|&]*?\s-U\s*["']?[^\s%"']+%(?P<s>[^\s"'`;|&<>]+)"#, Value),
    (r#"\b(?:7z|7za|7zz|rar|unrar)\b[^\n;|&]*?\s-p["']?(?P<s>[^\s"'`;|&<>]+)"#, Value),
    (r#"\b(?:zip|unzip)\b[^\n;|&]*?\s-P\s*["']?(?P<s>[^\s"'`;|&<>]+)"#, Value),
    (r#"\bpass:(?P<s>[^\s"'`;|&<>]+)"#, Password),
    (r#"\bopenssl\b[^\n;|&]*?\s-k\s+["']?(?P<s>[^\s"'`;|&<>]+)"#, Value),
    (r#"\bhtpasswd\s+(?:-\w+\s+)*?-\w*b\w*\s+(?:-\w+\s+)*(?:\S+\s+)?\S+\s+["']?(?P<s>[^\s"'`;|&<>]+)"#, Value),
    (
        r#"\b(?:echo|printf)\s+(?:-\w+\s+)*["']?(?P<s>[^\s"'`;|&<>]+)["']?\s*\|[^\n;]*?(?:--password-stdin|--with-token|--pass-stdin|sudo\s+-S|passwd|chpasswd|cryptsetup|--token-stdin)"#,
        Value,
    ),
    (r#"\becho\s+["']?[\w.-]+:(?P<s>[^\s"'`;|&<>]+)["']?\s*\|[^\n;]*?chpasswd"#, Value),
    (
        r#"(?i)\b(?:setx?|put|add|create)\s+["']?[\w./:-]*(?:secret|password|passwd|token|api_?key|access_?key)[\w]*["']?\s+["']?(?P<s>[^\s"'`;|&<>]+)"#,
        Password,
    ),
    // Names with a colon, as in YAML and JSON.
    (
        r#"(?i)\b(?:[\w.-]*[_.-])?(?:password|passwd|passphrase|passwort|kennwort|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|client[_-]?secret|pwd|pass|pw)\\?["']\s*:\s*\\?["'](?P<s>[^"'\\\n]+)"#,
        Value,
    ),
    (r#"(?i)\b(?:pass|pw|pwd|secret\w*)\s*:\s*["'`](?P<s>[^"'`\n]+)"#, Quoted),
    (r#"(?i)["']auth["']\s*:\s*["'](?P<s>[^"'\n]+)"#, Password),
    (r#"\b[A-Z0-9_]+_KEY\s*:\s*["']?(?P<s>[^\s"'`,;]+)"#, Generated),
    (r#"(?i)\b(?:\w*sess(?:ion)?_?id|connect\.sid)=(?P<s>[^\s"'`;&]{8,})"#, Generated),
    (r"[?&](?:code|ticket|assertion|SAMLResponse)=(?P<s>[\w%.-]{12,})", Generated),
    // Sentences.
    (r#"(?i)\blog(?:ged|ging)?[ -]?in\s+(?:with|as|using)\s+[\w.@-]+\s?[:/]\s?(?P<s>[^\s"'`,;]+)"#, Generated),
    (
        r#"(?i)\b(?:log_?in|sign_?in|auth(?:enticate)?|connect)\(\s*["'][^"'\n]*["']\s*,\s*["'](?P<s>[^"'\n]+)"#,
        Password,
    ),
    (r"(?i)\b(?:seed|recovery|mnemonic)(?:\s+phrase)?\s*(?:is|:|=)\s*(?P<s>[a-z]+(?:\s+[a-z]+){11,23})", Any),
    (
        r#"(?i)\b(?:secret|token|api[ -]?key|access[ -]?key)\s*(?:is|ist|lautet)\s*:?\s*["'`](?P<s>[^"'`\n]{4,80})["'`]"#,
        Quoted,
    ),
    (
        r#"(?i)(?P<s>[^\s"'`,;]{5,})["'`]?\s+(?:is|ist|was|war)\s+(?:the|my|your|our|das|mein|unser)\s+(?:\w+\s+)?(?:password|passwort|kennwort|passphrase|pw|token|secret|api[ -]?key)\b"#,
        Password,
    ),
    (
        r#"(?i)\b(?:\w+_)?(?:password|passwort|kennwort|passphrase|passcode|contraseña|mot de passe|senha|wachtwoord|pw|pwd|passwd)\b(?:\s+(?:for|of|to (?:the|my|our)|on|von|für|zum|zur|de|is for)\s+(?:the\s+|my\s+|den\s+|die\s+|das\s+)?[\w.@-]+){0,2}\s*(?:is|was|are|ist|war|lautet|es|est|to|auf|zu|=|:|->|=>|:=)?\s*["'`„“»](?P<s>[^"'`“”«\n]{3,80})["'`“”«]"#,
        Quoted,
    ),
    (
        r#"(?i)\b(?:\w+_)?(?:password|passwort|kennwort|passphrase|passcode|contraseña|mot de passe|senha|wachtwoord|pw|pwd|passwd)s?\b(?:\s+(?:for|of|to (?:the|my|our)|on|von|für|zum|zur|de)\s+(?:the\s+|my\s+|den\s+|die\s+|das\s+)?[\w.@-]+){0,2}\s*(?:is|was|ist|war|lautet|es|est|to|auf|zu|=|:|->|=>|:=)?\s*(?:(?:now|jetzt|still|changed|set|reset|updated|geändert|gesetzt)\s+)*(?:to\s+|auf\s+|zu\s+)?[:=]?\s*(?P<s>[^\s"'`,;]+)"#,
        Password,
    ),
    (
        r#"(?i)\b(?:api[ -]?key|access[ -]?key|secret(?: key)?|auth[ -]?token|token|access[ -]?code|licen[cs]e[ -]?key|credentials?|pass)\b(?:\s+(?:for|of|to|on|von|für|zum|zur)\s+(?:the\s+|my\s+)?[\w.@-]+){0,2}\s*(?:is|was|ist|war|lautet|=|->|=>|:=|:)\s*(?:now\s+|jetzt\s+)?["'`]?(?P<s>[^\s"'`,;]+)"#,
        Generated,
    ),
    (
        r#"(?i)\b(?:key|schlüssel|token|secret|api[ -]?key|pass)\b\s*(?:is|ist|lautet|=|:)?\s*["'`]?(?P<s>[^\s"'`,;]+)"#,
        MixedCase,
    ),
    (
        r"(?i)\b(?:pin|otp|tan|passcode|(?:access|security|verification|2fa|mfa)[ -]code)\b(?:\s+code)?\s*(?:is|was|ist|lautet|:|=)\s*(?P<s>\d{4,10})\b",
        Any,
    ),
    (
        r#"(?i)(?P<s>[^\s"'`,;]{5,})["'`]?\s+(?:as|als)\s+(?:the\s+|a\s+|my\s+|your\s+|das\s+|neues\s+|new\s+)*(?:password|passwort|kennwort|passphrase|token|secret|api[ -]?key)\b"#,
        Password,
    ),
    (
        r#"(?i)\b(?:credentials?|creds|logins?|zugangsdaten)\b\s*(?:are|is|sind|:|=)*\s*[\w.@-]+\s?[:/]\s?(?P<s>[^\s"'`,;]+)"#,
        Generated,
    ),
];
