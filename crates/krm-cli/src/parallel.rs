//! Parallel work on many files, with results in the order of the files.

use std::num::NonZeroUsize;
use std::sync::OnceLock;

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

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
    match !is_sequential && start_threads(jobs) {
        true => items.par_iter().map(&work).collect(),
        false => items.iter().map(work).collect(),
    }
}

/// Runs `work` for each number below `count`, and returns the results in order.
pub(crate) fn for_each_index<R: Send>(count: usize, work: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
    match count > 1 && start_threads(None) {
        true => (0..count).into_par_iter().map(work).collect(),
        false => (0..count).map(work).collect(),
    }
}

/// What `find` returns for items, with their positions. For work that takes less than moving a result.
pub(crate) fn find_each<T: Sync, R: Send>(
    items: &[T],
    find: impl Fn(&T) -> Option<R> + Sync,
) -> Vec<(usize, R)> {
    const AT_ONCE: usize = 64;
    let find = |(at, item): (usize, &T)| Some((at, find(item)?));
    match items.len() > AT_ONCE && start_threads(None) {
        true => items.par_iter().enumerate().with_min_len(AT_ONCE).filter_map(find).collect(),
        false => items.iter().enumerate().filter_map(find).collect(),
    }
}

/// Starts the threads of the process, on the first call: as many as `--jobs` says, or one per processor. All parallel work shares them,
/// that of functions, too. False if the operating system refuses to start threads.
pub(crate) fn start_threads(jobs: Option<NonZeroUsize>) -> bool {
    static IS_STARTED: OnceLock<bool> = OnceLock::new();
    let count = jobs.map_or(0, NonZeroUsize::get);
    *IS_STARTED.get_or_init(|| ThreadPoolBuilder::new().num_threads(count).build_global().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_items_have_their_positions() {
        let items: Vec<usize> = (0..1000).collect();
        let even = |item: &usize| item.is_multiple_of(2).then_some(*item);
        for count in [10, 1000] {
            let expected: Vec<(usize, usize)> = (0..count).step_by(2).map(|it| (it, it)).collect();
            assert_eq!(find_each(&items[..count], even), expected);
        }
    }

    #[test]
    fn results_keep_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        for jobs in [None, NonZeroUsize::new(1), NonZeroUsize::new(3)] {
            assert_eq!(map(&items, jobs, |item| *item), items);
        }
    }
}
