//! Field paths of replacements: `spec.containers.[name=web].image`, `spec.rules.*.host`, `metadata.annotations.[a.b/c]`.

use krm_sdk::yaml::{NodeKind, NodeRef, Path, Segment};
use regex_lite::Regex;

/// A path to any number of fields.
#[derive(Clone, Debug)]
pub(super) struct FieldPath {
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    /// A key, or the number of an item.
    Key(String),
    /// `*`: every item, or every value of a mapping.
    All,
    /// The items with a field that fits; those that fit themselves where the key is empty.
    Match { key: String, value: String, regex: Regex },
}

impl FieldPath {
    /// Reads a path; the error says what is wrong with it.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let mut steps = Vec::new();
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            match c {
                '[' => {
                    let length = text[at..].find(']').ok_or("a `[` is never closed")?;
                    steps.push(bracket(&text[at + 1..at + length])?);
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
                        return Err("a name is missing".to_owned());
                    }
                    steps.push(if key == "*" { Step::All } else { Step::Key(key) });
                }
            }
        }
        if steps.is_empty() { Err("it is empty".to_owned()) } else { Ok(Self { steps }) }
    }

    /// Whether it may lead to several fields by itself.
    pub(super) fn has_wildcard(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::All))
    }

    /// All fields that it leads to, in order.
    pub(super) fn find<'a>(&self, root: NodeRef<'a>) -> Vec<NodeRef<'a>> {
        self.steps.iter().fold(vec![root], |found, step| {
            found.into_iter().flat_map(|node| advance(node.resolve(), step)).collect()
        })
    }

    /// The path for an edit that makes what is missing; none where nobody can say what would be made.
    pub(super) fn to_make(&self, root: NodeRef<'_>) -> Option<Path> {
        let mut path = Path::default();
        let mut node = Some(root);
        for step in &self.steps {
            let is_mapping = node.is_some_and(|node| node.kind() == NodeKind::Mapping);
            path.push(match step {
                Step::Key(key) => match key.parse().ok().filter(|_| !is_mapping) {
                    Some(index) => Segment::Index(index),
                    None => Segment::Key(key.clone()),
                },
                Step::Match { key, value, .. } if !key.is_empty() => {
                    Segment::Match { key: key.clone(), value: value.clone() }
                }
                _ => return None,
            });
            node = node.and_then(|node| advance(node.resolve(), step).into_iter().next());
        }
        Some(path)
    }
}

/// `[name=web]`, `[=value]`, `[0]` or a key with dots.
fn bracket(inside: &str) -> Result<Step, String> {
    let Some((key, value)) = inside.split_once('=') else {
        return Ok(if inside == "*" { Step::All } else { Step::Key(inside.to_owned()) });
    };
    let regex =
        Regex::new(&format!("^(?:{value})$")).map_err(|error| format!("[{inside}]: {error}"))?;
    Ok(Step::Match { key: key.to_owned(), value: value.to_owned(), regex })
}

fn advance<'a>(node: NodeRef<'a>, step: &Step) -> Vec<NodeRef<'a>> {
    match step {
        Step::Key(key) => node.step(&Segment::Key(key.clone())).into_iter().collect(),
        Step::All => match node.as_mapping() {
            Some(mapping) => mapping.entries().map(|entry| entry.value).collect(),
            None => node.as_sequence().into_iter().flat_map(|list| list.items()).collect(),
        },
        Step::Match { key, value, regex } => {
            let items = node.as_sequence().into_iter().flat_map(|list| list.items());
            let fits = |item: &NodeRef<'a>| {
                let field = match key.as_str() {
                    "" => Some(*item),
                    key => item.step(&Segment::Key(key.to_owned())),
                };
                let scalar = field.and_then(|field| field.resolve().as_scalar());
                scalar.is_some_and(|it| it.is(value) || regex.is_match(&it.value()))
            };
            items.filter(fits).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_sdk::yaml::File;

    #[test]
    fn paths_lead_to_all_fields_that_fit() {
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
}
