//! `List`: setters and substitutions with every field that they reach.

use std::collections::BTreeMap;

use krm_yaml::Value;

use super::definition::{Setter, SetterSource, SetterValue, Substitution};
use super::definitions::Definition;
use super::fields::SetterField;
use super::reference::{Reference, ReferenceTarget};
use super::{ReferenceSyntax, Setters};
use crate::print::Record;

/// Lists what a package has.
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

/// What a package has.
#[derive(Debug, Default)]
pub struct SetterList<'s, 'a> {
    /// The setters in the order of their names.
    pub setters: Vec<ListedSetter<'s, 'a>>,
    /// The substitutions in the order of their names.
    pub substitutions: Vec<&'s Substitution<'a>>,
    /// What other tools set, by what they call it.
    pub foreign: BTreeMap<String, Vec<&'s SetterField<'a>>>,
}

/// A setter and the fields that a `set` would write.
#[derive(Debug)]
pub struct ListedSetter<'s, 'a> {
    /// The setter.
    pub setter: &'s Setter<'a>,
    /// The fields that follow it, through substitutions, too.
    pub fields: Vec<&'s SetterField<'a>>,
}

impl ListSetters {
    /// What a package has.
    pub fn compute<'s, 'a>(&self, setters: &'s Setters<'a>) -> SetterList<'s, 'a> {
        let mut reached: BTreeMap<String, Vec<&'s SetterField<'a>>> = BTreeMap::new();
        let mut listed = SetterList::default();
        for field in setters.fields() {
            if let ReferenceTarget::Foreign(name) = &field.reference.target {
                listed.foreign.entry(name.clone()).or_default().push(field);
            }
            for name in setters.definitions().followed(&field.reference) {
                reached.entry(name).or_default().push(field);
            }
        }
        let is_meant = |name: &str| self.name.as_deref().is_none_or(|wanted| wanted == name);
        for setter in setters.definitions().setters().filter(|setter| is_meant(&setter.name)) {
            let fields = reached.remove(&setter.name).unwrap_or_default();
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
        listed.foreign.retain(|name, _| is_meant(name));
        listed
    }
}

/// Whether a substitution changes with a setter.
fn uses(setters: &Setters<'_>, substitution: &Substitution<'_>, name: &str) -> bool {
    let target = ReferenceTarget::Substitution(substitution.name.clone());
    let reference = Reference { form: ReferenceSyntax::Ref, target, range: 0..0 };
    setters.definitions().followed(&reference).contains(name)
}

impl ListedSetter<'_, '_> {
    /// The setter as data, with every place that it touches.
    pub fn record(&self) -> Record<'static> {
        let setter = self.setter;
        let text = |text: &Option<String>| Value::string(text.clone().unwrap_or_default());
        let value = match &setter.value {
            SetterValue::Unset => Value::Null,
            SetterValue::Text(text) => Value::string(text.clone()),
            SetterValue::List(items) => {
                Value::Sequence(items.iter().map(|item| Value::string(item.clone())).collect())
            }
        };
        let home = match setter.source {
            SetterSource::OpenApi { .. } => "openapi",
            SetterSource::FunctionConfig { .. } => "function",
            SetterSource::FieldsOnly => "fields",
        };
        vec![
            ("name", Value::string(setter.name.clone())),
            ("value", value),
            ("type", Value::from(setter.schema_type().unwrap_or_default())),
            ("setBy", text(&setter.set_by)),
            ("description", text(&setter.description)),
            ("count", count(self.fields.len())),
            ("required", Value::Bool(setter.required)),
            ("isSet", Value::Bool(setter.is_set)),
            ("home", Value::from(home)),
            (
                "defined",
                setter.location.map_or(Value::Null, |location| Value::string(location.to_string())),
            ),
            ("fields", fields_to_value(&self.fields)),
        ]
    }
}

/// A number of things.
fn count(count: usize) -> Value<'static> {
    Value::int(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Fields as data: where they stand, and what.
pub fn fields_to_value(fields: &[&SetterField<'_>]) -> Value<'static> {
    let entry = |name: &'static str, value: Value<'static>| (Value::from(name), value);
    let location = |field: &&SetterField<'_>| {
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
    Value::Sequence(fields.iter().map(location).collect())
}

/// The names that a substitution is made of, in order.
pub fn referenced_names(substitution: &Substitution<'_>, setters: &Setters<'_>) -> Vec<String> {
    let name = |target: &ReferenceTarget| match setters.definitions().get(target) {
        Some(Definition::Setter(setter)) => setter.name.clone(),
        Some(Definition::Substitution(inner)) => inner.name.clone(),
        None => String::new(),
    };
    substitution.values.iter().map(|value| name(&value.target)).collect()
}
