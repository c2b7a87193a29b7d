//! What a scalar means: YAML 1.2's core schema, and YAML 1.1 where it differs.

use crate::node::ScalarStyle;

/// What a scalar is read as.
#[derive(Clone, Copy, Debug)]
pub enum Resolved {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer; its value where it fits 128 bits.
    Int(Option<i128>),
    /// A number with a fraction, an exponent, or `.inf` and `.nan`.
    Float(f64),
    /// Text.
    String,
}

impl PartialEq for Resolved {
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

impl Resolved {
    /// What a plain scalar of this text is by YAML 1.2's core schema.
    pub fn of_plain(text: &str) -> Self {
        resolve(text)
    }

    /// What YAML 1.1, as Kubernetes' own reader follows it, takes a plain scalar of this text for.
    pub fn of_plain_1_1(text: &str) -> Self {
        resolve_1_1(text)
    }

    /// The name of the type, as schemas call it.
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

/// Reads a plain scalar by YAML 1.2's core schema.
pub(crate) fn resolve(text: &str) -> Resolved {
    if !may_be_special(text) {
        return Resolved::String;
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Resolved::Null,
        "true" | "True" | "TRUE" => return Resolved::Bool(true),
        "false" | "False" | "FALSE" => return Resolved::Bool(false),
        _ => {}
    }
    if let Some(octal) = text.strip_prefix("0o") {
        return digits(octal, 8).map_or(Resolved::String, Resolved::Int);
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return digits(hex, 16).map_or(Resolved::String, Resolved::Int);
    }
    let (sign, number) = split_sign(text);
    if let Some(value) = digits(number, 10) {
        return Resolved::Int(value.map(|value| sign * value));
    }
    float(text).map_or(Resolved::String, Resolved::Float)
}

/// Reads a plain scalar by YAML 1.1.
pub(crate) fn resolve_1_1(text: &str) -> Resolved {
    if !may_be_special(text) {
        return Resolved::String;
    }
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Resolved::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Resolved::Bool(false),
        _ => {}
    }
    if text.starts_with("0o") {
        return Resolved::String;
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
        return Resolved::Int(value.map(|value| sign * value));
    }
    match resolve(text) {
        Resolved::String => {
            float(number).map_or(Resolved::String, |value| Resolved::Float(sign as f64 * value))
        }
        other => other,
    }
}

/// Reads a scalar with a tag: a core tag says what it is, any other leaves it text.
pub(crate) fn resolve_tagged(tag: &str, value: &str, style: ScalarStyle) -> Resolved {
    let core = tag.strip_prefix("!!").or_else(|| {
        tag.strip_prefix("!<tag:yaml.org,2002:").and_then(|rest| rest.strip_suffix('>'))
    });
    match core {
        Some("str" | "binary" | "timestamp") => Resolved::String,
        Some("int" | "float" | "bool" | "null") => match (core, resolve(value)) {
            (Some("float"), Resolved::Int(Some(int))) => Resolved::Float(int as f64),
            (_, other) => other,
        },
        _ if tag == "!" || style != ScalarStyle::Plain => Resolved::String,
        _ => resolve(value),
    }
}

/// Whether the first byte allows anything but text; most scalars end here.
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

/// `None`: not such digits at all. `Some(None)`: too many for 128 bits.
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

/// `12:30:45` in base sixty, as YAML 1.1 has it.
fn sexagesimal(sign: i128, text: &str) -> Resolved {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let mut value: i128 = 0;
    for (at, part) in whole.split(':').enumerate() {
        let fits = part.bytes().all(|b| b.is_ascii_digit())
            && (if at == 0 { !part.is_empty() } else { (1..=2).contains(&part.len()) });
        let Some(number) = fits.then(|| part.parse::<i128>().ok()).flatten() else {
            return Resolved::String;
        };
        if at > 0 && number > 59 || value > i128::MAX / 120 {
            return Resolved::String;
        }
        value = value * 60 + number;
    }
    match fraction {
        None => Resolved::Int(Some(sign * value)),
        Some(fraction) if fraction.bytes().all(|b| b.is_ascii_digit()) => {
            let part = format!("0.{fraction}0").parse::<f64>().unwrap_or(0.0);
            Resolved::Float(sign as f64 * (value as f64 + part))
        }
        Some(_) => Resolved::String,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_and_1_1_differ_where_the_specs_do() {
        let cases = [
            ("yes", Resolved::String, Resolved::Bool(true)),
            ("on", Resolved::String, Resolved::Bool(true)),
            ("0o17", Resolved::Int(Some(15)), Resolved::String),
            ("017", Resolved::Int(Some(17)), Resolved::Int(Some(15))),
            ("089", Resolved::Int(Some(89)), Resolved::Int(Some(89))),
            ("1_000", Resolved::String, Resolved::Int(Some(1000))),
            ("12:30:45", Resolved::String, Resolved::Int(Some(45045))),
            ("12:30:45.5", Resolved::String, Resolved::Float(45045.5)),
            ("12:90", Resolved::String, Resolved::String),
            (".inf", Resolved::Float(f64::INFINITY), Resolved::Float(f64::INFINITY)),
            ("~", Resolved::Null, Resolved::Null),
            ("", Resolved::Null, Resolved::Null),
            ("0b11", Resolved::String, Resolved::Int(Some(3))),
            ("-12", Resolved::Int(Some(-12)), Resolved::Int(Some(-12))),
            ("1e3", Resolved::Float(1000.0), Resolved::Float(1000.0)),
            ("1.", Resolved::Float(1.0), Resolved::Float(1.0)),
            (".", Resolved::String, Resolved::String),
            ("-", Resolved::String, Resolved::String),
            ("1.2.3", Resolved::String, Resolved::String),
            ("0xFg", Resolved::String, Resolved::String),
            ("nope", Resolved::String, Resolved::String),
        ];
        for (text, core, old) in cases {
            assert_eq!((resolve(text), resolve_1_1(text)), (core, old), "{text}");
        }
    }

    #[test]
    fn integers_beyond_128_bits_stay_integers() {
        let huge = "9".repeat(60);
        assert_eq!(resolve(&huge), Resolved::Int(None));
    }

    #[test]
    fn a_core_tag_decides() {
        assert_eq!(resolve_tagged("!!str", "5", ScalarStyle::Plain), Resolved::String);
        assert_eq!(resolve_tagged("!!int", "5", ScalarStyle::DoubleQuoted), Resolved::Int(Some(5)));
        assert_eq!(resolve_tagged("!!float", "5", ScalarStyle::Plain), Resolved::Float(5.0));
        assert_eq!(resolve_tagged("!mine", "5", ScalarStyle::Plain), Resolved::Int(Some(5)));
    }
}
