//! Unpacked images: made in staging and renamed when they are complete.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Store, create_directory, failure, open_lock, random};
use crate::archive::{Compression, decompress};
use crate::digest::HashingReader;
use crate::manifest::{Descriptor, ImageConfig};
use crate::unpack::{Directory, Unpacker};
use crate::{Control, Digest, ImageLimits, OciKind};

/// How long another process that unpacks the same image is waited for.
const PATIENCE: Duration = Duration::from_secs(3600);

impl Store {
    /// The directory of an unpacked image, if it is there.
    pub fn root(&self, config: &ImageConfig) -> Option<PathBuf> {
        let path = self.root_path(config);
        let is_there = path.is_dir();
        if is_there {
            self.touch(&path);
        }
        is_there.then_some(path)
    }

    /// Images with the same layers have the same root.
    fn root_path(&self, config: &ImageConfig) -> PathBuf {
        let layers = Digest::of(config.rootfs.diff_ids.join("\n").as_bytes());
        self.root.join("roots").join(layers.hex())
    }

    /// Unpacks an image whose layers are in the store, unless it is unpacked already. The digests of the layers are verified again,
    /// before and after decompression.
    ///
    /// # Errors
    /// If a layer is missing, damaged or not allowed. Nothing of the image is left then.
    pub fn unpack(
        &self,
        layers: &[Descriptor],
        config: &ImageConfig,
        limits: &ImageLimits,
        control: &Control,
    ) -> Result<PathBuf, OciKind> {
        if let Some(root) = self.root(config) {
            return Ok(root);
        }
        self.check_writable()?;
        if layers.len() != config.rootfs.diff_ids.len() {
            let reason = "the configuration lists other layers than the manifest".to_owned();
            return Err(OciKind::InvalidManifest { reason });
        }
        let target = self.root_path(config);
        let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let lock_path = self.staging(&format!("{name}.lock"));
        let lock = open_lock(&lock_path).map_err(|error| failure(&lock_path, &error))?;
        if !self.wait(PATIENCE, control, || lock.try_lock())? {
            return Err(OciKind::StoreBusy { path: lock_path.display().to_string() });
        }
        if let Some(root) = self.root(config) {
            return Ok(root);
        }
        let staged = Staged::new(self, &name)?;
        let bytes = self.unpack_layers(&staged.path, layers, config, limits, control)?;
        // The user of a function enters it; others cannot reach it, because the directory above is private.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&staged.path, mode).map_err(|error| failure(&staged.path, &error))?;
        fs::write(target.with_extension("bytes"), bytes.to_string())
            .and_then(|()| fs::rename(&staged.path, &target))
            .map_err(|error| failure(&target, &error))?;
        Ok(target)
    }

    fn unpack_layers(
        &self,
        path: &Path,
        layers: &[Descriptor],
        config: &ImageConfig,
        limits: &ImageLimits,
        control: &Control,
    ) -> Result<u64, OciKind> {
        let failed = |error: std::io::Error| failure(path, &error);
        let root = Directory::at(path).map_err(failed)?;
        let mut unpacker = Unpacker::new(root, limits.archive, control);
        for (layer, unpacked) in layers.iter().zip(&config.rootfs.diff_ids) {
            let digest = layer.digest()?;
            let blob = self.blob_path(&digest);
            let mut source =
                HashingReader::new(File::open(&blob).map_err(|error| failure(&blob, &error))?);
            let archive = decompress(Compression::of(&layer.media_type)?, &mut source);
            let unpacking = unpacker.layer(HashingReader::new(archive));
            let unpacking = unpacking.and_then(|it| Digest::parse(unpacked)?.check(&it.finish()));
            // A blob that is damaged on disk is the better explanation of whatever is wrong with it, and is downloaded again.
            let rest = std::io::copy(&mut source, &mut std::io::sink());
            if rest.is_err() || digest.check(&source.finish()).is_err() {
                self.discard_blob(&digest);
                let reason = format!("the blob `{digest}` was damaged and is removed");
                return Err(OciKind::Store { path: blob.display().to_string(), reason });
            }
            unpacking?;
        }
        Directory::at(path).and_then(|root| root.flush()).map_err(failed)?;
        Ok(unpacker.used().bytes)
    }
}

/// A directory in staging, removed unless it was renamed. The lock of its image is held, so what a killed process left is removed here.
struct Staged {
    path: PathBuf,
}

impl Staged {
    fn new(store: &Store, name: &str) -> Result<Self, OciKind> {
        let staging = store.root.join("staging");
        let failed = |error: std::io::Error| failure(&staging, &error);
        let prefix = format!("{name}-");
        for entry in fs::read_dir(&staging).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                fs::remove_dir_all(entry.path()).map_err(failed)?;
            }
        }
        let path = staging.join(format!("{prefix}{}", random()?));
        create_directory(&path).map_err(failed)?;
        Ok(Self { path })
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}
