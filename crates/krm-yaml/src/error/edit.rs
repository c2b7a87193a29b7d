//! Kinds of errors of edits.

use crate::{Excerpt, ExpansionError, ReadError, diagnostic_kinds};

diagnostic_kinds! {
    /// Why an edit was refused.
    pub enum EditErrorKind {
        /// The path of an edit cannot be parsed.
        InvalidPath { path: String, error: String } = "invalid-path": "invalid path `{path}`: {error}";
        /// There is no document, or it could not be read.
        NoDocument = "no-document": "no document to edit";
        /// A path that does not exist, and the part of it that does.
        PathNotFound { found: String } = "edit-path-not-found": "path not found{}"
            (if found.is_empty() { String::new() } else { format!(": only `{found}` exists") });
        /// A path with more segments than a document can have levels.
        PathTooDeep { limit: usize } = "edit-path-too-deep": "path has more than {limit} segments, which is deeper than any document";
        /// A path that leads into the target of an alias.
        PathThroughAlias { alias: String } = "path-through-alias": "path goes through the alias `{alias}`, whose value is shared",
            hint "edit the anchored original, or replace the alias with a copy of its value";
        /// A key, an index or a new element that the node cannot have.
        WrongNodeKind { expected: &'static str, subject: String, found: &'static str } = "wrong-node-kind":
            "expected {expected} for {subject}, found {found}";
        /// An index that is not in a sequence.
        IndexOutOfRange { index: usize, length: usize } = "index-out-of-range":
            "index {index} is out of range for a sequence of length {length}";
        /// An element that is selected by a field must be a mapping with that field.
        ElementNotMapping { path: String } = "element-not-a-mapping": "expected a mapping as the new element `{path}`";
        /// A key that is inserted or renamed to exists.
        KeyExists { key: String } = "key-exists": "key `{key}` already exists";
        /// A value that is renamed.
        RenameValue = "rename-value": "expected a key to rename, found a value";
        /// A key that is set.
        SetKey = "set-key": "expected a value to set, found a key", hint "rename the key instead";
        /// The root of a document cannot be removed.
        RemoveRoot = "remove-root": "cannot remove the root of a document";
        /// An order that does not name every entry once.
        InvalidOrder = "invalid-order": "the new order does not name every entry exactly once";
        /// Two changes of one edit that exclude each other.
        ConflictingChanges { conflict: String } = "conflicting-changes": "conflicting changes in one edit: {conflict}";
        /// A comment where none can be written.
        CommentNotAllowed { reason: &'static str } = "comment-not-allowed": "cannot write a comment here: {reason}";
        /// A comment or copied text with a character that other readers take for a line break.
        ForeignLineBreak = "foreign-line-break": "edit would write a raw U+0085, U+2028 or U+2029, which ends a line for Kubernetes",
            hint "remove the character, or write it as an escape sequence in a double-quoted scalar";
        /// A comment that would belong to another entry after the edit.
        CommentMoves = "comment-moves": "edit would attach a comment to another entry";
        /// A value that an alias shares.
        Shared { anchor: String, line: u32 } = "shared-value":
            "value is shared: the alias of `&{anchor}` on line {line} would change, too";
        /// An anchor that would be removed while an alias still refers to it.
        AnchorInUse { anchor: String, line: u32 } = "anchor-in-use": "cannot remove the anchor `&{anchor}`: it is used on line {line}";
        /// A number that JSON cannot represent.
        NotJson { number: Excerpt } = "not-json": "`{number}` cannot be represented in JSON",
            hint "quote it, write another number, or convert the file to YAML";
        /// A second document for a JSON file.
        JsonDocuments = "json-multiple-documents": "a JSON file can hold only one document";
        /// Aliases that expand to too many nodes, bytes or levels.
        ExpansionTooLarge { error: ExpansionError } = "alias-expansion-too-large": "{error}";
        /// A document that depends on what precedes it in its file.
        NotStandalone = "document-not-standalone": "document cannot be parsed on its own";
        /// The edited document would not be YAML.
        InvalidResult { error: Excerpt } = "edit-result-invalid": "edit would make the document invalid: {error}";
        /// The edited document would be none, or more than one.
        NotOneDocument = "edit-result-not-one-document": "edit would not leave exactly one document";
        /// The other documents of the file would be joined or split.
        ChangesDocuments = "edit-changes-documents": "edit would join or split documents of the file",
            hint "write `--- #` instead of `---#`, which is not a document marker in YAML 1.2";
        /// New values that are too large together.
        TooMuchAdded { limit: usize } = "edit-too-much-added": "edit would add more than {} MiB" (limit >> 20),
            hint "set fewer fields, or a shorter value";
        /// The edited file would be too large.
        ResultTooLarge = "edit-result-too-large": "edit would make the file larger than 4 GiB";
        /// Something that the edit does not name would change its meaning.
        ChangesMeaning { subject: String } = "edit-changes-meaning": "edit would change the meaning of {subject}";
    }
}

impl EditErrorKind {
    pub(crate) fn conflict(conflict: impl Into<String>) -> Self {
        Self::ConflictingChanges { conflict: conflict.into() }
    }
}

impl From<ExpansionError> for EditErrorKind {
    fn from(error: ExpansionError) -> Self {
        Self::ExpansionTooLarge { error }
    }
}

/// A string that an edit produced is UTF-8, so size is the only reason why it cannot be read.
impl From<ReadError> for EditErrorKind {
    fn from(_: ReadError) -> Self {
        Self::ResultTooLarge
    }
}
