//! The images of `roots` for systems where none can be unpacked, which means Windows: file names and symlinks of layers need Unix.

use std::path::PathBuf;

use super::Store;
use crate::manifest::{Descriptor, ImageConfig};
use crate::{Control, ImageLimits, OciKind};

impl Store {
    /// The directory of an unpacked image: none on this system.
    pub fn root(&self, _: &ImageConfig) -> Option<PathBuf> {
        None
    }

    /// Unpacks no image on this system.
    ///
    /// # Errors
    /// Always.
    pub fn unpack(
        &self,
        _: &[Descriptor],
        _: &ImageConfig,
        _: &ImageLimits,
        _: &Control,
    ) -> Result<PathBuf, OciKind> {
        Err(OciKind::Store {
            path: self.root.display().to_string(),
            reason: "images are unpacked on Unix only".to_owned(),
        })
    }
}
