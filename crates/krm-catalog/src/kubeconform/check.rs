//! Validating a resource against a schema.

use krm_yaml::{NodeRef, ScalarType};

use super::rules::Rules;

/// A violation of the schema.
#[derive(Clone, Debug)]
pub(super) struct Violation<'a> {
    /// The invalid value, or the mapping with missing or unknown fields.
    pub(super) node: NodeRef<'a>,
    /// The violated rule.
    pub(super) problem: Problem,
}

impl Violation<'_> {
    /// Whether this node has another type than its schema demands.
    pub(super) fn is_about_type_of(&self, node: NodeRef<'_>) -> bool {
        matches!(self.problem, Problem::Type { .. }) && self.node == node
    }
}

/// The kind of a violation.
#[derive(Clone, Debug)]
pub(super) enum Problem {
    /// Required fields are missing.
    Missing(Vec<String>),
    /// The schema does not have these fields.
    Unknown(Vec<String>),
    /// The value has another type.
    Type {
        /// The actual type.
        found: &'static str,
        /// The allowed types; `null` first if the field is optional.
        expected: Vec<&'static str>,
    },
    /// Another rule.
    Rule(String),
}

/// The violations of a value. Unknown fields are violations in strict mode.
pub(super) fn check<'a>(
    value: NodeRef<'a>,
    rules: Rules<'_>,
    is_strict: bool,
) -> Vec<Violation<'a>> {
    let mut walk = Walk { is_strict, violations: Vec::new() };
    walk.value(value, rules, false);
    walk.violations
}

struct Walk<'a> {
    is_strict: bool,
    violations: Vec<Violation<'a>>,
}

impl<'a> Walk<'a> {
    fn report(&mut self, node: NodeRef<'a>, problem: Problem) {
        self.violations.push(Violation { node, problem });
    }

    fn value(&mut self, value: NodeRef<'a>, rules: Rules<'_>, is_optional: bool) {
        let found = type_of(value);
        let may_be_null = rules.is_nullable(is_optional);
        if found == "null" && may_be_null {
            return;
        }
        let types = rules.types();
        let matches = |kind: &&str| *kind == found || (*kind == "number" && found == "integer");
        if !types.is_empty() && !types.iter().any(matches) {
            let null = may_be_null.then_some("null");
            let types = types.into_iter().filter(|it| *it != "null");
            let expected = null.into_iter().chain(types).collect();
            return self.report(value, Problem::Type { found, expected });
        }
        for limit in rules.limits() {
            if let Some(broken) = limit.violation(value) {
                self.report(value, Problem::Rule(broken));
                if limit.is_final() {
                    return;
                }
            }
        }
        self.branches(value, rules);
        match found {
            "object" => self.mapping(value, rules),
            "array" => self.list(value, rules),
            _ => {}
        }
    }

    fn list(&mut self, value: NodeRef<'a>, rules: Rules<'_>) {
        let (Some(list), Some(rules)) = (value.as_sequence(), rules.item()) else { return };
        list.items().for_each(|item| self.value(item, rules, true));
    }

    fn mapping(&mut self, value: NodeRef<'a>, rules: Rules<'_>) {
        let Some(mapping) = value.as_mapping() else { return };
        let required = rules.required();
        let missing = required.iter().filter(|name| mapping.get(name).is_none());
        let missing: Vec<String> = missing.map(|name| name.clone().into_owned()).collect();
        if !missing.is_empty() {
            self.report(value, Problem::Missing(missing));
        }
        let mut unknown = Vec::new();
        for entry in mapping.entries() {
            let Some(key) = entry.key.as_scalar() else { continue };
            let name = key.value();
            match rules.field(&name) {
                Some(rules) => self.value(entry.value, rules, !required.contains(&name)),
                None if rules.allows_unknown_field(&name, self.is_strict) => {}
                None => unknown.push(name.into_owned()),
            }
        }
        if !unknown.is_empty() {
            self.report(value, Problem::Unknown(unknown));
        }
    }

    /// Checks combined subschemas. Unknown fields are allowed in them, since another one may have them.
    fn branches(&mut self, value: NodeRef<'a>, rules: Rules<'_>) {
        for keyword in ["not", "allOf", "anyOf", "oneOf"] {
            let branches = rules.branches(keyword).into_iter();
            let matches: Vec<bool> =
                branches.map(|it| check(value, it, false).is_empty()).collect();
            if let Some(message) = combination(keyword, &matches) {
                self.report(value, Problem::Rule(message));
            }
        }
    }
}

/// The message of a combination that is not satisfied, given which of its subschemas match.
fn combination(keyword: &str, matches: &[bool]) -> Option<String> {
    if matches.is_empty() {
        return None;
    }
    let matched: Vec<usize> = (0..matches.len()).filter(|at| matches[*at]).collect();
    match (keyword, &matched[..]) {
        ("oneOf", []) => Some("'oneOf' failed, none matched".to_owned()),
        ("oneOf", [first, second, ..]) => {
            Some(format!("'oneOf' failed, subschemas {first}, {second} matched"))
        }
        ("oneOf", _) => None,
        ("anyOf", []) | ("not", [_]) => Some(format!("'{keyword}' failed")),
        ("allOf", _) if matched.len() < matches.len() => Some("'allOf' failed".to_owned()),
        _ => None,
    }
}

/// The JSON Schema type of a value.
fn type_of(value: NodeRef<'_>) -> &'static str {
    let Some(scalar) = value.as_scalar() else {
        return if value.as_sequence().is_some() { "array" } else { "object" };
    };
    match scalar.resolve() {
        // JSON Schema: `3.0` is an integer.
        ScalarType::Float(number) if number.fract() == 0.0 => "integer",
        other => other.type_name(),
    }
}
