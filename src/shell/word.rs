//! What a word comes to, as far as it can be told.

/// Stands for what is not known in a text that is read again: the script of `sh -c "rm $x"`.
pub(super) const UNKNOWN: &str = "\u{f8ff}";

/// Longer than any line, a word is not worth knowing: `a=$a$a`, often enough, is longer than memory.
const LONG: usize = 64 * 1024;

/// A word after quotes, variables and substitutions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShellWord {
    pieces: Vec<WordPiece>,
}

/// A piece of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordPiece {
    /// Text that is known.
    Text(String),
    /// A pattern of the shell: `*`, `?`, `[ab]`.
    Glob(String),
    /// Text that is not known, and may be none.
    Unknown,
}

impl ShellWord {
    pub(super) fn new(text: impl Into<String>) -> Self {
        let mut word = Self::default();
        word.push(&text.into());
        word
    }

    pub(super) fn unknown() -> Self {
        Self { pieces: vec![WordPiece::Unknown] }
    }

    /// Its pieces, in order.
    #[must_use]
    pub fn pieces(&self) -> &[WordPiece] {
        &self.pieces
    }

    pub(super) fn push(&mut self, text: &str) {
        if let Some((before, after)) = text.split_once(UNKNOWN) {
            self.push(before);
            self.push_unknown();
            return self.push(after);
        }
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(WordPiece::Text(last)) if last.len() + text.len() > LONG => self.push_unknown(),
            Some(WordPiece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(WordPiece::Text(text.to_owned())),
        }
    }

    pub(super) fn push_glob(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(WordPiece::Glob(last)) => last.push_str(text),
            _ => self.pieces.push(WordPiece::Glob(text.to_owned())),
        }
    }

    pub(super) fn push_unknown(&mut self) {
        if self.pieces.last() != Some(&WordPiece::Unknown) {
            self.pieces.push(WordPiece::Unknown);
        }
    }

    pub(super) fn extend(&mut self, other: &Self) {
        for piece in &other.pieces {
            // A word that doubles itself again and again becomes unknown before it becomes long.
            if self.pieces.len() > LONG / 64 || self.length() > LONG {
                self.pieces = vec![WordPiece::Unknown];
            }
            match piece {
                WordPiece::Text(text) => self.push(text),
                WordPiece::Glob(text) => self.push_glob(text),
                WordPiece::Unknown => self.push_unknown(),
            }
        }
    }

    fn length(&self) -> usize {
        let length = |piece: &WordPiece| match piece {
            WordPiece::Text(text) | WordPiece::Glob(text) => text.len(),
            WordPiece::Unknown => 0,
        };
        self.pieces.iter().map(length).sum()
    }

    /// Whether it has a pattern.
    #[must_use]
    pub fn has_glob(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, WordPiece::Glob(_)))
    }

    /// Its text, where all of it is known; patterns as they are written.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        (!self.pieces.contains(&WordPiece::Unknown)).then(|| self.filled(""))
    }

    /// The known text that it begins with.
    #[must_use]
    pub fn prefix(&self) -> String {
        let known = self.pieces.iter().take_while(|piece| **piece != WordPiece::Unknown).cloned().collect();
        Self { pieces: known }.filled("")
    }

    /// Its text with something else for what is not known.
    #[must_use]
    pub fn filled(&self, hole: &str) -> String {
        let text = |piece: &'_ WordPiece| match piece {
            WordPiece::Text(text) | WordPiece::Glob(text) => text.clone(),
            WordPiece::Unknown => hole.to_owned(),
        };
        self.pieces.iter().map(text).collect()
    }

    /// Whether it is exactly this text.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        self.text().as_deref() == Some(text)
    }

    /// The word from this many bytes of known text on.
    pub(super) fn after(&self, prefix: &str) -> Option<Self> {
        let (first, rest) = self.pieces.split_first()?;
        let WordPiece::Text(first) = first else { return None };
        let mut word = Self::new(first.strip_prefix(prefix)?);
        word.pieces.extend_from_slice(rest);
        Some(word)
    }
}

/// Words as a person would write them, with `…` for what is not known and for what is too much.
#[must_use]
pub fn shown(words: &[ShellWord]) -> String {
    let mut text = String::new();
    for word in words {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&word.filled("…"));
        if let Some((end, _)) = text.char_indices().nth(200) {
            text.truncate(end);
            text.push('…');
            break;
        }
    }
    text
}
