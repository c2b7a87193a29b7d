//! Many files side by side, and the results in the order of the files.

use std::num::NonZeroUsize;
use std::sync::OnceLock;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::console::Progress;

/// Does `work` for each item. Threads are started only where there is something to share among them.
pub(crate) fn map<T: Sync, R: Send>(
    items: &[T],
    jobs: Option<NonZeroUsize>,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let progress = Progress::of(items.len());
    let work = |item: &T| {
        let result = work(item);
        progress.step();
        result
    };
    let alone = items.len() < 2 || jobs.is_some_and(|jobs| jobs.get() == 1);
    let threads = if alone { None } else { Threads::of(jobs) };
    match &threads {
        Some(threads) => threads.pool().install(|| items.par_iter().map(&work).collect()),
        None => items.iter().map(work).collect(),
    }
}

/// Does work that shares itself out among threads.
pub(crate) fn within<R: Send>(jobs: Option<NonZeroUsize>, work: impl FnOnce() -> R + Send) -> R {
    match Threads::of(jobs) {
        Some(threads) => threads.pool().install(work),
        None => work(),
    }
}

enum Threads {
    /// As many as there are processors, started once.
    Shared(&'static ThreadPool),
    /// As many as somebody wants.
    Own(ThreadPool),
}

impl Threads {
    /// None where the system gives none.
    fn of(jobs: Option<NonZeroUsize>) -> Option<Self> {
        static SHARED: OnceLock<Option<ThreadPool>> = OnceLock::new();
        let started = |count: usize| ThreadPoolBuilder::new().num_threads(count).build().ok();
        match jobs {
            Some(jobs) => started(jobs.get()).map(Self::Own),
            None => SHARED.get_or_init(|| started(0)).as_ref().map(Self::Shared),
        }
    }

    fn pool(&self) -> &ThreadPool {
        match self {
            Self::Shared(pool) => pool,
            Self::Own(pool) => pool,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        for jobs in [None, NonZeroUsize::new(1), NonZeroUsize::new(3)] {
            assert_eq!(map(&items, jobs, |item| *item), items);
        }
    }
}
