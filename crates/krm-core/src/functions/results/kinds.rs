//! Kinds of diagnostics about results, reports and fixes.

use krm_yaml::{Excerpt, diagnostic_kinds};

diagnostic_kinds! {
    /// Why a fix is not applied, or a report not read.
    pub enum ResultKind {
        /// Several values are proposed and none was chosen.
        SeveralProposals { count: usize } = "fix-several-proposals": "not fixed: {count} values are proposed";
        /// The result names a resource that does not exist.
        ResourceNotFound = "fix-resource-not-found": "not fixed: the resource does not exist";
        /// The result names a field with something that is not a path.
        InvalidFieldPath { path: String } = "fix-invalid-path": "not fixed: `{path}` is not a valid path";
        /// The field was deleted since the function ran.
        FieldDeleted = "fix-field-deleted": "not fixed: the field was deleted since the function ran";
        /// The field changed since the function ran.
        FieldChanged { path: String, expected: Excerpt } = "fix-field-changed": "not fixed: `{path}` is no longer {expected}";
        /// Another result proposes a different value for the field.
        ConflictingProposals = "fix-conflicting-proposals": "not fixed: another result proposes a different value";
        /// The edit cannot be made.
        CannotEdit { reason: String } = "fix-cannot-edit": "not fixed: {reason}";
        /// A file that is not a report.
        NotAReport { found: String } = "not-a-report": "expected a FunctionResultList or ResourceList, found {found}";
    }
}
