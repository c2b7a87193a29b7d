//! Values as compact JSON text.

use std::borrow::Cow;
use std::fmt::Write as _;

use krm_yaml::{NodeRef, ScalarType, Value};

/// Writes a value as JSON on one line, without spaces, to be shown or compared.
///
/// A number keeps the spelling that it was read with where that is JSON, and is spelled anew where JSON has one for it.
/// What JSON cannot say (`.inf`, or `017`, which is not the same number to all readers) becomes a text: who writes data
/// takes [`exact`] or [`flow`]. A key that is no text becomes the text of its JSON.
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

/// The same, but none where JSON cannot say what the value is.
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

/// The same for readers of YAML: a number that JSON cannot say stays the number that it is.
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

/// A text that grows.
struct Writer {
    out: String,
    /// Whether numbers that are none in JSON are written as they are.
    keeps_numbers: bool,
    /// Whether all that was written is what was meant.
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
        match spelled(text) {
            Some(number) => self.out.push_str(&number),
            None if self.keeps_numbers => self.out.push_str(text),
            None => {
                self.is_exact = false;
                write_string(text, &mut self.out);
            }
        }
    }

    /// A node that is too large once its aliases are expanded is shown by its text.
    fn node(&mut self, node: NodeRef<'_>) {
        match node.to_value() {
            Ok(value) => self.value(&value),
            Err(_) => {
                self.is_exact = false;
                write_string(node.text(), &mut self.out);
            }
        }
    }

    fn list<T>(&mut self, items: &[T], brackets: [char; 2], each: impl Fn(&mut Self, &T)) {
        self.out.push(brackets[0]);
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            each(self, item);
        }
        self.out.push(brackets[1]);
    }

    fn key(&mut self, key: &Value<'_>) {
        match key {
            Value::String(text) | Value::Number(text) => write_string(text, &mut self.out),
            other => write_string(&write(other), &mut self.out),
        }
    }
}

/// A number of YAML as JSON spells it; none where it has no spelling, or where readers do not agree on the number.
fn spelled(text: &str) -> Option<Cow<'_, str>> {
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

/// A number with a fraction, with all its digits: `+.5` is `0.5`, `1.e3` is `1.0e3`.
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

/// Whether a number of YAML is spelled as JSON spells numbers.
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
            // Readers of YAML take none of these as they are, so they would not read what was written here.
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
    fn a_number_in_another_spelling_is_the_same_number() {
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
            assert_eq!(spelled(text).as_deref(), Some(number), "{text}");
        }
        for text in
            [".inf", "-.Inf", ".nan", "017", "1_000", "0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"]
        {
            assert_eq!(spelled(text), None, "{text}");
        }
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(write(&Value::from("a\"b\\\n\t\u{1}é")), r#""a\"b\\\n\t\u0001é""#);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let odd = "\u{7f}\u{80}\u{85}\u{9f}\u{a0}\u{2028}\u{feff}\u{fffe}\u{ffff}\u{10ffff}";
        let file = krm_yaml::File::parse(write(&Value::from(odd))).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        assert_eq!(root.as_scalar().unwrap().value(), odd);
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
