//! The diagnostics that functions and their input can cause.

use krm_yaml::{Excerpt, diagnostic_kinds};

diagnostic_kinds! {
    /// Why a function failed.
    pub enum FunctionKind {
        /// Free text of the function's author: what [`crate::Error::new`] makes.
        Error { message: Excerpt } = "function-error": "{message}";
        /// The function panicked.
        Panicked { message: String } = "function-panicked": "the function panicked: {message}",
            hint "this is a bug in the function, not in its input";
        /// A file that the function is to read or write.
        File { action: &'static str, file: String, reason: String } = "function-file-error": "cannot {action} {file}: {reason}";
    }
}

diagnostic_kinds! {
    /// What is wrong with a functionConfig as a whole. Wrong fields are kinds of `krm_core::diagnostics::CommonKind`.
    pub enum ConfigKind {
        /// There is none.
        Missing = "missing-function-config": "this function needs a functionConfig",
            hint "pass a custom resource, or a ConfigMap with the fields in `data`";
        /// Its kind is none that the function knows.
        UnknownKind { kind: String, expected: String } = "unknown-config-kind": "unknown functionConfig kind `{kind}`: expected {expected}";
        /// The type of the functionConfig, or the function, rejects a value for a reason of its own.
        Invalid { reason: Excerpt } = "invalid-function-config": "{reason}";
        /// Aliases make it endless or huge.
        TooLarge { values: usize, levels: usize } = "function-config-too-large": "functionConfig has more than {values} values or {levels} levels";
    }
}

diagnostic_kinds! {
    /// What is wrong with the input of a function, or with the resources that it returns.
    pub enum StreamKind {
        /// A list among other documents.
        ListAmongDocuments = "list-among-documents": "found a list among other documents",
            hint "pass either one list or only documents";
        /// An item whose dash is not the first character of its line.
        ItemBelowDash = "item-below-dash": "cannot write back a list whose items do not begin on lines of their own",
            hint "begin each item on a line of its own";
        /// Resources that mean something else inside the list.
        UnwritableList = "unwritable-list": "cannot write these resources as one list";
        /// An annotation that only the orchestrator may set.
        ReservedAnnotation { name: String } = "reserved-annotation": "annotation `{name}` is reserved for the orchestrator",
            hint "change only the `path` and `index` annotations of `internal.config.kubernetes.io/`";
    }
}

diagnostic_kinds! {
    /// Why a function cannot read or change a resource as asked.
    pub enum ResourceKind {
        /// Not a path of a field.
        InvalidFieldPath { path: String, reason: String } = "invalid-field-path": "invalid field path `{path}`: {reason}";
        /// Not a path inside the package.
        InvalidFilePath { reason: String } = "invalid-file-path": "{reason}";
        /// A value that cannot be copied, because aliases make it endless.
        InvalidNewValue { reason: String } = "invalid-new-value": "{reason}";
        /// The type as which a resource is read rejects a value.
        RejectedValue { reason: Excerpt } = "rejected-value": "{reason}";
        /// The implementation of `Serialize` failed.
        CannotSerialize { reason: Excerpt } = "cannot-serialize": "cannot serialize the value: {reason}";
        /// A new resource that is a scalar or a list.
        NotAMapping = "resource-not-a-mapping": "expected a mapping with the fields of a resource";
        /// An operation of a JSON patch that does not fit the resource.
        PatchFailed { operation: String, reason: Excerpt } = "json-patch-failed": "cannot apply `{operation}`: {reason}";
        /// A path at which the resource has nothing.
        FieldNotFound { path: String } = "field-not-found": "no field at `{path}`";
        /// A generated resource without a name cannot be found again.
        GeneratedWithoutName { kind: String } = "generated-without-name": "a generated {kind} has no name", hint "set `metadata.name`";
        /// Two generated resources that are the same object.
        GeneratedTwice { resource: String } = "generated-twice": "{resource} is generated twice", hint "give the resources different names";
        /// A generated resource that clears the existing one.
        MergeRemovesResource { resource: String } = "merge-removes-resource": "the merge would remove {resource}";
    }
}

diagnostic_kinds! {
    /// What is wrong with a selector.
    pub enum SelectorKind {
        /// A regular expression that does not compile.
        InvalidRegex { expression: String, reason: String } = "invalid-selector-regex": "invalid regular expression `{expression}`: {reason}";
    }
}
