//! Kinds of diagnostics about Kptfiles and Krmfiles.

use krm_yaml::diagnostic_kinds;

diagnostic_kinds! {
    /// What is wrong with the pipeline of a package.
    pub enum KptfileKind {
        /// A Kptfile of a version before v1.
        OldVersion { version: String, current: &'static str } = "kptfile-old-version": "unsupported Kptfile version `{version}`",
            hint "convert it to `{current}` with `krm pkg migrate`";
        /// Not a Kptfile at all.
        NotAKptfile { expected: String } = "not-a-kptfile": "expected `{expected}` in a Kptfile";
        /// More than one document.
        SeveralDocuments = "kptfile-several-documents": "expected one document, found several";
        /// A function without anything to run.
        MissingProgram = "function-missing-program": "missing field `image`, `exec` or `wasm` in a function";
        /// Two fields that exclude each other.
        ExclusiveFields { first: String, second: String } = "exclusive-fields": "`{first}` and `{second}` cannot be used together";
        /// A tag for an image that has one, or a digest.
        RedundantTag { what: &'static str, value: String } = "redundant-tag": "the image already has the {what} `{value}`",
            hint "remove one of the two";
        /// A tag for something that is not an image.
        TagWithoutImage = "tag-without-image": "`tag` can only be used with `image`";
        /// A functionConfig that does not exist.
        ConfigNotFound { path: String } = "config-not-found": "functionConfig `{path}` not found in the package";
        /// A functionConfig of another package.
        ConfigInSubpackage { path: String, subpackage: String } = "config-in-subpackage":
            "functionConfig `{path}` belongs to the subpackage `{subpackage}`",
            hint "move the file, or declare the function in `{subpackage}`";
        /// A functionConfig without the field that identifies it.
        ConfigWithoutName { path: String } = "config-without-name": "functionConfig `{path}` has no `metadata.name`";
        /// A file with no functionConfig, or with several.
        ConfigNotOneResource { path: String, count: usize } = "config-not-one-resource": "expected one resource in functionConfig `{path}`, found {count}";
        /// An earlier function moved or deleted the functionConfig.
        ConfigRemoved { path: String } = "config-removed": "functionConfig `{path}` no longer exists: an earlier function moved or deleted it";
        /// A reference that does not name exactly one resource.
        ConfigRefCount { reference: String, count: usize } = "config-ref-not-one-resource":
            "expected one resource `{reference}` for `configRef`, found {count}",
            hint "add `apiVersion` and `namespace` if several resources match";
        /// A Kptfile without content gets no status.
        EmptyKptfile = "kptfile-empty": "the Kptfile is empty";
        /// An upstream of a type that krm does not know.
        UnknownUpstreamType { name: String } = "unknown-upstream-type": "expected `git` or `oci` as the type of an upstream, found `{name}`";
        /// An upstream without its repository, or a lock without its commit.
        MissingUpstreamField { field: String } = "missing-upstream-field": "missing field `{field}`";
        /// A strategy that krm does not know.
        UnknownStrategy { name: String } = "unknown-update-strategy": "unknown update strategy `{name}`",
            hint "use resource-merge, fast-forward, force-delete-replace or copy-merge";
    }
}
