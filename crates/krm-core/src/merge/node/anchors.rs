//! Anchors: what comes from another document must mean there what it meant at home.

use std::collections::HashSet;

use krm_yaml::{File, NodeKind, NodeRef, OwnedNode, ScalarStyle, ScalarType, Value};

use super::fields::Fields;
use super::ground::Ground;
use super::same::own_tag;
use crate::Diagnostic;

/// How many nodes a value may have once its aliases are written out.
const MOST_NODES: usize = 1_000_000;

/// How deep it may be.
const DEEPEST: usize = 1000;

/// Whether a node cannot be taken over as it stands: it leans on an anchor outside of it, or brings one of a name that
/// the destination has, or any into JSON.
pub(super) fn is_bound(node: NodeRef<'_>, home: &Ground<'_>, destination: &Ground<'_>) -> bool {
    if home.anchors.is_empty() {
        return false;
    }
    let inside = node.span();
    let mut waiting = vec![node];
    while let Some(next) = waiting.pop() {
        let leans = next.target().is_some_and(|target| !inside.contains(target.span()));
        let clashes = next.anchor().is_some_and(|anchor| {
            destination.anchors.contains_key(anchor) || home.anchors.get(anchor) != Some(&1)
        });
        let is_strange =
            destination.is_json && (next.anchor().is_some() || next.target().is_some());
        if leans || clashes || is_strange {
            return true;
        }
        waiting.extend(next.children());
    }
    false
}

/// Whether two aliases name an anchor at the same place: what changes there changes for both.
pub(super) fn is_same_alias(a: NodeRef<'_>, b: NodeRef<'_>) -> bool {
    let targets = a.target().zip(b.target());
    a.text() == b.text() && targets.is_some_and(|(a, b)| a.path() == b.path())
}

/// A value without anchors and aliases, and without some of its entries.
pub(super) fn written_out<'a>(
    node: NodeRef<'a>,
    without: &[NodeRef<'a>],
) -> Result<Value<'a>, Diagnostic> {
    let without: HashSet<usize> = without.iter().map(|node| node.index()).collect();
    let refuse = |message: String| {
        Diagnostic::untyped_error(message).at(node.document().file(), node.full_span())
    };
    if let Some(tag) = tag_inside(node) {
        let message = format!("`{tag}` leans on an anchor and cannot be written out with its tag");
        return Err(refuse(message).hint("give the anchor another name, or write the values out"));
    }
    let mut left = MOST_NODES;
    value(node, &without, &mut left, DEEPEST).ok_or_else(|| {
        refuse(format!("its aliases stand for more than {MOST_NODES} nodes"))
            .hint("write out less with aliases in the source")
    })
}

/// A tag of somebody's own in a node; a value that is written out could not have it.
fn tag_inside(node: NodeRef<'_>) -> Option<&str> {
    let mut met = HashSet::new();
    let mut waiting = vec![node];
    while let Some(next) = waiting.pop().map(NodeRef::resolve) {
        if let Some(tag) = own_tag(next) {
            return Some(tag);
        }
        // Aliases may lead to a node again and again.
        if met.insert(next.index()) {
            waiting.extend(next.children());
        }
    }
    None
}

fn value<'a>(
    node: NodeRef<'a>,
    without: &HashSet<usize>,
    left: &mut usize,
    depth: usize,
) -> Option<Value<'a>> {
    *left = left.checked_sub(1)?;
    let depth = depth.checked_sub(1)?;
    let node = node.resolve();
    match node.kind() {
        NodeKind::Mapping => {
            let fields = Fields::of(node, true);
            let kept = fields.iter().filter(|(_, field)| !without.contains(&field.value.index()));
            let entry = |(_, field): (&str, super::fields::Field<'a>)| {
                let key = word(field.key).or_else(|| scalar(field.key));
                let key = key.or_else(|| value(field.key, without, left, depth))?;
                Some((key, value(field.value, without, left, depth)?))
            };
            kept.map(entry).collect::<Option<_>>().map(Value::Mapping)
        }
        NodeKind::Sequence => {
            let kept = node.children().filter(|item| !without.contains(&item.index()));
            let items = kept.map(|item| value(item, without, left, depth));
            items.collect::<Option<_>>().map(Value::Sequence)
        }
        NodeKind::Scalar(_) => scalar(node),
        // An alias to itself.
        NodeKind::Alias => None,
    }
}

/// What a scalar means, without its style; none for any other node.
pub(super) fn scalar(node: NodeRef<'_>) -> Option<Value<'_>> {
    let scalar = node.resolve().as_scalar()?;
    Some(match scalar.resolve() {
        // A word such as `on`, which is a boolean to readers of YAML 1.1, comes as it stands.
        ScalarType::String if scalar.resolve_1_1() != ScalarType::String => {
            word(node).unwrap_or(Value::String(scalar.value()))
        }
        ScalarType::Null => Value::Null,
        ScalarType::Bool(value) => Value::Bool(value),
        ScalarType::Int(_) | ScalarType::Float(_) => Value::Number(scalar.value()),
        ScalarType::String => Value::String(scalar.value()),
    })
}

/// A plain word that some reader takes for null or a boolean, as it is spelled: keys pair by that.
pub(super) fn word<'a>(node: NodeRef<'_>) -> Option<Value<'a>> {
    let scalar = node.resolve().as_scalar().filter(|it| it.style() == ScalarStyle::Plain)?;
    let is_word = scalar.resolve_1_1() != ScalarType::String && !scalar.raw().is_empty();
    let file = is_word.then(|| File::parse(scalar.value().into_owned()))?.ok()?;
    OwnedNode::root(file).map(Value::OwnedNode)
}
