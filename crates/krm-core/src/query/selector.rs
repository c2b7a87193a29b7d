//! The paths of queries, and suggestions for those that match nothing.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use krm_yaml::{NodeRef, PathPattern, PatternStep, Scalar, ScalarType, Segment};
use regex_lite::Regex;

use crate::Diagnostic;
use crate::diagnostics::closest_name;
use crate::model::resource::scalar_text;
use crate::query::kinds::{QueryError, QueryKind};
use crate::query::missing_path::similar_step;

/// A pattern whose values in `[name=web]` are regular expressions, as all values of a query. Compat: so they are in kustomize.
#[derive(Clone, Debug)]
pub struct Selector {
    pattern: PathPattern,
    /// The regular expressions, with the indices of their steps.
    values: Vec<(usize, Regex)>,
}

impl Selector {
    /// All matching nodes below a node, in order.
    pub fn find<'a>(&self, node: NodeRef<'a>) -> Vec<NodeRef<'a>> {
        self.pattern.find_with(node, &|at, field| self.is_match(at, field))
    }

    fn is_match(&self, at: usize, field: Scalar<'_>) -> bool {
        let regex = self.values.iter().find(|(step, _)| *step == at);
        field.resolve() != ScalarType::Null
            && regex.is_some_and(|(_, regex)| regex.is_match(&field.value()))
    }

    /// A warning with a similar path, if this one matches nothing.
    pub fn suggestion<'a>(
        &self,
        nodes: impl IntoIterator<Item = NodeRef<'a>>,
    ) -> Option<Diagnostic> {
        let (mut reached, mut found) = (Vec::new(), 0);
        for node in nodes {
            let (nodes, at) = self.pattern.reach_with(node, &|at, it| self.is_match(at, it))?;
            if at > found {
                (reached, found) = (Vec::new(), at);
            }
            if at == found {
                reached.extend(nodes);
            }
        }
        let similar = similar_step(&reached, self.pattern.steps().get(found)?)?;
        let mut pattern = PathPattern::default();
        for (at, step) in self.pattern.steps().iter().enumerate() {
            pattern.push(if at == found { similar.clone() } else { step.clone() });
        }
        let (path, similar) = (self.to_string(), pattern.to_string().into());
        Some(Diagnostic::warning(QueryKind::UnknownField { path, similar }))
    }

    /// The first segment, if it is a key.
    pub(crate) fn first_key(&self) -> Option<&str> {
        match self.pattern.steps().first()? {
            PatternStep::Plain(Segment::Key(key)) => Some(key),
            _ => None,
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pattern.fmt(f)
    }
}

impl FromStr for Selector {
    type Err = QueryError;

    fn from_str(text: &str) -> Result<Self, QueryError> {
        let pattern: PathPattern = text.parse().map_err(|error: krm_yaml::PathError| {
            let (path, reason) = (text.to_owned(), error.to_string());
            QueryError::InvalidPath { path, reason }
        })?;
        let mut values = Vec::new();
        for (at, step) in pattern.steps().iter().enumerate() {
            if let PatternStep::Plain(Segment::Match { value, .. }) = step {
                values.push((at, parse_regex(value)?));
            }
        }
        Ok(Self { pattern, values })
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
