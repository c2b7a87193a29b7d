//! Kinds of diagnostics about formatting.

use krm_yaml::{Excerpt, diagnostic_kinds};

diagnostic_kinds! {
    /// What formatting changes or leaves unchanged.
    pub enum FormatKind {
        /// A mapping or sequence cannot be reordered safely.
        NotSorted { reason: Excerpt } = "format-not-sorted": "fields are not sorted: {reason}";
        /// A document cannot be reindented safely.
        NotReindented { reason: Excerpt } = "format-not-reindented": "document is not reindented: {reason}";
        /// A plain scalar gets quotes, because it is a string by its schema.
        QuotesAdded { field: String } = "format-quotes-added": "{field}: add quotes, because the schema type is string";
        /// A quoted scalar loses its quotes, because it is not a string by its schema.
        QuotesRemoved { field: String, schema_type: &'static str } = "format-quotes-removed": "{field}: remove quotes, because the schema type is {schema_type}";
        /// Aliases use a value in places of other types.
        QuotesShared = "format-quotes-shared": "quotes are not changed, because aliases share this value";
    }
}
