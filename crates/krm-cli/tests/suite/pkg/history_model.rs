//! A model of a package whose versions are merged: what its files mean, how they change, and what a merge must result in.

use std::collections::{BTreeMap, BTreeSet};

/// A resource: its file and its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Model {
    pub(super) file: String,
    /// Entries of a mapping, or elements of an associative list.
    pub(super) fields: BTreeMap<String, u32>,
    /// Whether the fields are containers.
    pub(super) has_containers: bool,
}

/// A version of the package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Version {
    /// Resources by name.
    pub(super) resources: BTreeMap<String, Model>,
    /// The files that are not manifests, by path.
    pub(super) others: BTreeMap<String, String>,
}

/// Which side wins a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Local,
    Upstream,
}

pub(super) struct Random(pub(super) u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn choose<T: Clone>(&mut self, all: impl IntoIterator<Item = T>) -> Option<T> {
        let all: Vec<T> = all.into_iter().collect();
        if all.is_empty() { None } else { Some(all[self.below(all.len())].clone()) }
    }
}

/// Changes a version at random. What a side adds has its prefix, so that both sides never add the same resource or file.
pub(super) fn change(version: &mut Version, side: &str, counter: &mut u32, random: &mut Random) {
    for _ in 0..random.below(5) {
        *counter += 1;
        match random.below(8) {
            0 => change_other_file(version, side, *counter, random),
            1 => {
                let directory = ["", "sub/"][random.below(2)];
                let file = format!("{directory}{side}{counter}.yaml");
                let fields = [("a".to_owned(), *counter), ("b".to_owned(), 0)].into();
                let model = Model { file, fields, has_containers: random.below(2) == 0 };
                version.resources.insert(format!("{side}{counter}"), model);
            }
            _ => change_resource(version, side, *counter, random),
        }
    }
}

fn change_other_file(version: &mut Version, side: &str, counter: u32, random: &mut Random) {
    let existing = random.choose(version.others.keys().cloned());
    match (random.below(4), existing) {
        (0, Some(file)) => _ = version.others.remove(&file),
        (1 | 2, Some(file)) => {
            let start = if file.ends_with(".png") { "\0png" } else { "text" };
            version.others.insert(file, format!("{start} {counter}\n"));
        }
        _ => _ = version.others.insert(format!("{side}{counter}.txt"), format!("{counter}\n")),
    }
}

fn change_resource(version: &mut Version, side: &str, counter: u32, random: &mut Random) {
    let Some(name) = random.choose(version.resources.keys().cloned()) else { return };
    let action = random.below(8);
    if action == 0 {
        version.resources.remove(&name);
        return;
    }
    let model = version.resources.get_mut(&name).unwrap();
    let key = random.choose(model.fields.keys().cloned());
    match (action, key) {
        // A resource stays in its package.
        (1, _) => {
            let directory = if model.file.starts_with("sub/") { "sub/" } else { "" };
            model.file = format!("{directory}d{}/{side}{counter}.yaml", random.below(2));
        }
        (2, _) => _ = model.fields.insert(format!("{side}{counter}"), counter),
        // A collection that loses its last entry is another story.
        (3, Some(key)) if model.fields.len() > 2 => _ = model.fields.remove(&key),
        (_, Some(key)) => _ = model.fields.insert(key, counter),
        (_, None) => {}
    }
}

/// The version of a value that a merge takes.
pub(super) fn taken<T: PartialEq>(base: &T, upstream: T, local: T, winner: Side) -> T {
    match winner {
        Side::Local if local == *base => upstream,
        Side::Upstream if upstream != *base => upstream,
        _ => local,
    }
}

/// Whether both sides changed the same value in different ways.
fn is_torn<T: PartialEq>(base: &T, upstream: &T, local: &T) -> bool {
    base != upstream && base != local && upstream != local
}

/// Whether both sides changed the same thing in different ways.
pub(super) fn has_conflict(base: &Version, upstream: &Version, local: &Version) -> bool {
    let has_torn_file = base.others.iter().any(|(file, was)| {
        is_torn(&Some(was), &upstream.others.get(file), &local.others.get(file))
    });
    let is_resource_torn = |(name, was): (&String, &Model)| match (
        upstream.resources.get(name),
        local.resources.get(name),
    ) {
        (Some(theirs), Some(ours)) => {
            let is_field_torn = |key: &String| {
                let of = |model: &Model| model.fields.get(key).copied();
                is_torn(&of(was), &of(theirs), &of(ours))
            };
            let mut keys = was.fields.keys().chain(theirs.fields.keys()).chain(ours.fields.keys());
            keys.any(is_field_torn) || is_torn(&was.file, &theirs.file, &ours.file)
        }
        (None, Some(ours)) => ours.fields != was.fields,
        (Some(theirs), None) => theirs.fields != was.fields,
        (None, None) => false,
    };
    has_torn_file || base.resources.iter().any(is_resource_torn)
}

/// What a merge must result in, where there is no conflict, or where local wins.
pub(super) fn merged(base: &Version, upstream: &Version, local: &Version) -> Version {
    let mut result = Version::default();
    let names: BTreeSet<&String> =
        [base, upstream, local].iter().flat_map(|it| it.resources.keys()).collect();
    for name in names {
        let of = |version: &'_ Version| version.resources.get(name).cloned();
        let model = match (of(base), of(upstream), of(local)) {
            (Some(was), Some(theirs), Some(ours)) => Some(merged_resource(&was, &theirs, &ours)),
            (None, theirs, ours) => theirs.or(ours),
            (Some(was), None, Some(ours)) => (ours.fields != was.fields).then_some(ours),
            (Some(_), _, None) => None,
        };
        result.resources.extend(model.map(|model| (name.clone(), model)));
    }
    let files: BTreeSet<&String> =
        [base, upstream, local].iter().flat_map(|it| it.others.keys()).collect();
    for file in files {
        let of = |version: &Version| version.others.get(file).cloned();
        let content = taken(&of(base), of(upstream), of(local), Side::Local);
        result.others.extend(content.map(|content| (file.clone(), content)));
    }
    result
}

fn merged_resource(base: &Model, upstream: &Model, local: &Model) -> Model {
    let keys: BTreeSet<&String> = upstream.fields.keys().chain(local.fields.keys()).collect();
    let field = |key: &String| {
        let of = |model: &Model| model.fields.get(key).copied();
        let value = taken(&of(base), of(upstream), of(local), Side::Local)?;
        Some((key.clone(), value))
    };
    let file = taken(&&base.file, &upstream.file, &local.file, Side::Local).clone();
    let fields = keys.into_iter().filter_map(field).collect();
    Model { file, fields, has_containers: local.has_containers }
}
