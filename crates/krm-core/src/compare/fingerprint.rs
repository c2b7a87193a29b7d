//! Fingerprints: hashes that are equal for equal nodes, whatever their style, order of keys and comments.
//!
//! They find candidates quickly in long lists and large packages. Two nodes with the same fingerprint are taken for equal only where
//! a collision would do no harm.

use std::hash::{DefaultHasher, Hash, Hasher};

use krm_yaml::{NodeRef, Scalar, ScalarStyle, ScalarType};

use super::equality::canonical_key;
use super::fields::Fields;
use crate::model::resource::is_null;

/// Compat: `kpt pkg get` writes it into every resource.
const UPSTREAM_IDENTIFIER: &str = "internal.kpt.dev/upstream-identifier";

/// The fingerprint of a node. An alias counts by its name, so that no document takes long to hash.
pub(crate) fn of(node: NodeRef<'_>) -> u64 {
    Fingerprint::new(Reading::Source, None).node(node, 0)
}

/// The fingerprint of what was sent to or returned by a function: equal where [`super::Equality::FunctionOutput`] holds, except
/// for a few rare notations.
pub(crate) fn of_returned(node: NodeRef<'_>) -> u64 {
    Fingerprint::new(Reading::FunctionOutput, None).node(node, 0)
}

/// The fingerprint of a resource without its name, to find a resource that was renamed. Every string that equals the name counts
/// as the same string, since labels and selectors often repeat it.
///
/// `None` where the resource has nothing but metadata, because then every other resource of its kind would match.
pub(crate) fn of_content(node: NodeRef<'_>, name: &str) -> Option<u64> {
    let mut fingerprint = Fingerprint::new(Reading::Source, Some(name));
    let (mut sum, mut has_content) = (0_u64, false);
    for entry in node.as_mapping()?.entries() {
        let value = entry.value.resolve();
        sum = sum.wrapping_add(if entry.is("apiVersion") || entry.is("kind") {
            0
        } else if entry.is("metadata") {
            fingerprint.metadata(value)
        } else {
            has_content |= !value.as_scalar().is_some_and(|it| it.resolve() == ScalarType::Null);
            fingerprint.entry(entry.key, value, 0)
        });
    }
    has_content.then_some(sum)
}

/// Whose reading of a node is hashed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// The node as it is written in a file.
    Source,
    /// The node as functions may return it: aliases expanded, keys and plain scalars as a YAML 1.1 reader takes them, `null` fields dropped.
    FunctionOutput,
}

struct Fingerprint<'a> {
    reading: Reading,
    /// A string that counts as if it were any other.
    masked_name: Option<&'a str>,
    /// How many nodes may still be visited: an expanded alias can stand for billions. Nodes beyond the limits hash to 0.
    remaining_nodes: usize,
    max_depth: usize,
}

impl<'n> Fingerprint<'n> {
    fn new(reading: Reading, masked_name: Option<&'n str>) -> Self {
        let (remaining_nodes, max_depth) = match reading {
            Reading::Source => (usize::MAX, 301),
            Reading::FunctionOutput => (20_000, 500),
        };
        Self { reading, masked_name, remaining_nodes, max_depth }
    }

    fn node(&mut self, node: NodeRef<'_>, depth: usize) -> u64 {
        let Some(remaining) =
            self.remaining_nodes.checked_sub(1).filter(|_| depth < self.max_depth)
        else {
            return 0;
        };
        self.remaining_nodes = remaining;
        let node = match self.reading {
            Reading::Source => node,
            Reading::FunctionOutput => node.resolve(),
        };
        let mut hasher = DefaultHasher::new();
        if let Some(scalar) = node.as_scalar() {
            self.scalar(scalar, &mut hasher);
        } else if node.as_mapping().is_some() {
            (1_u8, self.mapping(node, depth)).hash(&mut hasher);
        } else if node.as_sequence().is_some() {
            2_u8.hash(&mut hasher);
            node.children().for_each(|item| self.node(item, depth + 1).hash(&mut hasher));
        } else {
            (3_u8, node.text()).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// A sum of the hashes of the entries, because it does not depend on their order.
    fn mapping(&mut self, node: NodeRef<'_>, depth: usize) -> u64 {
        if self.reading == Reading::Source {
            let entries = node.as_mapping().into_iter().flat_map(|mapping| mapping.entries());
            return entries
                .map(|it| self.entry(it.key, it.value, depth))
                .fold(0, u64::wrapping_add);
        }
        let fields = Fields::of(node, true);
        let set = fields.iter().filter(|(_, field)| !is_null(field.value.resolve()));
        let entry = |(_, field): (&str, super::fields::Field<'_>)| {
            hash(&(canonical_key(field.key), self.node(field.value, depth + 1)))
        };
        set.map(entry).fold(0, u64::wrapping_add)
    }

    fn entry(&mut self, key: NodeRef<'_>, value: NodeRef<'_>, depth: usize) -> u64 {
        hash(&(self.node(key, depth + 1), self.node(value, depth + 1)))
    }

    fn scalar(&self, scalar: Scalar<'_>, hasher: &mut DefaultHasher) {
        let is_output = self.reading == Reading::FunctionOutput;
        let resolved = match is_output && scalar.style() == ScalarStyle::Plain {
            true => scalar.resolve_1_1(),
            false => scalar.resolve(),
        };
        match resolved {
            ScalarType::Null => 4_u8.hash(hasher),
            ScalarType::Bool(value) => (5_u8, value).hash(hasher),
            ScalarType::Int(Some(value)) => (6_u8, value).hash(hasher),
            // JSON has one type of number.
            ScalarType::Float(value) if is_output && value as i128 as f64 == value => {
                (6_u8, value as i128).hash(hasher);
            }
            ScalarType::Float(value) => (7_u8, value.to_bits()).hash(hasher),
            ScalarType::Int(None) | ScalarType::String => {
                let value = scalar.value();
                match self.masked_name {
                    Some(name) if name == value => 8_u8.hash(hasher),
                    _ => (9_u8, value).hash(hasher),
                }
            }
        }
    }

    /// Metadata without what a rename changes, and without the annotation that kpt sets.
    fn metadata(&mut self, metadata: NodeRef<'_>) -> u64 {
        let Some(mapping) = metadata.as_mapping() else { return self.node(metadata, 0) };
        let names = ["name", "namespace"];
        let entries = mapping.entries().filter(|it| !names.iter().any(|name| it.is(name)));
        let sum = entries.map(|entry| match entry.value.as_mapping() {
            Some(annotations) if entry.is("annotations") => {
                let others = annotations.entries().filter(|it| !it.is(UPSTREAM_IDENTIFIER));
                others.map(|it| self.entry(it.key, it.value, 0)).fold(0, u64::wrapping_add)
            }
            _ => self.entry(entry.key, entry.value, 0),
        });
        sum.fold(0, u64::wrapping_add)
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::File;

    fn both(text: &str) -> (u64, Option<u64>) {
        let file = File::parse(text.to_owned()).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        (of(root), of_content(root, "web"))
    }

    #[test]
    fn style_and_key_order_do_not_matter() {
        assert_eq!(both("a: 'x' # c\nb: [0x10]\n").0, both("b:\n- 16\na: x\n").0);
        assert_ne!(both("a: 1\n").0, both("a: \"1\"\n").0);
        assert_ne!(both("- a\n- b\n").0, both("- b\n- a\n").0);
    }

    #[test]
    fn function_output_hashes_as_what_was_sent() {
        let of_text = |text: &str| {
            let file = File::parse(text.to_owned()).unwrap();
            of_returned(file.document(0).unwrap().root().unwrap())
        };
        assert_eq!(
            of_text("a: &x [on, 1.0]\nb: *x\nc: ~\n"),
            of_text("{b: [true, 1], a: [true, 1]}")
        );
        assert_ne!(of_text("a: 'on'\n"), of_text("a: true\n"));
    }

    #[test]
    fn content_does_not_depend_on_the_name() {
        let one = "kind: A\nmetadata: {name: web, labels: {app: web}}\nspec: {x: 1}\n";
        assert_eq!(both(one).1, both(&one.replace("name: web", "name: other")).1);
        assert_ne!(both(one).1, both(&one.replace("x: 1", "x: 2")).1);
        assert_eq!(both("kind: A\nmetadata: {name: web}\n").1, None);
    }
}
