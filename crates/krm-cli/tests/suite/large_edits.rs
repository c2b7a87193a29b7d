//! Edits of very large lists and mappings: work must grow with their size, not with its square. With these sizes the difference is one
//! of seconds and hours, so that a test that ends at all shows it.

use crate::sandbox::Sandbox;

/// Elements of a list and entries of a mapping.
const COUNT: usize = 100_000;
/// Resources of a list.
const RESOURCES: usize = 30_000;

/// Runs an edit that must change the file, and checks how often a line is in it afterwards.
fn edit(text: &str, arguments: &str, line: &str, count: usize) {
    let sandbox = Sandbox::new();
    sandbox.write("a.yaml", text.as_bytes());
    let ran = sandbox.run(&format!("krm yaml {arguments} a.yaml"));
    assert_eq!(
        (ran.exit, &*ran.stderr),
        (0, "1 file changed in 1 ms\n"),
        "{arguments}: {}",
        ran.stdout
    );
    let new = std::fs::read_to_string(sandbox.path().join("a.yaml")).unwrap();
    assert_eq!(new.lines().filter(|it| *it == line).count(), count, "{arguments}");
}

fn list() -> String {
    std::iter::once("l:\n".to_owned()).chain((0..COUNT).map(|_| "- {v: 0}\n".to_owned())).collect()
}

fn mapping() -> String {
    let entries = (0..COUNT).map(|at| format!("  k{at}: {{v: 0}}\n"));
    std::iter::once("m:\n".to_owned()).chain(entries).collect()
}

fn resources() -> String {
    let head = "apiVersion: v1\nkind: List\nitems:\n".to_owned();
    let items = (0..RESOURCES).map(|at| {
        format!(
            "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: a{at}}}\n  data: {{v: x}}\n"
        )
    });
    std::iter::once(head).chain(items).collect()
}

#[test]
fn every_element_of_a_long_list_is_edited() {
    let list = list();
    edit(&list, "set 'l[*].v' 1", "- {v: 1}", COUNT);
    edit(&list, "set '**.v' --increment", "- {v: 1}", COUNT);
    edit(&list, "set 'l[*]' --merge '{v: 2}'", "- {v: 2}", COUNT);
    edit(&list, "set 'l[*].w' --append 3", "- {v: 0, w: [3]}", COUNT);
    edit(&list, "rm 'l[*].v'", "- {}", COUNT);
}

#[test]
fn every_entry_of_a_wide_mapping_is_edited() {
    let mapping = mapping();
    edit(&mapping, "set 'm.*.v' 1", "  k7: {v: 1}", 1);
    edit(&mapping, "set 'm.*' --merge '{w: 1}'", "  k7: {v: 0, w: 1}", 1);
    edit(&mapping, "rm 'm.*'", "m: {}", 1);
    // All of them become empty, and then the mapping itself.
    edit(&format!("{mapping}n: 1\n"), "rm 'm.*.v' --prune", "n: 1", 1);
}

#[test]
fn every_resource_of_a_long_list_is_edited() {
    let resources = resources();
    edit(&resources, "set data.v 1 --where 'data.v=x'", "  data: {v: \"1\"}", RESOURCES);
    edit(&resources, "set data --merge '{v: y}' --kind ConfigMap", "  data: {v: y}", RESOURCES);
    let sandbox = Sandbox::new();
    sandbox.write("a.yaml", resources.as_bytes());
    let ran = sandbox.run("krm yaml get metadata.name a.yaml --kind ConfigMap | wc -l");
    assert_eq!((ran.stdout.trim(), &*ran.stderr), (&*RESOURCES.to_string(), ""));
}
