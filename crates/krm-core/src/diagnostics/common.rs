//! Kinds that several areas share.

use krm_yaml::{Excerpt, diagnostic_kinds};

diagnostic_kinds! {
    /// What is wrong with the structure of a document, whatever it is for.
    pub enum CommonKind {
        /// A field that its owner does not have.
        UnknownField { field: String, owner: String } = "unknown-field": "unknown field `{field}` in {owner}";
        /// A required field that is not there.
        MissingField { field: String, owner: String } = "missing-field": "missing field `{field}` in {owner}";
        /// A node of another type than expected.
        WrongType { expected: String, found: String } = "wrong-type": "expected {expected}, found {found}";
        /// A scalar of the right type with a value that is not allowed.
        InvalidValue { value: Excerpt, expected: String } = "invalid-value": "invalid value `{value}`: expected {expected}";
    }
}
