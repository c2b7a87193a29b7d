//! The threads on which packages of one level run.

use std::panic::resume_unwind;
use std::sync::Mutex;
use std::thread;

/// Runs `work` for each input, in parallel, and returns the results in order.
///
/// The threads are not those of rayon. A package waits for its functions, which use rayon themselves: if all threads of rayon were
/// waiting, no function would ever end.
pub(super) fn map<T: Send, R: Send>(
    inputs: Vec<T>,
    limit: usize,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let count = limit.min(inputs.len());
    let queue = Mutex::new(inputs.into_iter().enumerate());
    let next = || queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
    let worker = || {
        let mut done = Vec::new();
        while let Some((at, input)) = next() {
            done.push((at, work(input)));
        }
        done
    };
    let mut done = thread::scope(|scope| {
        // If the operating system refuses to start a thread, the others do its work.
        let start = |_| thread::Builder::new().spawn_scoped(scope, worker).ok();
        let threads: Vec<_> = (1..count).filter_map(start).collect();
        let mut done = worker();
        for thread in threads {
            done.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_order_of_the_inputs() {
        let inputs: Vec<usize> = (0..1000).collect();
        for limit in [0, 1, 7] {
            assert_eq!(map(inputs.clone(), limit, |it| it), inputs);
        }
        assert!(map(Vec::<usize>::new(), 7, |it| it).is_empty());
    }

    #[test]
    fn work_that_waits_for_rayon_ends() {
        use rayon::prelude::*;

        // More inputs than any machine has processors, each of which waits for a thread that needs rayon.
        let work = |it: usize| {
            let sum = move || (0..1000).into_par_iter().with_max_len(1).map(|_| it).sum::<usize>();
            thread::spawn(sum).join().unwrap()
        };
        let limit = rayon::current_num_threads();
        assert_eq!(map((0..1000).collect(), limit, work)[3], 3000);
    }
}
