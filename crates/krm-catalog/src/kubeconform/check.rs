//! The walk over a resource and its rules, side by side: what does not fit, and where.

use krm_yaml::{NodeRef, ScalarType};

use super::rules::Rules;

/// Something that does not fit.
#[derive(Clone, Debug)]
pub(super) struct Fault<'a> {
    /// The value that is wrong, or in which something is.
    pub(super) node: NodeRef<'a>,
    /// What is wrong.
    pub(super) what: What,
}

/// What can be wrong.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// Fields that must be there are not.
    Missing(Vec<String>),
    /// Fields that nobody declared.
    Unknown(Vec<String>),
    /// A value of another type.
    Type {
        /// The type that stands there.
        found: &'static str,
        /// The types that will do; `null` first where the field may be left out.
        wanted: Vec<&'static str>,
    },
    /// Another rule.
    Rule(String),
}

/// Whether schemas that stand beside each other are content, by which of them fit.
type IsFine = fn(&[bool]) -> bool;

/// What is wrong in a value. In strict mode fields that nobody declared are.
pub(super) fn check<'a>(value: NodeRef<'a>, rules: Rules<'_>, is_strict: bool) -> Vec<Fault<'a>> {
    let mut walk = Walk { is_strict, faults: Vec::new() };
    walk.value(value, rules, false);
    walk.faults
}

struct Walk<'a> {
    is_strict: bool,
    faults: Vec<Fault<'a>>,
}

impl<'a> Walk<'a> {
    fn tell(&mut self, node: NodeRef<'a>, what: What) {
        self.faults.push(Fault { node, what });
    }

    fn value(&mut self, value: NodeRef<'a>, rules: Rules<'_>, is_optional: bool) {
        let found = type_of(value);
        let may_be_null = is_optional || rules.is_nullable();
        if found == "null" && may_be_null {
            return;
        }
        let types = rules.types();
        let fits = |kind: &&str| *kind == found || (*kind == "number" && found == "integer");
        if !types.is_empty() && !types.iter().any(fits) {
            let null = may_be_null.then_some("null");
            let wanted = null.into_iter().chain(types.iter().copied()).collect();
            return self.tell(value, What::Type { found, wanted });
        }
        for limit in rules.limits() {
            if let Some(broken) = limit.broken_by(value) {
                self.tell(value, What::Rule(broken));
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
            self.tell(value, What::Missing(missing));
        }
        let mut unknown = Vec::new();
        for entry in mapping.entries() {
            let Some(key) = entry.key.as_scalar() else { continue };
            let name = key.value();
            match rules.field(&name) {
                Some(rules) => self.value(entry.value, rules, !required.contains(&name)),
                None if rules.is_open() || rules.is_implied(&name) => {}
                None => unknown.push(name.into_owned()),
            }
        }
        if self.is_strict && !unknown.is_empty() {
            self.tell(value, What::Unknown(unknown));
        }
    }

    /// Schemas that stand beside each other; what one of them does not name another may.
    fn branches(&mut self, value: NodeRef<'a>, rules: Rules<'_>) {
        let told: [(&str, &str, IsFine); 4] = [
            ("allOf", "allOf failed", |fit| fit.iter().all(|it| *it)),
            ("anyOf", "anyOf failed, none matched", |fit| fit.iter().any(|it| *it)),
            ("oneOf", "oneOf failed, not exactly one matched", |fit| {
                fit.iter().filter(|it| **it).count() == 1
            }),
            ("not", "not failed", |fit| !fit.iter().any(|it| *it)),
        ];
        for (word, message, is_fine) in told {
            let branches = rules.branches(word).into_iter();
            let fit: Vec<bool> = branches.map(|it| check(value, it, false).is_empty()).collect();
            if !fit.is_empty() && !is_fine(&fit) {
                self.tell(value, What::Rule(message.to_owned()));
            }
        }
    }
}

/// The type of a value as Kubernetes reads it, in the words of schemas.
fn type_of(value: NodeRef<'_>) -> &'static str {
    let Some(scalar) = value.as_scalar() else {
        return if value.as_sequence().is_some() { "array" } else { "object" };
    };
    match scalar.resolve_1_1() {
        // `3.0` is as whole as `3`.
        ScalarType::Float(number) if number.fract() == 0.0 => "integer",
        other => other.type_name(),
    }
}
