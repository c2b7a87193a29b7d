//! The value of a replacement: taken from one field, in whole or in part, and put into others.

use krm_core::schema::ValueKind;
use krm_core::setters::typed_value;
use krm_sdk::yaml::{DocumentCopy, NodeKind, NodeRef, ScalarType, Value};
use krm_sdk::{Diagnostic, Error, Resource};

use super::config::FieldOptions;
use super::path::FieldPath;
use crate::changes::in_resource;
use crate::field_type;
use crate::kinds::CatalogKind;

/// A value on its way.
#[derive(Clone, Debug)]
pub(super) enum Taken {
    /// A scalar, and whether it is a text.
    Scalar { text: String, is_text: bool },
    /// A mapping or a list, with its comments.
    Tree(Value<'static>),
}

const SCALARS_ONLY: &str = "delimiter option can only be used with scalar nodes";

/// Whether there is something to take.
pub(super) fn is_filled(node: NodeRef<'_>) -> bool {
    let node = node.resolve();
    match node.as_scalar() {
        Some(scalar) => scalar.resolve() != ScalarType::Null,
        None => node.children().next().is_some(),
    }
}

impl Taken {
    /// What stands in a field, or the part of it that the options name.
    pub(super) fn new(node: NodeRef<'_>, options: &FieldOptions) -> Result<Self, String> {
        let node = node.resolve();
        let Some(scalar) = node.as_scalar() else {
            if !options.delimiter.is_empty() {
                return Err(SCALARS_ONLY.to_owned());
            }
            let whole =
                DocumentCopy::new(node.document(), &[], &[]).map_err(|error| error.to_string())?;
            return Ok(Self::Tree(Value::OwnedNode(whole.owned_node(node))));
        };
        let is_text = scalar.resolve() == ScalarType::String;
        let whole = scalar.value();
        if options.delimiter.is_empty() {
            return Ok(Self::Scalar { text: whole.into_owned(), is_text });
        }
        let part = usize::try_from(options.index).ok();
        match part.and_then(|at| whole.split(&options.delimiter).nth(at)) {
            Some(part) => Ok(Self::Scalar { text: part.to_owned(), is_text }),
            None => {
                Err(format!("options.index {} is out of bounds for value {whole}", options.index))
            }
        }
    }

    /// A value that the functionConfig holds itself.
    pub(super) fn of_value(value: Value<'static>) -> Self {
        match value {
            Value::String(text) => Self::Scalar { text: text.into_owned(), is_text: true },
            Value::Number(text) => Self::Scalar { text: text.into_owned(), is_text: false },
            Value::Bool(value) => Self::Scalar { text: value.to_string(), is_text: false },
            other => Self::Tree(other),
        }
    }

    /// What a field becomes. The type of what stands there stays, as far as the value allows; a new field has the type of its schema,
    /// or that of the source.
    fn value(
        &self,
        there: Option<NodeRef<'_>>,
        shape: Option<ValueKind>,
        options: &FieldOptions,
    ) -> Result<Value<'static>, String> {
        let scalar = there.and_then(|node| node.resolve().as_scalar());
        let has_delimiter = !options.delimiter.is_empty();
        let (text, is_text) = match self {
            Self::Tree(_) if has_delimiter => return Err(SCALARS_ONLY.to_owned()),
            Self::Tree(value) => return Ok(value.clone()),
            Self::Scalar { text, is_text } => (text, *is_text),
        };
        if has_delimiter && there.is_some() && scalar.is_none() {
            return Err(SCALARS_ONLY.to_owned());
        }
        let text = match has_delimiter {
            true => joined(&scalar.map(|it| it.value()).unwrap_or_default(), text, options),
            false => text.clone(),
        };
        if let Some(scalar) = scalar.filter(|it| it.resolve() != ScalarType::Null) {
            return Ok(typed_value(scalar.node(), &text, shape.map(ValueKind::name)));
        }
        let is_number =
            matches!(shape, Some(ValueKind::Integer | ValueKind::Number | ValueKind::Boolean));
        let is_text = shape == Some(ValueKind::String) || is_text && !is_number;
        Ok(if is_text { Value::string(text) } else { Value::plain(text) })
    }
}

/// The old text with the new one as one of its parts: before all where the index is below zero, behind all where it is too
/// large.
fn joined(old: &str, new: &str, options: &FieldOptions) -> String {
    let mut parts: Vec<&str> = old.split(&options.delimiter).collect();
    match usize::try_from(options.index) {
        Err(_) => parts.insert(0, new),
        Ok(at) if at >= parts.len() => parts.push(new),
        Ok(at) => parts[at] = new,
    }
    parts.join(&options.delimiter)
}

/// Puts a value into all fields that a path leads to; false where it leads to none.
pub(super) fn put(
    item: &mut Resource,
    taken: &Taken,
    path: &FieldPath,
    options: &FieldOptions,
) -> Result<bool, Error> {
    let failed = |item: &Resource, node: NodeRef<'_>, message: String| -> Error {
        let error = Diagnostic::error(CatalogKind::Failed { message: message.into() });
        in_resource(item, error.at(item.item().file(), node.full_span()))
    };
    let found = path.find(item.root());
    let mut new = Vec::new();
    for node in &found {
        let value = taken.value(Some(*node), field_type::of(item, &node.path()), options);
        let value = value.map_err(|message| failed(item, *node, message))?;
        // A value that is there already is left as it is.
        new.push((node.path(), value));
    }
    if !new.is_empty() {
        item.edit(|edit, root| {
            for (path, value) in &new {
                let Some(node) = root.document().find(path) else { continue };
                if node.kind() == NodeKind::Alias {
                    edit.overwrite(node, value.clone())?;
                } else {
                    edit.set(node, value.clone())?;
                }
            }
            Ok(())
        })?;
        return Ok(true);
    }
    let Some(path) = path.to_make(item.root()).filter(|_| options.create) else { return Ok(false) };
    let value = taken
        .value(None, field_type::of(item, &path), options)
        .map_err(|message| failed(item, item.root(), message))?;
    item.edit(|edit, root| edit.set_at(root.document(), &path, value))?;
    Ok(true)
}
