//! The type of a scalar for Kubernetes: the rules of `go.yaml.in/yaml/v2`, which are neither those of YAML 1.1 nor of YAML 1.2.

use std::borrow::Cow;

use krm_yaml::{Scalar, ScalarStyle, ScalarType};

use super::kinds::ReaderKind;

/// The type of a scalar, by its tag or else by its text.
///
/// ```
/// use krm_yaml::ScalarType;
///
/// let file = krm_yaml::File::parse("[yes, 017, 1_000, 12:30, 'on']".to_owned())?;
/// let list = file.document(0).and_then(|it| it.root()?.as_sequence()).expect("a sequence");
/// let types: Vec<_> = list.items().filter_map(|it| krm_core::kubernetes_reader::resolve(it.as_scalar()?).ok()).collect();
/// let int = |number| ScalarType::Int(Some(number));
/// assert_eq!(types, [ScalarType::Bool(true), int(15), int(1000), ScalarType::String, ScalarType::String]);
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
///
/// # Errors
/// Kubernetes refuses the scalar, or its tag is one that krm does not know.
pub fn resolve(scalar: Scalar<'_>) -> Result<ScalarType, ReaderKind> {
    match scalar.node().tag() {
        Some(tag) => tagged(tag, scalar),
        None if scalar.style() == ScalarStyle::Plain => Ok(plain(&scalar.value())),
        None => Ok(ScalarType::String),
    }
}

fn tagged(tag: &str, scalar: Scalar<'_>) -> Result<ScalarType, ReaderKind> {
    let is_declared = || {
        let directives = scalar.node().document().directives();
        directives.iter().any(|line| line.starts_with("%TAG"))
    };
    let unsupported = || ReaderKind::UnsupportedTag { tag: tag.into() };
    if tag.contains('%') || is_declared() {
        return Err(unsupported());
    }
    let verbatim =
        || tag.strip_prefix("!<tag:yaml.org,2002:").and_then(|rest| rest.strip_suffix('>'));
    let Some(name) = tag.strip_prefix("!!").or_else(verbatim) else {
        return Ok(ScalarType::String);
    };
    let read = plain(&scalar.value());
    match (name, read) {
        ("binary" | "timestamp", _) => Err(unsupported()),
        ("int", ScalarType::Int(_)) | ("bool", ScalarType::Bool(_)) => Ok(read),
        ("float", ScalarType::Float(_)) | ("null", ScalarType::Null) => Ok(read),
        ("float", ScalarType::Int(Some(number))) if i64::try_from(number).is_ok() => {
            Ok(ScalarType::Float(number as f64))
        }
        ("int" | "float" | "bool" | "null", _) => Err(ReaderKind::WrongTag { tag: tag.into() }),
        _ => Ok(ScalarType::String),
    }
}

/// The type of a plain scalar.
pub(super) fn plain(text: &str) -> ScalarType {
    match text.as_bytes().first() {
        None | Some(b'~') if text.len() <= 1 => ScalarType::Null,
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O') => keyword(text),
        Some(b'.') => fraction(text),
        Some(b'0'..=b'9' | b'+' | b'-') => number(text),
        _ => ScalarType::String,
    }
}

fn keyword(text: &str) -> ScalarType {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            ScalarType::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            ScalarType::Bool(false)
        }
        "null" | "Null" | "NULL" => ScalarType::Null,
        _ => ScalarType::String,
    }
}

/// A number that starts with a point. Unlike elsewhere, an underscore is only allowed between two digits.
fn fraction(text: &str) -> ScalarType {
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return ScalarType::Float(f64::NAN);
    }
    if matches!(text, ".inf" | ".Inf" | ".INF") {
        return ScalarType::Float(f64::INFINITY);
    }
    let bytes = text.as_bytes();
    let is_digit = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at)).is_some_and(|byte| byte.is_ascii_digit())
    };
    let is_between = |(at, _)| is_digit(usize::checked_sub(at, 1)) && is_digit(Some(at + 1));
    match text.match_indices('_').all(is_between) {
        true => decimal(&text.replace('_', "")),
        false => ScalarType::String,
    }
}

fn number(text: &str) -> ScalarType {
    match text {
        "+.inf" | "+.Inf" | "+.INF" => return ScalarType::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return ScalarType::Float(f64::NEG_INFINITY),
        _ => {}
    }
    let text = match text.contains('_') {
        true => Cow::Owned(text.replace('_', "")),
        false => Cow::Borrowed(text),
    };
    match integer(&text) {
        Some(value) => ScalarType::Int(Some(value)),
        None => decimal(&text),
    }
}

/// `strconv.ParseInt` and `ParseUint` with base 0: the prefix decides the base, and the value has 64 bits.
fn integer(text: &str) -> Option<i128> {
    let (sign, digits) = match text.split_at_checked(1)? {
        (sign @ ("+" | "-"), digits) => (sign, digits),
        _ => ("", text),
    };
    let (radix, digits) = match digits.as_bytes() {
        // Compat: after `0b` a sign is accepted, too.
        [b'0', b'b', b'+' | b'-', rest @ ..] if sign.is_empty() && !rest.is_empty() => {
            let value = i128::from(unsigned(&digits[3..], 2)?);
            let value = if digits.as_bytes()[2] == b'-' { -value } else { value };
            return i64::try_from(value).ok().map(i128::from);
        }
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    let value = i128::from(unsigned(digits, radix)?);
    match sign {
        "-" => i64::try_from(-value).ok().map(i128::from),
        "+" => i64::try_from(value).ok().map(i128::from),
        _ => Some(value),
    }
}

fn unsigned(digits: &str, radix: u32) -> Option<u64> {
    let is_number = digits.chars().all(|c| c.is_digit(radix));
    is_number.then(|| u64::from_str_radix(digits, radix).ok()).flatten()
}

/// A decimal number; a string if it is none, or larger than 64 bits can represent.
fn decimal(text: &str) -> ScalarType {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    let is_exponent = |text: &str| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        !digits.is_empty() && are_digits(digits)
    };
    let is_number =
        has_digits && are_digits(whole) && are_digits(fraction) && exponent.is_none_or(is_exponent);
    match text.parse::<f64>() {
        Ok(value) if is_number && value.is_finite() => ScalarType::Float(value),
        _ => ScalarType::String,
    }
}
