//! Deciding recorded sessions again: the same events and facts, the modes of today.
//!
//! A [`recording`] is a journal that carries the modes that decided it.

pub mod recording;
