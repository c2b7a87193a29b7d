//! What Kubernetes configuration means and what it should become: diagnostics, plans, and what is found in a document.
//!
//! Nothing here reads a disk or prints: text and trees come in, values go out.

pub mod adapter;
pub mod annotate;
mod arrange;
pub mod assemble;
pub mod count;
pub mod declared;
pub mod diagnostic;
pub mod dialect;
pub mod difference;
pub mod duplicates;
pub mod filenames;
pub mod findings;
mod fingerprint;
pub mod flow;
pub mod format;
pub mod hydration;
pub mod ignore;
pub mod image_name;
pub mod json;
pub mod kptfile;
pub mod listing;
pub mod merge;
pub mod missing;
pub mod nearest;
pub mod package;
pub mod package_merge;
pub mod package_path;
pub mod pairing;
pub mod placement;
pub mod plan;
pub mod quantity;
pub mod query;
pub mod records;
pub mod removal;
pub mod resource;
pub mod schema;
pub mod secrets;
pub mod selector;
pub mod setters;
pub mod subtree;
pub mod tree;
pub mod wire;
pub mod wrapper;

pub use diagnostic::{Diagnostic, Location, Severity};
pub use package::{Package, PackageFile, Placed};
pub use package_path::{PackagePath, PackagePathError};
pub use plan::{Action, Change, Plan};
pub use resource::{Identity, Resource};
