//! The pipelines of a tree of packages, run one after the other or in parallel, with the same result.

use krm_core::functions::PackageTree;
use krm_core::functions::kptfile::Function;
use krm_core::functions::resource_list::Item;

use super::{PipelineRun, changes_between, threads};
use crate::FunctionRun;

/// Runs one function of a package, given by its index in the tree, on items whose paths are relative to that package. Leaves the items as
/// they were, as [`crate::Step::run`] does.
pub(super) trait RunFunction:
    Fn(usize, &Function, &mut [Item]) -> FunctionRun + Sync
{
}

impl<F: Fn(usize, &Function, &mut [Item]) -> FunctionRun + Sync> RunFunction for F {}

/// How a tree is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct TreeOptions {
    /// How many packages may run at once.
    pub(super) threads: usize,
    /// See [`super::Renderer::records_changes`].
    pub(super) records_changes: bool,
}

/// Runs all pipelines of a tree.
///
/// Packages of one level do not see each other and run in parallel. The result is as if they had run one by one: what
/// comes after a failure in that order is discarded, although it may have run.
pub(super) fn run(
    tree: &PackageTree,
    items: Vec<Item>,
    options: TreeOptions,
    run: &impl RunFunction,
) -> PipelineRun {
    match tree.root().pipeline.breadth_first {
        true => breadth_first(tree, items, options, run),
        false => depth_first(tree, items, options, run),
    }
}

/// The pipeline of one package: `items` are those of the package and its subpackages.
type PackageRun = PipelineRun;

/// No package has failed so far.
const NO_FAILURE: usize = usize::MAX;

/// Runs subpackages before their parents.
fn depth_first(
    tree: &PackageTree,
    items: Vec<Item>,
    options: TreeOptions,
    run: &impl RunFunction,
) -> PipelineRun {
    let mut own = tree.group_by_package(items);
    let order = tree.run_order();
    let mut done: Vec<Option<PackageRun>> = own.iter().map(|_| None).collect();
    let mut first_failure = NO_FAILURE;
    for level in tree.levels().into_iter().rev() {
        // A package that comes after a failure does not run.
        let level: Vec<usize> =
            level.into_iter().filter(|at| order[*at] <= first_failure).collect();
        let mut inputs: Vec<(usize, Vec<Item>)> = Vec::with_capacity(level.len());
        for at in level {
            // Kept for the case that another package fails.
            let unparsed = unparsed(&own[at]);
            let mut input = std::mem::replace(&mut own[at], unparsed);
            for child in tree.children(at) {
                input.extend(current_items(tree, child, &own, &done, &order, first_failure));
            }
            inputs.push((at, input));
        }
        for (at, package) in run_packages(tree, inputs, options, run) {
            if package.is_stopped {
                first_failure = first_failure.min(order[at]);
            }
            done[at] = Some(package);
        }
    }
    let items = current_items(tree, 0, &own, &done, &order, first_failure);
    collect(order, done, first_failure, items)
}

/// The items of a package and its subpackages, after those pipelines that count.
fn current_items(
    tree: &PackageTree,
    member: usize,
    own: &[Vec<Item>],
    done: &[Option<PackageRun>],
    order: &[usize],
    first_failure: usize,
) -> Vec<Item> {
    let (mut items, mut at) = (Vec::new(), member);
    while at < tree.subtree(member).end {
        match &done[at] {
            Some(done) if order[at] <= first_failure => {
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

/// Runs packages before their subpackages.
fn breadth_first(
    tree: &PackageTree,
    items: Vec<Item>,
    options: TreeOptions,
    run: &impl RunFunction,
) -> PipelineRun {
    let mut own = tree.group_by_package(items);
    let order = tree.run_order();
    let mut done: Vec<Option<PackageRun>> = own.iter().map(|_| None).collect();
    let mut first_failure = NO_FAILURE;
    for level in tree.levels() {
        if first_failure != NO_FAILURE {
            break;
        }
        let input = |at: usize| (at, own[tree.subtree(at)].iter().flatten().cloned().collect());
        let inputs: Vec<(usize, Vec<Item>)> = level.into_iter().map(input).collect();
        let packages = run_packages(tree, inputs, options, run);
        let failed = packages.iter().filter(|(_, it)| it.is_stopped).map(|(at, _)| order[*at]);
        first_failure = failed.min().unwrap_or(NO_FAILURE);
        for (at, package) in packages.into_iter().filter(|(at, _)| order[*at] <= first_failure) {
            let mut by_owner = tree.group_by_package(package.items.clone());
            for inside in tree.subtree(at) {
                own[inside] = std::mem::take(&mut by_owner[inside]);
            }
            done[at] = Some(package);
        }
    }
    let items = own.into_iter().flatten().collect();
    collect(order, done, first_failure, items)
}

/// The function runs that count, in the order of their packages.
fn collect(
    order: Vec<usize>,
    done: Vec<Option<PackageRun>>,
    first_failure: usize,
    items: Vec<Item>,
) -> PipelineRun {
    let mut done: Vec<(usize, PackageRun)> =
        order.into_iter().zip(done).filter_map(|(at, done)| Some((at, done?))).collect();
    done.retain(|(at, _)| *at <= first_failure);
    done.sort_by_key(|(at, _)| *at);
    let runs = done.into_iter().flat_map(|(_, done)| done.runs).collect();
    PipelineRun { items, runs, is_stopped: first_failure != NO_FAILURE }
}

fn run_packages(
    tree: &PackageTree,
    inputs: Vec<(usize, Vec<Item>)>,
    options: TreeOptions,
    run: &impl RunFunction,
) -> Vec<(usize, PackageRun)> {
    let work = |(at, input)| (at, run_package(tree, at, input, options, run));
    match inputs.len() {
        0 | 1 => inputs.into_iter().map(work).collect(),
        _ => threads::map(inputs, options.threads, work),
    }
}

/// The functions of one package: each mutator on the output of the one before it, and all validators on the last output.
fn run_package(
    tree: &PackageTree,
    member: usize,
    items: Vec<Item>,
    options: TreeOptions,
    run: &impl RunFunction,
) -> PackageRun {
    let pipeline = &tree.nodes()[member].pipeline;
    let mut package = PackageRun { items, ..PackageRun::default() };
    for mutator in &pipeline.mutators {
        match run_function(tree, member, mutator, &mut package, options, run) {
            Some(output) => package.items = output,
            None => return package,
        }
    }
    for validator in &pipeline.validators {
        run_function(tree, member, validator, &mut package, options, run);
    }
    package
}

/// Runs one function and records it. Returns the items after it, unless it failed.
fn run_function(
    tree: &PackageTree,
    member: usize,
    function: &Function,
    package: &mut PackageRun,
    options: TreeOptions,
    run: &impl RunFunction,
) -> Option<Vec<Item>> {
    let mut items = tree.to_package_paths(member, std::mem::take(&mut package.items));
    let mut run = run(member, function, &mut items);
    package.items = tree.from_package_paths(member, items);
    let output = run.output.take().map(|items| tree.from_package_paths(member, items));
    run.changes = output.as_ref().map_or_else(Vec::new, |it| changes_between(&package.items, it));
    run.changed = run.changes.len();
    if !options.records_changes {
        run.changes.retain(|change| change.after.is_none());
    }
    package.is_stopped |= output.is_none();
    package.runs.push(run);
    output
}

/// Copies without node tables: those are left to the function that gets the items.
fn unparsed(items: &[Item]) -> Vec<Item> {
    items.iter().map(Item::unparsed).collect()
}
