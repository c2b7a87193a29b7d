//! Packages and the resources in them: paths, identities, quantities, image names and ignore files.
//!
//! Everything here describes what a package contains. Operations on packages belong to the other modules.

mod ignore;
mod image_name;
mod kinds;
pub(crate) mod package;
pub(crate) mod package_path;
mod quantity;
pub(crate) mod resource;

pub use ignore::IgnorePatterns;
pub use image_name::{ImageName, ImageNameError};
pub use kinds::PackageKind;
pub use package::{Package, PackageFile, PackageResource};
pub use package_path::{PackagePath, PackagePathError};
pub(crate) use quantity::Quantity;
pub use resource::{Identity, Resource, resources};
