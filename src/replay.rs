//! Deciding recorded sessions again: the same events and facts, the modes of today.
//!
//! An [`entry`] is a line of a recorded file. A [`trial`] decides it again with the facts that were recorded,
//! asked through a [`witness`] that never makes one up, and tells the [`change`]. A [`retrial`] is that as
//! people and scripts read it; a [`tally`] counts them. A [`recording`] is a journal that carries its modes.
//! A [`transcript`] is the host's own: its events are rebuilt, and what is [`remembered`] of them stands for the
//! world. A [`scenario`] makes a world. What came of it all is told to people and programs by [`junit`], [`sarif`],
//! [`github`], [`diagram`] and [`report`]. An [`export`] is a recording that may leave the machine, without what a
//! [`mask`] takes away.

pub mod chain;
pub mod change;
pub mod diagram;
pub mod entry;
pub mod expect;
pub mod export;
pub mod form;
pub mod github;
pub mod junit;
pub mod mask;
pub mod problem;
pub mod recording;
pub mod remembered;
pub mod report;
pub mod retrial;
pub mod sarif;
pub mod scenario;
pub mod tally;
pub mod transcript;
pub mod trial;
pub mod witness;
