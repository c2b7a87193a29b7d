//! `Set`: setters get values, and every field that follows them is written.

use std::collections::BTreeMap;

use krm_yaml::{ScalarType, Value};

use super::changes::{Changes, Op};
use super::definition::{Setter, SetterSource, SetterValue, warning_at};
use super::fields::SetterField;
use super::resolve::{FieldResolver, Values};
use super::update_definition::{definition_ops, text, text_op};
use super::{Setters, function_config, new_definition, typed_value, validate};
use crate::Diagnostic;

/// Gives setters values.
///
/// All of it is checked before anything changes: the types, words, patterns and bounds of the values, and that every
/// field can take them.
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
/// let done = SetValues::new("image-tag").to("1.8.2").compute(&Setters::read(&package)).expect("it can be set");
/// let texts = done.changes.texts().expect("the files can be edited");
/// assert!(texts[1].1.contains("image: nginx:1.8.2 # {"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SetValues {
    /// Names with values; without a value the one that stands in the definition is applied.
    assignments: Vec<(String, Option<Vec<String>>)>,
    set_by: Option<String>,
    description: Option<String>,
    shared: bool,
}

/// What setting comes to.
#[derive(Debug)]
pub struct SetResult<'a> {
    /// What changes.
    pub changes: Changes<'a>,
    /// How many fields follow each setter that was set.
    pub counts: BTreeMap<String, usize>,
    /// Rules that were not checked.
    pub warnings: Vec<Diagnostic>,
}

impl SetResult<'_> {
    /// How many fields follow the setters that were set; a field that follows two of them counts twice.
    pub fn fields(&self) -> usize {
        self.counts.values().sum()
    }
}

impl SetValues {
    /// Applies the value that stands in the definition, unless [`SetValues::to`] gives one.
    pub fn new(name: impl Into<String>) -> Self {
        Self { assignments: vec![(name.into(), None)], ..Self::default() }
    }

    /// Gives the setter named last one value.
    #[must_use]
    pub fn to(self, value: impl Into<String>) -> Self {
        self.to_all(vec![value.into()])
    }

    /// Gives the setter named last one value, or several for a list.
    #[must_use]
    pub fn to_all(mut self, values: Vec<String>) -> Self {
        if let Some((_, last)) = self.assignments.last_mut() {
            *last = Some(values);
        }
        self
    }

    /// Names one more setter.
    #[must_use]
    pub fn and(mut self, name: impl Into<String>) -> Self {
        self.assignments.push((name.into(), None));
        self
    }

    /// Notes who set them; without it what is noted stays.
    #[must_use]
    pub fn by(mut self, who: Option<String>) -> Self {
        self.set_by = who;
        self
    }

    /// Gives the definitions a new description.
    #[must_use]
    pub fn described(mut self, words: Option<String>) -> Self {
        self.description = words;
        self
    }

    /// Allows to change fields that aliases share.
    #[must_use]
    pub fn allow_shared(mut self, allow: bool) -> Self {
        self.shared = allow;
        self
    }

    /// What it comes to in a package; nothing where a value, a definition or a field stands in the way.
    pub fn compute<'a>(&self, setters: &Setters<'a>) -> Result<SetResult<'a>, Vec<Diagnostic>> {
        if !setters.errors().is_empty() {
            return Err(setters.errors().to_vec());
        }
        let mut errors = Vec::new();
        let mut done = SetResult {
            changes: Changes::default(),
            counts: BTreeMap::new(),
            warnings: Vec::new(),
        };
        done.changes.allow_shared(self.shared);
        let mut values = Values::new();
        for (name, given) in &self.assignments {
            let Some(setter) = setters.definitions().setter(name) else {
                errors.push(unknown(name, setters));
                continue;
            };
            match self.value(setter, given.as_deref()) {
                Ok(value) => {
                    let checked = validate::check(setter, &value);
                    errors.extend(checked.errors);
                    done.warnings.extend(checked.warnings);
                    if values.insert(name.clone(), value).is_some() {
                        errors.push(Diagnostic::untyped_error(format!(
                            "the setter `{name}` is set twice"
                        )));
                    }
                }
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() {
            errors.extend(self.define(setters, &values, &mut done).err());
            errors.extend(write_fields(setters, &values, &mut done));
        }
        if errors.is_empty() { Ok(done) } else { Err(errors) }
    }

    /// The value that a setter gets.
    fn value(
        &self,
        setter: &Setter<'_>,
        given: Option<&[String]>,
    ) -> Result<SetterValue, Diagnostic> {
        let error = |words: String| match setter.location {
            Some(location) => location.error(words),
            None => Diagnostic::untyped_error(words),
        };
        let name = &setter.name;
        match given {
            None if setter.required && !setter.is_set => {
                let words = format!("the setter `{name}` is required and was never set");
                Err(error(words).hint(format!("give it a value: `krm cfg set DIR {name} VALUE`")))
            }
            None if setter.value == SetterValue::Unset => {
                Err(error(format!("the setter `{name}` has no value to apply")))
            }
            None => Ok(setter.value.clone()),
            Some(values) if setter.is_list() => Ok(SetterValue::List(items(setter, values))),
            Some([one]) => Ok(SetterValue::Text(one.clone())),
            Some(values) => match (&setter.source, &setter.value) {
                (SetterSource::FunctionConfig { .. }, old) => {
                    Ok(SetterValue::Text(function_config::list_text(values, &old.shown())))
                }
                (_, SetterValue::Text(_)) => {
                    let words = format!(
                        "the setter `{name}` holds one value, and {} are given",
                        values.len()
                    );
                    Err(error(words)
                        .hint("put blanks and the like in quotes; a list has the type array"))
                }
                _ => Ok(SetterValue::List(values.to_vec())),
            },
        }
    }

    /// Writes the values where they are defined.
    fn define<'a>(
        &self,
        setters: &Setters<'a>,
        values: &Values,
        done: &mut SetResult<'a>,
    ) -> Result<(), Diagnostic> {
        // Setters that only fields name get their values into the functionConfig of apply-setters, where there is one.
        let mut in_fields = Vec::new();
        for (name, given) in &self.assignments {
            let setter = setters.definitions().setter(name).filter(|_| given.is_some());
            let (Some(setter), Some(value)) = (setter, values.get(name)) else { continue };
            match (setter.source, setter.location) {
                (SetterSource::OpenApi { definition, setter: node }, Some(location)) => {
                    let mut ops = definition_ops(node, setter, value, self.set_by.as_deref());
                    ops.extend(self.description.as_ref().map(|words| {
                        text_op(definition, "description", words, &["type", "description"])
                    }));
                    ops.into_iter().for_each(|op| done.changes.at(location.file, node, op));
                }
                (SetterSource::FunctionConfig { value: node }, Some(location)) => {
                    let op = match (value, node.as_sequence()) {
                        (SetterValue::List(items), Some(_)) => {
                            let items =
                                items.iter().map(|item| typed_value::typed_item(node, item, None));
                            Op::List(node, items.collect())
                        }
                        (SetterValue::List(items), None) => {
                            let old = node.as_scalar().map(|it| it.value()).unwrap_or_default();
                            Op::Set(node, Value::string(function_config::list_text(items, &old)))
                        }
                        _ => Op::Set(node, typed_value(node, &text(value), None)),
                    };
                    done.changes.at(location.file, node, op);
                }
                _ => in_fields.push((name.clone(), value.clone())),
            }
        }
        if setters.functions.is_empty() {
            return Ok(());
        }
        new_definition::define_in_function(setters, &in_fields, &mut done.changes)
    }
}

/// The items of a list; for a setter of kpt they may be given as one text, as they are written there.
fn items(setter: &Setter<'_>, values: &[String]) -> Vec<String> {
    let in_text = match (&setter.source, values) {
        (SetterSource::FunctionConfig { .. }, [one]) => function_config::list(one),
        _ => None,
    };
    in_text.unwrap_or_else(|| values.to_vec())
}

/// Writes the values into every field that follows them.
fn write_fields<'a>(
    setters: &Setters<'a>,
    values: &Values,
    done: &mut SetResult<'a>,
) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    let mut filler = FieldResolver::new(setters.definitions(), values);
    done.counts = values.keys().map(|name| (name.clone(), 0)).collect();
    for field in setters.fields() {
        let followed = setters.definitions().followed(&field.reference);
        let mut is_meant = false;
        for name in followed {
            if let Some(count) = done.counts.get_mut(&name) {
                *count += 1;
                is_meant = true;
            }
        }
        if !is_meant {
            continue;
        }
        match filler.fill(field) {
            Ok(op) => {
                done.warnings.extend(retyped(field, &op));
                done.changes.at(field.file, field.node, op);
            }
            Err(error) => errors.push(error),
        }
    }
    errors
}

/// A number, or true or false, that becomes a text.
pub(super) fn retyped(field: &SetterField<'_>, op: &Op<'_>) -> Option<Diagnostic> {
    let Op::Set(node, Value::String(text)) = op else { return None };
    let was = match node.as_scalar()?.resolve() {
        ScalarType::Int(_) | ScalarType::Float(_) => "a number",
        ScalarType::Bool(_) => "true or false",
        _ => return None,
    };
    let words = format!("this was {was}, and `{text}` is a text");
    Some(warning_at(field.file, field.node.full_span(), words))
}

/// A name that is not defined: what it is instead, or which names there are.
pub(super) fn unknown(name: &str, setters: &Setters<'_>) -> Diagnostic {
    let definitions = setters.definitions();
    if let Some(substitution) = definitions.substitution(name) {
        let words =
            format!("`{name}` is a substitution, which follows its setters and is not set itself");
        let reference = super::Reference {
            form: super::ReferenceSyntax::OpenApi,
            target: super::ReferenceTarget::Substitution(name.to_owned()),
            range: 0..0,
        };
        let names: Vec<String> = definitions.followed(&reference).into_iter().collect();
        return substitution.location.error(words).hint(format!("set {}", names.join(" or ")));
    }
    let names: Vec<&str> = definitions.setters().map(|setter| setter.name.as_str()).collect();
    let error = Diagnostic::untyped_error(format!("the setter `{name}` is not defined"));
    match names.is_empty() {
        true => error.hint("define it with `krm cfg create-setter`"),
        false => error.hint(format!("there are: {}", names.join(", "))),
    }
}
