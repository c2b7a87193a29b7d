//! Images without a container engine: the image is unpacked in a store, and krm starts itself again in stages that build the container.
//!
//! ```text
//! SandboxedImage ─► krm __sandbox enter ─► krm __sandbox init ─► the program of the image
//!                   new namespaces,        process 1 of the        no capabilities, no new privileges,
//!                   identities, waits      namespace: mounts       system calls filtered
//! ```
//!
//! There are stages because `unsafe` code is forbidden: a new process id namespace begins with the next process, and only a process
//! that was started anew may do everything between fork and exec. The input is not read before the program of the image starts, so
//! that a sandbox which cannot be built is known before anything has happened.
//!
//! The stages get their description in environment variables ([`spec`]). The variables of the image are not set before the last step:
//! `LD_PRELOAD` of a hostile image would otherwise be one of krm.

mod function;
mod image;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod linux;
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[path = "unsupported.rs"]
mod linux;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod spec;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod stage;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::Environment;

pub(crate) use function::{SandboxFailure, SandboxedImage};
pub use image::{ImageStore, UnpackedImage};
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) use stage::serve;

/// How a sandbox is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builder {
    /// By krm itself.
    Krm,
    /// By the program `bwrap`.
    Bubblewrap,
}

impl Builder {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Krm => "krm",
            Self::Bubblewrap => "bubblewrap",
        }
    }
}

/// What is needed to run images without a container engine. Clones share what is known about this machine.
#[derive(Clone, Debug)]
pub struct Sandbox {
    /// The program that calls [`crate::serve`].
    #[cfg_attr(
        not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))),
        expect(dead_code, reason = "no sandbox is built on other systems")
    )]
    program: PathBuf,
    images: Arc<dyn ImageStore>,
    /// Why a builder cannot be used, as far as that was tried.
    failures: Arc<Mutex<Vec<(&'static str, String)>>>,
}

impl Sandbox {
    /// A sandbox for the images of a store. The program calls [`crate::serve`].
    pub fn new(program: PathBuf, images: Arc<dyn ImageStore>) -> Self {
        Self { program, images, failures: Arc::default() }
    }

    /// Why a builder failed before.
    fn failure(&self, builder: Builder) -> Option<String> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.iter().find(|it| it.0 == builder.name()).map(|it| it.1.clone())
    }

    /// Remembers that a builder cannot be used, so that the next function does not try it again.
    fn record_failure(&self, builder: Builder, reason: String) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.push((builder.name(), reason));
    }
}

impl Sandbox {
    /// A setting of the system that probably forbids sandboxes.
    pub(crate) fn obstacle(&self) -> Option<&'static str> {
        linux::obstacle()
    }

    /// What to change so that a builder can be used.
    pub(crate) fn remedy(&self, builder: Builder, environment: &Environment) -> Option<String> {
        match builder {
            Builder::Krm => linux::remedy(),
            Builder::Bubblewrap => linux::bubblewrap_remedy(environment),
        }
    }
}
