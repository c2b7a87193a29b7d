//! Built-in functions, run on items inside our own process.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use krm_catalog::Builtin;
use krm_core::wire::{FunctionResult, Item};
use krm_core::{Diagnostic, Severity};
use krm_sdk::{Resource, ResourceList};

/// What came of a built-in function.
#[derive(Clone, Debug)]
pub struct Inside {
    /// All resources as they are now: those that it did not see or did not change share their text. None where it failed.
    pub items: Option<Vec<Item>>,
    /// What it has to say.
    pub results: Vec<FunctionResult>,
    /// Why it failed, where it gave up; results of severity `error` are a failure, too.
    pub errors: Vec<Diagnostic>,
}

/// Runs a built-in function on those of the resources that are wanted; the others stay as and where they are.
///
/// A resource that it saw and did not give back is gone, and a new one comes last.
pub fn run_inside(
    builtin: &Builtin,
    config: Option<Item>,
    items: Vec<Item>,
    wanted: impl Fn(&Item) -> bool,
) -> Inside {
    let seen = items.iter().enumerate().filter(|(_, item)| wanted(item));
    let seen: Vec<(usize, Resource)> = seen
        .map(|(at, item)| (at, Resource::from(with_origin(item.clone(), Some(at)))))
        .collect();
    let is_seen: Vec<usize> = seen.iter().map(|(at, _)| *at).collect();
    let mut list = ResourceList {
        items: seen.into_iter().map(|(_, resource)| resource).collect(),
        function_config: config.map(Resource::from),
        results: Vec::new(),
    };
    let ran = catch_unwind(AssertUnwindSafe(|| (builtin.run)(&mut list)));
    let errors = match ran {
        Ok(Ok(())) => Vec::new(),
        Ok(Err(error)) => error.diagnostics,
        Err(_) => vec![Diagnostic::error(format!("the function `{}` crashed", builtin.name))],
    };
    let ResourceList { items: returned, results, .. } = list;
    let failed = !errors.is_empty() || results.iter().any(|it| it.severity == Severity::Error);
    let items = (!failed).then(|| put_back(items, &is_seen, returned));
    Inside { items, results, errors }
}

/// What was returned, in the places of what was seen.
fn put_back(items: Vec<Item>, seen: &[usize], returned: Vec<Resource>) -> Vec<Item> {
    let mut back: BTreeMap<usize, Item> = BTreeMap::new();
    let mut new = Vec::new();
    for mut item in returned.into_iter().map(Item::from) {
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
