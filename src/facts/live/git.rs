//! stub
use std::path::Path;
/// x
pub type Unknown = String;
/// x
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "stub")]
pub enum Commitment {
    Committed,
    Untracked,
    Staged,
    Modified,
    Missing,
    Ignored,
}
/// x
#[allow(missing_docs, reason = "stub")]
pub struct Change {
    pub path: String,
    pub kind: ChangeKind,
}
/// x
#[allow(missing_docs, reason = "stub")]
#[derive(Debug, Clone, Copy)]
pub enum ChangeKind {
    Untracked,
    Added,
    Modified,
    Deleted,
    Renamed,
    TypeChanged,
    Conflicted,
    Submodule,
}
/// x
pub fn commitment(_: &Path, _: &Path) -> Result<Commitment, Unknown> {
    Err("stub".into())
}
/// x
pub fn changes(_: &Path, _: &[String], _: usize) -> Result<Vec<Change>, Unknown> {
    Err("stub".into())
}
/// x
pub fn head(_: &Path) -> Result<Option<String>, Unknown> {
    Err("stub".into())
}
