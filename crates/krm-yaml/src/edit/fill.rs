//! The first entries of an empty collection.

use super::lower::Ground;
use super::splice::Splice;
use super::{Insertion, replace};
use crate::manners::indentation;
use crate::node::NodeKind;
use crate::value::Value;
use crate::view::NodeRef;

/// Gives an empty `{}` or `[]` its first entries, in block style.
pub(super) fn in_block<'a>(
    ground: &mut Ground<'a>,
    node: NodeRef<'a>,
    inserted: &[&Insertion<'_>],
) {
    replace::in_block(ground, node, &filled(node, inserted));
}

/// Gives an empty `{}` or `[]` its first entries, on lines of their own as JSON is often printed.
pub(super) fn over_lines<'a>(
    ground: &mut Ground<'a>,
    node: NodeRef<'a>,
    inserted: &[&Insertion<'_>],
) {
    let listing = ground.listing(node);
    let renderer = ground.renderer(node).within(&listing);
    let text = renderer.flow_lines(&filled(node, inserted), indentation(ground.text, node.start()));
    ground.splices.push(Splice::new(node.span(), text));
}

/// The collection that an empty one becomes.
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
