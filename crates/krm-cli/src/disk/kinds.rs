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
    }
}
