//! Path patterns of `by-path`: `a.*.c`, `a.**.c`, `a.b[0]`, `a.b[*]` and `a.b[name=x]`.

use krm_sdk::yaml::{Mapping, NodeRef, Path, Segment};

/// The maximum number of segments. A key may contain dots, so a path has more segments here than elsewhere.
const MAX_SEGMENTS: usize = 10_000;

/// A pattern for the paths of fields.
#[derive(Clone, Debug)]
pub(super) struct PathPattern {
    segments: Vec<PatternSegment>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternSegment {
    /// A key, or together with its neighbours a key that contains dots.
    Name(String),
    /// `*`: one key, and an element if the value is a sequence.
    Any,
    /// `**`: any number of keys and elements.
    Deep,
    Index(usize),
    AnyIndex,
    /// The element whose field has this value.
    Match(String, String),
}

/// A segment of the path of a field.
pub(super) enum FieldSegment<'a> {
    Key(String),
    Element(usize, NodeRef<'a>),
}

impl PathPattern {
    /// Parses a pattern.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let mut segments = Vec::new();
        let mut rest = text;
        loop {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (name, mut behind) = rest.split_at(end);
            match name {
                "**" => segments.push(PatternSegment::Deep),
                "*" => segments.push(PatternSegment::Any),
                "" if behind.starts_with('[') => {}
                "" => return Err("missing key".to_owned()),
                name => segments.push(PatternSegment::Name(name.to_owned())),
            }
            while let Some(inside) = behind.strip_prefix('[') {
                let (index, more) = inside.split_once(']').ok_or("unclosed `[`")?;
                segments.push(element(index)?);
                behind = more;
            }
            match behind.strip_prefix('.') {
                Some(more) => rest = more,
                None if behind.is_empty() && segments.len() > MAX_SEGMENTS => {
                    return Err(format!("more than {MAX_SEGMENTS} segments"));
                }
                None if behind.is_empty() => return Ok(Self { segments }),
                None => return Err(format!("expected `.` before `{behind}`")),
            }
        }
    }

    /// The keys, if the pattern has nothing else.
    pub(super) fn keys(&self) -> Option<Vec<&str>> {
        let name = |segment: &'_ PatternSegment| match segment {
            PatternSegment::Name(_) => Some(()),
            _ => None,
        };
        self.segments.iter().map(name).collect::<Option<Vec<()>>>()?;
        Some(self.segments.iter().filter_map(|segment| segment.name()).collect())
    }

    /// Whether a path matches. Dynamic programming over both sequences, so that `**` costs no backtracking.
    pub(super) fn matches(&self, path: &[FieldSegment<'_>]) -> bool {
        let width = self.segments.len() + 1;
        let mut matches = vec![false; (path.len() + 1) * width];
        matches[0] = true;
        for (j, segment) in self.segments.iter().enumerate() {
            matches[j + 1] = *segment == PatternSegment::Deep && matches[j];
        }
        for (i, at) in path.iter().enumerate() {
            for j in 0..self.segments.len() {
                let before = |back: usize| matches[i * width + j + 1 - back];
                matches[(i + 1) * width + j + 1] = match (&self.segments[j], at) {
                    (PatternSegment::Deep, _) => matches[(i + 1) * width + j] || before(0),
                    (PatternSegment::Any, FieldSegment::Key(_)) => before(1),
                    // Compat: `*` matches a key together with its element.
                    (PatternSegment::Any, FieldSegment::Element(..)) => before(0) && i > 0,
                    // Names have no dots, so those of the key determine how many segments it has.
                    (PatternSegment::Name(_), FieldSegment::Key(key)) => {
                        let back = key.matches('.').count() + 1;
                        back <= j + 1 && before(back) && self.is_key(j + 1 - back, j + 1, key)
                    }
                    (PatternSegment::Index(index), FieldSegment::Element(at, _)) => {
                        index == at && before(1)
                    }
                    (PatternSegment::AnyIndex, FieldSegment::Element(..)) => before(1),
                    (PatternSegment::Match(key, value), FieldSegment::Element(_, item)) => {
                        let field = item.step(&Segment::Key(key.clone()));
                        let scalar = field.and_then(|it| it.resolve().as_scalar());
                        before(1) && scalar.is_some_and(|it| it.is(value))
                    }
                    _ => false,
                };
            }
        }
        matches[matches.len() - 1]
    }

    /// Whether these segments form one key.
    fn is_key(&self, from: usize, to: usize, key: &str) -> bool {
        self.segments[from..to].iter().map(PatternSegment::name).eq(key.split('.').map(Some))
    }
}

impl PatternSegment {
    fn name(&self) -> Option<&str> {
        match self {
            PatternSegment::Name(name) => Some(name),
            _ => None,
        }
    }
}

fn element(index: &str) -> Result<PatternSegment, String> {
    if index == "*" {
        return Ok(PatternSegment::AnyIndex);
    }
    if let Some((key, value)) = index.split_once('=') {
        return Ok(PatternSegment::Match(key.to_owned(), value.to_owned()));
    }
    let invalid = |_| format!("expected [0], [*] or [name=value], found `[{index}]`");
    index.parse().map(PatternSegment::Index).map_err(invalid)
}

/// The path of a field in a resource, which may be missing. Existing keys may contain dots, and everything below annotations and
/// labels is one key.
pub(super) fn resolve(root: NodeRef<'_>, names: &[&str]) -> Path {
    let mut path = Path::default();
    let (mut node, mut at) = (Some(root), 0);
    while at < names.len() {
        let mapping = node.and_then(|node| node.resolve().as_mapping());
        let existing = mapping.and_then(|mapping| longest_key(mapping, &names[at..]));
        let key = match existing {
            Some((length, value, key)) => {
                (node, at) = (Some(value), at + length);
                key
            }
            None => {
                let is_map = at > 1 && names[at - 2] == "metadata";
                let is_map = is_map && matches!(names[at - 1], "annotations" | "labels");
                let to = if is_map { names.len() } else { at + 1 };
                let key = names[at..to].join(".");
                (node, at) = (None, to);
                key
            }
        };
        path.push(Segment::Key(key));
    }
    path
}

/// The entry with the longest key that the names start with: the number of names, its value and its key. Of duplicates it is the last.
fn longest_key<'a>(mapping: Mapping<'a>, names: &[&str]) -> Option<(usize, NodeRef<'a>, String)> {
    let entries = mapping.entries().filter_map(|entry| {
        let key = entry.key.resolve().as_scalar()?.value();
        let length = key.split('.').count();
        let is_prefix = names.len() >= length && key.split('.').eq(names[..length].iter().copied());
        is_prefix.then(|| (length, entry.value, key.into_owned()))
    });
    entries.max_by_key(|(length, ..)| *length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_sdk::yaml::File;

    /// The values of all scalars that a pattern matches.
    fn found(pattern: &str, text: &str) -> String {
        fn visit<'a>(
            node: NodeRef<'a>,
            path: &mut Vec<FieldSegment<'a>>,
            check: &mut dyn FnMut(NodeRef<'a>, &[FieldSegment<'a>]),
        ) {
            for (at, item) in node.as_sequence().into_iter().flat_map(|it| it.items()).enumerate() {
                path.push(FieldSegment::Element(at, item));
                visit(item, path, check);
                path.pop();
            }
            for entry in node.as_mapping().into_iter().flat_map(|it| it.entries()) {
                path.push(FieldSegment::Key(entry.key.text().to_owned()));
                visit(entry.value, path, check);
                path.pop();
            }
            if node.as_scalar().is_some() {
                check(node, path);
            }
        }
        let pattern = PathPattern::new(pattern).unwrap();
        let file = File::parse(text.to_owned()).unwrap();
        let mut out = Vec::new();
        let root = file.document(0).unwrap().root().unwrap();
        visit(root, &mut Vec::new(), &mut |node, path| {
            out.extend(pattern.matches(path).then(|| node.text().to_owned()));
        });
        out.join(" ")
    }

    #[test]
    fn every_kind_of_segment_matches() {
        let text = "a:\n  b: 1\n  c.d/e: 2\n  l:\n  - c: 3\n    n: x\n  - c: 4\n    n: y.z\n  - [5, 6]\n  m:\n    deep:\n    - c: 7\n    c: 8\n";
        for (pattern, expected) in [
            ("a.b", "1"),
            ("a.c.d/e", "2"),
            ("a.*", "1 2 5 6"),
            ("*.b", "1"),
            ("a.l[0].c", "3"),
            ("a.l[*].c", "3 4"),
            ("a.*[1].c", "4"),
            ("a.l[n=y.z].c", "4"),
            ("a.l[2][1]", "6"),
            ("a.l[*][*]", "5 6"),
            ("a.*.c", "3 4 8"),
            ("a.**.c", "3 4 7 8"),
            ("**.c", "3 4 7 8"),
            ("a.l.c", ""),
            ("a.l[9].c", ""),
            ("a", ""),
            ("b", ""),
        ] {
            assert_eq!(found(pattern, text), expected, "{pattern}");
        }
    }

    #[test]
    fn invalid_patterns_are_errors() {
        for pattern in ["", "a..b", "a.", ".a", "a[x]", "a[0", "a[0]b"] {
            assert!(PathPattern::new(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn path_resolves_keys_with_dots() {
        let file = File::parse("metadata:\n  labels:\n    a.b: 1\nx.y: {}\n".to_owned()).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        for (path, expected) in [
            ("metadata.labels.a.b", r#"metadata.labels."a.b""#),
            ("metadata.labels.c.d/e", r#"metadata.labels."c.d/e""#),
            ("metadata.annotations.c.d/e", r#"metadata.annotations."c.d/e""#),
            ("x.y.z.a", r#""x.y".z.a"#),
            ("spec.replicas", "spec.replicas"),
        ] {
            let names: Vec<&str> = path.split('.').collect();
            assert_eq!(resolve(root, &names).to_string(), expected, "{path}");
        }
    }
}
