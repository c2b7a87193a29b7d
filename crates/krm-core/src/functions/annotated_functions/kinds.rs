//! Kinds of diagnostics about functions that resources declare in annotations.

use krm_yaml::diagnostic_kinds;

diagnostic_kinds! {
    /// What is wrong with the declaration of a function in an annotation.
    pub enum AnnotatedFunctionKind {
        /// The annotation is a mapping or a sequence.
        NotAString = "function-annotation-not-a-string": "expected a string in the function annotation",
            hint "write the declaration as a block scalar: add `|` after the name of the annotation";
        /// The annotation is empty.
        Empty = "function-annotation-empty": "the function annotation is empty";
        /// The annotation is not YAML.
        InvalidYaml { reason: String } = "function-annotation-invalid-yaml": "{reason}";
        /// No runtime is declared.
        MissingRuntime = "function-missing-runtime": "missing field `container`, `exec`, `starlark` or `wasm` in a function";
        /// Two runtimes are declared.
        SeveralRuntimes { first: String, second: String } = "function-several-runtimes": "a function cannot use both `{first}` and `{second}`";
        /// A script that would be downloaded.
        RemoteScript = "remote-script": "scripts cannot be loaded from a URL",
            hint "add the script to the package, and set `path` to it";
        /// A version that the ResourceList does not have.
        UnknownVersion = "unknown-resource-list-version": "expected `v1alpha1`, `v1beta1`, `v1` or `v2alpha1` in `resourceListVersion`";
        /// A mount that the command line could not express.
        CommaInMount = "comma-in-mount": "a mount cannot contain a comma";
    }
}
