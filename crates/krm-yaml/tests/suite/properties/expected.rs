//! Applies changes to the model of a document.

use krm_yaml::CollectionStyle;

use super::change::{Change, What};
use super::model::{Kind, Shape, Tag, Tree};

/// The expected document after the changes.
pub(crate) fn expected(tree: &Tree, changes: &[Change]) -> Tree {
    rebuilt(tree, &mut Vec::new(), changes).unwrap_or_else(|| tree.clone())
}

fn rebuilt(tree: &Tree, path: &mut Vec<usize>, changes: &[Change]) -> Option<Tree> {
    let here: Vec<&What> =
        changes.iter().filter(|change| change.path == *path).map(|change| &change.what).collect();
    for what in &here {
        match what {
            What::Set(value) if value.difference(&unstyled(tree)).is_none() => {
                return Some(tree.clone());
            }
            What::Set(value) => return Some(replaced(tree, value.clone())),
            What::Rename(name) => return Some(replaced(tree, Tree::text(name))),
            _ => {}
        }
    }
    let is_removed = |path: &[usize]| {
        changes
            .iter()
            .any(|change| change.path == path && matches!(change.what, What::Remove { .. }))
    };
    let prunes = changes.iter().any(|change| matches!(change.what, What::Remove { prune: true }));
    let mut shape = tree.shape.clone();
    match (&tree.shape, &mut shape) {
        (Shape::Sequence { items: old, .. }, Shape::Sequence { items, notation }) => {
            let mut slots: Vec<Option<Tree>> = Vec::new();
            for (at, item) in old.iter().enumerate() {
                path.push(at);
                slots.push(if is_removed(path) { None } else { rebuilt(item, path, changes) });
                path.pop();
            }
            *items = arranged(&slots, &here, |what| match what {
                What::InsertItem { value, at, .. } => Some((*at, value.clone())),
                _ => None,
            });
            if items.is_empty() && !old.is_empty() && prunes && !path.is_empty() {
                return None;
            }
            if items.is_empty() != old.is_empty() || *notation == Some(CollectionStyle::Pair) {
                *notation = None;
            }
        }
        (Shape::Mapping { entries: old, .. }, Shape::Mapping { entries, notation }) => {
            let mut slots: Vec<Option<(Tree, Tree)>> = Vec::new();
            for (at, (key, value)) in old.iter().enumerate() {
                path.push(at * 2);
                let is_gone = is_removed(path);
                let key = rebuilt(key, path, changes);
                path.pop();
                path.push(at * 2 + 1);
                let value =
                    if is_gone || is_removed(path) { None } else { rebuilt(value, path, changes) };
                path.pop();
                slots.push(key.zip(value));
            }
            *entries = arranged(&slots, &here, |what| match what {
                What::InsertKey { key, value, at, .. } => {
                    Some((*at, (Tree::text(key), value.clone())))
                }
                _ => None,
            });
            if entries.is_empty() && !old.is_empty() && prunes && !path.is_empty() {
                return None;
            }
            if entries.is_empty() != old.is_empty() || *notation == Some(CollectionStyle::Pair) {
                *notation = None;
            }
        }
        _ => {}
    }
    Some(Tree { shape, ..tree.clone() })
}

/// The entries that are kept, in their new order, with the new ones at their positions.
fn arranged<T: Clone>(
    slots: &[Option<T>],
    here: &[&What],
    inserted: impl Fn(&What) -> Option<(usize, T)>,
) -> Vec<T> {
    let count = slots.len();
    let mut order: Vec<usize> = (0..count).collect();
    for what in here {
        match what {
            What::Move { from, to } => {
                let item = order.remove(*from);
                order.insert(*to, item);
            }
            What::Reorder(new) => order.clone_from(new),
            _ => {}
        }
    }
    let mut kept = order.into_iter().filter_map(|at| slots[at].clone());
    let mut out = Vec::new();
    for at in 0..=count {
        out.extend(
            here.iter()
                .filter_map(|what| inserted(what))
                .filter(|(before, _)| *before == at)
                .map(|(_, new)| new),
        );
        if slots.get(at).is_some_and(Option::is_some) {
            out.extend(kept.next());
        }
    }
    out
}

/// A new value keeps the anchor of the old one, and may keep its tag.
fn replaced(old: &Tree, new: Tree) -> Tree {
    Tree { anchor: old.anchor.clone(), tag: Tag::Any, shape: new.shape }
}

/// A tree without styles.
fn unstyled(tree: &Tree) -> Tree {
    // A new value has no anchors and tags inside it, so one is equal only to nodes without them.
    let inner =
        |tree: &Tree| Tree { anchor: tree.anchor.clone(), tag: tree.tag.clone(), ..unstyled(tree) };
    let shape = match &tree.shape {
        Shape::Sequence { items, .. } => {
            Shape::Sequence { items: items.iter().map(inner).collect(), notation: None }
        }
        Shape::Mapping { entries, .. } => Shape::Mapping {
            entries: entries.iter().map(|(key, value)| (inner(key), inner(value))).collect(),
            notation: None,
        },
        Shape::Scalar { text, kind, .. } => {
            let text = if *kind == Kind::Null { String::new() } else { text.clone() };
            Shape::Scalar { text, kind: *kind, style: None }
        }
        other => other.clone(),
    };
    Tree::of(shape)
}
