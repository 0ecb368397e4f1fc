//! Makes Claude Code keep to a workflow.
//!
//! Read in this order: [`event`] comes in; [`mode`] and [`check`] say what is asked; [`facts`] answer;
//! [`engine`] decides; [`verdict`] and [`session`] are what it decides on and about; [`reply`] says it in
//! the host's words; [`store`] and [`journal`] keep it. `docs/ARCHITECTURE.md` is the map.

pub mod check;
pub mod cli;
pub mod disk;
pub mod engine;
pub mod event;
pub mod facts;
pub mod hook_entries;
pub mod ids;
pub mod journal;
pub mod journal_files;
pub mod live;
pub mod mode;
pub mod mode_cache;
pub mod paths;
pub mod process;
pub mod redact;
pub mod replay;
pub mod reply;
pub mod session;
pub mod settings;
pub mod shell;
pub mod starter;
pub mod store;
pub mod template;
pub(crate) mod transcript;
pub mod verdict;
pub mod yaml;
