//! Resources that a function generates: building them, and putting them in place of those of an earlier run.

use std::collections::BTreeMap;

use krm_core::Identity;
use krm_sdk::{Error, Resource};
use krm_yaml::{KeyPosition, Value};

use crate::align::align;

/// A new resource with these fields below `apiVersion` and `kind`.
pub(crate) fn resource(
    api_version: &str,
    kind: &str,
    fields: Vec<(&str, Value<'static>)>,
) -> Result<Resource, Error> {
    let mut resource = Resource::parse(format!("apiVersion: {api_version}\nkind: {kind}\n"))?;
    resource.edit(|edit, root| {
        fields
            .into_iter()
            .try_for_each(|(key, value)| edit.insert_key(root, key, value, KeyPosition::Last))
    })?;
    Ok(resource)
}

/// A mapping with these entries.
pub(crate) fn mapping<K: Into<String>>(
    entries: impl IntoIterator<Item = (K, Value<'static>)>,
) -> Value<'static> {
    let entry = |(key, value): (K, Value<'static>)| (Value::string(key.into()), value);
    Value::Mapping(entries.into_iter().map(entry).collect())
}

/// A mapping with strings.
pub(crate) fn strings<K: Into<String>, V: Into<String>>(
    entries: impl IntoIterator<Item = (K, V)>,
) -> Value<'static> {
    mapping(entries.into_iter().map(|(key, value)| (key, Value::string(value.into()))))
}

/// The metadata of a generated resource. An empty namespace and empty annotations are left out.
pub(crate) fn metadata(
    name: &str,
    namespace: &str,
    annotations: Vec<(String, String)>,
) -> Value<'static> {
    let mut entries = vec![("name", Value::string(name.to_owned()))];
    if !namespace.is_empty() {
        entries.push(("namespace", Value::string(namespace.to_owned())));
    }
    if !annotations.is_empty() {
        entries.push(("annotations", strings(annotations)));
    }
    mapping(entries)
}

/// Changes the resources with the same identities to equal the new ones, and adds the others.
pub(crate) fn put(items: &mut Vec<Resource>, new: Vec<Resource>) -> Result<(), Error> {
    let mut existing: BTreeMap<Identity, usize> = BTreeMap::new();
    for (at, identity) in
        items.iter().enumerate().filter_map(|(at, it)| Some((at, it.view().identity()?)))
    {
        existing.entry(identity).or_insert(at);
    }
    for resource in new {
        match resource.view().identity().and_then(|identity| existing.get(&identity)) {
            Some(at) => align(&mut items[*at], &resource)?,
            None => items.push(resource),
        }
    }
    Ok(())
}
