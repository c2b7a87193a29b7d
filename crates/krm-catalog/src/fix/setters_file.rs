//! Moving the values of setters from the Kptfile to `setters.yaml`.

use krm_core::PackagePath;
use krm_sdk::{Error, Resource};
use krm_yaml::{EmptyParents, File, KeyPosition, NodeKind, NodeRef, Value};

use super::{Conventions, OldVersion};
use crate::generated::{metadata, resource, strings};
use crate::lookup;

/// Replaces the `configMap` of `apply-setters` by a `configPath`, and returns the new file. The values stay where they are if the package
/// already has a file of this name.
pub(super) fn move_setters(
    items: &mut [Resource],
    kptfile: usize,
    version: OldVersion,
    conventions: Conventions,
) -> Result<Option<Resource>, Error> {
    let directory = items[kptfile].path().map_or("", PackagePath::directory);
    let file = format!("{}.yaml", conventions.setters);
    let moves_all = conventions.moves_all_setters || version == OldVersion::V1Alpha1;
    let path = PackagePath::new(&file).map(|path| path.in_directory(directory));
    let path = path.map_err(|error| Error::new(error.to_string()))?;
    let Some(call) = find_call(items[kptfile].root(), moves_all) else { return Ok(None) };
    let mut data: Vec<(String, String)> = entries(call);
    if data.is_empty() || items.iter().any(|it| it.path() == Some(&path)) {
        return Ok(None);
    }
    data.sort();
    let data = data.into_iter().map(|(name, value)| (name, block_list(&value).unwrap_or(value)));
    let fields =
        vec![("metadata", metadata(conventions.setters, "", Vec::new())), ("data", strings(data))];
    let mut setters = resource("v1", "ConfigMap", fields)?;
    setters.move_to(path);
    items[kptfile].edit(|edit, root| {
        let Some(call) = find_call(root, moves_all) else { return Ok(()) };
        let mapping = call.as_mapping();
        if let (OldVersion::V1Alpha1, Some(image)) =
            (version, mapping.and_then(|it| it.get("image")))
        {
            edit.set(image, conventions.image)?;
        }
        if let Some(entry) = mapping.and_then(|it| it.entry("configMap")) {
            edit.remove(entry.key, EmptyParents::Keep)?;
        }
        edit.insert_key(call, "configPath", Value::string(file), KeyPosition::Last)
    })?;
    Ok(Some(setters))
}

/// The first call of `apply-setters` with a `configMap`; with `moves_all`, of any tag and not only of v0.1.
fn find_call(root: NodeRef<'_>, moves_all: bool) -> Option<NodeRef<'_>> {
    let mut mutators = lookup::items(lookup::child(root, "pipeline")?, "mutators");
    let is_apply_setters = |image: &str| {
        let name = image.rsplit('/').next().unwrap_or_default();
        let is_moved = moves_all || name.starts_with("apply-setters:v0.1");
        is_moved && name.split([':', '@']).next() == Some("apply-setters")
    };
    mutators.find(|it| {
        lookup::text(*it, "image").is_some_and(|image| is_apply_setters(&image))
            && lookup::child(*it, "configMap").is_some()
    })
}

fn entries(call: NodeRef<'_>) -> Vec<(String, String)> {
    let data = lookup::child(call, "configMap").and_then(NodeRef::as_mapping);
    let entries = data.into_iter().flat_map(|it| it.entries());
    let entry = |it: krm_yaml::Entry<'_>| {
        let value = it.value.resolve().as_scalar()?.value().into_owned();
        Some((it.key.as_scalar()?.value().into_owned(), value))
    };
    entries.filter_map(entry).collect()
}

/// A flow sequence in block style; none for any other value.
fn block_list(value: &str) -> Option<String> {
    let file = File::parse(value.to_owned()).ok().filter(|_| value.starts_with('['))?;
    let list = file.document(0)?.root().filter(|it| it.kind() == NodeKind::Sequence)?;
    let is_plain =
        file.errors().next().is_none() && list.children().all(|it| it.as_scalar().is_some());
    let is_plain = is_plain && list.children().next().is_some();
    is_plain.then(|| list.children().map(|it| format!("- {}\n", it.text())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flow_sequences_become_block_sequences() {
        assert_eq!(block_list("[a, \"b c\"]").as_deref(), Some("- a\n- \"b c\"\n"));
        for other in ["", "a", "- a", "[]", "[a", "[{a: b}]", "[a] b"] {
            assert_eq!(block_list(other), None, "{other}");
        }
    }
}
