//! One function on some of the resources: what it saw is put back in its place, and nothing else is touched.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use krm_core::wire::{Answer, FunctionResult, Item, SendOptions, Sending, incoming};
use krm_core::{Diagnostic, Severity};
use krm_sdk::{Error, Resource, ResourceList};

use crate::{Failure, Function, Image, Interrupt, Limits, Ready, Reason};

/// What came of a function.
#[derive(Clone, Debug, Default)]
pub struct Acted {
    /// All resources as they are now: those that it did not see or did not change share their text. None where it failed.
    pub items: Option<Vec<Item>>,
    /// What it has to say.
    pub results: Vec<FunctionResult>,
    /// Why it failed, where it did not say so in its results.
    pub errors: Vec<Diagnostic>,
    /// What was odd.
    pub warnings: Vec<Diagnostic>,
    /// The end of its standard error.
    pub stderr: String,
    /// Its exit code; of a built-in function one that says whether it failed.
    pub exit_code: i32,
    /// All resources with what it gave back although it failed, where that is a list that could be taken.
    pub deferred: Option<Vec<Item>>,
    /// Whether it ended by itself with an exit code that is not zero; false where it was stopped or its answer was refused.
    pub gave_up: bool,
    /// The image that ran, for a container.
    pub image: Option<Image>,
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
        Ready::Builtin(builtin) => inside(builtin.name, &builtin.run, config, items, &seen),
        Ready::Script(script) => inside(&script.name, &*script.run, config, items, &seen),
        Ready::Outside(function) => {
            outside(&**function, config.as_ref(), items, &seen, limits, interrupt)
        }
    };
    (acted.seen, acted.time) = (seen.len(), start.elapsed());
    acted
}

/// A built-in function. Results of severity `error` are a failure.
fn inside(
    name: &str,
    run: &dyn Fn(&mut ResourceList) -> Result<(), Error>,
    config: Option<Item>,
    items: Vec<Item>,
    seen: &[usize],
) -> Acted {
    let given = seen.iter().map(|at| with_origin(items[*at].clone(), Some(*at)));
    let mut list = ResourceList {
        items: given.map(Resource::from).collect(),
        function_config: config.map(Resource::from),
        ..ResourceList::default()
    };
    let errors = match catch_unwind(AssertUnwindSafe(|| run(&mut list))) {
        Ok(Ok(())) => Vec::new(),
        Ok(Err(error)) => error.diagnostics,
        Err(_) => vec![Diagnostic::error(format!("the function `{name}` crashed"))],
    };
    let ResourceList { items: returned, results, log, .. } = list;
    let failed = !errors.is_empty() || results.iter().any(|it| it.severity == Severity::Error);
    let all = put_back(items, seen, returned.into_iter().map(Item::from));
    let (items, deferred) = if failed { (None, Some(all)) } else { (Some(all), None) };
    let (exit_code, stderr) = (failed.into(), log.join("\n"));
    Acted {
        items,
        deferred,
        results,
        errors,
        stderr,
        exit_code,
        gave_up: failed,
        ..Acted::default()
    }
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
        Err(failure) => return failed(&failure, &sending, &items, seen),
    };
    let image = outcome.image;
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
                image,
                exit_code: 1,
                ..Acted::default()
            };
        }
    };
    let Answer { items: returned, from, results, warnings, .. } = answer;
    let items = Some(taken(&items, seen, returned, &from));
    Acted { items, results, warnings, stderr, image, ..Acted::default() }
}

/// All resources with an answer in the places of what was seen.
fn taken(items: &[Item], seen: &[usize], returned: Vec<Item>, from: &[Option<usize>]) -> Vec<Item> {
    let returned = returned.into_iter().zip(from);
    let returned = returned.map(|(item, from)| with_origin(item, from.map(|at| seen[at])));
    put_back(items.to_vec(), seen, returned)
}

/// What a function said before it failed can be results.
fn failed(failure: &Failure, sending: &Sending<'_>, items: &[Item], seen: &[usize]) -> Acted {
    let text = String::from_utf8_lossy(failure.stdout()).into_owned();
    let gave_up = matches!(failure.reason, Reason::Exit(_));
    let answer = gave_up.then(|| sending.answer(text.clone()).ok()).flatten();
    let deferred = answer.map(|it| taken(items, seen, it.items, &it.from));
    let read = krm_yaml::File::parse(text).ok().map(|file| incoming::read_results(&file));
    let read = read.unwrap_or_default();
    Acted {
        deferred,
        gave_up,
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
