//! The rules of a setter's own OpenAPI schema, held against a value before anything is written.

use std::cmp::Ordering;

use krm_yaml::{NodeRef, ScalarType, Value};
use regex_lite::Regex;

use super::definition::{Setter, SetterValue, error_at, known_type, texts, warning_at};
use crate::model::resource::{field, scalar_text};
use crate::{Diagnostic, PackageFile};

/// Rules of OpenAPI that are not checked, and are said not to be.
const NOT_CHECKED: [&str; 6] = ["allOf", "anyOf", "oneOf", "not", "$ref", "properties"];

/// What became of a check.
#[derive(Debug, Default)]
pub(super) struct ValidationResult {
    pub(super) errors: Vec<Diagnostic>,
    pub(super) warnings: Vec<Diagnostic>,
}

/// Holds a value against the words and the schema of its setter.
pub(super) fn check(setter: &Setter<'_>, value: &SetterValue) -> ValidationResult {
    let mut checked = ValidationResult::default();
    let (Some(location), Some(schema)) = (setter.location, setter.schema()) else { return checked };
    let mut check = Check { name: &setter.name, file: location.file, out: &mut checked };
    if let Some(written) = field(schema, "type")
        && scalar_text(written).is_none_or(|text| known_type(&text).is_none())
    {
        let words = format!("`{}` is no type that a setter can have", written.text());
        check.refuse(written, words, "string, integer, number, boolean, array");
        return checked;
    }
    match value {
        SetterValue::Unset => {}
        SetterValue::Text(text) if setter.schema_type() == Some("array") => {
            check.list(schema, std::slice::from_ref(text));
        }
        SetterValue::Text(text) if !setter.enum_values.is_empty() => check.word(setter, text),
        SetterValue::Text(text) => check.scalar(schema, text),
        SetterValue::List(items) => check.list(schema, items),
    }
    for rule in NOT_CHECKED {
        if let Some(node) = field(schema, rule) {
            let words = format!("`{rule}` of the setter `{}` is not checked", setter.name);
            checked.warnings.push(warning_at(location.file, node.full_span(), words));
        }
    }
    checked
}

struct Check<'c> {
    name: &'c str,
    file: &'c PackageFile,
    out: &'c mut ValidationResult,
}

impl Check<'_> {
    /// An error at the rule, with what would be allowed.
    fn refuse(&mut self, rule: NodeRef<'_>, words: String, allowed: &str) {
        let error = error_at(self.file, rule.full_span(), words);
        self.out.errors.push(error.hint(format!("allowed: {allowed}")));
    }

    /// A word that stands for a value; the value is held against the rest of the schema.
    fn word(&mut self, setter: &Setter<'_>, text: &str) {
        let schema = setter.schema();
        let rule =
            schema.and_then(|it| field(field(field(it, "x-k8s-cli")?, "setter")?, "enumValues"));
        let (Some(schema), Some(rule)) = (schema, rule) else { return };
        if !setter.enum_values.iter().any(|(word, _)| word == text) {
            let words: Vec<&str> = setter.enum_values.iter().map(|(word, _)| &**word).collect();
            let message = format!("`{text}` is none of the values of the setter `{}`", self.name);
            return self.refuse(rule, message, &words.join(", "));
        }
        self.scalar(schema, setter.meaning(text));
    }

    fn list(&mut self, schema: NodeRef<'_>, items: &[String]) {
        let name = self.name;
        if let Some(rule) = field(schema, "type")
            && scalar_text(rule).and_then(|text| known_type(&text)) != Some("array")
        {
            let words = format!(
                "the setter `{name}` holds one value, and a list of {} is given",
                items.len()
            );
            return self.refuse(rule, words, "one value");
        }
        let count = items.len().to_string();
        if let Some((rule, bound)) = broken(schema, "minItems", &count, Ordering::Less) {
            self.refuse(
                rule,
                format!("{count} items are too few for the setter `{name}`"),
                &format!("{bound} or more"),
            );
        }
        if let Some((rule, bound)) = broken(schema, "maxItems", &count, Ordering::Greater) {
            self.refuse(
                rule,
                format!("{count} items are too many for the setter `{name}`"),
                &format!("{bound} at most"),
            );
        }
        let again = (1..items.len()).find(|&at| items[..at].contains(&items[at]));
        if let (Some(at), Some(rule)) = (again, is_true(schema, "uniqueItems")) {
            let words =
                format!("`{}` is there twice in the list of the setter `{name}`", items[at]);
            self.refuse(rule, words, "each item once");
        }
        if let Some(each) = field(schema, "items").filter(|each| each.as_mapping().is_some()) {
            items.iter().for_each(|item| self.scalar(each, item));
        }
    }

    fn scalar(&mut self, schema: NodeRef<'_>, text: &str) {
        let name = self.name;
        let kind = field(schema, "type");
        let kind = kind.and_then(|rule| Some((rule, known_type(&scalar_text(rule)?)?)));
        if let Some((rule, kind)) = kind
            && let Some(allowed) = misfit(kind, text)
        {
            let words =
                format!("`{text}` is not of the type {kind}, which the setter `{name}` has");
            return self.refuse(rule, words, allowed);
        }
        if let Some(rule) = field(schema, "enum").filter(|rule| rule.as_sequence().is_some()) {
            let allowed = texts(rule);
            if !allowed.iter().any(|one| one == text || compare(one, text) == Some(Ordering::Equal))
            {
                let words = format!("`{text}` is none of the values of the setter `{name}`");
                self.refuse(rule, words, &allowed.join(", "));
            }
        }
        if kind.is_none_or(|(_, kind)| kind == "string") {
            self.text(schema, text);
        }
        if kind.is_none_or(|(_, kind)| matches!(kind, "integer" | "number")) {
            self.number(schema, text);
        }
    }

    fn text(&mut self, schema: NodeRef<'_>, text: &str) {
        let name = self.name;
        let length = text.chars().count().to_string();
        if let Some((rule, bound)) = broken(schema, "minLength", &length, Ordering::Less) {
            let words =
                format!("`{text}` is too short for the setter `{name}`: {length} characters");
            self.refuse(rule, words, &format!("{bound} characters or more"));
        }
        if let Some((rule, bound)) = broken(schema, "maxLength", &length, Ordering::Greater) {
            let words =
                format!("`{text}` is too long for the setter `{name}`: {length} characters");
            self.refuse(rule, words, &format!("{bound} characters at most"));
        }
        let Some(rule) = field(schema, "pattern") else { return };
        let pattern = scalar_text(rule).unwrap_or_default();
        match Regex::new(&pattern) {
            Ok(regex) if regex.is_match(text) => {}
            Ok(_) => {
                let words = format!("`{text}` does not match the pattern of the setter `{name}`");
                self.refuse(rule, words, &format!("what matches {pattern}"));
            }
            Err(error) => {
                let words = format!("the pattern of the setter `{name}` cannot be read: {error}");
                self.refuse(
                    rule,
                    words,
                    "regular expressions without look-around, back-references and \\p classes",
                );
            }
        }
    }

    fn number(&mut self, schema: NodeRef<'_>, text: &str) {
        let name = self.name;
        let bounds = [
            ("minimum", "exclusiveMinimum", Ordering::Less, "less", "more"),
            ("maximum", "exclusiveMaximum", Ordering::Greater, "more", "less"),
        ];
        for (rule, exclusive, wrong, than, or) in bounds {
            let strict = is_true(schema, exclusive).is_some();
            let found = broken(schema, rule, text, wrong)
                .map(|(rule, bound)| (rule, format!("{bound} or {or}")))
                .or_else(|| {
                    let (rule, bound) =
                        broken(schema, rule, text, Ordering::Equal).filter(|_| strict)?;
                    Some((rule, format!("{or} than {bound}")))
                })
                .or_else(|| {
                    // JSON Schema since draft 6 has the bound itself there.
                    let at = |order| broken(schema, exclusive, text, order);
                    let (rule, bound) = at(wrong).or_else(|| at(Ordering::Equal))?;
                    Some((rule, format!("{or} than {bound}")))
                });
            if let Some((node, allowed)) = found {
                let words =
                    format!("`{text}` is {than} than the {rule} of the setter `{name}` allows");
                self.refuse(node, words, &allowed);
            }
        }
        if let Some(rule) = field(schema, "multipleOf")
            && let Some(step) = scalar_text(rule)
            && !is_multiple(text, &step)
        {
            let words =
                format!("`{text}` is no multiple of {step}, as the setter `{name}` wants it");
            self.refuse(rule, words, &format!("multiples of {step}"));
        }
    }
}

/// What would fit, where a text is not of a type.
fn misfit(kind: &str, text: &str) -> Option<&'static str> {
    let value = Value::plain(text.to_owned());
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match kind {
        "integer" if !is_whole => Some("whole numbers, such as 3"),
        "number" if !matches!(value, Value::Number(_)) || !is_finite(text) => {
            Some("numbers, such as 3 or 0.5")
        }
        "boolean" if !matches!(value, Value::Bool(_)) => Some("true, false"),
        "null" if !matches!(value, Value::Null) => Some("null"),
        "object" | "file" => Some("nothing: a setter holds one value, or a list of them"),
        _ => None,
    }
}

fn is_finite(text: &str) -> bool {
    text.parse::<f64>().map_or(true, f64::is_finite)
        && !text.contains(".inf")
        && !text.contains(".nan")
}

/// A rule with a bound, where the number stands to it like this.
fn broken<'a>(
    schema: NodeRef<'a>,
    rule: &str,
    number: &str,
    wrong: Ordering,
) -> Option<(NodeRef<'a>, String)> {
    let rule = field(schema, rule)?;
    let bound = scalar_text(rule)?.into_owned();
    (compare(number, &bound)? == wrong).then_some((rule, bound))
}

/// Compares two numbers: whole ones to the last digit.
fn compare(a: &str, b: &str) -> Option<Ordering> {
    if let (Ok(a), Ok(b)) = (a.parse::<i128>(), b.parse::<i128>()) {
        return Some(a.cmp(&b));
    }
    a.parse::<f64>().ok()?.partial_cmp(&b.parse::<f64>().ok()?)
}

/// What is no number is no matter of multiples.
fn is_multiple(text: &str, step: &str) -> bool {
    if let (Ok(number), Ok(step)) = (text.parse::<i128>(), step.parse::<i128>()) {
        return step == 0 || number % step == 0;
    }
    let (Ok(number), Ok(step)) = (text.parse::<f64>(), step.parse::<f64>()) else { return true };
    let times = number / step;
    step == 0.0 || (times - times.round()).abs() < 1e-9
}

fn is_true<'a>(schema: NodeRef<'a>, rule: &str) -> Option<NodeRef<'a>> {
    let node = field(schema, rule)?;
    let holds = node.as_scalar().is_some_and(|it| it.resolve() == ScalarType::Bool(true));
    holds.then_some(node)
}
