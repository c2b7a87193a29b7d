//! The delta: what changed between two versions of a node, with the keys that say what it belongs to.

use krm_yaml::{NodeKind, NodeRef};

use super::element::Elements;
use super::fields::Fields;
use super::remarks::key_step;
use super::same::{is_null, same};
use super::shape::{ListKind, MapKind, Shape};
use super::two_lists::{kind_of, step};
use super::work::Work;

/// The entries of `upstream` that are as they were in `base`; nothing at all where no entry changed or came.
pub(super) fn unchanged<'a>(
    work: &mut Work<'a, '_>,
    base: NodeRef<'a>,
    upstream: NodeRef<'a>,
    shape: &Shape<'_>,
    keys: &[String],
) -> Option<Vec<NodeRef<'a>>> {
    if same(base, upstream) {
        return None;
    }
    // What an alias stands for may hold the alias: it comes whole.
    if base.kind() == NodeKind::Alias || upstream.kind() == NodeKind::Alias {
        return Some(Vec::new());
    }
    match (base.kind(), upstream.kind()) {
        (NodeKind::Mapping, NodeKind::Mapping) if shape.mapping() != MapKind::Whole => {
            of_mapping(work, base, upstream, shape, keys)
        }
        (NodeKind::Sequence, NodeKind::Sequence) => of_list(work, base, upstream, shape),
        _ => Some(Vec::new()),
    }
}

fn of_mapping<'a>(
    work: &mut Work<'a, '_>,
    base: NodeRef<'a>,
    upstream: NodeRef<'a>,
    shape: &Shape<'_>,
    keys: &[String],
) -> Option<Vec<NodeRef<'a>>> {
    let shape = &shape.or_resource(work.rules, upstream);
    let (old, new) = (Fields::of(base, true), Fields::of(upstream, true));
    let mut without = Vec::new();
    let mut changed = false;
    for (name, field) in new.iter() {
        // Nothing comes back as `null`: that says that it is cleared.
        if is_null(field.value) {
            without.push(field.value);
            continue;
        }
        let is_key = keys.iter().any(|key| key == name);
        let Some(before) = old.get(name) else {
            changed = true;
            continue;
        };
        let shape = shape.field(name);
        let below = work
            .below(key_step(name), |work| unchanged(work, before.value, field.value, &shape, &[]));
        match below {
            Some(deeper) => {
                changed = true;
                without.extend(deeper);
            }
            None if is_key => {}
            None => without.push(field.value),
        }
    }
    changed.then_some(without)
}

fn of_list<'a>(
    work: &mut Work<'a, '_>,
    base: NodeRef<'a>,
    upstream: NodeRef<'a>,
    shape: &Shape<'_>,
) -> Option<Vec<NodeRef<'a>>> {
    let kind = kind_of(work, shape, &[base.children().collect(), upstream.children().collect()]);
    let keys: Vec<String> = match &kind {
        ListKind::Whole => return Some(Vec::new()),
        ListKind::Keyed(keys) => keys.iter().map(|key| key.name.clone()).collect(),
        ListKind::Set => Vec::new(),
        ListKind::Resources => ["apiVersion", "kind", "metadata"].map(str::to_owned).to_vec(),
    };
    let (old, new) =
        (Elements::of(Some(base), &kind, |_| true), Elements::of(Some(upstream), &kind, |_| true));
    let mut without = Vec::new();
    let mut changed = false;
    let shape = shape.item();
    for (at, id) in new.ids.iter().enumerate() {
        let Some(before) = old.get(id) else {
            changed = true;
            continue;
        };
        let below = work.below(step(id, &kind, at), |work| {
            unchanged(work, before, new.nodes[at], &shape, &keys)
        });
        match below {
            Some(deeper) => {
                changed = true;
                without.extend(deeper);
            }
            None => without.push(new.nodes[at]),
        }
    }
    changed.then_some(without)
}
