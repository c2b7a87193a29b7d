//! Constraints of custom resource schemas on single values: ranges, lengths, patterns and enums.

use std::borrow::Cow;
use std::collections::BTreeSet;

use krm_core::print::json;
use krm_yaml::{NodeRef, ScalarType, Value};
use regex_lite::Regex;

use crate::lookup::{items, text};

/// One constraint.
#[derive(Clone, Debug)]
pub(super) enum Limit<'a> {
    /// `enum`.
    OneOf(Vec<Cow<'a, str>>),
    /// A bound of a number, with its keykeyword.
    Range(&'static str, f64),
    /// A bound of a length or count, with its keykeyword.
    Size(&'static str, usize),
    /// A regular expression that must match a part of the string.
    Pattern(Cow<'a, str>),
    /// `uniqueItems`.
    Unique,
}

const SIZES: [&str; 6] =
    ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];

impl<'a> Limit<'a> {
    /// The constraints of a schema.
    pub(super) fn of_schema(schema: NodeRef<'a>) -> Vec<Self> {
        let mut limits = Vec::new();
        let values: Vec<_> =
            items(schema, "enum").filter_map(|it| it.as_scalar()).map(|it| it.value()).collect();
        if !values.is_empty() {
            limits.push(Self::OneOf(values));
        }
        let number = |keyword| text(schema, keyword)?.parse::<f64>().ok();
        // Spec: `exclusiveMinimum: true` makes `minimum` exclusive.
        let is_exclusive = |keyword| text(schema, keyword).is_some_and(|it| it == "true");
        for (keyword, exclusive) in
            [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")]
        {
            let keyword =
                if is_exclusive(exclusive) { (exclusive, keyword) } else { (keyword, keyword) };
            limits.extend(number(keyword.1).map(|bound| Self::Range(keyword.0, bound)));
        }
        limits.extend(number("multipleOf").map(|bound| Self::Range("multipleOf", bound)));
        for keyword in SIZES {
            let size = text(schema, keyword).and_then(|it| it.parse().ok());
            limits.extend(size.map(|size| Self::Size(keyword, size)));
        }
        limits.extend(text(schema, "pattern").map(Self::Pattern));
        if text(schema, "uniqueItems").is_some_and(|it| it == "true") {
            limits.push(Self::Unique);
        }
        limits
    }

    /// The message of a violation; none if the value is valid.
    pub(super) fn violation(&self, value: NodeRef<'_>) -> Option<String> {
        match self {
            Self::OneOf(values) => {
                let found = value.as_scalar()?.value();
                let names: Vec<String> = values.iter().map(|it| format!("'{it}'")).collect();
                let is_allowed = values.contains(&found);
                (!is_allowed).then(|| format!("value must be one of {}", names.join(", ")))
            }
            Self::Range(keyword, bound) => {
                let found = number(value)?;
                (!is_in_range(keyword, found, *bound))
                    .then(|| format!("{keyword}: got {found}, want {bound}"))
            }
            Self::Size(keyword, bound) => {
                let found = size(keyword, value)?;
                let matches =
                    if keyword.starts_with("min") { found >= *bound } else { found <= *bound };
                (!matches).then(|| format!("{keyword}: got {found}, want {bound}"))
            }
            Self::Pattern(pattern) => {
                let found = value.as_str()?;
                // An invalid pattern is an error of the definition, which the API server reports.
                let is_match = Regex::new(pattern).ok()?.is_match(&found);
                (!is_match).then(|| format!("'{found}' does not match pattern '{pattern}'"))
            }
            Self::Unique => {
                let mut seen = BTreeSet::new();
                let mut all = value.as_sequence()?.items();
                let is_unique = all.all(|item| seen.insert(json::display(&Value::Node(item))));
                (!is_unique).then(|| "items must be unique".to_owned())
            }
        }
    }
}

fn number(value: NodeRef<'_>) -> Option<f64> {
    match value.as_scalar()?.resolve() {
        ScalarType::Int(_) => value.as_scalar()?.value().parse().ok(),
        ScalarType::Float(number) => Some(number),
        _ => None,
    }
}

fn is_in_range(keyword: &str, found: f64, bound: f64) -> bool {
    match keyword {
        "minimum" => found >= bound,
        "maximum" => found <= bound,
        "exclusiveMinimum" => found > bound,
        "exclusiveMaximum" => found < bound,
        _ => bound == 0.0 || (found / bound).fract() == 0.0,
    }
}

fn size(keyword: &str, value: NodeRef<'_>) -> Option<usize> {
    if keyword.ends_with("Length") {
        return Some(value.as_str()?.chars().count());
    }
    if keyword.ends_with("Items") {
        return Some(value.as_sequence()?.items().count());
    }
    Some(value.as_mapping()?.entries().count())
}
