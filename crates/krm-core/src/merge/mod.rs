//! Two-way and three-way merge: of nodes, documents and files (`node`) and of whole packages (`package`).
//!
//! A merge edits the text of the destination, so formatting and comments survive. Conflicts are values; nothing here decides what is
//! written. What counts as equal and which elements pair is decided in [`crate::compare`].

mod conflict_file;
mod kinds;
mod node;
mod package;
mod resolve_records;

pub use conflict_file::{CONFLICT_FILE, ConflictFile};
pub use kinds::{MergeKind, Resolution};
pub use node::{
    Conflict, ConflictKind, ConflictLocation, ConflictMarker, MarkerContent, MergeAction,
    MergeOptions, MergeReport, MergedFile, Merger, NamedFile, NewItems, Nulls, OnConflict, Restore,
    Sequences, Side, Version, find_conflict_markers, load_schema, load_schema_file, merge_files,
    merge_files_three_way, resolve_conflicts, unresolved_conflicts,
};
pub use package::{
    FileChange, FileMerge, FileMergeResult, OtherFileMerge, PackageMerge, PackageMergeOptions,
    PackageMergeResult, merge_other_file, split_repeated_resources,
};
pub use resolve_records::ResolvedFiles;
