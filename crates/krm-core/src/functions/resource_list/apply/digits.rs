//! Integers that were returned with fewer digits, anywhere in a resource, also in parts that pair with nothing that was sent.

use std::collections::HashMap;

use krm_yaml::{NodeRef, Scalar, ScalarType};

use crate::compare::{canonical_scalar, has_lost_digits};

/// Numbers with at most this many digits are exact in a 64-bit float.
const MAX_EXACT_DIGITS: usize = 15;

/// The first integer that was not returned while its rounded value was: its node, and what was returned.
pub(super) fn find_lost_digits<'a>(
    sent: NodeRef<'a>,
    returned: NodeRef<'_>,
) -> Option<(NodeRef<'a>, String)> {
    let is_long = |scalar: &Scalar<'_>| scalar.raw().len() > MAX_EXACT_DIGITS;
    let long = sent.descendants().filter(|it| it.as_scalar().is_some_and(|it| is_long(&it)));
    let mut long = long.filter(|it| number(*it).is_some()).peekable();
    long.peek()?;
    let (before, after) = (counts(sent), counts(returned));
    let is_fewer = |name: &str| after.get(name).map_or(0, |it| it.0) < before[name].0;
    let is_more = |name: &str, count: usize| count > before.get(name).map_or(0, |it| it.0);
    let mut missing = long.filter(|it| number(*it).is_some_and(|name| is_fewer(&name)));
    missing.find_map(|node| {
        let scalar = node.as_scalar()?;
        let has_become = |number: &ScalarType| {
            [scalar.resolve(), scalar.resolve_1_1()]
                .into_iter()
                .any(|was| has_lost_digits(was, scalar, *number))
        };
        let mut added = after.iter().filter(|(name, it)| is_more(name, it.0) && has_become(&it.1));
        let (_, (_, _, text)) = added.next()?;
        Some((node, text.clone()))
    })
}

/// How often each number occurs, with its value and its text.
fn counts(root: NodeRef<'_>) -> HashMap<String, (usize, ScalarType, String)> {
    let mut counts = HashMap::new();
    for node in root.descendants() {
        let Some((name, scalar)) = number(node).zip(node.resolve().as_scalar()) else { continue };
        let new = || (0, resolved(node, scalar), scalar.value().into_owned());
        counts.entry(name).or_insert_with(new).0 += 1;
    }
    counts
}

/// A number in one notation; `None` for anything else.
fn number(node: NodeRef<'_>) -> Option<String> {
    let scalar = node.resolve().as_scalar()?;
    match resolved(node, scalar) {
        ScalarType::Int(None) => Some(scalar.value().into_owned()),
        number @ (ScalarType::Int(_) | ScalarType::Float(_)) => canonical_scalar(number),
        _ => None,
    }
}

fn resolved(node: NodeRef<'_>, scalar: Scalar<'_>) -> ScalarType {
    let is_key = node.parent().is_some_and(|it| it.as_mapping().is_some()) && node.key().is_none();
    match scalar.resolve() {
        // In JSON a key that is a number is a string.
        ScalarType::String if is_key => ScalarType::of_plain(&scalar.value()),
        other => other,
    }
}
