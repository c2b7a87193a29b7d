//! Packages and the resources in them: paths, identities, quantities, image names and ignore files.
//!
//! Everything here describes what a package holds. Operations on packages belong to the other folders.

pub mod ignore;
pub mod image_name;
pub mod package;
pub mod package_path;
pub mod quantity;
pub mod resource;
