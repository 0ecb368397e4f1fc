//! Everything that is not a scenario, in one binary: linking is slow.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may stop where it cannot go on"
)]

#[path = "all/architecture.rs"]
mod architecture;
#[path = "all/bad_input.rs"]
mod bad_input;
#[path = "all/bad_modes.rs"]
mod bad_modes;
#[path = "all/commands.rs"]
mod commands;
#[path = "all/doctor.rs"]
mod doctor;
#[path = "all/import.rs"]
mod import;
#[path = "all/install.rs"]
mod install;
#[path = "all/places.rs"]
mod places;
#[path = "support/project.rs"]
mod project;
#[path = "all/race.rs"]
mod race;
#[path = "all/readme.rs"]
mod readme;
#[path = "all/record.rs"]
mod record;
#[path = "all/recordings.rs"]
mod recordings;
#[path = "all/replay.rs"]
mod replay;
#[path = "all/state.rs"]
mod state;
#[path = "all/steps.rs"]
mod steps;
#[path = "all/streams.rs"]
mod streams;
#[path = "all/transcripts.rs"]
mod transcripts;
