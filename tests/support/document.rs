//! Parses a document into sections, table rows and fenced blocks.

use std::path::Path;

/// A Markdown document.
#[derive(Clone)]
pub struct Document {
    /// The path in the repository.
    pub name: &'static str,
    text: String,
}

/// A fenced block.
#[derive(Clone)]
pub struct Block {
    /// The words after the opening fence: `yaml scenario`.
    pub info: String,
    /// The text between the fences.
    pub text: String,
    /// The line number of the opening fence.
    pub line: usize,
}

#[allow(dead_code, reason = "each test binary uses its part")]
impl Document {
    pub fn read(name: &'static str) -> Self {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
        Self { name, text }
    }

    /// Whether the document has the word in backticks.
    pub fn mentions(&self, word: &str) -> bool {
        self.text.contains(&format!("`{word}`"))
    }

    /// Whether the document has the text anywhere.
    pub fn contains(&self, text: &str) -> bool {
        self.text.contains(text)
    }

    /// Returns the text below a heading, up to the next heading of any level.
    pub fn section(&self, heading: &str) -> Option<Self> {
        let mut lines = self.text.lines().skip_while(|line| *line != heading);
        lines.next()?;
        let mut fenced = false;
        let own = lines.take_while(|line| {
            fenced ^= line.starts_with("```");
            fenced || !line.starts_with('#')
        });
        Some(Self { name: self.name, text: own.collect::<Vec<_>>().join("\n") })
    }

    /// Returns the word in backticks at the start of each table row.
    pub fn rows(&self) -> Vec<&str> {
        self.text.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect()
    }

    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut open = false;
        for (line, text) in (1..).zip(self.text.lines()) {
            match text.strip_prefix("```") {
                Some(_) if open => open = false,
                Some(info) => {
                    open = true;
                    blocks.push(Block { info: info.to_owned(), text: String::new(), line });
                }
                None if open => blocks.last_mut().unwrap().text.extend([text, "\n"]),
                None => {}
            }
        }
        blocks
    }

    pub fn blocks_of(&self, info: &str) -> Vec<Block> {
        self.blocks().into_iter().filter(|block| block.info == info).collect()
    }
}
