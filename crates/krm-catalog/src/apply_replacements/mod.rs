//! `apply-replacements`: copies values of fields into other fields, as kustomize replacements do.

mod config;
mod labels;
mod path;
mod select;
mod value;

use krm_core::diagnostics::closest_name;
use krm_sdk::{Diagnostic, Error, Resource, ResourceList, Severity};

use crate::config::{invalid_field, rejected};
use crate::value_budget::ValueBudget;
use crate::{Builtin, Run, Version, releases};
use config::{Replacement, Source, Target};
use path::FieldPath;
use select::{TargetSelector, is_source};
use value::SourceValue;

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "apply-replacements",
    aliases: &[],
    summary: "copy values of fields into other fields",
    doc: include_str!("../../doc/apply-replacements.md"),
    releases: releases::APPLY_REPLACEMENTS,
    run: Run::Versioned(run),
};

/// The release since which a target must have the field; see [`releases::APPLY_REPLACEMENTS`].
const FIELD_REQUIRED: Version = Version::new(0, 1, 2);

/// Makes the replacements in order; later ones see the results of earlier ones.
pub fn run(list: &mut ResourceList, version: Version) -> Result<(), Error> {
    let replacements = config::read(list)?.replacements;
    let mut budget = ValueBudget::new();
    for (at, replacement) in replacements.iter().enumerate() {
        let field = format!("replacements[{at}]");
        let value = source_value(list, replacement, &field)?;
        for (number, target) in replacement.targets.iter().enumerate() {
            let field = format!("{field}.targets[{number}]");
            let is_required = version >= FIELD_REQUIRED;
            set_target(list, &value, target, (&field, is_required), &mut budget)?;
        }
    }
    Ok(())
}

/// An error at a field of the functionConfig.
fn error(list: &ResourceList, field: &str, message: impl Into<String>) -> Diagnostic {
    match &list.function_config {
        Some(config) => invalid_field(config, field, message),
        None => rejected(message),
    }
}

/// The value of a replacement.
fn source_value(
    list: &ResourceList,
    replacement: &Replacement,
    field: &str,
) -> Result<SourceValue, Error> {
    if replacement.targets.is_empty() {
        let message = "replacements must specify a source and at least one target";
        return Err(error(list, field, message).into());
    }
    match (&replacement.source, &replacement.source_value) {
        (Some(source), None) => from_resource(list, source, &format!("{field}.source")),
        (None, Some(value)) => Ok(SourceValue::of_value(value.0.clone())),
        (Some(_), Some(_)) => {
            let message = "a replacement has a source or a sourceValue, not both";
            Err(error(list, field, message).into())
        }
        (None, None) => {
            let message = "replacements must specify a source and at least one target";
            Err(error(list, field, message)
                .hint("add `source` with the resource and `fieldPath`")
                .into())
        }
    }
}

fn from_resource(list: &ResourceList, source: &Source, field: &str) -> Result<SourceValue, Error> {
    let mut found = list.items.iter().filter(|item| is_source(source, item));
    let Some(item) = found.next() else {
        let error = error(list, field, format!("nothing selected by {}", source.id_with_field()));
        return Err(error.hint(source_hint(list, source)).into());
    };
    if let Some(other) = found.next() {
        let message = format!("multiple matches for selector {}", source.id_with_field());
        let hint = format!(
            "both {} and {} match; add fields that select one of them",
            item.view().label(),
            other.view().label()
        );
        return Err(error(list, field, message).hint(hint).into());
    }
    let path_field = format!("{field}.fieldPath");
    let path = FieldPath::new(source.path()).map_err(|reason| {
        error(list, &path_field, format!("invalid path `{}`: {reason}", source.path()))
    })?;
    let node = path.find(item.root()).into_iter().next().filter(|node| value::has_value(*node));
    let Some(node) = node else {
        let message = format!(
            "fieldPath `{}` is missing for replacement source {}",
            source.path(),
            source.id()
        );
        return Err(error(list, &path_field, message)
            .hint(format!("check {}", label(item)))
            .into());
    };
    SourceValue::new(node, &source.options).map_err(|message| error(list, field, message).into())
}

/// A hint for a source that selects nothing.
fn source_hint(list: &ResourceList, source: &Source) -> String {
    let of_kind = list.items.iter().filter(|it| source.kind.is_empty() || it.kind() == source.kind);
    let names: Vec<String> = of_kind.map(|it| it.name()).collect();
    match closest_name(names.iter().map(String::as_str), &source.name) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => format!("add a resource of kind `{}`", source.kind),
        None => format!("use one of {}", names.join(", ")),
    }
}

fn label(item: &Resource) -> String {
    match item.path() {
        Some(path) => format!("{} in {path}", item.view().label()),
        None => item.view().label(),
    }
}

/// Sets all fields of a target. A resource without the field is an error, unless fields are optional.
fn set_target(
    list: &mut ResourceList,
    value: &SourceValue,
    target: &Target,
    (field, is_required): (&str, bool),
    budget: &mut ValueBudget,
) -> Result<(), Error> {
    let Some(select) = &target.select else {
        let hint = "add `select` with a kind, a name or labels";
        return Err(error(list, field, "target must specify resources to select")
            .hint(hint)
            .into());
    };
    let selector = TargetSelector::new(select, target).map_err(|(name, reason)| {
        error(list, &format!("{field}.{name}"), format!("invalid pattern: {reason}"))
    })?;
    let default = ["metadata.name".to_owned()];
    let texts = if target.field_paths.is_empty() { &default[..] } else { &target.field_paths };
    let mut paths = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let path_field = format!("{field}.fieldPaths[{at}]");
        let path = FieldPath::new(text).map_err(|reason| {
            error(list, &path_field, format!("invalid path `{text}`: {reason}"))
        })?;
        paths.push((text, path_field, path));
    }
    let mut is_selected = false;
    for at in 0..list.items.len() {
        if !selector.contains(&list.items[at]) {
            continue;
        }
        is_selected = true;
        for (text, path_field, path) in &paths {
            match value::set(&mut list.items[at], value, path, &target.options, budget) {
                Ok(is_set) if is_set || !is_required => {}
                Ok(_) => {
                    let label = label(&list.items[at]);
                    let (action, hint) = match target.options.create {
                        true => ("find or create", format!("`*` matches nothing in {label}")),
                        false => (
                            "find",
                            format!("add the field to {label}, or use `options: {{create: true}}`"),
                        ),
                    };
                    let message =
                        format!("unable to {action} field \"{text}\" in replacement target");
                    return Err(error(list, path_field, message).hint(hint).into());
                }
                Err(error) => return Err(error),
            }
        }
    }
    if !is_selected {
        let message = format!("`{field}.select` selects no resource, so nothing is replaced");
        list.add_result(Severity::Warning, message);
    }
    Ok(())
}
