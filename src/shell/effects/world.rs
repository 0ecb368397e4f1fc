//! What the words of a line are asked of: the walk through it.

use super::walk::Walk;
use crate::shell::expand::World;
use crate::shell::syntax::Unreadable;
use crate::shell::word::Word;

impl World for Walk<'_> {
    fn variable(&self, name: &str) -> Option<Vec<Word>> {
        self.state.variable(name)
    }

    fn set(&mut self, name: &str, value: Vec<Word>) {
        self.state.set(name, Some(value));
    }

    fn printed(&mut self, command: &str) -> Word {
        let printed = self.aside(|walk| walk.text(command, &Word::unknown()));
        // The shell drops the line ends at the end.
        match printed.text() {
            Some(text) if !printed.has_glob() => Word::new(text.trim_end_matches('\n')),
            _ => printed,
        }
    }

    fn piped(&mut self, command: &str) -> Word {
        let printed = self.printed(command);
        let file = Word::new(format!("/dev/fd/{}", 63 + self.state.written.len()));
        self.wrote(&file, printed);
        file
    }

    fn home(&self, name: &str) -> Word {
        let home = self.ground.home.as_str();
        let above = home.rsplit_once('/').map_or("", |(above, _)| above);
        let folder = |folder: Option<&String>| folder.map_or_else(Word::unknown, |folder| Word::new(folder.as_str()));
        match name {
            "" => self.state.variable("HOME").and_then(|words| words.first().cloned()).unwrap_or_else(Word::unknown),
            "+" => folder(self.state.folder.as_ref()),
            "-" => folder(self.state.previous.as_ref()),
            "root" => Word::new("/root"),
            name => Word::new(format!("{above}/{name}")),
        }
    }

    fn lost(&mut self, raw: &str) {
        let begin: String = raw.chars().take(40).collect();
        self.give_up(Unreadable::new(format!("the end of `{begin}` is not to be found"), 1));
    }
}
