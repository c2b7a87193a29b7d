//! The pipelines of a tree of packages, run one after the other or side by side, with the same outcome.

mod explain;
mod trace;

pub use explain::explain;
pub use trace::{Changed, trace};

use krm_core::functions::PackageTree;
use krm_core::functions::kptfile::Function;
use krm_core::functions::resource_list::Item;
use rayon::prelude::*;

/// What a function gave back.
#[derive(Clone, Debug)]
pub struct Ended<R> {
    /// The resources as they are now; none where it failed.
    pub items: Option<Vec<Item>>,
    /// What there is to say about it.
    pub report: R,
}

/// One function that ran.
#[derive(Clone, Debug)]
pub struct Step<'t, R> {
    /// Which package of the tree declared it.
    pub member: usize,
    /// The function.
    pub function: &'t Function,
    /// Whether it failed.
    pub failed: bool,
    /// What became of resources; of a validator what it wanted to change, and did not.
    pub changes: Vec<Changed>,
    /// What there is to say about it.
    pub report: R,
}

/// What came of a tree.
#[derive(Clone, Debug)]
pub struct Rendered<'t, R> {
    /// All resources, with paths from the outermost package. After a failure as they were before the function that failed.
    pub items: Vec<Item>,
    /// Every function that ran, by the turns of the packages.
    pub steps: Vec<Step<'t, R>>,
    /// Whether one failed, so that those after it did not run.
    pub failed: bool,
}

/// Runs one function of a package on resources whose paths begin at that package's folder.
pub trait Runs<R>: Fn(usize, &Function, Vec<Item>) -> Ended<R> + Sync {}

impl<R, F: Fn(usize, &Function, Vec<Item>) -> Ended<R> + Sync> Runs<R> for F {}

/// Runs all pipelines of a tree on its resources.
///
/// Packages of one level see nothing of each other and run side by side. The outcome is as if they had run one by one:
/// what comes after a failure in that order is as if it had never run.
pub fn render<'t, R: Send>(
    tree: &'t PackageTree,
    items: Vec<Item>,
    run: &impl Runs<R>,
) -> Rendered<'t, R> {
    match tree.root().pipeline.breadth_first {
        true => outside_in(tree, items, run),
        false => inside_out(tree, items, run),
    }
}

/// What a package's pipeline gave: its resources and those of its sub-packages.
struct Done<'t, R> {
    items: Vec<Item>,
    steps: Vec<Step<'t, R>>,
    failed: bool,
}

/// Sub-packages first.
fn inside_out<'t, R: Send>(
    tree: &'t PackageTree,
    items: Vec<Item>,
    run: &impl Runs<R>,
) -> Rendered<'t, R> {
    let own = tree.group_by_package(items);
    let turns = tree.run_order();
    let mut done: Vec<Option<Done<'t, R>>> = own.iter().map(|_| None).collect();
    let mut last = usize::MAX;
    for level in tree.levels().into_iter().rev() {
        // A package whose turn comes after a failure does not run.
        let level: Vec<usize> = level.into_iter().filter(|at| turns[*at] <= last).collect();
        let inputs = level.into_iter().map(|at| {
            let mut input = own[at].clone();
            for child in tree.children(at) {
                input.extend(seen(tree, child, &own, &done, &turns, last));
            }
            (at, input)
        });
        let inputs: Vec<(usize, Vec<Item>)> = inputs.collect();
        for (at, ended) in side_by_side(tree, inputs, run) {
            if ended.failed {
                last = last.min(turns[at]);
            }
            done[at] = Some(ended);
        }
    }
    let items = seen(tree, 0, &own, &done, &turns, last);
    finish(turns, done, last, items)
}

/// The resources of a package and of all inside it, as far as they have come.
fn seen<R>(
    tree: &PackageTree,
    member: usize,
    own: &[Vec<Item>],
    done: &[Option<Done<'_, R>>],
    turns: &[usize],
    last: usize,
) -> Vec<Item> {
    let (mut items, mut at) = (Vec::new(), member);
    while at < tree.subtree(member).end {
        match &done[at] {
            Some(done) if turns[at] <= last => {
                items.extend(done.items.iter().cloned());
                at = tree.subtree(at).end;
            }
            _ => {
                items.extend(own[at].iter().cloned());
                at += 1;
            }
        }
    }
    items
}

/// Packages before those inside them.
fn outside_in<'t, R: Send>(
    tree: &'t PackageTree,
    items: Vec<Item>,
    run: &impl Runs<R>,
) -> Rendered<'t, R> {
    let mut own = tree.group_by_package(items);
    let turns = tree.run_order();
    let mut done: Vec<Option<Done<'t, R>>> = own.iter().map(|_| None).collect();
    let mut last = usize::MAX;
    for level in tree.levels() {
        if last != usize::MAX {
            break;
        }
        let input = |at: usize| (at, own[tree.subtree(at)].iter().flatten().cloned().collect());
        let inputs: Vec<(usize, Vec<Item>)> = level.into_iter().map(input).collect();
        let ended = side_by_side(tree, inputs, run);
        let failed = ended.iter().filter(|(_, it)| it.failed).map(|(at, _)| turns[*at]);
        last = failed.min().unwrap_or(usize::MAX);
        for (at, ended) in ended.into_iter().filter(|(at, _)| turns[*at] <= last) {
            let mut shared = tree.group_by_package(ended.items.clone());
            for inside in tree.subtree(at) {
                own[inside] = std::mem::take(&mut shared[inside]);
            }
            done[at] = Some(ended);
        }
    }
    let items = own.into_iter().flatten().collect();
    finish(turns, done, last, items)
}

/// All steps that count, in the order of their turns.
fn finish<'t, R>(
    turns: Vec<usize>,
    done: Vec<Option<Done<'t, R>>>,
    last: usize,
    items: Vec<Item>,
) -> Rendered<'t, R> {
    let mut done: Vec<(usize, Done<'t, R>)> =
        turns.into_iter().zip(done).filter_map(|(turn, done)| Some((turn, done?))).collect();
    done.retain(|(turn, _)| *turn <= last);
    done.sort_by_key(|(turn, _)| *turn);
    let steps = done.into_iter().flat_map(|(_, done)| done.steps).collect();
    Rendered { items, steps, failed: last != usize::MAX }
}

fn side_by_side<'t, R: Send>(
    tree: &'t PackageTree,
    inputs: Vec<(usize, Vec<Item>)>,
    run: &impl Runs<R>,
) -> Vec<(usize, Done<'t, R>)> {
    let work = |(at, input)| (at, pipeline(tree, at, input, run));
    match inputs.len() {
        0 | 1 => inputs.into_iter().map(work).collect(),
        _ => inputs.into_par_iter().map(work).collect(),
    }
}

/// The functions of one package: each mutator on what the one before it left, and every validator on what is left.
fn pipeline<'t, R>(
    tree: &'t PackageTree,
    member: usize,
    items: Vec<Item>,
    run: &impl Runs<R>,
) -> Done<'t, R> {
    let pipeline = &tree.nodes()[member].pipeline;
    let mut done = Done { items, steps: Vec::new(), failed: false };
    for mutator in &pipeline.mutators {
        match step(tree, member, mutator, &mut done, run) {
            Some(after) => done.items = after,
            None => return done,
        }
    }
    for validator in &pipeline.validators {
        step(tree, member, validator, &mut done, run);
    }
    done
}

/// Runs one function on what there is, and notes what came of it. The resources as they are after it, unless it failed.
fn step<'t, R>(
    tree: &'t PackageTree,
    member: usize,
    function: &'t Function,
    done: &mut Done<'t, R>,
    run: &impl Runs<R>,
) -> Option<Vec<Item>> {
    let ended = run(member, function, tree.to_package_paths(member, done.items.clone()));
    let after = ended.items.map(|items| tree.from_package_paths(member, items));
    let changes = after.as_ref().map_or_else(Vec::new, |after| trace(&done.items, after));
    let failed = after.is_none();
    done.failed |= failed;
    done.steps.push(Step { member, function, failed, changes, report: ended.report });
    after
}

#[cfg(test)]
mod tests;
