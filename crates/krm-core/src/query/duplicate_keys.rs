//! Keys that stand twice in one mapping: legal for no reader, and taken silently by most.

use std::borrow::Cow;

use krm_yaml::{DocumentRef, File, Mapping, NodeRef, Path, ScalarStyle, Segment};

use crate::Diagnostic;

/// A key that stood in its mapping before.
#[derive(Clone, Debug, PartialEq)]
pub struct DuplicateKey<'a> {
    /// The key that came first.
    pub first: NodeRef<'a>,
    /// The key that stands there again.
    pub again: NodeRef<'a>,
    /// The path of both.
    pub path: Path,
}

impl DuplicateKey<'_> {
    /// A warning with both places.
    pub fn to_diagnostic(&self, file: &File) -> Diagnostic {
        let path = self.path.to_string();
        Diagnostic::untyped_warning(format!("`{path}` stands twice: the last counts"))
            .at(file, self.again.span())
            .related(file, self.first.span(), "first here")
            .field(path)
    }
}

/// The duplicate keys of a document in the order of the text.
///
/// ```
/// let file = krm_yaml::File::parse("a: 1\nb: 2\na: 3\n".to_owned())?;
/// let found = krm_core::query::duplicate_keys(file.document(0).expect("there is one"));
/// assert_eq!(found[0].again.position().line, 3);
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
pub fn find(document: DocumentRef<'_>) -> Vec<DuplicateKey<'_>> {
    let mut search = Search { steps: Vec::new(), keys: Vec::new(), found: Vec::new() };
    if let Some(root) = document.root() {
        search.visit(root);
    }
    search.found.sort_by_key(|duplicate| duplicate.again.start());
    search.found
}

/// A key's text, and whether it stands for that text or for what YAML reads in it.
type Key<'a> = (Cow<'a, str>, bool);

struct Search<'a> {
    /// The way to the node that is looked at.
    steps: Vec<Step<'a>>,
    /// A buffer that every mapping uses again.
    keys: Vec<(Key<'a>, NodeRef<'a>)>,
    found: Vec<DuplicateKey<'a>>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Key(NodeRef<'a>),
    Item(usize),
}

impl<'a> Search<'a> {
    /// Depth is bounded by what the reader takes.
    fn visit(&mut self, node: NodeRef<'a>) {
        if let Some(mapping) = node.as_mapping() {
            self.compare(mapping);
            for entry in mapping.entries().filter(|entry| entry.value.is_collection()) {
                self.below(Step::Key(entry.key), entry.value);
            }
        } else {
            for (at, item) in node.children().enumerate().filter(|(_, item)| item.is_collection()) {
                self.below(Step::Item(at), item);
            }
        }
    }

    fn below(&mut self, step: Step<'a>, node: NodeRef<'a>) {
        self.steps.push(step);
        self.visit(node);
        self.steps.pop();
    }

    /// Sorting finds equals without comparing each key with each.
    fn compare(&mut self, mapping: Mapping<'a>) {
        let mut keys = std::mem::take(&mut self.keys);
        keys.clear();
        keys.extend(mapping.entries().filter_map(|entry| Some((key(entry.key)?, entry.key))));
        keys.sort_by(|(a, _), (b, _)| a.cmp(b));
        for same in keys.chunk_by(|(a, _), (b, _)| a == b) {
            let ((name, _), first) = &same[0];
            for (_, again) in &same[1..] {
                let path = self.path().join(name);
                self.found.push(DuplicateKey { first: *first, again: *again, path });
            }
        }
        self.keys = keys;
    }

    fn path(&self) -> Path {
        let mut path = Path::default();
        for step in &self.steps {
            path.push(match step {
                Step::Key(node) => {
                    let key = node.resolve().as_scalar().map(|key| key.value().into_owned());
                    Segment::Key(key.unwrap_or_default())
                }
                Step::Item(at) => Segment::Index(*at),
            });
        }
        path
    }
}

/// `<<` may come more than once, and a key that is a collection is beyond what Kubernetes reads.
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
        found.iter().map(|it| (it.first.position().line, it.again.position().line)).collect()
    }

    #[test]
    fn each_one_is_told_with_the_first() {
        assert_eq!(lines("a: 1\nb:\n  x: 1\n  x: 2\na: 2\n\"a\": 3\n"), [(3, 4), (1, 5), (1, 6)]);
    }

    #[test]
    fn what_only_looks_alike_is_none() {
        assert_eq!(lines("1: a\n\"1\": b\nA: 1\na: 2\n"), []);
        assert_eq!(lines("x: &x {a: 1}\ny: &y {b: 1}\nz:\n  <<: *x\n  <<: *y\n"), []);
        assert_eq!(lines("- a: 1\n- a: 1\n"), []);
    }

    #[test]
    fn the_path_is_told() {
        let file = File::parse("a:\n- b.c: {x: 1, x: 2}\n".to_owned()).unwrap();
        assert_eq!(find(file.document(0).unwrap())[0].path.to_string(), r#"a[0]."b.c".x"#);
    }

    #[test]
    fn many_keys_take_no_time() {
        let text: String = (0..100_000).map(|n| format!("k{n}: 1\n")).collect();
        assert_eq!(lines(&format!("{text}k7: 2\n")), [(8, 100_001)]);
    }
}
