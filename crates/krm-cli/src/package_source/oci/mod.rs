//! Packages and images in registries. Without the feature `oci` every call is an error that says so.

#[cfg(feature = "oci")]
#[path = "registry.rs"]
mod backend;
#[cfg(not(feature = "oci"))]
#[path = "unsupported.rs"]
mod backend;
#[cfg(feature = "oci")]
mod image_store;
mod settings;

use std::collections::BTreeMap;
use std::path::PathBuf;

use krm_core::Diagnostic;
use krm_oci::Reference;

#[cfg(feature = "oci")]
use super::cache;
use super::{FetchedPackage, PackageSource, SourceKind};
use settings::Settings;

/// The annotations of an artifact. Spec: OCI image specification, "Pre-Defined Annotation Keys".
pub(crate) const CREATED: &str = "org.opencontainers.image.created";
pub(crate) const SOURCE: &str = "org.opencontainers.image.source";
pub(crate) const REVISION: &str = "org.opencontainers.image.revision";

/// The source of a directory of an image.
pub(super) fn open(image: &str, directory: &str) -> Result<Box<dyn PackageSource>, Diagnostic> {
    let directory = directory.trim_matches('/');
    backend::open(image, directory, &settings()?)
}

/// Pushes a package and returns its digest. With `is_preview` only the digest is computed.
pub(crate) fn push(
    image: &str,
    tag: &str,
    package: &FetchedPackage,
    annotations: &BTreeMap<String, String>,
    is_preview: bool,
) -> Result<String, Diagnostic> {
    let reference = Reference::parse(&format!("{image}:{tag}")).map_err(Diagnostic::error)?;
    backend::push(&reference, package, annotations, &settings()?, is_preview)
}

/// The digest that an image has now.
pub(crate) fn image_digest(image: &str) -> Result<String, Diagnostic> {
    let reference = Reference::parse(image).map_err(Diagnostic::error)?;
    backend::image_digest(&reference, &settings()?)
}

/// What runs images without a container engine; none in a build without the client of registries, or where krm cannot start itself.
pub(crate) fn sandbox(program: Option<PathBuf>) -> Option<krm_run::Sandbox> {
    #[cfg(feature = "oci")]
    {
        let images = image_store::OciImageStore::new(&cache::root().ok()?);
        Some(krm_run::Sandbox::new(program?, std::sync::Arc::new(images)))
    }
    #[cfg(not(feature = "oci"))]
    {
        drop(program);
        None
    }
}

fn settings() -> Result<Settings, Diagnostic> {
    match cfg!(feature = "oci") {
        true => Settings::from_environment(),
        false => Err(Diagnostic::error(SourceKind::OciNotBuiltIn)),
    }
}
