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

pub use diagnostics::diagnostic::{Diagnostic, Location, Severity};
pub use files::plan::{Action, Change, Plan};
pub use model::package::{Package, PackageFile, Placed};
pub use model::package_path::{PackagePath, PackagePathError};
pub use model::resource::{Identity, Resource};
