//! Kinds of diagnostics about planned files, placement and moves.

use krm_yaml::diagnostic_kinds;

diagnostic_kinds! {
    /// Why files cannot be changed as planned.
    pub enum FilesKind {
        /// Two names of one file.
        SameFile { other: String } = "same-file": "this is the same file as {other}", hint "name the file once";
    }
}
