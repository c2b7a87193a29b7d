//! `SetValues`: sets setters and updates every field that follows them.

use std::collections::BTreeMap;

use krm_yaml::{NodeRef, ScalarType, Value};

use super::changes::{Changes, EditOp};
use super::definition::{Setter, SetterSource, SetterValue, warning_at};
use super::fields::SetterField;
use super::function_config::{ListStyle, config_string, format_list, parse_scalar_list};
use super::kinds::SetterKind;
use super::reference::ReferenceTarget;
use super::resolve::{FieldResolver, Values};
use super::typed_value::{NewItems, typed_value};
use super::update_definition::{set_string, update_setter};
use super::{Setters, new_definition, validate};
use crate::Diagnostic;

/// Sets the values of setters.
///
/// Everything is validated before anything changes: all values against the schemas of their setters, and whether every
/// field can have its new value.
///
/// ```
/// use krm_core::setters::{SetValues, Setters};
/// use krm_core::{Package, PackageFile};
///
/// let package = Package::new(vec![
///     PackageFile::from_text("Krmfile", r##"
/// apiVersion: config.k8s.io/v1alpha1
/// kind: Krmfile
/// openAPI:
///   definitions:
///     io.k8s.cli.setters.image-name: {x-k8s-cli: {setter: {name: image-name, value: nginx}}}
///     io.k8s.cli.setters.image-tag: {x-k8s-cli: {setter: {name: image-tag, value: 1.8.1}}}
///     io.k8s.cli.substitutions.image-name-tag:
///       x-k8s-cli:
///         substitution:
///           name: image-name-tag
///           pattern: IMAGE_NAME:IMAGE_TAG
///           values:
///           - {marker: IMAGE_NAME, ref: '#/definitions/io.k8s.cli.setters.image-name'}
///           - {marker: IMAGE_TAG, ref: '#/definitions/io.k8s.cli.setters.image-tag'}
/// "##)?,
///     PackageFile::from_text("deployment.yaml", r##"- name: nginx
///   image: nginx:1.8.1 # {"$ref": "#/definitions/io.k8s.cli.substitutions.image-name-tag"}
/// "##)?,
/// ]);
/// let done = SetValues::new("image-tag").to("1.8.2").compute(&Setters::read(&package)).expect("the value is valid");
/// let texts = done.changes.texts().expect("the files can be edited");
/// assert!(texts[1].1.contains("image: nginx:1.8.2 # {"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SetValues {
    /// Names with values; without a value the one of the definition is applied.
    assignments: Vec<(String, Option<Vec<String>>)>,
    /// Values of setters that another package defines, for patterns that have both.
    elsewhere: Values,
    set_by: Option<String>,
    description: Option<String>,
    allow_shared: bool,
}

/// The result of [`SetValues`].
#[derive(Debug, Default)]
pub struct SetResult<'a> {
    /// The edits.
    pub changes: Changes<'a>,
    /// The number of fields that follow each setter.
    pub counts: BTreeMap<String, usize>,
    /// Schema keywords that are not checked, and fields whose type changes.
    pub warnings: Vec<Diagnostic>,
    /// Warnings for the setters that no field follows, by name.
    pub unused: Vec<(String, Diagnostic)>,
}

impl SetResult<'_> {
    /// The number of fields that were set; a field that follows two setters counts twice.
    pub fn fields(&self) -> usize {
        self.counts.values().sum()
    }
}

impl SetValues {
    /// Applies the value of the definition, unless [`SetValues::to`] gives another one.
    pub fn new(name: impl Into<String>) -> Self {
        Self { assignments: vec![(name.into(), None)], ..Self::default() }
    }

    /// The value of the setter that was named last.
    #[must_use]
    pub fn to(self, value: impl Into<String>) -> Self {
        self.to_all(vec![value.into()])
    }

    /// The values of the setter that was named last; several for a list.
    #[must_use]
    pub fn to_all(mut self, values: Vec<String>) -> Self {
        if let Some((_, last)) = self.assignments.last_mut() {
            *last = Some(values);
        }
        self
    }

    /// Names another setter.
    #[must_use]
    pub fn and(mut self, name: impl Into<String>) -> Self {
        self.assignments.push((name.into(), None));
        self
    }

    /// A value that is set in another package at the same time. Fields whose patterns also name that setter get it, too.
    #[must_use]
    pub fn and_elsewhere(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.elsewhere.insert(name.into(), SetterValue::Scalar(value.into()));
        self
    }

    /// Records who sets the values; none removes who set them before.
    #[must_use]
    pub fn set_by(mut self, who: Option<String>) -> Self {
        self.set_by = who;
        self
    }

    /// A new description for the definitions.
    #[must_use]
    pub fn description(mut self, description: Option<String>) -> Self {
        self.description = description;
        self
    }

    /// Allows edits of anchored values, which change every alias of them.
    #[must_use]
    pub fn allow_shared(mut self, allow: bool) -> Self {
        self.allow_shared = allow;
        self
    }

    /// Computes the changes in a package, or all errors.
    pub fn compute<'a>(&self, setters: &Setters<'a>) -> Result<SetResult<'a>, Vec<Diagnostic>> {
        setters.check()?;
        let mut errors = Vec::new();
        let mut result = SetResult::default();
        result.changes.allow_shared(self.allow_shared);
        let mut values = Values::new();
        for (name, given) in &self.assignments {
            let Some(setter) = setters.definitions().setter(name) else {
                errors.push(not_settable(name, setters));
                continue;
            };
            match new_value(setter, given.as_deref()) {
                Ok(value) => {
                    let checked = validate::check(setter, &value);
                    errors.extend(checked.errors);
                    result.warnings.extend(checked.warnings);
                    if values.insert(name.clone(), value).is_some() {
                        errors.push(Diagnostic::error(SetterKind::SetTwice { name: name.clone() }));
                    }
                }
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() {
            errors.extend(self.update_definitions(setters, &values, &mut result).err());
            errors.extend(self.update_fields(setters, &values, &mut result));
            result.unused = unused(setters, &result.counts);
        }
        if errors.is_empty() { Ok(result) } else { Err(errors) }
    }

    /// Writes the values to their definitions.
    fn update_definitions<'a>(
        &self,
        setters: &Setters<'a>,
        values: &Values,
        result: &mut SetResult<'a>,
    ) -> Result<(), Diagnostic> {
        let mut undefined = Vec::new();
        for (name, given) in &self.assignments {
            let setter = setters.definitions().setter(name).filter(|_| given.is_some());
            let (Some(setter), Some(value)) = (setter, values.get(name)) else { continue };
            match (setter.source, setter.location) {
                (SetterSource::OpenApi { definition, setter: node }, Some(location)) => {
                    let mut ops = update_setter(node, value, self.set_by.as_deref());
                    ops.extend(self.description.as_ref().map(|text| {
                        set_string(definition, "description", text, &["type", "description"])
                    }));
                    ops.into_iter().for_each(|op| result.changes.add_at(location.file, node, op));
                }
                (SetterSource::FunctionConfig { value: node }, Some(location)) => {
                    let op = match (value, node.as_sequence()) {
                        (SetterValue::List(items), Some(_)) => {
                            EditOp::SetItems(node, NewItems::Texts(items.clone(), None))
                        }
                        (SetterValue::List(items), None) => {
                            let old = node.as_scalar().map(|it| it.value()).unwrap_or_default();
                            let style = ListStyle::of_fields(&old, field_nodes(setters, name));
                            EditOp::Set(node, Value::string(format_list(items, &style)))
                        }
                        _ => EditOp::Set(node, typed_value(node, &value.to_string(), None)),
                    };
                    result.changes.add_at(location.file, node, op);
                }
                _ => {
                    let value = config_string(value, field_nodes(setters, name));
                    undefined.push((name.clone(), value));
                }
            }
        }
        // A setter that only fields name gets a definition if the package already calls apply-setters.
        if setters.functions.is_empty() {
            return Ok(());
        }
        new_definition::define_in_function(setters, &undefined, &mut result.changes)
    }

    /// Updates every field that follows one of the setters.
    fn update_fields<'a>(
        &self,
        setters: &Setters<'a>,
        values: &Values,
        result: &mut SetResult<'a>,
    ) -> Vec<Diagnostic> {
        let mut errors = Vec::new();
        let mut all = self.elsewhere.clone();
        all.extend(values.iter().map(|(name, value)| (name.clone(), value.clone())));
        let mut resolver = FieldResolver::new(setters.definitions(), &all);
        result.counts = values.keys().map(|name| (name.clone(), 0)).collect();
        for field in setters.reached_fields() {
            let mut is_affected = false;
            for name in setters.setters_of(field) {
                if let Some(count) = result.counts.get_mut(&name) {
                    *count += 1;
                    is_affected = true;
                }
            }
            if !is_affected {
                continue;
            }
            match resolver.resolve(field) {
                Ok(op) => {
                    result.warnings.extend(type_change(field, &op));
                    result.changes.add_at(field.file, field.node, op);
                }
                // Every further field would be the same error.
                Err(error) if matches!(error.kind(), Some(SetterKind::ValuesTooLarge { .. })) => {
                    return vec![error];
                }
                Err(error) => errors.push(error),
            }
        }
        errors
    }
}

/// The values of the fields that follow a setter.
fn field_nodes<'a>(setters: &Setters<'a>, name: &str) -> Vec<NodeRef<'a>> {
    setters.fields_of(name).into_iter().map(|field| field.node).collect()
}

/// The value that a setter gets.
fn new_value(setter: &Setter<'_>, given: Option<&[String]>) -> Result<SetterValue, Diagnostic> {
    let error = |kind: SetterKind| match setter.location {
        Some(location) => location.error(kind),
        None => Diagnostic::error(kind),
    };
    let name = setter.name.clone();
    match given {
        None if setter.required && !setter.is_set => {
            Err(error(SetterKind::RequiredNotSet { name }))
        }
        None if setter.value == SetterValue::Unset => Err(error(SetterKind::NoValue { name })),
        None => Ok(setter.value.clone()),
        Some(values) if setter.is_list() => Ok(SetterValue::List(list_items(setter, values))),
        Some([one]) => Ok(SetterValue::Scalar(one.clone())),
        Some(values) => match (&setter.source, &setter.value) {
            (SetterSource::FunctionConfig { .. }, old) => {
                let old = old.to_string();
                Ok(SetterValue::Scalar(format_list(values, &ListStyle::of_fields(&old, []))))
            }
            (_, SetterValue::Scalar(_)) => {
                Err(error(SetterKind::SingleValue { name, count: values.len() }))
            }
            _ => Ok(SetterValue::List(values.to_vec())),
        },
    }
}

/// The items of a list. In the kpt dialect they may be given as one string, as the functionConfig has them.
fn list_items(setter: &Setter<'_>, values: &[String]) -> Vec<String> {
    let parsed = match (&setter.source, values) {
        (SetterSource::FunctionConfig { .. }, [one]) => parse_scalar_list(one),
        _ => None,
    };
    parsed.unwrap_or_else(|| values.to_vec())
}

/// Warnings for the setters that no field follows.
fn unused(setters: &Setters<'_>, counts: &BTreeMap<String, usize>) -> Vec<(String, Diagnostic)> {
    let warning = |name: &String| {
        let kind = SetterKind::NoFields { name: name.clone() };
        match setters.definitions().setter(name).and_then(|it| it.location) {
            Some(location) => warning_at(location.file, location.node.full_span(), kind),
            None => Diagnostic::warning(kind),
        }
    };
    let unused = counts.iter().filter(|(_, count)| **count == 0);
    unused.map(|(name, _)| (name.clone(), warning(name))).collect()
}

/// A warning if a number or boolean becomes a string.
pub(super) fn type_change(field: &SetterField<'_>, op: &EditOp<'_>) -> Option<Diagnostic> {
    let EditOp::Set(node, Value::String(text)) = op else { return None };
    let was = match node.as_scalar()?.resolve() {
        ScalarType::Int(_) | ScalarType::Float(_) => "number",
        ScalarType::Bool(_) => "boolean",
        _ => return None,
    };
    let kind = SetterKind::TypeChanged { was, value: text.to_string().into() };
    Some(warning_at(field.file, field.node.full_span(), kind))
}

/// The error for a name that is a substitution, or that is not defined.
pub(super) fn not_settable(name: &str, setters: &Setters<'_>) -> Diagnostic {
    let definitions = setters.definitions();
    if let Some(substitution) = definitions.substitution(name) {
        let target = ReferenceTarget::Substitution(name.to_owned());
        let setters: Vec<String> = definitions.setters_of_target(&target).into_iter().collect();
        let (name, setters) = (name.to_owned(), setters.join(" or "));
        return substitution.location.error(SetterKind::IsSubstitution { name, setters });
    }
    let names: Vec<&str> = definitions.setters().map(|setter| setter.name.as_str()).collect();
    let error = Diagnostic::error(SetterKind::NotDefined { target: format!("setter `{name}`") });
    match names.is_empty() {
        true => error.hint("define it with `krm cfg create-setter`"),
        false => error.hint(format!("defined setters: {}", names.join(", "))),
    }
}
