//! Validation of a value against the OpenAPI schema of its setter.

use std::cmp::Ordering;

use krm_yaml::{NodeRef, ScalarType, Value};
use regex_lite::Regex;

use super::definition::{Setter, SetterValue, error_at, openapi_type, scalar_elements, warning_at};
use super::kinds::SetterKind;
use crate::model::resource::{field, scalar_text};
use crate::{Diagnostic, PackageFile};

/// Keywords that are not evaluated, which is reported.
const UNCHECKED: [&str; 6] = ["allOf", "anyOf", "oneOf", "not", "$ref", "properties"];

/// The result of a validation.
#[derive(Debug, Default)]
pub(super) struct ValidationResult {
    pub(super) errors: Vec<Diagnostic>,
    pub(super) warnings: Vec<Diagnostic>,
}

/// Validates a value against `enumValues` and the schema of its setter.
pub(super) fn check(setter: &Setter<'_>, value: &SetterValue) -> ValidationResult {
    let mut result = ValidationResult::default();
    let (Some(location), Some(schema)) = (setter.location, setter.schema()) else { return result };
    let mut validator = Validator { name: &setter.name, file: location.file, errors: Vec::new() };
    if let Some(rule) = field(schema, "type")
        && scalar_text(rule).is_none_or(|text| openapi_type(&text).is_none())
    {
        validator.report(rule, SetterKind::UnknownType { found: rule.text().into() });
        return ValidationResult { errors: validator.errors, ..result };
    }
    match value {
        SetterValue::Unset => {}
        SetterValue::Scalar(text) if setter.schema_type() == Some("array") => {
            validator.list(schema, std::slice::from_ref(text));
        }
        SetterValue::Scalar(text) if !setter.enum_values.is_empty() => {
            validator.enum_alias(setter, text);
        }
        SetterValue::Scalar(text) => validator.scalar(schema, text),
        SetterValue::List(items) => validator.list(schema, items),
    }
    result.errors = validator.errors;
    for keyword in UNCHECKED {
        if let Some(node) = field(schema, keyword) {
            let kind = SetterKind::UncheckedKeyword { keyword, setter: setter.name.clone() };
            result.warnings.push(warning_at(location.file, node.full_span(), kind));
        }
    }
    result
}

struct Validator<'c> {
    name: &'c str,
    file: &'c PackageFile,
    errors: Vec<Diagnostic>,
}

impl Validator<'_> {
    /// Reports an error at the rule that is violated.
    fn report(&mut self, rule: NodeRef<'_>, kind: SetterKind) {
        self.errors.push(error_at(self.file, rule.full_span(), kind));
    }

    fn invalid(
        &mut self,
        rule: NodeRef<'_>,
        value: impl Into<String>,
        expected: impl Into<String>,
    ) {
        let (value, setter) = (value.into().into(), self.name.to_owned());
        self.report(rule, SetterKind::InvalidValue { value, setter, expected: expected.into() });
    }

    /// Checks that a value is one of `enumValues`, and what it stands for against the rest of the schema.
    fn enum_alias(&mut self, setter: &Setter<'_>, text: &str) {
        let schema = setter.schema();
        let rule =
            schema.and_then(|it| field(field(field(it, "x-k8s-cli")?, "setter")?, "enumValues"));
        let (Some(schema), Some(rule)) = (schema, rule) else { return };
        match setter.enum_values.iter().find(|(alias, _)| alias == text) {
            Some((_, value)) => self.scalar(schema, value),
            None => {
                let aliases = setter.enum_values.iter().map(|(alias, _)| &**alias);
                self.invalid(rule, text, one_of(aliases));
            }
        }
    }

    fn list(&mut self, schema: NodeRef<'_>, items: &[String]) {
        if let Some(rule) = field(schema, "type")
            && scalar_text(rule).and_then(|text| openapi_type(&text)) != Some("array")
        {
            let (name, count) = (self.name.to_owned(), items.len());
            return self.report(rule, SetterKind::SingleValue { name, count });
        }
        let count = items.len().to_string();
        let list = || format!("[{}]", items.join(","));
        if let Some((rule, bound)) = violated(schema, "minItems", &count, Ordering::Less) {
            self.invalid(rule, list(), format!("at least {bound} items, found {count}"));
        }
        if let Some((rule, bound)) = violated(schema, "maxItems", &count, Ordering::Greater) {
            self.invalid(rule, list(), format!("at most {bound} items, found {count}"));
        }
        let duplicate = (1..items.len()).find(|&at| items[..at].contains(&items[at]));
        if let (Some(at), Some(rule)) = (duplicate, is_true(schema, "uniqueItems")) {
            self.invalid(rule, list(), format!("unique items, found `{}` twice", items[at]));
        }
        if let Some(each) = field(schema, "items").filter(|each| each.as_mapping().is_some()) {
            items.iter().for_each(|item| self.scalar(each, item));
        }
    }

    fn scalar(&mut self, schema: NodeRef<'_>, text: &str) {
        let rule = field(schema, "type");
        let rule = rule.and_then(|rule| Some((rule, openapi_type(&scalar_text(rule)?)?)));
        if let Some((rule, schema_type)) = rule
            && let Some(expected) = type_mismatch(schema_type, text)
        {
            return self.invalid(rule, text, expected);
        }
        if let Some(rule) = field(schema, "enum").filter(|rule| rule.as_sequence().is_some()) {
            let allowed = scalar_elements(rule);
            let is_same = |one: &String| one == text || compare(one, text) == Some(Ordering::Equal);
            if !allowed.iter().any(is_same) {
                self.invalid(rule, text, one_of(allowed.iter().map(|one| &**one)));
            }
        }
        if rule.is_none_or(|(_, schema_type)| schema_type == "string") {
            self.string(schema, text);
        }
        if rule.is_none_or(|(_, schema_type)| matches!(schema_type, "integer" | "number")) {
            self.number(schema, text);
        }
    }

    fn string(&mut self, schema: NodeRef<'_>, text: &str) {
        let length = text.chars().count().to_string();
        if let Some((rule, bound)) = violated(schema, "minLength", &length, Ordering::Less) {
            self.invalid(rule, text, format!("at least {bound} characters, found {length}"));
        }
        if let Some((rule, bound)) = violated(schema, "maxLength", &length, Ordering::Greater) {
            self.invalid(rule, text, format!("at most {bound} characters, found {length}"));
        }
        let Some(rule) = field(schema, "pattern") else { return };
        let pattern = scalar_text(rule).unwrap_or_default();
        match Regex::new(&pattern) {
            Ok(regex) if regex.is_match(text) => {}
            Ok(_) => self.invalid(rule, text, format!("a match of {pattern}")),
            Err(error) => {
                let (setter, reason) = (self.name.to_owned(), error.to_string());
                self.report(rule, SetterKind::InvalidRegex { setter, reason });
            }
        }
    }

    fn number(&mut self, schema: NodeRef<'_>, text: &str) {
        let bounds = [
            ("minimum", "exclusiveMinimum", Ordering::Less, "at least", "more than"),
            ("maximum", "exclusiveMaximum", Ordering::Greater, "at most", "less than"),
        ];
        for (keyword, exclusive, wrong, inclusive_words, exclusive_words) in bounds {
            let is_exclusive = is_true(schema, exclusive).is_some();
            let found = violated(schema, keyword, text, wrong)
                .map(|(rule, bound)| (rule, format!("{inclusive_words} {bound}")))
                .or_else(|| {
                    let equal = violated(schema, keyword, text, Ordering::Equal);
                    let (rule, bound) = equal.filter(|_| is_exclusive)?;
                    Some((rule, format!("{exclusive_words} {bound}")))
                })
                .or_else(|| {
                    // Since draft 6 of JSON Schema, exclusiveMinimum and exclusiveMaximum are numbers.
                    let at = |order| violated(schema, exclusive, text, order);
                    let (rule, bound) = at(wrong).or_else(|| at(Ordering::Equal))?;
                    Some((rule, format!("{exclusive_words} {bound}")))
                });
            if let Some((rule, expected)) = found {
                self.invalid(rule, text, expected);
            }
        }
        if let Some(rule) = field(schema, "multipleOf")
            && let Some(step) = scalar_text(rule)
            && !is_multiple(text, &step)
        {
            self.invalid(rule, text, format!("a multiple of {step}"));
        }
    }
}

fn one_of<'t>(values: impl Iterator<Item = &'t str>) -> String {
    format!("one of {}", values.collect::<Vec<_>>().join(", "))
}

/// What a type expects, if the value is of another one.
fn type_mismatch(schema_type: &str, text: &str) -> Option<&'static str> {
    let value = Value::plain(text.to_owned());
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match schema_type {
        "integer" if !is_integer => Some("an integer, such as 3"),
        "number" if !matches!(value, Value::Number(_)) || !is_finite(text) => {
            Some("a number, such as 3 or 0.5")
        }
        "boolean" if !matches!(value, Value::Bool(_)) => Some("true or false"),
        "null" if !matches!(value, Value::Null) => Some("null"),
        "object" | "file" => Some("a schema type that a setter can have"),
        _ => None,
    }
}

fn is_finite(text: &str) -> bool {
    text.parse::<f64>().map_or(true, f64::is_finite)
        && !text.contains(".inf")
        && !text.contains(".nan")
}

/// The rule and its bound, if the number compares to the bound as it must not.
fn violated<'a>(
    schema: NodeRef<'a>,
    keyword: &str,
    number: &str,
    wrong: Ordering,
) -> Option<(NodeRef<'a>, String)> {
    let rule = field(schema, keyword)?;
    let bound = scalar_text(rule)?.into_owned();
    (compare(number, &bound)? == wrong).then_some((rule, bound))
}

/// Compares two numbers. Integers are not converted to floats, which would lose digits.
fn compare(a: &str, b: &str) -> Option<Ordering> {
    if let (Ok(a), Ok(b)) = (a.parse::<i128>(), b.parse::<i128>()) {
        return Some(a.cmp(&b));
    }
    a.parse::<f64>().ok()?.partial_cmp(&b.parse::<f64>().ok()?)
}

/// Whether a number is a multiple. Spec: `multipleOf` is valid for everything that is not a number.
fn is_multiple(text: &str, step: &str) -> bool {
    if let (Ok(number), Ok(step)) = (text.parse::<i128>(), step.parse::<i128>()) {
        return step == 0 || number % step == 0;
    }
    let (Ok(number), Ok(step)) = (text.parse::<f64>(), step.parse::<f64>()) else { return true };
    let times = number / step;
    step == 0.0 || (times - times.round()).abs() < 1e-9
}

fn is_true<'a>(schema: NodeRef<'a>, keyword: &str) -> Option<NodeRef<'a>> {
    let node = field(schema, keyword)?;
    let is_true = node.as_scalar().is_some_and(|it| it.resolve() == ScalarType::Bool(true));
    is_true.then_some(node)
}
