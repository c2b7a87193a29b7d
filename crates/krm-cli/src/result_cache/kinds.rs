//! Kinds of diagnostics about the result cache.

use krm_yaml::diagnostic_kinds;

diagnostic_kinds! {
    /// Why results of functions are not cached, or not shared.
    pub(crate) enum CacheKind {
        /// Others could replace results.
        NotPrivate { path: String } = "cache-not-private": "the result cache is not used, because others can write to `{path}`",
            hint "set KRM_CACHE_DIR to a directory of your own, or use --cache off";
        /// The server is dead, slow or wrong.
        SharedCacheFailed { server: String, reason: String } = "shared-cache-failed": "cannot use the shared cache `{server}`: {reason}",
            hint "use `--cache-server off` to work without it; results are the same";
        /// The address of a server is not one.
        InvalidServer { source: &'static str, reason: String } = "invalid-cache-server": "invalid address of the shared cache in {source}: {reason}";
        /// A build without an HTTP client.
        ServerNotBuiltIn { source: &'static str } = "cache-server-not-built-in": "{source} needs the feature `oci`, and this krm was built without it",
            hint "install a release of krm, or build it with `--features full`";
        /// The credentials for a server are incomplete.
        InvalidCredentials { reason: String } = "invalid-cache-credentials": "invalid credentials for the shared cache: {reason}";
        /// Results cannot be uploaded.
        UploadNotPossible { missing: &'static str } = "cache-upload-not-possible": "`--cache-upload` needs {missing}";
        /// The variable is neither true nor false.
        InvalidUploadVariable { value: String } = "invalid-cache-upload": "expected `true` or `false` in KRM_CACHE_UPLOAD, found `{value}`";
        /// `krm cache` without a directory.
        NoDirectory = "no-cache-directory": "there is no cache: neither KRM_CACHE_DIR nor HOME is set";
        /// An entry that cannot be removed.
        CannotPrune { reason: String } = "cannot-prune-cache": "cannot remove entries of the cache: {reason}";
    }
}
