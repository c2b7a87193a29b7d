//! Kinds of diagnostics of the `krm pkg` commands.

use krm_yaml::diagnostic_kinds;

diagnostic_kinds! {
    /// What is wrong with a package, or with what is asked of it.
    pub(crate) enum PkgKind {
        /// A directory whose name cannot be that of a package.
        NoPackageName = "no-package-name": "cannot derive the name of the package from its directory", hint "use --name to set it";
        /// `pkg get` without a destination, of something without a name.
        NoDestination = "no-destination": "cannot derive the destination from the address", hint "name a directory after the address";
        /// `pkg get` to a directory with files.
        DestinationExists = "destination-exists": "the directory is not empty", hint "choose another directory, or use `krm pkg update` to update a package";
        /// `pkg get` of a directory without files.
        EmptyPackage = "empty-package": "the directory has no files upstream";
        /// `pkg push` to an address without a tag, or to a directory of an image.
        PushWithoutTag = "push-without-tag": "expected an image with a tag", hint "use an address such as `oci://ghcr.io/example/shop:v1`";
        /// `pkg push` of a directory without files.
        NothingToPush = "nothing-to-push": "the directory has no files";
        /// `pkg push` of files that no commit has.
        UnrecordedRevision { count: usize } = "unrecorded-revision": "no revision is recorded, because {} not committed to git" (changes_are(*count)),
            hint "commit them, or name the revision with --revision";
        /// An entry that is not a file.
        EntrySkipped { what: &'static str } = "upstream-entry-skipped": "skipped, because it is {what} upstream";
        /// A file that git stores somewhere else.
        LfsPointer = "lfs-pointer": "got the pointer of git LFS, not the content", hint "get the file itself with git LFS";
        /// Packages that refer to each other.
        CircularPackages { repo: String } = "circular-packages": "the package refers to itself through {repo}";
        /// A package from elsewhere that refers to a repository of this machine.
        LocalUpstream { repo: String } = "local-upstream": "refused to get {repo} of this machine for a package from elsewhere",
            hint "if you trust the package, get the subpackage with a `krm pkg get` of its own";
        /// A directory without a Kptfile.
        NoKptfile = "no-package": "the directory is not a package", hint "use `krm pkg init` to make it one, or `krm pkg get` to get one";
        /// A package that does not come from anywhere.
        NoUpstream = "no-upstream": "the package has no upstream", hint "use `krm pkg get` to get a package with an upstream";
        /// A package that was never fetched.
        NoUpstreamLock = "no-upstream-lock": "the package has no `upstreamLock`: it is not known which version it is",
            hint "use --strategy force-delete-replace to replace it by upstream's version";
        /// No package of a directory has an upstream.
        NoPackagesBelow = "no-packages-below": "no package with an upstream found";
        /// A reference for several packages.
        ReferenceWithAll = "reference-with-all": "--all updates each package to the reference in its Kptfile, not to another one";
        /// Changes that are not committed.
        DirtyPackage { count: usize } = "dirty-package": "{} not committed to git, so that an update could not be undone" (changes_are(*count)),
            hint "commit or stash them, or use --allow-dirty";
        /// A strategy that needs an unchanged package.
        LocalChanges { count: usize, names: String } = "local-changes": "the package has local changes in {}: {names}" (files(*count)),
            hint "use --strategy resource-merge to keep them";
        /// Conflicts, and nothing is written.
        UpdateConflicts { count: usize } = "update-conflicts": "nothing was written because of {}" (conflicts(*count)),
            hint "use --on-conflict upstream, local or mark";
        /// A newer version, under `--check`.
        NewerUpstream { from: String, to: String } = "newer-upstream": "upstream has a newer version: {from} -> {to}", hint "run `krm pkg update`";
        /// A lock file that krm did not write.
        InvalidLockFile { expected: &'static str } = "invalid-lock-file": "expected {expected} in krm.lock", hint "write it again with `krm pkg vendor`";
        /// A package that the lock file does not have.
        NotLocked = "not-locked": "krm.lock has no entry for this package", hint "review the package and add it with `krm pkg vendor`";
        /// A package from elsewhere than the lock file says.
        LockMismatch { asked: String, locked: String } = "lock-mismatch": "expected {locked} as in krm.lock, found {asked}",
            hint "update without --locked, review the change, and run `krm pkg vendor`";
        /// A migrated package that renders to something else.
        MigrationChanges { files: String } = "migration-changes": "nothing was written: rendering the migrated package changes {files}",
            hint "use --no-verify to write it all the same, and review it with `krm fn render --diff`";
        /// A step of a migration failed.
        MigrationFailed = "migration-failed": "nothing was written: the package cannot be migrated or rendered",
            hint "use --no-verify if only rendering fails, for example because a function is not built in";
    }
}

fn changes_are(count: usize) -> String {
    format!("{count} {}", if count == 1 { "change is" } else { "changes are" })
}

fn files(count: usize) -> String {
    format!("{count} {}", if count == 1 { "file" } else { "files" })
}

fn conflicts(count: usize) -> String {
    format!("{count} {}", if count == 1 { "conflict" } else { "conflicts" })
}
