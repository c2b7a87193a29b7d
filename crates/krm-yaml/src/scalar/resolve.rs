//! The type of a scalar: core schema of YAML 1.2, and YAML 1.1.

use crate::node::ScalarStyle;

/// The type of a scalar, with its value except for strings.
#[derive(Clone, Copy, Debug)]
pub enum ScalarType {
    /// `null`, `~` or an empty scalar.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer, with its value if that fits 128 bits.
    Int(Option<i128>),
    /// A number with a fraction or an exponent, `.inf` or `.nan`.
    Float(f64),
    /// A string.
    String,
}

impl PartialEq for ScalarType {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) | (Self::String, Self::String) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            _ => false,
        }
    }
}

impl ScalarType {
    /// The type of a plain scalar in the core schema of YAML 1.2.
    pub fn of_plain(text: &str) -> Self {
        resolve(text)
    }

    /// The type of a plain scalar in YAML 1.1, as Kubernetes' own reader implements it.
    pub fn of_plain_1_1(text: &str) -> Self {
        resolve_1_1(text)
    }

    /// The name of the type in JSON schemas.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Int(_) => "integer",
            Self::Float(_) => "number",
            Self::String => "string",
        }
    }
}

/// Resolves a plain scalar by the core schema of YAML 1.2.
pub(crate) fn resolve(text: &str) -> ScalarType {
    if !may_be_special(text) {
        return ScalarType::String;
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return ScalarType::Null,
        "true" | "True" | "TRUE" => return ScalarType::Bool(true),
        "false" | "False" | "FALSE" => return ScalarType::Bool(false),
        _ => {}
    }
    if let Some(octal) = text.strip_prefix("0o") {
        return digits(octal, 8).map_or(ScalarType::String, ScalarType::Int);
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return digits(hex, 16).map_or(ScalarType::String, ScalarType::Int);
    }
    let (sign, number) = split_sign(text);
    if let Some(value) = digits(number, 10) {
        return ScalarType::Int(value.map(|value| sign * value));
    }
    float(text).map_or(ScalarType::String, ScalarType::Float)
}

/// Resolves a plain scalar by YAML 1.1.
pub(crate) fn resolve_1_1(text: &str) -> ScalarType {
    if !may_be_special(text) {
        return ScalarType::String;
    }
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return ScalarType::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return ScalarType::Bool(false),
        _ => {}
    }
    if text.starts_with("0o") {
        return ScalarType::String;
    }
    let joined;
    let (sign, number) = split_sign(text);
    let number = match number.contains('_') && number.starts_with(|c: char| c.is_ascii_digit()) {
        true => {
            joined = number.replace('_', "");
            joined.as_str()
        }
        false => number,
    };
    let int = if let Some(binary) = number.strip_prefix("0b") {
        digits(binary, 2)
    } else if let Some(hex) = number.strip_prefix("0x") {
        digits(hex, 16)
    } else if number.len() > 1 && number.starts_with('0') && digits(number, 8).is_some() {
        digits(number, 8)
    } else if number.contains(':') {
        return sexagesimal(sign, number);
    } else {
        digits(number, 10)
    };
    if let Some(value) = int {
        return ScalarType::Int(value.map(|value| sign * value));
    }
    match resolve(text) {
        ScalarType::String => {
            float(number).map_or(ScalarType::String, |value| ScalarType::Float(sign as f64 * value))
        }
        other => other,
    }
}

/// Resolves a scalar with a tag: a core tag determines its type.
pub(crate) fn resolve_tagged(tag: &str, value: &str, style: ScalarStyle) -> ScalarType {
    let core = tag.strip_prefix("!!").or_else(|| {
        tag.strip_prefix("!<tag:yaml.org,2002:").and_then(|rest| rest.strip_suffix('>'))
    });
    match core {
        Some("str" | "binary" | "timestamp") => ScalarType::String,
        Some("int" | "float" | "bool" | "null") => match (core, resolve(value)) {
            (Some("float"), ScalarType::Int(Some(int))) => ScalarType::Float(int as f64),
            (_, other) => other,
        },
        _ if tag == "!" || style != ScalarStyle::Plain => ScalarType::String,
        _ => resolve(value),
    }
}

/// Whether the first byte allows another type than string. Most scalars need no further check.
fn may_be_special(text: &str) -> bool {
    match text.bytes().next() {
        None => true,
        Some(first) => {
            first.is_ascii_digit()
                || matches!(first, b'+' | b'-' | b'.' | b'~')
                || (text.len() <= 5
                    && matches!(
                        first,
                        b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'y' | b'Y' | b'o' | b'O'
                    ))
        }
    }
}

fn split_sign(text: &str) -> (i128, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (-1, &text[1..]),
        Some(b'+') => (1, &text[1..]),
        _ => (1, text),
    }
}

/// `None`: no digits of this radix. `Some(None)`: too many for 128 bits.
fn digits(text: &str, radix: u32) -> Option<Option<i128>> {
    let fits = !text.is_empty() && text.chars().all(|c| c.is_digit(radix));
    fits.then(|| i128::from_str_radix(text, radix).ok())
}

fn float(text: &str) -> Option<f64> {
    let (sign, number) = split_sign(text);
    match number {
        ".inf" | ".Inf" | ".INF" => return Some(sign as f64 * f64::INFINITY),
        ".nan" | ".NaN" | ".NAN" if number.len() == text.len() => return Some(f64::NAN),
        _ => {}
    }
    let (mantissa, exponent) = match number.find(['e', 'E']) {
        Some(at) => (&number[..at], Some(&number[at + 1..])),
        None => (number, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    let exponent_fits = exponent.is_none_or(|exponent| {
        let (_, exponent) = split_sign(exponent);
        !exponent.is_empty() && is_number(exponent)
    });
    if !has_digits || !is_number(whole) || !is_number(fraction) || !exponent_fits {
        return None;
    }
    number.parse::<f64>().ok().map(|value| sign as f64 * value)
}

/// Spec: YAML 1.1 reads `12:30:45` as a number of base sixty.
fn sexagesimal(sign: i128, text: &str) -> ScalarType {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let mut value: i128 = 0;
    for (at, part) in whole.split(':').enumerate() {
        let fits = part.bytes().all(|b| b.is_ascii_digit())
            && (if at == 0 { !part.is_empty() } else { (1..=2).contains(&part.len()) });
        let Some(number) = fits.then(|| part.parse::<i128>().ok()).flatten() else {
            return ScalarType::String;
        };
        if at > 0 && number > 59 || value > i128::MAX / 120 {
            return ScalarType::String;
        }
        value = value * 60 + number;
    }
    match fraction {
        None => ScalarType::Int(Some(sign * value)),
        Some(fraction) if fraction.bytes().all(|b| b.is_ascii_digit()) => {
            let part = format!("0.{fraction}0").parse::<f64>().unwrap_or(0.0);
            ScalarType::Float(sign as f64 * (value as f64 + part))
        }
        Some(_) => ScalarType::String,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_1_1_and_1_2_resolve_as_specified() {
        let cases = [
            ("yes", ScalarType::String, ScalarType::Bool(true)),
            ("on", ScalarType::String, ScalarType::Bool(true)),
            ("0o17", ScalarType::Int(Some(15)), ScalarType::String),
            ("017", ScalarType::Int(Some(17)), ScalarType::Int(Some(15))),
            ("089", ScalarType::Int(Some(89)), ScalarType::Int(Some(89))),
            ("1_000", ScalarType::String, ScalarType::Int(Some(1000))),
            ("12:30:45", ScalarType::String, ScalarType::Int(Some(45045))),
            ("12:30:45.5", ScalarType::String, ScalarType::Float(45045.5)),
            ("12:90", ScalarType::String, ScalarType::String),
            (".inf", ScalarType::Float(f64::INFINITY), ScalarType::Float(f64::INFINITY)),
            ("~", ScalarType::Null, ScalarType::Null),
            ("", ScalarType::Null, ScalarType::Null),
            ("0b11", ScalarType::String, ScalarType::Int(Some(3))),
            ("-12", ScalarType::Int(Some(-12)), ScalarType::Int(Some(-12))),
            ("1e3", ScalarType::Float(1000.0), ScalarType::Float(1000.0)),
            ("1.", ScalarType::Float(1.0), ScalarType::Float(1.0)),
            (".", ScalarType::String, ScalarType::String),
            ("-", ScalarType::String, ScalarType::String),
            ("1.2.3", ScalarType::String, ScalarType::String),
            ("0xFg", ScalarType::String, ScalarType::String),
            ("nope", ScalarType::String, ScalarType::String),
        ];
        for (text, core, old) in cases {
            assert_eq!((resolve(text), resolve_1_1(text)), (core, old), "{text}");
        }
    }

    #[test]
    fn integers_beyond_128_bits_are_integers() {
        let huge = "9".repeat(60);
        assert_eq!(resolve(&huge), ScalarType::Int(None));
    }

    #[test]
    fn core_tag_determines_the_type() {
        assert_eq!(resolve_tagged("!!str", "5", ScalarStyle::Plain), ScalarType::String);
        assert_eq!(
            resolve_tagged("!!int", "5", ScalarStyle::DoubleQuoted),
            ScalarType::Int(Some(5))
        );
        assert_eq!(resolve_tagged("!!float", "5", ScalarStyle::Plain), ScalarType::Float(5.0));
        assert_eq!(resolve_tagged("!mine", "5", ScalarStyle::Plain), ScalarType::Int(Some(5)));
    }
}
