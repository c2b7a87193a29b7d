//! Kinds of diagnostics about ResourceLists, their items and their results.

use krm_yaml::{Excerpt, diagnostic_kinds};

diagnostic_kinds! {
    /// What is wrong with a ResourceList, an item or a result.
    pub enum ResourceListKind {
        /// A function printed nothing.
        EmptyOutput = "output-empty": "expected a ResourceList, found no output";
        /// A function printed something else.
        NotAResourceList { found: String } = "not-a-resource-list": "expected a ResourceList, found {found}";
        /// More than one document where one is expected.
        SeveralDocuments { expected: &'static str } = "several-documents": "expected one {expected}, found several documents";
        /// No resource where one is expected.
        NoResource = "no-resource": "expected a resource, found an empty document";
        /// An element of `items` that is not a resource.
        ItemNotAResource { index: usize, field: &'static str } = "item-not-a-resource": "item {index} is not a resource: missing field `{field}`";
        /// A function returned an absolute path.
        AbsolutePath { path: String, used: String } = "absolute-path-returned": "the function returned the absolute path `{path}`; `{used}` in the package is used",
            hint "return paths relative to the package";
        /// A function returned a resource whose name it emptied.
        EmptyName { resource: String } = "empty-name": "the function returned {resource} with an empty `metadata.name`",
            hint "return the name, or leave out the resource";
        /// An index annotation that is not a number.
        InvalidIndex { index: String } = "invalid-index": "expected the index of a resource in its file, found `{index}`";
        /// The path or index differs between the current and the older annotation.
        ConflictingAnnotations { legacy: String, legacy_value: String, name: String, value: String } = "conflicting-annotations":
            "annotation `{legacy}` is `{legacy_value}`, but `{name}` is `{value}`",
            hint "change one of the annotations, or both to the same value";
        /// A function changed an annotation that belongs to the orchestrator.
        ChangedInternalAnnotation { name: String, resource: String, old: String, new: String } = "changed-internal-annotation":
            "the function changed annotation `{name}` of {resource} from `{old}` to `{new}`",
            hint "leave `internal.config.kubernetes.io` annotations as they are, except path and index";
        /// A resource that cannot be sent because its annotations cannot be edited.
        CannotAnnotate { resource: String } = "cannot-annotate-item": "cannot send {resource}: its annotations cannot be edited";
        /// A resource that cannot be a document of its own.
        CannotExtract { reason: String } = "cannot-extract-resource": "cannot take this resource out of its file: {reason}";
        /// A file that is not in the package whose function would get it.
        NotInPackage { path: String, package: String } = "file-not-in-package": "`{path}` is not in package `{package}`";
        /// Documents of the package that are not sent.
        SkippedDocuments { count: usize, places: String } = "skipped-documents": "skipped {}: {places}" (documents(*count));
        /// A result or a part of one that does not follow the specification.
        InvalidResult { problem: String } = "invalid-result": "{problem}";
        /// A result with a severity that the specification does not have.
        InvalidSeverity { severity: Excerpt, used: &'static str } = "invalid-severity":
            "expected severity `error`, `warning` or `info`, found `{severity}`; `{used}` is used";
        /// What a function reports about a resource. The message is the function's own.
        FunctionResult { message: Excerpt } = "function-result": "{message}";
    }
}

fn documents(count: usize) -> String {
    match count {
        1 => "1 document that is not a resource".to_owned(),
        count => format!("{count} documents that are not resources"),
    }
}
