//! The journal on and off, in `.claude/modegate.yaml`.

use super::RecordError;
use crate::cli::file_change::text_of;
use crate::cli::screen;
use crate::disk;
use crate::mode::{Catalogue, SETTINGS};
use crate::paths::ProjectPaths;
use crate::settings::switch::{SwitchError, switched};
use serde_json::json;

/// Switches the journal, and says what is so now.
pub(super) fn run(places: &ProjectPaths, on: bool, as_json: bool) -> Result<(), RecordError> {
    let path = places.settings();
    let before = text_of(&path).map_err(|error| RecordError::found(error.to_string()))?;
    let text = before.clone().unwrap_or_default();
    let after = switched(&text, on).map_err(|refusal| RecordError::found(refused(&text, on, &refusal)))?;
    // What is so already needs no file.
    let changed = after != text;
    if changed {
        let cannot = |error| RecordError::found(format!("`{SETTINGS}` cannot be written: {error}"));
        disk::write(&path, after.as_bytes(), disk::LinkPolicy::Follow).map_err(cannot)?;
    }
    if as_json {
        screen::print_json(&json!({"recording": on, "changed": changed, "settings": path.to_string_lossy()}));
        return Ok(());
    }
    let (word, already) = (if on { "on" } else { "off" }, if changed { "now" } else { "already" });
    screen::print_line(format!("recording is {already} {word} in {}", places.home.display()));
    if changed {
        screen::print_line(format!("`{SETTINGS}` says so; it counts from the next event on"));
    }
    if !on {
        screen::print_line(
            "checks that ask who wrote a file are unknown without a journal; `modegate record on` brings it back",
        );
    }
    Ok(())
}

fn refused(text: &str, on: bool, refusal: &SwitchError) -> String {
    match refusal {
        SwitchError::Broken(_) => {
            let broken = Catalogue::compose(Some((SETTINGS, text)), &[]).broken;
            let told: Vec<String> = broken.iter().map(|broken| broken.to_string().trim_end().to_owned()).collect();
            let told = told.join("\n");
            let told = told.strip_prefix("error: ").unwrap_or(&told);
            format!("{told}\n  hint: mend the file and run this again; nothing was changed")
        }
        SwitchError::Intricate => format!(
            "`{SETTINGS}` is written in a way that is not changed by a program\n  hint: write `journal: {on}` into it \
             in an editor; nothing was changed"
        ),
    }
}
