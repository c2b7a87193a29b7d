//! A function of an image that was started for the next run, while the package is still being read.

use std::sync::{Mutex, PoisonError};

use crate::container::is_isolated;
use crate::{ContainerSettings, Pull};

/// What was started ahead, until a run takes it.
#[derive(Debug)]
pub(crate) struct StartedAhead<T>(Mutex<Option<T>>);

impl<T> Default for StartedAhead<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> StartedAhead<T> {
    /// Starts what cannot reach anything before it gets input, and whose image is present: one that is pulled before every run is not.
    pub(crate) fn start(&self, settings: &ContainerSettings, start: impl FnOnce() -> Option<T>) {
        if is_isolated(settings) && settings.pull != Pull::Always {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = start();
        }
    }

    pub(crate) fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
