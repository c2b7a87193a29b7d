//! Kubernetes configuration as data: packages and resources, schemas, merge, setters, formatting, functions and diagnostics.
//!
//! Nothing here reads a disk or prints: text and trees come in, values go out.

pub mod annotate;
pub mod compare;
pub mod diagnostics;
pub mod diff;
pub mod files;
pub mod format;
pub mod functions;
pub mod merge;
pub mod model;
pub mod print;
pub mod query;
pub mod schema;
pub mod setters;

pub use diagnostics::{Diagnostic, Location, Severity};
pub use files::{Action, Destination, OriginalFile, Plan, PlannedChange};
pub use model::{
    Identity, Package, PackageFile, PackagePath, PackagePathError, PackageResource, Resource,
};
