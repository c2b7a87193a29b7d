//! What a container needs to leave nothing behind: a name to remove it by, and a folder for its engine to stand in.

use std::cell::Cell;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::engine::Engine;
use crate::Interrupt;

/// A container that is just being made when its program is killed appears a little later.
const TRIES: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_millis(100),
    Duration::from_millis(300),
    Duration::from_millis(600),
];
const PATIENCE: Duration = Duration::from_secs(20);

/// Removes the container when it is dropped, unless the container ended by itself.
#[derive(Debug)]
pub(super) struct Cleanup {
    engine: Engine,
    name: String,
    /// Compat: podman's monitor leaves a file where it stands when a container takes too much memory.
    folder: PathBuf,
    done: Cell<bool>,
}

impl Cleanup {
    pub(super) fn new(engine: Engine) -> std::io::Result<Self> {
        // Several machines can share an engine: a process number is not enough. The keys of a new hasher are random.
        let number = RandomState::new().hash_one(std::process::id());
        let name = format!("krm-{number:016x}");
        let folder = engine.temporary().join(&name);
        fs::create_dir(&folder)?;
        Ok(Self { engine, name, folder, done: Cell::new(false) })
    }

    /// Where the engine's program stands; not where the person does.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The container ended, and the engine removes it.
    pub(super) fn is_done(&self) {
        self.done.set(true);
    }

    /// Whether there was something to remove; the engine then says its name.
    fn remove(&self) -> bool {
        let said = self.engine.ask(&["rm", "--force", &self.name], PATIENCE, &Interrupt::new());
        said.is_some_and(|said| said.contains(&self.name))
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        if !self.done.get() {
            let _ = TRIES.into_iter().any(|pause| {
                thread::sleep(pause);
                self.remove()
            });
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}
