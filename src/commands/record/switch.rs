//! Switches recording in `.claude/modegate.yaml`.

use crate::commands::cli_error::{self, CliError};
use crate::commands::file_change::text_of;
use crate::commands::trust::TrustBefore;
use crate::host::paths::ProjectPaths;
use crate::policy::mode::{Catalogue, SETTINGS};
use crate::policy::settings::switch::{SwitchError, switched};
use crate::state::mode_cache;
use base::disk;
use base::screen;
use serde_json::json;

/// Switches recording on or off, and prints the result.
pub(crate) fn run(places: &ProjectPaths, on: bool, as_json: bool) -> Result<(), CliError> {
    let path = places.settings();
    let text = text_of(&path)?.unwrap_or_default();
    let switched = switched(&text, on).map_err(|error| explain(&text, on, &error))?;
    // No file is created for the default.
    let changed = switched != text;
    if changed {
        let trust = TrustBefore::read(places.clone());
        let failed = |error| CliError::failure(format!("cannot write `{SETTINGS}`: {error}"));
        disk::require_inside(&path, &[&places.home]).map_err(failed)?;
        disk::write(&path, switched.as_bytes(), disk::LinkPolicy::Follow).map_err(failed)?;
        trust.renew();
    }
    // A file that nobody has trusted changes nothing.
    let is_on = mode_cache::read(places).settings.journal;
    if as_json {
        screen::print_json(&json!({"recording": is_on, "changed": changed, "settings": path.to_string_lossy()}));
        return Ok(());
    }
    let word = |on: bool| if on { "on" } else { "off" };
    if is_on != on {
        let (is, set) = (word(is_on), if changed { "now switches" } else { "switches" });
        screen::print_line(format!("recording is still {is} in {}", places.home.display()));
        screen::print_line(format!(
            "`{SETTINGS}` {set} it {}, but you have not trusted that file; run `modegate trust`",
            word(on)
        ));
        return Ok(());
    }
    let already = if changed { "now" } else { "already" };
    screen::print_line(format!("recording is {already} {} in {}", word(on), places.home.display()));
    if changed {
        screen::print_line(format!("written to `{SETTINGS}`; applies from the next event"));
    }
    if !on {
        screen::print_line(
            "without a journal, `why` and `log` are empty, `session` checks and `by` of `frontmatter` are unknown, `by` of `file` has no effect, and a state that something else changed is not restored",
        );
    }
    Ok(())
}

fn explain(text: &str, on: bool, error: &SwitchError) -> CliError {
    match error {
        SwitchError::Broken(_) => cli_error::broken(&Catalogue::compose(Some((SETTINGS, text)), &[]).broken)
            .hint("fix the file and run this again; nothing was changed"),
        SwitchError::Intricate => CliError::failure(format!("`{SETTINGS}` cannot be edited safely"))
            .hint(format!("write `journal: {on}` into it yourself; nothing was changed")),
    }
}
