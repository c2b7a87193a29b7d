//! Kinds of diagnostics about schemas.

use krm_yaml::{Excerpt, diagnostic_kinds};

diagnostic_kinds! {
    /// What is wrong with an OpenAPI document or a CustomResourceDefinition.
    pub enum SchemaKind {
        /// A reference to something else than a definition of the document.
        UnsupportedRef { pointer: Excerpt } = "schema-ref-unsupported": "unsupported reference `{pointer}`",
            hint "use #/definitions/NAME or #/components/schemas/NAME";
        /// Aliases that expand without limit.
        TooLarge = "schema-too-large": "aliases of the schema expand to too many nodes";
        /// A schema that nests too deeply.
        TooDeep = "schema-too-deep": "schema is nested too deeply";
        /// A keyword for lists at a schema of another type.
        ListKeyword { found: &'static str } = "schema-list-keyword": "keyword for lists, but the type is {found}";
        /// A list map key that its elements do not have.
        UndeclaredKey { key: String } = "schema-list-key-undeclared": "list map key `{key}` is not a field of the elements";
        /// A document without schemas.
        NoDefinitions = "schema-no-definitions": "no `definitions` or `components.schemas` found";
    }
}
