//! Merges of resources and files.

use super::*;
use crate::merge::{ConflictKind, Restore};
use crate::model::package::tests::package;

type Files<'f> = &'f [(&'f str, &'f str)];

/// The files of local that change, with their new texts (`-` where they go), and the kinds of conflicts.
pub(super) fn merged(
    base: Files<'_>,
    upstream: Files<'_>,
    local: Files<'_>,
) -> (Vec<String>, Vec<ConflictKind>) {
    let nodes = MergeOptions::default();
    merged_with(options(&nodes), [base, upstream, local])
}

fn options<'r>(nodes: &'r MergeOptions<'r>) -> PackageMergeOptions<'r> {
    PackageMergeOptions {
        nodes,
        by_path: false,
        only_common: false,
        has_paths: true,
        finds_renames: false,
    }
}

fn merged_with(
    options: PackageMergeOptions<'_>,
    versions: [Files<'_>; 3],
) -> (Vec<String>, Vec<ConflictKind>) {
    let packages = versions.map(package);
    let [base, upstream, local] = &packages;
    let merge = PackageMerge::three_way([base, upstream, local], options).unwrap();
    let results = merge.file_merges().iter().map(|file| merge.run(file)).collect();
    let merged = merge.finish(results).unwrap();
    let line = |change: FileChange<'_>| {
        let path = change.path.clone();
        format!("{path}: {}", change.into_text().as_deref().unwrap_or("-"))
    };
    let kinds = merged.conflicts.iter().map(|conflict| conflict.kind).collect();
    (merged.changes.into_iter().map(line).collect(), kinds)
}

pub(super) fn map(name: &str, data: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  x: {data}\n")
}

fn none() -> (Vec<String>, Vec<ConflictKind>) {
    (Vec::new(), Vec::new())
}

#[test]
fn resource_deleted_upstream_is_removed_and_an_empty_file_too() {
    let (a, b) = (map("a", "1"), map("b", "1"));
    let both = format!("{a}---\n{b}");
    assert_eq!(
        merged(&[("f", &both)], &[("f", &a)], &[("f", &both)]),
        (vec![format!("f: {a}")], vec![])
    );
    assert_eq!(merged(&[("f", &a)], &[], &[("f", &a)]), (vec!["f: -".to_owned()], vec![]));
    let changed = map("a", "2");
    assert_eq!(
        merged(&[("f", &a)], &[], &[("f", &changed)]),
        (vec!["f: -".to_owned()], vec![ConflictKind::DeletedUpstream])
    );
}

#[test]
fn resource_added_upstream_is_inserted_with_its_file_or_after_its_neighbour() {
    let [a, b, c] = ["a", "b", "c"].map(|name| map(name, "1"));
    let theirs = format!("# theirs\n{b}---\n{c}");
    assert_eq!(merged(&[], &[("d/f", &theirs)], &[]), (vec![format!("d/f: {theirs}")], vec![]));
    let (two, three) = (format!("{a}---\n{c}"), format!("{a}---\n{b}---\n{c}"));
    assert_eq!(
        merged(&[("f", &two)], &[("f", &three)], &[("f", &two)]),
        (vec![format!("f: {three}")], vec![])
    );
    assert_eq!(
        merged(&[("f", &a)], &[("f", &format!("{a}---\n{b}"))], &[("g", &a)]),
        (vec![format!("g: {a}---\n{b}")], vec![]),
        "local moved the file"
    );
}

#[test]
fn local_additions_and_deletions_are_kept() {
    let (a, b) = (map("a", "1"), map("b", "1"));
    assert_eq!(merged(&[], &[], &[("f", &a)]), none());
    assert_eq!(merged(&[("f", &a)], &[("f", &a)], &[("g", &b)]), none());
}

#[test]
fn deleted_locally_and_changed_upstream_stays_deleted() {
    let (a, changed) = (map("a", "1"), map("a", "2"));
    let versions: [Files<'_>; 3] = [&[("f", &a)], &[("f", &changed)], &[]];
    let [base, upstream, local] = versions;
    assert_eq!(merged(base, upstream, local), (vec![], vec![ConflictKind::DeletedLocally]));
    let nodes = MergeOptions { restore: Restore::Whole, ..MergeOptions::default() };
    assert_eq!(
        merged_with(options(&nodes), versions),
        (vec![format!("f: {changed}")], vec![ConflictKind::DeletedLocally])
    );
}

#[test]
fn resource_moved_upstream_keeps_local_edits() {
    let (a, b) = (map("a", "1"), map("b", "1"));
    let local = format!("# mine\n{}", map("a", "2 # local"));
    assert_eq!(
        merged(&[("f", &a)], &[("d/g", &a)], &[("f", &local)]),
        (vec![format!("d/g: {local}"), "f: -".to_owned()], vec![])
    );
    let both = format!("{local}---\n{b}");
    assert_eq!(
        merged(&[("f", &format!("{a}---\n{b}"))], &[("f", &b), ("g", &a)], &[("f", &both)]),
        (vec![format!("f: {b}"), format!("g: {local}")], vec![])
    );
}

#[test]
fn resource_moved_locally_gets_upstream_edits() {
    let (a, changed) = (map("a", "1"), map("a", "2"));
    assert_eq!(
        merged(&[("f", &a)], &[("f", &changed)], &[("g", &a)]),
        (vec![format!("g: {changed}")], vec![])
    );
}

#[test]
fn moved_on_both_sides_is_a_conflict() {
    let a = map("a", "1");
    assert_eq!(
        merged(&[("f", &a)], &[("g", &a)], &[("h", &a)]),
        (vec![format!("g: {a}"), "h: -".to_owned()], vec![ConflictKind::Moved])
    );
}

#[test]
fn items_of_a_list_are_added_and_removed() {
    let list = |names: &[&str]| {
        let item =
            |name: &&str| format!("- apiVersion: v1\n  kind: A\n  metadata: {{name: {name}}}\n");
        let items: String = names.iter().map(item).collect();
        format!("apiVersion: v1\nkind: List\nitems:\n{items}")
    };
    assert_eq!(
        merged(
            &[("f", &list(&["a", "b"]))],
            &[("f", &list(&["b", "c"]))],
            &[("f", &list(&["a", "b", "x"]))]
        ),
        (vec![format!("f: {}", list(&["b", "c", "x"]))], vec![])
    );
}

#[test]
fn documents_without_resources_merge_by_position() {
    assert_eq!(
        merged(&[("v", "a: 1\nb: 1\n")], &[("v", "a: 2\nb: 1\n")], &[("v", "a: 1\nb: 3 # mine\n")]),
        (vec!["v: a: 2\nb: 3 # mine\n".to_owned()], vec![])
    );
}

#[test]
fn resource_renamed_locally_gets_upstream_edits_only_on_request() {
    let [base, local, upstream] = [map("a", "1"), map("b", "1"), map("a", "2")];
    let versions: [Files<'_>; 3] = [&[("f", &base)], &[("f", &upstream)], &[("f", &local)]];
    let nodes = MergeOptions::default();
    assert_eq!(
        merged_with(options(&nodes), versions),
        (vec![], vec![ConflictKind::DeletedLocally])
    );
    let options = PackageMergeOptions { finds_renames: true, ..options(&nodes) };
    assert_eq!(merged_with(options, versions), (vec![format!("f: {}", map("b", "2"))], vec![]));
}

/// A generated package: for each resource its number, its file, its value and whether it has a comment.
#[derive(Clone, Debug)]
struct GeneratedPackage(Vec<(usize, usize, u8, bool)>);

impl GeneratedPackage {
    /// With `named` contents, no two resources have the same, and nothing looks renamed.
    fn package(&self, named: bool) -> Package {
        let mut files: std::collections::BTreeMap<String, String> = Default::default();
        for (name, file, value, has_comment) in &self.0 {
            let text = files.entry(format!("dir{}/f{file}.yaml", file % 2)).or_default();
            text.push_str(if text.is_empty() { "" } else { "---\n" });
            text.push_str(if *has_comment { "# why\n" } else { "" });
            text.push_str(&map(
                &format!("n{name}"),
                &match named {
                    true => format!("n{name}v{value}"),
                    false => format!("v{value}"),
                },
            ));
        }
        let files: Vec<(&str, &str)> =
            files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        package(&files)
    }

    /// The same with one resource as another package has it.
    fn with_one_of(&self, other: &Self, name: usize) -> Self {
        let kept = self.0.iter().filter(|it| it.0 != name);
        let taken = other.0.iter().filter(|it| it.0 == name);
        Self(kept.chain(taken).copied().collect())
    }
}

fn generated() -> impl proptest::strategy::Strategy<Value = GeneratedPackage> {
    use proptest::prelude::*;
    let resource = (0..4_usize, 0..6_u8, any::<bool>());
    let all = proptest::collection::vec(proptest::option::of(resource), 6);
    all.prop_map(|all| {
        let named = all.into_iter().enumerate().filter_map(|(name, it)| Some((name, it?)));
        GeneratedPackage(
            named.map(|(name, (file, value, comment))| (name, file, value, comment)).collect(),
        )
    })
}

/// Local's files after a merge.
fn after(packages: [&Package; 3]) -> Vec<(String, String)> {
    let nodes = MergeOptions::default();
    let options = options(&nodes);
    let merge = PackageMerge::three_way(packages, options).unwrap();
    let results = merge.file_merges().iter().map(|file| merge.run(file)).collect();
    let text = |file: &PackageFile| file.file().unwrap().text().to_owned();
    let local = packages[2].files().iter();
    let mut files: std::collections::BTreeMap<String, String> =
        local.map(|file| (file.path.to_string(), text(file))).collect();
    for change in merge.finish(results).unwrap().changes {
        let path = change.path.to_string();
        match change.into_text() {
            Some(new) => _ = files.insert(path, new),
            None => _ = files.remove(&path),
        }
    }
    files.into_iter().collect()
}

fn texts(package: &Package) -> Vec<(String, String)> {
    let files = package.files().iter();
    files.map(|it| (it.path.to_string(), it.file().unwrap().text().to_owned())).collect()
}

/// The package with its files shared with other packages that have the same.
fn share_files(package: Package, beside: &[&Package]) -> Package {
    let mut files = package.into_files();
    for file in &mut files {
        let same = beside.iter().filter_map(|it| it.file(&file.path)?.content.as_ref().ok());
        let text = file.file().unwrap().text();
        if let Some(known) = same.into_iter().find(|known| known.text() == text) {
            file.content = Ok(std::sync::Arc::clone(known));
        }
    }
    Package::new(files)
}

/// Every resource with its file.
fn contents(files: &[(String, String)]) -> Vec<(String, String, u64)> {
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let package = package(&files);
    let item = |it: crate::PackageResource<'_>| {
        let print = crate::compare::fingerprint::of(it.resource.node);
        (it.resource.name().into_owned(), it.file.path.to_string(), print)
    };
    let mut all: Vec<_> = package.resources().map(item).collect();
    all.sort();
    all
}

proptest::proptest! {
    #[test]
    fn merge_identity(base in generated(), other in generated()) {
        let (base, other) = (base.package(false), other.package(false));
        proptest::prop_assert_eq!(after([&base, &base, &other]), texts(&other));
        proptest::prop_assert_eq!(after([&base, &other, &other]), texts(&other));
        proptest::prop_assert_eq!(contents(&after([&base, &other, &base])), contents(&texts(&other)));
    }

    #[test]
    fn shared_files_merge_like_copies(
        base in generated(),
        others in (generated(), generated()),
        changed in (0..6_usize, 0..6_usize),
    ) {
        let upstream = base.with_one_of(&others.0, changed.0);
        let local = base.with_one_of(&others.1, changed.1);
        let apart = [&base, &upstream, &local].map(|it| it.package(false));
        let [base, upstream, local] = [&base, &upstream, &local].map(|it| it.package(false));
        let base = share_files(base, &[&local]);
        let upstream = share_files(upstream, &[&local, &base]);
        let [a, b, c] = &apart;
        proptest::prop_assert_eq!(after([&base, &upstream, &local]), after([a, b, c]));
    }

    #[test]
    fn merge_is_stable(base in generated(), upstream in generated(), local in generated()) {
        let [base, upstream, local] = [base, upstream, local].map(|it| it.package(true));
        let once = after([&base, &upstream, &local]);
        let files: Vec<(&str, &str)> = once.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        proptest::prop_assert_eq!(after([&base, &upstream, &package(&files)]), once);
    }
}

#[test]
fn long_lists_are_merged_quickly() {
    let list = |change: usize, value: &str| -> String {
        let items = (0..100_000).map(|n| {
            let value = if n % 1000 == change { value } else { "v" };
            format!("  - name: n{n}\n    value: {value}\n")
        });
        let items: String = items.collect();
        format!(
            "apiVersion: example.com/v1\nkind: Long\nmetadata: {{name: l}}\nspec:\n  l:\n{items}"
        )
    };
    let (base, upstream, local) = (list(0, "v"), list(1, "up"), list(2, "mine"));
    let (changes, conflicts) = merged(&[("f", &base)], &[("f", &upstream)], &[("f", &local)]);
    assert_eq!((changes.len(), conflicts.len()), (1, 0));
    assert_eq!(changes[0].matches("value: up").count(), 100);
    assert_eq!(changes[0].matches("value: mine").count(), 100);
}
