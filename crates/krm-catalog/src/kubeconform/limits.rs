//! What a custom resource's schema asks of a single value beside its type: ranges, lengths, patterns, choices.

use std::borrow::Cow;
use std::collections::BTreeSet;

use krm_core::print::json;
use krm_yaml::{NodeRef, ScalarType, Value};
use regex_lite::Regex;

use crate::lookup::{items, text};

/// One such rule.
#[derive(Clone, Debug)]
pub(super) enum Limit<'a> {
    /// Only these values.
    OneOf(Vec<Cow<'a, str>>),
    /// A number on one side of another: the word of the rule, and that number.
    Range(&'static str, f64),
    /// A length or a count: the word of the rule, and how many.
    Size(&'static str, usize),
    /// A text that a pattern finds something in.
    Pattern(Cow<'a, str>),
    /// No two items are equal.
    Unique,
}

const SIZES: [&str; 6] =
    ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];

impl<'a> Limit<'a> {
    /// The rules of a written schema.
    pub(super) fn written(schema: NodeRef<'a>) -> Vec<Self> {
        let mut limits = Vec::new();
        let values: Vec<_> =
            items(schema, "enum").filter_map(|it| it.as_scalar()).map(|it| it.value()).collect();
        if !values.is_empty() {
            limits.push(Self::OneOf(values));
        }
        let number = |word| text(schema, word)?.parse::<f64>().ok();
        // Spec: `exclusiveMinimum: true` makes `minimum` exclusive.
        let is_exclusive = |word| text(schema, word).is_some_and(|it| it == "true");
        for (word, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")]
        {
            let word = if is_exclusive(exclusive) { (exclusive, word) } else { (word, word) };
            limits.extend(number(word.1).map(|bound| Self::Range(word.0, bound)));
        }
        limits.extend(number("multipleOf").map(|bound| Self::Range("multipleOf", bound)));
        for word in SIZES {
            let size = text(schema, word).and_then(|it| it.parse().ok());
            limits.extend(size.map(|size| Self::Size(word, size)));
        }
        limits.extend(text(schema, "pattern").map(Self::Pattern));
        if text(schema, "uniqueItems").is_some_and(|it| it == "true") {
            limits.push(Self::Unique);
        }
        limits
    }

    /// How a value breaks the rule; none where it does not.
    pub(super) fn broken_by(&self, value: NodeRef<'_>) -> Option<String> {
        match self {
            Self::OneOf(values) => {
                let found = value.as_scalar()?.value();
                let names: Vec<String> = values.iter().map(|it| format!("'{it}'")).collect();
                let is_one = values.contains(&found);
                (!is_one).then(|| format!("value must be one of {}", names.join(", ")))
            }
            Self::Range(word, bound) => {
                let found = number(value)?;
                (!is_in_range(word, found, *bound))
                    .then(|| format!("{word}: got {found}, want {bound}"))
            }
            Self::Size(word, bound) => {
                let found = size(word, value)?;
                let fits = if word.starts_with("min") { found >= *bound } else { found <= *bound };
                (!fits).then(|| format!("{word}: got {found}, want {bound}"))
            }
            Self::Pattern(pattern) => {
                let found = value.as_str()?;
                // A pattern that cannot be read is a fault of the definition, which the server tells.
                let is_match = Regex::new(pattern).ok()?.is_match(&found);
                (!is_match).then(|| format!("'{found}' does not match pattern '{pattern}'"))
            }
            Self::Unique => {
                let mut seen = BTreeSet::new();
                let mut all = value.as_sequence()?.items();
                let is_new = all.all(|item| seen.insert(json::write(&Value::Node(item))));
                (!is_new).then(|| "items must be unique".to_owned())
            }
        }
    }
}

fn number(value: NodeRef<'_>) -> Option<f64> {
    match value.as_scalar()?.resolve_1_1() {
        ScalarType::Int(_) => value.as_scalar()?.value().parse().ok(),
        ScalarType::Float(number) => Some(number),
        _ => None,
    }
}

fn is_in_range(word: &str, found: f64, bound: f64) -> bool {
    match word {
        "minimum" => found >= bound,
        "maximum" => found <= bound,
        "exclusiveMinimum" => found > bound,
        "exclusiveMaximum" => found < bound,
        _ => bound == 0.0 || (found / bound).fract() == 0.0,
    }
}

fn size(word: &str, value: NodeRef<'_>) -> Option<usize> {
    if word.ends_with("Length") {
        return Some(value.as_str()?.chars().count());
    }
    if word.ends_with("Items") {
        return Some(value.as_sequence()?.items().count());
    }
    Some(value.as_mapping()?.entries().count())
}
