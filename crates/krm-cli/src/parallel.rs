//! Parallel work on many files, with results in the order of the files.

use std::num::NonZeroUsize;
use std::sync::OnceLock;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::console::Progress;

/// Runs `work` for each item. Threads are started only for two items or more, as most runs have a single file.
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
    let is_sequential = items.len() < 2 || jobs.is_some_and(|jobs| jobs.get() == 1);
    let threads = if is_sequential { None } else { Threads::of(jobs) };
    match &threads {
        Some(threads) => threads.pool().install(|| items.par_iter().map(&work).collect()),
        None => items.iter().map(work).collect(),
    }
}

/// Sets the number of threads of functions and of [`for_each_index`].
pub(crate) fn limit_threads(jobs: NonZeroUsize) {
    // It fails only if the threads were started before, and this is the first thing that krm does.
    let _ = ThreadPoolBuilder::new().num_threads(jobs.get()).build_global();
}

/// Runs `work` for each number below `count`, and returns the results in order.
pub(crate) fn for_each_index<R: Send>(count: usize, work: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
    match count {
        0 | 1 => (0..count).map(work).collect(),
        _ => (0..count).into_par_iter().map(work).collect(),
    }
}

/// Runs `work` inside a thread pool, for work that uses rayon itself.
pub(crate) fn within<R: Send>(jobs: Option<NonZeroUsize>, work: impl FnOnce() -> R + Send) -> R {
    match Threads::of(jobs) {
        Some(threads) => threads.pool().install(work),
        None => work(),
    }
}

enum Threads {
    /// One thread per processor, started once per process.
    Shared(&'static ThreadPool),
    /// As many threads as `--jobs` says.
    Own(ThreadPool),
}

impl Threads {
    /// None if the operating system refuses to start threads; the work is then done sequentially.
    fn of(jobs: Option<NonZeroUsize>) -> Option<Self> {
        static SHARED: OnceLock<Option<ThreadPool>> = OnceLock::new();
        let start = |count: usize| ThreadPoolBuilder::new().num_threads(count).build().ok();
        match jobs {
            Some(jobs) => start(jobs.get()).map(Self::Own),
            None => SHARED.get_or_init(|| start(0)).as_ref().map(Self::Shared),
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
