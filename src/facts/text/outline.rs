//! The headings of a markdown text, and whether they have text.

/// A heading and whether it has text.
pub(super) struct Section {
    level: usize,
    pub(super) title: String,
    underlined: bool,
    pub(super) filled: bool,
}

pub(super) fn sections(body: &str) -> Vec<Section> {
    let mut outline = Outline::default();
    for line in body.lines() {
        outline.take(line);
    }
    outline.settle();
    outline.sections
}

/// A body as it is read line by line.
#[derive(Default)]
struct Outline<'a> {
    sections: Vec<Section>,
    /// The places of the sections that have not ended, outermost first.
    around: Vec<usize>,
    /// The lines of the paragraph being read: an underline may still make them a heading.
    paragraph: Vec<&'a str>,
    /// The character and length of the code fence that is open.
    fence: Option<(char, usize)>,
    comment: bool,
}

impl<'a> Outline<'a> {
    fn take(&mut self, line: &'a str) {
        if self.hidden(line) {
            return;
        }
        let indented = line.len() - line.trim_start_matches(' ').len() > 3;
        let text = line.trim();
        if let Some((level, title)) = hashed(text).filter(|_| !indented) {
            self.settle();
            self.open(level, title, false);
        } else if let Some(level) = underline(text).filter(|level| !indented && self.underlines(*level)) {
            let title = std::mem::take(&mut self.paragraph).join(" ");
            self.open(level, &title, true);
        } else if text.is_empty() {
            self.settle();
        } else {
            self.paragraph.push(text);
        }
    }

    /// Whether a line is in a code block or a comment, where nothing is a heading.
    fn hidden(&mut self, line: &str) -> bool {
        let text = line.trim();
        if self.comment || text.starts_with("<!--") {
            self.comment = !text.contains("-->");
            return true;
        }
        let mark = fence(line);
        match (self.fence, mark) {
            (Some((open, length)), Some((close, closing, ""))) if open == close && closing >= length => {
                self.fence = None;
            }
            (Some(_), _) => self.fill(text),
            (None, Some((open, length, _))) => {
                self.settle();
                self.fence = Some((open, length));
            }
            (None, None) => return false,
        }
        true
    }

    /// Whether an underline of `level` makes the paragraph a heading. Under a list, a quote or a table, dashes
    /// are a rule.
    fn underlines(&self, level: usize) -> bool {
        let block = |text: &&str| {
            let item = text.starts_with(['-', '*', '+']) || unnumbered(text).len() < text.len() && level == 2;
            item || text.starts_with(['>', '|'])
        };
        !self.paragraph.is_empty() && !self.paragraph.iter().any(block)
    }

    fn open(&mut self, level: usize, title: &str, underlined: bool) {
        // A rule right below a paragraph reads as an underline. It must not empty the section it was meant to
        // close, so where headings are written with `#`, such a paragraph is also text.
        if underlined && self.sections.last().is_some_and(|section| !section.underlined) {
            self.fill(title);
        }
        let ended = |place: &usize| self.sections.get(*place).is_none_or(|section| section.level >= level);
        while self.around.last().is_some_and(ended) {
            self.around.pop();
        }
        self.around.push(self.sections.len());
        self.sections.push(Section { level, title: plain(title), underlined, filled: false });
    }

    /// Ends the paragraph as the text it is.
    fn settle(&mut self) {
        for text in std::mem::take(&mut self.paragraph) {
            self.fill(text);
        }
    }

    /// Adds `text` to the last section and those around it.
    fn fill(&mut self, text: &str) {
        if !text.chars().any(|c| !c.is_whitespace() && !c.is_ascii_punctuation()) {
            return;
        }
        for place in &self.around {
            if let Some(section) = self.sections.get_mut(*place) {
                section.filled = true;
            }
        }
    }
}

/// The level and title of a `# heading`.
fn hashed(text: &str) -> Option<(usize, &str)> {
    let title = text.trim_start_matches('#');
    let level = text.len() - title.len();
    let heading = (1..=6).contains(&level) && (title.is_empty() || title.starts_with([' ', '\t']));
    heading.then(|| (level, title.trim()))
}

/// The level of the heading that this line underlines.
fn underline(text: &str) -> Option<usize> {
    let whole = |mark| !text.is_empty() && text.chars().all(|c| c == mark);
    if whole('=') { Some(1) } else { whole('-').then_some(2) }
}

/// The character, length and info text of a line that opens or closes a code block.
fn fence(line: &str) -> Option<(char, usize, &str)> {
    let text = line.trim_start_matches(' ');
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = text.trim_start_matches(mark);
    let length = text.len() - info.len();
    let fence = length >= 3 && line.len() - text.len() <= 3 && !(mark == '`' && info.contains('`'));
    fence.then(|| (mark, length, info.trim()))
}

/// A title as it is compared: without numbering, emphasis, closing marks, case and extra space.
pub(super) fn plain(title: &str) -> String {
    let bare = title.trim().trim_start_matches(['*', '_', '`']);
    let bare = unnumbered(bare).trim_start_matches(['*', '_', '`']);
    let closing = |c: char| c.is_whitespace() || "#:;.,!?-*_`–—…".contains(c);
    let words: Vec<&str> = bare.trim_end_matches(closing).split_whitespace().collect();
    words.join(" ").to_lowercase()
}

/// A text without a leading `1.`, `2)` or `1.2.`.
fn unnumbered(text: &str) -> &str {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')'));
    let number = text.strip_suffix(rest).unwrap_or_default();
    let counts = number.starts_with(|c: char| c.is_ascii_digit()) && number.contains(['.', ')']);
    if counts && rest.starts_with([' ', '\t']) { rest.trim_start() } else { text }
}
