//! Kinds of errors of paths.

use crate::diagnostic_kinds;

diagnostic_kinds! {
    /// What is wrong with the syntax of a path.
    pub enum PathErrorKind {
        /// A dot without a key after it, or an empty key.
        MissingKey = "path-missing-key": "expected a key";
        /// Another character than the notation allows.
        Expected { expected: &'static str } = "path-unexpected-character": "expected {expected}";
        /// A quoted key that is not closed.
        UnclosedQuote = "path-unclosed-quote": "unclosed quote";
        /// A backslash at the end.
        TrailingBackslash = "path-trailing-backslash": "expected a character after the backslash";
        /// More segments than a document can have levels.
        TooDeep { limit: usize } = "path-too-deep": "path has more than {limit} segments, which is deeper than any document";
        /// A `~` in a JSON pointer that is neither `~0` nor `~1`.
        PointerEscape = "path-pointer-escape": "expected `0` or `1` after `~` in a JSON pointer";
    }
}
