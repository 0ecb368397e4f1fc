//! Secrets that can be told by where they stand: behind a name, as an argument, in a sentence.

use super::shape::ValueFilter;

/// Each expression with who judges what it found.
pub(super) const PATTERNS: &[(&str, ValueFilter)] = &[
    // Names that assign: of the environment, of a file of settings, of a connection string.
    (
        r#"(?i)\b(?:[\w.-]*[_.-])?(?:password|passwd|passphrase|passwort|kennwort|secret|token|api_?key|access_?key|secret_?key|private_?key|credentials?)["']?\s*=\s*["']?(?P<s>[^\s"'`,;&|<>)]+)"#,
        ValueFilter::Value,
    ),
    (r#"\b[A-Z0-9_]*(?:PASS|_PWD|_PSW|_PW|_PIN|_OTP)=["']?(?P<s>[^\s"'`;&|<>)]+)"#, ValueFilter::Value),
    (r#"\b(?:[\w.-]*[_.-])?(?:pass|pwd|pw|psw)=["']?(?P<s>[^\s"'`;&|<>)]{4,})"#, ValueFilter::Value),
    (
        r#"(?i)(?:password|passwd|secret|token|api_?key|access_?key)["']\]\s*=\s*["'](?P<s>[^"'\n]+)"#,
        ValueFilter::Value,
    ),
    (
        r"(?i)<(?:[\w:]*[._-])?(?:password|passwd|secret|token|api-?key|access-?key)>\s*(?P<s>[^<\s]+)",
        ValueFilter::Value,
    ),
    (r#"(?i)\bidentified\s+(?:with\s+\S+\s+)?by\s+["'](?P<s>[^"'\n]+)"#, ValueFilter::Any),
    (r#"(?i)\bpassword\s+["'](?P<s>[^"'\n]+)"#, ValueFilter::Quoted),
    (
        r#"(?i)\b\w+_(?:access_key|secret_key|api_key|auth_token|token|secret|password)\s+["']?(?P<s>[^\s"'`;|&<>]+)"#,
        ValueFilter::Mixed,
    ),
    (r#"\b[A-Z0-9_]*(?:_KEY|_AUTH|_SALT|_DSN|_PAT|_JWT|_CREDS)=["']?(?P<s>[^\s"'`;&|<>)]+)"#, ValueFilter::Odd),
    (r#"(?i)(?:^|[;\s"'])(?:pwd|password)\s*=\s*(?P<s>[^;\s"'`]+)"#, ValueFilter::Secretive),
    (r"(?m)^[\w.*-]+:(?:\d+|\*):[\w*-]+:[\w*-]+:(?P<s>\S+)$", ValueFilter::Value),
    (r"(?i)\blogin\s+\S+\s+(?:account\s+\S+\s+)?password\s+(?P<s>\S+)", ValueFilter::Value),
    (r"(?i)\bpassword\s+(?P<s>\S+)\s+login\s+\S+", ValueFilter::Value),
    // Headers.
    (
        r#"(?i)\b(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token|digest|apikey|key|negotiate)\s+)?(?P<s>[^\s"'`\\,;]{6,})"#,
        ValueFilter::Odd,
    ),
    (r#"(?i)\bauthorization:\s*(?:bearer|basic|token|apikey)\s+(?P<s>[^\s"'`\\,;]+)"#, ValueFilter::Value),
    (
        r#"(?i)\b(?:x-[\w-]*(?:token|key|auth|secret|signature)|api-key|apikey|private-token|deploy-token|job-token)["']?\s*:\s*["']?(?P<s>[^\s"'`\\,;]{4,})"#,
        ValueFilter::Value,
    ),
    (r#"(?i)\b(?:set-)?cookie["']?:\s*["']?(?P<s>[^\s"'=;]+=[^"'\n\r]+)"#, ValueFilter::Any),
    (r#"(?i)(?:\s|^)(?:-b|--cookie)[ =]["']?(?P<s>[\w.-]+=[^\s"']+)"#, ValueFilter::Any),
    (r"(?i)\bbearer[:\s]\s*(?P<s>[\w.~+/=-]{8,})", ValueFilter::Odd),
    (r"(?i)\bbasic\s+(?P<s>[A-Za-z0-9+/]{8,}={0,2})", ValueFilter::Odd),
    // Addresses.
    (r#"\b[a-zA-Z][\w+.-]*://[^\s/?#"'`@:]*:(?P<s>[^\s/?#"'`]+)@"#, ValueFilter::Value),
    // Arguments.
    (
        r#"(?i)(?:^|\s)--?(?:[\w-]+[-_])?(?:password|passwd|pass|passphrase|token|secret|api-?key|access-?key|secret-?key|auth-?token|credentials?|pat|otp|pin)[ =]+["']?(?P<s>[^\s"'`;|&<>)]+)"#,
        ValueFilter::Argument,
    ),
    (
        r#"(?:^|\s)(?:-u|--user|--auth|--proxy-user|-U)\s*=?\s*["']?[^\s:"'$/-][^\s:"'/]*:(?P<s>[^\s"'`;|&<>]+)"#,
        ValueFilter::NoNumber,
    ),
    (
        r#"\b(?:mysql|mysqldump|mysqladmin|mysqlimport|mysqlsh|mariadb|mariadb-dump|mariadb-admin)\b[^\n;|&]*?\s-p\s?["']?(?P<s>[^\s"'`;|&<>-][^\s"'`;|&<>]*)"#,
        ValueFilter::Value,
    ),
    (r#"\b(?:https?|xhs?)\s[^\n;|&]*?-a\s*["']?[^\s:"'$/-][^\s:"'/]*:(?P<s>[^\s"'`;|&<>]+)"#, ValueFilter::Value),
    (r#"\bsecret\s+set\b[^\n;|&]*?(?:--body|-b)[ =]["']?(?P<s>[^\s"'`;|&<>]+)"#, ValueFilter::Value),
    (r#"\bssh-keygen\b[^\n;|&]*?\s-[NP]\s*["']?(?P<s>[^\s"'`;|&<>]+)"#, ValueFilter::Argument),
    (r"(?i)\bnet\s+use\s[^\n;|&]*?(?P<s>\S+)\s+/user:", ValueFilter::Secretive),
    (
        r#"\bmc\s+(?:alias|config\s+host)\s+(?:set|add)\s+\S+\s+\S+\s+\S+\s+["']?(?P<s>[^\s"'`;|&<>]+)"#,
        ValueFilter::Value,
    ),
    (r#"\bchpasswd\s*<<<\s*["']?[\w.-]+:(?P<s>[^\s"'`;|&<>]+)"#, ValueFilter::Value),
    (r#"(?:^|\s)--?_?auth[ =]+["']?(?P<s>[^\s"'`;|&<>]+)"#, ValueFilter::Secretive),
    (
        r#"\s(?:-u|-U|--user|--username)[ =]?\S+\s(?:[^\n;|&]*?\s)?-p\s*["']?(?P<s>[^\s"'`;|&<>-][^\s"'`;|&<>]*)"#,
        ValueFilter::NoPort,
    ),
    (r#"\blftp\b[^\n;|&]*?-u\s*["']?[^\s,"']+,(?P<s>[^\s"'`;|&<>]+)"#, ValueFilter::Value),
    (r#"(?i)\bsecurestring\s+(?:-string\s+)?["'](?P<s>[^"'\n]+)"#, ValueFilter::Any),
    (r#"(?:^|\s)-\w*pass(?:word|wd)?[ =]+["']?(?P<s>[^\s"'`;|&<>]+)"#, ValueFilter::Argument),
    (r#"(?i)\s/(?:p|pass|password)[: ]\s*["']?(?P<s>[^\s"'`;|&<>]+)"#, ValueFilter::Secretive),
    (r#"\bsecurity\s+[\w-]*keychain\b[^\n;|&]*?\s-p\s*["']?(?P<s>[^\s"'`;|&<>]+)"#, ValueFilter::Value),
    (
        r#"\b(?:pass|gopass|op|bw|sudo|gh|docker|vault)\b[^\n;|&]*?<<<\s*["']?(?P<s>[^\s"'`;|&<>]+)"#,
        ValueFilter::Secretive,
    ),
    (r#"\bauth\b[^\n;|&]*?\s-t\s*["']?(?P<s>[^\s"'`;|&<>]+)"#, ValueFilter::Odd),
    (
        r#"\b(?:echo|printf)\s+(?:-\w+\s+)*["']?(?P<s>[^\s"'`;|&<>]+)["']?\s*>+\s*\S*(?:pass|secret|token|cred|passwd)\S*"#,
        ValueFilter::Secretive,
    ),
    (r#"(?i)password-file[ =]<\(\s*(?:echo|printf)\s+["']?(?P<s>[^\s"'`;|&<>)]+)"#, ValueFilter::Value),
    (r#"\bsshpass\s+(?:-\w\s+)*?-p\s*["']?(?P<s>[^\s"'`]+)"#, ValueFilter::Value),
    (
        r#"\b(?:docker|podman|helm|nerdctl|az|oc|buildah|skopeo)\b[^\n;|&]*?\blogin\b[^\n;|&]*?\s-p\s*["']?(?P<s>[^\s"'`;|&<>-][^\s"'`;|&<>]*)"#,
        ValueFilter::Value,
    ),
    (r#"\bredis-cli\b[^\n;|&]*?\s-a\s*["']?(?P<s>[^\s"'`;|&<>]+)"#, ValueFilter::Value),
    (
        r#"\bldap(?:search|add|modify|delete|whoami|passwd)\b[^\n;|&]*?\s-w\s*["']?(?P<s>[^\s"'`;|&<>]+)"#,
        ValueFilter::Value,
    ),
    (r#"\b(?:smbclient|rpcclient|net)\b[^\n;|&]*?\s-U\s*["']?[^\s%"']+%(?P<s>[^\s"'`;|&<>]+)"#, ValueFilter::Value),
    (r#"\b(?:7z|7za|7zz|rar|unrar)\b[^\n;|&]*?\s-p["']?(?P<s>[^\s"'`;|&<>]+)"#, ValueFilter::Value),
    (r#"\b(?:zip|unzip)\b[^\n;|&]*?\s-P\s*["']?(?P<s>[^\s"'`;|&<>]+)"#, ValueFilter::Value),
    (r#"\bpass:(?P<s>[^\s"'`;|&<>]+)"#, ValueFilter::Secretive),
    (r#"\bopenssl\b[^\n;|&]*?\s-k\s+["']?(?P<s>[^\s"'`;|&<>]+)"#, ValueFilter::Value),
    (
        r#"\bhtpasswd\s+(?:-\w+\s+)*?-\w*b\w*\s+(?:-\w+\s+)*(?:\S+\s+)?\S+\s+["']?(?P<s>[^\s"'`;|&<>]+)"#,
        ValueFilter::Value,
    ),
    (
        r#"\b(?:echo|printf)\s+(?:-\w+\s+)*["']?(?P<s>[^\s"'`;|&<>]+)["']?\s*\|[^\n;]*?(?:--password-stdin|--with-token|--pass-stdin|sudo\s+-S|passwd|chpasswd|cryptsetup|--token-stdin)"#,
        ValueFilter::Value,
    ),
    (r#"\becho\s+["']?[\w.-]+:(?P<s>[^\s"'`;|&<>]+)["']?\s*\|[^\n;]*?chpasswd"#, ValueFilter::Value),
    (
        r#"(?i)\b(?:setx?|put|add|create)\s+["']?[\w./:-]*(?:secret|password|passwd|token|api_?key|access_?key)[\w]*["']?\s+["']?(?P<s>[^\s"'`;|&<>]+)"#,
        ValueFilter::Secretive,
    ),
    // Names with a colon, as in YAML and JSON.
    (
        r#"(?i)\b(?:[\w.-]*[_.-])?(?:password|passwd|passphrase|passwort|kennwort|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|client[_-]?secret|pwd|pass|pw)\\?["']\s*:\s*\\?["'](?P<s>[^"'\\\n]+)"#,
        ValueFilter::Value,
    ),
    (r#"(?i)\b(?:pass|pw|pwd|secret\w*)\s*:\s*["'`](?P<s>[^"'`\n]+)"#, ValueFilter::Quoted),
    (r#"(?i)["']auth["']\s*:\s*["'](?P<s>[^"'\n]+)"#, ValueFilter::Secretive),
    (r#"\b[A-Z0-9_]+_KEY\s*:\s*["']?(?P<s>[^\s"'`,;]+)"#, ValueFilter::Odd),
    (r#"(?i)\b(?:\w*sess(?:ion)?_?id|connect\.sid)=(?P<s>[^\s"'`;&]{8,})"#, ValueFilter::Odd),
    (r"[?&](?:code|ticket|assertion|SAMLResponse)=(?P<s>[\w%.-]{12,})", ValueFilter::Odd),
    // Sentences.
    (r#"(?i)\blog(?:ged|ging)?[ -]?in\s+(?:with|as|using)\s+[\w.@-]+\s?[:/]\s?(?P<s>[^\s"'`,;]+)"#, ValueFilter::Odd),
    (
        r#"(?i)\b(?:log_?in|sign_?in|auth(?:enticate)?|connect)\(\s*["'][^"'\n]*["']\s*,\s*["'](?P<s>[^"'\n]+)"#,
        ValueFilter::Secretive,
    ),
    (
        r"(?i)\b(?:seed|recovery|mnemonic)(?:\s+phrase)?\s*(?:is|:|=)\s*(?P<s>[a-z]+(?:\s+[a-z]+){11,23})",
        ValueFilter::Any,
    ),
    (
        r#"(?i)\b(?:secret|token|api[ -]?key|access[ -]?key)\s*(?:is|ist|lautet)\s*:?\s*["'`](?P<s>[^"'`\n]{4,80})["'`]"#,
        ValueFilter::Quoted,
    ),
    (
        r#"(?i)(?P<s>[^\s"'`,;]{5,})["'`]?\s+(?:is|ist|was|war)\s+(?:the|my|your|our|das|mein|unser)\s+(?:\w+\s+)?(?:password|passwort|kennwort|passphrase|pw|token|secret|api[ -]?key)\b"#,
        ValueFilter::Secretive,
    ),
    (
        r#"(?i)\b(?:\w+_)?(?:password|passwort|kennwort|passphrase|passcode|contraseña|mot de passe|senha|wachtwoord|pw|pwd|passwd)\b(?:\s+(?:for|of|to (?:the|my|our)|on|von|für|zum|zur|de|is for)\s+(?:the\s+|my\s+|den\s+|die\s+|das\s+)?[\w.@-]+){0,2}\s*(?:is|was|are|ist|war|lautet|es|est|to|auf|zu|=|:|->|=>|:=)?\s*["'`„“»](?P<s>[^"'`“”«\n]{3,80})["'`“”«]"#,
        ValueFilter::Quoted,
    ),
    (
        r#"(?i)\b(?:\w+_)?(?:password|passwort|kennwort|passphrase|passcode|contraseña|mot de passe|senha|wachtwoord|pw|pwd|passwd)s?\b(?:\s+(?:for|of|to (?:the|my|our)|on|von|für|zum|zur|de)\s+(?:the\s+|my\s+|den\s+|die\s+|das\s+)?[\w.@-]+){0,2}\s*(?:is|was|ist|war|lautet|es|est|to|auf|zu|=|:|->|=>|:=)?\s*(?:(?:now|jetzt|still|changed|set|reset|updated|geändert|gesetzt)\s+)*(?:to\s+|auf\s+|zu\s+)?[:=]?\s*(?P<s>[^\s"'`,;]+)"#,
        ValueFilter::Secretive,
    ),
    (
        r#"(?i)\b(?:api[ -]?key|access[ -]?key|secret(?: key)?|auth[ -]?token|token|access[ -]?code|licen[cs]e[ -]?key|credentials?|pass)\b(?:\s+(?:for|of|to|on|von|für|zum|zur)\s+(?:the\s+|my\s+)?[\w.@-]+){0,2}\s*(?:is|was|ist|war|lautet|=|->|=>|:=|:)\s*(?:now\s+|jetzt\s+)?["'`]?(?P<s>[^\s"'`,;]+)"#,
        ValueFilter::Odd,
    ),
    (
        r#"(?i)\b(?:key|schlüssel|token|secret|api[ -]?key|pass)\b\s*(?:is|ist|lautet|=|:)?\s*["'`]?(?P<s>[^\s"'`,;]+)"#,
        ValueFilter::Mixed,
    ),
    (
        r"(?i)\b(?:pin|otp|tan|passcode|(?:access|security|verification|2fa|mfa)[ -]code)\b(?:\s+code)?\s*(?:is|was|ist|lautet|:|=)\s*(?P<s>\d{4,10})\b",
        ValueFilter::Any,
    ),
    (
        r#"(?i)(?P<s>[^\s"'`,;]{5,})["'`]?\s+(?:as|als)\s+(?:the\s+|a\s+|my\s+|your\s+|das\s+|neues\s+|new\s+)*(?:password|passwort|kennwort|passphrase|token|secret|api[ -]?key)\b"#,
        ValueFilter::Secretive,
    ),
    (
        r#"(?i)\b(?:credentials?|creds|logins?|zugangsdaten)\b\s*(?:are|is|sind|:|=)*\s*[\w.@-]+\s?[:/]\s?(?P<s>[^\s"'`,;]+)"#,
        ValueFilter::Odd,
    ),
];
