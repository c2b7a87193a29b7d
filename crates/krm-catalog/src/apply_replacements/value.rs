//! The value of a replacement, and setting fields to it.

use krm_core::schema::ValueKind;
use krm_core::setters::typed_value;
use krm_sdk::yaml::{DocumentCopy, NodeKind, NodeRef, ScalarType, Value};
use krm_sdk::{Diagnostic, Error, Resource};

use super::config::FieldOptions;
use super::path::FieldPath;
use crate::changes::in_resource;
use crate::field_type;
use crate::kinds::CatalogKind;
use crate::value_budget::ValueBudget;

/// The value of a source.
#[derive(Clone, Debug)]
pub(super) enum SourceValue {
    /// A scalar, and whether it is a string.
    Scalar { text: String, is_string: bool },
    /// A mapping or a sequence, with its comments.
    Collection(Value<'static>),
}

const SCALARS_ONLY: &str = "delimiter option can only be used with scalar nodes";

/// Whether a node has a value: neither null nor an empty collection.
pub(super) fn has_value(node: NodeRef<'_>) -> bool {
    let node = node.resolve();
    match node.as_scalar() {
        Some(scalar) => scalar.resolve() != ScalarType::Null,
        None => node.children().next().is_some(),
    }
}

impl SourceValue {
    /// The value of a field, or the part that the options select.
    pub(super) fn new(node: NodeRef<'_>, options: &FieldOptions) -> Result<Self, String> {
        let node = node.resolve();
        let Some(scalar) = node.as_scalar() else {
            if !options.delimiter.is_empty() {
                return Err(SCALARS_ONLY.to_owned());
            }
            let whole =
                DocumentCopy::new(node.document(), &[], &[]).map_err(|error| error.to_string())?;
            return Ok(Self::Collection(Value::OwnedNode(whole.owned_node(node))));
        };
        let is_string = scalar.resolve() == ScalarType::String;
        let whole = scalar.value();
        if options.delimiter.is_empty() {
            return Ok(Self::Scalar { text: whole.into_owned(), is_string });
        }
        let part = usize::try_from(options.index).ok();
        match part.and_then(|at| whole.split(&options.delimiter).nth(at)) {
            Some(part) => Ok(Self::Scalar { text: part.to_owned(), is_string }),
            None => {
                Err(format!("options.index {} is out of bounds for value {whole}", options.index))
            }
        }
    }

    /// A literal value of the functionConfig.
    pub(super) fn of_value(value: Value<'static>) -> Self {
        match value {
            Value::String(text) => Self::Scalar { text: text.into_owned(), is_string: true },
            Value::Number(text) => Self::Scalar { text: text.into_owned(), is_string: false },
            Value::Bool(value) => Self::Scalar { text: value.to_string(), is_string: false },
            other => Self::Collection(other),
        }
    }

    /// The new value of a field. It keeps the type of the current value if possible; a new field has the type of its schema, or that
    /// of the source.
    fn value(
        &self,
        current: Option<NodeRef<'_>>,
        kind: Option<ValueKind>,
        options: &FieldOptions,
    ) -> Result<Value<'static>, String> {
        let scalar = current.and_then(|node| node.resolve().as_scalar());
        let has_delimiter = !options.delimiter.is_empty();
        let (text, is_string) = match self {
            Self::Collection(_) if has_delimiter => return Err(SCALARS_ONLY.to_owned()),
            Self::Collection(value) => return Ok(value.clone()),
            Self::Scalar { text, is_string } => (text, *is_string),
        };
        if has_delimiter && current.is_some() && scalar.is_none() {
            return Err(SCALARS_ONLY.to_owned());
        }
        let text = match has_delimiter {
            true => replace_part(&scalar.map(|it| it.value()).unwrap_or_default(), text, options),
            false => text.clone(),
        };
        if let Some(scalar) = scalar.filter(|it| it.resolve() != ScalarType::Null) {
            return Ok(typed_value(scalar.node(), &text, kind.map(ValueKind::name)));
        }
        let is_number =
            matches!(kind, Some(ValueKind::Integer | ValueKind::Number | ValueKind::Boolean));
        let is_string = kind == Some(ValueKind::String) || is_string && !is_number;
        Ok(if is_string { Value::string(text) } else { Value::plain(text) })
    }
}

/// Replaces a part of the old text. A negative index prepends, and an index that is too large appends.
fn replace_part(old: &str, new: &str, options: &FieldOptions) -> String {
    let mut parts: Vec<&str> = old.split(&options.delimiter).collect();
    match usize::try_from(options.index) {
        Err(_) => parts.insert(0, new),
        Ok(at) if at >= parts.len() => parts.push(new),
        Ok(at) => parts[at] = new,
    }
    parts.join(&options.delimiter)
}

/// Sets all fields at a path; false if there are none.
pub(super) fn set(
    item: &mut Resource,
    source: &SourceValue,
    path: &FieldPath,
    options: &FieldOptions,
    budget: &mut ValueBudget,
) -> Result<bool, Error> {
    let failed = |item: &Resource, node: NodeRef<'_>, message: String| -> Error {
        let error = Diagnostic::error(CatalogKind::Failed { message: message.into() });
        in_resource(item, error.at(item.item().file(), node.full_span()))
    };
    let mut new = Vec::new();
    for path in path.targets(item.root(), options.create) {
        let node = item.root().document().find(&path);
        let value = source.value(node, field_type::of(item, &path), options);
        let value = value.map_err(|it| failed(item, node.unwrap_or(item.root()), it))?;
        budget.charge(value.text_length());
        budget.check(item)?;
        new.push((path, value));
    }
    item.edit(|edit, root| {
        for (path, value) in &new {
            match root.document().find(path) {
                Some(node) if node.kind() == NodeKind::Alias => {
                    edit.overwrite(node, value.clone())?;
                }
                // An equal value is left as it is written.
                Some(node) => edit.set(node, value.clone())?,
                None => edit.set_at(root.document(), path, value.clone())?,
            }
        }
        Ok(())
    })?;
    Ok(!new.is_empty())
}
