//! Errors: why a text cannot be read, and why an edit is refused.

mod edit;
mod path;
mod syntax;

use std::fmt;

use crate::diagnostic_kinds;
use crate::node_ref::NodeRef;
use crate::span::Span;

pub use edit::EditErrorKind;
pub use path::PathErrorKind;
pub use syntax::SyntaxErrorKind;

/// Explanations of the ids in [`DIAGNOSTIC_IDS`]: Markdown with a `## ID` section for each of them.
pub const EXPLANATIONS: &str = include_str!("../../explain/yaml.md");

/// The ids of all kinds of this crate, by enum.
pub const DIAGNOSTIC_IDS: &[&[&str]] =
    &[ReadError::IDS, SyntaxErrorKind::IDS, EditErrorKind::IDS, PathErrorKind::IDS];

diagnostic_kinds! {
    /// Why a file cannot be read at all.
    pub enum ReadError {
        /// Offsets have 32 bits.
        TooLarge { bytes: u64 } = "file-too-large": "file has {bytes} bytes; the limit is 4 GiB";
        /// The bytes are UTF-16 or UTF-32.
        Utf16 = "utf16-file": "file is UTF-16 or UTF-32, expected UTF-8",
            hint "save the file as UTF-8, for example with `iconv -f UTF-16 -t UTF-8`";
        /// A byte sequence that is not UTF-8: its offset, and the number of its line.
        InvalidUtf8 { offset: usize, line: u32 } = "invalid-utf8": "invalid UTF-8 at byte {offset} (line {line})",
            hint "save the file as UTF-8, for example with `iconv -f LATIN1 -t UTF-8`";
    }
}

/// Why a document cannot be read, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// What is wrong.
    pub kind: SyntaxErrorKind,
    /// The text that is wrong.
    pub span: Span,
    /// A second place that explains the first, such as the opening quote, with a label.
    pub related: Option<(Span, &'static str)>,
    /// Whether the text around the error has `{{`: most likely it is a template that was not rendered.
    pub is_template: bool,
}

impl SyntaxError {
    pub(crate) fn new(kind: SyntaxErrorKind, span: Span) -> Self {
        Self { kind, span, related: None, is_template: false }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for SyntaxError {}

/// Why an edit was refused, and where. The file is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditError {
    /// Why it was refused.
    pub kind: EditErrorKind,
    /// The node or text that cannot be changed.
    pub span: Span,
}

impl EditError {
    /// An error at a span.
    pub fn new(span: Span, kind: impl Into<EditErrorKind>) -> Self {
        Self { kind: kind.into(), span }
    }

    /// An error at a node.
    pub fn at(node: NodeRef<'_>, kind: impl Into<EditErrorKind>) -> Self {
        Self::new(node.full_span(), kind)
    }
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for EditError {}
