//! The OpenAPI schema that a file gives for the values of a new setter: its keywords, checked with their locations.

use krm_yaml::{NodeKind, NodeRef, ScalarType, Value};

use super::definition::error_at;
use super::kinds::SetterKind;
use super::mapping_entries;
use super::new_definition::{Entries, entry};
use crate::diagnostics::{CommonKind, closest_name};
use crate::model::resource::{field, scalar_text};
use crate::{Diagnostic, PackageFile};

/// The type of a keyword's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeywordType {
    String,
    Boolean,
    Number,
    /// A boolean in OpenAPI, a number in newer drafts of JSON Schema.
    Bound,
    Sequence,
    /// A schema, or a sequence or mapping of schemas.
    Schema,
    Schemas,
    Any,
}

use KeywordType::{Any, Boolean, Bound, Number, Schema, Schemas, Sequence, String as Text};

/// The keywords of an OpenAPI schema. `krm cfg set` evaluates those that apply to scalars and lists.
const KEYWORDS: &[(&str, KeywordType)] = &[
    ("$ref", Text),
    ("$schema", Text),
    ("additionalItems", Any),
    ("additionalProperties", Any),
    ("allOf", Schemas),
    ("anyOf", Schemas),
    ("default", Any),
    ("definitions", Schemas),
    ("deprecated", Boolean),
    ("description", Text),
    ("discriminator", Any),
    ("enum", Sequence),
    ("example", Any),
    ("exclusiveMaximum", Bound),
    ("exclusiveMinimum", Bound),
    ("externalDocs", Any),
    ("format", Text),
    ("id", Text),
    ("items", Schema),
    ("maxItems", Number),
    ("maxLength", Number),
    ("maxProperties", Number),
    ("maximum", Number),
    ("minItems", Number),
    ("minLength", Number),
    ("minProperties", Number),
    ("minimum", Number),
    ("multipleOf", Number),
    ("not", Schema),
    ("nullable", Boolean),
    ("oneOf", Schemas),
    ("pattern", Text),
    ("patternProperties", Schemas),
    ("properties", Schemas),
    ("readOnly", Boolean),
    ("required", Sequence),
    ("title", Text),
    ("type", Any),
    ("uniqueItems", Boolean),
];

/// The extension with the name and the value of a setter.
const EXTENSION: &str = "x-k8s-cli";

/// The types of OpenAPI. Abbreviations such as `int` are accepted in old definitions, but not in a new schema.
const TYPES: [&str; 8] =
    ["array", "boolean", "file", "integer", "null", "number", "object", "string"];

/// The entries of a schema file, or the errors of all its keywords. `known` are entries that the file does not override.
pub(super) fn read<'a>(
    file: &'a PackageFile,
    root: NodeRef<'a>,
    known: &mut Entries<'a>,
) -> Result<(), Vec<Diagnostic>> {
    let mut errors = Vec::new();
    check(file, root, &mut errors);
    if !errors.is_empty() {
        return Err(errors);
    }
    for rule in mapping_entries(root) {
        let key = scalar_text(rule.key).unwrap_or_default();
        if known.iter().any(|(other, _)| matches!(other, Value::String(text) if *text == key)) {
            continue;
        }
        let too_large = |_| vec![Diagnostic::error(SetterKind::SchemaTooLarge)];
        known.push(entry(&key, rule.value.to_value().map_err(too_large)?));
    }
    Ok(())
}

/// Checks a schema and those inside it. Recursion is bounded: the parser limits how deep a document can nest.
fn check(file: &PackageFile, schema: NodeRef<'_>, errors: &mut Vec<Diagnostic>) {
    let schema = schema.resolve();
    if schema.as_mapping().is_none() {
        let kind = CommonKind::wrong_type("a schema, which is a mapping", schema);
        return errors.push(error_at(file, schema.full_span(), kind));
    }
    for rule in mapping_entries(schema) {
        let key = scalar_text(rule.key).unwrap_or_default();
        let keyword = KEYWORDS.iter().find(|(name, _)| *name == key);
        match keyword {
            Some((name, expected)) => check_keyword(file, name, *expected, rule.value, errors),
            // Extensions belong to other tools and are kept, but this one is krm's.
            None if key.starts_with("x-") && key != EXTENSION => {}
            None => {
                let kind = CommonKind::UnknownField {
                    field: key.to_string(),
                    owner: "an OpenAPI schema".to_owned(),
                };
                let error = error_at(file, rule.key.full_span(), kind);
                let names = KEYWORDS.iter().map(|(name, _)| *name);
                errors.push(match closest_name(names, &key) {
                    Some(similar) => error.hint(format!("did you mean `{similar}`?")),
                    None if key == EXTENSION => error.hint("remove it: the command writes it"),
                    None => error.hint("prefix keys of other tools with `x-`"),
                });
            }
        }
    }
}

fn check_keyword(
    file: &PackageFile,
    name: &str,
    expected: KeywordType,
    value: NodeRef<'_>,
    errors: &mut Vec<Diagnostic>,
) {
    let value = value.resolve();
    let scalar = value.as_scalar().map(|it| it.resolve());
    let wrong = match expected {
        Any if name == "type" => return check_type(file, value, errors),
        Schema if name == "items" && value.kind() == NodeKind::Sequence => {
            return value.children().for_each(|each| check(file, each, errors));
        }
        Schema => return check(file, value, errors),
        Schemas => match value.kind() {
            NodeKind::Sequence => {
                return value.children().for_each(|each| check(file, each, errors));
            }
            NodeKind::Mapping => {
                return mapping_entries(value).for_each(|it| check(file, it.value, errors));
            }
            _ => "schemas",
        },
        Text if scalar != Some(ScalarType::String) => "a string",
        Boolean if !matches!(scalar, Some(ScalarType::Bool(_))) => "true or false",
        Number if !matches!(scalar, Some(ScalarType::Int(_) | ScalarType::Float(_))) => "a number",
        Bound
            if !matches!(
                scalar,
                Some(ScalarType::Bool(_) | ScalarType::Int(_) | ScalarType::Float(_))
            ) =>
        {
            "a boolean or a number"
        }
        Sequence if value.kind() != NodeKind::Sequence => "a sequence",
        _ => return,
    };
    let kind = CommonKind::wrong_type(format!("{wrong} for `{name}`"), value);
    errors.push(error_at(file, value.full_span(), kind));
}

/// Compat: JSON Schema allows several types, OpenAPI and kustomize one.
fn check_type(file: &PackageFile, value: NodeRef<'_>, errors: &mut Vec<Diagnostic>) {
    let is_known = scalar_text(value).is_some_and(|text| TYPES.contains(&&*text));
    if !is_known {
        let found = scalar_text(value).unwrap_or_else(|| value.text().into());
        let kind = SetterKind::UnknownType { found: found.into_owned().into() };
        errors.push(error_at(file, value.full_span(), kind));
    }
}

/// The value of the keyword `type`.
pub(super) fn type_of(root: NodeRef<'_>) -> Option<std::borrow::Cow<'_, str>> {
    field(root, "type").and_then(scalar_text)
}
