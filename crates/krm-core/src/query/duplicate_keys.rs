//! Finding duplicate keys, which YAML forbids and most parsers accept silently.

use std::borrow::Cow;

use krm_yaml::{DocumentRef, File, Mapping, NodeRef, Path, ScalarStyle, Segment};

use crate::Diagnostic;
use crate::query::QueryKind;

/// A key that occurs a second time in its mapping.
#[derive(Clone, Debug, PartialEq)]
pub struct DuplicateKey<'a> {
    /// The first occurrence.
    pub first: NodeRef<'a>,
    /// The repeated key.
    pub second: NodeRef<'a>,
    /// The path of both.
    pub path: Path,
}

impl DuplicateKey<'_> {
    /// A warning with both locations.
    pub fn to_diagnostic(&self, file: &File) -> Diagnostic {
        let path = self.path.to_string();
        Diagnostic::warning(QueryKind::DuplicateKey { path: path.clone() })
            .at(file, self.second.span())
            .related(file, self.first.span(), "first occurrence")
            .field(path)
    }
}

/// The duplicate keys of a document, in document order.
///
/// ```
/// let file = krm_yaml::File::parse("a: 1\nb: 2\na: 3\n".to_owned())?;
/// let found = krm_core::query::duplicate_keys(file.document(0).expect("there is one"));
/// assert_eq!(found[0].second.position().line, 3);
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
pub fn find(document: DocumentRef<'_>) -> Vec<DuplicateKey<'_>> {
    if !document.may_have_duplicate_keys() {
        return Vec::new();
    }
    let mut search = Search { steps: Vec::new(), keys: Vec::new(), found: Vec::new() };
    if let Some(root) = document.root() {
        search.visit(root);
    }
    search.found.sort_by_key(|duplicate| duplicate.second.start());
    search.found
}

/// The text of a key, and whether it is a string: `1` and `"1"` are different keys.
type Key<'a> = (Cow<'a, str>, bool);

struct Search<'a> {
    /// The path to the current node.
    steps: Vec<PathStep<'a>>,
    /// A buffer that is reused for every mapping.
    keys: Vec<(Key<'a>, NodeRef<'a>)>,
    found: Vec<DuplicateKey<'a>>,
}

#[derive(Clone, Copy)]
enum PathStep<'a> {
    Key(NodeRef<'a>),
    Item(usize),
}

impl<'a> Search<'a> {
    /// Recursion is bounded: the parser limits how deep a document can nest.
    fn visit(&mut self, node: NodeRef<'a>) {
        if let Some(mapping) = node.as_mapping() {
            self.compare(mapping);
            for entry in mapping.entries().filter(|entry| entry.value.is_collection()) {
                self.below(PathStep::Key(entry.key), entry.value);
            }
        } else {
            for (at, item) in node.children().enumerate().filter(|(_, item)| item.is_collection()) {
                self.below(PathStep::Item(at), item);
            }
        }
    }

    fn below(&mut self, step: PathStep<'a>, node: NodeRef<'a>) {
        self.steps.push(step);
        self.visit(node);
        self.steps.pop();
    }

    /// Sorts the keys, so that equal ones are adjacent.
    fn compare(&mut self, mapping: Mapping<'a>) {
        let mut keys = std::mem::take(&mut self.keys);
        keys.clear();
        keys.extend(mapping.entries().filter_map(|entry| Some((key(entry.key)?, entry.key))));
        keys.sort_by(|(a, _), (b, _)| a.cmp(b));
        for same in keys.chunk_by(|(a, _), (b, _)| a == b) {
            let ((name, _), first) = &same[0];
            for (_, second) in &same[1..] {
                let path = self.path().join(name);
                self.found.push(DuplicateKey { first: *first, second: *second, path });
            }
        }
        self.keys = keys;
    }

    fn path(&self) -> Path {
        let mut path = Path::default();
        for step in &self.steps {
            path.push(match step {
                PathStep::Key(node) => {
                    let key = node.resolve().as_scalar().map(|key| key.value().into_owned());
                    Segment::Key(key.unwrap_or_default())
                }
                PathStep::Item(at) => Segment::Index(*at),
            });
        }
        path
    }
}

/// A comparable key. Merge keys (`<<`) may occur more than once, and collections are not compared.
fn key(node: NodeRef<'_>) -> Option<Key<'_>> {
    let scalar = node.resolve().as_scalar()?;
    let is_text = scalar.resolve() == krm_yaml::ScalarType::String;
    let is_merge = scalar.style() == ScalarStyle::Plain && scalar.is("<<");
    (!is_merge).then(|| (scalar.value(), is_text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<(u32, u32)> {
        let file = File::parse(text.to_owned()).unwrap();
        let found = find(file.document(0).unwrap());
        found.iter().map(|it| (it.first.position().line, it.second.position().line)).collect()
    }

    #[test]
    fn every_duplicate_is_found_with_the_first_occurrence() {
        assert_eq!(lines("a: 1\nb:\n  x: 1\n  x: 2\na: 2\n\"a\": 3\n"), [(3, 4), (1, 5), (1, 6)]);
    }

    #[test]
    fn keys_of_other_types_or_mappings_are_not_duplicates() {
        assert_eq!(lines("1: a\n\"1\": b\nA: 1\na: 2\n"), []);
        assert_eq!(lines("x: &x {a: 1}\ny: &y {b: 1}\nz:\n  <<: *x\n  <<: *y\n"), []);
        assert_eq!(lines("- a: 1\n- a: 1\n"), []);
    }

    #[test]
    fn duplicate_has_its_path() {
        let file = File::parse("a:\n- b.c: {x: 1, x: 2}\n".to_owned()).unwrap();
        assert_eq!(find(file.document(0).unwrap())[0].path.to_string(), r#"a[0]."b.c".x"#);
    }

    #[test]
    fn many_keys_are_compared_quickly() {
        let text: String = (0..100_000).map(|n| format!("k{n}: 1\n")).collect();
        assert_eq!(lines(&format!("{text}k7: 2\n")), [(8, 100_001)]);
    }
}
