//! Images for the sandbox: found in the store of this machine, or pulled into it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use krm_core::Diagnostic;
use krm_oci::{Control, ImageLimits, OciKind, Platform, Progress, Reference, Store};
use krm_run::{Image, ImageStore, Interrupt, Pull, RunKind, UnpackedImage};

use super::backend::observed_client;
use super::settings::Settings;
use crate::console::Activity;

/// The variable with the directory of the store.
const DIRECTORY_VARIABLE: &str = "KRM_IMAGE_STORE";

/// The directory of images in the cache.
pub(crate) fn directory(cache: &Path) -> PathBuf {
    let variable = std::env::var_os(DIRECTORY_VARIABLE).filter(|value| !value.is_empty());
    variable.map_or_else(|| cache.join("images"), PathBuf::from)
}

/// The store of this machine. It is opened for each image, and stays open while the image is used.
#[derive(Debug)]
pub(super) struct OciImageStore {
    directory: PathBuf,
}

impl OciImageStore {
    pub(super) fn new(cache: &Path) -> Self {
        Self { directory: directory(cache) }
    }
}

impl ImageStore for OciImageStore {
    fn get(&self, name: &str, pull: Pull, interrupt: &Interrupt) -> Result<UnpackedImage, RunKind> {
        let reference = Reference::parse(name).map_err(unavailable)?;
        let (platform, limits) = (Platform::current(), ImageLimits::default());
        let store = Store::open(&self.directory).map_err(unavailable)?;
        let found = match pull {
            Pull::Always => None,
            _ => krm_oci::find(&store, &reference, &platform, &limits).map_err(unavailable)?,
        };
        let control = Control::default().stopped_by(interrupt.flag());
        let image = match found {
            Some(image) => image,
            None if pull == Pull::Never => return Err(RunKind::PullDisabled),
            None => {
                let settings = Settings::from_environment().map_err(|it| unavailable_as(&it))?;
                let (_activity, observed) = observe(name, control.clone());
                let client = observed_client(&settings, observed);
                krm_oci::pull(&client, &store, &reference, &platform).map_err(unavailable)?
            }
        };
        let root = match store.root(&image.config) {
            Some(root) => root,
            None => {
                let _activity = Activity::begin(&format!("unpacking {name}"));
                let unpacked = store.unpack(&image.layers, &image.config, &limits, &control);
                unpacked.map_err(unavailable)?
            }
        };
        // Mounts are made by path, from another root.
        let root = root.canonicalize().map_err(|error| {
            unavailable(OciKind::Store {
                path: root.display().to_string(),
                reason: error.to_string(),
            })
        })?;
        let process = image.config.config;
        let digest =
            format!("{}/{}@{}", reference.registry(), reference.repository(), image.digest);
        Ok(UnpackedImage {
            root,
            image: Image { id: image.digest.to_string().into(), digest: Some(digest.into()) },
            entrypoint: process.entrypoint,
            arguments: process.cmd,
            variables: process.env,
            working_directory: process.working_dir,
            lease: Box::new(store),
        })
    }
}

/// Shows how much of an image has arrived.
fn observe(name: &str, control: Control) -> (Activity, Control) {
    let blobs: Arc<Mutex<BTreeMap<String, (u64, u64)>>> = Arc::default();
    let name = name.to_owned();
    let seen = Arc::clone(&blobs);
    let activity = Activity::observe(move || {
        let blobs = seen.lock().unwrap_or_else(PoisonError::into_inner);
        let (done, total) = blobs.values().fold((0, 0), |all, it| (all.0 + it.0, all.1 + it.1));
        match total {
            0 => format!("pulling {name}"),
            _ => format!("pulling {name}: {} of {} MiB", done >> 20, (total >> 20).max(1)),
        }
    });
    let control = control.observed_by(move |progress: Progress<'_>| {
        let mut blobs = blobs.lock().unwrap_or_else(PoisonError::into_inner);
        blobs.insert(progress.digest.to_string(), (progress.done, progress.total));
    });
    (activity, control)
}

fn unavailable(kind: OciKind) -> RunKind {
    match kind {
        OciKind::Interrupted => RunKind::Interrupted,
        kind => unavailable_as(&Diagnostic::error(kind)),
    }
}

fn unavailable_as(error: &Diagnostic) -> RunKind {
    let advice = error.hints.first().cloned().unwrap_or_default();
    RunKind::ImageUnavailable { reason: error.message().to_owned(), advice }
}
