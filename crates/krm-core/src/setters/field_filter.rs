//! Which fields of resources are meant: by the end of their path, and by their value.

use krm_yaml::{NodeKind, NodeRef, Path, Segment};

use super::fields::is_settable;
use crate::PackageFile;

/// What is looked for.
#[derive(Clone, Debug, Default)]
pub struct FieldFilter {
    /// The end of the path, by whole steps: `image`, `containers.image`, `containers[name=web].image`.
    pub field: Option<Path>,
    /// The value; any where there is none.
    pub value: Option<String>,
    /// Lists of values instead of single ones.
    pub lists: bool,
}

/// One step from the root to a field.
#[derive(Clone, Copy)]
enum Step<'a> {
    Key(NodeRef<'a>),
    Item(usize, NodeRef<'a>),
}

/// The fields of a file's resources that are meant. Files that say what a package is hold none.
pub(super) fn find<'a>(file: &'a PackageFile, wanted: &FieldFilter) -> Vec<NodeRef<'a>> {
    let mut found = Vec::new();
    if file.path.is_package_file() {
        return found;
    }
    for resource in file.resources() {
        visit(resource.node, &mut Vec::new(), wanted, &mut found);
    }
    found
}

/// As deep as the text is nested, which the reader bounds.
fn visit<'a>(
    node: NodeRef<'a>,
    way: &mut Vec<Step<'a>>,
    wanted: &FieldFilter,
    found: &mut Vec<NodeRef<'a>>,
) {
    if is_meant(node, way, wanted) {
        found.push(node);
    }
    if let Some(mapping) = node.as_mapping() {
        for entry in mapping.entries() {
            way.push(Step::Key(entry.key));
            visit(entry.value, way, wanted, found);
            way.pop();
        }
    } else if node.kind() == NodeKind::Sequence {
        for (at, item) in node.children().enumerate() {
            way.push(Step::Item(at, item));
            visit(item, way, wanted, found);
            way.pop();
        }
    }
}

fn is_meant(node: NodeRef<'_>, way: &[Step<'_>], wanted: &FieldFilter) -> bool {
    let is_list = node.kind() == NodeKind::Sequence;
    if is_list != wanted.lists || !is_settable(node) || way.is_empty() {
        return false;
    }
    let names = |step: &Step<'_>| match step {
        Step::Key(key) => key.as_scalar().is_some_and(|key| key.is("apiVersion") || key.is("kind")),
        Step::Item(..) => false,
    };
    // What a resource is, is no setting.
    if way.len() == 1 && names(&way[0]) {
        return false;
    }
    let by_value = match &wanted.value {
        Some(value) => node.as_scalar().is_some_and(|scalar| scalar.is(value)),
        None => true,
    };
    by_value && wanted.field.as_ref().is_none_or(|field| ends_with(way, field.segments()))
}

/// Whether a way ends with these steps; items of lists need not be named.
fn ends_with(way: &[Step<'_>], steps: &[Segment]) -> bool {
    let mut way = way.iter().rev().peekable();
    for step in steps.iter().rev() {
        if matches!(step, Segment::Key(_)) {
            while way.next_if(|step| matches!(step, Step::Item(..))).is_some() {}
        }
        let fits = match (way.next(), step) {
            (Some(Step::Key(key)), Segment::Key(name)) => {
                key.as_scalar().is_some_and(|key| key.is(name))
            }
            (Some(Step::Item(at, _)), Segment::Index(index)) => at == index,
            (Some(Step::Item(_, item)), Segment::Match { key, value }) => {
                let field = item.step(&Segment::Key(key.clone()));
                field.and_then(|it| it.as_scalar()).is_some_and(|it| it.is(value))
            }
            _ => false,
        };
        if !fits {
            return false;
        }
    }
    true
}
