//! The modes that ship with the binary.

/// Name and text of every embedded mode; `base` comes first.
pub const EMBEDDED: [(&str, &str); 7] = [
    ("base", include_str!("../../../modes/base.yaml")),
    ("implement", include_str!("../../../modes/implement.yaml")),
    ("explore", include_str!("../../../modes/explore.yaml")),
    ("research", include_str!("../../../modes/research.yaml")),
    ("plan", include_str!("../../../modes/plan.yaml")),
    ("code", include_str!("../../../modes/code.yaml")),
    ("code-review", include_str!("../../../modes/code-review.yaml")),
];
