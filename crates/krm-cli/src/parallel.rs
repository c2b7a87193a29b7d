//! Many files side by side, and the results in the order of the files.

use std::num::NonZeroUsize;

use rayon::prelude::*;

use crate::show::Progress;

/// Does `work` for each item. Threads are started only where there is something to share among them.
pub(crate) fn map<T: Sync, R: Send>(
    items: &[T],
    jobs: Option<NonZeroUsize>,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let alone = items.len() < 2 || jobs.is_some_and(|jobs| jobs.get() == 1);
    let pool = match alone {
        true => None,
        false => {
            let threads = jobs.map_or(0, |jobs| jobs.get().min(items.len()));
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()
        }
    };
    let progress = Progress::of(items.len());
    let work = |item: &T| {
        let result = work(item);
        progress.step();
        result
    };
    match pool {
        Some(pool) => pool.install(|| items.par_iter().map(&work).collect()),
        None => items.iter().map(work).collect(),
    }
}

/// Does work that shares itself out among threads.
pub(crate) fn within<R: Send>(jobs: Option<NonZeroUsize>, work: impl FnOnce() -> R + Send) -> R {
    let pool = jobs.map(|jobs| rayon::ThreadPoolBuilder::new().num_threads(jobs.get()).build());
    match pool {
        Some(Ok(pool)) => pool.install(work),
        _ => work(),
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
