//! From changed resources to changed files: placement of new resources, moves, removal, assembly, and the plan of what is written.
//!
//! Nothing here touches a disk. A `Plan` says what would be written.

pub(crate) mod arrangement;
mod assemble;
mod file_text;
mod kinds;
pub(crate) mod placement;
mod plan;
pub(crate) mod remove;
mod rename;

pub use assemble::{
    AssembledFiles, DeletedResource, Deletions, FileResult, assemble, assemble_with,
};
pub use file_text::FileText;
pub use kinds::FilesKind;
pub use placement::Placement;
pub use plan::{Action, BinaryChange, Destination, OriginalFile, Plan, PlannedChange};
pub use rename::{FileNamePattern, FileNaming, RenamedFiles, annotate_paths, rename_files};
