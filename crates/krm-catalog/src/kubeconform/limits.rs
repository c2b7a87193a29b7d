//! Constraints of schemas on single values: enums, formats, ranges, lengths and patterns.

use std::borrow::Cow;
use std::collections::BTreeMap;

use krm_core::print::json;
use krm_yaml::{NodeRef, ScalarType, Value};
use regex_lite::Regex;

use super::formats;
use crate::lookup::{items, text};

/// One constraint.
#[derive(Clone, Debug)]
pub(super) enum Limit<'a> {
    /// `enum` or `const`.
    OneOf(Vec<NodeRef<'a>>),
    /// `format`.
    Format(Cow<'a, str>),
    /// A bound of a number, with its keyword.
    Range(&'static str, f64),
    /// A bound of a length or count, with its keyword.
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
        let values: Vec<_> = items(schema, "enum").collect();
        if !values.is_empty() {
            limits.push(Self::OneOf(values));
        }
        let constant = schema.as_mapping().and_then(|it| it.get("const"));
        limits.extend(constant.map(|it| Self::OneOf(vec![it.resolve()])));
        limits.extend(text(schema, "format").map(Self::Format));
        let number = |keyword| text(schema, keyword)?.parse::<f64>().ok();
        // Spec: `exclusiveMinimum: true` makes `minimum` exclusive.
        let is_exclusive = |keyword| text(schema, keyword).is_some_and(|it| it == "true");
        for (keyword, exclusive) in
            [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")]
        {
            let name = if is_exclusive(exclusive) { exclusive } else { keyword };
            limits.extend(number(keyword).map(|bound| Self::Range(name, bound)));
            // Newer drafts have the bound itself there.
            limits.extend(number(exclusive).map(|bound| Self::Range(exclusive, bound)));
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

    /// Compat: whether a violation hides all other ones of the value.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Self::OneOf(_) | Self::Format(_))
    }

    /// The message of a violation; none if the value is valid.
    pub(super) fn violation(&self, value: NodeRef<'_>) -> Option<String> {
        match self {
            Self::OneOf(values) => {
                let found = canonical(value);
                let is_allowed = values.iter().any(|it| canonical(*it) == found);
                (!is_allowed).then(|| not_one_of(values.iter().copied().map(display)))
            }
            Self::Format(format) => {
                let found = value.as_str()?;
                let is_valid = formats::is_valid(format, &found);
                (!is_valid).then(|| format!("'{found}' is not valid {format}"))
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
                let mut seen = BTreeMap::new();
                value.as_sequence()?.items().enumerate().find_map(|(at, item)| {
                    let before = seen.insert(canonical(item), at)?;
                    Some(format!("items at {before} and {at} are equal"))
                })
            }
        }
    }
}

/// The message for a value that is not one of those allowed.
pub(super) fn not_one_of(values: impl Iterator<Item = String>) -> String {
    match &values.collect::<Vec<_>>()[..] {
        [value] => format!("value must be {value}"),
        values => format!("value must be one of {}", values.join(", ")),
    }
}

/// A string that is the same for equal values.
fn canonical(node: NodeRef<'_>) -> String {
    match number(node) {
        Some(number) => number.to_string(),
        None => json::display(&Value::Node(node.resolve())),
    }
}

/// A value in a message.
fn display(node: NodeRef<'_>) -> String {
    match node.as_str() {
        Some(text) => format!("'{text}'"),
        None => json::display(&Value::Node(node.resolve())),
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
