//! The releases v0.3: one namespace is replaced, and resources without a namespace stay so.

use std::collections::{BTreeMap, BTreeSet};

use krm_sdk::{Error, Resource, ResourceList, Severity};

use super::fields::{NamespaceField, namespace_fields};
use super::{ROLE_BINDING_SUBJECTS, SetNamespace, dependency, read, rewrite_dependencies};
use crate::Version;
use crate::changes::{Changes, change_each, text_of};
use crate::config::{function_config, rejected};
use crate::field_spec::is_of;

/// Replaces the namespace that the matcher names, or else that of the only Namespace, or else that of all resources.
pub(super) fn run(list: &mut ResourceList, version: Version) -> Result<(), Error> {
    let config = read(list)?;
    let selected: Vec<usize> =
        (0..list.items.len()).filter(|at| !list.items[*at].view().is_local()).collect();
    let old = old_namespace(list, &config, &selected, version)?;
    let resources = list.items.iter_mut().filter(|it| !it.view().is_local()).collect();
    let moved = change_each(resources, |changes, resource| {
        let before = dependency(resource);
        let (mut count, mut is_moved) = (0, false);
        for field in fields(changes, resource, version) {
            if value(&field).as_deref() == Some(&old) && old != config.namespace {
                changes.set(&field.slot, &config.namespace);
                count += 1;
                is_moved |= field.is_own;
            }
        }
        Ok((before, is_moved, count))
    })?;
    let count: usize = moved.iter().map(|(_, _, count)| count).sum();
    let moved: BTreeMap<_, _> = moved.into_iter().map(|(before, is, _)| (before, is)).collect();
    rewrite_dependencies(list, &selected, &config.namespace, &moved)?;
    let new = &config.namespace;
    let message = format!("namespace {old:?} updated to {new:?}, {count} values changed");
    list.add_result(Severity::Info, message);
    Ok(())
}

/// The fields with a namespace: a resource has one of its own if the field exists.
fn fields<'a>(
    changes: &mut Changes<'a>,
    resource: &'a Resource,
    version: Version,
) -> Vec<NamespaceField<'a>> {
    let is_namespaced = resource.get_in(["metadata", "namespace"]).is_some();
    let mut fields = namespace_fields(changes, resource, is_namespaced);
    if resource.kind() == "RoleBinding" && version < ROLE_BINDING_SUBJECTS {
        fields.retain(|field| field.is_own);
    }
    fields.retain(|field| value(field).is_some_and(|value| !value.is_empty()));
    fields
}

fn value(field: &NamespaceField<'_>) -> Option<String> {
    field.slot.node().and_then(text_of).map(|text| text.to_string())
}

/// The namespace to replace.
fn old_namespace(
    list: &ResourceList,
    config: &SetNamespace,
    selected: &[usize],
    version: Version,
) -> Result<String, Error> {
    let error = |message: String, hint: &str| {
        let error = rejected(message);
        let error = match function_config(list) {
            Some(config) => crate::config::at_field(config, "namespaceMatcher", error),
            None => error,
        };
        Err(error.hint(hint).into())
    };
    let (mut found, mut declared) = (BTreeSet::new(), Vec::new());
    for resource in selected.iter().map(|at| &list.items[*at]) {
        let mut changes = Changes::default();
        found.extend(fields(&mut changes, resource, version).iter().filter_map(value));
        if is_of(resource, ["", "v1", "Namespace"]) {
            declared.push(resource.name());
        }
    }
    let matcher = &config.namespace_matcher;
    let quote = |names: &BTreeSet<String>| {
        names.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
    };
    match declared.as_slice() {
        [_, ..] if !matcher.is_empty() => error(
            "`namespaceMatcher` cannot be used with a Namespace among the resources".to_owned(),
            "remove `namespaceMatcher`: the name of the Namespace is replaced",
        ),
        [] if !matcher.is_empty() => Ok(matcher.clone()),
        [name] => Ok(name.clone()),
        [_, ..] => error(
            format!("expected one Namespace, found {}", declared.len()),
            "use v0.4 of the function, which replaces all namespaces",
        ),
        [] => match found.len() {
            0 => error(
                "no resource has a namespace".to_owned(),
                "set `metadata.namespace`, or use v0.4 of the function, which adds it",
            ),
            1 => Ok(found.into_iter().next().unwrap_or_default()),
            _ => error(
                format!("expected one namespace, found {}", quote(&found)),
                "name the one to replace in `namespaceMatcher`",
            ),
        },
    }
}
