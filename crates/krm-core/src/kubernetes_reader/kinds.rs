//! Kinds of diagnostics about what Kubernetes reads.

use krm_yaml::{Excerpt, ExpansionError, diagnostic_kinds};

use crate::query::ScalarReading;

diagnostic_kinds! {
    /// What Kubernetes reads differently, or not at all.
    pub enum ReaderKind {
        /// A character that ends a line in YAML 1.1, but not in YAML 1.2.
        LineBreak { character: &'static str } = "unicode-line-break": "raw {character} ends a line for Kubernetes, but not in YAML 1.2",
            hint "remove it, or write `{}` in a double-quoted scalar" (crate::kubernetes_reader::line_breaks::escape(character));
        /// A `?` that belongs to a scalar in YAML 1.2, and starts a key for Kubernetes.
        QuestionMark = "kubernetes-question-mark": "Kubernetes reads the `?` at the start of this scalar as the indicator of a key",
            hint "quote the scalar";
        /// A scalar that Kubernetes and YAML 1.2 read differently.
        Difference { text: Excerpt, yaml12: ScalarReading, kubernetes: ScalarReading } = "kubernetes-reads-differently":
            "`{text}` is {yaml12} in YAML 1.2, but Kubernetes reads {kubernetes}",
            hint "quote it if a string is meant, or write `true`, `false` or a number in plain digits";
        /// A tag that the value does not have.
        WrongTag { tag: Excerpt } = "kubernetes-wrong-tag": "Kubernetes cannot read this scalar as `{tag}`",
            hint "remove the tag, or correct the value";
        /// A tag whose meaning for Kubernetes is not known.
        UnsupportedTag { tag: Excerpt } = "kubernetes-unsupported-tag": "cannot tell what Kubernetes reads for the tag `{tag}`",
            hint "write the value without a tag";
        /// A number that JSON does not have.
        NotJson { number: Excerpt } = "kubernetes-not-json": "Kubernetes cannot read `{number}`: it has no JSON form",
            hint "quote it, or write another number";
        /// A key that Kubernetes cannot convert to a string.
        InvalidKey { found: &'static str } = "kubernetes-invalid-key": "Kubernetes cannot read {found} as a key", hint "quote the key";
        /// Two different keys that become the same string.
        SameKey { key: Excerpt } = "kubernetes-same-key": "two keys of this mapping are `{key}` for Kubernetes, which uses either of them",
            hint "remove one of them";
        /// A merge key whose value has no entries.
        InvalidMerge = "kubernetes-invalid-merge": "expected a mapping or a sequence of mappings as the value of `<<`";
        /// Aliases that expand to too much.
        Expansion { error: ExpansionError } = "kubernetes-expansion": "{error}", hint "use fewer aliases";
    }
}
