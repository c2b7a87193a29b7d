//! Why a text cannot be read.

use std::fmt;

use crate::span::Span;

/// Why a file cannot be read at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// Offsets have 32 bits.
    TooLarge {
        /// Size of the text.
        bytes: u64,
    },
    /// The bytes are UTF-16 (or UTF-32).
    Utf16,
    /// A byte sequence that is not UTF-8.
    InvalidUtf8 {
        /// Where it begins.
        offset: usize,
        /// The line it stands on.
        line: u32,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { bytes } => {
                write!(f, "the file has {bytes} bytes; at most 4 GiB can be read")
            }
            Self::Utf16 => write!(f, "the file is UTF-16 or UTF-32; only UTF-8 is read"),
            Self::InvalidUtf8 { offset, line } => {
                write!(f, "invalid UTF-8 at byte {offset} (line {line}); only UTF-8 is read")
            }
        }
    }
}

impl std::error::Error for ReadError {}

/// Why a document cannot be read: what is wrong, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// What is wrong, in words that a user understands.
    pub message: String,
    /// The place that is wrong.
    pub span: Span,
    /// A second place that explains the first: where a quote opened, say.
    pub related: Option<(Span, String)>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SyntaxError {}
