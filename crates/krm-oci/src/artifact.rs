//! Packages as artifacts of a registry, in the form that Flux reads and writes.
//!
//! Spec: Flux's OCI artifacts: one layer with a gzip-compressed archive, and annotations that say where the content comes from.

use std::collections::BTreeMap;

use crate::archive::{PackageFile, SkippedEntry, pack, unpack_files};
use crate::digest::shown;
use crate::manifest::{self, AnyManifest, Descriptor, Manifest};
use crate::{ArchiveLimits, Client, Digest, OciKind, Reference};

/// The media types of Flux.
const CONFIG_TYPE: &str = "application/vnd.cncf.flux.config.v1+json";
const CONTENT_TYPE: &str = "application/vnd.cncf.flux.content.v1.tar+gzip";

/// The annotations that say when, where and from which revision a package was made.
pub const CREATED: &str = "org.opencontainers.image.created";
/// The address of the source.
pub const SOURCE: &str = "org.opencontainers.image.source";
/// The revision of the source, such as `main@sha1:COMMIT`.
pub const REVISION: &str = "org.opencontainers.image.revision";

/// A package that was pulled.
#[derive(Clone, Debug)]
pub struct Package {
    /// The digest of its manifest.
    pub digest: Digest,
    /// Its files, sorted by path.
    pub files: Vec<PackageFile>,
    /// What its archive has besides files.
    pub skipped: Vec<SkippedEntry>,
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
}

impl Client {
    /// Pushes files as a package and returns the digest of its manifest. The same files and annotations are always the same digest.
    ///
    /// # Errors
    /// If a path is not one of a package, or the registry refuses it.
    pub fn push_package(
        &self,
        reference: &Reference,
        files: &[PackageFile],
        annotations: &BTreeMap<String, String>,
    ) -> Result<Digest, OciKind> {
        let (manifest, blobs) = package_manifest(files, annotations)?;
        for blob in blobs {
            self.push_blob(reference, &blob)?;
        }
        self.push_manifest(reference, &manifest)
    }

    /// Pulls a package, in the form of Flux or any other with one gzip-compressed archive.
    ///
    /// # Errors
    /// If it does not exist, is something else than a package, or is invalid.
    pub fn pull_package(
        &self,
        reference: &Reference,
        limits: &ArchiveLimits,
    ) -> Result<Package, OciKind> {
        let found = self.manifest(reference)?;
        let manifest = match found.manifest {
            AnyManifest::Image(manifest) => manifest,
            AnyManifest::Index(_) => {
                let found = "an image index".to_owned();
                return Err(OciKind::WrongMediaType { expected: "a package", found });
            }
        };
        let is_content = |it: &&Descriptor| it.media_type == CONTENT_TYPE;
        let is_archive = |it: &&Descriptor| it.media_type.ends_with("tar+gzip");
        let layer = manifest.layers.iter().find(is_content);
        let only =
            || manifest.layers.iter().find(is_archive).filter(|_| manifest.layers.len() == 1);
        let layer = layer.or_else(only).ok_or_else(|| OciKind::WrongMediaType {
            expected: "a package with one layer `….tar+gzip`",
            found: manifest
                .layers
                .first()
                .map_or_else(|| "no layer".to_owned(), |layer| shown(&layer.media_type)),
        })?;
        let archive = self.blob(reference, layer, limits.bytes)?;
        let (files, skipped) = unpack_files(&archive, limits)?;
        Ok(Package { digest: found.digest, files, skipped, annotations: manifest.annotations })
    }
}

/// The digest that files and annotations have as a package.
///
/// # Errors
/// If a path is not one of a package.
pub fn package_digest(
    files: &[PackageFile],
    annotations: &BTreeMap<String, String>,
) -> Result<Digest, OciKind> {
    let (manifest, _) = package_manifest(files, annotations)?;
    Ok(Digest::of(&manifest.to_bytes()?))
}

/// The manifest of a package, and its blobs.
fn package_manifest(
    files: &[PackageFile],
    annotations: &BTreeMap<String, String>,
) -> Result<(Manifest, [Vec<u8>; 2]), OciKind> {
    use std::io::Read;
    let archive = pack(files)?;
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(&*archive)
        .read_to_end(&mut unpacked)
        .map_err(|error| OciKind::InvalidManifest { reason: error.to_string() })?;
    // Compat: Flux writes the configuration of an image without a platform.
    let config = serde_json::json!({
        "architecture": "", "config": {}, "os": "",
        "rootfs": { "diff_ids": [Digest::of(&unpacked).to_string()], "type": "layers" },
    });
    let config = config.to_string().into_bytes();
    let manifest = Manifest {
        schema_version: 2,
        media_type: Some(manifest::MANIFEST.to_owned()),
        config: Descriptor::of(CONFIG_TYPE, &config),
        layers: vec![Descriptor::of(CONTENT_TYPE, &archive)],
        annotations: annotations.clone(),
    };
    Ok((manifest, [config, archive]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_has_the_media_types_of_flux() {
        let file = PackageFile { path: "a".into(), data: b"x".to_vec(), executable: false };
        let annotations = BTreeMap::from([(SOURCE.to_owned(), "https://a.io/b".to_owned())]);
        let (manifest, [config, archive]) = package_manifest(&[file], &annotations).unwrap();
        assert_eq!(manifest.config.media_type, "application/vnd.cncf.flux.config.v1+json");
        assert_eq!(manifest.layers[0].digest, Digest::of(&archive).to_string());
        assert_eq!(manifest.config.size, config.len() as u64);
        let text = serde_json::to_string(&manifest).unwrap();
        assert!(text.starts_with(r#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":"#));
        assert!(AnyManifest::parse(text.as_bytes()).is_ok());
    }
}
