//! Computing the new value of a field: the value of its setter, or a pattern with the values of several.

use std::collections::BTreeMap;

use krm_yaml::{NodeKind, Value};

use super::changes::EditOp;
use super::current_values::CurrentValues;
use super::definition::{
    Setter, SetterSource, SetterValue, Substitution, error_at, openapi_type, scalar_elements,
    warning_at,
};
use super::definitions::{Definition, Definitions};
use super::fields::{SetterField, is_settable};
use super::function_config;
use super::kinds::SetterKind;
use super::pattern::{Candidate, DeriveError, MarkerValues, Pattern};
use super::reference::ReferenceTarget;
use super::typed_value::{NewItems, typed_value};
use crate::Diagnostic;
use crate::diagnostics::node_type;
use crate::model::resource::{field as field_of, is_null, scalar_text};

/// The maximum length of a substitution's value. Nested substitutions can grow exponentially.
const MAX_LENGTH: usize = 1 << 20;

/// The maximum length of all new values together. One long value may be set in very many fields.
pub(super) const MAX_TOTAL: usize = 64 << 20;

/// Values that override those of the definitions.
pub(super) type Values = BTreeMap<String, SetterValue>;

/// Computes the values of fields.
pub(super) struct FieldResolver<'d, 'a> {
    definitions: &'d Definitions<'a>,
    values: &'d Values,
    /// The values of substitutions that were already evaluated.
    substitutions: BTreeMap<&'d str, String>,
    /// The bytes of all new values so far.
    resolved: usize,
    /// What fields have now, for markers whose values the field itself does not show; none if that is an error.
    current: Option<&'d CurrentValues>,
    warnings: Vec<Diagnostic>,
}

impl<'d, 'a> FieldResolver<'d, 'a> {
    pub(super) fn new(definitions: &'d Definitions<'a>, values: &'d Values) -> Self {
        Self {
            definitions,
            values,
            substitutions: BTreeMap::new(),
            resolved: 0,
            current: None,
            warnings: Vec::new(),
        }
    }

    /// Resolves ambiguous patterns by the values of other fields, or else as kpt does, with a warning.
    pub(super) fn with_current(self, current: Option<&'d CurrentValues>) -> Self {
        Self { current, ..self }
    }

    /// The warnings so far.
    pub(super) fn into_warnings(self) -> Vec<Diagnostic> {
        self.warnings
    }

    /// The value of a setter as fields get it.
    fn value(&self, setter: &Setter<'a>) -> SetterValue {
        setter.expand_enum(self.values.get(&setter.name).unwrap_or(&setter.value))
    }

    /// The edit that gives a field its value.
    pub(super) fn resolve(&mut self, field: &SetterField<'a>) -> Result<EditOp<'a>, Diagnostic> {
        let op = self.new_value(field)?;
        self.charge(field, &op)?;
        Ok(op)
    }

    /// Continues with the number of bytes of another resolver.
    pub(super) fn starting_at(self, resolved: usize) -> Self {
        Self { resolved, ..self }
    }

    /// The bytes of all new values so far.
    pub(super) fn resolved(&self) -> usize {
        self.resolved
    }

    /// Counts the bytes of a new value.
    pub(super) fn charge(
        &mut self,
        field: &SetterField<'a>,
        op: &EditOp<'a>,
    ) -> Result<(), Diagnostic> {
        self.resolved = self.resolved.saturating_add(op.text_length());
        match self.resolved > MAX_TOTAL {
            true => Err(field.location().error(SetterKind::ValuesTooLarge { limit: MAX_TOTAL })),
            false => Ok(()),
        }
    }

    fn new_value(&mut self, field: &SetterField<'a>) -> Result<EditOp<'a>, Diagnostic> {
        if !is_settable(field.node) {
            let found = match field.node.kind() {
                NodeKind::Sequence => "a sequence with mappings, sequences or aliases",
                _ => node_type(field.node),
            };
            let kind = SetterKind::FieldNotSettable { target: target(field), found };
            return Err(error_at(field.file, field.comment.span, kind));
        }
        match &field.reference.target {
            ReferenceTarget::Pattern(pattern) => self.pattern(field, pattern),
            target => match self.definitions.get(target) {
                Some(Definition::Setter(setter)) => self
                    .by_setter(field, setter)
                    .ok_or_else(|| field.location().error(no_value(&setter.name)))?,
                Some(Definition::Substitution(substitution)) => {
                    let text = self.substitution(&substitution.name);
                    scalar(field, &text.map_err(|kind| field.location().error(kind))?, None)
                }
                None => Err(undefined(field)),
            },
        }
    }

    /// The edit for a field that follows one setter; none if the setter has no value.
    fn by_setter(
        &self,
        field: &SetterField<'a>,
        setter: &Setter<'a>,
    ) -> Option<Result<EditOp<'a>, Diagnostic>> {
        let is_sequence = field.node.kind() == NodeKind::Sequence;
        let item_type = || {
            let items = field_of(field_of(setter.schema()?, "items")?, "type")?;
            openapi_type(&scalar_text(items)?)
        };
        // Only kpt writes a list as a string; a string in OpenAPI is never a list.
        let as_list = |text: &str| {
            let is_kpt = !matches!(setter.source, SetterSource::OpenApi { .. });
            if is_kpt && is_sequence { function_config::parse_scalar_list(text) } else { None }
        };
        Some(match self.value(setter) {
            SetterValue::Unset => return None,
            SetterValue::List(items) => sequence(field, &items, item_type()),
            SetterValue::Scalar(text) => match as_list(&text) {
                Some(items) => sequence(field, &items, None),
                None => scalar(field, &text, setter.schema_type()),
            },
        })
    }

    /// The edit for a field with a pattern. Markers without a value keep what the field has for them.
    fn pattern(
        &mut self,
        field: &SetterField<'a>,
        pattern: &Pattern,
    ) -> Result<EditOp<'a>, Diagnostic> {
        let only = pattern.only_marker().and_then(|name| self.definitions.setter(name));
        if let Some(setter) = only
            && let Some(op) = self.by_setter(field, setter)
        {
            return op;
        }
        let (definitions, values) = (self.definitions, self.values);
        let is_unknown = |name: &&str| {
            let setter = definitions.setter(name);
            setter.is_none_or(|it| matches!(it.source, SetterSource::FieldsOnly))
                && !values.contains_key(*name)
        };
        let mut kept = MarkerValues::new();
        let missing: Vec<&str> = pattern.markers().into_iter().filter(is_unknown).collect();
        if !missing.is_empty() {
            kept = derive(field, pattern, definitions)
                .or_else(|problem| self.derive_current(field, pattern, &missing, problem))
                .map_err(|problem| values_required(field, pattern, &missing, problem))?;
            kept.retain(|name, _| is_unknown(&name.as_str()));
        }
        let known = |name: &str| {
            let setter = definitions.setter(name);
            let value = match setter {
                Some(setter) => Some(self.value(setter)),
                // A setter of another package, which is set together with those of this one.
                None => values.get(name).cloned(),
            };
            match value {
                Some(SetterValue::Scalar(text)) => Some(text),
                _ => None,
            }
        };
        let value = |name: &str| kept.get(name).cloned().or_else(|| known(name));
        let text = pattern.fill_up_to(MAX_TOTAL, value);
        let text = text.map_err(|name| field.location().error(no_value(&name)))?;
        let too_large = || field.location().error(SetterKind::ValuesTooLarge { limit: MAX_TOTAL });
        scalar(field, &text.ok_or_else(too_large)?, None)
    }

    /// The values of markers that a field alone does not tell: with what other fields have, or else as kpt takes them.
    fn derive_current(
        &mut self,
        field: &SetterField<'a>,
        pattern: &Pattern,
        missing: &[&str],
        problem: DeriveError,
    ) -> Result<MarkerValues, DeriveError> {
        let Some(current) = self.current.filter(|_| problem != DeriveError::NoMatch) else {
            return Err(problem);
        };
        let text = field.node.as_scalar().map(|it| it.value()).unwrap_or_default();
        if let Ok(values) = pattern.derive(&text, |name| current.get(name)) {
            return Ok(values);
        }
        let values = pattern.derive_longest(&text).map_err(|_| problem)?;
        let kept = values.iter().filter(|(name, _)| missing.contains(&name.as_str()));
        let kept = Candidate::of(kept.map(|(name, value)| (name.clone(), value.clone())).collect());
        let (setters, pattern) = (missing.join(", "), pattern.to_string());
        let kind = SetterKind::AmbiguousValue { pattern, kept, setters };
        self.warnings.push(warning_at(field.file, field.node.span(), kind));
        Ok(values)
    }

    /// The value of a substitution.
    ///
    /// Evaluates nested substitutions first, with a stack of its own: they may nest deeper than the call stack.
    pub(super) fn substitution(&mut self, name: &str) -> Result<String, SetterKind> {
        let definitions = self.definitions;
        let Some(first) = definitions.substitution(name) else { return Err(no_value(name)) };
        let mut stack = vec![first];
        while let Some(top) = stack.last().copied() {
            let inner = top.values.iter().find_map(|value| match definitions.get(&value.target) {
                Some(Definition::Substitution(inner)) => {
                    (!self.substitutions.contains_key(&*inner.name)).then_some(inner)
                }
                _ => None,
            });
            if let Some(inner) = inner {
                if stack.iter().any(|it| it.name == inner.name) {
                    return Err(SetterKind::SubstitutionCycle {
                        cycle: format!("{name} → {name}"),
                    });
                }
                stack.push(inner);
                continue;
            }
            let text = self.evaluate(top)?;
            self.substitutions.insert(&top.name, text);
            stack.pop();
        }
        Ok(self.substitutions.get(name).cloned().unwrap_or_default())
    }

    fn evaluate(&self, substitution: &Substitution<'a>) -> Result<String, SetterKind> {
        let mut texts: BTreeMap<&str, String> = BTreeMap::new();
        for value in &substitution.values {
            let text = match self.definitions.get(&value.target) {
                Some(Definition::Setter(setter)) => match self.value(setter) {
                    SetterValue::Scalar(text) => text,
                    SetterValue::Unset => return Err(no_value(&setter.name)),
                    SetterValue::List(_) => {
                        return Err(SetterKind::ListInPattern { name: setter.name.clone() });
                    }
                },
                Some(Definition::Substitution(inner)) => {
                    self.substitutions.get(&*inner.name).cloned().unwrap_or_default()
                }
                None => return Err(no_value(&value.marker)),
            };
            texts.insert(&value.marker, text);
        }
        let value = |marker: &str| texts.get(marker).cloned();
        let text = substitution.pattern.fill_up_to(MAX_LENGTH, value);
        let text = text.map_err(|marker| no_value(&marker))?;
        text.ok_or_else(|| SetterKind::SubstitutionTooLong { name: substitution.name.clone() })
    }
}

fn target(field: &SetterField<'_>) -> String {
    field.reference.target.to_string()
}

/// Sets a field to a single value.
fn scalar<'a>(
    field: &SetterField<'a>,
    text: &str,
    schema_type: Option<&str>,
) -> Result<EditOp<'a>, Diagnostic> {
    if field.node.kind() == NodeKind::Sequence {
        let kind = SetterKind::SequenceFollowsScalar { target: target(field) };
        return Err(field.location().error(kind));
    }
    Ok(EditOp::Set(field.node, typed_value(field.node, text, schema_type)))
}

/// Sets a field to a list.
fn sequence<'a>(
    field: &SetterField<'a>,
    items: &[String],
    schema_type: Option<&'static str>,
) -> Result<EditOp<'a>, Diagnostic> {
    // Elements keep their type: a number that the schema calls a string stays a number.
    let is_empty = field.node.children().next().is_none();
    let schema_type = schema_type.filter(|it| is_empty || *it != "string");
    let items = NewItems::Texts(items.to_vec(), schema_type);
    match field.node.kind() {
        NodeKind::Sequence => Ok(EditOp::SetItems(field.node, items)),
        _ if is_null(field.node) => Ok(EditOp::Set(field.node, Value::Sequence(items.values()))),
        _ => Err(field.location().error(SetterKind::ScalarFollowsList { target: target(field) })),
    }
}

/// The current value of a substitution, if it has one.
pub(super) fn substitution_value(definitions: &Definitions<'_>, name: &str) -> Option<String> {
    FieldResolver::new(definitions, &Values::new()).substitution(name).ok()
}

fn no_value(name: &str) -> SetterKind {
    SetterKind::NoValue { name: name.to_owned() }
}

/// A reference to a name that is not defined. It is a warning, because other tools may define it.
pub(super) fn undefined(field: &SetterField<'_>) -> Diagnostic {
    let kind = SetterKind::NotDefined { target: target(field) };
    warning_at(field.file, field.comment.span, kind)
        .hint("define it with `krm cfg create-setter`, or remove the reference")
}

/// The values that the markers of a field's pattern have now.
fn derive(
    field: &SetterField<'_>,
    pattern: &Pattern,
    definitions: &Definitions<'_>,
) -> Result<MarkerValues, DeriveError> {
    let text = field.node.as_scalar().map(|it| it.value()).unwrap_or_default();
    let known = |name: &str| match definitions.setter(name) {
        Some(Setter { source: SetterSource::FieldsOnly, .. }) => None,
        Some(Setter { value: SetterValue::Scalar(value), .. }) => Some(value.clone()),
        _ => None,
    };
    match pattern.derive(&text, known) {
        // The field was edited by hand since its setters were set.
        Err(DeriveError::NoMatch) => pattern.derive(&text, |_| None),
        other => other,
    }
}

fn values_required(
    field: &SetterField<'_>,
    pattern: &Pattern,
    missing: &[&str],
    problem: DeriveError,
) -> Diagnostic {
    let names: Vec<String> = missing.iter().map(|name| format!("${{{name}}}")).collect();
    let (setters, pattern) = (names.join(" "), pattern.to_string());
    field.location().error(SetterKind::ValuesRequired { setters, pattern, problem })
}

/// The values that a field implies for setters without a definition.
pub(super) fn derived_values(
    field: &SetterField<'_>,
    definitions: &Definitions<'_>,
) -> Vec<(String, SetterValue)> {
    let ReferenceTarget::Pattern(pattern) = &field.reference.target else { return Vec::new() };
    let is_undefined = |name: &&str| {
        let setter = definitions.setter(name);
        setter.is_some_and(|it| matches!(it.source, SetterSource::FieldsOnly))
    };
    let names: Vec<&str> = pattern.markers().into_iter().filter(is_undefined).collect();
    if names.is_empty() {
        return Vec::new();
    }
    if let (NodeKind::Sequence, Some(name)) = (field.node.kind(), pattern.only_marker()) {
        return vec![(name.to_owned(), SetterValue::List(scalar_elements(field.node)))];
    }
    let values = derive(field, pattern, definitions).unwrap_or_default();
    let values = values.into_iter().filter(|(name, _)| names.contains(&name.as_str()));
    values.map(|(name, value)| (name, SetterValue::Scalar(value))).collect()
}
