//! Every trick that is known, and everything that only looks like one.

use super::*;

mod bypasses;
mod harmless;
mod hostile;

fn ground() -> Ground {
    Ground { cwd: "/w/p".to_owned(), home: "/home/me".to_owned(), project: "/w/p".to_owned() }
}

/// A touch in short: what is done, `!` if to all below, `?` if perhaps elsewhere, and to
/// what; `…` is what is not known.
fn short(touch: &Touch) -> String {
    let deed = match touch.deed {
        Deed::Remove => "rm",
        Deed::Write => "write",
        Deed::Mode => "mode",
        Deed::Own => "own",
        Deed::Device => "device",
        Deed::Maybe => "maybe",
    };
    let target = match &touch.target {
        Target::Known { path, .. } => path.clone(),
        Target::Below { prefix, .. } => format!("{prefix}…"),
        Target::Unknown { bare: Some(bare) } => format!("…{bare}"),
        Target::Unknown { bare: None } => "…".to_owned(),
    };
    let marks = [(touch.recursive, "!"), (!touch.sure, "?")];
    let marks: String = marks.into_iter().filter(|(is, _)| *is).map(|(_, mark)| mark).collect();
    format!("{deed}{marks} {target}")
}

fn touches(command: &str) -> Vec<String> {
    let effects = effects(command, &ground());
    assert_eq!(effects.unreadable, None, "{command}");
    effects.touches.iter().map(short).collect()
}

/// Checks a table of commands with the touches that each must have, separated by commas.
#[track_caller]
fn check(table: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (command, expected) in table {
        let effects = effects(command, &ground());
        let found: Vec<String> = effects.touches.iter().map(short).collect();
        let missing = expected.split(", ").any(|one| !found.iter().any(|touch| touch == one));
        if missing || effects.unreadable.is_some() {
            wrong.push(format!("{command}\n    expected {expected}\n    found    {found:?} {:?}", effects.unreadable));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), table.len(), wrong.join("\n"));
}
