//! Expanded words, which may be partly unknown.

/// Marks unknown text in a script that is parsed again, as in `sh -c "rm $x"`.
pub(super) const UNKNOWN: &str = "\u{f8ff}";

/// The longest known word; repeating `a=$a$a` would otherwise exhaust memory.
const LONG: usize = 64 * 1024;

/// A word after expansion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShellWord {
    pieces: Vec<WordPiece>,
}

/// A piece of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordPiece {
    /// Known text.
    Text(String),
    /// A glob: `*`, `?`, `[ab]`.
    Glob(String),
    /// Unknown text, possibly empty.
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
            // A word that doubles itself becomes unknown before it becomes too long.
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

    /// Whether it contains a glob.
    #[must_use]
    pub fn has_glob(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, WordPiece::Glob(_)))
    }

    /// Its text if all of it is known, with globs as written.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        (!self.pieces.contains(&WordPiece::Unknown)).then(|| self.filled(""))
    }

    /// The known text at its beginning.
    #[must_use]
    pub fn prefix(&self) -> String {
        let known = self.pieces.iter().take_while(|piece| **piece != WordPiece::Unknown).cloned().collect();
        Self { pieces: known }.filled("")
    }

    /// Its text, with `unknown` in place of unknown pieces.
    #[must_use]
    pub fn filled(&self, unknown: &str) -> String {
        let text = |piece: &'_ WordPiece| match piece {
            WordPiece::Text(text) | WordPiece::Glob(text) => text.clone(),
            WordPiece::Unknown => unknown.to_owned(),
        };
        self.pieces.iter().map(text).collect()
    }

    /// Whether it is exactly this text.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        self.text().as_deref() == Some(text)
    }

    /// Joins words with spaces.
    pub(super) fn joined(words: &[Self]) -> Self {
        let mut all = Self::default();
        for (at, word) in words.iter().enumerate() {
            if at > 0 {
                all.push(" ");
            }
            all.extend(word);
        }
        all
    }

    /// The word with a slash at its end.
    pub(super) fn slashed(&self) -> Self {
        let mut word = self.clone();
        word.push("/");
        word
    }

    /// The rest of the word after a known prefix.
    pub(super) fn after(&self, prefix: &str) -> Option<Self> {
        let (first, rest) = self.pieces.split_first()?;
        let WordPiece::Text(first) = first else { return None };
        let mut word = Self::new(first.strip_prefix(prefix)?);
        word.pieces.extend_from_slice(rest);
        Some(word)
    }
}

/// Joins words for a message, with `…` for unknown and omitted text.
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
