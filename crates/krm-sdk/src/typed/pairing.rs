//! Which elements of two versions of a list are the same.

use krm_yaml::{ScalarType, Value};

/// Fields that identify the elements of lists of Kubernetes, those that are unique most often first.
const KEYS: [&str; 12] = [
    "name",
    "key",
    "mountPath",
    "devicePath",
    "containerPort",
    "port",
    "ip",
    "topologyKey",
    "type",
    "uid",
    "host",
    "path",
];

/// The elements of a new list with the elements of the old list that they were.
pub(super) struct Pairing {
    /// For each new element the index of the old one.
    sources: Vec<Option<usize>>,
    old_count: usize,
}

impl Pairing {
    /// Pairs elements by a key that is unique on both sides, or by their values; then the remaining ones that have the same index.
    pub(super) fn of(old: &[Value<'static>], new: &[Value<'static>]) -> Self {
        let mut sources: Vec<Option<usize>> =
            match KEYS.iter().find(|key| is_unique(old, key) && is_unique(new, key)) {
                Some(key) => {
                    let find = |it: &Value<'static>| {
                        let key_of = |it| field(it, key).and_then(scalar_text);
                        let wanted = key_of(it);
                        old.iter().position(|other| key_of(other) == wanted)
                    };
                    new.iter().map(find).collect()
                }
                None => by_value(old, new),
            };
        // In a list of the same length, an element that is neither here nor there was changed in place: a renamed container.
        if old.len() == new.len() {
            for at in 0..sources.len() {
                if sources[at].is_none() && !sources.contains(&Some(at)) {
                    sources[at] = Some(at);
                }
            }
        }
        Self { sources, old_count: old.len() }
    }

    /// For each new element the index of the old one.
    pub(super) fn sources(&self) -> impl Iterator<Item = Option<usize>> {
        self.sources.iter().copied()
    }

    /// The indices of old and new elements that are the same, in the new order.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.sources.iter().enumerate().filter_map(|(is, was)| was.map(|was| (was, is)))
    }

    /// The indices of old elements that are gone.
    pub(super) fn removed(&self) -> impl Iterator<Item = usize> {
        (0..self.old_count).filter(|at| !self.sources.contains(&Some(*at)))
    }

    /// The order of the old elements in which those that stay are as in the new list; `None` if they are already.
    pub(super) fn order(&self) -> Option<Vec<usize>> {
        let wanted: Vec<usize> = self.pairs().map(|(was, _)| was).collect();
        if wanted.is_sorted() {
            return None;
        }
        let mut slots = wanted.clone();
        slots.sort_unstable();
        let mut order: Vec<usize> = (0..self.old_count).collect();
        for (slot, was) in slots.into_iter().zip(wanted) {
            order[slot] = was;
        }
        Some(order)
    }
}

/// Pairs equal elements that are in the same order in both lists, as many as possible.
fn by_value(old: &[Value<'static>], new: &[Value<'static>]) -> Vec<Option<usize>> {
    // The lengths of the longest common subsequences of the rests of both lists.
    let mut longest = vec![vec![0_usize; old.len() + 1]; new.len() + 1];
    for is in (0..new.len()).rev() {
        for was in (0..old.len()).rev() {
            longest[is][was] = match is_equal(&old[was], &new[is]) {
                true => longest[is + 1][was + 1] + 1,
                false => longest[is + 1][was].max(longest[is][was + 1]),
            };
        }
    }
    let (mut is, mut was, mut sources) = (0, 0, vec![None; new.len()]);
    while is < new.len() && was < old.len() {
        if is_equal(&old[was], &new[is]) {
            sources[is] = Some(was);
            (is, was) = (is + 1, was + 1);
        } else if longest[is + 1][was] >= longest[is][was + 1] {
            is += 1;
        } else {
            was += 1;
        }
    }
    sources
}

fn is_unique(items: &[Value<'static>], key: &str) -> bool {
    let keys: Vec<Option<&str>> =
        items.iter().map(|it| field(it, key).and_then(scalar_text)).collect();
    let is_first = |(at, key): (usize, &Option<&str>)| key.is_some() && !keys[..at].contains(key);
    keys.iter().enumerate().all(is_first)
}

/// A field of a mapping.
pub(crate) fn field<'v>(value: &'v Value<'static>, name: &str) -> Option<&'v Value<'static>> {
    let Value::Mapping(entries) = value else { return None };
    let is_it = |key: &Value<'static>| matches!(key, Value::String(key) if key == name);
    entries.iter().find(|(key, _)| is_it(key)).map(|(_, value)| value)
}

fn scalar_text<'v>(value: &'v Value<'static>) -> Option<&'v str> {
    match value {
        Value::String(text) | Value::Number(text) => Some(text),
        _ => None,
    }
}

/// Whether two values are equal, whatever the order of the fields and the spelling of numbers.
pub(crate) fn is_equal(a: &Value<'static>, b: &Value<'static>) -> bool {
    match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => {
            a == b || ScalarType::of_plain(a) == ScalarType::of_plain(b)
        }
        (Value::Sequence(a), Value::Sequence(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b))
        }
        (Value::Mapping(a), Value::Mapping(b)) => {
            let is_in = |(key, value): &(Value<'static>, Value<'static>)| {
                b.iter().any(|(other, it)| is_equal(key, other) && is_equal(value, it))
            };
            a.len() == b.len() && a.iter().all(is_in)
        }
        _ => false,
    }
}
