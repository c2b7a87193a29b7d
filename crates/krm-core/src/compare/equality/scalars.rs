//! Whether two scalars are equal, by their values to the readers that count.

use krm_yaml::{Scalar, ScalarStyle, ScalarType};

use super::{Equality, timestamp};
use crate::compare::json_style::is_json_string;

/// How a scalar that a function returned compares with the one that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScalarComparison {
    /// The values are equal.
    Equal,
    /// The function set another value.
    Different,
    /// An integer came back rounded, because the function parsed it as a 64-bit float.
    LostDigits,
}

/// Integers up to 2^53 are exact in a 64-bit float.
const MAX_EXACT_INTEGER: i128 = 1 << 53;

/// Whether two scalars are equal. See [`Equality`] for the reasons of each level.
pub(crate) fn scalars_equal(a: Scalar<'_>, b: Scalar<'_>, equality: Equality) -> bool {
    let is_same_in_1_1 = || a.resolve_1_1() == b.resolve_1_1();
    let is_string = || a.resolve() == ScalarType::String;
    match equality {
        Equality::Yaml12 => have_same_value(a, b),
        Equality::Merge => {
            have_same_value(a, b)
                && (!is_string() || is_same_in_1_1() || is_json_string(a) || is_json_string(b))
        }
        Equality::Diff => have_same_value(a, b) && is_same_in_1_1(),
        Equality::FunctionOutput(_) => compare_returned(a, b) == ScalarComparison::Equal,
    }
}

/// Whether two scalars have the same type and value in YAML 1.2.
fn have_same_value(a: Scalar<'_>, b: Scalar<'_>) -> bool {
    is_same_value((a.resolve(), a), (b.resolve(), b))
}

fn is_same_value((a, one): (ScalarType, Scalar<'_>), (b, other): (ScalarType, Scalar<'_>)) -> bool {
    match (a, b) {
        // An integer that is too long to be parsed is compared by its digits.
        (ScalarType::String, ScalarType::String)
        | (ScalarType::Int(None), ScalarType::Int(None)) => one.value() == other.value(),
        (a, b) => a == b,
    }
}

/// Compares what was sent to a function with what it returned.
///
/// Equal besides the same value: a plain scalar as a YAML 1.1 reader takes it (`on` is `true`, `1_000` is `1000`, `014` is `12`,
/// `1:30` is `90`); an integer with or without a fraction (`1.0` and `1`, `1e3` and `1000`), because JSON has one type of
/// number; a timestamp in another notation; and a string such as `1e3`, which some YAML writers leave without quotes because
/// their own reader does not take it for a number.
pub(crate) fn compare_returned(sent: Scalar<'_>, returned: Scalar<'_>) -> ScalarComparison {
    let (was, is) = (sent.resolve(), returned.resolve());
    if is_same_json_value((was, sent), (is, returned)) {
        return ScalarComparison::Equal;
    }
    let before = sent.resolve_1_1();
    if is_same_json_value((before, sent), (is, returned)) || is_same_time(sent, returned) {
        return ScalarComparison::Equal;
    }
    if is_unquoted_exponent(sent, returned) || is_unquoted_exponent(returned, sent) {
        return ScalarComparison::Equal;
    }
    let is_rounded = |was| has_lost_digits(was, sent, is);
    match is_rounded(was) || is_rounded(before) {
        true => ScalarComparison::LostDigits,
        false => ScalarComparison::Different,
    }
}

/// The same, with integers and floats as one type.
fn is_same_json_value(a: (ScalarType, Scalar<'_>), b: (ScalarType, Scalar<'_>)) -> bool {
    match (a.0, b.0) {
        (ScalarType::Int(Some(int)), ScalarType::Float(float))
        | (ScalarType::Float(float), ScalarType::Int(Some(int))) => {
            float.is_finite() && float as i128 == int && int as f64 == float
        }
        _ => is_same_value(a, b),
    }
}

fn is_same_time(sent: Scalar<'_>, returned: Scalar<'_>) -> bool {
    let is_string = |it: Scalar<'_>| it.resolve() == ScalarType::String;
    sent.style() == ScalarStyle::Plain
        && is_string(sent)
        && is_string(returned)
        && timestamp::parse(&sent.value())
            .is_some_and(|time| timestamp::parse(&returned.value()) == Some(time))
}

/// Whether a string has the very characters of a number that is digits with an exponent and no dot.
fn is_unquoted_exponent(string: Scalar<'_>, number: Scalar<'_>) -> bool {
    let is_exponent = |value: &str| {
        let (mantissa, exponent) = value.split_once(['e', 'E']).unwrap_or_default();
        let is_digits = |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit());
        is_digits(mantissa) && is_digits(exponent.trim_start_matches('+'))
    };
    string.resolve() == ScalarType::String
        && matches!(number.resolve(), ScalarType::Float(_))
        && number.is(&string.value())
        && is_exponent(&string.value())
}

/// Whether a number is the one that an integer becomes when it is parsed as a 64-bit float.
pub(crate) fn has_lost_digits(was: ScalarType, sent: Scalar<'_>, is: ScalarType) -> bool {
    let rounded = match was {
        ScalarType::Int(Some(int)) if int.abs() > MAX_EXACT_INTEGER => int as f64,
        ScalarType::Int(None) => match sent.value().replace('_', "").parse() {
            Ok(rounded) => rounded,
            Err(_) => return false,
        },
        _ => return false,
    };
    match is {
        ScalarType::Float(float) => float == rounded,
        ScalarType::Int(Some(int)) => int as f64 == rounded,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::File;

    fn compared(sent: &str, returned: &str) -> ScalarComparison {
        let [a, b] = [sent, returned].map(|it| File::parse(format!("a: {it}\n")).unwrap());
        let scalar = |file| File::document(file, 0)?.root()?.as_mapping()?.get("a")?.as_scalar();
        compare_returned(scalar(&a).unwrap(), scalar(&b).unwrap())
    }

    #[test]
    fn values_that_other_readers_and_writers_produce_are_equal() {
        for (sent, returned) in [
            ("a", "'a'"),
            ("on", "true"),
            ("on", "'on'"),
            ("no", "false"),
            ("'no'", "no"),
            ("1_000", "1000"),
            ("0o14", "12"),
            ("014", "12"),
            ("014", "14"),
            ("1:30", "90"),
            ("~", "null"),
            ("", "null"),
            ("0x1F", "31"),
            ("1.0", "1"),
            ("1e3", "1000"),
            ("10000000", "1e+07"),
            ("'12e34'", "12e34"),
            ("12e34", "'12e34'"),
            ("2020-01-01T00:00:00Z", "2020-01-01 00:00:00+00:00"),
            ("2020-01-01T00:00:00Z", "\"2020-01-01T00:00:00Z\""),
            ("0.12345678901234567890", "0.12345678901234568"),
            ("12345678901234567890", "12345678901234567890"),
        ] {
            assert_eq!(compared(sent, returned), ScalarComparison::Equal, "{sent} {returned}");
        }
    }

    #[test]
    fn other_values_and_types_are_different() {
        for (sent, returned) in [
            ("a", "b"),
            ("'on'", "true"),
            ("'1'", "1"),
            ("1", "'1'"),
            ("1", "2"),
            ("1", "1.5"),
            ("~", "''"),
            ("'2020-01-01T00:00:00Z'", "2020-01-01 00:00:00+00:00"),
            ("9007199254740993", "9007199254740999"),
            ("'1.5'", "1.5"),
        ] {
            assert_eq!(compared(sent, returned), ScalarComparison::Different, "{sent} {returned}");
        }
    }

    #[test]
    fn rounded_integers_are_reported_as_lost_digits() {
        for (sent, returned) in [
            ("12345678901234567890", "1.2345678901234567e+19"),
            ("12345678901234567890", "12345678901234567000"),
            ("9007199254740993", "9007199254740992"),
            ("-9007199254740993", "-9.007199254740992e15"),
            (&"9".repeat(60), "1e60"),
        ] {
            assert_eq!(compared(sent, returned), ScalarComparison::LostDigits, "{sent} {returned}");
        }
    }
}
