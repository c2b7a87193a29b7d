//! Path selectors with wildcards, and suggestions for those that match nothing.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use krm_yaml::{NodeRef, Path, Segment};
use regex_lite::Regex;

use crate::Diagnostic;
use crate::diagnostics::closest_name;
use crate::model::resource::scalar_text;
use crate::query::kinds::{QueryError, QueryKind};

/// A path that can match many nodes: `*` is any key or element, and the value in `[name=web]` is a regular expression.
#[derive(Clone, Debug)]
pub struct Selector {
    steps: Vec<SelectorStep>,
    text: String,
}

impl Selector {
    /// All matching nodes below a node, in order.
    pub fn find<'a>(&self, node: NodeRef<'a>) -> Vec<NodeRef<'a>> {
        self.steps.iter().fold(vec![node.resolve()], |found, step| {
            found.into_iter().flat_map(|node| advance(node, step)).map(NodeRef::resolve).collect()
        })
    }

    /// A warning with a similar path, if this one matches nothing.
    pub fn suggestion<'a>(
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
                let similar = self.with_step(at, step.similar(&reached)?)?;
                let (path, similar) = (self.to_string(), similar.to_string().into());
                return Some(Diagnostic::warning(QueryKind::UnknownField { path, similar }));
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

    /// The first segment, if it is a key.
    pub(crate) fn first_key(&self) -> Option<&str> {
        match self.steps.first()? {
            SelectorStep::Plain(Segment::Key(key)) => Some(key),
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
enum SelectorStep {
    /// A segment of an ordinary path.
    Plain(Segment),
    /// `*`: every value or element.
    All,
    /// `[name=web]`: every element whose field matches. Compat: in kustomize, the value is a regular expression.
    Match { key: Segment, value: Regex },
}

impl SelectorStep {
    /// The most similar existing step.
    fn similar(&self, reached: &[NodeRef<'_>]) -> Option<Segment> {
        match self {
            Self::Plain(Segment::Key(name)) => {
                let mappings = reached.iter().filter_map(|node| node.as_mapping());
                let keys = mappings.flat_map(|mapping| mapping.entries().map(|entry| entry.key));
                similar_scalar(keys, name).map(Segment::Key)
            }
            Self::Match { key: Segment::Key(key), value } => {
                let lists = reached.iter().filter_map(|node| node.as_sequence());
                let field = Segment::Key(key.clone());
                let values = lists.flat_map(|list| list.items()).filter_map(|it| it.step(&field));
                let value = similar_scalar(values, value.as_str())?;
                Some(Segment::Match { key: key.clone(), value })
            }
            _ => None,
        }
    }
}

/// The scalar that is most similar to a string.
pub(super) fn similar_scalar<'a>(
    scalars: impl Iterator<Item = NodeRef<'a>>,
    name: &str,
) -> Option<String> {
    let names: BTreeSet<Cow<'a, str>> = scalars.filter_map(scalar_text).collect();
    closest_name(names.iter().map(|name| &**name), name).map(str::to_owned)
}

pub(super) fn parse_regex(text: &str) -> Result<Regex, QueryError> {
    Regex::new(text).map_err(|error| {
        let (regex, reason) = (text.to_owned(), error.to_string());
        QueryError::InvalidRegex { regex, reason }
    })
}

fn steps(path: &str) -> Result<Vec<SelectorStep>, QueryError> {
    let parsed: Path = path.parse().map_err(|error: krm_yaml::PathError| {
        let (path, reason) = (path.to_owned(), error.to_string());
        QueryError::InvalidPath { path, reason }
    })?;
    let step = |segment: &Segment| {
        Ok(match segment {
            Segment::Key(key) if key == "*" => SelectorStep::All,
            Segment::Match { key, value } => {
                SelectorStep::Match { key: Segment::Key(key.clone()), value: parse_regex(value)? }
            }
            plain => SelectorStep::Plain(plain.clone()),
        })
    };
    parsed.segments().iter().map(step).collect()
}

fn advance<'a>(node: NodeRef<'a>, step: &SelectorStep) -> Vec<NodeRef<'a>> {
    match step {
        SelectorStep::Plain(segment) => node.step(segment).into_iter().collect(),
        SelectorStep::All => match node.as_mapping() {
            Some(mapping) => mapping.entries().map(|entry| entry.value).collect(),
            None => node.children().collect(),
        },
        SelectorStep::Match { key, value } => {
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

    fn suggestion(path: &str) -> Option<String> {
        let file = krm_yaml::File::parse(TEXT.to_owned()).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        let warning = path.parse::<Selector>().unwrap().suggestion([root])?;
        Some(warning.hints.concat())
    }

    #[test]
    fn path_without_match_suggests_a_similar_one() {
        assert_eq!(suggestion("spec.replica").as_deref(), Some("did you mean `spec.replicas`?"));
        assert_eq!(suggestion("spce.replicas").as_deref(), Some("did you mean `spec.replicas`?"));
        assert_eq!(
            suggestion("spec.containers.*.imgae").as_deref(),
            Some("did you mean `spec.containers.*.image`?")
        );
        assert_eq!(
            suggestion("spec.containers[name=wbe].image").as_deref(),
            Some("did you mean `spec.containers[name=web].image`?")
        );
    }

    #[test]
    fn no_suggestion_for_a_match_or_without_a_similar_path() {
        assert_eq!(suggestion("spec.replicas"), None);
        assert_eq!(suggestion("spec.strategy"), None);
        assert_eq!(suggestion("spec.containers[7]"), None);
    }
}
