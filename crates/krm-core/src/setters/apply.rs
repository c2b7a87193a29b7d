//! `ApplySetters`: sets the fields with `kpt-set` comments to the values of a functionConfig.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use krm_yaml::{CommentPosition, NodeKind, NodeRef, Value};

use super::changes::{Changes, EditOp};
use super::current_values::CurrentValues;
use super::definition::{Setter, SetterValue, warning_at};
use super::definitions::Definitions;
use super::fields::{self, SetterField};
use super::function_config::{self, list_values, parse_list};
use super::kinds::SetterKind;
use super::pattern::Pattern;
use super::reference::ReferenceTarget;
use super::resolve::{FieldResolver, MAX_TOTAL, Values};
use super::set;
use super::typed_value::NewItems;
use crate::diagnostics::CommonKind;
use crate::model::resource::is_null;
use crate::{Diagnostic, PackageFile};

/// Applies the values of a functionConfig.
///
/// A marker without a value keeps its part of the current field value, if that part is unambiguous.
///
/// ```
/// use krm_core::PackageFile;
/// use krm_core::setters::ApplySetters;
///
/// let config = PackageFile::from_text("setters.yaml", "data:\n  image: ubuntu\n")?;
/// let data = config.file().and_then(|file| file.document(0)?.find(&"data".parse().ok()?)).expect("data exists");
/// let file = PackageFile::from_text("pod.yaml", "image: nginx:1.7.9 # kpt-set: ${image}:${tag}\n")?;
/// let apply = ApplySetters::new(&config, data).expect("valid values");
/// let applied = apply.compute(&file).expect("the field can be set");
/// assert_eq!(applied.fields[0].value, "ubuntu:1.7.9");
/// let text = applied.changes.text(&file).expect("the file can be edited");
/// assert_eq!(text.as_deref(), Some("image: ubuntu:1.7.9 # kpt-set: ${image}:${tag}\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ApplySetters<'a> {
    definitions: Definitions<'a>,
    /// The bytes of new values in all files so far.
    resolved: AtomicUsize,
}

/// The result of [`ApplySetters`] for a file.
#[derive(Debug, Default)]
pub struct ApplyResult<'a> {
    /// The edits.
    pub changes: Changes<'a>,
    /// The fields that follow a value, including those that already have it.
    pub fields: Vec<AppliedField<'a>>,
    /// Invalid references, and fields that cannot be set.
    pub warnings: Vec<Diagnostic>,
}

/// A field and its new value.
#[derive(Clone, Debug)]
pub struct AppliedField<'a> {
    /// The field.
    pub field: SetterField<'a>,
    /// The new value; a list as the functionConfig has it.
    pub value: String,
}

impl<'a> ApplySetters<'a> {
    /// Reads the values from the `data` of a functionConfig.
    pub fn new(config: &'a PackageFile, data: NodeRef<'a>) -> Result<Self, Vec<Diagnostic>> {
        let mut definitions = Definitions::default();
        let mut errors = Vec::new();
        for mut setter in function_config::setters_of_data(config, data) {
            if setter.function_config_value().map(NodeRef::resolve).is_some_and(is_null) {
                setter.value = SetterValue::Scalar(String::new());
            }
            errors.extend(mapping_error(&setter));
            definitions.add(setter);
        }
        errors.append(&mut definitions.errors);
        let resolved = AtomicUsize::default();
        if errors.is_empty() { Ok(Self { definitions, resolved }) } else { Err(errors) }
    }

    /// Computes the changes in a file, or all errors.
    pub fn compute<'b>(
        &'b self,
        file: &'b PackageFile,
    ) -> Result<ApplyResult<'b>, Vec<Diagnostic>> {
        self.compute_with(file, None)
    }

    /// Whether the new values of all files together are too large. Where files are computed in parallel, none of them may have failed then.
    pub fn is_too_large(&self) -> bool {
        self.resolved.load(Ordering::Relaxed) > MAX_TOTAL
    }

    /// Like [`ApplySetters::compute`], but an ambiguous field is not an error: the setters that have no value keep what other fields have
    /// for them now, or else what kpt keeps, with a warning.
    pub fn compute_with<'b>(
        &'b self,
        file: &'b PackageFile,
        current: Option<&'b CurrentValues>,
    ) -> Result<ApplyResult<'b>, Vec<Diagnostic>> {
        let scan = fields::find(file);
        let mut result = ApplyResult { warnings: scan.warnings, ..ApplyResult::default() };
        let mut errors = Vec::new();
        let values = Values::new();
        let definitions: &'b Definitions<'b> = &self.definitions;
        let resolved = self.resolved.load(Ordering::Relaxed);
        let mut resolver =
            FieldResolver::new(definitions, &values).starting_at(resolved).with_current(current);
        let given: Vec<_> = scan.fields.into_iter().filter(|field| self.is_given(field)).collect();
        // Compat: the value of a list setter replaces the elements, whatever they refer to.
        let id = |node: NodeRef<'b>| (node.document().index(), node.index());
        let lists = given.iter().map(|field| field.node);
        let lists: BTreeSet<_> =
            lists.filter(|it| it.kind() == NodeKind::Sequence).map(id).collect();
        let is_replaced = |field: &SetterField<'b>| {
            let mut ancestors = std::iter::successors(field.node.parent(), |it| it.parent());
            !lists.is_empty() && ancestors.any(|it| lists.contains(&id(it)))
        };
        for field in given {
            let ReferenceTarget::Pattern(pattern) = &field.reference.target else { continue };
            if is_replaced(&field) {
                continue;
            }
            if field.node.kind() == NodeKind::Mapping {
                let target = field.reference.target.to_string();
                let kind = SetterKind::FieldNotSettable { target, found: "a mapping" };
                result.warnings.push(warning_at(file, field.comment.span, kind));
                continue;
            }
            match self.resolve(&field, pattern, &mut resolver) {
                Ok((op, value)) => {
                    result.warnings.extend(set::type_change(&field, &op));
                    result.changes.add_at(file, field.node, op);
                    result.fields.push(AppliedField { field, value });
                }
                // Every further field would be the same error.
                Err(error) if matches!(error.kind(), Some(SetterKind::ValuesTooLarge { .. })) => {
                    return Err(vec![error]);
                }
                Err(error) => errors.push(error),
            }
        }
        self.resolved.fetch_add(resolver.resolved() - resolved, Ordering::Relaxed);
        result.warnings.extend(resolver.into_warnings());
        if errors.is_empty() { Ok(result) } else { Err(errors) }
    }

    /// Whether a field refers to a setter that has a value.
    ///
    /// Compat: apply-setters reads line comments only, not comments on lines of their own.
    fn is_given(&self, field: &SetterField<'_>) -> bool {
        let ReferenceTarget::Pattern(pattern) = &field.reference.target else { return false };
        let has_value = |name: &&str| self.definitions.setter(name).is_some();
        field.comment.position == CommentPosition::Line && pattern.markers().iter().any(has_value)
    }

    /// The edit of a field, and its new value as results show it.
    fn resolve<'b>(
        &'b self,
        field: &SetterField<'b>,
        pattern: &Pattern,
        resolver: &mut FieldResolver<'_, 'b>,
    ) -> Result<(EditOp<'b>, String), Diagnostic> {
        let is_sequence = field.node.kind() == NodeKind::Sequence;
        let only = pattern.only_marker().and_then(|name| self.definitions.setter(name));
        let Some(setter) = only.filter(|_| is_sequence || is_null(field.node)) else {
            if is_sequence {
                let kind = SetterKind::ArrayPattern { pattern: pattern.to_string() };
                return Err(field.location().error(kind));
            }
            let op = resolver.resolve(field)?;
            let value = scalar_text(&op);
            return Ok((op, value));
        };
        let (text, items) = match &setter.value {
            SetterValue::List(items) => {
                let node = setter.function_config_value().map(NodeRef::resolve);
                (format!("[{}]", items.join(", ")), node.and_then(list_values))
            }
            SetterValue::Scalar(text) => (text.clone(), parse_list(text)),
            SetterValue::Unset => (String::new(), Some(Vec::new())),
        };
        match items {
            // A null field becomes a sequence only if the list has items.
            Some(items) if is_sequence || !items.is_empty() => {
                let op = set_items(field.node, items);
                resolver.charge(field, &op)?;
                Ok((op, text))
            }
            _ if !is_sequence && text.is_empty() => {
                Ok((EditOp::Set(field.node, Value::Null), text))
            }
            _ if !is_sequence => resolver.resolve(field).map(|op| (op, text)),
            _ => {
                let found = crate::print::json::string(&text).into();
                let kind = SetterKind::ArrayValue { name: setter.name.clone(), found };
                Err(field.location().error(kind))
            }
        }
    }
}

/// The error for a value that is a mapping.
pub(super) fn mapping_error(setter: &Setter<'_>) -> Option<Diagnostic> {
    let value = setter.function_config_value().map(NodeRef::resolve);
    let value = value.filter(|it| it.kind() == NodeKind::Mapping)?;
    let expected = format!("a string for setter `{}`", setter.name);
    let error = setter.location?.error(CommonKind::wrong_type(expected, value));
    Some(error.hint("write a list as a string, such as \"[a, b]\""))
}

/// Sets the elements of a sequence one by one if all are scalars, so that equal elements are not changed.
fn set_items<'b>(node: NodeRef<'b>, items: Vec<Value<'static>>) -> EditOp<'b> {
    let is_scalar = |value: &Value<'_>| !matches!(value, Value::Sequence(_) | Value::Mapping(_));
    if items.iter().all(is_scalar) && fields::is_settable(node) && !is_null(node) {
        EditOp::SetItems(node, NewItems::Values(items))
    } else {
        EditOp::Set(node, Value::Sequence(items))
    }
}

fn scalar_text(op: &EditOp<'_>) -> String {
    match op {
        EditOp::Set(_, Value::String(text) | Value::Number(text)) => text.to_string(),
        EditOp::Set(_, Value::Bool(value)) => value.to_string(),
        _ => String::new(),
    }
}
