//! Selecting fields of resources by the end of their path and by their value.

use krm_yaml::{NodeKind, NodeRef, Path, Segment};

use super::definition::SetterValue;
use super::fields::is_settable;
use crate::PackageFile;

/// Selects fields of resources.
#[derive(Clone, Debug, Default)]
pub(super) struct FieldFilter {
    /// The last segments of the path: `image`, `containers.image`, `containers[name=web].image`.
    pub(super) path: Option<Path>,
    /// The value; any value if there is none.
    pub(super) value: Option<SetterValue>,
    /// Whether sequences of scalars are selected instead of scalars.
    pub(super) lists: bool,
}

/// A step from a node to a child.
#[derive(Clone, Copy)]
enum PathStep<'a> {
    Key(NodeRef<'a>),
    Item(usize, NodeRef<'a>),
}

/// The selected fields of a file. Krmfiles and Kptfiles have none.
pub(super) fn find<'a>(file: &'a PackageFile, filter: &FieldFilter) -> Vec<NodeRef<'a>> {
    let mut found = Vec::new();
    if file.path.is_package_file() {
        return found;
    }
    for resource in file.resources() {
        visit(resource.node, &mut Vec::new(), filter, &mut found);
    }
    found
}

/// Recursion is bounded: the parser limits how deep a document can nest.
fn visit<'a>(
    node: NodeRef<'a>,
    path: &mut Vec<PathStep<'a>>,
    filter: &FieldFilter,
    found: &mut Vec<NodeRef<'a>>,
) {
    if is_selected(node, path, filter) {
        found.push(node);
    }
    if let Some(mapping) = node.as_mapping() {
        for entry in mapping.entries() {
            path.push(PathStep::Key(entry.key));
            visit(entry.value, path, filter, found);
            path.pop();
        }
    } else if node.kind() == NodeKind::Sequence {
        for (at, item) in node.children().enumerate() {
            path.push(PathStep::Item(at, item));
            visit(item, path, filter, found);
            path.pop();
        }
    }
}

fn is_selected(node: NodeRef<'_>, path: &[PathStep<'_>], filter: &FieldFilter) -> bool {
    let is_list = node.kind() == NodeKind::Sequence;
    if is_list != filter.lists || !is_settable(node) || path.is_empty() {
        return false;
    }
    let names = |step: &PathStep<'_>| match step {
        PathStep::Key(key) => {
            key.as_scalar().is_some_and(|key| key.is("apiVersion") || key.is("kind"))
        }
        PathStep::Item(..) => false,
    };
    // `apiVersion` and `kind` identify the resource type and are never set.
    if path.len() == 1 && names(&path[0]) {
        return false;
    }
    let by_value = match &filter.value {
        Some(SetterValue::Scalar(value)) => node.as_scalar().is_some_and(|it| it.is(value)),
        Some(value) => SetterValue::of_node(node) == *value,
        None => true,
    };
    by_value && filter.path.as_ref().is_none_or(|end| ends_with(path, end.segments()))
}

/// Whether a path ends with these segments. Indices of sequences may be left out.
fn ends_with(path: &[PathStep<'_>], end: &[Segment]) -> bool {
    let mut path = path.iter().rev().peekable();
    for segment in end.iter().rev() {
        if matches!(segment, Segment::Key(_)) {
            while path.next_if(|step| matches!(step, PathStep::Item(..))).is_some() {}
        }
        let matches = match (path.next(), segment) {
            (Some(PathStep::Key(key)), Segment::Key(name)) => {
                key.as_scalar().is_some_and(|key| key.is(name))
            }
            (Some(PathStep::Item(at, _)), Segment::Index(index)) => at == index,
            (Some(PathStep::Item(_, item)), Segment::Match { key, value }) => {
                let field = item.step(&Segment::Key(key.clone()));
                field.and_then(|it| it.as_scalar()).is_some_and(|it| it.is(value))
            }
            _ => false,
        };
        if !matches {
            return false;
        }
    }
    true
}
