//! Inserts the first entries into an empty collection.

use super::lower::EditContext;
use super::splice::Splice;
use super::{Insertion, replace};
use crate::node::NodeKind;
use crate::node_ref::NodeRef;
use crate::style::indentation;
use crate::value::Value;

/// Replaces an empty `{}` or `[]` with a block collection.
pub(super) fn in_block<'a>(
    context: &mut EditContext<'a>,
    node: NodeRef<'a>,
    inserted: &[&Insertion<'_>],
) {
    replace::in_block(context, node, &filled(node, inserted));
}

/// Fills an empty `{}` or `[]` with entries on lines of their own, as pretty-printed JSON has them.
pub(super) fn over_lines<'a>(
    context: &mut EditContext<'a>,
    node: NodeRef<'a>,
    inserted: &[&Insertion<'_>],
) {
    let layout = context.layout(node);
    let renderer = context.renderer(node).within(&layout);
    let text =
        renderer.flow_lines(&filled(node, inserted), indentation(context.text, node.start()));
    context.splices.push(Splice::new(node.span(), text));
}

/// The collection that replaces an empty one.
fn filled<'e>(node: NodeRef<'_>, inserted: &[&Insertion<'e>]) -> Value<'e> {
    let value = |new: &&Insertion<'e>| new.value.clone();
    match node.kind() {
        NodeKind::Mapping => {
            let entry = |new: &&Insertion<'e>| (new.key.clone().unwrap_or(Value::Null), value(new));
            Value::Mapping(inserted.iter().map(entry).collect())
        }
        _ => Value::Sequence(inserted.iter().map(value).collect()),
    }
}
