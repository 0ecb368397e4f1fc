//! Whether a call starts the runner that a command names, or only looks like it.

use super::programs::{summaries, test_program};
use shell_effects::{ProgramCall, has_name};

/// Runners that projects keep beside their code.
const PROJECT_PROGRAMS: &str = "gradlew mvnw manage.py sbt bazel";

/// Folders of installed programs, by their names.
const PROGRAM_FOLDERS: &str = "bin .bin sbin Scripts shims …";

pub(super) fn starts(call: &ProgramCall, command: &str) -> bool {
    call.matches(command) && {
        let argv = call.argv();
        let mut wanted = command.split_whitespace();
        let named = wanted.next().unwrap_or_default();
        argv.first().is_some_and(|program| named.contains('/') || is_installed(program, named))
            && wanted.next().is_none_or(|first| decides(&argv, named, first))
    }
}

/// Whether a program is where programs are installed: a `./pytest` may print anything.
fn is_installed(program: &str, name: &str) -> bool {
    let Some((folder, _)) = program.rsplit_once(['/', '\\']) else { return true };
    let is_known = has_name("make gmake npm pnpm yarn", name)
        || summaries().flat_map(|summary| summary.commands).any(|own| own.split(' ').next() == Some(name));
    let is_dependency = ["node_modules/", "vendor/"].iter().any(|part| folder.contains(part));
    let last = folder.rsplit(['/', '\\']).next().unwrap_or_default();
    !is_known || is_dependency || has_name(PROJECT_PROGRAMS, name) || has_name(PROGRAM_FOLDERS, last)
}

/// Whether only options come before `first`: `cargo -q run test` is not `cargo test`.
fn decides(argv: &[String], name: &str, first: &str) -> bool {
    let Some(valued) = test_program(name).and_then(|program| program.first_operand) else { return true };
    let mut words = argv.iter().skip(1);
    while let Some(word) = words.next() {
        if word == first || !word.starts_with(['-', '+']) {
            return word.split(':').next() == Some(first);
        }
        if has_name(valued, word) {
            words.next();
        }
    }
    false
}
