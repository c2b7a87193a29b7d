//! Images: resolved for a platform, downloaded into the store, and found there again without a network.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::manifest::{AnyManifest, Descriptor, ImageConfig, Manifest, Platform, select};
use crate::store::Store;
use crate::{Client, Digest, ImageLimits, OciKind, Reference};

/// Layers that are downloaded at the same time. Compat: docker has the same number.
const PARALLEL: usize = 3;

/// An image in the store.
#[derive(Clone, Debug)]
pub struct Image {
    /// The digest of the index, or of the manifest if there is no index: what a reference by digest names.
    pub digest: Digest,
    /// Its layers, lowest first.
    pub layers: Vec<Descriptor>,
    /// How it runs.
    pub config: ImageConfig,
}

/// Pulls an image: what the store lacks is downloaded.
///
/// # Errors
/// If the image does not exist for the platform, cannot be downloaded, or exceeds a limit.
pub fn pull(
    client: &Client,
    store: &Store,
    reference: &Reference,
    platform: &Platform,
) -> Result<Image, OciKind> {
    let limits = client.settings().limits;
    // A digest that is in the store needs no registry.
    if reference.digest().is_some()
        && let Some(image) = find(store, reference, platform, &limits)?
    {
        return Ok(image);
    }
    let top = client.manifest(reference)?;
    store.write(&top.bytes)?;
    let manifest = match top.manifest {
        AnyManifest::Image(manifest) => manifest,
        AnyManifest::Index(manifests) => {
            let descriptor = select(&manifests, platform)?;
            let found = client.manifest(&reference.with_digest(&descriptor.digest()?))?;
            store.write(&found.bytes)?;
            image_manifest(found.manifest)?
        }
    };
    check(&manifest, &limits)?;
    let config = client.blob(reference, &manifest.config, limits.manifest)?;
    store.write(&config)?;
    let parsed = ImageConfig::parse(&config)?;
    if store.root(&parsed).is_none() {
        download_layers(client, store, reference, &manifest.layers)?;
    }
    if reference.tag().is_some() {
        store.set_tag(&reference_key(reference), &top.digest)?;
    }
    Ok(Image { digest: top.digest, layers: manifest.layers, config: parsed })
}

/// Finds an image that was pulled before, without a network. None if something of it is missing.
///
/// # Errors
/// If what the store has is invalid.
pub fn find(
    store: &Store,
    reference: &Reference,
    platform: &Platform,
    limits: &ImageLimits,
) -> Result<Option<Image>, OciKind> {
    let digest = reference.digest().cloned().or_else(|| store.tag(&reference_key(reference)));
    let Some(digest) = digest else { return Ok(None) };
    let Some(bytes) = store.read(&digest, limits.manifest)? else { return Ok(None) };
    let manifest = match AnyManifest::parse(&bytes)? {
        AnyManifest::Image(manifest) => manifest,
        AnyManifest::Index(manifests) => {
            let inner = select(&manifests, platform)?.digest()?;
            let Some(bytes) = store.read(&inner, limits.manifest)? else { return Ok(None) };
            image_manifest(AnyManifest::parse(&bytes)?)?
        }
    };
    check(&manifest, limits)?;
    let Some(config) = store.read(&manifest.config.digest()?, limits.manifest)? else {
        return Ok(None);
    };
    let config = ImageConfig::parse(&config)?;
    let has = |layer: &Descriptor| layer.digest().map(|it| store.has_blob(&it, layer.size));
    let mut is_complete = true;
    if store.root(&config).is_none() {
        for layer in &manifest.layers {
            is_complete &= has(layer)?;
        }
    }
    Ok(is_complete.then_some(Image { digest, layers: manifest.layers, config }))
}

/// The name of a tag in the store. The digest of a reference is not part of it.
fn reference_key(reference: &Reference) -> String {
    let tag = reference.tag().unwrap_or_default();
    format!("{}/{}:{tag}", reference.registry(), reference.repository())
}

fn image_manifest(manifest: AnyManifest) -> Result<Manifest, OciKind> {
    match manifest {
        AnyManifest::Image(manifest) => Ok(manifest),
        AnyManifest::Index(_) => Err(OciKind::InvalidManifest {
            reason: "expected a manifest in the index, found another index".to_owned(),
        }),
    }
}

fn check(manifest: &Manifest, limits: &ImageLimits) -> Result<(), OciKind> {
    if manifest.layers.len() > limits.layers {
        let limit = limits.layers as u64;
        return Err(OciKind::TooLarge { what: "the number of layers", limit });
    }
    let sizes = manifest.layers.iter().map(|layer| layer.size);
    match sizes.fold(0, u64::saturating_add) > limits.compressed {
        true => Err(OciKind::TooLarge { what: "the image", limit: limits.compressed }),
        false => Ok(()),
    }
}

/// Downloads layers in parallel. The first error ends the others after their current layer.
fn download_layers(
    client: &Client,
    store: &Store,
    reference: &Reference,
    layers: &[Descriptor],
) -> Result<(), OciKind> {
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let Some(layer) = layers.get(next.fetch_add(1, Ordering::Relaxed)) else {
                return Ok(());
            };
            client.download(reference, layer, store).inspect_err(|_| {
                next.store(layers.len(), Ordering::Relaxed);
            })?;
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..PARALLEL.min(layers.len())).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| {
            let stopped = OciKind::Interrupted;
            thread.join().unwrap_or(Err(stopped))
        })
    })
}
