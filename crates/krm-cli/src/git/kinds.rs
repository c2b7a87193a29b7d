//! Kinds of diagnostics about git repositories.

use krm_yaml::diagnostic_kinds;

diagnostic_kinds! {
    /// Why git cannot say what changed.
    pub(crate) enum GitKind {
        /// The program is not installed, or does not start.
        CannotRunGit { reason: String } = "cannot-run-git": "cannot run git: {reason}", hint "install git";
        /// A directory that is not part of a working tree.
        NotARepository = "not-a-git-repository": "not in a git working tree";
        /// A revision that begins with a dash, which git would read as an option, or that is empty.
        InvalidRevision { revision: String } = "invalid-git-revision": "expected a git revision, found `{revision}`",
            hint "use a branch, a tag or a commit";
        /// A revision that the repository does not have.
        UnknownRevision { revision: String } = "unknown-git-revision": "git revision `{revision}` not found";
        /// `REF...` without a common ancestor.
        NoMergeBase { revision: String } = "no-merge-base": "`{revision}` and HEAD have no common ancestor";
        /// Any other failure of git.
        GitFailed { command: String, reason: String } = "git-failed": "git {command} failed: {reason}";
    }
}
