//! Claude Code's formats: events, hook entries, transcripts, and the files of a project.

pub mod event;
pub mod hook_entries;
pub mod ids;
pub mod paths;
pub mod transcript;
