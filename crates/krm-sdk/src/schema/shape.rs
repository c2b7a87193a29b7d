//! What a type wants, and how that is said in JSON Schema.

use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::Value;

/// What is wanted at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Any,
    Bool,
    Integer(Option<i128>, Option<i128>),
    Number,
    Text,
    /// Elements are at `PATH/#`.
    List,
    /// Values are at `PATH/*`.
    Map,
    /// Fields are at `PATH/NAME`.
    Struct(Vec<&'static str>),
    /// The content of a variant is at `PATH/=NAME`.
    Enum(Vec<&'static str>),
}

/// What is wanted everywhere, by path.
#[derive(Clone, Debug, Default)]
pub(super) struct Shapes {
    pub(super) at: BTreeMap<String, Shape>,
    /// Fields that must be there, as paths.
    pub(super) required: BTreeSet<String>,
    /// Second names of fields.
    pub(super) aliases: BTreeSet<String>,
    /// Variants that hold something.
    pub(super) filled: BTreeSet<String>,
}

/// The schema of a resource that holds what is wanted at the root.
pub(super) fn document(shapes: &Shapes) -> Value<'static> {
    let dialect = ("$schema", text("https://json-schema.org/draft/2020-12/schema"));
    let Some(Shape::Enum(kinds)) = shapes.at.get("") else {
        let mut entries = vec![dialect];
        entries.extend(resource(shapes, "", None));
        return mapping(entries);
    };
    let kinds =
        kinds.iter().map(|kind| mapping(resource(shapes, &format!("/={kind}"), Some(kind))));
    mapping(vec![dialect, ("oneOf", Value::Sequence(kinds.collect()))])
}

/// A resource with the fields at a path beside its own.
fn resource(
    shapes: &Shapes,
    path: &str,
    kind: Option<&'static str>,
) -> Vec<(&'static str, Value<'static>)> {
    let own = || mapping(vec![("type", text("string"))]);
    let kind = kind.map_or_else(own, |kind| mapping(vec![("const", text(kind))]));
    let metadata = mapping(vec![("type", text("object"))]);
    let frame = [("apiVersion", own()), ("kind", kind), ("metadata", metadata)];
    let names: &[&'static str] = match shapes.at.get(path) {
        Some(Shape::Struct(names)) => names,
        _ => &[],
    };
    let is_own = |name: &str| !names.contains(&name);
    let mut properties: Vec<(&'static str, Value<'static>)> =
        frame.into_iter().filter(|(name, _)| is_own(name)).collect();
    properties.extend(names.iter().map(|name| (*name, shapes.field(path, name))));
    let mut required = vec!["apiVersion", "kind"];
    required.extend(shapes.required(path, names));
    let more = match shapes.at.get(path) {
        Some(Shape::Struct(_)) | None => Value::Bool(false),
        Some(Shape::Map) => shapes.schema(&format!("{path}/*")),
        Some(_) => Value::Bool(true),
    };
    object(properties, &required, more)
}

impl Shapes {
    fn required(&self, path: &str, names: &[&'static str]) -> Vec<&'static str> {
        let is_required = |name: &&&'static str| self.required.contains(&format!("{path}/{name}"));
        names.iter().filter(is_required).copied().collect()
    }

    fn field(&self, path: &str, name: &str) -> Value<'static> {
        let path = format!("{path}/{name}");
        if self.aliases.contains(&path) { mapping(Vec::new()) } else { self.schema(&path) }
    }

    fn schema(&self, path: &str) -> Value<'static> {
        let typed = |name: &'static str| vec![("type", text(name))];
        mapping(match self.at.get(path) {
            None | Some(Shape::Any) => Vec::new(),
            Some(Shape::Bool) => typed("boolean"),
            Some(Shape::Number) => typed("number"),
            Some(Shape::Text) => typed("string"),
            Some(Shape::Integer(least, most)) => {
                let mut entries = typed("integer");
                let number = |number: &i128| Value::Number(number.to_string().into());
                entries.extend(least.as_ref().map(|it| ("minimum", number(it))));
                entries.extend(most.as_ref().map(|it| ("maximum", number(it))));
                entries
            }
            Some(Shape::List) => {
                [typed("array"), vec![("items", self.schema(&format!("{path}/#")))]].concat()
            }
            Some(Shape::Map) => {
                let values = self.schema(&format!("{path}/*"));
                [typed("object"), vec![("additionalProperties", values)]].concat()
            }
            Some(Shape::Struct(names)) => {
                let fields = names.iter().map(|name| (*name, self.field(path, name)));
                let required = self.required(path, names);
                return mapping(object(fields.collect(), &required, Value::Bool(false)));
            }
            Some(Shape::Enum(names)) => return self.variants(path, names),
        })
    }

    fn variants(&self, path: &str, names: &[&'static str]) -> Value<'static> {
        let is_filled = |name: &str| self.filled.contains(&format!("{path}/={name}"));
        let (filled, bare): (Vec<&'static str>, Vec<&'static str>) =
            names.iter().partition(|name| is_filled(name));
        let words = Value::Sequence(bare.iter().map(|name| text(name)).collect());
        let words = mapping(vec![("type", text("string")), ("enum", words)]);
        if filled.is_empty() {
            return words;
        }
        let content = |name: &&'static str| {
            let content = self.schema(&format!("{path}/={name}"));
            mapping(object(vec![(*name, content)], &[*name], Value::Bool(false)))
        };
        let mut all: Vec<Value<'static>> = filled.iter().map(content).collect();
        if !bare.is_empty() {
            all.insert(0, words);
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

fn text(text: &'static str) -> Value<'static> {
    Value::from(text)
}

fn mapping(entries: Vec<(&'static str, Value<'static>)>) -> Value<'static> {
    Value::Mapping(entries.into_iter().map(|(name, value)| (Value::from(name), value)).collect())
}
