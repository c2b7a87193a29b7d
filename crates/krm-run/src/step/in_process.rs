//! Built-in functions: they work on the items themselves, and a panic is an error like any other.
//!
//! Those in Rust run on another thread, because a function that exceeds its time or is interrupted cannot be stopped from
//! outside. It is abandoned with its thread: it only has copies of the items, so nothing that it still does is visible, and it ends with
//! krm. A thread whose function has ended runs the next one.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use krm_catalog::interpreter::panic_message;
use krm_catalog::{MAX_PARSED_BYTES, MIN_PER_THREAD};
use krm_core::functions::resource_list::{Item, check_name};
use krm_core::{Diagnostic, Identity, PackagePath};
use krm_sdk::{Error, Resource, ResourceList};
use rayon::prelude::*;

use super::{Returned, Step};
use crate::execution::quote_stderr;
use crate::isolation::wait;
use crate::{FunctionRun, Interrupt, Limits, RunKind, Tail};

/// The stack size of the main thread of a program, which functions are written for.
const STACK: usize = 8 * 1024 * 1024;

/// How a function ended, and the list as it left it.
pub(crate) type CallOutput = (thread::Result<Result<(), Error>>, ResourceList);

/// Runs the function on the items in `input`; `sent` are the same items as they were before. Everything but the items is stored in
/// `run`.
pub(super) fn run(
    step: &Step,
    call: impl FnOnce(ResourceList) -> Result<CallOutput, RunKind>,
    input: Vec<Item>,
    sent: &[&Item],
    run: &mut FunctionRun,
) -> Option<Returned> {
    let start = Instant::now();
    let list = ResourceList {
        items: input.into_iter().map(|item| to_function(item, &step.package)).collect(),
        function_config: step.config.clone().map(Resource::from),
        ..ResourceList::default()
    };
    let output = call(list);
    run.duration = start.elapsed();
    let (result, list) = match output {
        Ok(output) => output,
        Err(error) => {
            run.errors.push(Diagnostic::error(error));
            return None;
        }
    };
    let stderr = stderr_of(&list.log, step);
    (run.record.stderr, run.reported_results) = (stderr.text(), list.results.len());
    let result = result.unwrap_or_else(|panic| {
        let message = panic_message(&*panic).to_owned();
        Err(Diagnostic::error(RunKind::Panicked { message }).into())
    });
    let returned = result.and_then(|()| returned(list.items, sent, step));
    match returned {
        Ok(returned) => {
            run.record.results = list.results;
            Some(returned)
        }
        Err(error) => {
            // The record has the errors as results, as that of a process that reports its own error.
            run.record.results = error.results(list.results);
            if error.is_reported() {
                run.reported_results = 0;
            }
            let quote =
                |error: Diagnostic| quote_stderr(&stderr).into_iter().fold(error, Diagnostic::note);
            let errors = error.diagnostics.into_iter();
            run.errors.extend(errors.map(|error| quote(from_root(error, step, sent))));
            None
        }
    }
}

/// What a worker runs.
type Job = Box<dyn FnOnce() + Send>;

/// A thread that runs one job after the other, until it is dropped.
struct Worker {
    jobs: mpsc::Sender<Job>,
}

thread_local! {
    /// The worker of this thread, while it is idle. Starting a thread takes longer than most functions need for a few resources, and
    /// a tree of packages has thousands of functions.
    static IDLE: Cell<Option<Worker>> = const { Cell::new(None) };
}

impl Worker {
    fn start() -> std::io::Result<Self> {
        let (jobs, receiver) = mpsc::channel::<Job>();
        let work = move || receiver.into_iter().for_each(|job| job());
        thread::Builder::new().stack_size(STACK).spawn(work)?;
        Ok(Self { jobs })
    }
}

/// Calls a function on another thread, within its time.
pub(super) fn on_thread(
    function: impl Fn(&mut ResourceList) -> Result<(), Error> + Send + 'static,
    mut list: ResourceList,
    limits: &Limits,
    interrupt: &Interrupt,
) -> Result<CallOutput, RunKind> {
    let (sender, receiver) = mpsc::channel();
    let work = move || {
        let result = catch_unwind(AssertUnwindSafe(|| function(&mut list)));
        // An error means that the function was abandoned.
        let _ = sender.send((result, list));
    };
    let worker = match IDLE.take() {
        Some(worker) => worker,
        None => {
            Worker::start().map_err(|error| RunKind::CannotStart { reason: error.to_string() })?
        }
    };
    // If the thread has ended, the job is dropped, and so is its sender: that is what `wait` reports.
    let _ = worker.jobs.send(Box::new(work));
    let output = wait(&receiver, limits.time, interrupt);
    if output.is_ok() {
        IDLE.set(Some(worker));
    }
    output
}

/// The items that the function left in its list.
fn returned(items: Vec<Resource>, sent: &[&Item], step: &Step) -> Result<Returned, Error> {
    let mut items: Vec<Item> = items.into_iter().map(Item::from).collect();
    let from = origins(&items, sent);
    let is_large = items.iter().map(|item| item.text().len()).sum::<usize>() > MAX_PARSED_BYTES;
    let check = |(item, from): (&mut Item, &Option<usize>)| {
        let sent = from.map(|at| sent[at]);
        if sent.is_some_and(|sent| item.shares_text(sent)) {
            return None;
        }
        let unparsed = is_large.then(|| item.unparsed());
        let checked = check_name(item.resource(), sent);
        if let Some(unparsed) = unparsed {
            *item = unparsed;
        }
        checked.err()
    };
    let error = match items.len() <= MIN_PER_THREAD {
        true => items.iter_mut().zip(&from).find_map(check),
        false => {
            let items = items.par_iter_mut().zip(&from).with_min_len(MIN_PER_THREAD);
            items.map(check).find_map_first(|error| error)
        }
    };
    if let Some(mut error) = error {
        // The location would be in a text that nobody sees.
        error.location = None;
        return Err(error.into());
    }
    for (item, from) in items.iter_mut().zip(&from) {
        from_function(item, from.map(|at| sent[at]), step);
    }
    Ok(Returned { items, from })
}

/// The diagnostic with the path of its file relative to the root package.
fn from_root(diagnostic: Diagnostic, step: &Step, sent: &[&Item]) -> Diagnostic {
    let Some(file) = diagnostic.file.as_ref().filter(|_| !step.package.is_empty()) else {
        return diagnostic;
    };
    let path = format!("{}/{file}", step.package);
    let known: BTreeSet<&str> =
        sent.iter().filter_map(|item| item.path.as_ref()).map(PackagePath::as_str).collect();
    if known.contains(path.as_str()) { diagnostic.in_file(path) } else { diagnostic }
}

/// The log of a function, as the standard error of a process.
fn stderr_of(lines: &[String], step: &Step) -> Tail {
    let mut tail = Tail::new(step.limits.stderr);
    for line in lines {
        tail.push(line.as_bytes());
        tail.push(b"\n");
    }
    tail
}

/// The item with its path relative to the package of the function.
fn to_function(mut item: Item, package: &str) -> Resource {
    item.path = item.path.as_ref().and_then(|path| path.relative_to(package));
    Resource::from(item)
}

/// The index of the sent item that each returned item is. Of several copies with the same origin, the one with the same
/// identity is it. An item that an earlier step created has no origin and is matched by its identity.
fn origins(items: &[Item], sent: &[&Item]) -> Vec<Option<usize>> {
    let mut by_origin: Vec<(usize, usize)> =
        sent.iter().enumerate().filter_map(|(at, item)| Some((item.origin?, at))).collect();
    by_origin.sort_unstable();
    let of = |item: &Item| {
        let found = by_origin.binary_search_by_key(&item.origin?, |(origin, _)| *origin);
        found.ok().map(|at| by_origin[at].1)
    };
    let mut from: Vec<Option<usize>> = items.iter().map(of).collect();
    let mut copies: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut taken_by = vec![None; sent.len()];
    for (at, old) in from.iter().enumerate() {
        let Some(old) = *old else { continue };
        match taken_by[old] {
            None => taken_by[old] = Some(at),
            // Most items are returned once, and need no comparison.
            Some(first) => copies.entry(old).or_insert_with(|| vec![first]).push(at),
        }
    }
    for (old, copies) in copies {
        let identity = sent[old].resource().identity();
        let is_same = |at: &&usize| {
            items[**at].shares_text(sent[old]) || items[**at].resource().identity() == identity
        };
        let kept = copies.iter().find(is_same).or(copies.first()).copied();
        copies.iter().filter(|at| Some(**at) != kept).for_each(|at| from[*at] = None);
    }
    if items.iter().any(|item| item.origin.is_none()) {
        match_created(items, sent, &mut from);
    }
    from
}

/// Matches the items that an earlier step created by their identity.
fn match_created(items: &[Item], sent: &[&Item], from: &mut [Option<usize>]) {
    let mut created: HashMap<Option<Identity>, Vec<usize>> = HashMap::new();
    for (at, item) in sent.iter().enumerate().rev().filter(|(_, item)| item.origin.is_none()) {
        created.entry(item.resource().identity()).or_default().push(at);
    }
    for (at, item) in items.iter().enumerate().filter(|(_, item)| item.origin.is_none()) {
        from[at] = created.get_mut(&item.resource().identity()).and_then(Vec::pop);
    }
}

/// Makes the path of an item relative to the root package. A copy of another item is new.
fn from_function(item: &mut Item, old: Option<&Item>, step: &Step) {
    if old.is_none() {
        item.origin = None;
    }
    if let Some(path) = item.path.take() {
        item.path = Some(path.in_directory(&step.package));
    }
}
