//! All of replay: deciding recorded sessions again, comparing, reports.
//!
//! The [`command`] finds [`inputs`] and reads each one: a [`journal`] line by line, a [`stream`] of events or a
//! [`transcript`] with facts [`inferred`] from the session, a [`scenario`] in a project of its own. A [`collector`]
//! compares every decision with its [`expectation`], and the [`report`] writes the results. a [`recording`] is a session
//! that was exported with its modes.

pub mod change;
mod collector;
pub(crate) mod command;
mod expectation;
pub mod inferred;
mod inputs;
mod journal;
mod line;
mod line_reader;
pub(crate) mod mask;
mod merge;
mod mode_source;
mod recorded_facts;
pub mod recording;
pub mod redecision;
pub mod report;
mod result;
pub mod scenario;
mod stream;
mod threads;
pub mod transcript;
