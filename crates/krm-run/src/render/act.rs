//! One function on some of the resources: what it saw is put back in its place, and nothing else is touched.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use krm_catalog::Builtin;
use krm_core::wire::{FunctionResult, Item, SendOptions, Sending, incoming};
use krm_core::{Diagnostic, Severity};
use krm_sdk::{Resource, ResourceList};

use crate::{Failure, Function, Interrupt, Limits, Ready};

/// What came of a function.
#[derive(Clone, Debug, Default)]
pub struct Acted {
    /// All resources as they are now: those that it did not see or did not change share their text. None where it failed.
    pub items: Option<Vec<Item>>,
    /// What it has to say.
    pub results: Vec<FunctionResult>,
    /// Why it failed, with places; of a built-in function its results say so, too.
    pub errors: Vec<Diagnostic>,
    /// What was odd.
    pub warnings: Vec<Diagnostic>,
    /// The end of its standard error.
    pub stderr: String,
    /// Its exit code; of a built-in function one that says whether it failed.
    pub exit_code: i32,
    /// How many resources it saw.
    pub seen: usize,
    /// How long it took.
    pub time: Duration,
}

/// Runs a function on those of the resources that are wanted; the others stay as and where they are.
///
/// A resource that it saw and did not give back is gone, and a new one comes last.
pub fn act(
    ready: &Ready,
    config: Option<Item>,
    items: Vec<Item>,
    wanted: impl Fn(&Item) -> bool,
    limits: &Limits,
    interrupt: &Interrupt,
) -> Acted {
    let seen: Vec<usize> = (0..items.len()).filter(|at| wanted(&items[*at])).collect();
    let start = Instant::now();
    let mut acted = match ready {
        Ready::Builtin(builtin) => inside(builtin, config, items, &seen),
        Ready::Outside(function) => {
            outside(&**function, config.as_ref(), items, &seen, limits, interrupt)
        }
    };
    (acted.seen, acted.time) = (seen.len(), start.elapsed());
    acted
}

/// A built-in function. Results of severity `error` are a failure.
fn inside(builtin: &Builtin, config: Option<Item>, items: Vec<Item>, seen: &[usize]) -> Acted {
    let given = seen.iter().map(|at| with_origin(items[*at].clone(), Some(*at)));
    let mut list = ResourceList {
        items: given.map(Resource::from).collect(),
        function_config: config.map(Resource::from),
        results: Vec::new(),
    };
    let errors = match catch_unwind(AssertUnwindSafe(|| (builtin.run)(&mut list))) {
        Ok(Ok(())) => Vec::new(),
        Ok(Err(error)) => error.diagnostics,
        Err(_) => vec![Diagnostic::error(format!("the function `{}` crashed", builtin.name))],
    };
    let ResourceList { items: returned, mut results, .. } = list;
    results.extend(errors.iter().map(|it| FunctionResult::new(it.severity, &*it.message)));
    let failed = !errors.is_empty() || results.iter().any(|it| it.severity == Severity::Error);
    let items = (!failed).then(|| put_back(items, seen, returned.into_iter().map(Item::from)));
    Acted { items, results, errors, exit_code: failed.into(), ..Acted::default() }
}

/// A function that reads and writes texts.
fn outside(
    function: &dyn Function,
    config: Option<&Item>,
    items: Vec<Item>,
    seen: &[usize],
    limits: &Limits,
    interrupt: &Interrupt,
) -> Acted {
    let options = SendOptions { function_config: config, ..SendOptions::default() };
    let sending = match Sending::of(seen.iter().map(|at| &items[*at]), &options) {
        Ok(sending) => sending,
        Err(told) => return Acted { errors: vec![told], exit_code: 1, ..Acted::default() },
    };
    let outcome = match function.run(sending.text().as_bytes(), limits, interrupt) {
        Ok(outcome) => outcome,
        Err(failure) => return failed(&failure),
    };
    let stderr = outcome.stderr.text();
    let answer = match sending.answer(outcome.stdout) {
        Ok(answer) => answer,
        Err(refused) => {
            let words = format!(
                "the answer of `{}` is refused: {}",
                function.name(),
                refused.error.message
            );
            let told =
                refused.error.hints.into_iter().fold(Diagnostic::error(words), Diagnostic::hint);
            let (results, warnings) = (refused.results, refused.warnings);
            return Acted {
                errors: vec![told],
                results,
                warnings,
                stderr,
                exit_code: 1,
                ..Acted::default()
            };
        }
    };
    let returned = answer.items.into_iter().zip(&answer.from);
    let returned: Vec<Item> =
        returned.map(|(item, from)| with_origin(item, from.map(|at| seen[at]))).collect();
    let (results, warnings) = (answer.results, answer.warnings);
    let items = Some(put_back(items, seen, returned.into_iter()));
    Acted { items, results, warnings, stderr, ..Acted::default() }
}

/// What a function said before it failed can be results.
fn failed(failure: &Failure) -> Acted {
    let text = String::from_utf8_lossy(failure.stdout()).into_owned();
    let read = krm_yaml::File::parse(text).ok().map(|file| incoming::read_results(&file));
    let read = read.unwrap_or_default();
    Acted {
        errors: vec![Diagnostic::from(failure)],
        results: read.results,
        warnings: read.warnings,
        stderr: failure.stderr().text(),
        exit_code: failure.exit_code().filter(|code| *code != 0).unwrap_or(1),
        ..Acted::default()
    }
}

/// What was returned, in the places of what was seen.
///
/// The origin of a returned one is the place of what was sent.
fn put_back(items: Vec<Item>, seen: &[usize], returned: impl Iterator<Item = Item>) -> Vec<Item> {
    let mut back: BTreeMap<usize, Item> = BTreeMap::new();
    let mut new = Vec::new();
    for mut item in returned {
        match item.origin.take() {
            // Of copies the one that kept its identity is the resource.
            Some(at) if at < items.len() => match back.remove(&at) {
                Some(other) if is_same(&item, &items[at]) && !is_same(&other, &items[at]) => {
                    back.insert(at, item);
                    new.push(copied(other, &items[at]));
                }
                Some(other) => {
                    back.insert(at, other);
                    new.push(copied(item, &items[at]));
                }
                None => _ = back.insert(at, item),
            },
            _ => new.push(item),
        }
    }
    let is_seen = |at: usize| seen.binary_search(&at).is_ok();
    let kept = items.into_iter().enumerate().filter_map(|(at, item)| match is_seen(at) {
        true => back.remove(&at).map(|new| with_origin(new, item.origin)),
        false => Some(item),
    });
    kept.chain(new).collect()
}

fn with_origin(mut item: Item, origin: Option<usize>) -> Item {
    item.origin = origin;
    item
}

/// A copy does not stand where its original does.
fn copied(mut copy: Item, original: &Item) -> Item {
    if (&copy.path, copy.index) == (&original.path, original.index) {
        copy.index = None;
    }
    copy
}

fn is_same(a: &Item, b: &Item) -> bool {
    a.resource().identity() == b.resource().identity()
}
