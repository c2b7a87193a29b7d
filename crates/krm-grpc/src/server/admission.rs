//! How many functions run, and how many requests wait for them. A request is admitted before its body is read, so that memory is bounded by
//! the functions that run and not by the clients.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The right to run one function.
pub(super) type Permit = OwnedSemaphorePermit;

/// Why a request is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotAdmitted {
    /// Too many requests wait already.
    QueueFull,
    /// The server is about to end.
    Closed,
}

#[derive(Debug)]
pub(super) struct Admission {
    running: Arc<Semaphore>,
    concurrency: usize,
    waiting: AtomicUsize,
    queue: usize,
    is_closed: AtomicBool,
}

impl Admission {
    pub(super) fn new(concurrency: usize, queue: usize) -> Self {
        let concurrency = concurrency.max(1);
        let (running, waiting) = (Arc::new(Semaphore::new(concurrency)), AtomicUsize::new(0));
        Self { running, concurrency, waiting, queue, is_closed: AtomicBool::new(false) }
    }

    /// No request is admitted from now on; those that wait still are.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
    }

    /// How many functions run, and how many requests wait.
    pub(super) fn counts(&self) -> (usize, usize) {
        let running = self.concurrency - self.running.available_permits().min(self.concurrency);
        (running, self.waiting.load(Ordering::SeqCst))
    }

    pub(super) async fn admit(&self) -> Result<Permit, NotAdmitted> {
        if self.is_closed.load(Ordering::SeqCst) {
            return Err(NotAdmitted::Closed);
        }
        // The semaphore is fair: this does not overtake a request that waits.
        if let Ok(permit) = Arc::clone(&self.running).try_acquire_owned() {
            return Ok(permit);
        }
        let _waiting = Waiting::enter(&self.waiting, self.queue).ok_or(NotAdmitted::QueueFull)?;
        Arc::clone(&self.running).acquire_owned().await.map_err(|_| NotAdmitted::Closed)
    }
}

/// A request that waits; it may also be dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn enter(count: &'a AtomicUsize, limit: usize) -> Option<Self> {
        let is_free = |count: usize| (count < limit).then_some(count + 1);
        count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, is_free).ok().map(|_| Self(count))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_beyond_the_queue_are_refused_and_those_in_it_run_later() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let admission = Arc::new(Admission::new(1, 1));
            let first = admission.admit().await.unwrap();
            let waiting = Arc::clone(&admission);
            let second = tokio::spawn(async move { waiting.admit().await.map(drop) });
            tokio::task::yield_now().await;
            assert_eq!(admission.counts(), (1, 1));
            assert_eq!(admission.admit().await.map(drop), Err(NotAdmitted::QueueFull));
            admission.close();
            drop(first);
            assert_eq!(second.await.unwrap(), Ok(()), "it was accepted before the end");
            assert_eq!(admission.counts(), (0, 0));
            assert_eq!(admission.admit().await.map(drop), Err(NotAdmitted::Closed));
        });
    }
}
