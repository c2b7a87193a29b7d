//! Fields of resources as the types that Terraform needs.

use krm_sdk::Resource;
use krm_yaml::{NodeRef, ScalarType};

use crate::changes::text_of;

/// A scalar; empty if there is none.
pub(super) fn text(resource: &Resource, path: &str) -> String {
    resource
        .get(path)
        .ok()
        .flatten()
        .and_then(text_of)
        .map_or_else(String::new, |it| it.into_owned())
}

/// A scalar for a string of Terraform.
pub(super) fn string(resource: &Resource, path: &str) -> String {
    escaped(&text(resource, path))
}

/// Text inside the quotes of a string of Terraform.
pub(super) fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// A boolean, which may be a string.
pub(super) fn boolean(resource: &Resource, path: &str) -> bool {
    matches!(text(resource, path).as_str(), "1" | "t" | "T" | "true" | "TRUE" | "True")
}

/// A number; none if there is no number other than zero.
pub(super) fn number(resource: &Resource, path: &str) -> Option<f64> {
    let node = resource.get(path).ok()??.resolve();
    let is_number =
        matches!(node.as_scalar()?.resolve(), ScalarType::Int(_) | ScalarType::Float(_));
    let value: f64 = text_of(node).filter(|_| is_number)?.parse().ok()?;
    (value != 0.0).then_some(value)
}

/// An integer; none if it is zero.
pub(super) fn integer(resource: &Resource, path: &str) -> Option<i64> {
    number(resource, path).map(|it| it as i64).filter(|it| *it != 0)
}

/// The scalars of a sequence.
pub(super) fn strings(resource: &Resource, path: &str) -> Vec<String> {
    resource.get(path).ok().flatten().map(strings_of).unwrap_or_default()
}

/// The scalars of a sequence, for strings of Terraform.
pub(super) fn strings_of(node: NodeRef<'_>) -> Vec<String> {
    let items = node.resolve().as_sequence().into_iter().flat_map(|list| list.items());
    items.filter_map(text_of).map(|it| escaped(&it)).collect()
}

/// A number of days with two decimals, as Go prints it.
pub(super) fn days(milliseconds: i64) -> String {
    let hours = milliseconds as f64 / 3_600_000.0;
    float((hours / 24.0 * 100.0).round() / 100.0)
}

/// A number as Go prints it: with an exponent from a million on.
pub(super) fn float(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 || (1e-4..1e6).contains(&magnitude) {
        return value.to_string();
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_in_go() {
        for (value, text) in
            [(7.0, "7"), (0.5, "0.5"), (999_999.0, "999999"), (1e6, "1e+06"), (0.00001, "1e-05")]
        {
            assert_eq!(float(value), text);
        }
        assert_eq!(days(604_800_000), "7");
        assert_eq!(days(1), "0");
        assert_eq!(days(100_000_000), "1.16");
    }
}
