//! Random histories of upstream and local changes. A model knows what must survive: no local edit is lost, no upstream change is
//! missed, and updating twice changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::history_model::{Model, Random, Side, Version, change, has_conflict, merged, taken};
use super::repository::Remote;

/// How many histories are tried; `KRM_HISTORIES` sets more.
const HISTORIES: usize = 12;

/// The updates of each history.
const UPDATES: usize = 3;

/// The manifest of a resource: a ConfigMap with entries, or a Deployment with containers.
fn text(name: &str, model: &Model) -> String {
    let head = |api: &str, kind: &str| {
        format!("# {name}\napiVersion: {api}\nkind: {kind}\nmetadata:\n  name: {name}\n")
    };
    let fields = model.fields.iter();
    match model.has_containers {
        false => {
            let entry =
                |(key, value): (&String, &u32)| format!("  {key}: \"{value}\" # of {key}\n");
            format!("{}data:\n{}", head("v1", "ConfigMap"), fields.map(entry).collect::<String>())
        }
        true => {
            let container = |(key, value): (&String, &u32)| {
                format!("      - name: {key}\n        image: \"{value}\" # of {key}\n")
            };
            let containers: String = fields.map(container).collect();
            let spec = "spec:\n  template:\n    spec:\n      containers:\n";
            format!("{}{spec}{containers}", head("apps/v1", "Deployment"))
        }
    }
}

/// Replaces the files of a directory, except for Kptfiles.
fn write(remote: &Remote, directory: &str, version: &Version) {
    remote.ok(&format!(
        "find {directory} -type f ! -name Kptfile -delete 2>/dev/null; mkdir -p {directory}"
    ));
    let mut manifests: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, model) in &version.resources {
        manifests.entry(&model.file).or_default().push(text(name, model));
    }
    for (file, resources) in manifests {
        remote.write(&format!("{directory}/{file}"), &resources.join("---\n"));
    }
    for (file, content) in &version.others {
        remote.write(&format!("{directory}/{file}"), content);
    }
}

/// Reads a package.
fn read(remote: &Remote, directory: &str) -> Version {
    let mut version = Version::default();
    for (path, content) in remote.package_in(directory) {
        let file = path.trim_start_matches(directory).trim_start_matches('/').to_owned();
        match &*file {
            _ if file.ends_with("Kptfile") => {}
            _ if file.ends_with(".yaml") => {
                for manifest in content.split("---\n") {
                    let (name, model) = read_resource(&file, manifest);
                    let other = version.resources.insert(name.clone(), model);
                    assert!(other.is_none(), "{name} is in the package twice");
                }
            }
            _ => _ = version.others.insert(file, content),
        }
    }
    version
}

fn read_resource(file: &str, manifest: &str) -> (String, Model) {
    let name = manifest.lines().find_map(|line| line.strip_prefix("  name: "));
    let name = name.unwrap_or_else(|| panic!("{file}: {manifest}")).to_owned();
    assert!(manifest.contains(&format!("# {name}\n")), "a comment is lost: {manifest}");
    let value = |rest: &str, key: &str| -> u32 {
        let (value, comment) = rest.split_once('"').unwrap();
        assert_eq!(comment, format!(" # of {key}"), "a comment is lost: {manifest}");
        value.parse().unwrap()
    };
    let has_containers = manifest.contains("kind: Deployment");
    let mut fields = BTreeMap::new();
    let mut container = "";
    for line in manifest.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("- name: ") {
            container = name;
        } else if let (true, Some(rest)) = (has_containers, line.strip_prefix("image: \"")) {
            fields.insert(container.to_owned(), value(rest, container));
        } else if let (false, Some((key, rest))) = (has_containers, line.split_once(": \"")) {
            fields.insert(key.to_owned(), value(rest, key));
        }
    }
    (name, Model { file: file.to_owned(), fields, has_containers })
}

/// The package before the first change: resources in files of their own, in a common file and in a subpackage, and other files.
fn first_version() -> Version {
    let mut version = Version::default();
    let files = ["r0.yaml", "both.yaml", "both.yaml", "r3.yaml", "sub/r4.yaml", "sub/r5.yaml"];
    for (at, file) in files.into_iter().enumerate() {
        let value = u32::try_from(at).unwrap();
        let fields = ["a", "b", "c"].map(|key| (key.to_owned(), value)).into();
        let model = Model { file: file.to_owned(), fields, has_containers: at % 2 == 1 };
        version.resources.insert(format!("r{at}"), model);
    }
    for (file, content) in [("NOTES.md", "# notes\n"), ("sub/logo.png", "\0png 1\n")] {
        version.others.insert(file.to_owned(), content.to_owned());
    }
    version
}

/// Checks an update in which upstream wins: nothing that upstream changed is missed, and nothing that only local changed is lost.
fn check_upstream_wins(
    base: &Version,
    upstream: &Version,
    local: &Version,
    result: &Version,
    context: &str,
) {
    for (name, was) in &base.resources {
        let (theirs, ours) = (upstream.resources.get(name), local.resources.get(name));
        // Where one side deleted what the other one changed, there is more than one right answer.
        let (Some(theirs), Some(ours)) = (theirs, ours) else { continue };
        let found =
            result.resources.get(name).unwrap_or_else(|| panic!("{name} is lost: {context}"));
        let keys: BTreeSet<&String> =
            was.fields.keys().chain(theirs.fields.keys()).chain(ours.fields.keys()).collect();
        for key in keys {
            let of = |model: &Model| model.fields.get(key).copied();
            let expected = taken(&of(was), of(theirs), of(ours), Side::Upstream);
            assert_eq!(of(found), expected, "{name}.{key}: {context}");
        }
        let file = taken(&&was.file, &theirs.file, &ours.file, Side::Upstream);
        assert_eq!(&found.file, file, "{name}: {context}");
    }
    let is_new = |name: &&String| !base.resources.contains_key(*name);
    for name in upstream.resources.keys().chain(local.resources.keys()).filter(is_new) {
        let added = upstream.resources.get(name).or(local.resources.get(name));
        assert_eq!(result.resources.get(name), added, "{name}: {context}");
    }
    let files: BTreeSet<&String> =
        base.others.keys().chain(upstream.others.keys()).chain(local.others.keys()).collect();
    for file in files {
        let of = |version: &Version| version.others.get(file).cloned();
        let expected = taken(&of(base), of(upstream), of(local), Side::Upstream);
        assert_eq!(of(result), expected, "{file}: {context}");
    }
}

/// What was seen in all histories.
#[derive(Debug, Default)]
struct Counts {
    clean: usize,
    conflicts: usize,
}

fn try_history(history: usize, counts: &mut Counts) {
    let seed = (history as u64 + 1).wrapping_mul(0x2545_f491_4f6c_dd1d);
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ seed);
    let remote = Remote::new();
    remote.ok("rm up/shop/*.yaml up/shop/README.md");
    remote.write(
        "up/shop/sub/Kptfile",
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: sub\n",
    );
    let mut counter = 10;
    let mut upstream = first_version();
    write(&remote, "up/shop", &upstream);
    remote.commit("t0", &[]);
    remote.ok("krm pkg get -q up/shop@t0");
    let (mut base, mut local) = (upstream.clone(), upstream.clone());
    for step in 1..=UPDATES {
        change(&mut upstream, "u", &mut counter, &mut random);
        change(&mut local, "l", &mut counter, &mut random);
        write(&remote, "up/shop", &upstream);
        remote.ok(&format!(
            "cd up && git add -A && git commit -q --allow-empty -m t{step} && git tag t{step}"
        ));
        write(&remote, "shop", &local);
        let before = remote.package();
        let context = format!(
            "history {history}, step {step}: {base:#?}\nupstream {upstream:#?}\nlocal {local:#?}"
        );
        if has_conflict(&base, &upstream, &local) {
            counts.conflicts += 1;
            let ran = remote.run(&format!("krm pkg update -q shop@t{step}"));
            assert_eq!(ran.exit, 1, "{context}\n{}", ran.stderr);
            assert_eq!(remote.package(), before, "{context}");
            // Upstream wins, and the exit code says that local edits were replaced.
            let ran = remote.run(&format!(
                "rm -rf upstream-wins && cp -r shop upstream-wins && krm pkg update -q upstream-wins@t{step} --on-conflict upstream"
            ));
            assert_eq!(ran.exit, 1, "{context}\n{}", ran.stderr);
            let result = read(&remote, "upstream-wins");
            check_upstream_wins(&base, &upstream, &local, &result, &context);
            let ran = remote.run(&format!("krm pkg update -q shop@t{step} --on-conflict local"));
            assert_eq!(ran.exit, 0, "{context}\n{}", ran.stderr);
        } else {
            counts.clean += 1;
            let ran = remote.run(&format!("krm pkg update -q shop@t{step}"));
            assert_eq!(ran.exit, 0, "{context}\n{}", ran.stderr);
        }
        local = merged(&base, &upstream, &local);
        assert_eq!(read(&remote, "shop"), local, "{context}");
        base = upstream.clone();
        let after = remote.package();
        remote.ok(&format!("krm pkg update -q shop@t{step} && krm pkg update -q shop"));
        assert_eq!(remote.package(), after, "{context}");
    }
}

#[test]
fn random_histories_lose_nothing() {
    let count = std::env::var("KRM_HISTORIES").ok().and_then(|it| it.parse().ok());
    let count = count.unwrap_or(HISTORIES);
    let mut counts = Counts::default();
    (0..count).for_each(|history| try_history(history, &mut counts));
    println!("{count} histories: {counts:?}");
    assert!(count < 10 || (counts.conflicts > 0 && counts.clean > 0), "{counts:?}");
}
