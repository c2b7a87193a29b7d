//! Trees of small packages, with functions that record what they receive.

use krm_core::functions::resource_list::Items;
use krm_core::{Package, PackageFile};

use krm_core::functions::PackageTree;
use krm_core::functions::kptfile::Function;
use krm_core::functions::results::FunctionRecord;

use super::run_tree::TreeOptions;
use super::*;
use crate::RunStatus;

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n";

fn kptfile(annotations: &str, mutators: &[&str], validators: &[&str]) -> String {
    let list = |of: &[&str]| {
        let functions: Vec<String> = of.iter().map(|name| format!("{{exec: {name}}}")).collect();
        functions.join(", ")
    };
    format!(
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {{name: k, annotations: {{{annotations}}}}}\npipeline: {{mutators: [{}], validators: [{}]}}\n",
        list(mutators),
        list(validators)
    )
}

fn package(files: &[(&str, String)]) -> Package {
    let file = |(path, text): &(&str, String)| PackageFile::from_text(path, text.clone()).unwrap();
    Package::new(files.iter().map(file).collect())
}

/// Functions by name: `fail…` fails, `drop` removes the pods, `make` adds one, all others add a line to each pod. The paths
/// that a function receives are its standard error.
fn run_fake(function: &Function, items: &[Item]) -> FunctionRun {
    let name = function.program.text();
    let paths = items.iter().map(|item| item.path.as_ref().unwrap().to_string());
    let stderr = paths.collect::<Vec<_>>().join(" ");
    let is_pod = |item: &Item| item.resource().kind() == "Pod";
    let write = |item: Item| match is_pod(&item) {
        true => item.with_text(format!("{}{name}: 1\n", item.text())).unwrap(),
        false => item,
    };
    let output = match name {
        name if name.starts_with("fail") => None,
        "drop" => Some(items.iter().filter(|item| !is_pod(item)).cloned().collect()),
        "make" => {
            let made = Item::parse(POD.to_owned()).unwrap();
            Some(items.iter().cloned().chain([made]).collect())
        }
        _ => Some(items.iter().cloned().map(write).collect()),
    };
    let status = if output.is_some() { RunStatus::Succeeded } else { RunStatus::Failed };
    let record = FunctionRecord { name: name.to_owned(), stderr, ..FunctionRecord::default() };
    FunctionRun { record, output, status, ..FunctionRun::default() }
}

fn run_tree(tree: &PackageTree, items: Vec<Item>) -> PipelineRun {
    let run = |member: usize, function: &Function, items: &mut [Item]| {
        let mut run = run_fake(function, items);
        run.record.package = tree.nodes()[member].root.clone();
        run
    };
    let options = TreeOptions { threads: rayon::current_num_threads(), records_changes: true };
    run_tree::run(tree, items, options, &run)
}

/// The lines that were added to the pod at each path, and the functions that ran.
fn render(package: &Package) -> (Vec<String>, Vec<String>) {
    let tree = PackageTree::of(package).unwrap();
    let items = Items::from_package(package, |_| true).unwrap().items;
    let pipeline = run_tree(&tree, items);
    let pods = pipeline.items.iter().filter(|item| item.resource().kind() == "Pod");
    let line = |item: &Item| {
        let added = item.text().strip_prefix(POD).unwrap().replace(": 1\n", " ");
        format!("{} {added}", item.path.as_ref().unwrap()).trim_end().to_owned()
    };
    let mut pods: Vec<String> = pods.map(line).collect();
    pods.sort();
    let runs = pipeline.runs.iter().map(|run| {
        format!(
            "{}:{}{}",
            run.record.package,
            run.record.name,
            if run.is_failed() { "!" } else { "" }
        )
    });
    (pods, runs.collect())
}

fn three(annotations: &str, a: &[&str], b: &[&str], root: &[&str]) -> Package {
    package(&[
        ("Kptfile", kptfile(annotations, root, &[])),
        ("p.yaml", POD.to_owned()),
        ("a/Kptfile", kptfile("", a, &[])),
        ("a/p.yaml", POD.to_owned()),
        ("b/Kptfile", kptfile("", b, &[])),
        ("b/p.yaml", POD.to_owned()),
    ])
}

#[test]
fn subpackages_run_before_their_parents() {
    let (pods, runs) = render(&three("", &["x"], &["y"], &["z"]));
    assert_eq!(pods, ["a/p.yaml x z", "b/p.yaml y z", "p.yaml z"]);
    assert_eq!(runs, ["a:x", "b:y", ":z"]);
}

#[test]
fn breadth_first_runs_parents_first() {
    let bfs = "kpt.dev/bfs-rendering: \"true\"";
    let (pods, runs) = render(&three(bfs, &["x"], &["drop"], &["z", "make"]));
    assert_eq!(pods, ["a/p.yaml z x", "p.yaml z", "pod_p.yaml"]);
    assert_eq!(runs, [":z", ":make", "a:x", "b:drop"]);
}

#[test]
fn failure_discards_all_later_packages() {
    let (pods, runs) = render(&three("", &["x"], &["y", "fail", "no"], &["z"]));
    assert_eq!(pods, ["a/p.yaml x", "b/p.yaml y", "p.yaml"]);
    assert_eq!(runs, ["a:x", "b:y", "b:fail!"]);
    let (pods, runs) = render(&three("", &["fail"], &["fail"], &["z"]));
    assert_eq!(pods, ["a/p.yaml", "b/p.yaml", "p.yaml"]);
    assert_eq!(runs, ["a:fail!"]);
    let bfs = "kpt.dev/bfs-rendering: \"true\"";
    let (pods, runs) = render(&three(bfs, &["x", "fail"], &["y"], &["z"]));
    assert_eq!(pods, ["a/p.yaml z x", "b/p.yaml z", "p.yaml z"]);
    assert_eq!(runs, [":z", "a:x", "a:fail!"]);
}

#[test]
fn shallow_package_before_a_deep_failure_is_kept() {
    let files = [
        ("a/Kptfile", kptfile("", &["x"], &[])),
        ("a/p.yaml", POD.to_owned()),
        ("b/Kptfile", kptfile("", &["no"], &[])),
        ("b/c/Kptfile", kptfile("", &["fail"], &[])),
        ("c/Kptfile", kptfile("", &["no"], &[])),
        ("c/c/Kptfile", kptfile("", &["no"], &[])),
        ("c/c/p.yaml", POD.to_owned()),
    ];
    let (pods, runs) = render(&package(&files));
    assert_eq!(pods, ["a/p.yaml x", "c/c/p.yaml"]);
    assert_eq!(runs, ["a:x", "b/c:fail!"]);
}

#[test]
fn all_validators_run_and_their_changes_are_dropped() {
    let package = package(&[
        ("Kptfile", kptfile("", &["x"], &["fail-1", "y", "fail-2"])),
        ("p.yaml", POD.to_owned()),
    ]);
    let (pods, runs) = render(&package);
    assert_eq!(pods, ["p.yaml x"]);
    assert_eq!(runs, [":x", ":fail-1!", ":y", ":fail-2!"]);
    let tree = PackageTree::of(&package).unwrap();
    let pipeline = run_tree(&tree, Items::from_package(&package, |_| true).unwrap().items);
    let counts: Vec<usize> = pipeline.runs.iter().map(|run| run.changes.len()).collect();
    assert_eq!(counts, [1, 0, 1, 0]);
}

#[test]
fn functions_see_paths_relative_to_their_package() {
    let package = three("", &["x"], &[], &["z"]);
    let tree = PackageTree::of(&package).unwrap();
    let pipeline = run_tree(&tree, Items::from_package(&package, |_| true).unwrap().items);
    assert_eq!(pipeline.runs[0].record.stderr, "Kptfile p.yaml");
    assert_eq!(
        pipeline.runs[1].record.stderr,
        "Kptfile p.yaml a/Kptfile a/p.yaml b/Kptfile b/p.yaml"
    );
}
