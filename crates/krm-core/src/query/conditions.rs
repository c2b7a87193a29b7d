//! Queries that select resources: `spec.replicas>=3 && (kind=Deployment || kind=StatefulSet)`.

use std::str::FromStr;

use krm_yaml::NodeRef;
use regex_lite::Regex;

use crate::Diagnostic;
use crate::diagnostics::secrets;
use crate::model::Quantity;
use crate::model::resource::Resource;
use crate::query::kinds::{QueryError, QueryKind};
use crate::query::selector::{Selector, parse_regex, similar_scalar};

/// Conditions, combined with `&&`, `||`, `!` and parentheses.
///
/// ```
/// use krm_core::model::resources;
/// use krm_core::query::Query;
///
/// let query: Query = r"spec.replicas>3 && (metadata.name=^web || kind=StatefulSet)".parse()?;
/// let file = krm_yaml::File::parse("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web-1}\nspec: {replicas: 5}\n".to_owned())?;
/// let found = resources(file.document(0).expect("there is one"));
/// assert!(query.matches(found[0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Query {
    expression: Expression,
}

#[derive(Clone, Debug)]
enum Expression {
    /// All of them.
    And(Vec<Expression>),
    /// At least one of them.
    Or(Vec<Expression>),
    Not(Box<Expression>),
    Is(Condition),
}

#[derive(Clone, Debug)]
struct Condition {
    path: Selector,
    predicate: Predicate,
}

#[derive(Clone, Debug)]
enum Predicate {
    Exists,
    Matches(Regex),
    DoesNotMatch(Regex),
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
    /// Whether a resource satisfies the query.
    pub fn matches(&self, resource: Resource<'_>) -> bool {
        self.expression.matches(resource.node)
    }

    /// Whether any node satisfies the query, such as the root of a document that is not a resource.
    pub fn matches_node(&self, node: NodeRef<'_>) -> bool {
        self.expression.matches(node)
    }

    /// A warning with a similar field or value, if no resource has the one of a condition.
    pub fn suggestion(&self, resources: &[Resource<'_>]) -> Option<Diagnostic> {
        self.expression.conditions().into_iter().find_map(|condition| {
            let nodes = || resources.iter().map(|resource| resource.node);
            condition.path.suggestion(nodes()).or_else(|| condition.similar_value(resources))
        })
    }
}

impl Expression {
    fn matches(&self, node: NodeRef<'_>) -> bool {
        match self {
            Self::And(parts) => parts.iter().all(|part| part.matches(node)),
            Self::Or(parts) => parts.iter().any(|part| part.matches(node)),
            Self::Not(part) => !part.matches(node),
            Self::Is(condition) => {
                let found = condition.path.find(node);
                found.into_iter().any(|node| condition.predicate.is_true_for(node))
            }
        }
    }

    fn conditions(&self) -> Vec<&Condition> {
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().flat_map(Self::conditions).collect(),
            Self::Not(part) => part.conditions(),
            Self::Is(condition) => vec![condition],
        }
    }
}

impl Condition {
    /// A warning for a value that no resource has: `kind=Deploymnet`.
    fn similar_value(&self, resources: &[Resource<'_>]) -> Option<Diagnostic> {
        let Predicate::Matches(regex) = &self.predicate else { return None };
        let shown =
            resources.iter().filter(|it| !secrets::is_secret_field(**it, self.path.first_key()));
        let found: Vec<NodeRef<'_>> = shown.flat_map(|it| self.path.find(it.node)).collect();
        if found.iter().any(|node| self.predicate.is_true_for(*node)) {
            return None;
        }
        let similar = similar_scalar(found.into_iter(), regex.as_str())?.into();
        let (path, value) = (self.path.to_string(), regex.as_str().to_owned());
        Some(Diagnostic::warning(QueryKind::UnknownValue { path, value, similar }))
    }
}

impl FromStr for Query {
    type Err = QueryError;

    fn from_str(text: &str) -> Result<Self, QueryError> {
        Ok(Self { expression: expression(text, 0)? })
    }
}

/// How deep parentheses and negations may be nested, because parsing recurses.
const MAX_DEPTH: usize = 64;

/// Parses by splitting at the operator that binds least.
fn expression(text: &str, depth: usize) -> Result<Expression, QueryError> {
    if depth > MAX_DEPTH {
        return Err(QueryError::TooDeep { limit: MAX_DEPTH });
    }
    let each = |parts: Vec<&str>| -> Result<Vec<Expression>, QueryError> {
        parts.into_iter().map(|part| expression(part, depth + 1)).collect()
    };
    let text = text.trim();
    let alternatives = split(text, "||")?;
    if alternatives.len() > 1 {
        return Ok(Expression::Or(each(alternatives)?));
    }
    let parts = split(text, "&&")?;
    if parts.len() > 1 {
        return Ok(Expression::And(each(parts)?));
    }
    if let Some(rest) = text.strip_prefix('!') {
        return Ok(Expression::Not(Box::new(expression(rest, depth + 1)?)));
    }
    match text.strip_prefix('(') {
        Some(rest) => match rest.strip_suffix(')') {
            Some(inner) => expression(inner, depth + 1),
            None => Err(QueryError::TextAfterParenthesis),
        },
        None => condition(text).map(Expression::Is),
    }
}

/// The characters of a query outside of quotes and brackets, with their offsets. An escaped character is never one of them.
///
/// Quotes count in paths only: in a value, a regular expression, an apostrophe is a character like any other.
struct Unquoted<'a> {
    text: &'a str,
    rest: std::str::CharIndices<'a>,
    quote: Option<char>,
    brackets: usize,
    in_value: bool,
}

impl<'a> Unquoted<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, rest: text.char_indices(), quote: None, brackets: 0, in_value: false }
    }

    /// The error of a quote that is not closed, after all characters.
    fn finish(self) -> Result<(), QueryError> {
        match self.quote {
            Some(quote) => Err(QueryError::UnclosedQuote { quote }),
            None => Ok(()),
        }
    }
}

impl Iterator for Unquoted<'_> {
    type Item = (usize, char);

    fn next(&mut self) -> Option<(usize, char)> {
        while let Some((at, c)) = self.rest.next() {
            match c {
                '\\' => _ = self.rest.next(),
                c if self.quote == Some(c) => self.quote = None,
                _ if self.quote.is_some() => {}
                '"' | '\'' if !self.in_value => self.quote = Some(c),
                '[' => self.brackets += 1,
                ']' => self.brackets = self.brackets.saturating_sub(1),
                _ if self.brackets > 0 => {}
                c => {
                    let rest = &self.text[at..];
                    let starts_condition = rest.starts_with("&&") || rest.starts_with("||");
                    self.in_value = !starts_condition && (self.in_value || "=<>".contains(c));
                    return Some((at, c));
                }
            }
        }
        None
    }
}

/// Splits at an operator outside of quotes, brackets and parentheses. Regular expressions have parentheses, too, in pairs.
fn split<'a>(text: &'a str, operator: &str) -> Result<Vec<&'a str>, QueryError> {
    let (mut parts, mut start, mut parentheses) = (Vec::new(), 0, 0usize);
    let mut unquoted = Unquoted::new(text);
    for (at, c) in unquoted.by_ref() {
        match c {
            '(' => parentheses += 1,
            ')' if parentheses == 0 => return Err(QueryError::UnmatchedParenthesis),
            ')' => parentheses -= 1,
            _ if parentheses == 0 && at >= start && text[at..].starts_with(operator) => {
                parts.push(&text[start..at]);
                start = at + operator.len();
            }
            _ => {}
        }
    }
    unquoted.finish()?;
    parts.push(&text[start..]);
    Ok(parts)
}

fn condition(text: &str) -> Result<Condition, QueryError> {
    if text.is_empty() {
        return Err(QueryError::EmptyCondition);
    }
    let Some((at, operator)) = operator(text, CONDITIONS) else {
        return Ok(Condition { path: parse_path(text)?, predicate: Predicate::Exists });
    };
    let (path, value) = (text[..at].trim(), text[at + operator.len()..].trim());
    if operator == "=" && value.starts_with('=') {
        let (path, value) = (path.to_owned(), value[1..].trim().to_owned());
        return Err(QueryError::DoubleEquals { path, value });
    }
    if operator == "!=" && value.starts_with('~') {
        let instead = format!("{path}!={}", value[1..].trim());
        return Err(QueryError::UnknownOperator { operator: "!=~", instead });
    }
    if let Some(unquoted) = without_quotes(value) {
        let instead = format!("{path}{operator}{unquoted}");
        return Err(QueryError::QuotedValue { instead });
    }
    if let Some(operator) = single_operator(value) {
        return Err(QueryError::SingleOperator { operator });
    }
    if let Some(word) = word_operator(value) {
        return Err(QueryError::WordOperator { word: word.to_owned() });
    }
    Ok(Condition { path: parse_path(path)?, predicate: predicate(operator, value)? })
}

/// What is between the quotes of a value that is quoted as a whole: a value is a regular expression, in which quotes would match quotes.
fn without_quotes(value: &str) -> Option<&str> {
    let inner = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\''))
}

/// Parses a path. Operators of other languages are not part of it: a space outside of quotes most likely separates them, as in
/// `not a=b` and `kind in (a, b)`, and `~` compares: `a!~b`. A JSON pointer escapes slashes with `~`.
fn parse_path(text: &str) -> Result<Selector, QueryError> {
    if Unquoted::new(text).any(|(_, c)| c == ' ') {
        return Err(QueryError::SpaceInPath { path: text.to_owned() });
    }
    let tilde = Unquoted::new(text).find(|(_, c)| *c == '~' && !text.starts_with('/'));
    if let Some((at, _)) = tilde {
        let (path, value) = (&text[..at], &text[at + 1..]);
        let (operator, instead) = match path.strip_suffix('!') {
            Some(path) => ("!~", format!("{path}!={value}")),
            None => ("~", format!("{path}=~{value}")),
        };
        return Err(QueryError::UnknownOperator { operator, instead });
    }
    text.parse()
}

/// `and` or `or` in a value after which another condition follows, so that it most likely stands for `&&` or `||`.
fn word_operator(value: &str) -> Option<&str> {
    let words = value.match_indices(' ').filter_map(|(at, _)| {
        let (word, rest) = value[at + 1..].split_once(' ')?;
        let is_operator = ["and", "or"].iter().any(|it| word.eq_ignore_ascii_case(it));
        (is_operator && operator(rest, CONDITIONS).is_some()).then_some(word)
    });
    words.into_iter().next()
}

/// A `&` or `|` in a value after which another condition follows, so that it most likely stands for `&&` or `||`. Otherwise both are part of
/// the regular expression: `kind=Pod|Job`.
fn single_operator(value: &str) -> Option<char> {
    ['&', '|'].into_iter().find(|it| {
        let rest = value.split_once(&format!(" {it} ")).map(|(_, rest)| rest);
        rest.is_some_and(|rest| operator(rest, CONDITIONS).is_some())
    })
}

/// The operators of conditions. Longer ones are first.
const CONDITIONS: &[&str] = &["!=", "=~", ">=", "<=", ">", "<", "="];

/// Splits an assignment, `PATH=VALUE`, at the first `=` that is not part of the path.
///
/// ```
/// use krm_core::query::split_assignment;
///
/// let (path, value) = split_assignment("containers[name=web].args=--level=3").expect("an assignment");
/// assert_eq!((path, value), ("containers[name=web].args", "--level=3"));
/// ```
pub fn split_assignment(text: &str) -> Option<(&str, &str)> {
    let (at, operator) = operator(text, &["="])?;
    Some((&text[..at], &text[at + operator.len()..]))
}

/// The first operator outside of quotes and brackets, with its offset.
fn operator(text: &str, operators: &[&'static str]) -> Option<(usize, &'static str)> {
    let found = |at: usize| operators.iter().copied().find(|it| text[at..].starts_with(it));
    Unquoted::new(text).find_map(|(at, _)| Some((at, found(at)?)))
}

fn predicate(operator: &'static str, value: &str) -> Result<Predicate, QueryError> {
    let comparison = match operator {
        "=" | "=~" => return Ok(Predicate::Matches(parse_regex(value)?)),
        "!=" => return Ok(Predicate::DoesNotMatch(parse_regex(value)?)),
        "<" => Comparison::Less,
        "<=" => Comparison::LessOrEqual,
        ">" => Comparison::Greater,
        _ => Comparison::GreaterOrEqual,
    };
    let Some(quantity) = Quantity::parse(value) else {
        return Err(QueryError::NotAQuantity { operator, value: value.to_owned() });
    };
    Ok(Predicate::Compares(comparison, quantity))
}

impl Predicate {
    fn is_true_for(&self, node: NodeRef<'_>) -> bool {
        match self {
            Self::Exists => true,
            Self::Matches(regex) => regex.is_match(&value(node)),
            Self::DoesNotMatch(regex) => !regex.is_match(&value(node)),
            Self::Compares(comparison, expected) => {
                let found = node.as_scalar().and_then(|scalar| Quantity::parse(&scalar.value()));
                found.is_some_and(|found| match comparison {
                    Comparison::Less => found < *expected,
                    Comparison::LessOrEqual => found <= *expected,
                    Comparison::Greater => found > *expected,
                    Comparison::GreaterOrEqual => found >= *expected,
                })
            }
        }
    }
}

/// The text that regular expressions match. Compat: a collection is one line in flow style, without double quotes.
fn value(node: NodeRef<'_>) -> String {
    match node.as_scalar() {
        Some(scalar) => scalar.value().into_owned(),
        None => crate::print::one_line(node).replace('"', ""),
    }
}

#[cfg(test)]
mod tests {
    use krm_yaml::DiagnosticKind;

    use super::*;

    const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, labels: {a.b/c: x}}\nspec:\n  containers:\n  - {name: web, image: 'nginx:1.7', args: [--a, \"1\"], resources: {limits: {cpu: 500m}}}\n  - {name: side, image: 'envoy:2'}\n";

    fn holds(query: &str) -> bool {
        let file = krm_yaml::File::parse(POD.to_owned()).unwrap();
        let resource = crate::model::resources(file.document(0).unwrap())[0];
        query.parse::<Query>().unwrap().matches(resource)
    }

    #[test]
    fn conditions_match_fields_and_values() {
        for query in [
            "kind",
            "kind=Pod",
            "kind=Job|Pod",
            "kind=Job | x|Pod",
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
            "kind=~^Pod$",
            "kind=Service || kind=Pod",
            "kind=Service || kind=Pod && metadata.name=web",
            "(kind=Service || kind=Pod) && !metadata.name=db",
            "!(kind=Service || spec.none)",
            "metadata.name=(web|db) && (kind=Pod)",
            "metadata.name=^(web|db)$",
            "kind=Pod && !metadata.name=it's && metadata.name=web",
            "(metadata.name=it's || kind=Pod)",
            "spec.containers[name=\"web\"] && kind=Pod",
            r"kind=Pod || metadata.labels.it\'s",
            "kind=Pod || metadata.name=this and that",
            r"kind=Pod || metadata.name=this\sand that=those",
            "kind=Pod || metadata.labels.\"a b\"=x",
            r"kind=Pod || metadata.labels.a\ b",
            "kind=Pod || spec.containers[name=a b].image=x",
            "kind=Pod || metadata.labels.\"a~b\"=x",
            "/metadata/labels/a.b~1c=x",
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
            "(kind=Service || kind=Pod) && metadata.name=db",
            "!kind=Pod",
            "!(kind=Pod && metadata.name=web)",
        ] {
            assert!(!holds(query), "{query}");
        }
    }

    #[test]
    fn invalid_queries_are_errors() {
        for (query, id) in [
            ("", "query-empty-condition"),
            ("a && ", "query-empty-condition"),
            ("a>b", "query-not-a-quantity"),
            ("a=[(", "query-invalid-regex"),
            ("a=)", "query-unmatched-parenthesis"),
            ("(a=b", "query-text-after-parenthesis"),
            ("(a=b) c", "query-text-after-parenthesis"),
            ("a || ", "query-empty-condition"),
            ("a==b", "query-double-equals"),
            ("metadata.name!=~web", "query-unknown-operator"),
            ("metadata.name!~web", "query-unknown-operator"),
            ("kind~Pod", "query-unknown-operator"),
            ("metadata.name=\"web\"", "query-quoted-value"),
            ("kind=Pod && metadata.name != 'web'", "query-quoted-value"),
            ("kind=Pod & metadata.name=web", "query-single-operator"),
            ("kind=Pod | (kind=Job && a>1)", "query-single-operator"),
            ("kind=Pod and metadata.name=web", "query-word-operator"),
            ("kind=Pod OR kind=Job", "query-word-operator"),
            ("kind=Pod && a=b or c>1", "query-word-operator"),
            ("not kind=Pod", "query-space-in-path"),
            ("kind in (Pod, Job)", "query-space-in-path"),
            ("kind Pod", "query-space-in-path"),
            ("a[", "query-invalid-path"),
            ("metadata.labels.\"a.b=x && kind=Pod", "query-unclosed-quote"),
            ("metadata.labels.'a", "query-unclosed-quote"),
            ("kind=Pod && spec.containers[name='web]", "query-unclosed-quote"),
        ] {
            assert_eq!(query.parse::<Query>().unwrap_err().id(), id, "{query}");
        }
    }
}
