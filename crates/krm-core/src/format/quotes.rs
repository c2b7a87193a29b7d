//! Quotes by schema: text that reads as something else gets them, and numbers and booleans lose them.

use krm_yaml::{Edit, File, NodeKind, NodeRef, Scalar, ScalarStyle, ScalarType, Value};

use super::scope::FormatScope;
use super::{FormatOptions, Formatted};
use crate::schema::{Schema, Type, ValueKind};
use crate::{Diagnostic, Severity};

/// A value that is to be written anew.
struct Retyped<'a> {
    node: NodeRef<'a>,
    value: Value<'a>,
    words: String,
}

impl Retyped<'_> {
    /// What becomes of it. The line of a Secret's value is not shown.
    fn told(&self, kind: &str) -> Diagnostic {
        let path = self.node.path().to_string();
        let words = Diagnostic::untyped(Severity::Info, format!("{path} {}", self.words));
        match kind {
            "Secret" => words.field(path),
            _ => words.at(self.node.document().file(), self.node.span()),
        }
    }
}

/// Gives and takes quotes as the schema says, and tells each of them.
pub(super) fn by_schema(
    file: &File,
    schema: &Schema,
    options: FormatOptions<'_>,
) -> Result<Formatted, Vec<Diagnostic>> {
    let mut edit = Edit::new(file).json(options.json);
    let mut told = Vec::new();
    for document in file.documents() {
        let scope = FormatScope::of(document).map_err(|error| vec![error])?;
        let shared = Shared::of(document.root());
        for resource in scope.resources() {
            let kind = schema.resource_type(&resource.api_version(), &resource.kind());
            for found in kind.map(|kind| below(resource.node, kind)).unwrap_or_default() {
                if shared.has(found.node) {
                    told.push(left(found.node));
                    continue;
                }
                told.push(found.told(&resource.kind()));
                edit.overwrite(found.node, found.value)
                    .map_err(|error| vec![Diagnostic::from_edit(&error, file)])?;
            }
        }
    }
    if edit.is_empty() {
        return Ok(Formatted { text: None, diagnostics: told });
    }
    let text = edit.apply().map_err(|error| vec![Diagnostic::from_edit(&error, file)])?;
    Ok(Formatted { text: Some(text).filter(|text| text != file.text()), diagnostics: told })
}

fn left(node: NodeRef<'_>) -> Diagnostic {
    let message = "this stays as it is, though its schema asks for other quotes: aliases share it";
    Diagnostic::untyped_warning(message).at(node.document().file(), node.span())
}

/// What aliases stand for: it has as many types as there are places.
struct Shared(Vec<std::ops::Range<usize>>);

impl Shared {
    fn of(root: Option<NodeRef<'_>>) -> Self {
        let nodes = root.into_iter().flat_map(|root| root.descendants());
        Self(nodes.filter_map(NodeRef::target).map(|target| target.subtree()).collect())
    }

    fn has(&self, node: NodeRef<'_>) -> bool {
        self.0.iter().any(|range| range.contains(&node.index()))
    }
}

/// The values below a node whose quotes are not as its type says.
fn below<'a>(node: NodeRef<'a>, kind: Type<'_>) -> Vec<Retyped<'a>> {
    let (mut found, mut open) = (Vec::new(), vec![(node, kind)]);
    while let Some((node, kind)) = open.pop() {
        match node.kind() {
            NodeKind::Mapping => open.extend(fields(node, kind)),
            NodeKind::Sequence => {
                open.extend(
                    kind.item()
                        .into_iter()
                        .flat_map(|item| node.children().map(move |node| (node, item))),
                );
            }
            NodeKind::Scalar(_) => found.extend(node.as_scalar().and_then(|it| retyped(it, kind))),
            NodeKind::Alias => {}
        }
    }
    found.sort_by_key(|retyped| retyped.node.index());
    found
}

fn fields<'a, 's>(
    node: NodeRef<'a>,
    kind: Type<'s>,
) -> impl Iterator<Item = (NodeRef<'a>, Type<'s>)> {
    let entries = node.as_mapping().into_iter().flat_map(|mapping| mapping.entries());
    entries.filter_map(move |entry| {
        let name = entry.key.resolve().as_scalar()?.value();
        Some((entry.value, kind.field(&name)?))
    })
}

/// What a scalar should be by its type, if it is something else. Null is left alone, and so is what has a tag.
fn retyped<'a>(scalar: Scalar<'a>, kind: Type<'_>) -> Option<Retyped<'a>> {
    let node = scalar.node();
    if node.tag().is_some() {
        return None;
    }
    let text = scalar.value();
    let shape = kind.value_kind();
    match (scalar.style(), shape) {
        (ScalarStyle::Plain, ValueKind::String) => {
            let read = [scalar.resolve(), scalar.resolve_1_1()];
            let is_other = read.iter().any(|read| *read != ScalarType::String);
            let is_null = read.contains(&ScalarType::Null);
            let words = "gets quotes: it is text by its schema".to_owned();
            (is_other && !is_null).then_some(Retyped { node, value: Value::String(text), words })
        }
        (style, ValueKind::Boolean | ValueKind::Integer | ValueKind::Number)
            if style.is_quoted() =>
        {
            let read = ScalarType::of_plain(&text);
            let is_meant = fits(read, shape) && read == ScalarType::of_plain_1_1(&text);
            let words = format!("loses its quotes: it is {} by its schema", name(shape));
            is_meant.then(|| Retyped { node, value: Value::plain(text), words })
        }
        _ => None,
    }
}

/// Whether a value that reads so is one of this shape.
fn fits(read: ScalarType, shape: ValueKind) -> bool {
    match shape {
        ValueKind::Boolean => matches!(read, ScalarType::Bool(_)),
        ValueKind::Integer => matches!(read, ScalarType::Int(_)),
        ValueKind::Number => matches!(read, ScalarType::Int(_) | ScalarType::Float(_)),
        _ => false,
    }
}

fn name(shape: ValueKind) -> &'static str {
    match shape {
        ValueKind::Boolean => "a boolean",
        ValueKind::Integer => "an integer",
        _ => "a number",
    }
}
