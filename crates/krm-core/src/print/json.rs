//! Writing values as compact JSON.

use std::borrow::Cow;
use std::fmt::Write as _;

use krm_yaml::{NodeRef, ScalarType, Value};

/// Writes a value as JSON on one line without spaces, for messages and comparisons.
///
/// A number keeps its spelling if that is valid JSON, and is converted if possible. Numbers that JSON cannot represent (`.inf`, or
/// `017`, which YAML 1.1 and 1.2 read differently) become strings; use [`exact`] or [`flow`] for data. A key that is not a string
/// becomes the string of its JSON.
///
/// ```
/// use krm_core::print::json;
/// use krm_yaml::Value;
///
/// let value = Value::Mapping(vec![(Value::from("n"), Value::plain("1.50")), (Value::from("h"), Value::plain("0x1f"))]);
/// assert_eq!(json::write(&value), r#"{"n":1.50,"h":31}"#);
/// assert_eq!(json::write(&Value::plain(".inf")), r#"".inf""#);
/// ```
pub fn write(value: &Value<'_>) -> String {
    Writer::of(value).out
}

/// Like [`write()`], but none if JSON cannot represent the value.
///
/// ```
/// use krm_core::print::json;
/// use krm_yaml::Value;
///
/// assert_eq!(json::exact(&Value::plain("0x1f")).as_deref(), Some("31"));
/// assert_eq!(json::exact(&Value::plain(".inf")), None);
/// ```
pub fn exact(value: &Value<'_>) -> Option<String> {
    let writer = Writer::of(value);
    writer.is_exact.then_some(writer.out)
}

/// Like [`write()`], but for YAML parsers: numbers that JSON cannot represent are copied.
///
/// ```
/// use krm_core::print::json;
/// use krm_yaml::Value;
///
/// let list = Value::Sequence(vec![Value::plain(".inf"), Value::string(".inf")]);
/// assert_eq!(json::flow(&list), r#"[.inf,".inf"]"#);
/// ```
pub fn flow(value: &Value<'_>) -> String {
    let mut writer = Writer { keeps_numbers: true, ..Writer::new() };
    writer.value(value);
    writer.out
}

/// The output so far.
struct Writer {
    out: String,
    /// Whether numbers that are not valid JSON are copied.
    keeps_numbers: bool,
    /// Whether the output represents the value exactly.
    is_exact: bool,
}

impl Writer {
    fn new() -> Self {
        Self { out: String::new(), keeps_numbers: false, is_exact: true }
    }

    fn of(value: &Value<'_>) -> Self {
        let mut writer = Self::new();
        writer.value(value);
        writer
    }

    fn value(&mut self, value: &Value<'_>) {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Value::Number(text) => self.number(text),
            Value::String(text) => write_string(text, &mut self.out),
            Value::Sequence(items) => self.list(items, ['[', ']'], Self::value),
            Value::Mapping(entries) => self.list(entries, ['{', '}'], |it, (key, value)| {
                it.key(key);
                it.out.push(':');
                it.value(value);
            }),
            Value::Node(node) => self.node(*node),
            Value::OwnedNode(graft) => self.node(graft.node()),
        }
    }

    fn number(&mut self, text: &str) {
        match json_number(text) {
            Some(number) => self.out.push_str(&number),
            None if self.keeps_numbers => self.out.push_str(text),
            None => {
                self.is_exact = false;
                write_string(text, &mut self.out);
            }
        }
    }

    /// Writes a node. If its aliases expand to too many nodes, its source text is written as a string.
    fn node(&mut self, node: NodeRef<'_>) {
        match node.to_value() {
            Ok(value) => self.value(&value),
            Err(_) => {
                self.is_exact = false;
                write_string(node.text(), &mut self.out);
            }
        }
    }

    fn list<T>(&mut self, items: &[T], delimiters: [char; 2], each: impl Fn(&mut Self, &T)) {
        self.out.push(delimiters[0]);
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            each(self, item);
        }
        self.out.push(delimiters[1]);
    }

    fn key(&mut self, key: &Value<'_>) {
        match key {
            Value::String(text) | Value::Number(text) => write_string(text, &mut self.out),
            other => write_string(&write(other), &mut self.out),
        }
    }
}

/// A YAML number as JSON; none if JSON cannot represent it, or if YAML 1.1 and 1.2 read different numbers.
fn json_number(text: &str) -> Option<Cow<'_, str>> {
    if is_number(text) {
        return Some(Cow::Borrowed(text));
    }
    let resolved = ScalarType::of_plain(text);
    if resolved != ScalarType::of_plain_1_1(text) && !text.starts_with("0o") {
        return None;
    }
    match resolved {
        ScalarType::Int(Some(value)) => Some(Cow::Owned(value.to_string())),
        ScalarType::Float(value) if value.is_finite() => fraction(text).map(Cow::Owned),
        _ => None,
    }
}

/// A decimal number with all its digits: `+.5` is `0.5`, `1.e3` is `1.0e3`.
fn fraction(text: &str) -> Option<String> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |text| ("-", text));
    let (mantissa, exponent) = text.split_at(text.find(['e', 'E']).unwrap_or(text.len()));
    let (whole, digits) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let whole = whole.trim_start_matches('0');
    let or_zero = |digits| if str::is_empty(digits) { "0" } else { digits };
    let number = format!("{sign}{}.{}{exponent}", or_zero(whole), or_zero(digits));
    is_number(&number).then_some(number)
}

/// Whether a string is a JSON number.
pub(crate) fn is_number(text: &str) -> bool {
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
            // These characters are not allowed in YAML, and the output must also be valid YAML.
            c if c.is_control() || matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}') => {
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
    fn json_numbers_are_recognized() {
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
    fn yaml_numbers_are_converted_to_json() {
        for (text, number) in [
            ("0x1F", "31"),
            ("0o17", "15"),
            ("+1", "1"),
            (".5", "0.5"),
            ("-.5", "-0.5"),
            ("1.", "1.0"),
            ("+1.e3", "1.0e3"),
            ("007.50", "7.50"),
        ] {
            assert_eq!(json_number(text).as_deref(), Some(number), "{text}");
        }
        for text in
            [".inf", "-.Inf", ".nan", "017", "1_000", "0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"]
        {
            assert_eq!(json_number(text), None, "{text}");
        }
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(write(&Value::from("a\"b\\\n\t\u{1}é")), r#""a\"b\\\n\t\u0001é""#);
    }

    #[test]
    fn output_is_valid_yaml() {
        let odd = "\u{7f}\u{80}\u{85}\u{9f}\u{a0}\u{2028}\u{feff}\u{fffe}\u{ffff}\u{10ffff}";
        let file = krm_yaml::File::parse(write(&Value::from(odd))).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        assert_eq!(root.as_scalar().unwrap().value(), odd);
    }

    #[test]
    fn keys_are_always_strings() {
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
