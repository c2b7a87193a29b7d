//! Paths that lead to all nodes they fit, and the one that was probably meant where they lead nowhere.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use krm_yaml::{NodeRef, Path, Segment};
use regex_lite::Regex;

use crate::Diagnostic;
use crate::diagnostics::closest_name;
use crate::model::resource::scalar_text;

/// A path that leads to all nodes that it fits: `*` is any key or item, and `[name=web]` holds a pattern.
#[derive(Clone, Debug)]
pub struct Selector {
    steps: Vec<Step>,
    text: String,
}

impl Selector {
    /// Every node that the path leads to from here, in order.
    pub fn find<'a>(&self, node: NodeRef<'a>) -> Vec<NodeRef<'a>> {
        self.steps.iter().fold(vec![node.resolve()], |found, step| {
            found.into_iter().flat_map(|node| advance(node, step)).map(NodeRef::resolve).collect()
        })
    }

    /// A warning with the path that was probably meant; none where this one leads somewhere, or nothing is like it.
    pub fn near_miss<'a>(
        &self,
        nodes: impl IntoIterator<Item = NodeRef<'a>>,
    ) -> Option<Diagnostic> {
        let mut reached: Vec<NodeRef<'a>> = nodes.into_iter().map(NodeRef::resolve).collect();
        for (at, step) in self.steps.iter().enumerate() {
            let next: Vec<NodeRef<'a>> = reached
                .iter()
                .flat_map(|node| advance(*node, step))
                .map(NodeRef::resolve)
                .collect();
            if next.is_empty() {
                let meant = self.with_step(at, step.instead(&reached)?)?;
                let words = format!("no resource has the field `{self}`");
                return Some(
                    Diagnostic::untyped_warning(words).hint(format!("did you mean `{meant}`?")),
                );
            }
            reached = next;
        }
        None
    }

    fn with_step(&self, at: usize, segment: Segment) -> Option<Path> {
        let path: Path = self.text.parse().ok()?;
        let mut segments = path.segments().to_vec();
        *segments.get_mut(at)? = segment;
        Some(segments.into_iter().fold(Path::default(), |mut path, segment| {
            path.push(segment);
            path
        }))
    }

    /// The key that it begins with, where it begins with one.
    pub fn first_key(&self) -> Option<&str> {
        match self.steps.first()? {
            Step::Plain(Segment::Key(key)) => Some(key),
            _ => None,
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Selector {
    type Err = QueryError;

    fn from_str(text: &str) -> Result<Self, QueryError> {
        Ok(Self { steps: steps(text)?, text: text.to_owned() })
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// As in any path.
    Plain(Segment),
    /// Every entry: `*`.
    All,
    /// Every item whose field matches. Compat: kustomize reads `[name=web]` as a pattern.
    Match { key: Segment, value: Regex },
}

impl Step {
    /// What was probably meant, of what is there.
    fn instead(&self, reached: &[NodeRef<'_>]) -> Option<Segment> {
        match self {
            Self::Plain(Segment::Key(wanted)) => {
                let mappings = reached.iter().filter_map(|node| node.as_mapping());
                let keys = mappings.flat_map(|mapping| mapping.entries().map(|entry| entry.key));
                near(keys, wanted).map(Segment::Key)
            }
            Self::Match { key: Segment::Key(key), value } => {
                let lists = reached.iter().filter_map(|node| node.as_sequence());
                let field = Segment::Key(key.clone());
                let values = lists.flat_map(|list| list.items()).filter_map(|it| it.step(&field));
                let value = near(values, value.as_str())?;
                Some(Segment::Match { key: key.clone(), value })
            }
            _ => None,
        }
    }
}

/// The text of one of these scalars that is most like `wanted`.
pub(crate) fn near<'a>(scalars: impl Iterator<Item = NodeRef<'a>>, wanted: &str) -> Option<String> {
    let names: BTreeSet<Cow<'a, str>> = scalars.filter_map(scalar_text).collect();
    closest_name(names.iter().map(|name| &**name), wanted).map(str::to_owned)
}

/// A query that cannot be read: what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError(pub(crate) String);

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for QueryError {}

pub(crate) fn pattern(text: &str) -> Result<Regex, QueryError> {
    Regex::new(text)
        .map_err(|error| QueryError(format!("`{text}` is no regular expression: {error}")))
}

fn steps(path: &str) -> Result<Vec<Step>, QueryError> {
    let parsed: Path = path.parse().map_err(|error| QueryError(format!("{error}: `{path}`")))?;
    let step = |segment: &Segment| {
        Ok(match segment {
            Segment::Key(key) if key == "*" => Step::All,
            Segment::Match { key, value } => {
                Step::Match { key: Segment::Key(key.clone()), value: pattern(value)? }
            }
            plain => Step::Plain(plain.clone()),
        })
    };
    parsed.segments().iter().map(step).collect()
}

fn advance<'a>(node: NodeRef<'a>, step: &Step) -> Vec<NodeRef<'a>> {
    match step {
        Step::Plain(segment) => node.step(segment).into_iter().collect(),
        Step::All => match node.as_mapping() {
            Some(mapping) => mapping.entries().map(|entry| entry.value).collect(),
            None => node.children().collect(),
        },
        Step::Match { key, value } => {
            let items = node.as_sequence().map(|list| list.items()).into_iter().flatten();
            let fits = |item: &NodeRef<'a>| {
                let field = item.step(key).and_then(scalar_text);
                field.is_some_and(|field| value.is_match(&field))
            };
            items.filter(fits).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "metadata: {labels: {app: x}}\nspec:\n  replicas: 3\n  containers:\n  - {name: web, image: a}\n  - {name: side, image: b}\n";

    fn meant(path: &str) -> Option<String> {
        let file = krm_yaml::File::parse(TEXT.to_owned()).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        let told = path.parse::<Selector>().unwrap().near_miss([root])?;
        Some(told.hints.concat())
    }

    #[test]
    fn a_path_that_leads_nowhere_names_its_neighbour() {
        assert_eq!(meant("spec.replica").as_deref(), Some("did you mean `spec.replicas`?"));
        assert_eq!(meant("spce.replicas").as_deref(), Some("did you mean `spec.replicas`?"));
        assert_eq!(
            meant("spec.containers.*.imgae").as_deref(),
            Some("did you mean `spec.containers.*.image`?")
        );
        assert_eq!(
            meant("spec.containers[name=wbe].image").as_deref(),
            Some("did you mean `spec.containers[name=web].image`?")
        );
    }

    #[test]
    fn a_path_that_leads_somewhere_or_is_like_nothing_needs_no_words() {
        assert_eq!(meant("spec.replicas"), None);
        assert_eq!(meant("spec.strategy"), None);
        assert_eq!(meant("spec.containers[7]"), None);
    }
}
