//! Deciding recorded sessions again: the same events and facts, the modes of today.
//!
//! A [`recording`] is a journal that carries the modes that decided it; [`export`] makes one that may leave the
//! machine, with what [`mask`] takes away.

pub mod export;
pub mod mask;
pub mod recording;
