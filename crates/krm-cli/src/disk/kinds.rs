//! Kinds of diagnostics about files and directories on disk.

use krm_yaml::diagnostic_kinds;

diagnostic_kinds! {
    /// What is wrong with a file or directory that a command reads or writes.
    pub(crate) enum FileKind {
        /// The operating system refuses to read it.
        CannotRead { reason: String } = "cannot-read": "cannot read: {reason}";
        /// The operating system refuses to create it.
        CannotCreate { reason: String } = "cannot-create": "cannot create: {reason}";
        /// A file where a directory is expected.
        NotADirectory = "not-a-directory": "not a directory";
        /// A directory that must exist and does not.
        DirectoryNotFound = "directory-not-found": "directory not found", hint "create the directory first";
        /// A file that would be overwritten with something else.
        FileExists = "file-exists": "the file exists and is not overwritten", hint "remove the file, or choose another directory";
        /// A file or directory that does not exist.
        FileNotFound = "file-not-found": "no such file or directory";
        /// A directory where a file is expected.
        IsADirectory { path: String } = "is-a-directory": "expected a file, found a directory", hint "name its files: {path}/*.yaml";
        /// The operating system refuses to write it.
        CannotWrite { reason: String } = "cannot-write": "cannot write: {reason}";
        /// The files are written, but the operating system cannot flush them.
        CannotFlush { reason: String } = "cannot-flush": "written, but cannot flush to disk: {reason}",
            hint "check the disk, and run a command that writes here to flush again";
        /// The files are written, but the journal cannot be removed.
        JournalLeft { reason: String } = "journal-left": "written, but cannot remove the journal: {reason}",
            hint "run a command that writes here to remove it";
        /// A signal arrived while files were staged.
        Interrupted { signal: &'static str } = "interrupted": "interrupted by {signal}; nothing was written";
        /// A directory without a single manifest.
        NoManifests = "no-manifests": "no YAML or JSON files found", hint "krm reads *.yaml, *.yml, *.json, Kptfile and Krmfile";
        /// A directory whose manifests are all in subpackages, with a command that leaves them out.
        OnlySubpackages { count: usize } = "only-subpackages": "no YAML or JSON files outside of {}" (packages(*count)),
            hint "omit --no-recurse to include subpackages";
        /// Nothing came through a pipe, most likely because the command before it failed.
        EmptyStdin = "empty-stdin": "standard input is empty", hint "check the command before the pipe";
        /// A file name that is not UTF-8.
        NameNotUtf8 = "name-not-utf8": "cannot read: the file name is not UTF-8", hint "rename the file";
        /// A symlink whose target does not exist.
        DanglingSymlink { reason: String } = "dangling-symlink": "skipped a dangling symlink: {reason}", hint "remove the symlink, or add it to .krmignore";
        /// Symlinks whose targets are outside of the package.
        ExternalSymlinks { names: Vec<String> } = "external-symlink": "skipped {}" (external_symlinks(names)),
            hint "use --follow-external-links if you trust this package";
        /// A file of fixed name that is a symlink to a file elsewhere.
        SymlinkOutside = "symlink-outside": "not read: symlink target is outside the directory", hint "replace the symlink with a file";
        /// A line of an ignore file that can match no file.
        InvalidIgnorePattern { line: usize, pattern: String } = "invalid-ignore-pattern": "line {line} matches nothing: `{pattern}`",
            hint "close the bracket, or escape it with a backslash";
        /// A path that resolves to a file outside of the directory that the command works on.
        OutsidePackage = "outside-package": "refused to write outside of the package directory";
        /// A device, pipe, socket or directory where a file would be written.
        NotARegularFile = "not-a-regular-file": "cannot write: not a regular file", hint "use `-` to read standard input and write standard output";
        /// A file without write permission.
        ReadOnlyFile = "read-only-file": "cannot write: the file is read-only", hint "make the file writable, or write a copy";
        /// A Secret came into a file that more users may read than the file it came from.
        AccessNarrowed { from: String } = "access-narrowed": "access of group and others is limited to that of {from}, because a Secret moved here",
            hint "use chmod if they may read the Secret";
        /// Another program changed the file while krm worked on it.
        FileChangedMeanwhile = "file-changed-meanwhile": "the file changed on disk since it was read; nothing was written", hint "run the command again";
        /// Another process holds the lock on the directory.
        WaitingForLock { holder: String } = "waiting-for-lock": "waiting for {holder}, which is writing to this directory";
        /// Another process held the lock on the directory for too long.
        Locked { holder: String, seconds: u64 } = "locked": "{holder} has been writing to this directory for more than {seconds} seconds; nothing was written",
            hint "wait until it is done, or stop it";
        /// Another process is writing to a directory that is being read.
        BeingWritten { holder: String } = "being-written": "{holder} is writing to this directory, and some of its files are old and some are new",
            hint "run the command again when it is done";
        /// A killed run has left a directory that is being read.
        HalfWritten = "half-written": "an interrupted run has left some files old and some new",
            hint "run it again, or any other command that writes here, to complete it";
        /// Files changed while they were read, each time that they were read.
        ChangedWhileRead = "changed-while-read": "the files are changed faster than they can be read", hint "run the command again";
        /// The operating system refuses to lock the directory.
        CannotLock { reason: String } = "cannot-lock": "cannot lock the directory: {reason}; nothing was written";
        /// The file system has no advisory locks.
        NoLocks = "no-locks": "cannot lock the directory: the file system does not support locks",
            hint "make sure that no other program writes to it";
        /// An interrupted run of another user left its journal.
        ForeignJournal = "foreign-journal": "found the journal of an interrupted run of another user; nothing was written",
            hint "let that user run krm here again, or remove the journal";
        /// A journal that was written for another directory, and came here with a copy or a clone.
        CopiedJournal = "copied-journal": "found the journal of a run in another directory",
            hint "check the files, then remove the journal and the files `.krm-*`";
        /// An interrupted run was completed.
        RunCompleted = "run-completed": "completed the changes of an interrupted run";
        /// An interrupted run was rolled back.
        RunRolledBack = "run-rolled-back": "rolled back an interrupted run: removed its staged files";
        /// The changes of an interrupted run can be neither completed nor rolled back.
        CannotRecover { reason: String } = "cannot-recover": "cannot recover an interrupted run: {reason}";
        /// A file of an interrupted run was changed by another program.
        NotRecovered = "not-recovered": "not completed: the file was changed after the interrupted run";
    }
}

/// The first few symlinks by name, and the number of the others.
fn external_symlinks(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    let what = match names.len() {
        1 => "a symlink whose target is outside the package".to_owned(),
        count => format!("{count} symlinks whose targets are outside the package"),
    };
    format!("{what}: {}{more}", shown.join(", "))
}

fn packages(count: usize) -> String {
    if count == 1 { "a subpackage".to_owned() } else { format!("{count} subpackages") }
}
