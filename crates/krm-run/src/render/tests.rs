//! Trees of small packages, with functions that write down what they see.

use krm_core::functions::resource_list::Items;
use krm_core::{Package, PackageFile};

use super::*;

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

/// Functions by name: `fail…` fails, `drop` takes the pods away, `make` adds one, all others add a line to each pod.
fn act(_: usize, function: &Function, items: Vec<Item>) -> Ended<Vec<String>> {
    let name = function.program.text();
    let paths = items.iter().map(|item| item.path.as_ref().unwrap().to_string()).collect();
    let is_pod = |item: &Item| item.resource().kind() == "Pod";
    let write = |item: Item| match is_pod(&item) {
        true => item.with_text(format!("{}{name}: 1\n", item.text())).unwrap(),
        false => item,
    };
    let items = match name {
        name if name.starts_with("fail") => None,
        "drop" => Some(items.into_iter().filter(|item| !is_pod(item)).collect()),
        "make" => {
            let made = Item::parse(POD.to_owned()).unwrap();
            Some(items.into_iter().chain([made]).collect())
        }
        _ => Some(items.into_iter().map(write).collect()),
    };
    Ended { items, report: paths }
}

/// The lines that were added to the pod of each path, and the functions that ran.
fn outcome(package: &Package) -> (Vec<String>, Vec<String>) {
    let tree = PackageTree::of(package).unwrap();
    let items = Items::from_package(package, |_| true).unwrap().items;
    let rendered = render(&tree, items, &act);
    let pods = rendered.items.iter().filter(|item| item.resource().kind() == "Pod");
    let line = |item: &Item| {
        let added = item.text().strip_prefix(POD).unwrap().replace(": 1\n", " ");
        format!("{} {added}", item.path.as_ref().unwrap()).trim_end().to_owned()
    };
    let mut pods: Vec<String> = pods.map(line).collect();
    pods.sort();
    let steps = rendered.steps.iter().map(|step| {
        let root = &tree.nodes()[step.member].root;
        format!("{root}:{}{}", step.function.program.text(), if step.failed { "!" } else { "" })
    });
    (pods, steps.collect())
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
fn sub_packages_run_first_and_their_parents_see_the_result() {
    let (pods, steps) = outcome(&three("", &["x"], &["y"], &["z"]));
    assert_eq!(pods, ["a/p.yaml x z", "b/p.yaml y z", "p.yaml z"]);
    assert_eq!(steps, ["a:x", "b:y", ":z"]);
}

#[test]
fn parents_run_first_where_that_is_asked_for() {
    let bfs = "kpt.dev/bfs-rendering: \"true\"";
    let (pods, steps) = outcome(&three(bfs, &["x"], &["drop"], &["z", "make"]));
    assert_eq!(pods, ["a/p.yaml z x", "p.yaml z", "pod_p.yaml"]);
    assert_eq!(steps, [":z", ":make", "a:x", "b:drop"]);
}

#[test]
fn after_a_failure_everything_is_as_if_they_had_run_one_by_one() {
    let (pods, steps) = outcome(&three("", &["x"], &["y", "fail", "no"], &["z"]));
    assert_eq!(pods, ["a/p.yaml x", "b/p.yaml y", "p.yaml"]);
    assert_eq!(steps, ["a:x", "b:y", "b:fail!"]);
    let (pods, steps) = outcome(&three("", &["fail"], &["fail"], &["z"]));
    assert_eq!(pods, ["a/p.yaml", "b/p.yaml", "p.yaml"]);
    assert_eq!(steps, ["a:fail!"]);
    let bfs = "kpt.dev/bfs-rendering: \"true\"";
    let (pods, steps) = outcome(&three(bfs, &["x", "fail"], &["y"], &["z"]));
    assert_eq!(pods, ["a/p.yaml z x", "b/p.yaml z", "p.yaml z"]);
    assert_eq!(steps, [":z", "a:x", "a:fail!"]);
}

#[test]
fn a_shallow_package_before_a_deep_failure_has_its_turn() {
    let files = [
        ("a/Kptfile", kptfile("", &["x"], &[])),
        ("a/p.yaml", POD.to_owned()),
        ("b/Kptfile", kptfile("", &["no"], &[])),
        ("b/c/Kptfile", kptfile("", &["fail"], &[])),
        ("c/Kptfile", kptfile("", &["no"], &[])),
        ("c/c/Kptfile", kptfile("", &["no"], &[])),
        ("c/c/p.yaml", POD.to_owned()),
    ];
    let (pods, steps) = outcome(&package(&files));
    assert_eq!(pods, ["a/p.yaml x", "c/c/p.yaml"]);
    assert_eq!(steps, ["a:x", "b/c:fail!"]);
}

#[test]
fn all_validators_look_and_none_of_them_changes_anything() {
    let package = package(&[
        ("Kptfile", kptfile("", &["x"], &["fail-1", "y", "fail-2"])),
        ("p.yaml", POD.to_owned()),
    ]);
    let (pods, steps) = outcome(&package);
    assert_eq!(pods, ["p.yaml x"]);
    assert_eq!(steps, [":x", ":fail-1!", ":y", ":fail-2!"]);
    let tree = PackageTree::of(&package).unwrap();
    let rendered = render(&tree, Items::from_package(&package, |_| true).unwrap().items, &act);
    let counts: Vec<usize> = rendered.steps.iter().map(|step| step.changes.len()).collect();
    assert_eq!(counts, [1, 0, 1, 0]);
}

#[test]
fn functions_see_paths_from_their_own_package() {
    let package = three("", &["x"], &[], &["z"]);
    let tree = PackageTree::of(&package).unwrap();
    let rendered = render(&tree, Items::from_package(&package, |_| true).unwrap().items, &act);
    assert_eq!(rendered.steps[0].report, ["Kptfile", "p.yaml"]);
    assert_eq!(
        rendered.steps[1].report,
        ["Kptfile", "p.yaml", "a/Kptfile", "a/p.yaml", "b/Kptfile", "b/p.yaml"]
    );
}
