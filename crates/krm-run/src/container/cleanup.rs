//! A container has a name, so that it can be removed when the engine's program that waits for it is gone.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};
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
pub(super) struct Cleanup<'a> {
    engine: &'a Engine,
    name: String,
    done: Cell<bool>,
}

impl<'a> Cleanup<'a> {
    pub(super) fn new(engine: &'a Engine) -> Self {
        // Several machines can share an engine: a process number is not enough. The keys of a new hasher are random.
        let number = RandomState::new().hash_one(std::process::id());
        Self { engine, name: format!("krm-{number:016x}"), done: Cell::new(false) }
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

impl Drop for Cleanup<'_> {
    fn drop(&mut self) {
        if !self.done.get() {
            let _ = TRIES.into_iter().any(|pause| {
                thread::sleep(pause);
                self.remove()
            });
        }
    }
}
