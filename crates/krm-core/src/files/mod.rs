//! From changed resources to changed files: placement of new resources, moves, removal, assembly, and the plan of what is written.
//!
//! Nothing here touches a disk. A `Plan` says what would be written.

pub(crate) mod arrange;
pub mod assemble;
pub mod filenames;
pub mod placement;
pub mod plan;
pub mod removal;
