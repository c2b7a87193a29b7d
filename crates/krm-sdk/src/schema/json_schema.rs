//! Traced types, and their JSON Schema.

use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::Value;

use super::forms::{self, Body};

/// The type of one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FieldType {
    Any,
    Bool,
    Integer(Option<i128>, Option<i128>),
    Number,
    String,
    /// The elements are at `PATH/#`.
    Sequence,
    /// The values are at `PATH/*`.
    Map,
    /// The fields are at `PATH/NAME`.
    Struct(Vec<&'static str>),
    /// The content of a variant is at `PATH/=NAME`.
    Enum(Vec<&'static str>),
}

/// The types of all fields, by path.
#[derive(Clone, Debug, Default)]
pub(super) struct TracedTypes {
    pub(super) at: BTreeMap<String, FieldType>,
    /// The paths of required fields.
    pub(super) required: BTreeSet<String>,
    /// The paths of `serde` aliases, which are second names of other fields.
    pub(super) aliases: BTreeSet<String>,
    /// The paths of enum variants with content.
    pub(super) with_content: BTreeSet<String>,
    /// The paths of options, which may be null.
    pub(super) nullable: BTreeSet<String>,
}

/// The schema of a functionConfig with the fields of the root type.
pub(super) fn document(types: &TracedTypes) -> Value<'static> {
    let bodies = match types.at.get("") {
        Some(FieldType::Enum(kinds)) => {
            kinds.iter().map(|kind| types.body(&format!("/={kind}"), Some(kind))).collect()
        }
        _ => vec![types.body("", None)],
    };
    forms::document(&bodies, Vec::new())
}

impl TracedTypes {
    /// The fields of the type at a path.
    fn body(&self, path: &str, kind: Option<&str>) -> Body {
        let field_type = self.at.get(path);
        let names: &[&'static str] = match field_type {
            Some(FieldType::Struct(names)) => names,
            _ => &[],
        };
        let more = match field_type {
            Some(FieldType::Struct(_)) | None => Value::Bool(false),
            Some(FieldType::Map) => self.schema(&format!("{path}/*")),
            Some(_) => Value::Bool(true),
        };
        let field = |name: &&'static str| ((*name).to_owned(), self.field(path, name));
        Body {
            kind: kind.map(str::to_owned),
            description: None,
            properties: names.iter().map(field).collect(),
            required: self.required(path, names).into_iter().map(str::to_owned).collect(),
            more,
        }
    }

    fn required(&self, path: &str, names: &[&'static str]) -> Vec<&'static str> {
        let is_required = |name: &&&'static str| self.required.contains(&format!("{path}/{name}"));
        names.iter().filter(is_required).copied().collect()
    }

    fn field(&self, path: &str, name: &str) -> Value<'static> {
        let path = format!("{path}/{name}");
        if self.aliases.contains(&path) { mapping(Vec::new()) } else { self.schema(&path) }
    }

    fn schema(&self, path: &str) -> Value<'static> {
        let schema = self.schema_of_value(path);
        if self.nullable.contains(path) { or_null(schema) } else { schema }
    }

    fn schema_of_value(&self, path: &str) -> Value<'static> {
        let typed = |name: &'static str| vec![("type", text(name))];
        mapping(match self.at.get(path) {
            None | Some(FieldType::Any) => Vec::new(),
            Some(FieldType::Bool) => typed("boolean"),
            Some(FieldType::Number) => typed("number"),
            Some(FieldType::String) => typed("string"),
            Some(FieldType::Integer(least, most)) => {
                let mut entries = typed("integer");
                let number = |number: &i128| Value::Number(number.to_string().into());
                entries.extend(least.as_ref().map(|it| ("minimum", number(it))));
                entries.extend(most.as_ref().map(|it| ("maximum", number(it))));
                entries
            }
            Some(FieldType::Sequence) => {
                [typed("array"), vec![("items", self.schema(&format!("{path}/#")))]].concat()
            }
            Some(FieldType::Map) => {
                let values = self.schema(&format!("{path}/*"));
                [typed("object"), vec![("additionalProperties", values)]].concat()
            }
            Some(FieldType::Struct(names)) => {
                let fields = names.iter().map(|name| (*name, self.field(path, name)));
                let required = self.required(path, names);
                return mapping(object(fields.collect(), &required, Value::Bool(false)));
            }
            Some(FieldType::Enum(names)) => return self.variants(path, names),
        })
    }

    fn variants(&self, path: &str, names: &[&'static str]) -> Value<'static> {
        let has_content = |name: &str| self.with_content.contains(&format!("{path}/={name}"));
        let (with_content, bare): (Vec<&'static str>, Vec<&'static str>) =
            names.iter().partition(|name| has_content(name));
        let names = Value::Sequence(bare.iter().map(|name| text(name)).collect());
        let names = mapping(vec![("type", text("string")), ("enum", names)]);
        if with_content.is_empty() {
            return names;
        }
        let content = |name: &&'static str| {
            let content = self.schema(&format!("{path}/={name}"));
            mapping(object(vec![(*name, content)], &[*name], Value::Bool(false)))
        };
        let mut all: Vec<Value<'static>> = with_content.iter().map(content).collect();
        if !bare.is_empty() {
            all.insert(0, names);
        }
        mapping(vec![("oneOf", Value::Sequence(all))])
    }
}

fn object(
    properties: Vec<(&'static str, Value<'static>)>,
    required: &[&'static str],
    more: Value<'static>,
) -> Vec<(&'static str, Value<'static>)> {
    let mut entries = vec![("type", text("object")), ("properties", mapping(properties))];
    if !required.is_empty() {
        let names = required.iter().map(|name| text(name)).collect();
        entries.push(("required", Value::Sequence(names)));
    }
    entries.push(("additionalProperties", more));
    entries
}

/// The schema, with null as another value. A schema without a type and alternatives accepts null already.
fn or_null(mut schema: Value<'static>) -> Value<'static> {
    let Value::Mapping(entries) = &mut schema else { return schema };
    for (keyword, content) in entries {
        match (keyword, content) {
            (Value::String(name), types) if *name == "type" => {
                *types = Value::Sequence(vec![types.clone(), text("null")]);
            }
            (Value::String(name), Value::Sequence(names)) if *name == "enum" => {
                names.push(Value::Null);
            }
            (Value::String(name), Value::Sequence(schemas)) if *name == "oneOf" => {
                schemas.push(mapping(vec![("type", text("null"))]));
            }
            _ => {}
        }
    }
    schema
}

fn text(text: &'static str) -> Value<'static> {
    Value::from(text)
}

fn mapping(entries: Vec<(&'static str, Value<'static>)>) -> Value<'static> {
    Value::Mapping(entries.into_iter().map(|(name, value)| (Value::from(name), value)).collect())
}
