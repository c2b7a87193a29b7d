//! Two-way and three-way merge: of nodes and documents (`node`) and of whole packages (`package`).
//!
//! Conflicts are values; nothing here decides to write.

pub mod node;
pub mod package;
