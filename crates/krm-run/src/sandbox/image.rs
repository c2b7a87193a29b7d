//! Where unpacked images come from. The store and the registry client are in krm-oci; krm-cli connects them.

use std::any::Any;
use std::fmt;
use std::path::PathBuf;

use crate::{Image, Interrupt, Pull, RunKind};

/// Unpacked images by name.
pub trait ImageStore: fmt::Debug + Send + Sync {
    /// Finds an image, and pulls it if the policy says so.
    ///
    /// # Errors
    /// If the image is not present and cannot be pulled.
    fn get(&self, name: &str, pull: Pull, interrupt: &Interrupt) -> Result<UnpackedImage, RunKind>;
}

/// An image in a directory, which does not change.
pub struct UnpackedImage {
    /// The directory with the root of the image. An absolute path without symlinks.
    pub root: PathBuf,
    /// Which image it is.
    pub image: Image,
    /// The program and its first arguments.
    pub entrypoint: Vec<String>,
    /// Further arguments, which arguments of the user replace.
    pub arguments: Vec<String>,
    /// Variables, `NAME=VALUE`.
    pub variables: Vec<String>,
    /// The working directory; empty for `/`.
    pub working_directory: String,
    /// Keeps the directory from being removed as long as it lives.
    pub lease: Box<dyn Any + Send + Sync>,
}

impl fmt::Debug for UnpackedImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("UnpackedImage");
        debug.field("root", &self.root).field("image", &self.image).finish_non_exhaustive()
    }
}
