//! Queries about resources: `spec.replicas>=3 && spec.template.spec.containers[name=web].image=nginx`.

use std::str::FromStr;

use krm_yaml::NodeRef;
use regex_lite::Regex;

use crate::Diagnostic;
use crate::diagnostics::secrets;
use crate::model::Quantity;
use crate::model::resource::Resource;
use crate::query::selector::{QueryError, Selector, near, pattern};

/// Conditions that must all hold.
///
/// ```
/// use krm_core::model::resources;
/// use krm_core::query::Query;
///
/// let query: Query = r"spec.replicas>3 && metadata.name=^web".parse()?;
/// let file = krm_yaml::File::parse("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web-1}\nspec: {replicas: 5}\n".to_owned())?;
/// let found = resources(file.document(0).expect("there is one"));
/// assert!(query.matches(found[0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Query {
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug)]
struct Condition {
    path: Selector,
    test: Test,
}

#[derive(Clone, Debug)]
enum Test {
    Exists,
    Matches(Regex),
    Differs(Regex),
    Compares(Comparison, Quantity),
}

#[derive(Clone, Copy, Debug)]
enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Query {
    /// Whether all conditions hold for a resource.
    pub fn matches(&self, resource: Resource<'_>) -> bool {
        self.conditions.iter().all(|condition| {
            let found = condition.path.find(resource.node);
            found.into_iter().any(|node| condition.test.holds(node))
        })
    }
}

impl Query {
    /// A warning with the field or value that was probably meant, where no resource matches and one is like it.
    pub fn near_miss(&self, resources: &[Resource<'_>]) -> Option<Diagnostic> {
        self.conditions.iter().find_map(|condition| {
            let nodes = || resources.iter().map(|resource| resource.node);
            condition.path.near_miss(nodes()).or_else(|| condition.near_value(resources))
        })
    }
}

impl Condition {
    /// The same for a value that no resource has: `kind=Deploymnet`.
    fn near_value(&self, resources: &[Resource<'_>]) -> Option<Diagnostic> {
        let Test::Matches(wanted) = &self.test else { return None };
        let shown =
            resources.iter().filter(|it| !secrets::is_secret_field(**it, self.path.first_key()));
        let found: Vec<NodeRef<'_>> = shown.flat_map(|it| self.path.find(it.node)).collect();
        if found.iter().any(|node| self.test.holds(*node)) {
            return None;
        }
        let (path, wanted) = (&self.path, wanted.as_str());
        let meant = near(found.into_iter(), wanted)?;
        let words = format!("no resource has `{path}={wanted}`");
        Some(Diagnostic::untyped_warning(words).hint(format!("did you mean `{path}={meant}`?")))
    }
}

impl FromStr for Query {
    type Err = QueryError;

    fn from_str(text: &str) -> Result<Self, QueryError> {
        let conditions = text.split("&&").map(|part| condition(part.trim()));
        Ok(Self { conditions: conditions.collect::<Result<_, _>>()? })
    }
}

fn condition(text: &str) -> Result<Condition, QueryError> {
    if text.is_empty() {
        return Err(QueryError(
            "a condition is empty; write a path such as `metadata.name`".to_owned(),
        ));
    }
    let Some((at, operator)) = operator(text) else {
        return Ok(Condition { path: text.parse()?, test: Test::Exists });
    };
    let (path, value) = (text[..at].trim(), text[at + operator.len()..].trim());
    if operator == "=" && value.starts_with('=') {
        return Err(QueryError(format!(
            "`==` is no operator; write `{path}=^{}$`",
            value[1..].trim()
        )));
    }
    Ok(Condition { path: path.parse()?, test: test(operator, value)? })
}

/// The first operator outside of quotes and brackets.
fn operator(text: &str) -> Option<(usize, &'static str)> {
    let (mut depth, mut quote, mut skip) = (0usize, None, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if skip => skip = false,
            '\\' => skip = true,
            c if quote == Some(c) => quote = None,
            _ if quote.is_some() => {}
            '"' | '\'' => quote = Some(c),
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            '!' | '<' | '>' | '=' if depth == 0 => {
                let found = ["!=", ">=", "<=", ">", "<", "="]
                    .into_iter()
                    .find(|word| text[at..].starts_with(word));
                if found.is_some() {
                    return found.map(|word| (at, word));
                }
            }
            _ => {}
        }
    }
    None
}

fn test(operator: &str, value: &str) -> Result<Test, QueryError> {
    let comparison = match operator {
        "=" => return Ok(Test::Matches(pattern(value)?)),
        "!=" => return Ok(Test::Differs(pattern(value)?)),
        "<" => Comparison::Less,
        "<=" => Comparison::LessOrEqual,
        ">" => Comparison::Greater,
        _ => Comparison::GreaterOrEqual,
    };
    let Some(quantity) = Quantity::parse(value) else {
        return Err(QueryError(format!(
            "`{value}` after `{operator}` is neither a number nor a quantity such as 500m"
        )));
    };
    Ok(Test::Compares(comparison, quantity))
}

impl Test {
    fn holds(&self, node: NodeRef<'_>) -> bool {
        match self {
            Self::Exists => true,
            Self::Matches(pattern) => pattern.is_match(&value(node)),
            Self::Differs(pattern) => !pattern.is_match(&value(node)),
            Self::Compares(comparison, wanted) => {
                let found = node.as_scalar().and_then(|scalar| Quantity::parse(&scalar.value()));
                found.is_some_and(|found| match comparison {
                    Comparison::Less => found < *wanted,
                    Comparison::LessOrEqual => found <= *wanted,
                    Comparison::Greater => found > *wanted,
                    Comparison::GreaterOrEqual => found >= *wanted,
                })
            }
        }
    }
}

/// What a pattern is held against. Compat: a collection is one line in brackets, without double quotes.
fn value(node: NodeRef<'_>) -> String {
    match node.as_scalar() {
        Some(scalar) => scalar.value().into_owned(),
        None => crate::print::one_line(node).replace('"', ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, labels: {a.b/c: x}}\nspec:\n  containers:\n  - {name: web, image: 'nginx:1.7', args: [--a, \"1\"], resources: {limits: {cpu: 500m}}}\n  - {name: side, image: 'envoy:2'}\n";

    fn holds(query: &str) -> bool {
        let file = krm_yaml::File::parse(POD.to_owned()).unwrap();
        let resource = crate::model::resources(file.document(0).unwrap())[0];
        query.parse::<Query>().unwrap().matches(resource)
    }

    #[test]
    fn conditions_hold_where_they_should() {
        for query in [
            "kind",
            "kind=Pod",
            "kind=^P.d$",
            "kind!=Service",
            "spec.containers[name=web].image=nginx",
            "spec.containers[name=.*].image=envoy",
            "spec.containers.*.image=:2$",
            "spec.containers[name=w].resources.limits.cpu<1",
            "spec.containers[0].resources.limits.cpu >= 0.5",
            r"metadata.labels.a\.b/c=x",
            "metadata.labels.\"a.b/c\"=x",
            "spec.containers[0].args=--a, 1",
            "kind=Pod && metadata.name = web && spec.containers[name=side]",
        ] {
            assert!(holds(query), "{query}");
        }
        for query in [
            "spec.none",
            "spec.none!=x",
            "kind=pod",
            "kind!=Pod",
            "metadata.name>3",
            "spec.containers[name=side].image=nginx",
            "kind=Pod && metadata.name=db",
        ] {
            assert!(!holds(query), "{query}");
        }
    }

    #[test]
    fn a_query_that_cannot_be_read_says_why() {
        for (query, words) in [
            ("", "a condition is empty"),
            ("a && ", "a condition is empty"),
            ("a>b", "neither a number nor a quantity"),
            ("a=(", "no regular expression"),
            ("a==b", "write `a=^b$`"),
            ("a[", "column"),
        ] {
            let error = query.parse::<Query>().unwrap_err().to_string();
            assert!(error.contains(words), "{query}: {error}");
        }
    }
}
