//! Deciding recorded sessions again: the same events and facts, the modes of today.
//!
//! A [`recording`] is a journal that carries the modes that decided it; the [`report`] is a page to look at.

pub mod recording;
pub mod report;
