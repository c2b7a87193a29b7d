//! Kinds of diagnostics about the places that packages come from.

use krm_yaml::diagnostic_kinds;

diagnostic_kinds! {
    /// What is wrong with an upstream, or with the way to it.
    pub(crate) enum SourceKind {
        /// There is no git.
        GitNotFound { reason: String } = "git-not-found": "cannot run git: {reason}", hint "install git 2.32 or newer";
        /// A git without the options that krm needs.
        GitTooOld { version: String } = "git-too-old": "git {version} is too old", hint "install git 2.32 or newer";
        /// git failed.
        GitFailed { action: String, reason: String } = "upstream-git-failed": "cannot {action}: {reason}";
        /// A URL that is not one of a git repository, or that could run a program.
        InvalidUrl { url: String, reason: &'static str } = "invalid-repository-url": "invalid repository URL `{url}`: {reason}";
        /// An address that does not show where the repository ends and the directory begins.
        AmbiguousAddress { address: String } = "ambiguous-package-address": "cannot tell the repository from the directory in `{address}`",
            hint "write `.git` after the repository, as in REPO.git/DIR, or use --subdir";
        /// A reference that git does not allow.
        InvalidReference { reference: String } = "invalid-git-reference": "invalid branch, tag or commit `{reference}`";
        /// A branch or tag that does not exist.
        ReferenceNotFound { reference: String, repo: String } = "git-reference-not-found": "no branch or tag `{reference}` in {repo}";
        /// A commit that the repository does not have any more.
        CommitNotFound { commit: String, repo: String } = "git-commit-not-found": "no commit {commit} in {repo}";
        /// A directory that the revision does not have.
        NoSuchDirectory { directory: String, revision: String } = "upstream-directory-not-found": "no directory `{directory}` in {revision}";
        /// The cache cannot be used.
        CacheFailed { reason: String } = "cache-failed": "cannot use the cache: {reason}", hint "set KRM_CACHE_DIR to a directory that you can write to";
        /// Another process uses the same repository of the cache.
        CacheLocked { seconds: u64 } = "cache-locked": "another process has used this repository of the cache for more than {seconds} seconds",
            hint "wait until it is done, or set KRM_CACHE_DIR to another directory";
        /// A build without the client of registries.
        OciNotBuiltIn = "oci-not-built-in": "this krm was built without access to registries", hint "install a release of krm, or build it with `--features full`";
        /// The address of a package in a registry is not one.
        InvalidOciAddress { address: String, reason: String } = "invalid-oci-address": "invalid address `{address}`: {reason}",
            hint "use an address such as `oci://ghcr.io/example/shop:v1` or `oci://ghcr.io/example/shop//directory:v1`";
        /// A variable with settings is invalid.
        InvalidVariable { name: &'static str, expected: &'static str, value: String } = "invalid-environment-variable": "expected {expected} in {name}, found `{value}`";
    }
}
