//! Whether what came back means what was sent, as far as a function can be held to it.
//!
//! Beside what [`scalars`] allows, these are no change: a field with `null` that is missing, because functions in Go drop
//! such fields; the annotations of the wire; a custom tag that is missing; and `creationTimestamp: null`, which is how Go
//! writes a time that nobody set. A `null` in any other place is the value that the function wants.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use krm_yaml::{NodeKind, NodeRef, Scalar, ScalarStyle, ScalarType};

use super::keys;
use super::scalars::{self, Fate};
use crate::functions::resource_list::annotations::is_wire_annotation;
use crate::merge::node::{Field, Fields, own_tag};
use crate::model::resource::is_null;

/// Deeper than any text nests; aliases lead to each pair of nodes once.
const DEEPEST: usize = 1000;

/// So many nodes are looked at to tell one element of a list from others, however much aliases stand for.
const MOST_NODES: usize = 20_000;

/// Where in a resource a node stands, as far as the wire has its annotations there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::functions::resource_list) enum At {
    Root,
    Metadata,
    Annotations,
    Below,
}

impl At {
    pub(super) fn step(self, name: &str) -> Self {
        match (self, name) {
            (Self::Root, "metadata") => Self::Metadata,
            (Self::Metadata, "annotations") => Self::Annotations,
            _ => Self::Below,
        }
    }

    /// Whether a field here is the resource's own.
    pub(super) fn counts(self, name: &str) -> bool {
        self != Self::Annotations || !is_wire_annotation(name)
    }

    /// Whether nothing is left of a value once the annotations of the wire are gone.
    pub(super) fn is_nothing(self, value: NodeRef<'_>) -> bool {
        if !matches!(self, Self::Metadata | Self::Annotations) || value.as_mapping().is_none() {
            return false;
        }
        Fields::of(value, true).iter().all(|(name, field)| is_noise(name, field, self))
    }
}

/// Whether a field that only came back says nothing.
pub(super) fn is_noise(name: &str, field: Field<'_>, at: At) -> bool {
    !at.counts(name)
        || at.step(name).is_nothing(field.value)
        || name == "creationTimestamp" && is_null(field.value.resolve())
}

/// Whether a field that did not come back was dropped without a meaning.
pub(super) fn is_dropped(name: &str, field: Field<'_>, at: At) -> bool {
    !at.counts(name)
        || is_null(field.value.resolve())
        || !is_empty(field.value) && at.step(name).is_nothing(field.value)
}

fn is_empty(node: NodeRef<'_>) -> bool {
    node.children().next().is_none()
}

/// Whether a tag that came back is another one.
pub(super) fn is_retagged(sent: NodeRef<'_>, returned: NodeRef<'_>) -> bool {
    own_tag(returned).is_some_and(|tag| own_tag(sent) != Some(tag))
}

/// Whether what came back means what was sent.
pub(in crate::functions::resource_list) fn is_same(
    sent: NodeRef<'_>,
    returned: NodeRef<'_>,
    at: At,
) -> bool {
    look(sent, returned, at, &mut HashSet::new(), DEEPEST)
}

fn look(
    sent: NodeRef<'_>,
    returned: NodeRef<'_>,
    at: At,
    met: &mut HashSet<(usize, usize)>,
    depth: usize,
) -> bool {
    let has_alias = sent.kind() == NodeKind::Alias || returned.kind() == NodeKind::Alias;
    let (sent, returned) = (sent.resolve(), returned.resolve());
    if has_alias && !met.insert((sent.index(), returned.index())) {
        return true;
    }
    let Some(depth) = depth.checked_sub(1) else { return false };
    if is_retagged(sent, returned) {
        return false;
    }
    match (sent.kind(), returned.kind()) {
        (NodeKind::Mapping, NodeKind::Mapping) if are_side_by_side(sent, returned, at) => {
            let pairs = sent.children().zip(returned.children()).skip(1).step_by(2);
            pairs.into_iter().all(|(a, b)| look(a, b, At::Below, met, depth))
        }
        (NodeKind::Mapping, NodeKind::Mapping) => {
            let (ours, theirs) = keys::fields(sent, returned);
            let mut came = theirs.iter().filter(|(name, _)| at.counts(name));
            let mut gone = ours.iter().filter(|(name, _)| theirs.get(name).is_none());
            came.all(|(name, field)| match ours.get(name) {
                Some(ours) => look(ours.value, field.value, at.step(name), met, depth),
                None => is_noise(name, field, at),
            }) && gone.all(|(name, field)| is_dropped(name, field, at))
        }
        (NodeKind::Sequence, NodeKind::Sequence) => {
            let (mut ours, mut theirs) = (sent.children(), returned.children());
            loop {
                match (ours.next(), theirs.next()) {
                    (None, None) => break true,
                    (Some(a), Some(b)) if look(a, b, At::Below, met, depth) => {}
                    _ => break false,
                }
            }
        }
        _ => match (sent.as_scalar(), returned.as_scalar()) {
            (Some(a), Some(b)) => scalars::compare(a, b) == Fate::Same,
            _ => false,
        },
    }
}

/// Whether two mappings have the same keys in the same order, each of them once: then nobody needs to look them up.
fn are_side_by_side(a: NodeRef<'_>, b: NodeRef<'_>, at: At) -> bool {
    const FEW: usize = 16;
    if at != At::Below {
        return false;
    }
    let mut names: Vec<&str> = Vec::with_capacity(FEW);
    let (mut a, mut b) = (a.children().step_by(2), b.children().step_by(2));
    loop {
        let (one, other) = match (a.next(), b.next()) {
            (None, None) => return true,
            (Some(one), Some(other)) => (one, other),
            _ => return false,
        };
        let (Some(one), Some(other)) = (one.as_scalar(), other.as_scalar()) else { return false };
        let name = one.raw();
        let is_plain = one.style() == ScalarStyle::Plain && other.is(name) && name != "<<";
        if !is_plain || names.contains(&name) || names.len() == FEW {
            return false;
        }
        names.push(name);
    }
}

/// A number for what a node means: equal for those that [`is_same`] takes for one, but for a few odd notations.
pub(super) fn fingerprint(node: NodeRef<'_>) -> u64 {
    Printer { left: MOST_NODES }.node(node, 0)
}

struct Printer {
    left: usize,
}

impl Printer {
    fn node(&mut self, node: NodeRef<'_>, depth: usize) -> u64 {
        let Some(left) = self.left.checked_sub(1).filter(|_| depth < DEEPEST / 2) else { return 0 };
        self.left = left;
        let node = node.resolve();
        let mut hasher = DefaultHasher::new();
        if let Some(scalar) = node.as_scalar() {
            hash_scalar(scalar, &mut hasher);
        } else if node.as_mapping().is_some() {
            // A sum does not know in which order the keys came.
            let fields = Fields::of(node, true);
            let mut sum = 0_u64;
            for (_, field) in fields.iter().filter(|(_, it)| !is_null(it.value.resolve())) {
                let mut entry = DefaultHasher::new();
                (keys::meaning(field.key), self.node(field.value, depth + 1)).hash(&mut entry);
                sum = sum.wrapping_add(entry.finish());
            }
            (1_u8, sum).hash(&mut hasher);
        } else {
            2_u8.hash(&mut hasher);
            node.children().for_each(|item| self.node(item, depth + 1).hash(&mut hasher));
        }
        hasher.finish()
    }
}

fn hash_scalar(scalar: Scalar<'_>, hasher: &mut DefaultHasher) {
    let resolved = match scalar.style() {
        ScalarStyle::Plain => scalar.resolve_1_1(),
        _ => scalar.resolve(),
    };
    match resolved {
        ScalarType::Null => 4_u8.hash(hasher),
        ScalarType::Bool(value) => (5_u8, value).hash(hasher),
        ScalarType::Int(Some(value)) => (6_u8, value).hash(hasher),
        ScalarType::Float(value) if value as i128 as f64 == value => {
            (6_u8, value as i128).hash(hasher);
        }
        ScalarType::Float(value) => (7_u8, value.to_bits()).hash(hasher),
        ScalarType::Int(None) | ScalarType::String => (9_u8, scalar.value()).hash(hasher),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::File;

    fn same(sent: &str, returned: &str) -> bool {
        let [a, b] = [sent, returned].map(|text| File::parse(text.to_owned()).unwrap());
        let root = |file| File::document(file, 0).and_then(|it| it.root()).unwrap();
        is_same(root(&a), root(&b), At::Root)
    }

    #[test]
    fn what_no_function_is_held_to_is_the_same() {
        for (sent, returned) in [
            ("a: 1\nb: ~\n", "{a: 1}"),
            (
                "a: 1\n",
                "{\"a\": 1, \"metadata\": {\"creationTimestamp\": null, \"annotations\": {}}}",
            ),
            (
                "metadata: {name: a}\n",
                "metadata: {name: a, annotations: {config.kubernetes.io/path: x}}",
            ),
            ("metadata: {annotations: {config.kubernetes.io/path: y}}\n", "metadata: {}\n"),
            ("a: &x {y: 1}\nb: *x\nc: {<<: *x, z: 2}\n", "{a: {y: 1}, b: {y: 1}, c: {y: 1, z: 2}}"),
            ("a: !mine 1\n", "a: 1\n"),
            ("a: [on, 1_000]\n", "a: [true, 1000]\n"),
            ("a: {on: 1, 0x1F: 2, ~: 3}\n", "{\"a\": {\"31\": 2, \"true\": 1, \"null\": 3}}"),
            ("on: {y: 1}\n", "true: {true: 1}\n"),
        ] {
            assert!(same(sent, returned), "{sent} {returned}");
        }
    }

    #[test]
    fn all_else_is_a_change() {
        for (sent, returned) in [
            ("a: 1\nb: 2\n", "a: 1\n"),
            ("a: 1\n", "{a: 1, b: null}"),
            ("a: 1\n", "a: null\n"),
            ("a: [1, 2]\n", "a: [2, 1]\n"),
            ("a: {}\n", "b: 1\n"),
            ("metadata: {annotations: {}}\n", "metadata: {}\n"),
            ("'on': 1\n", "true: 1\n"),
            ("{on: 1, true: 2}\n", "{true: 2}\n"),
            ("a: 1\n", "a: !mine 1\n"),
            ("a: {metadata: {annotations: {config.kubernetes.io/path: x}}}\n", "a: {}\n"),
        ] {
            assert!(!same(sent, returned), "{sent} {returned}");
        }
    }
}
