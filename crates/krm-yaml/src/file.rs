//! The text of a file with the index of its documents.

use std::sync::OnceLock;

use crate::document::{Document, DocumentRef, ParsedBy};
use crate::fast_parser::{ChangedRange, parse_changed};
use crate::parser::ReadOptions;
use crate::read::read;
use crate::span::{Position, Span};
use crate::{ReadError, SharedText, SyntaxError};

/// For offsets below this limit, lines are counted on each request instead of in a table.
const NEAR: u32 = 256;

/// The text of a file and an index of the documents in it.
///
/// Invalid YAML is not an error of [`File::parse`]: a document that cannot be parsed has an error, and the other documents of the file are
/// available.
///
/// ```
/// let file = krm_yaml::File::parse("a: 1\n---\nb: [\n---\nc: 3\n".to_owned())?;
/// let broken: Vec<bool> = file.documents().map(|document| document.error().is_some()).collect();
/// assert_eq!(broken, [false, true, false]);
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
#[derive(Debug)]
pub struct File {
    text: SharedText,
    /// The node tables, computed on the first request if the file was made by [`File::unparsed`].
    documents: OnceLock<Vec<Document>>,
    /// The offsets of the lines, computed on the first request for a position.
    lines: OnceLock<Box<[u32]>>,
    /// The lines above and the columns to the left of the text, if it is part of another text.
    offset: (u32, u32),
}

/// Files are equal if their texts and node tables are.
impl PartialEq for File {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.tables() == other.tables()
    }
}

impl Eq for File {}

impl File {
    /// Parses a text with the default options.
    pub fn parse(text: String) -> Result<Self, ReadError> {
        Self::parse_with(text, ReadOptions::default())
    }

    /// Parses a text.
    pub fn parse_with(text: String, options: ReadOptions) -> Result<Self, ReadError> {
        if Self::is_too_large(&text) {
            return Err(ReadError::TooLarge { bytes: text.len() as u64 });
        }
        let documents = read(&text, options);
        Ok(Self::of_tables(text.into(), documents))
    }

    /// Parses a document after changes of its text: only the lines that changed, where that is certain to give the same.
    pub(crate) fn parse_changed(
        old: DocumentRef<'_>,
        text: String,
        changes: &[ChangedRange],
    ) -> Result<Self, ReadError> {
        if Self::is_too_large(&text) {
            return Err(ReadError::TooLarge { bytes: text.len() as u64 });
        }
        let Some(table) = parse_changed(old, &text, changes) else { return Self::parse(text) };
        let file = Self::of_table(text.into(), table);
        debug_assert_eq!(Self::parse(file.text().to_owned()).as_ref(), Ok(&file));
        Ok(file)
    }

    /// A text of one document with its existing table.
    pub(crate) fn of_table(text: SharedText, document: Document) -> Self {
        Self::of_tables(text, vec![document])
    }

    fn of_tables(text: SharedText, documents: Vec<Document>) -> Self {
        Self { text, documents: documents.into(), lines: OnceLock::new(), offset: (0, 0) }
    }

    /// The same file without node tables, which take about as much memory as the text. It shares the text, and is parsed again with
    /// the default options if its documents are needed after all.
    ///
    /// ```
    /// let file = krm_yaml::File::parse("a: 1\n".to_owned())?;
    /// assert_eq!(file.unparsed(), file);
    /// # Ok::<(), krm_yaml::ReadError>(())
    /// ```
    #[must_use]
    pub fn unparsed(&self) -> Self {
        let (documents, lines) = (OnceLock::new(), OnceLock::new());
        Self { text: self.text.clone(), documents, lines, offset: self.offset }
    }

    pub(crate) fn tables(&self) -> &[Document] {
        self.documents.get_or_init(|| read(&self.text, ReadOptions::default()))
    }

    /// Whether the text is not YAML 1.2, but Kubernetes accepts it.
    pub(crate) fn is_lenient(&self) -> bool {
        self.tables().first().is_some_and(|table| matches!(table.parsed_by, ParsedBy::Leniently))
    }

    /// Whether a text is too large for 32-bit offsets.
    pub(crate) fn is_too_large(text: &str) -> bool {
        text.len() >= u32::MAX as usize
    }

    /// Parses UTF-8, with or without a byte-order mark. The error names other encodings.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, ReadError> {
        Self::parse(decode(bytes)?)
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text with a line break at its end, so that another document can follow it.
    ///
    /// A block scalar that ends the text without a line break gets the indicator `-`, because its value would get one, too:
    ///
    /// ```
    /// let file = krm_yaml::File::parse("a: |\n  x".to_owned())?;
    /// assert_eq!(file.closed_text(), "a: |-\n  x\n");
    /// # Ok::<(), krm_yaml::ReadError>(())
    /// ```
    pub fn closed_text(&self) -> String {
        crate::edit::closed(self)
    }

    /// The text, without copying it if nobody else shares it.
    pub fn into_text(self) -> String {
        self.text.into_string()
    }

    /// The text, to be shared.
    pub fn shared_text(&self) -> &SharedText {
        &self.text
    }

    /// All documents in order, including those with an error.
    pub fn documents(
        &self,
    ) -> impl DoubleEndedIterator<Item = DocumentRef<'_>> + ExactSizeIterator {
        self.tables().iter().map(|table| DocumentRef::new(self, table))
    }

    /// The document at `index`.
    pub fn document(&self, index: usize) -> Option<DocumentRef<'_>> {
        self.tables().get(index).map(|table| DocumentRef::new(self, table))
    }

    /// The syntax errors of all documents, in order.
    pub fn errors(&self) -> impl Iterator<Item = &SyntaxError> {
        self.tables().iter().filter_map(|document| document.error.as_deref())
    }

    /// Declares that the text is part of a larger one, with this many lines above it and columns to the left of it. Positions are then those in
    /// the larger text.
    ///
    /// ```
    /// let file = krm_yaml::File::parse("a: 1\n".to_owned())?.with_offset(4, 2);
    /// assert_eq!((file.position(3).line, file.position(3).column), (5, 6));
    /// # Ok::<(), krm_yaml::ReadError>(())
    /// ```
    #[must_use]
    pub fn with_offset(self, lines: u32, columns: u32) -> Self {
        Self { offset: (lines, columns), ..self }
    }

    /// Lines above the text and columns to the left of it, where it is a part of another.
    pub fn offset(&self) -> (u32, u32) {
        self.offset
    }

    /// The line and column of a byte offset.
    pub fn position(&self, at: u32) -> Position {
        let at = at.min(self.text.len() as u32);
        let (line, start) = match self.lines.get() {
            // Counting a few lines is cheaper than a table of all lines.
            None if at < NEAR => {
                last_line(line_starts(&self.text).take_while(|start| *start <= at))
            }
            lines => {
                let all = || line_starts(&self.text).collect();
                let lines = lines.unwrap_or_else(|| self.lines.get_or_init(all));
                let line = lines.partition_point(|&start| start <= at);
                (line, lines[line - 1] as usize)
            }
        };
        let mut end = at as usize;
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = self.text[start..end].trim_start_matches('\u{feff}');
        let (above, left) = self.offset;
        let column = before.chars().count() as u32 + 1;
        Position { line: line as u32 + above, column: column + left }
    }

    /// The line of a byte offset, without its line break.
    pub fn line_at(&self, at: u32) -> Span {
        Span::new(crate::span::line_start(&self.text, at), crate::span::line_end(&self.text, at))
    }
}

/// Decodes the bytes of a file. The error names encodings other than UTF-8.
pub fn decode(bytes: Vec<u8>) -> Result<String, ReadError> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(ReadError::Utf16);
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let looks_wide = bytes.len() >= 4 && bytes[..4].iter().filter(|&&b| b == 0).count() >= 2;
        if looks_wide {
            return ReadError::Utf16;
        }
        let line = bytes[..at].iter().filter(|&&b| b == b'\n').count() as u32 + 1;
        ReadError::InvalidUtf8 { offset: at, line }
    })
}

/// The offsets of all lines.
fn line_starts(text: &str) -> impl Iterator<Item = u32> {
    let bytes = text.as_bytes();
    let breaks = bytes.iter().enumerate().filter(move |&(at, &byte)| match byte {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    });
    std::iter::once(0).chain(breaks.map(|(at, _)| at as u32 + 1))
}

/// The number of lines, and the offset of the last one.
fn last_line(starts: impl Iterator<Item = u32>) -> (usize, usize) {
    starts.fold((0, 0), |(count, _), start| (count + 1, start as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_and_tabulated_positions_are_equal() {
        let text = "\u{feff}a: é\r\nb: 1\rc:\n\n  d: 2\r\n".repeat(20);
        let near = File::parse(text.clone()).unwrap().with_offset(3, 1);
        let table = File::parse(text).unwrap().with_offset(3, 1);
        _ = table.position(NEAR);
        for at in 0..NEAR {
            assert_eq!(near.position(at), table.position(at), "{at}");
        }
        assert!(near.lines.get().is_none() && table.lines.get().is_some());
        assert_eq!(near.position(10).line, 5, "behind the line break");
    }
}
