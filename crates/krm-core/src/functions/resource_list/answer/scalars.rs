//! Whether a scalar that came back is the one that was sent, however the function reads and writes numbers and words.

use krm_yaml::{Scalar, ScalarStyle, ScalarType};

use super::timestamp;

/// What became of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is what it was.
    Same,
    /// It has another value.
    Changed,
    /// It is an integer that was read into a number with too few digits.
    LostDigits,
}

/// Beyond it not every integer is a number with a fraction: 2^53.
const EXACT: i128 = 1 << 53;

/// Compares what was sent with what came back.
///
/// What counts as the same, beside equal values: a plain scalar as readers of YAML 1.1 take it (`on` is `true`, `1_000` is
/// `1000`, `014` is `12`, `1:30` is `90`); a whole number with or without a fraction (`1.0` and `1`, `1e3` and `1000`),
/// for JSON has one type of number; a point in time in another notation; and a text like `1e3`, which some writers
/// leave without quotes because they take no such thing for a number.
pub(super) fn compare(sent: Scalar<'_>, returned: Scalar<'_>) -> Fate {
    let (was, is) = (sent.resolve(), returned.resolve());
    if is_equal((was, sent), (is, returned)) {
        return Fate::Same;
    }
    let before = sent.resolve_1_1();
    if is_equal((before, sent), (is, returned)) || is_same_time(sent, returned) {
        return Fate::Same;
    }
    if is_bare_exponent(sent, returned) || is_bare_exponent(returned, sent) {
        return Fate::Same;
    }
    let lost = |was| has_lost_digits(was, sent, is);
    if lost(was) || lost(before) { Fate::LostDigits } else { Fate::Changed }
}

fn is_equal((a, one): (ScalarType, Scalar<'_>), (b, other): (ScalarType, Scalar<'_>)) -> bool {
    match (a, b) {
        (ScalarType::String, ScalarType::String)
        | (ScalarType::Int(None), ScalarType::Int(None)) => one.value() == other.value(),
        (ScalarType::Int(Some(int)), ScalarType::Float(float))
        | (ScalarType::Float(float), ScalarType::Int(Some(int))) => {
            float.is_finite() && float as i128 == int && int as f64 == float
        }
        (a, b) => a == b,
    }
}

fn is_same_time(sent: Scalar<'_>, returned: Scalar<'_>) -> bool {
    let is_text = |it: Scalar<'_>| it.resolve() == ScalarType::String;
    sent.style() == ScalarStyle::Plain
        && is_text(sent)
        && is_text(returned)
        && timestamp::read(&sent.value())
            .is_some_and(|time| timestamp::read(&returned.value()) == Some(time))
}

/// Whether a text is the number's own characters, digits with an `e` among them and no dot.
fn is_bare_exponent(text: Scalar<'_>, number: Scalar<'_>) -> bool {
    let is_one = |value: &str| {
        let (mantissa, exponent) = value.split_once(['e', 'E']).unwrap_or_default();
        let is_digits = |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit());
        is_digits(mantissa) && is_digits(exponent.trim_start_matches('+'))
    };
    text.resolve() == ScalarType::String
        && matches!(number.resolve(), ScalarType::Float(_))
        && number.is(&text.value())
        && is_one(&text.value())
}

/// Whether a number is an integer that was read into one with too few digits.
pub(super) fn has_lost_digits(was: ScalarType, sent: Scalar<'_>, is: ScalarType) -> bool {
    let rounded = match was {
        ScalarType::Int(Some(int)) if int.abs() > EXACT => int as f64,
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

    fn fate(sent: &str, returned: &str) -> Fate {
        let [a, b] = [sent, returned].map(|it| File::parse(format!("a: {it}\n")).unwrap());
        let scalar = |file| File::document(file, 0)?.root()?.as_mapping()?.get("a")?.as_scalar();
        compare(scalar(&a).unwrap(), scalar(&b).unwrap())
    }

    #[test]
    fn what_other_readers_make_of_it_is_the_same() {
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
            assert_eq!(fate(sent, returned), Fate::Same, "{sent} {returned}");
        }
    }

    #[test]
    fn another_value_or_type_is_a_change() {
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
            assert_eq!(fate(sent, returned), Fate::Changed, "{sent} {returned}");
        }
    }

    #[test]
    fn an_integer_that_lost_digits_is_told_apart() {
        for (sent, returned) in [
            ("12345678901234567890", "1.2345678901234567e+19"),
            ("12345678901234567890", "12345678901234567000"),
            ("9007199254740993", "9007199254740992"),
            ("-9007199254740993", "-9.007199254740992e15"),
            (&"9".repeat(60), "1e60"),
        ] {
            assert_eq!(fate(sent, returned), Fate::LostDigits, "{sent} {returned}");
        }
    }
}
