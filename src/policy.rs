//! From YAML to the catalogue: modes, checks, settings, imported formats.

pub mod check;
pub mod gallery;
pub mod mode;
pub mod settings;
pub mod yaml;
