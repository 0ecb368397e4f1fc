//! The frontmatter of a markdown file, read as the YAML it is.

use super::Answer;
use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde_yaml::{Mapping, Value};

/// The longest frontmatter that is read, in bytes.
const LONGEST: usize = 64 * 1024;
/// The deepest nesting of brackets that reaches the parser, which takes quadratic time over them.
const DEEPEST: usize = 128;
/// What reading may cost: a unit a value and one a byte of text. No text within [`LONGEST`] costs as much by
/// itself, so only aliases that multiply can use it up.
const BUDGET: usize = 4 * LONGEST;

/// The keys at the beginning of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Frontmatter<T> {
    /// The file does not begin with a fence.
    Absent,
    /// It cannot be read, for this reason.
    Broken(String),
    /// Its keys, or those that were asked for.
    Keys(T),
}

/// Reads the frontmatter of a file.
///
/// Drops tags and resolves aliases; merge keys stay plain keys.
pub fn read(bytes: &[u8]) -> Frontmatter<Mapping> {
    let keys = |block| mapping(std::str::from_utf8(block).map_err(|_| FrontmatterError::NotUtf8)?);
    match parts(bytes).0.and_then(|block| block.map(keys).transpose()) {
        Ok(Some(keys)) => Frontmatter::Keys(keys),
        Ok(None) => Frontmatter::Absent,
        Err(error) => Frontmatter::Broken(error.to_string()),
    }
}

/// Why frontmatter cannot be read; its message comes after the word for the file.
#[derive(Debug, thiserror::Error)]
enum FrontmatterError {
    #[error("is not closed by a line `---`")]
    NotClosed,
    #[error("is longer than {} KiB", LONGEST / 1024)]
    TooLong,
    #[error("is not UTF-8")]
    NotUtf8,
    #[error("nests deeper than {DEEPEST} brackets")]
    TooDeep,
    #[error("is not a list of keys and values")]
    NotMapping,
    #[error("{}", clause(.0))]
    Yaml(#[source] serde_yaml::Error),
}

/// The values of `keys` in the frontmatter of a file.
pub fn frontmatter_of(bytes: &[u8], keys: &[String]) -> Answer {
    match read(bytes) {
        Frontmatter::Absent => Answer::NoFrontmatter,
        Frontmatter::Broken(why) => Answer::BrokenFrontmatter(why),
        Frontmatter::Keys(map) => {
            let value = |key: &String| Some((key.clone(), serde_json::to_value(map.get(key.as_str())?).ok()?));
            Answer::Frontmatter(keys.iter().filter_map(value).collect())
        }
    }
}

/// The text of a file after its frontmatter.
pub(super) fn body(bytes: &[u8]) -> &[u8] {
    parts(bytes).1
}

/// The block between the fences of a file, and the text after it; an unclosed fence is an ordinary line of the text.
fn parts(bytes: &[u8]) -> (Result<Option<&[u8]>, FrontmatterError>, &[u8]) {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let Some(opening) = lines.next().filter(|line| line.trim_ascii_end() == b"---") else {
        return (Ok(None), bytes);
    };
    let mut end = opening.len();
    for line in lines {
        if matches!(line.trim_ascii_end(), b"---" | b"...") {
            let block = bytes.get(opening.len()..end).filter(|block| block.len() <= LONGEST);
            return (
                block.map(Some).ok_or(FrontmatterError::TooLong),
                bytes.get(end + line.len()..).unwrap_or_default(),
            );
        }
        end += line.len();
    }
    (Err(FrontmatterError::NotClosed), bytes)
}

fn mapping(text: &str) -> Result<Mapping, FrontmatterError> {
    if nests_too_deep(text) {
        return Err(FrontmatterError::TooDeep);
    }
    let budget = Cell::new(BUDGET);
    match (BudgetedReader { budget: &budget, taken: None }).deserialize(serde_yaml::Deserializer::from_str(text)) {
        Ok(Value::Mapping(map)) => Ok(map),
        Ok(Value::Null) => Ok(Mapping::new()),
        Ok(_) => Err(FrontmatterError::NotMapping),
        Err(error) => Err(FrontmatterError::Yaml(error)),
    }
}

/// Whether too many brackets are open, in quotes or not: the parser would take long.
pub fn nests_too_deep(text: &str) -> bool {
    let mut depth = 0_usize;
    text.bytes().any(|byte| {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEEPEST
    })
}

/// The parser's message, with the line counted from the top of the file.
fn clause(error: &serde_yaml::Error) -> String {
    let text = error.to_string();
    let said = text.split(" at line ").next().unwrap_or(&text);
    match error.location() {
        Some(place) => format!("line {}: {said}", place.line() + 1),
        None => said.to_owned(),
    }
}

/// Reads one value and charges it to the budget, so that nested aliases cannot fill the memory.
#[derive(Clone, Copy)]
struct BudgetedReader<'a> {
    budget: &'a Cell<usize>,
    /// The entries so far, while a key is read, to report duplicates at their line.
    taken: Option<&'a Mapping>,
}

impl BudgetedReader<'_> {
    fn charge<E: Error>(self, cost: usize) -> Result<(), E> {
        let left = self.budget.get().checked_sub(cost);
        self.budget.set(left.ok_or_else(|| E::custom("aliases repeat too much"))?);
        Ok(())
    }

    fn small<E: Error>(self, value: Value) -> Result<Value, E> {
        self.charge(1)?;
        if self.taken.is_some_and(|taken| taken.contains_key(&value)) {
            return Err(E::custom("a key appears twice"));
        }
        Ok(value)
    }
}

impl<'de> DeserializeSeed<'de> for BudgetedReader<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for BudgetedReader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.small(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.small(Value::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.small(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        self.small(Value::Number(value.into()))
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<Value, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<Value, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        if self.taken.is_some_and(|taken| taken.contains_key(value)) {
            return Err(E::custom(format_args!("the key `{value}` appears twice")));
        }
        self.charge(1 + value.len())?;
        Ok(Value::String(value.to_owned()))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.small(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        self.visit_unit()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.charge(1)?;
        let each = BudgetedReader { taken: None, ..self };
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(each)? {
            list.push(item);
        }
        Ok(Value::Sequence(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        self.charge(1)?;
        let mut map = Mapping::new();
        while let Some(key) = entries.next_key_seed(BudgetedReader { taken: Some(&map), ..self })? {
            let value = entries.next_value_seed(BudgetedReader { taken: None, ..self })?;
            if map.insert(key, value).is_some() {
                return Err(A::Error::custom("a key appears twice"));
            }
        }
        Ok(Value::Mapping(map))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<Value, A::Error> {
        let (_, content) = tagged.variant::<IgnoredAny>()?;
        content.newtype_variant_seed(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    #[track_caller]
    fn map(bytes: &[u8]) -> Mapping {
        match read(bytes) {
            Frontmatter::Keys(map) => map,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn broken(bytes: &[u8]) -> String {
        match read(bytes) {
            Frontmatter::Broken(clause) => clause,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn frontmatter_is_read_in_every_common_form() {
        for text in [
            "---\nby: me\n---\nbody\n",
            "\u{feff}---\r\nby: me\r\n---\r\nbody",
            "---\nby: me\n---",
            "---  \nby: me\n...  \n",
            "---\n# by: you\nby: me # indeed\nx:\n  by: you\n---\nby: you\n",
            "---\nby: !!str me\n---\n",
            "---\nby: !who me\n---\n",
            "---\nx: &x me\nby: *x\n---\n",
        ] {
            assert_eq!(map(text.as_bytes()).get("by"), Some(&"me".into()), "{text}");
        }
        assert_eq!(map(b"---\nby: me\n---\n\xFF\xFE").get("by"), Some(&"me".into()));
        assert!(map(b"---\n---\n").is_empty());
        assert!(map(b"---\n# nothing\n---\n").is_empty());
    }

    #[test]
    fn frontmatter_starts_on_the_first_line() {
        for text in ["", "text", "\n---\na: 1\n---\n", " ---\na: 1\n---\n", "----\na: 1\n----\n", "--- a\n---\n"] {
            assert_eq!(read(text.as_bytes()), Frontmatter::Absent, "{text}");
        }
    }

    #[test]
    fn invalid_frontmatter_is_reported_with_a_reason() {
        for (text, clause) in [
            ("---\na: 1\n", "is not closed by a line `---`"),
            ("---", "is not closed by a line `---`"),
            ("---\n- a\n---\n", "is not a list of keys and values"),
            ("---\ntext\n---\n", "is not a list of keys and values"),
            ("---\na: 1\nb: 2\na: 3\n---\n", "line 4: the key `a` appears twice"),
            ("---\n1: 1\n1: 3\n---\n", "line 3: a key appears twice"),
            ("---\n[a]: 1\n[a]: 3\n---\n", "line 2: a key appears twice"),
            ("---\na: 1\nb: [\n---\n", "line 4: did not find expected node content"),
            ("---\na: *b\n---\n", "line 2: unknown anchor"),
        ] {
            assert_eq!(broken(text.as_bytes()), clause, "{text}");
        }
        assert_eq!(broken(b"---\na: \xFF\n---\n"), "is not UTF-8");
    }

    #[test]
    fn hostile_frontmatter_is_rejected_quickly() {
        let mut laughs = String::from("---\na0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
        for level in 1..12 {
            let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
            let _ = writeln!(laughs, "a{level}: &a{level} [{aliases}]");
        }
        let long = format!("---\na: &a {}\nb: [{}]\n---\n", "x".repeat(30_000), "*a ,".repeat(8_000));
        for text in [
            laughs + "---\n",
            long,
            "---\na: &a [*a]\n---\n".into(),
            format!("---\na: {}\n---\n", "[".repeat(60_000)),
            format!("---\na: {}{}\n---\n", "[".repeat(3_000), "]".repeat(3_000)),
            format!("---\n{}a\n---\n", "- ".repeat(30_000)),
            format!("---\n{}a\n---\n", "? ".repeat(30_000)),
            format!("---\na: {}x\n---\n", "!t ".repeat(20_000)),
            format!("---\na: {}\n---\n", "x".repeat(LONGEST)),
            format!("---\n{}---\n", "\n".repeat(LONGEST + 1)),
        ] {
            broken(text.as_bytes());
        }
        let mut nested = String::from("---\n");
        for level in 0..300 {
            let _ = writeln!(nested, "{}a:", " ".repeat(level));
        }
        broken((nested + "---\n").as_bytes());
    }

    #[test]
    fn frontmatter_at_the_limit_is_read() {
        let text = format!("---\na: [{}]\n---\n", "1,".repeat(32_000));
        assert_eq!(map(text.as_bytes()).len(), 1);
    }
}
