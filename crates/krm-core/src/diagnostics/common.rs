//! Kinds that several areas share.

use krm_yaml::{Excerpt, NodeKind, NodeRef, ScalarType, diagnostic_kinds};

diagnostic_kinds! {
    /// What is wrong with the structure of a document, whatever it is for.
    pub enum CommonKind {
        /// A field that its owner does not have.
        UnknownField { field: String, owner: String } = "unknown-field": "unknown field `{field}` in {owner}";
        /// A required field that is not there.
        MissingField { field: String, owner: String } = "missing-field": "missing field `{field}` in {owner}";
        /// A node of another type than expected.
        WrongType { expected: String, found: Excerpt } = "wrong-type": "expected {expected}, found {found}";
        /// A scalar of the right type with a value that is not allowed.
        InvalidValue { value: Excerpt, expected: String } = "invalid-value": "invalid value `{value}`: expected {expected}";
        /// A symlink that leaves the package would be written through.
        SymlinkOutsidePackage = "symlink-outside-package": "symlink target is outside the package and is not written",
            hint "list the symlink in .krmignore, or edit its target directly";
    }
}

impl CommonKind {
    /// A [`CommonKind::WrongType`] that names the type of a node.
    pub fn wrong_type(expected: impl Into<String>, found: NodeRef<'_>) -> Self {
        Self::WrongType { expected: expected.into(), found: node_type(found).into() }
    }
}

/// The type of a node with its article, as messages name it.
pub(crate) fn node_type(node: NodeRef<'_>) -> &'static str {
    match node.kind() {
        NodeKind::Mapping => "a mapping",
        NodeKind::Sequence => "a sequence",
        NodeKind::Alias => "an alias",
        NodeKind::Scalar(_) => match node.as_scalar().map(|scalar| scalar.resolve()) {
            Some(ScalarType::Null) => "null",
            Some(ScalarType::Bool(_)) => "a boolean",
            Some(ScalarType::Int(_)) => "an integer",
            Some(ScalarType::Float(_)) => "a number",
            _ => "a string",
        },
    }
}
