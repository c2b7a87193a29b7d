//! Leaves nothing of a container behind: it has a name to remove it by, and a working directory for the engine's client.

use std::cell::Cell;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::engine::Engine;
use crate::Interrupt;

/// Pauses before each attempt to remove a container: one that was just being created when its client was killed appears
/// a little later.
const ATTEMPTS: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_millis(100),
    Duration::from_millis(300),
    Duration::from_millis(600),
];
const REMOVE_TIMEOUT: Duration = Duration::from_secs(20);

/// Removes the container when dropped, unless the container exited by itself.
#[derive(Debug)]
pub(super) struct Cleanup {
    engine: Engine,
    name: String,
    /// Compat: podman's monitor leaves a file in its working directory when a container runs out of memory.
    directory: PathBuf,
    disarmed: Cell<bool>,
}

impl Cleanup {
    pub(super) fn new(engine: Engine) -> std::io::Result<Self> {
        // Several machines can share an engine, so a process id is not unique. The keys of a new hasher are random.
        let number = RandomState::new().hash_one(std::process::id());
        let name = format!("krm-{number:016x}");
        let directory = engine.temporary_directory().join(&name);
        fs::create_dir(&directory)?;
        Ok(Self { engine, name, directory, disarmed: Cell::new(false) })
    }

    /// The working directory of the engine's client, which is not the user's.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Records that the container exited, so that the engine removes it.
    pub(super) fn disarm(&self) {
        self.disarmed.set(true);
    }

    /// Returns whether there was a container to remove: the engine then prints its name.
    fn remove(&self) -> bool {
        let args = ["rm", "--force", &self.name];
        let output = self.engine.ask(&args, REMOVE_TIMEOUT, &Interrupt::new());
        output.is_some_and(|output| output.contains(&self.name))
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        if !self.disarmed.get() {
            let _ = ATTEMPTS.into_iter().any(|pause| {
                thread::sleep(pause);
                self.remove()
            });
        }
        let _ = fs::remove_dir_all(&self.directory);
    }
}
