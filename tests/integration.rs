//! Everything that is not a scenario, in one binary: linking is slow.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may stop where it cannot go on"
)]

#[path = "integration/action.rs"]
mod action;
#[path = "integration/architecture.rs"]
mod architecture;
#[path = "integration/bad_input.rs"]
mod bad_input;
#[path = "integration/bad_modes.rs"]
mod bad_modes;
#[path = "integration/check_command.rs"]
mod check_command;
#[path = "integration/commands.rs"]
mod commands;
#[path = "integration/doctor.rs"]
mod doctor;
#[cfg(unix)]
#[path = "integration/faults.rs"]
mod faults;
#[path = "integration/gallery.rs"]
mod gallery;
#[path = "integration/hostile_clone.rs"]
mod hostile_clone;
#[path = "integration/import.rs"]
mod import;
#[path = "integration/install.rs"]
mod install;
#[path = "integration/installation.rs"]
mod installation;
#[path = "integration/launcher.rs"]
mod launcher;
#[path = "integration/packaging.rs"]
mod packaging;
#[path = "integration/places.rs"]
mod places;
#[path = "integration/plugin.rs"]
mod plugin;
#[path = "support/project.rs"]
mod project;
#[path = "integration/race.rs"]
mod race;
#[path = "integration/readme.rs"]
mod readme;
#[path = "integration/record.rs"]
mod record;
#[path = "integration/replay.rs"]
mod replay;
#[path = "integration/state.rs"]
mod state;
#[path = "integration/steps.rs"]
mod steps;
#[path = "integration/streams.rs"]
mod streams;
#[path = "integration/tampering.rs"]
mod tampering;
#[path = "integration/trust.rs"]
mod trust;
#[path = "integration/windows.rs"]
mod windows;
