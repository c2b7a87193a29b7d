//! Whether two nodes are equal, however they are written. See [`Equality`] for what counts as equal to whom.

mod keys;
mod scalars;
mod timestamp;
mod wire;

use std::collections::HashSet;

use krm_yaml::{NodeKind, NodeRef, Scalar, ScalarStyle};

use super::fields::Fields;
pub(crate) use keys::{canonical_key, canonical_scalar, fields_as_sent};
pub(crate) use scalars::{ScalarComparison, compare_returned, has_lost_digits, scalars_equal};
pub(crate) use wire::{ResourceLevel, is_ignorable_addition, is_ignorable_removal};

/// Documents do not nest deeper than this, and each pair of nodes behind aliases is visited once.
const MAX_DEPTH: usize = 1000;

/// How strictly two nodes are compared. The levels differ on purpose: merge and diff compare what two people wrote, function
/// output was parsed and printed by a program that the author of the file does not control.
///
/// Common to all of them: aliases are followed, of duplicate keys the last counts, `<<` is applied, the order of keys does not
/// matter, and neither does a tag of YAML itself (`!!str`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Equality {
    /// Same types and values to a YAML 1.2 reader.
    Yaml12,
    /// What merges use. `yes` and `"yes"` differ as well, because a YAML 1.1 reader takes the first for a boolean: treating them
    /// as equal would hide that upstream fixed the quotes. A string of JSON equals a plain one, because JSON cannot write it in any other
    /// way. Numbers are compared as in YAML 1.2 for the same reason: JSON has one spelling of `0x1F`.
    Merge,
    /// What diffs use: every reader of YAML 1.2 and 1.1 gets the same value, so a diff shows whatever any reader could notice.
    Diff,
    /// What came back from a function, compared with what was sent. Allows what functions do without meaning to: see
    /// [`compare_returned`] for scalars and [`wire`] for fields that Go drops or adds.
    FunctionOutput(ResourceLevel),
}

/// Whether two nodes have the same types and values in YAML 1.2, whatever their style, comments and order of keys.
///
/// ```
/// use krm_core::compare::equal_in_yaml_1_2;
/// use krm_yaml::File;
///
/// let (a, b) = (File::parse("{a: 1, b: x}".to_owned())?, File::parse("b: 'x'\na: 0x1 # one\n".to_owned())?);
/// let root = |file| File::document(file, 0).and_then(|document| document.root()).unwrap();
/// assert!(equal_in_yaml_1_2(root(&a), root(&b)));
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
pub fn equal_in_yaml_1_2(a: NodeRef<'_>, b: NodeRef<'_>) -> bool {
    is_equal(a, b, Equality::Yaml12)
}

/// Whether two nodes are equal. Of function output `a` is what was sent and `b` what was returned; otherwise the order does not
/// matter.
pub(crate) fn is_equal(a: NodeRef<'_>, b: NodeRef<'_>, equality: Equality) -> bool {
    Comparison { visited: HashSet::new() }.nodes(a, b, equality, MAX_DEPTH)
}

/// The same for nodes that may be missing.
pub(crate) fn is_equal_option(
    a: Option<NodeRef<'_>>,
    b: Option<NodeRef<'_>>,
    equality: Equality,
) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => is_equal(a, b, equality),
        (None, None) => true,
        _ => false,
    }
}

/// A tag that is not one of YAML's own, which only repeat the type of the value.
pub(crate) fn custom_tag(node: NodeRef<'_>) -> Option<&str> {
    node.tag().filter(|tag| !tag.starts_with("!!") && *tag != "!")
}

/// Whether a function returned a node with a custom tag that was not sent. A tag that is missing does not count: no JSON has any.
pub(crate) fn has_new_tag(sent: NodeRef<'_>, returned: NodeRef<'_>) -> bool {
    custom_tag(returned).is_some_and(|tag| custom_tag(sent) != Some(tag))
}

struct Comparison {
    /// Pairs of nodes that aliases led to. A pair that is visited again counts as equal, as long as nothing else differs:
    /// that ends cycles, and small documents whose aliases expand to billions of nodes.
    visited: HashSet<(usize, usize)>,
}

impl Comparison {
    fn nodes(&mut self, a: NodeRef<'_>, b: NodeRef<'_>, equality: Equality, depth: usize) -> bool {
        let has_alias = a.kind() == NodeKind::Alias || b.kind() == NodeKind::Alias;
        let (a, b) = (a.resolve(), b.resolve());
        if a == b || has_alias && !self.visited.insert((a.index(), b.index())) {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        let differs_by_tag = match equality {
            Equality::FunctionOutput(_) => has_new_tag(a, b),
            _ => custom_tag(a) != custom_tag(b),
        };
        if differs_by_tag {
            return false;
        }
        // Most of what is compared was not changed.
        if a.is_collection() && a.is_written_as(b) {
            return true;
        }
        match (a.kind(), b.kind()) {
            (NodeKind::Mapping, NodeKind::Mapping) => match equality {
                Equality::FunctionOutput(level) => self.returned_mapping(a, b, level, depth),
                _ => self.mappings(a, b, equality, depth),
            },
            (NodeKind::Sequence, NodeKind::Sequence) => {
                let equality = match equality {
                    Equality::FunctionOutput(_) => Equality::FunctionOutput(ResourceLevel::Other),
                    other => other,
                };
                let (mut a, mut b) = (a.children(), b.children());
                loop {
                    match (a.next(), b.next()) {
                        (None, None) => break true,
                        (Some(a), Some(b)) if self.nodes(a, b, equality, depth) => {}
                        _ => break false,
                    }
                }
            }
            _ => match (a.as_scalar(), b.as_scalar(), equality) {
                (Some(a), Some(b), _) => scalars_equal(a, b, equality),
                (Some(_), None, Equality::FunctionOutput(level)) => level.is_filled_null(a, b),
                _ => false,
            },
        }
    }

    fn mappings(
        &mut self,
        a: NodeRef<'_>,
        b: NodeRef<'_>,
        equality: Equality,
        depth: usize,
    ) -> bool {
        // A plain key and a quoted one may be of different types.
        let is_same = |one: Scalar<'_>, other: Scalar<'_>| {
            other.style() == ScalarStyle::Plain && one.raw() == other.raw()
        };
        if have_same_keys_in_order(a, b, is_same) {
            let values = a.children().zip(b.children()).skip(1).step_by(2);
            return values.into_iter().all(|(a, b)| self.nodes(a, b, equality, depth));
        }
        let (a, b) = (Fields::of(a, true), Fields::of(b, true));
        a.len() == b.len()
            && a.iter().all(|(name, field)| {
                let other = b.get(name);
                other.is_some_and(|other| self.nodes(field.value, other.value, equality, depth))
            })
    }

    fn returned_mapping(
        &mut self,
        sent: NodeRef<'_>,
        returned: NodeRef<'_>,
        level: ResourceLevel,
        depth: usize,
    ) -> bool {
        let below = Equality::FunctionOutput(ResourceLevel::Other);
        if level == ResourceLevel::Other
            && have_same_keys_in_order(sent, returned, |one, other| other.is(one.raw()))
        {
            let values = sent.children().zip(returned.children()).skip(1).step_by(2);
            return values.into_iter().all(|(a, b)| self.nodes(a, b, below, depth));
        }
        let (ours, theirs) = fields_as_sent(sent, returned);
        let mut found = theirs.iter().filter(|(name, _)| level.is_own_field(name));
        let mut missing = ours.iter().filter(|(name, _)| theirs.get(name).is_none());
        found.all(|(name, field)| match ours.get(name) {
            Some(ours) => {
                let equality = Equality::FunctionOutput(level.child(name));
                self.nodes(ours.value, field.value, equality, depth)
            }
            None => is_ignorable_addition(name, field, level),
        }) && missing.all(|(name, field)| is_ignorable_removal(name, field, level))
    }
}

/// Whether two mappings have the same plain keys in the same order, each once. True for most output, and then the fields need not be
/// looked up by name.
fn have_same_keys_in_order(
    a: NodeRef<'_>,
    b: NodeRef<'_>,
    is_same: impl Fn(Scalar<'_>, Scalar<'_>) -> bool,
) -> bool {
    const FEW: usize = 16;
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
        let is_plain = one.style() == ScalarStyle::Plain && is_same(one, other) && name != "<<";
        if !is_plain || names.contains(&name) || names.len() == FEW {
            return false;
        }
        names.push(name);
    }
}

#[cfg(test)]
mod tests;
