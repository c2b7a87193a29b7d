//! Reading one entry of the OpenAPI `definitions` of a package.

use krm_yaml::{Entry, NodeRef, ScalarType};

use super::definition::{
    NodeLocation, Setter, SetterSource, SetterValue, Substitution, SubstitutionValue, error_at,
    scalar_elements,
};
use super::kinds::SetterKind;
use super::mapping_entries;
use super::pattern::Pattern;
use super::reference::{self, SETTER_PREFIX, SUBSTITUTION_PREFIX};
use crate::diagnostics::CommonKind;
use crate::model::resource::{field, scalar_text};
use crate::{Diagnostic, PackageFile};

/// What an entry of `definitions` defines.
pub(super) enum DefinitionEntry<'a> {
    Setter(Box<Setter<'a>>),
    Substitution(Substitution<'a>),
    /// The definition of a resource type.
    Other,
}

/// Reads one entry of `definitions`.
pub(super) fn parse<'a>(
    file: &'a PackageFile,
    entry: Entry<'a>,
) -> Result<DefinitionEntry<'a>, Diagnostic> {
    let location = NodeLocation { file, node: entry.key };
    let Some(key) = scalar_text(entry.key) else { return Ok(DefinitionEntry::Other) };
    if let Some(name) = key.strip_prefix(SETTER_PREFIX) {
        let node = extension(location, entry.value, "setter", name)?;
        return Ok(DefinitionEntry::Setter(Box::new(setter(location, entry.value, node, name))));
    }
    if let Some(name) = key.strip_prefix(SUBSTITUTION_PREFIX) {
        let node = extension(location, entry.value, "substitution", name)?;
        return substitution(location, node, name).map(DefinitionEntry::Substitution);
    }
    Ok(DefinitionEntry::Other)
}

fn missing(field: &str, owner: String) -> CommonKind {
    CommonKind::MissingField { field: field.to_owned(), owner }
}

/// `x-k8s-cli.setter` or `x-k8s-cli.substitution`.
///
/// Spec: the key of a definition ends with the name inside.
fn extension<'a>(
    key: NodeLocation<'a>,
    definition: NodeRef<'a>,
    kind: &str,
    name: &str,
) -> Result<NodeRef<'a>, Diagnostic> {
    let node = field(definition, "x-k8s-cli").and_then(|it| field(it, kind));
    let Some(node) = node.filter(|node| node.as_mapping().is_some()) else {
        let owner = format!("the definition of {kind} `{name}`");
        return Err(key.error(missing(&format!("x-k8s-cli.{kind}"), owner)));
    };
    let Some(inside) = field(node, "name") else {
        let owner = format!("the definition of {kind} `{name}`");
        let error = error_at(key.file, node.full_span(), missing("name", owner));
        return Err(error.hint(format!("add name: {name}")));
    };
    if scalar_text(inside).is_some_and(|text| text == name) {
        return Ok(node);
    }
    let mismatch = SetterKind::NameMismatch { found: inside.text().into(), key: name.to_owned() };
    let error = error_at(key.file, inside.full_span(), mismatch);
    Err(match key.file.file() {
        Some(file) => error.related(file, key.node.full_span(), "the key"),
        None => error,
    })
}

fn string(node: NodeRef<'_>, name: &str) -> Option<String> {
    field(node, name).and_then(scalar_text).map(|text| text.into_owned())
}

/// Whether a scalar is `true` or `"true"`, which older tools wrote.
pub(super) fn is_true(node: NodeRef<'_>) -> bool {
    let value = node.as_scalar();
    value.is_some_and(|value| value.resolve() == ScalarType::Bool(true) || value.is("true"))
}

fn setter<'a>(
    location: NodeLocation<'a>,
    definition: NodeRef<'a>,
    node: NodeRef<'a>,
    name: &str,
) -> Setter<'a> {
    let mut setter =
        Setter::new(name.to_owned(), SetterSource::OpenApi { definition, setter: node });
    let list = field(node, "listValues").and_then(|list| list.as_sequence());
    let items = list.map(|list| scalar_elements(list.node()));
    setter.location = Some(location);
    let is_array = setter.schema_type() == Some("array");
    setter.value = match (items, string(node, "value")) {
        (Some(items), _) if is_array || !items.is_empty() => SetterValue::List(items),
        // An array without values has none, which is not an empty list: fields would lose their elements.
        (_, Some(value)) if !is_array => SetterValue::Scalar(value),
        _ => SetterValue::Unset,
    };
    let aliases = field(node, "enumValues").into_iter().flat_map(mapping_entries);
    setter.enum_values = aliases
        .filter_map(|it| Some((scalar_text(it.key)?.into(), scalar_text(it.value)?.into())))
        .collect();
    setter.set_by = string(node, "setBy");
    setter.description = string(definition, "description");
    setter.required = field(node, "required").is_some_and(is_true);
    setter.is_set = field(node, "isSet").is_some_and(is_true);
    setter
}

fn substitution<'a>(
    location: NodeLocation<'a>,
    node: NodeRef<'a>,
    name: &str,
) -> Result<Substitution<'a>, Diagnostic> {
    let pattern_node = field(node, "pattern");
    let Some(pattern) = pattern_node.and_then(scalar_text) else {
        let kind = missing("pattern", format!("substitution `{name}`"));
        return Err(error_at(location.file, node.full_span(), kind));
    };
    let list = field(node, "values").and_then(|values| values.as_sequence());
    let mut values = Vec::new();
    for item in list.into_iter().flat_map(|list| list.items()) {
        values.push(substitution_value(location, item, name)?);
    }
    let markers: Vec<&str> = values.iter().map(|value| value.marker.as_str()).collect();
    let pattern = Pattern::new(&pattern, &markers).map_err(|error| {
        let at = pattern_node.unwrap_or(node).full_span();
        error_at(location.file, at, error).context(format!("substitution `{name}`"))
    })?;
    Ok(Substitution { name: name.to_owned(), location, pattern, values })
}

fn substitution_value<'a>(
    location: NodeLocation<'a>,
    item: NodeRef<'a>,
    name: &str,
) -> Result<SubstitutionValue<'a>, Diagnostic> {
    let Some(marker) = string(item, "marker").filter(|marker| !marker.is_empty()) else {
        let kind = missing("marker", format!("a value of substitution `{name}`"));
        return Err(error_at(location.file, item.full_span(), kind)
            .hint("name the part of the pattern that the value replaces"));
    };
    let node = field(item, "ref");
    let target = node.and_then(scalar_text).and_then(|it| reference::parse_pointer(&it));
    let (Some(target), Some(node)) = (target, node) else {
        let kind = SetterKind::InvalidRef { marker, substitution: name.to_owned() };
        return Err(error_at(location.file, node.unwrap_or(item).full_span(), kind));
    };
    Ok(SubstitutionValue { marker, target, node })
}
