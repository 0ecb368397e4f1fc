//! What variables and substitutions expand to.

use super::CallOutput;
use super::walker::Walker;
use crate::syntax::Unreadable;
use crate::word::ShellWord;

impl Walker<'_> {
    /// A variable's value, one or several words; `None` if it is unknown.
    pub fn variable(&self, name: &str) -> Option<Vec<ShellWord>> {
        let value = self.state.variable(name)?;
        self.budget.spend(value.iter().map(ShellWord::cost).sum());
        Some(value.to_vec())
    }

    /// The output of a command, as far as it is known.
    pub fn printed(&mut self, command: &str) -> ShellWord {
        let outer = std::mem::replace(&mut self.is_substituted, true);
        let printed = self.in_ignored_subshell(|walker| {
            walker.output = CallOutput::Captured;
            walker.text(command, &ShellWord::unknown())
        });
        self.is_substituted = outer;
        printed.trimmed()
    }

    /// The file name that `<(…)` expands to.
    pub fn piped(&mut self, command: &str) -> ShellWord {
        let printed = self.printed(command);
        let file = ShellWord::new(format!("/dev/fd/{}", 63 + self.state.disk.written.len()));
        self.wrote(&file, printed);
        file
    }

    /// The folder of `~` or `~name`.
    pub fn home(&self, name: &str) -> ShellWord {
        let home = self.context.home.as_str();
        let above = home.rsplit_once('/').map_or("", |(above, _)| above);
        let above = if above.is_empty() { "/home" } else { above };
        let folder =
            |folder: Option<&String>| folder.map_or_else(ShellWord::unknown, |folder| ShellWord::new(folder.as_str()));
        match name {
            "" => {
                self.state.variable("HOME").and_then(|words| words.first().cloned()).unwrap_or_else(ShellWord::unknown)
            }
            "+" => folder(self.state.folder.as_ref()),
            "-" => folder(self.state.previous.as_ref()),
            "root" => ShellWord::new("/root"),
            name => ShellWord::new(format!("{above}/{name}")),
        }
    }

    /// Reports a word that has no end.
    pub fn lost(&mut self, raw: &str) {
        let begin: String = raw.chars().take(40).collect();
        let used_up = self.budget.is_used_up();
        self.give_up(if used_up { Unreadable::TooMuchWork } else { Unreadable::Unclosed(begin) });
    }
}
