//! What a field becomes: the value of its setter, or its pattern with the values of several.

use std::collections::BTreeMap;

use krm_yaml::{NodeKind, Value};

use super::changes::Op;
use super::definition::{Setter, SetterSource, SetterValue, known_type, texts};
use super::definitions::{Definition, Definitions, target_words};
use super::fields::{SetterField, is_settable};
use super::function_config;
use super::pattern::{DeriveError, MarkerValues, Pattern};
use super::reference::ReferenceTarget;
use super::typed_value;
use crate::Diagnostic;
use crate::model::resource::{field as field_of, is_null, scalar_text};

/// How long a value may become that substitutions put together.
const LONGEST: usize = 1 << 20;

/// The values that setters have, or are about to get.
pub(super) type Values = BTreeMap<String, SetterValue>;

/// Fills fields from values.
pub(super) struct FieldResolver<'d, 'a> {
    pub(super) definitions: &'d Definitions<'a>,
    pub(super) values: &'d Values,
    /// The values of substitutions that were put together already.
    made: BTreeMap<&'d str, String>,
}

impl<'d, 'a> FieldResolver<'d, 'a> {
    pub(super) fn new(definitions: &'d Definitions<'a>, values: &'d Values) -> Self {
        Self { definitions, values, made: BTreeMap::new() }
    }

    /// The value of a setter, as fields get it.
    fn value(&self, setter: &Setter<'a>) -> SetterValue {
        let value = self.values.get(&setter.name).unwrap_or(&setter.value);
        match value {
            SetterValue::Text(text) => SetterValue::Text(setter.meaning(text).to_owned()),
            other => other.clone(),
        }
    }

    /// What becomes of a field.
    pub(super) fn fill(&mut self, field: &SetterField<'a>) -> Result<Op<'a>, Diagnostic> {
        let error = |words: String| field.location().error(words);
        if !is_settable(field.node) {
            let what = match field.node.kind() {
                NodeKind::Alias => "an alias",
                NodeKind::Sequence => "a list of other things than values",
                _ => "a mapping",
            };
            let words = format!("{} cannot be set here: this is {what}", self.words(field));
            return Err(super::definition::error_at(field.file, field.comment.span, words)
                .hint("put the reference beside a value, or beside the key of a list of values"));
        }
        match &field.reference.target {
            ReferenceTarget::Pattern(pattern) => self.pattern(field, pattern),
            target => match self.definitions.get(target) {
                Some(Definition::Setter(setter)) => {
                    self.by_setter(field, setter).ok_or_else(|| error(no_value(&setter.name)))?
                }
                Some(Definition::Substitution(substitution)) => {
                    let text = self.substitution(&substitution.name).map_err(error)?;
                    self.one(field, &text, None)
                }
                None => Err(undefined(field)),
            },
        }
    }

    fn words(&self, field: &SetterField<'a>) -> String {
        target_words(&field.reference.target)
    }

    fn by_setter(
        &self,
        field: &SetterField<'a>,
        setter: &Setter<'a>,
    ) -> Option<Result<Op<'a>, Diagnostic>> {
        let is_list = field.node.kind() == NodeKind::Sequence;
        let item_type = || {
            let items = field_of(field_of(setter.schema()?, "items")?, "type")?;
            known_type(&scalar_text(items)?)
        };
        let as_list = |text: &str| {
            let in_text = matches!(
                setter.source,
                SetterSource::FunctionConfig { .. } | SetterSource::FieldsOnly
            );
            function_config::list(text).filter(|_| in_text && is_list)
        };
        Some(match self.value(setter) {
            SetterValue::Unset => return None,
            SetterValue::List(items) => self.many(field, &items, item_type()),
            SetterValue::Text(text) => match as_list(&text) {
                Some(items) => self.many(field, &items, None),
                None => self.one(field, &text, setter.schema_type()),
            },
        })
    }

    /// One value into a field.
    fn one(
        &self,
        field: &SetterField<'a>,
        text: &str,
        kind: Option<&str>,
    ) -> Result<Op<'a>, Diagnostic> {
        if field.node.kind() == NodeKind::Sequence {
            let words = format!("this is a list, and {} is one value", self.words(field));
            return Err(field
                .location()
                .error(words)
                .hint("give the setter the type array, or move the reference to an item"));
        }
        Ok(Op::Set(field.node, typed_value(field.node, text, kind)))
    }

    /// A list into a field.
    fn many(
        &self,
        field: &SetterField<'a>,
        items: &[String],
        kind: Option<&str>,
    ) -> Result<Op<'a>, Diagnostic> {
        let values =
            items.iter().map(|item| typed_value::typed_item(field.node, item, kind)).collect();
        match field.node.kind() {
            NodeKind::Sequence => Ok(Op::List(field.node, values)),
            _ if is_null(field.node) => Ok(Op::Set(field.node, Value::Sequence(values))),
            _ => {
                let words = format!("this is one value, and {} is a list", self.words(field));
                Err(field
                    .location()
                    .error(words)
                    .hint("put the reference beside the key of a list"))
            }
        }
    }

    /// A pattern in the field's own comment; names without a value keep what stands there.
    fn pattern(&self, field: &SetterField<'a>, pattern: &Pattern) -> Result<Op<'a>, Diagnostic> {
        let only = pattern.only_marker().and_then(|name| self.definitions.setter(name));
        if let Some(setter) = only
            && let Some(op) = self.by_setter(field, setter)
        {
            return op;
        }
        let known = |name: &str| match self.definitions.setter(name).map(|it| self.value(it)) {
            Some(SetterValue::Text(text)) => Some(text),
            _ => None,
        };
        let unknown = |name: &&str| {
            let fields_only = self
                .definitions
                .setter(name)
                .is_none_or(|it| matches!(it.source, SetterSource::FieldsOnly));
            fields_only && !self.values.contains_key(*name)
        };
        let mut kept = MarkerValues::new();
        let missing: Vec<&str> = pattern.markers().into_iter().filter(unknown).collect();
        if !missing.is_empty() {
            kept = derive(field, pattern, self.definitions)
                .map_err(|problem| cannot_derive(field, pattern, &missing, &problem))?;
            kept.retain(|name, _| unknown(&name.as_str()));
        }
        let text = pattern.fill(|name| kept.get(name).cloned().or_else(|| known(name)));
        let text = text.map_err(|name| field.location().error(no_value(&name)))?;
        self.one(field, &text, None)
    }

    /// The value of a substitution, put together from the innermost outward.
    pub(super) fn substitution(&mut self, name: &str) -> Result<String, String> {
        let definitions = self.definitions;
        let Some(first) = definitions.substitution(name) else { return Err(no_value(name)) };
        let mut waiting = vec![first];
        while let Some(top) = waiting.last().copied() {
            let inner = top.values.iter().find_map(|value| match definitions.get(&value.target) {
                Some(Definition::Substitution(inner)) if !self.made.contains_key(&*inner.name) => {
                    Some(inner)
                }
                _ => None,
            });
            if let Some(inner) = inner {
                if waiting.iter().any(|it| it.name == inner.name) {
                    return Err(format!("the substitution `{name}` leads back to itself"));
                }
                waiting.push(inner);
                continue;
            }
            let text = self.put_together(top)?;
            self.made.insert(&top.name, text);
            waiting.pop();
        }
        Ok(self.made.get(name).cloned().unwrap_or_default())
    }

    fn put_together(&self, substitution: &super::Substitution<'a>) -> Result<String, String> {
        let mut texts: BTreeMap<&str, String> = BTreeMap::new();
        for value in &substitution.values {
            let text = match self.definitions.get(&value.target) {
                Some(Definition::Setter(setter)) => match self.value(setter) {
                    SetterValue::Text(text) => text,
                    SetterValue::Unset => return Err(no_value(&setter.name)),
                    SetterValue::List(_) => {
                        let words = format!(
                            "the setter `{}` holds a list, which fits into no pattern",
                            setter.name
                        );
                        return Err(words);
                    }
                },
                Some(Definition::Substitution(inner)) => {
                    self.made.get(&*inner.name).cloned().unwrap_or_default()
                }
                None => return Err(no_value(&value.marker)),
            };
            texts.insert(&value.marker, text);
        }
        let text = substitution.pattern.fill(|marker| texts.get(marker).cloned());
        let text = text.map_err(|marker| no_value(&marker))?;
        if text.len() > LONGEST {
            return Err(format!(
                "the substitution `{}` becomes longer than a megabyte",
                substitution.name
            ));
        }
        Ok(text)
    }
}

/// The value of a substitution as things are; none where it has none.
pub(super) fn value_of_substitution(definitions: &Definitions<'_>, name: &str) -> Option<String> {
    FieldResolver::new(definitions, &Values::new()).substitution(name).ok()
}

fn no_value(name: &str) -> String {
    format!("the setter `{name}` has no value")
}

/// A reference that leads nowhere.
pub(super) fn undefined(field: &SetterField<'_>) -> Diagnostic {
    let words = format!("{} is not defined in this package", target_words(&field.reference.target));
    super::definition::warning_at(field.file, field.comment.span, words)
        .hint("define it with `krm cfg create-setter`, or remove the reference")
}

/// What the markers of a field's pattern stand for now.
fn derive(
    field: &SetterField<'_>,
    pattern: &Pattern,
    definitions: &Definitions<'_>,
) -> Result<MarkerValues, DeriveError> {
    let text = field.node.as_scalar().map(|it| it.value()).unwrap_or_default();
    let known = |name: &str| match definitions.setter(name) {
        Some(Setter {
            source: SetterSource::OpenApi { .. } | SetterSource::FunctionConfig { .. },
            value: SetterValue::Text(value),
            ..
        }) => Some(value.clone()),
        _ => None,
    };
    match pattern.derive(&text, known) {
        // A field that was changed by hand since.
        Err(DeriveError::NoMatch) => pattern.derive(&text, |_| None),
        other => other,
    }
}

/// Compat: these are the words of apply-setters, and why is told behind them.
fn cannot_derive(
    field: &SetterField<'_>,
    pattern: &Pattern,
    missing: &[&str],
    problem: &DeriveError,
) -> Diagnostic {
    let names: Vec<String> = missing.iter().map(|name| format!("${{{name}}}")).collect();
    let words = format!("values for setters [{}] must be provided", names.join(" "));
    let hint = format!("they cannot be told from this value and `{pattern}`: {problem}");
    field.location().error(words).hint(hint)
}

/// What a field tells about setters that stand in fields only.
pub(super) fn told_by(
    field: &SetterField<'_>,
    definitions: &Definitions<'_>,
) -> Vec<(String, SetterValue)> {
    let ReferenceTarget::Pattern(pattern) = &field.reference.target else { return Vec::new() };
    let is_open = |name: &&str| {
        definitions.setter(name).is_some_and(|it| matches!(it.source, SetterSource::FieldsOnly))
    };
    let open: Vec<&str> = pattern.markers().into_iter().filter(is_open).collect();
    if open.is_empty() {
        return Vec::new();
    }
    if let (NodeKind::Sequence, Some(name)) = (field.node.kind(), pattern.only_marker()) {
        return vec![(name.to_owned(), SetterValue::List(texts(field.node)))];
    }
    let read = derive(field, pattern, definitions).unwrap_or_default();
    let read = read.into_iter().filter(|(name, _)| open.contains(&name.as_str()));
    read.map(|(name, value)| (name, SetterValue::Text(value))).collect()
}
