//! A built-in function: it gets the items themselves, and a panic of it is an error like any other.
//!
//! It runs on a thread of its own. One that takes too long, or that nobody wants any more, is left behind: it has nothing
//! but copies of the items, so nothing of what it does is seen any more, and it ends with krm.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use krm_core::functions::resource_list::Item;
use krm_core::{Diagnostic, PackagePath};
use krm_sdk::{Error, Resource, ResourceList};

use super::homes::relative;
use super::{Made, Step, StepFailure};
use crate::{Failure, Interrupt, Reason, Tail};

/// How often somebody looks whether it is to end.
const TICK: Duration = Duration::from_millis(50);

/// As much as the first thread of a program has.
const STACK: usize = 8 * 1024 * 1024;

/// How a function ended, and the list as it left it.
type Ended = (thread::Result<Result<(), Error>>, ResourceList);

pub(super) fn run(
    step: &Step,
    function: impl Fn(&mut ResourceList) -> Result<(), Error> + Send + 'static,
    sent: &[&Item],
    interrupt: &Interrupt,
) -> Result<Made, Box<StepFailure>> {
    let start = Instant::now();
    let mut list = ResourceList {
        items: sent.iter().map(|item| inside(item, &step.folder)).collect(),
        function_config: step.config.clone().map(Resource::from),
        ..ResourceList::default()
    };
    let (tell, told) = mpsc::channel();
    let work = move || {
        let ran = catch_unwind(AssertUnwindSafe(|| function(&mut list)));
        // Nobody listens any more to one that took too long.
        let _ = tell.send((ran, list));
    };
    let started = thread::Builder::new().stack_size(STACK).spawn(work);
    let ended = started
        .map_err(|error| Reason::CannotStart(error.to_string().into()))
        .and_then(|_| wait(&told, start, step.limits.time, interrupt));
    let time = start.elapsed();
    let (ran, list) = ended.map_err(|reason| {
        let told = Failure::new(&step.name, reason).deed();
        Box::new(StepFailure { time, is_deed: true, ..StepFailure::new(vec![told]) })
    })?;
    let results = list.results;
    let stderr = printed(&list.log, step);
    // A function that gave up says why in its results, as a program would.
    let failed = |error: Error| {
        let (results, stderr) = (error.results(results.clone()), stderr.clone());
        let told = error.diagnostics.into_iter().map(|told| from_root(told, step, sent)).collect();
        let failure = StepFailure { results, stderr, time, ..StepFailure::new(told) };
        Box::new(failure)
    };
    match ran {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return Err(failed(error)),
        Err(panic) => {
            let words = format!("it panicked, which is a fault in krm: {}", words(&*panic));
            return Err(failed(Error::new(words)));
        }
    }
    let items: Vec<Item> = list.items.into_iter().map(Item::from).collect();
    let from = origins(&items, sent);
    let back = |(item, from): (Item, &Option<usize>)| outside(item, from.map(|at| sent[at]), step);
    let items = items.into_iter().zip(&from).map(back).collect::<Result<Vec<Item>, _>>();
    let items = items.map_err(|error| failed(error.into()))?;
    Ok(Made { items, from, results, stderr: stderr.clone(), time, ..Made::default() })
}

/// Waits until the function ends, its time is over, or somebody wants an end.
fn wait(
    told: &Receiver<Ended>,
    start: Instant,
    most: Duration,
    interrupt: &Interrupt,
) -> Result<Ended, Reason> {
    loop {
        if interrupt.is_interrupted() {
            return Err(Reason::Interrupted);
        }
        let left = most.saturating_sub(start.elapsed());
        match told.recv_timeout(left.min(TICK)) {
            Ok(ended) => return Ok(ended),
            Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(Reason::Timeout(most)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Reason::Trap("it ended without a word".into()));
            }
        }
    }
}

/// What a function says about a file, with its path as the root knows it.
fn from_root(told: Diagnostic, step: &Step, sent: &[&Item]) -> Diagnostic {
    let Some(file) = told.file.as_ref().filter(|_| !step.folder.is_empty()) else { return told };
    let path = format!("{}/{file}", step.folder);
    let known: BTreeSet<&str> =
        sent.iter().filter_map(|item| item.path.as_ref()).map(PackagePath::as_str).collect();
    if known.contains(path.as_str()) { told.in_file(path) } else { told }
}

/// What a function printed, as if it were a program.
fn printed(lines: &[String], step: &Step) -> Tail {
    let mut tail = Tail::new(step.limits.stderr);
    for line in lines {
        tail.push(line.as_bytes());
        tail.push(b"\n");
    }
    tail
}

/// What a panic says.
fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("it does not say why")
}

/// An item with its path as the function's package knows it, and with its place in the list as its mark.
fn inside(item: &Item, folder: &str) -> Resource {
    let mut item = item.clone();
    item.path = item.path.as_ref().and_then(|path| relative(path, folder));
    Resource::from(item)
}

/// Which of those that were sent each item is: of several with one origin, the one that kept its names is it. One that
/// came into being in an earlier step is known by its names.
fn origins(items: &[Item], sent: &[&Item]) -> Vec<Option<usize>> {
    let mut from = vec![None; items.len()];
    let mut taken = vec![false; sent.len()];
    let by_origin: BTreeMap<usize, usize> =
        sent.iter().enumerate().filter_map(|(at, item)| Some((item.origin?, at))).collect();
    let of = |item: &Item| by_origin.get(&item.origin?).copied();
    for keeps_names in [true, false] {
        for (at, item) in items.iter().enumerate() {
            let Some(old) = of(item).filter(|old| from[at].is_none() && !taken[*old]) else {
                continue;
            };
            let is_named = item.shares_text(sent[old])
                || item.resource().identity() == sent[old].resource().identity();
            if is_named || !keeps_names {
                (from[at], taken[old]) = (Some(old), true);
            }
        }
    }
    for (at, item) in items.iter().enumerate().filter(|(_, item)| item.origin.is_none()) {
        let is_it = |old: &usize| {
            !taken[*old]
                && sent[*old].origin.is_none()
                && (item.shares_text(sent[*old])
                    || item.resource().identity() == sent[*old].resource().identity())
        };
        if let Some(old) = (0..sent.len()).find(is_it) {
            (from[at], taken[old]) = (Some(old), true);
        }
    }
    from
}

/// An item with its path as the root knows it. A copy of another one has no place of its own yet.
fn outside(mut item: Item, old: Option<&Item>, step: &Step) -> Result<Item, Diagnostic> {
    if old.is_none() && item.origin.take().is_some() {
        item.index = None;
    }
    if let Some(path) = item.path.take() {
        let path = match &*step.folder {
            "" => path.as_str().to_owned(),
            folder => format!("{folder}/{path}"),
        };
        item.path =
            Some(PackagePath::new(&path).map_err(|it| Diagnostic::untyped_error(it.to_string()))?);
    }
    Ok(item)
}
