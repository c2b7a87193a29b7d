//! Field paths of replacements: `spec.containers.[name=web].image`, `spec.rules.*.host`, `metadata.annotations.[a.b/c]`.

use std::collections::HashSet;

use krm_sdk::yaml::{NodeKind, NodeRef, Path, Segment};
use regex_lite::Regex;

/// A path that may match several fields.
#[derive(Clone, Debug)]
pub(super) struct FieldPath {
    segments: Vec<PathSegment>,
}

#[derive(Clone, Debug)]
enum PathSegment {
    /// A key, or the index of an element.
    Key(String),
    /// `*`: every element, or every value of a mapping.
    All,
    /// The elements with a matching field; if the key is empty, the matching elements.
    Match { key: String, value: String, regex: Regex },
}

impl FieldPath {
    /// Parses a path.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let mut segments = Vec::new();
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            match c {
                '[' => {
                    let length = text[at..].find(']').ok_or("unclosed `[`")?;
                    segments.push(bracket(&text[at + 1..at + length])?);
                    while chars.next_if(|(here, _)| *here <= at + length).is_some() {}
                    chars.next_if(|(_, c)| *c == '.');
                }
                _ => {
                    let mut key = String::new();
                    let mut next = Some(c);
                    while let Some(c) = next {
                        let escaped = c == '\\' && chars.peek().is_some_and(|(_, c)| *c == '.');
                        match c {
                            '.' => break,
                            _ if escaped => key.extend(chars.next().map(|(_, c)| c)),
                            c => key.push(c),
                        }
                        next = chars.next_if(|(_, c)| *c != '[').map(|(_, c)| c);
                    }
                    if key.is_empty() {
                        return Err("missing key".to_owned());
                    }
                    segments.push(if key == "*" {
                        PathSegment::All
                    } else {
                        PathSegment::Key(key)
                    });
                }
            }
        }
        match segments.len() {
            0 => Err("empty path".to_owned()),
            length if length > Path::MAX_SEGMENTS => {
                Err(format!("more than {} segments", Path::MAX_SEGMENTS))
            }
            _ => Ok(Self { segments }),
        }
    }

    /// All matching fields, in order. Those that several aliases lead to are found once: these can be billions of ways.
    pub(super) fn find<'a>(&self, root: NodeRef<'a>) -> Vec<NodeRef<'a>> {
        self.segments.iter().fold(vec![root], |found, segment| {
            let mut seen = HashSet::new();
            let nodes = found.into_iter().map(NodeRef::resolve);
            let distinct = nodes.filter(|node| seen.insert(node.index()));
            distinct.flat_map(|node| advance(node, segment)).collect()
        })
    }

    /// The paths of all matching fields, in order. With `create`, also of missing ones: below each element that `*` matches, and a
    /// new element for `[name=web]` if there is none.
    pub(super) fn targets(&self, root: NodeRef<'_>, create: bool) -> Vec<Path> {
        let mut search = TargetSearch { create, seen: HashSet::new(), targets: Vec::new() };
        search.collect(root, &self.segments);
        search.targets
    }
}

struct TargetSearch {
    create: bool,
    /// The indexes of nodes, with the number of segments that are left: many aliases can lead to the same node.
    seen: HashSet<(usize, usize)>,
    targets: Vec<Path>,
}

impl TargetSearch {
    /// As deep as the path, which is bounded.
    fn collect(&mut self, node: NodeRef<'_>, segments: &[PathSegment]) {
        let Some((first, rest)) = segments.split_first() else {
            return self.targets.push(node.path());
        };
        let parent = node.resolve();
        if !self.seen.insert((parent.index(), segments.len())) {
            return;
        }
        let found = advance(parent, first);
        if found.is_empty() && self.create {
            self.targets.extend(missing_path(parent, segments));
        }
        found.into_iter().for_each(|node| self.collect(node, rest));
    }
}

/// The path of a field to create below a node; none if the path does not determine what to create.
fn missing_path(parent: NodeRef<'_>, segments: &[PathSegment]) -> Option<Path> {
    let mut path = parent.path();
    let mut is_mapping = parent.kind() == NodeKind::Mapping;
    for segment in segments {
        path.push(match segment {
            PathSegment::Key(key) => match key.parse().ok().filter(|_| !is_mapping) {
                Some(index) => Segment::Index(index),
                None => Segment::Key(key.clone()),
            },
            PathSegment::Match { key, value, .. } if !key.is_empty() => {
                Segment::Match { key: key.clone(), value: value.clone() }
            }
            _ => return None,
        });
        is_mapping = false;
    }
    Some(path)
}

/// `[name=web]`, `[=value]`, `[0]` or a key with dots.
fn bracket(inside: &str) -> Result<PathSegment, String> {
    let Some((key, value)) = inside.split_once('=') else {
        return Ok(if inside == "*" {
            PathSegment::All
        } else {
            PathSegment::Key(inside.to_owned())
        });
    };
    let regex =
        Regex::new(&format!("^(?:{value})$")).map_err(|error| format!("[{inside}]: {error}"))?;
    Ok(PathSegment::Match { key: key.to_owned(), value: value.to_owned(), regex })
}

fn advance<'a>(node: NodeRef<'a>, segment: &PathSegment) -> Vec<NodeRef<'a>> {
    match segment {
        PathSegment::Key(key) => node.step(&Segment::Key(key.clone())).into_iter().collect(),
        PathSegment::All => match node.as_mapping() {
            Some(mapping) => mapping.entries().map(|entry| entry.value).collect(),
            None => node.as_sequence().into_iter().flat_map(|list| list.items()).collect(),
        },
        PathSegment::Match { key, value, regex } => {
            let items = node.as_sequence().into_iter().flat_map(|list| list.items());
            let matches = |item: &NodeRef<'a>| {
                let field = match key.as_str() {
                    "" => Some(*item),
                    key => item.step(&Segment::Key(key.to_owned())),
                };
                let scalar = field.and_then(|field| field.resolve().as_scalar());
                scalar.is_some_and(|it| it.is(value) || regex.is_match(&it.value()))
            };
            items.filter(matches).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_sdk::yaml::File;

    #[test]
    fn path_finds_all_matching_fields() {
        let text = "a:\n  l:\n  - name: web\n    v: 1\n  - name: web-2\n    v: 2\n  - name: a.b\n    v: 3\n  x.y/z: 4\n  words: [one, two]\n";
        let file = File::parse(text.to_owned()).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        for (path, expected) in [
            ("a.l.[name=web].v", "1"),
            ("a.l[name=web].v", "1"),
            ("a.l.[name=web.*].v", "1 2"),
            ("a.l.[name=a.b].v", "3"),
            ("a.l.1.v", "2"),
            ("a.l[1].v", "2"),
            ("a.l.*.v", "1 2 3"),
            ("a.l[*].v", "1 2 3"),
            (r"a.x\.y/z", "4"),
            ("a.[x.y/z]", "4"),
            ("a.words.[=two]", "two"),
            ("a.l.v", ""),
            ("a.l.9.v", ""),
        ] {
            let found = FieldPath::new(path).unwrap().find(root);
            let texts: Vec<&str> = found.iter().map(|node| node.text()).collect();
            assert_eq!(texts.join(" "), expected, "{path}");
        }
        for path in ["", "a..b", "a[0", ".a", "a.[b=(]"] {
            assert!(FieldPath::new(path).is_err(), "{path}");
        }
    }

    #[test]
    fn field_to_which_billions_of_aliases_lead_is_found_once() {
        let mut text = "a0: &a0 [{k: x}]\n".to_owned();
        for level in 1..12 {
            let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
        }
        let file = File::parse(text).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        for (key, found, created) in [("k", 1, 1), ("missing", 0, 1)] {
            let path = FieldPath::new(&format!("a11{}.{key}", ".*".repeat(12))).unwrap();
            assert_eq!((path.find(root).len(), path.targets(root, true).len()), (found, created));
        }
    }
}
