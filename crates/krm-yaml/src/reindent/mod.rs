//! Other indentation for a document: its lines move to the left and right, and nothing else changes.
//!
//! Every block collection gets a new column, and every line goes with the collection that it belongs to:
//! entries stand at its column, and what is deeper (texts, brackets, comments) keeps its distance. The result is read
//! back as after any edit.

mod columns;
mod comments;
mod lines;

use std::collections::BTreeMap;

use crate::document::DocumentRef;
use crate::edit::{self, EditError};
use columns::Columns;
use lines::Lines;

/// How much deeper a list stands than its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceIndent {
    /// As deep as a mapping would.
    Wide,
    /// Not at all.
    Compact,
}

/// What the indentation of a document should be; what is not said stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Indentation {
    /// How much deeper a mapping or a text stands than the mapping around it.
    pub mapping: Option<u32>,
    /// How much deeper a list stands than its key.
    pub sequence: Option<SequenceIndent>,
}

impl DocumentRef<'_> {
    /// The document's text with another indentation; refused where it would mean something else then.
    ///
    /// ```
    /// use krm_yaml::{File, Indentation, SequenceIndent};
    ///
    /// let file = File::parse("a:\n    # b\n    b:\n    - |\n      text\n".to_owned())?;
    /// let wide = Indentation { mapping: Some(2), sequence: Some(SequenceIndent::Wide) };
    /// let text = file.document(0).expect("there is one").reindent(wide)?;
    /// assert_eq!(text, "a:\n  # b\n  b:\n    - |\n      text\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reindent(self, how: Indentation) -> Result<String, EditError> {
        let Some(root) = self.root().filter(|root| root.is_block()) else {
            return Ok(self.text().to_owned());
        };
        let columns = Columns::of(root, how);
        let mut lines = Lines::of(self);
        lines.follow(&columns);
        lines.place_block_scalars(&columns, how.mapping);
        comments::place(&mut lines, &columns);
        let text = lines.write();
        if text == self.text() {
            return Ok(text);
        }
        edit::read_back(self, &edit::DocumentEdit::default(), &BTreeMap::new(), false, text)
    }
}
