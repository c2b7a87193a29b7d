//! Values as compact JSON text.

use std::fmt::Write as _;

use krm_yaml::{NodeRef, Value};

/// Writes a value as JSON on one line, without spaces.
///
/// A number keeps the spelling that it was read with where that is JSON; `0x1f`, `.inf` and the like become
/// strings. A key that is no text becomes the text of its JSON.
///
/// ```
/// use krm_core::json;
/// use krm_yaml::Value;
///
/// let value = Value::Mapping(vec![(Value::from("n"), Value::plain("1.50")), (Value::from("h"), Value::plain("0x1f"))]);
/// assert_eq!(json::write(&value), r#"{"n":1.50,"h":"0x1f"}"#);
/// ```
pub fn write(value: &Value<'_>) -> String {
    let mut out = String::new();
    write_value(value, &mut out);
    out
}

fn write_value(value: &Value<'_>, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(text) if is_number(text) => out.push_str(text),
        Value::Number(text) | Value::String(text) => write_string(text, out),
        Value::Sequence(items) => write_list(items, '[', ']', out, write_value),
        Value::Mapping(entries) => write_list(entries, '{', '}', out, |(key, value), out| {
            write_key(key, out);
            out.push(':');
            write_value(value, out);
        }),
        Value::Node(node) => write_node(*node, out),
        Value::Graft(graft) => write_node(graft.node(), out),
    }
}

/// A node that is too large once its aliases are expanded is shown by its text.
fn write_node(node: NodeRef<'_>, out: &mut String) {
    match node.to_value() {
        Ok(value) => write_value(&value, out),
        Err(_) => write_string(node.text(), out),
    }
}

fn write_list<T>(
    items: &[T],
    open: char,
    close: char,
    out: &mut String,
    each: impl Fn(&T, &mut String),
) {
    out.push(open);
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        each(item, out);
    }
    out.push(close);
}

fn write_key(key: &Value<'_>, out: &mut String) {
    match key {
        Value::String(text) | Value::Number(text) => write_string(text, out),
        other => write_string(&write(other), out),
    }
}

/// Whether a number of YAML is spelled as JSON spells numbers.
fn is_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|text| digits(text.strip_prefix(['+', '-']).unwrap_or(text)))
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' || c == '\u{7f}' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_a_spelling_that_json_has() {
        for text in [
            "0",
            "-0",
            "12",
            "1.50",
            "1e3",
            "1.5E-07",
            "-12.0e+1",
            "123456789012345678901234567890",
        ] {
            assert!(is_number(text), "{text}");
        }
        for text in
            ["", "-", "01", "+1", "1.", ".5", "0x1f", "0o17", ".inf", "1e", "1e+", "1_000", "1.e3"]
        {
            assert!(!is_number(text), "{text}");
        }
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(write(&Value::from("a\"b\\\n\t\u{1}é")), r#""a\"b\\\n\t\u0001é""#);
    }

    #[test]
    fn keys_are_always_texts() {
        let keys = [
            Value::Null,
            Value::plain("1"),
            Value::Bool(true),
            Value::Sequence(vec![Value::from("a")]),
        ];
        let entries = keys.into_iter().map(|key| (key, Value::Null)).collect();
        assert_eq!(
            write(&Value::Mapping(entries)),
            r#"{"null":null,"1":null,"true":null,"[\"a\"]":null}"#
        );
    }
}
