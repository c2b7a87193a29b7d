//! Random histories of upstream and local changes. A model knows what must survive: no local edit is lost, no upstream change is
//! missed, and updating twice changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::repository::Remote;

/// How many histories are tried; `KRM_HISTORIES` sets more.
const HISTORIES: usize = 12;

/// A resource: its file and its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Model {
    file: String,
    fields: BTreeMap<String, u32>,
}

/// A version of the package: resources by name.
type Version = BTreeMap<String, Model>;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

/// Changes a version at random. Resources that a side adds have its prefix, so that both sides never add the same one.
fn change(version: &mut Version, side: &str, counter: &mut u32, random: &mut Random) {
    for _ in 0..random.below(4) {
        *counter += 1;
        let names: Vec<String> = version.keys().cloned().collect();
        let name = names.get(random.below(names.len().max(1))).cloned();
        let Some(name) = name.filter(|_| random.below(6) > 0) else {
            let file = format!("{side}{counter}.yaml");
            let fields = [("a".to_owned(), *counter), ("b".to_owned(), 0)].into();
            version.insert(format!("{side}{counter}"), Model { file, fields });
            continue;
        };
        let action = random.below(8);
        if action == 0 {
            version.remove(&name);
            continue;
        }
        let model = version.get_mut(&name).unwrap();
        match action {
            1 => model.file = format!("d{}/{side}{counter}.yaml", random.below(2)),
            2 => _ = model.fields.insert(format!("{side}{counter}"), *counter),
            3 => {
                let key = model.fields.keys().nth(random.below(model.fields.len().max(1))).cloned();
                // A mapping that loses its last key is another story.
                if let Some(key) = key.filter(|_| model.fields.len() > 2) {
                    model.fields.remove(&key);
                }
            }
            _ => {
                let keys: Vec<String> = model.fields.keys().cloned().collect();
                model.fields.insert(keys[random.below(keys.len())].clone(), *counter);
            }
        }
    }
}

/// Whether both sides changed the same thing in different ways.
fn has_conflict(base: &Version, upstream: &Version, local: &Version) -> bool {
    base.iter().any(|(name, was)| match (upstream.get(name), local.get(name)) {
        (Some(theirs), Some(ours)) => {
            let keys: BTreeSet<&String> =
                was.fields.keys().chain(theirs.fields.keys()).chain(ours.fields.keys()).collect();
            let is_torn = |was: Option<&u32>, theirs: Option<&u32>, ours: Option<&u32>| {
                was != theirs && was != ours && theirs != ours
            };
            let fields = keys.into_iter().any(|key| {
                is_torn(was.fields.get(key), theirs.fields.get(key), ours.fields.get(key))
            });
            fields || (was.file != theirs.file && was.file != ours.file && theirs.file != ours.file)
        }
        (None, Some(ours)) => ours.fields != was.fields,
        (Some(theirs), None) => theirs.fields != was.fields,
        (None, None) => false,
    })
}

/// What a merge must result in, where there is no conflict, or where local wins.
fn merged(base: &Version, upstream: &Version, local: &Version) -> Version {
    let names: BTreeSet<&String> = base.keys().chain(upstream.keys()).chain(local.keys()).collect();
    let mut result = Version::new();
    for name in names {
        let model = match (base.get(name), upstream.get(name), local.get(name)) {
            (Some(was), Some(theirs), Some(ours)) => {
                let keys: BTreeSet<&String> =
                    theirs.fields.keys().chain(ours.fields.keys()).collect();
                let field = |key: &String| {
                    let (was, theirs, ours) =
                        (was.fields.get(key), theirs.fields.get(key), ours.fields.get(key));
                    let taken = if ours == was { theirs } else { ours };
                    taken.map(|value| (key.clone(), *value))
                };
                let file = if ours.file == was.file { &theirs.file } else { &ours.file };
                Some(Model {
                    file: file.clone(),
                    fields: keys.into_iter().filter_map(field).collect(),
                })
            }
            (None, theirs, ours) => theirs.or(ours).cloned(),
            (Some(was), None, Some(ours)) => (ours.fields != was.fields).then(|| ours.clone()),
            (Some(_), _, None) => None,
        };
        result.extend(model.map(|model| (name.clone(), model)));
    }
    result
}

fn text(name: &str, model: &Model) -> String {
    let fields: String = model
        .fields
        .iter()
        .map(|(key, value)| format!("  {key}: \"{value}\" # of {key}\n"))
        .collect();
    format!("# {name}\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n{fields}")
}

/// Replaces the manifests of a directory.
fn write(remote: &Remote, directory: &str, version: &Version) {
    remote
        .ok(&format!("find {directory} -name '*.yaml' -delete 2>/dev/null; mkdir -p {directory}"));
    for (name, model) in version {
        remote.write(&format!("{directory}/{}", model.file), &text(name, model));
    }
}

/// Reads the manifests of the package.
fn read(remote: &Remote) -> Version {
    let files = remote.package().into_iter().filter(|(name, _)| name.ends_with(".yaml"));
    let mut version = Version::new();
    for (path, content) in files {
        let name = content
            .lines()
            .find_map(|line| line.strip_prefix("  name: "))
            .unwrap_or_else(|| panic!("{path}: {content}"));
        let data = content.split("\ndata:\n").nth(1).unwrap_or_default();
        let field = |line: &str| {
            let (key, rest) = line.trim().split_once(": \"")?;
            let (value, comment) = rest.split_once('"')?;
            assert_eq!(comment, format!(" # of {key}"), "a comment is lost: {content}");
            Some((key.to_owned(), value.parse().unwrap()))
        };
        let fields = data.lines().filter_map(field).collect();
        let file = path.trim_start_matches("shop/").to_owned();
        let other = version.insert(name.to_owned(), Model { file, fields });
        assert!(other.is_none(), "{name} is in the package twice");
    }
    version
}

#[test]
fn random_histories_lose_nothing() {
    let count =
        std::env::var("KRM_HISTORIES").ok().and_then(|it| it.parse().ok()).unwrap_or(HISTORIES);
    let (mut conflicts, mut clean) = (0, 0);
    for history in 0..count {
        let mut random = Random(
            0x9e37_79b9_7f4a_7c15 ^ (history as u64 + 1).wrapping_mul(0x2545_f491_4f6c_dd1d),
        );
        let remote = Remote::new();
        remote.ok("rm up/shop/*.yaml up/shop/README.md");
        let mut counter = 0;
        let mut upstream = Version::new();
        for at in 0..5 {
            let fields = [("a".to_owned(), at), ("b".to_owned(), at), ("c".to_owned(), at)].into();
            upstream.insert(format!("r{at}"), Model { file: format!("r{at}.yaml"), fields });
        }
        write(&remote, "up/shop", &upstream);
        remote.commit("t0", &[]);
        remote.ok("krm pkg get -q up/shop@t0");
        let (mut base, mut local) = (upstream.clone(), upstream.clone());
        for step in 1..4 {
            change(&mut upstream, "u", &mut counter, &mut random);
            change(&mut local, "l", &mut counter, &mut random);
            write(&remote, "up/shop", &upstream);
            remote.ok(&format!(
                "cd up && git add -A && git commit -q --allow-empty -m t{step} && git tag t{step}"
            ));
            write(&remote, "shop", &local);
            let before = remote.package();
            let context = format!(
                "history {history}, step {step}: {base:?}\nupstream {upstream:?}\nlocal {local:?}"
            );
            let ran = remote.run(&format!("krm pkg update -q shop@t{step}"));
            if has_conflict(&base, &upstream, &local) {
                conflicts += 1;
                assert_eq!(ran.exit, 1, "{context}\n{}", ran.stderr);
                assert_eq!(remote.package(), before, "{context}");
                let ran =
                    remote.run(&format!("krm pkg update -q shop@t{step} --on-conflict local"));
                assert_eq!(ran.exit, 0, "{context}\n{}", ran.stderr);
            } else {
                clean += 1;
                assert_eq!(ran.exit, 0, "{context}\n{}", ran.stderr);
            }
            local = merged(&base, &upstream, &local);
            assert_eq!(read(&remote), local, "{context}");
            base = upstream.clone();
            let after = remote.package();
            remote.ok(&format!("krm pkg update -q shop@t{step} && krm pkg update -q shop"));
            assert_eq!(remote.package(), after, "{context}");
        }
    }
    assert!(
        count < 10 || (conflicts > 0 && clean > 0),
        "{conflicts} conflicts, {clean} clean updates"
    );
}
