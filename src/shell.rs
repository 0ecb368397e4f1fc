//! A command line as the shell would read it: [`commands`] for recognising what was run, [`effects()`] for what it
//! would do.

mod braces;
pub mod effects;
mod expand;
mod line;
mod parse;
mod quote;
mod scan;
mod syntax;
mod word;

pub use effects::{Deed, Effects, Ground, Hit, Run, Target, Touch, effects};
pub use line::{Simple, begins_with, changes_folder, commands};
pub use syntax::Unreadable;
pub use word::{Piece, Word};
