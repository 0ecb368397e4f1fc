//! Deciding recorded sessions again: the same events and facts, the modes of today.
//!
//! A [`recording`] is a journal that carries the modes that decided it. A [`transcript`] is the host's own: its events
//! are rebuilt, and what is [`remembered`] of them stands for the world.

pub mod form;
pub mod recording;
pub mod remembered;
pub mod transcript;
