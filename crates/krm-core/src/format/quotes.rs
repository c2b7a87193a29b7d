//! Adding and removing quotes by schema: strings that YAML reads as another type get quotes, numbers and booleans lose them.

use krm_yaml::{Edit, File, NodeKind, NodeRef, Scalar, ScalarStyle, ScalarType, Value};

use super::scope::FormatScope;
use super::{FormatKind, FormatOptions, Formatted};
use crate::model::Quantity;
use crate::schema::{Schema, Type, ValueKind};
use crate::{Diagnostic, Severity};

/// A scalar whose quotes change.
struct QuoteChange<'a> {
    node: NodeRef<'a>,
    value: Value<'a>,
    kind: FormatKind,
}

impl QuoteChange<'_> {
    /// An info with the location, but for a Secret without the line, which contains the value.
    fn to_diagnostic(&self, resource_kind: &str) -> Diagnostic {
        let info = Diagnostic::new(Severity::Info, self.kind.clone());
        match resource_kind {
            "Secret" => info.field(self.node.path().to_string()),
            _ => info.at(self.node.document().file(), self.node.span()),
        }
    }
}

/// Adds and removes quotes by the schema, and reports each change.
pub(super) fn by_schema(
    file: &File,
    schema: &Schema,
    options: FormatOptions<'_>,
) -> Result<Formatted, Vec<Diagnostic>> {
    let mut edit = Edit::new(file).json(options.json);
    let mut diagnostics = Vec::new();
    for document in file.documents() {
        let scope = FormatScope::of(document).map_err(|error| vec![error])?;
        let aliased = AliasedNodes::of(document.root());
        for resource in scope.resources() {
            let kind = schema.resource_type(&resource.api_version(), &resource.kind());
            for found in kind.map(|kind| find_changes(resource.node, kind)).unwrap_or_default() {
                if aliased.contains(found.node) {
                    diagnostics.push(shared(found.node));
                    continue;
                }
                diagnostics.push(found.to_diagnostic(&resource.kind()));
                edit.overwrite(found.node, found.value)
                    .map_err(|error| vec![Diagnostic::from_edit(&error, file)])?;
            }
        }
    }
    if edit.is_empty() {
        return Ok(Formatted { text: None, diagnostics });
    }
    let text = edit.apply().map_err(|error| vec![Diagnostic::from_edit(&error, file)])?;
    Ok(Formatted { text: Some(text).filter(|text| text != file.text()), diagnostics })
}

fn shared(node: NodeRef<'_>) -> Diagnostic {
    Diagnostic::warning(FormatKind::QuotesShared).at(node.document().file(), node.span())
}

/// The nodes that aliases refer to. Each alias may be used in a field of another type.
struct AliasedNodes(Vec<std::ops::Range<usize>>);

impl AliasedNodes {
    fn of(root: Option<NodeRef<'_>>) -> Self {
        let nodes = root.into_iter().flat_map(|root| root.descendants());
        Self(nodes.filter_map(NodeRef::target).map(|target| target.subtree()).collect())
    }

    fn contains(&self, node: NodeRef<'_>) -> bool {
        self.0.iter().any(|range| range.contains(&node.index()))
    }
}

/// The scalars below a node whose quotes do not match their type.
fn find_changes<'a>(node: NodeRef<'a>, kind: Type<'_>) -> Vec<QuoteChange<'a>> {
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
            NodeKind::Scalar(_) => {
                found.extend(node.as_scalar().and_then(|it| quote_change(it, kind)));
            }
            NodeKind::Alias => {}
        }
    }
    found.sort_by_key(|change| change.node.index());
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

/// The change of a scalar, if its quotes do not match its type. Null and scalars with a tag are not changed.
fn quote_change<'a>(scalar: Scalar<'a>, kind: Type<'_>) -> Option<QuoteChange<'a>> {
    let node = scalar.node();
    if node.tag().is_some() {
        return None;
    }
    let text = scalar.value();
    let value_kind = kind.value_kind();
    match (scalar.style(), value_kind) {
        (ScalarStyle::Plain, ValueKind::String) => {
            let read = [scalar.resolve(), scalar.resolve_1_1()];
            let is_other = read.iter().any(|read| *read != ScalarType::String);
            let is_null = read.contains(&ScalarType::Null);
            let kind = FormatKind::QuotesAdded { field: node.path().to_string() };
            let value = Value::String(text);
            (is_other && !is_null).then_some(QuoteChange { node, value, kind })
        }
        // Compat: kyaml reads a Quantity as a string. Numbers that mean something else with quotes are left as they are.
        (ScalarStyle::Plain, ValueKind::NumberOrString) => {
            let read = scalar.resolve();
            let is_decimal =
                text.chars().all(|c| matches!(c, '0'..='9' | '.' | 'e' | 'E' | '+' | '-'));
            let is_same = is_decimal
                && is_of_type(read, ValueKind::Number)
                && read == scalar.resolve_1_1()
                && Quantity::parse(&text).is_some();
            let kind = FormatKind::QuotesAdded { field: node.path().to_string() };
            is_same.then_some(QuoteChange { node, value: Value::String(text), kind })
        }
        (style, ValueKind::Boolean | ValueKind::Integer | ValueKind::Number)
            if style.is_quoted() =>
        {
            let read = ScalarType::of_plain(&text);
            let is_unambiguous =
                is_of_type(read, value_kind) && read == ScalarType::of_plain_1_1(&text);
            let field = node.path().to_string();
            let kind = FormatKind::QuotesRemoved { field, schema_type: value_kind.name() };
            is_unambiguous.then(|| QuoteChange { node, value: Value::plain(text), kind })
        }
        _ => None,
    }
}

/// Whether a scalar that resolves to this is of a schema type.
fn is_of_type(read: ScalarType, value_kind: ValueKind) -> bool {
    match value_kind {
        ValueKind::Boolean => matches!(read, ScalarType::Bool(_)),
        ValueKind::Integer => matches!(read, ScalarType::Int(_)),
        ValueKind::Number => matches!(read, ScalarType::Int(_) | ScalarType::Float(_)),
        _ => false,
    }
}
