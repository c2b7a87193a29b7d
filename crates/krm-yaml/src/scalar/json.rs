//! The JSON spelling of scalars that are not strings.

use super::{ScalarType, resolve};

/// The JSON spelling of a plain scalar. `None` for what JSON cannot represent: an unquoted string, `.inf`, or `017`, which is a different number in
/// YAML 1.1 and 1.2.
pub(crate) fn json_scalar(text: &str) -> Option<String> {
    match resolve(text) {
        ScalarType::Null => Some("null".to_owned()),
        ScalarType::Bool(value) => Some(value.to_string()),
        ScalarType::Int(value) if text.starts_with("0x") || text.starts_with("0o") => {
            value.map(|value| value.to_string())
        }
        ScalarType::Int(_) | ScalarType::Float(_) => number(text),
        ScalarType::String => None,
    }
}

/// A decimal number without a plus sign, and with digits on both sides of the point.
fn number(text: &str) -> Option<String> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let (sign, digits) = text.split_at(usize::from(text.starts_with('-')));
    let (mantissa, power) = digits.split_at(digits.find(['e', 'E']).unwrap_or(digits.len()));
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let or_zero = |digits: &str| if digits.is_empty() { "0".to_owned() } else { digits.to_owned() };
    let are_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let is_padded = whole.len() > 1 && whole.starts_with('0');
    if is_padded || !are_digits(whole) || !fraction.is_none_or(are_digits) {
        return None;
    }
    let fraction = fraction.map(|digits| format!(".{}", or_zero(digits))).unwrap_or_default();
    Some(format!("{sign}{}{fraction}{power}", or_zero(whole)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_scalars_are_converted_to_json() {
        let spelled = [
            ("", "null"),
            ("~", "null"),
            ("Null", "null"),
            ("TRUE", "true"),
            ("False", "false"),
            ("0x1F", "31"),
            ("0o17", "15"),
            ("+1", "1"),
            (".5", "0.5"),
            ("-.5", "-0.5"),
            ("+.5e3", "0.5e3"),
            ("5.", "5.0"),
            ("5.e3", "5.0e3"),
        ];
        for (yaml, json) in spelled {
            assert_eq!(json_scalar(yaml).as_deref(), Some(json), "{yaml}");
            assert_eq!(resolve(yaml), resolve(json), "{yaml}");
        }
    }

    #[test]
    fn json_scalars_are_unchanged() {
        let huge = "9".repeat(60);
        for word in ["null", "true", "0", "-0", "-0.0", "1.50", "1.0E+2", "2e-3", "0e0", &huge] {
            assert_eq!(json_scalar(word).as_deref(), Some(word));
        }
    }

    #[test]
    fn scalars_without_json_form_are_rejected() {
        let huge = format!("0x{}", "f".repeat(40));
        for word in [".inf", "-.Inf", ".nan", "017", "-017", "+00", "00.5", "text", "1_0", &huge] {
            assert_eq!(json_scalar(word), None, "{word}");
        }
    }
}
