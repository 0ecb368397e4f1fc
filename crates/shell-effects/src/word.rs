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
    /// Unknown text that is not empty: `${x:?}`.
    NonEmpty,
}

impl WordPiece {
    fn length(&self) -> usize {
        match self {
            Self::Text(text) | Self::Glob(text) => text.len(),
            Self::Unknown | Self::NonEmpty => 0,
        }
    }
}

impl ShellWord {
    pub(super) fn new(text: impl Into<String>) -> Self {
        let mut word = Self::default();
        word.push(&text.into());
        word
    }

    pub(super) fn glob(text: impl Into<String>) -> Self {
        Self { pieces: vec![WordPiece::Glob(text.into())] }
    }

    pub(super) fn unknown() -> Self {
        Self { pieces: vec![WordPiece::Unknown] }
    }

    /// Its pieces, in order.
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

    pub(super) fn push_non_empty(&mut self) {
        self.pieces.push(WordPiece::NonEmpty);
    }

    pub(super) fn extend(&mut self, other: &Self) {
        let mut length = self.length();
        for piece in &other.pieces {
            // A word that doubles itself becomes unknown before it becomes too long.
            if self.pieces.len() > LONG / 64 || length > LONG {
                self.pieces = vec![WordPiece::Unknown];
                length = 0;
            }
            length += piece.length();
            self.push_piece(piece);
        }
    }

    pub(super) fn push_piece(&mut self, piece: &WordPiece) {
        match piece {
            WordPiece::Text(text) => self.push(text),
            WordPiece::Glob(text) => self.push_glob(text),
            WordPiece::Unknown => self.push_unknown(),
            WordPiece::NonEmpty => self.push_non_empty(),
        }
    }

    /// The work of copying it.
    pub(super) fn cost(&self) -> usize {
        1 + self.pieces.len() + self.length() / 8
    }

    fn length(&self) -> usize {
        self.pieces.iter().map(WordPiece::length).sum()
    }

    /// Whether it contains a glob.
    pub fn has_glob(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, WordPiece::Glob(_)))
    }

    /// Its text if all of it is known, with globs as written.
    pub fn text(&self) -> Option<String> {
        let is_known = |piece: &WordPiece| matches!(piece, WordPiece::Text(_) | WordPiece::Glob(_));
        self.pieces.iter().all(is_known).then(|| self.filled(""))
    }

    /// The known text at its beginning.
    pub fn prefix(&self) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                WordPiece::Text(known) | WordPiece::Glob(known) => text.push_str(known),
                WordPiece::Unknown | WordPiece::NonEmpty => break,
            }
        }
        text
    }

    /// Its text, with `unknown` in place of unknown pieces.
    pub fn filled(&self, unknown: &str) -> String {
        let text = |piece| match piece {
            &WordPiece::Text(ref text) | &WordPiece::Glob(ref text) => text.as_str(),
            &WordPiece::NonEmpty if unknown.is_empty() => "…",
            &WordPiece::Unknown | &WordPiece::NonEmpty => unknown,
        };
        self.pieces.iter().map(text).collect()
    }

    /// Whether it is exactly this text.
    pub fn is(&self, text: &str) -> bool {
        match self.pieces.as_slice() {
            [] => text.is_empty(),
            [WordPiece::Text(own) | WordPiece::Glob(own)] => own == text,
            _ => self.text().as_deref() == Some(text),
        }
    }

    /// Whether its known text contains a character.
    pub(super) fn has_text(&self, wanted: char) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, WordPiece::Text(text) if text.contains(wanted)))
    }

    /// Splits it at a character of its known text; what follows the last one counts if it is not empty.
    pub(super) fn split(&self, is_end: impl Fn(char) -> bool) -> Vec<Self> {
        let mut parts = vec![Self::default()];
        for piece in &self.pieces {
            match piece {
                WordPiece::Text(text) => {
                    for (at, line) in text.split(&is_end).enumerate() {
                        if at > 0 {
                            parts.push(Self::default());
                        }
                        parts.last_mut().into_iter().for_each(|part| part.push(line));
                    }
                }
                piece => parts.last_mut().into_iter().for_each(|part| part.push_piece(piece)),
            }
        }
        if parts.last().is_some_and(|last| last.pieces.is_empty()) {
            parts.pop();
        }
        parts
    }

    /// The word without the newlines at its end.
    pub(super) fn trimmed(mut self) -> Self {
        if let Some(WordPiece::Text(last)) = self.pieces.last_mut() {
            last.truncate(last.trim_end_matches('\n').len());
            if last.is_empty() {
                self.pieces.pop();
            }
        }
        self
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

    /// The path of a name in the folder that the word is.
    pub(super) fn child(&self, name: &Self) -> Self {
        let mut path = self.slashed();
        path.extend(name);
        path
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
