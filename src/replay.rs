//! Deciding recorded sessions again: the same events and facts, the modes of today.
//!
//! An [`entry`] is a line of a recorded file. A [`redecision`] decides it again with the facts that were recorded,
//! asked through a [`recorded_facts`] that never makes one up, and tells the [`change`]. A [`result`] is that as
//! people and scripts read it; a [`counts`] counts them. A [`recording`] is a journal that carries its modes.
//! A [`transcript`] is the host's own: its events are rebuilt, and what is [`remembered`] of them stands for the
//! world. A [`scenario`] makes a world. What came of it all is told to people and programs by [`junit`], [`sarif`],
//! [`github`], [`diagram`] and [`report`]. An [`export`] is a recording that may leave the machine, without what a
//! [`mask`] takes away.

pub mod change;
pub mod continuity;
pub mod counts;
pub mod diagram;
pub mod entry;
pub mod expectation;
pub mod export;
pub mod format;
pub mod github;
pub mod html;
pub mod inferred;
pub mod junit;
pub mod mask;
pub mod problem;
pub mod recorded_facts;
pub mod recording;
pub mod redecision;
pub mod result;
pub mod sarif;
pub mod scenario;
pub mod transcript;
