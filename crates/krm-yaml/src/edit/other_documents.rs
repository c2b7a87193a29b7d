//! Verifies that the documents of a file stay the same documents where the edit of one can change how others are read.
//!
//! A document is read by itself, so usually it is enough to verify the edited ones. The exception are files that are not YAML 1.2 but that
//! Kubernetes accepts. Whether a file is one of them is decided for the whole file, and only there does `---#` at the start of a line start a
//! document: in YAML 1.2 it continues a plain scalar. So an edit that removes the last violation of YAML 1.2, or adds the first, can join
//! or split documents that it does not name. Only such files are parsed a second time.

use super::lower::EditedDocument;
use super::{EditError, EditErrorKind, SmallMap};
use crate::document::DocumentRef;
use crate::file::File;
use crate::span::Span;
use crate::value::Value;

/// Whether the new text of a document can change how the other documents of its file are read.
pub(super) fn may_change(old: &File, new: &EditedDocument) -> bool {
    match new {
        // The parser is in the same state behind the new scalar as behind the old one.
        EditedDocument::Text(..) => false,
        EditedDocument::Parsed(new) => {
            old.tables().len() > 1 && (old.is_lenient() || new.is_lenient())
        }
    }
}

/// Verifies that the new text has the documents of the old file: the edited ones with the given lengths, and all others unchanged.
pub(super) fn verify(old: &File, text: &str, edited: &SmallMap<u32>) -> Result<(), EditError> {
    let new = File::parse(text.to_owned());
    let new = new.map_err(|error| EditError::new(Span::empty(0), error))?;
    let mut start = 0;
    for document in old.documents() {
        let length = edited.get(document.index() as u32).copied();
        let span = Span::new(start, start + length.unwrap_or_else(|| document.span().len()));
        let found = new.document(document.index());
        let is_there = found.is_some_and(|found| {
            found.span() == span
                && found.error().is_some() == document.error().is_some()
                && (length.is_some() || is_same(document, found))
        });
        if !is_there {
            let end = found.map_or(0, |found| found.span().end);
            let next = old.document(document.index() + 1).filter(|_| end > span.end);
            let marker = next.unwrap_or(document).start_marker();
            let at = marker.unwrap_or_else(|| Span::empty(document.span().start));
            return Err(EditError::new(at, EditErrorKind::ChangesDocuments));
        }
        start = span.end;
    }
    Ok(())
}

/// Whether an untouched document means the same.
fn is_same(old: DocumentRef<'_>, new: DocumentRef<'_>) -> bool {
    match (old.root(), new.root()) {
        (Some(old), Some(new)) => Value::Node(old).is_meant_by(new, false),
        (old, new) => old.is_none() && new.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Edit;

    /// The text after setting a path of a document to 5, or the line of the error.
    fn set(text: &str, document: usize, path: &str) -> Result<String, (u32, EditErrorKind)> {
        let file = File::parse(text.to_owned()).unwrap();
        let mut edit = Edit::new(&file);
        edit.set_at(file.document(document).unwrap(), &path.parse().unwrap(), 5).unwrap();
        edit.apply().map_err(|error| (file.position(error.span.start).line, error.kind))
    }

    const JOINED: EditErrorKind = EditErrorKind::ChangesDocuments;

    #[test]
    fn an_edit_that_would_join_documents_is_refused() {
        assert_eq!(set("\"x\ny\"\n---# c\nz\n", 0, "."), Err((3, JOINED)));
        assert_eq!(set("\"x\ny\"\n---# c\n", 0, "."), Err((3, JOINED)));
        assert_eq!(set(" a:\n ? b:\n---# c\n", 0, "."), Err((3, JOINED)));
        assert_eq!(set("a: \"x\ny\"\n---\nb\n---# c\nd\n", 0, "a"), Err((5, JOINED)));
    }

    #[test]
    fn an_edit_that_keeps_the_documents_is_made() {
        let cases = [
            ("\"x\ny\"\n--- # c\nz\n", 0, ".", "5\n--- # c\nz\n"),
            ("\"x\ny\"\n---# c\nz: 1\n", 0, ".", "5\n---# c\nz: 1\n"),
            ("a: \"x\ny\"\n---# c\nz\n", 0, "a", "a: 5\n---# c\nz\n"),
            (
                "a: \"x\ny\"\nb: 1\n---\nb\n---# c\nd\n",
                0,
                "b",
                "a: \"x\ny\"\nb: 5\n---\nb\n---# c\nd\n",
            ),
            ("a: 1\n--- |\n---# c\n", 0, "a", "a: 5\n--- |\n---# c\n"),
        ];
        for (text, document, path, new) in cases {
            assert_eq!(set(text, document, path).as_deref(), Ok(new), "{text:?}");
        }
    }
}
