//! Changes the indentation of a document, and nothing else.
//!
//! Every block collection gets a new column, and every line moves with the collection that it belongs to: entries are at its column, and
//! deeper lines (block scalars, flow collections, comments) keep their distance. The result is verified like that of any edit.

mod columns;
mod comments;
mod lines;

use crate::document::DocumentRef;
use crate::edit::{self, EditError};
use columns::Columns;
use lines::Lines;

/// The indentation of a sequence relative to its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceIndent {
    /// Indented like a mapping.
    Wide,
    /// Not indented: the dash is at the column of the key.
    Compact,
}

/// The indentation of a document. `None` keeps the existing one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Indentation {
    /// The indentation of a mapping or a block scalar relative to the mapping around it.
    pub mapping: Option<u32>,
    /// The indentation of a sequence relative to its key.
    pub sequence: Option<SequenceIndent>,
}

impl DocumentRef<'_> {
    /// The text of the document with another indentation. Refused if its meaning would change.
    ///
    /// ```
    /// use krm_yaml::{File, Indentation, SequenceIndent};
    ///
    /// let file = File::parse("a:\n    # b\n    b:\n    - |\n      text\n".to_owned())?;
    /// let wide = Indentation { mapping: Some(2), sequence: Some(SequenceIndent::Wide) };
    /// let text = file.document(0).expect("one document").reindent(wide)?;
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
        let (edit, changes) = (edit::DocumentEdit::default(), edit::SmallMap::default());
        edit::read_back(self, &edit::Expected::new(&edit, &changes, false), text, None)
            .map(crate::File::into_text)
    }
}
