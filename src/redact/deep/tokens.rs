//! Tokens that can be told by how they look, whatever stands around them.

/// One expression a family.
pub(super) const PATTERNS: &[&str] = &[
    // Clouds.
    r"\b(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA|AGPA|ANPA)[A-Z0-9]{16}\b",
    r"\bAIza[\w-]{30,}",
    r"\bya29\.[\w-]{20,}",
    r"\bGOCSPX-[\w-]{20,}",
    r"\b1//0[\w-]{30,}",
    r"\b[\w~.-]{3}8Q~[\w~.-]{30,36}",
    r"(?i)\b(?:AccountKey|SharedAccessKey|SharedAccessSignature)=(?P<s>[A-Za-z0-9+/=%&. -]{20,}[A-Za-z0-9+/=%])",
    r"[?&](?:sig|X-Amz-Signature|X-Goog-Signature|Signature)=(?P<s>[\w%+/=-]{16,})",
    r"\bdo[opr]_v1_[0-9a-f]{32,}",
    r"\bdapi[0-9a-f]{32}\b",
    r"\bhv[sbr]\.[\w-]{20,}",
    r"\bdp\.(?:pt|st|ct|sa)\.[\w.-]{20,}",
    // Code hosts and registries.
    r"\bgh[pousr]_[A-Za-z0-9]{16,}",
    r"\bgithub_pat_\w{16,}",
    r"\bgl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|oas)-[\w-]{16,}",
    r"\bATB?B[\w=-]{24,}",
    r"\bATATT3[\w=-]{20,}",
    r"\bnpm_[A-Za-z0-9]{30,}",
    r"\bpypi-[\w-]{16,}",
    r"\bcio[A-Za-z0-9]{32}\b",
    r"\bdckr_(?:pat|oat)_[\w-]{16,}",
    r"\brubygems_[0-9a-f]{32,}",
    r"\boy2[a-z0-9]{43}\b",
    // Models.
    r"\bsk-(?:ant|proj|svcacct|admin|or|lf)-[\w-]{8,}",
    r"\bsk-[A-Za-z0-9]{20,}",
    r"\bhf_[A-Za-z0-9]{16,}",
    r"\b(?:xai|pplx)-[A-Za-z0-9]{20,}",
    r"\b(?:gsk|r8|tgp_v1)_[A-Za-z0-9_-]{20,}",
    // Messages, money and the rest.
    r"\bxox[abcdeoprs]-[\w-]{10,}",
    r"\bxapp-\d-[\w-]{10,}",
    r"https://hooks\.slack\.com/(?:services|workflows|triggers)/(?P<s>[\w/-]{8,})",
    r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/(?P<s>\d+/[\w-]+)",
    r"https://[\w-]+\.webhook\.office\.com/(?P<s>\S{16,})",
    r"(?:\b|bot)\d{8,10}:AA[\w-]{32,}",
    r"\b[srp]k_(?:live|test)_\w{8,}",
    r"\bwhsec_[\w+/=-]{16,}",
    r"\bSG\.[\w-]{16,}\.[\w-]{16,}",
    r"\b(?:SK|AC)[0-9a-f]{32}\b",
    r"\bkey-[0-9a-f]{32}\b",
    r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    r"\bsq0(?:atp|csp)-[\w-]{20,}",
    r"\b(?:glsa|figd|ntn|lin_api|sntrys|sntryu|phx|PMAK|dt0c01|NRAK|nvapi|sbp|tskey-auth|tskey-api|rnd|lsv2_pt)[_.-][\w.-]{20,}",
    r"\bAGE-SECRET-KEY-1[0-9A-Z]{20,}",
    // Three parts with dots between: a JSON web token; its last part may be empty.
    r"\beyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]*",
    // Private keys, also with their line ends written out, also cut.
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)",
    r"Private-Lines: \d+\s+(?P<s>[A-Za-z0-9+/=\s]{16,})",
    r"\bb3BlbnNzaC1rZXktdjE[A-Za-z0-9+/=\s]{16,}",
];
