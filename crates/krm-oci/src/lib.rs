//! Container images and package artifacts without a daemon.
//!
//! | type or function | role |
//! |---|---|
//! | [`Reference`], [`Digest`], [`Platform`] | which image |
//! | [`Client`] | talks to registries: authentication, mirrors, download, upload |
//! | [`Store`] | blobs, tags and unpacked images on disk, shared by processes |
//! | [`pull()`], [`find`] | an image from a registry, or from the store alone |
//! | [`Client::push_package`], [`Client::pull_package`] | packages of files in the form of Flux |
//! | [`ActionCache`] | results that others share, on a server such as bazel-remote |
//!
//! All but references, digests and errors is in the feature `client`.
//!
//! Everything that comes from a registry is hostile until its digest is verified, and its content stays hostile after that: see the
//! module `unpack`. Nothing here knows about Kubernetes. Environment and directories are passed in by the caller; only the variables of
//! HTTP proxies and of TLS certificates are read by the libraries that use them.

#[cfg(feature = "client")]
mod action_cache;
#[cfg(feature = "client")]
mod archive;
#[cfg(feature = "client")]
mod artifact;
#[cfg(feature = "client")]
mod control;
mod digest;
mod kinds;
#[cfg(feature = "client")]
mod limits;
#[cfg(feature = "client")]
mod manifest;
#[cfg(feature = "client")]
mod pull;
mod reference;
#[cfg(feature = "client")]
mod registry;
#[cfg(feature = "client")]
mod store;
#[cfg(feature = "client")]
mod tls;
#[cfg(all(unix, feature = "client"))]
mod unpack;

pub use digest::Digest;
pub use kinds::OciKind;
pub use reference::Reference;

#[cfg(all(unix, feature = "client"))]
pub use unpack::unpack_layers;
#[cfg(feature = "client")]
pub use {
    action_cache::{ActionCache, ActionCacheError, Authorization, ServerUrl},
    archive::{PackageFile, SkippedEntry, pack, unpack_files},
    artifact::{CREATED, Package, REVISION, SOURCE, package_digest},
    control::{Control, Progress},
    limits::{ArchiveLimits, ImageLimits},
    manifest::{
        AnyManifest, Descriptor, ImageConfig, Manifest, Platform, ProcessConfig, RootFs, select,
    },
    pull::{Image, find, pull},
    registry::{Client, ClientSettings, Credentials, FetchedManifest},
    store::{Pruned, Store},
};

/// The kinds that this crate declares, with their explanations.
pub const EXPLANATIONS: &[krm_core::diagnostics::explain::Area] =
    &[krm_core::diagnostics::explain::Area {
        title: "Registries and images",
        ids: &[OciKind::IDS],
        text: include_str!("../explain/oci.md"),
    }];

#[cfg(test)]
mod tests {
    use krm_core::diagnostics::explain::Area;

    #[test]
    fn every_kind_is_explained_with_an_example() {
        let gaps: Vec<String> = super::EXPLANATIONS.iter().flat_map(Area::gaps).collect();
        assert!(gaps.is_empty(), "{gaps:#?}");
    }
}
