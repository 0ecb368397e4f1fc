//! Deciding recorded sessions again, without I/O.
//!
//! A [`line`] of a journal is decided again ([`redecision`]) with its [`recorded_facts`], and the [`change`] is found;
//! one that matches the [`line_pattern`] of an earlier line is decided like it ([`known_lines`]).
//! Events without a recorded decision, such as those of a [`transcript`], are decided with facts [`inferred`] from the
//! session; a [`scenario`] has a project of its own. A [`result`] is checked against an [`expectation`], and rendered by
//! [`junit`], [`markdown`], [`annotations`] and [`html`].
//! A [`recording`] may leave the machine, without what a [`mask`] removes.

pub(crate) mod annotations;
pub mod change;
pub(crate) mod continuity;
pub(crate) mod expectation;
pub mod html;
pub mod inferred;
pub(crate) mod junit;
pub(crate) mod known_lines;
pub mod line;
pub(crate) mod line_pattern;
pub(crate) mod markdown;
pub(crate) mod mask;
pub(crate) mod recorded_facts;
pub mod recording;
pub mod redecision;
pub(crate) mod result;
pub mod scenario;
pub mod transcript;
