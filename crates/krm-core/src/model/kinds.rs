//! Kinds of diagnostics about packages.

use krm_yaml::diagnostic_kinds;

diagnostic_kinds! {
    /// What is wrong with the resources of a package.
    pub enum PackageKind {
        /// Two resources of one package with the same identity.
        DuplicateResource { resource: String, first: String } = "duplicate-resource": "{resource} is defined twice, first in {first}";
    }
}
