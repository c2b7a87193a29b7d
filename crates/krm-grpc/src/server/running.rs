//! The requests that the server has accepted, so that it can wait for them and cancel them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
pub(super) struct Running {
    /// Requests without a response.
    requests: AtomicUsize,
    /// The functions that run, with the flags that stop them. A function can run longer than its request.
    functions: Mutex<(u64, BTreeMap<u64, Arc<AtomicBool>>)>,
}

impl Running {
    /// The number of requests without a response.
    pub(super) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.requests() == 0 && self.functions().1.is_empty()
    }

    /// Stops all functions.
    pub(super) fn cancel(&self) {
        self.functions().1.values().for_each(|flag| flag.store(true, Ordering::SeqCst));
    }

    /// Counts a request until the value is dropped.
    pub(super) fn add_request(self: &Arc<Self>) -> RunningRequest {
        self.requests.fetch_add(1, Ordering::SeqCst);
        RunningRequest(Arc::clone(self))
    }

    /// Counts a function until the value is dropped.
    pub(super) fn add_function(self: &Arc<Self>, cancelled: &Arc<AtomicBool>) -> RunningFunction {
        let mut functions = self.functions();
        functions.0 += 1;
        let number = functions.0;
        functions.1.insert(number, Arc::clone(cancelled));
        RunningFunction { running: Arc::clone(self), number }
    }

    fn functions(&self) -> MutexGuard<'_, (u64, BTreeMap<u64, Arc<AtomicBool>>)> {
        self.functions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
pub(super) struct RunningRequest(Arc<Running>);

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Debug)]
pub(super) struct RunningFunction {
    running: Arc<Running>,
    number: u64,
}

impl Drop for RunningFunction {
    fn drop(&mut self) {
        self.running.functions().1.remove(&self.number);
    }
}
