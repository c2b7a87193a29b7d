//! A number for what a node means: equal for equal meaning, whatever the style, the order of keys and the comments.

use std::hash::{DefaultHasher, Hash, Hasher};

use krm_yaml::{NodeRef, Scalar, ScalarType};

/// Deeper than any text nests; hints need not be exact.
const MOST_DEPTH: usize = 300;

/// The fingerprint of a node. An alias counts by its name, so that no text can make this long.
pub(crate) fn of(node: NodeRef<'_>) -> u64 {
    Reader { mask: None }.node(node, 0)
}

/// The fingerprint of a resource apart from what it is called: its name counts wherever a value is just that name.
///
/// None where nothing but names is there, which says nothing about who it is.
pub(crate) fn of_content(node: NodeRef<'_>, name: &str) -> Option<u64> {
    let reader = Reader { mask: Some(name) };
    let (mut sum, mut is_telling) = (0_u64, false);
    for entry in node.as_mapping()?.entries() {
        let value = entry.value.resolve();
        sum = sum.wrapping_add(if entry.is("apiVersion") || entry.is("kind") {
            0
        } else if entry.is("metadata") {
            reader.metadata(value)
        } else {
            is_telling |= !value.as_scalar().is_some_and(|it| it.resolve() == ScalarType::Null);
            reader.entry(entry.key, value, 0)
        });
    }
    is_telling.then_some(sum)
}

struct Reader<'a> {
    /// A text that counts as every other one.
    mask: Option<&'a str>,
}

impl Reader<'_> {
    fn node(&self, node: NodeRef<'_>, depth: usize) -> u64 {
        let mut hasher = DefaultHasher::new();
        if depth > MOST_DEPTH {
            return 0;
        }
        if let Some(scalar) = node.as_scalar() {
            self.scalar(scalar, &mut hasher);
        } else if let Some(mapping) = node.as_mapping() {
            // A sum does not know in which order the keys came.
            let entries = mapping.entries().map(|it| self.entry(it.key, it.value, depth));
            (1_u8, entries.fold(0_u64, u64::wrapping_add)).hash(&mut hasher);
        } else if node.as_sequence().is_some() {
            2_u8.hash(&mut hasher);
            node.children().for_each(|item| self.node(item, depth + 1).hash(&mut hasher));
        } else {
            (3_u8, node.text()).hash(&mut hasher);
        }
        hasher.finish()
    }

    fn entry(&self, key: NodeRef<'_>, value: NodeRef<'_>, depth: usize) -> u64 {
        let mut hasher = DefaultHasher::new();
        let pair = (self.node(key, depth + 1), self.node(value, depth + 1));
        pair.hash(&mut hasher);
        hasher.finish()
    }

    fn scalar(&self, scalar: Scalar<'_>, hasher: &mut DefaultHasher) {
        match scalar.resolve() {
            ScalarType::Null => 4_u8.hash(hasher),
            ScalarType::Bool(value) => (5_u8, value).hash(hasher),
            ScalarType::Int(Some(value)) => (6_u8, value).hash(hasher),
            ScalarType::Float(value) => (7_u8, value.to_bits()).hash(hasher),
            ScalarType::Int(None) | ScalarType::String => {
                let value = scalar.value();
                match self.mask {
                    Some(mask) if mask == value => 8_u8.hash(hasher),
                    _ => (9_u8, value).hash(hasher),
                }
            }
        }
    }

    /// Metadata without what a rename changes, and without the mark that kpt sets.
    fn metadata(&self, metadata: NodeRef<'_>) -> u64 {
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

/// Compat: `kpt pkg get` writes it into every resource.
const UPSTREAM_IDENTIFIER: &str = "internal.kpt.dev/upstream-identifier";

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
    fn style_and_order_do_not_count() {
        assert_eq!(both("a: 'x' # c\nb: [0x10]\n").0, both("b:\n- 16\na: x\n").0);
        assert_ne!(both("a: 1\n").0, both("a: \"1\"\n").0);
        assert_ne!(both("- a\n- b\n").0, both("- b\n- a\n").0);
    }

    #[test]
    fn content_leaves_the_name_apart() {
        let one = "kind: A\nmetadata: {name: web, labels: {app: web}}\nspec: {x: 1}\n";
        assert_eq!(both(one).1, both(&one.replace("name: web", "name: other")).1);
        assert_ne!(both(one).1, both(&one.replace("x: 1", "x: 2")).1);
        assert_eq!(both("kind: A\nmetadata: {name: web}\n").1, None);
    }
}
