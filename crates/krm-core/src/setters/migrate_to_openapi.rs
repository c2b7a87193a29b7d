//! Migration to OpenAPI: definitions for the values of apply-setters, and substitutions for patterns.

use std::collections::BTreeMap;

use krm_yaml::NodeKind;

use super::changes::EditOp;
use super::definition::{Setter, SetterSource, SetterValue, warning_at};
use super::fields::SetterField;
use super::function_config::{ApplySettersCall, parse_scalar_list};
use super::kinds::SetterKind;
use super::migrate::{Dialect, MigrateResult, in_file_order, replace_reference, report_comments};
use super::new_definition::{
    self, APPLY_SETTERS, Entries, NewSetter, NewSubstitution, entry, string,
};
use super::pattern::Pattern;
use super::reference::{self, ReferenceTarget};
use super::{ReferenceSyntax, Setters, mapping_entries};
use crate::Diagnostic;

/// Converts the values of apply-setters to definitions.
pub(super) fn to_openapi<'a>(setters: &Setters<'a>) -> Result<MigrateResult<'a>, Diagnostic> {
    let mut result = MigrateResult::default();
    let mut new: Entries<'a> = Vec::new();
    for setter in in_file_order(setters, |it| !matches!(it.source, SetterSource::OpenApi { .. })) {
        let value = openapi_value(setter, setters)?;
        let is_list = matches!(value, SetterValue::List(_));
        let schema = if is_list { vec![entry("type", string("array"))] } else { Vec::new() };
        let name = setter.name.clone();
        new.push(NewSetter { name, value, schema, ..NewSetter::default() }.definition());
        result.setters.push(setter.name.clone());
    }
    let mut substitutions: BTreeMap<String, String> = BTreeMap::new();
    for field in setters.fields() {
        let ReferenceTarget::Pattern(pattern) = &field.reference.target else { continue };
        let name = match pattern.only_marker() {
            Some(name) => name.to_owned(),
            None => substitution_for(pattern, setters, &mut substitutions, &mut new),
        };
        let reference = reference::write(ReferenceSyntax::OpenApi, "", &name, "");
        replace_reference(field, &reference, Dialect::OpenApi, &mut result);
    }
    for field in &setters.reached {
        let loss = Dialect::OpenApi.loss("a reference in a subpackage");
        result.losses.push(warning_at(field.file, field.comment.span, loss));
    }
    for call in &setters.functions {
        remove_function(call, &mut result);
    }
    if !new.is_empty() {
        let file = new_definition::definition_file(setters)?;
        new_definition::define(file, new, &mut result.changes);
    }
    Ok(result)
}

/// The value of a setter of the kpt dialect; a list if a sequence follows it.
fn openapi_value(setter: &Setter<'_>, setters: &Setters<'_>) -> Result<SetterValue, Diagnostic> {
    let is_sequence = |it: &&SetterField<'_>| it.node.kind() == NodeKind::Sequence;
    match &setter.value {
        SetterValue::Unset => {
            let kind = SetterKind::NoValue { name: setter.name.clone() };
            Err(Diagnostic::error(kind)
                .note("its fields do not determine the value")
                .hint("set it with `krm cfg set`"))
        }
        SetterValue::Scalar(text) if setters.fields_of(&setter.name).iter().any(is_sequence) => {
            Ok(parse_scalar_list(text).map_or_else(|| setter.value.clone(), SetterValue::List))
        }
        other => Ok(other.clone()),
    }
}

/// The name of the substitution for a pattern, which is defined once.
fn substitution_for<'a>(
    pattern: &Pattern,
    setters: &Setters<'a>,
    substitutions: &mut BTreeMap<String, String>,
    new: &mut Entries<'a>,
) -> String {
    if let Some(name) = substitutions.get(pattern.as_str()) {
        return name.clone();
    }
    let base = slug(pattern.as_str());
    let definitions = setters.definitions();
    let is_free = |name: &String| {
        definitions.setter(name).is_none()
            && definitions.substitution(name).is_none()
            && !substitutions.values().any(|other| other == name)
    };
    let numbered = (2_usize..).map(|at| format!("{base}-{at}"));
    let name = std::iter::once(base.clone()).chain(numbered).find(is_free).unwrap_or(base.clone());
    let marker = |name: &str| (format!("${{{name}}}"), name.to_owned());
    let markers = pattern.markers().into_iter().map(marker).collect();
    let substitution = NewSubstitution { name: &name, pattern: pattern.as_str(), markers };
    new.push(substitution.definition(definitions));
    substitutions.insert(pattern.as_str().to_owned(), name.clone());
    name
}

/// `image-tag` for `${image}:${tag}`: the letters, digits and dots of a pattern, joined by dashes.
fn slug(pattern: &str) -> String {
    let parts = pattern.split(|c: char| !c.is_alphanumeric() && c != '.');
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

/// Removes a call of apply-setters, whose values are in the definitions now.
fn remove_function<'a>(call: &ApplySettersCall<'a>, result: &mut MigrateResult<'a>) {
    let (file, node) = (call.kptfile, call.node);
    for entry in mapping_entries(node) {
        let is_default =
            entry.is("image") && entry.value.as_str().as_deref() == Some(APPLY_SETTERS);
        if !is_default && !["configMap", "configPath"].iter().any(|known| entry.is(known)) {
            let loss = Dialect::OpenApi.loss(format!("`{}` of the function", entry.key.text()));
            result.losses.push(warning_at(file, entry.key.full_span(), loss));
        }
        if entry.is("configPath") {
            let span = entry.value.full_span();
            result.losses.push(warning_at(file, span, SetterKind::ValuesFileUnused));
        }
    }
    report_comments(file, node.start(), node, Dialect::OpenApi, &mut result.losses);
    result.changes.add_at(file, node, EditOp::Remove(node));
}
