//! Integers that came back with fewer digits, wherever in a resource: also in parts that pair with none that was sent.

use std::collections::HashMap;

use krm_yaml::{NodeRef, Scalar, ScalarType};

use super::keys::spelled;
use super::scalars::has_lost_digits;

/// Numbers with fewer digits are the same number to all readers.
const MOST_EXACT_DIGITS: usize = 15;

/// The first integer that is gone while a number came that it is with fewer digits: its node, and what came.
pub(super) fn lost<'a>(sent: NodeRef<'a>, returned: NodeRef<'_>) -> Option<(NodeRef<'a>, String)> {
    let is_long = |scalar: &Scalar<'_>| scalar.raw().len() > MOST_EXACT_DIGITS;
    let long = sent.descendants().filter(|it| it.as_scalar().is_some_and(|it| is_long(&it)));
    let mut long = long.filter(|it| number(*it).is_some()).peekable();
    long.peek()?;
    let (before, after) = (counts(sent), counts(returned));
    let is_fewer = |name: &str| after.get(name).map_or(0, |it| it.0) < before[name].0;
    let is_more = |name: &str, count: usize| count > before.get(name).map_or(0, |it| it.0);
    let mut gone = long.filter(|it| number(*it).is_some_and(|name| is_fewer(&name)));
    gone.find_map(|node| {
        let scalar = node.as_scalar()?;
        let has_become = |number: &ScalarType| {
            [scalar.resolve(), scalar.resolve_1_1()]
                .into_iter()
                .any(|was| has_lost_digits(was, scalar, *number))
        };
        let mut came = after.iter().filter(|(name, it)| is_more(name, it.0) && has_become(&it.1));
        let (_, (_, _, came)) = came.next()?;
        Some((node, format!("{} came back as {came}", scalar.value())))
    })
}

/// How often each number is there, with one that is it.
fn counts(root: NodeRef<'_>) -> HashMap<String, (usize, ScalarType, String)> {
    let mut counts = HashMap::new();
    for node in root.descendants() {
        let Some((name, scalar)) = number(node).zip(node.resolve().as_scalar()) else { continue };
        let new = || (0, resolved(node, scalar), scalar.value().into_owned());
        counts.entry(name).or_insert_with(new).0 += 1;
    }
    counts
}

/// A number by its value; none for what is no number.
fn number(node: NodeRef<'_>) -> Option<String> {
    let scalar = node.resolve().as_scalar()?;
    match resolved(node, scalar) {
        ScalarType::Int(None) => Some(scalar.value().into_owned()),
        number @ (ScalarType::Int(_) | ScalarType::Float(_)) => spelled(number),
        _ => None,
    }
}

fn resolved(node: NodeRef<'_>, scalar: Scalar<'_>) -> ScalarType {
    let is_key = node.parent().is_some_and(|it| it.as_mapping().is_some()) && node.key().is_none();
    match scalar.resolve() {
        // JSON has a key that is a number as a text.
        ScalarType::String if is_key => ScalarType::of_plain(&scalar.value()),
        other => other,
    }
}
