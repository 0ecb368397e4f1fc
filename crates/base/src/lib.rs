//! What the other crates and the program stand on: regular files, programs with a time limit, paths, and text that is safe to print.

pub mod cli_error;
pub mod crash;
pub mod digest;
pub mod disk;
pub mod paths;
pub mod printable;
pub mod process;
pub mod screen;
pub mod template;
