//! `apply-replacements`: values of fields go into other fields, as kustomize replaces them.

mod config;
mod labels;
mod path;
mod select;
mod value;

use krm_core::diagnostics::closest_name;
use krm_sdk::{Diagnostic, Error, Resource, ResourceList, Severity};

use crate::Builtin;
use crate::config::{invalid_field, rejected};
use config::{Replacement, Source, Target};
use path::FieldPath;
use select::{Chosen, is_source};
use value::Taken;

/// The function as it is listed.
pub const BUILTIN: Builtin = Builtin {
    name: "apply-replacements",
    aliases: &[],
    summary: "copy values of fields into other fields",
    doc: include_str!("../../doc/apply-replacements.md"),
    tags: &["v0.1", "v0.1.0", "v0.1.1", "v0.1.2", "v0.1.3", "v0.1.4", "v0.1.5"],
    run,
};

/// Makes one replacement after the other, so that later ones see what earlier ones did.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    let replacements = config::read(list)?.replacements;
    for (at, replacement) in replacements.iter().enumerate() {
        let place = format!("replacements[{at}]");
        let taken = take(list, replacement, &place)?;
        for (number, target) in replacement.targets.iter().enumerate() {
            put(list, &taken, target, &format!("{place}.targets[{number}]"))?;
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

/// The value that is to be put.
fn take(list: &ResourceList, replacement: &Replacement, place: &str) -> Result<Taken, Error> {
    if replacement.targets.is_empty() {
        let message = "replacements must specify a source and at least one target";
        return Err(error(list, place, message).into());
    }
    match (&replacement.source, &replacement.source_value) {
        (Some(source), None) => from_resource(list, source, &format!("{place}.source")),
        (None, Some(value)) => Ok(Taken::of_value(value.0.clone())),
        (Some(_), Some(_)) => {
            let message = "a replacement has a source or a sourceValue, not both";
            Err(error(list, place, message).into())
        }
        (None, None) => {
            let message = "replacements must specify a source and at least one target";
            Err(error(list, place, message)
                .hint("add `source` with the resource and `fieldPath`")
                .into())
        }
    }
}

fn from_resource(list: &ResourceList, source: &Source, place: &str) -> Result<Taken, Error> {
    let mut found = list.items.iter().filter(|item| is_source(source, item));
    let Some(item) = found.next() else {
        let error = error(list, place, format!("nothing selected by {}", source.shown()));
        return Err(error.hint(like(list, source)).into());
    };
    if let Some(other) = found.next() {
        let message = format!("multiple matches for selector {}", source.shown());
        let hint = format!(
            "{} and {} are; say more of the one",
            item.view().label(),
            other.view().label()
        );
        return Err(error(list, place, message).hint(hint).into());
    }
    let field = format!("{place}.fieldPath");
    let path = FieldPath::new(source.path())
        .map_err(|why| error(list, &field, format!("`{}` is no path: {why}", source.path())))?;
    let node = path.find(item.root()).into_iter().next().filter(|node| value::is_filled(*node));
    let Some(node) = node else {
        let message = format!(
            "fieldPath `{}` is missing for replacement source {}",
            source.path(),
            source.id()
        );
        return Err(error(list, &field, message).hint(format!("look at {}", shown(item))).into());
    };
    Taken::new(node, &source.options).map_err(|message| error(list, place, message).into())
}

/// What was probably meant by a source that selects nothing.
fn like(list: &ResourceList, source: &Source) -> String {
    let of_kind = list.items.iter().filter(|it| source.kind.is_empty() || it.kind() == source.kind);
    let names: Vec<String> = of_kind.map(|it| it.name().into_owned()).collect();
    match closest_name(names.iter().map(String::as_str), &source.name) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => format!("there is no resource of the kind `{}`", source.kind),
        None => format!("there are: {}", names.join(", ")),
    }
}

fn shown(item: &Resource) -> String {
    match item.path() {
        Some(path) => format!("{} in {path}", item.view().label()),
        None => item.view().label(),
    }
}

/// Puts the value into all fields of a target.
fn put(list: &mut ResourceList, taken: &Taken, target: &Target, place: &str) -> Result<(), Error> {
    let Some(select) = &target.select else {
        let hint = "add `select` with a kind, a name or labels";
        return Err(error(list, place, "target must specify resources to select")
            .hint(hint)
            .into());
    };
    let chosen = Chosen::new(select, target).map_err(|(field, why)| {
        error(list, &format!("{place}.{field}"), format!("this is no pattern: {why}"))
    })?;
    let default = ["metadata.name".to_owned()];
    let texts = if target.field_paths.is_empty() { &default[..] } else { &target.field_paths };
    let mut paths = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let field = format!("{place}.fieldPaths[{at}]");
        let path = FieldPath::new(text)
            .map_err(|why| error(list, &field, format!("`{text}` is no path: {why}")))?;
        if target.options.create && path.has_wildcard() {
            let message = "cannot support create option in a multi-value target";
            let hint = "name the item, or leave out `create`";
            return Err(error(list, &field, message).hint(hint).into());
        }
        paths.push((text, field, path));
    }
    let mut any = false;
    for at in 0..list.items.len() {
        if !chosen.contains(&list.items[at]) {
            continue;
        }
        any = true;
        for (text, field, path) in &paths {
            match value::put(&mut list.items[at], taken, path, &target.options) {
                Ok(true) => {}
                Ok(false) => {
                    let message = format!("unable to find field \"{text}\" in replacement target");
                    let hint = format!(
                        "{} has none; `options: {{create: true}}` makes it",
                        shown(&list.items[at])
                    );
                    return Err(error(list, field, message).hint(hint).into());
                }
                Err(why) => return Err(why),
            }
        }
    }
    if !any {
        let message =
            format!("no resource is selected by `{place}.select`, so nothing is replaced");
        list.add_result(Severity::Warning, message);
    }
    Ok(())
}
