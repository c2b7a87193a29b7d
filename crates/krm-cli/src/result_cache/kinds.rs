//! Kinds of diagnostics about the result cache.

use krm_yaml::diagnostic_kinds;

diagnostic_kinds! {
    /// Why results of functions are not cached, or not shared.
    pub(crate) enum CacheKind {
        /// Others could replace results.
        NotPrivate { path: String } = "cache-not-private": "the result cache is not used, because others can write to `{path}`",
            hint "set KRM_CACHE_DIR to a directory of your own, or use --cache off";
        /// `krm cache` without a directory.
        NoDirectory = "no-cache-directory": "there is no cache: neither KRM_CACHE_DIR nor HOME is set";
        /// An entry that cannot be removed.
        CannotPrune { reason: String } = "cannot-prune-cache": "cannot remove entries of the cache: {reason}";
    }
}
