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
//! Everything but references, digests and errors is in the feature `client`.
//!
//! # Name an image
//!
//! A [`Reference`] is complete: names are parsed as docker does, and what they leave out is filled in.
//!
//! ```
//! use krm_oci::{Digest, Reference};
//!
//! let reference = Reference::parse("alpine:3.20")?;
//! assert_eq!(reference.to_string(), "docker.io/library/alpine:3.20");
//!
//! // A tag can move, a digest cannot.
//! let pinned = reference.with_digest(&Digest::of(b"the bytes of a manifest"));
//! assert!(pinned.to_string().starts_with("docker.io/library/alpine:3.20@sha256:"));
//! # Ok::<(), krm_oci::OciKind>(())
//! ```
//!
//! # Publish a package
//!
//! A package is a list of files. The same files have the same digest, which is known before anything is pushed:
//!
//! ```no_run
//! # #[cfg(feature = "client")] {
//! use std::collections::BTreeMap;
//! use krm_oci::{ArchiveLimits, Client, ClientSettings, PackageFile, REVISION, Reference, package_digest};
//!
//! let files = [PackageFile { path: "service.yaml".into(), data: b"kind: Service\n".to_vec(), executable: false }];
//! let annotations = BTreeMap::from([(REVISION.to_owned(), "v1".to_owned())]);
//!
//! let client = Client::new(ClientSettings::default());
//! let reference = Reference::parse("registry.example.com/shop:v1")?;
//! let digest = client.push_package(&reference, &files, &annotations)?;
//! assert_eq!(digest, package_digest(&files, &annotations)?);
//!
//! let package = client.pull_package(&reference.with_digest(&digest), &ArchiveLimits::of_package())?;
//! assert_eq!(package.files, files);
//! # }
//! # Ok::<(), krm_oci::OciKind>(())
//! ```
//!
//! # Use an image
//!
//! [`pull()`] downloads what the [`Store`] lacks, and [`Store::unpack`] makes one directory of the layers, which can be the root of a
//! process:
//!
//! ```no_run
//! # #[cfg(all(unix, feature = "client"))] {
//! use std::path::Path;
//! use krm_oci::{Client, ClientSettings, ImageLimits, Platform, Reference, Store, find, pull};
//!
//! let store = Store::open(Path::new("/var/cache/example"))?;
//! let client = Client::new(ClientSettings::default());
//! let reference = Reference::parse("ghcr.io/example/function:v1")?;
//! let image = pull(&client, &store, &reference, &Platform::current())?;
//! println!("{} runs {:?}", image.digest, image.config.config.entrypoint);
//!
//! // From now on without a network.
//! let again = find(&store, &reference, &Platform::current(), &ImageLimits::default())?;
//! assert!(again.is_some_and(|again| again.digest == image.digest));
//! # }
//! # Ok::<(), krm_oci::OciKind>(())
//! ```
//!
//! # What is trusted
//!
//! Everything that comes from a registry is hostile until its digest is verified, and its content stays hostile after that: see the
//! module `unpack`. Nothing here knows about Kubernetes. Environment and directories are passed in by the caller; only the variables of
//! HTTP proxies and of TLS certificates are read by the libraries that use them.

#[cfg(feature = "client")]
mod action_cache;
#[cfg(feature = "client")]
#[cfg_attr(not(unix), expect(dead_code, reason = "images are unpacked on Unix only"))]
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
