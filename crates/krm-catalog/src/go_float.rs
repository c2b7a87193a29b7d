//! Floating-point numbers as Go's `strconv` writes them. The digits are the same as Rust's; only the notation differs.

/// The decimal exponent at which `%v` of Go's `fmt` changes to scientific notation.
#[cfg(feature = "gatekeeper")]
pub(crate) const FMT_THRESHOLD: i32 = 21;
/// The decimal exponent at which `strconv` changes to scientific notation for the shortest digits.
#[cfg(any(feature = "starlark", test))]
pub(crate) const SHORTEST_THRESHOLD: i32 = 6;

/// `%e`: one digit before the point and an exponent of at least two digits. Without a precision, the shortest digits that read back
/// as the same number.
pub(crate) fn scientific(number: f64, precision: Option<usize>) -> String {
    let text = match precision {
        Some(precision) => format!("{number:.precision$e}"),
        None => format!("{number:e}"),
    };
    let (digits, exponent) = split(&text);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// `%f` with a precision.
pub(crate) fn decimal(number: f64, precision: usize) -> String {
    format!("{number:.precision$}")
}

/// `%g` with the shortest digits: scientific notation below 0.0001 and from an exponent of `threshold` on.
pub(crate) fn general(number: f64, threshold: i32) -> String {
    let (_, exponent) = split(&format!("{number:e}"));
    if number != 0.0 && (exponent < -4 || exponent >= threshold) {
        scientific(number, None)
    } else {
        format!("{number}")
    }
}

/// `%g` with a number of significant digits.
#[cfg(feature = "gatekeeper")]
pub(crate) fn general_with(number: f64, precision: usize) -> String {
    let precision = precision.max(1);
    let rounded = format!("{number:.*e}", precision - 1);
    let (digits, exponent) = split(&rounded);
    let digits = if digits.contains('.') { digits.trim_end_matches('0') } else { digits };
    let digits = digits.trim_end_matches('.');
    let count = i32::try_from(digits.chars().filter(char::is_ascii_digit).count()).unwrap_or(0);
    let mut limit = i32::try_from(precision).unwrap_or(i32::MAX);
    if limit > count && count > exponent {
        limit = count;
    }
    if exponent < -4 || exponent >= limit {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let places = usize::try_from(count - 1 - exponent).unwrap_or(0);
    format!("{:.places$}", rounded.parse::<f64>().unwrap_or(number))
}

/// The digits and the exponent of Rust's scientific notation.
fn split(text: &str) -> (&str, i32) {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    (digits, exponent.parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notation_is_that_of_go() {
        for (number, expected) in [
            (0.0, "0"),
            (1.0, "1"),
            (123456.789, "123456.789"),
            (1e6, "1e+06"),
            (123456789.0, "1.23456789e+08"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (5e-324, "5e-324"),
            (-1.5e300, "-1.5e+300"),
        ] {
            assert_eq!(general(number, SHORTEST_THRESHOLD), expected);
        }
        assert_eq!(scientific(1234.5, Some(6)), "1.234500e+03");
        assert_eq!(scientific(0.0, Some(6)), "0.000000e+00");
        assert_eq!(decimal(1234.5, 6), "1234.500000");
    }

    #[test]
    #[cfg(feature = "gatekeeper")]
    fn precision_is_that_of_go() {
        assert_eq!(general(1e20, FMT_THRESHOLD), "100000000000000000000");
        assert_eq!(general(1e21, FMT_THRESHOLD), "1e+21");
        for (number, precision, expected) in [
            (1234.5678, 3, "1.23e+03"),
            (1234.5678, 6, "1234.57"),
            (100.0, 3, "100"),
            (100.0, 2, "1e+02"),
            (0.00012345, 2, "0.00012"),
            (1.0, 5, "1"),
            (0.5, 0, "0.5"),
        ] {
            assert_eq!(general_with(number, precision), expected, "{number} {precision}");
        }
    }
}
