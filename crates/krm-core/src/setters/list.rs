//! `ListSetters`: lists setters and substitutions, with the fields that follow them.

use std::collections::BTreeMap;

use krm_yaml::Value;

use super::Setters;
use super::definition::{Setter, SetterSource, SetterValue, Substitution};
use super::definitions::Definition;
use super::fields::SetterField;
use super::reference::ReferenceTarget;
use crate::print::Record;

/// Lists the setters and substitutions of a package.
///
/// ```
/// use krm_core::setters::{ListSetters, Setters};
/// use krm_core::{Package, PackageFile};
///
/// let package = Package::new(vec![
///     PackageFile::from_text("Krmfile",
///       "openAPI:\n  definitions:\n    io.k8s.cli.setters.replicas: {x-k8s-cli: {setter: {name: replicas, value: '4'}}}\n")?,
///     PackageFile::from_text("a.yaml", "replicas: 4 # {\"$openapi\":\"replicas\"}\n")?,
/// ]);
/// let setters = Setters::read(&package);
/// let listed = ListSetters::default().compute(&setters);
/// assert_eq!(listed.setters[0].fields[0].location().to_string(), "a.yaml:1:11");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ListSetters {
    /// Only the setter of this name.
    pub name: Option<String>,
    /// Only setters that no field follows.
    pub unused: bool,
}

/// The result of [`ListSetters`].
#[derive(Debug, Default)]
pub struct SetterList<'s, 'a> {
    /// The setters, sorted by name.
    pub setters: Vec<ListedSetter<'s, 'a>>,
    /// The substitutions, sorted by name.
    pub substitutions: Vec<&'s Substitution<'a>>,
    /// The fields that other tools set, by the name that those use.
    pub foreign: BTreeMap<String, Vec<&'s SetterField<'a>>>,
}

/// A setter with the fields that setting it would change.
#[derive(Debug)]
pub struct ListedSetter<'s, 'a> {
    /// The setter.
    pub setter: &'s Setter<'a>,
    /// The fields that follow it, directly or through substitutions.
    pub fields: Vec<&'s SetterField<'a>>,
}

impl ListSetters {
    /// Lists the setters of a package.
    pub fn compute<'s, 'a>(&self, setters: &'s Setters<'a>) -> SetterList<'s, 'a> {
        let mut fields_by_setter: BTreeMap<String, Vec<&'s SetterField<'a>>> = BTreeMap::new();
        let mut listed = SetterList::default();
        for field in setters.reached_fields() {
            if let ReferenceTarget::Foreign(name) = &field.reference.target {
                listed.foreign.entry(name.clone()).or_default().push(field);
            }
            for name in setters.setters_of(field) {
                fields_by_setter.entry(name).or_default().push(field);
            }
        }
        let is_selected = |name: &str| self.name.as_deref().is_none_or(|selected| selected == name);
        for setter in setters.definitions().setters().filter(|setter| is_selected(&setter.name)) {
            let fields = fields_by_setter.remove(&setter.name).unwrap_or_default();
            if !self.unused || fields.is_empty() {
                listed.setters.push(ListedSetter { setter, fields });
            }
        }
        if self.unused {
            listed.foreign.clear();
        }
        let follows = |it: &&Substitution<'a>| {
            self.name.as_deref().is_none_or(|name| it.name == name || uses(setters, it, name))
        };
        listed.substitutions = setters.definitions().substitutions().filter(follows).collect();
        listed.foreign.retain(|name, _| is_selected(name));
        listed
    }
}

/// Whether a substitution depends on a setter.
fn uses(setters: &Setters<'_>, substitution: &Substitution<'_>, name: &str) -> bool {
    let target = ReferenceTarget::Substitution(substitution.name.clone());
    setters.definitions().setters_of_target(&target).contains(name)
}

impl ListedSetter<'_, '_> {
    /// The setter as a record for machine-readable output, with the location of every field.
    pub fn record(&self) -> Record<'static> {
        let setter = self.setter;
        let string = |text: &Option<String>| Value::string(text.clone().unwrap_or_default());
        let value = match &setter.value {
            SetterValue::Unset => Value::Null,
            SetterValue::Scalar(text) => Value::string(text.clone()),
            SetterValue::List(items) => {
                Value::Sequence(items.iter().map(|item| Value::string(item.clone())).collect())
            }
        };
        let source = match setter.source {
            SetterSource::OpenApi { .. } => "openapi",
            SetterSource::FunctionConfig { .. } => "function",
            SetterSource::FieldsOnly => "fields",
        };
        vec![
            ("name", Value::string(setter.name.clone())),
            ("value", value),
            ("type", Value::from(setter.schema_type().unwrap_or_default())),
            ("setBy", string(&setter.set_by)),
            ("description", string(&setter.description)),
            ("count", count(self.fields.len())),
            ("required", Value::Bool(setter.required)),
            ("isSet", Value::Bool(setter.is_set)),
            ("home", Value::from(source)),
            (
                "defined",
                setter.location.map_or(Value::Null, |location| Value::string(location.to_string())),
            ),
            ("fields", fields_to_value(&self.fields)),
        ]
    }
}

fn count(count: usize) -> Value<'static> {
    Value::int(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Fields as data for machine-readable output: location, path and reference.
pub fn fields_to_value(fields: &[&SetterField<'_>]) -> Value<'static> {
    let entry = |name: &'static str, value: Value<'static>| (Value::from(name), value);
    let value = |field: &&SetterField<'_>| {
        let at = field.node.position();
        Value::Mapping(vec![
            entry("file", Value::string(field.file.display_path.clone())),
            entry("line", Value::int(at.line.into())),
            entry("column", Value::int(at.column.into())),
            entry("field", Value::string(field.node.path().to_string())),
            entry(
                "reference",
                Value::string(field.comment.text[field.reference.range.clone()].to_owned()),
            ),
        ])
    };
    Value::Sequence(fields.iter().map(value).collect())
}

/// The names of the setters and substitutions that a substitution uses, in order.
pub fn referenced_names(substitution: &Substitution<'_>, setters: &Setters<'_>) -> Vec<String> {
    let name = |target: &ReferenceTarget| match setters.definitions().get(target) {
        Some(Definition::Setter(setter)) => setter.name.clone(),
        Some(Definition::Substitution(inner)) => inner.name.clone(),
        None => String::new(),
    };
    substitution.values.iter().map(|value| name(&value.target)).collect()
}
