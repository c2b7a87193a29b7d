//! Writing values as compact JSON.

use std::borrow::Cow;

use krm_yaml::{EditErrorKind, ExpansionError, NodeRef, ScalarType, Value, write_double_quoted};

use crate::Diagnostic;

/// No further node is expanded after so many bytes. Each of them has its own limit, but there may be very many.
const MAX_BEFORE_NODE: usize = 256 << 20;

/// Why a value has no JSON form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonError {
    /// A number that JSON does not have, such as `.inf`, or `017`, which YAML 1.1 and 1.2 read differently.
    Number(String),
    /// Aliases that expand to too much.
    Expansion(ExpansionError),
}

impl From<JsonError> for EditErrorKind {
    fn from(error: JsonError) -> Self {
        match error {
            JsonError::Number(number) => Self::NotJson { number: number.into() },
            JsonError::Expansion(error) => Self::from(error),
        }
    }
}

impl std::fmt::Display for JsonError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        EditErrorKind::from(self.clone()).fmt(f)
    }
}

/// Writes a value as JSON on one line without spaces.
///
/// A number keeps its spelling if that is valid JSON, and is converted if possible. A key that is not a string becomes the string of
/// its JSON.
///
/// ```
/// use krm_core::print::json;
/// use krm_yaml::Value;
///
/// let value = Value::Mapping(vec![(Value::from("n"), Value::plain("1.50")), (Value::from("h"), Value::plain("0x1f"))]);
/// assert_eq!(json::write(&value).as_deref(), Ok(r#"{"n":1.50,"h":31}"#));
/// assert!(json::write(&Value::plain(".inf")).is_err());
/// ```
///
/// # Errors
/// JSON cannot represent the value.
pub fn write(value: &Value<'_>) -> Result<String, JsonError> {
    let writer = Writer::of(value, false);
    writer.error.map_or(Ok(writer.out), Err)
}

/// Like [`write()`] for a node; the error has the location of the scalar that has no JSON form.
///
/// # Errors
/// JSON cannot represent the value.
pub fn of_node(node: NodeRef<'_>) -> Result<String, Diagnostic> {
    write(&Value::Node(node)).map_err(|error| {
        let found = unrepresentable_number(node).unwrap_or(node);
        let kind = EditErrorKind::from(error);
        Diagnostic::error(kind).at(node.document().file(), found.span())
    })
}

/// The first number in a node that JSON does not have. Aliases are not followed: their targets may be large, and are part of the document.
pub(crate) fn unrepresentable_number(node: NodeRef<'_>) -> Option<NodeRef<'_>> {
    node.descendants().find(|it| {
        it.as_scalar().is_some_and(|scalar| match scalar.resolve() {
            ScalarType::Int(_) | ScalarType::Float(_) => json_number(&scalar.value()).is_none(),
            _ => false,
        })
    })
}

/// Like [`write()`], but for YAML parsers: numbers that JSON cannot represent are copied.
///
/// ```
/// use krm_core::print::json;
/// use krm_yaml::Value;
///
/// let list = Value::Sequence(vec![Value::plain(".inf"), Value::string(".inf")]);
/// assert_eq!(json::flow(&list).as_deref(), Ok(r#"[.inf,".inf"]"#));
/// ```
///
/// # Errors
/// Aliases expand to too much.
pub fn flow(value: &Value<'_>) -> Result<String, ExpansionError> {
    let writer = Writer::of(value, true);
    match writer.error {
        Some(JsonError::Expansion(error)) => Err(error),
        _ => Ok(writer.out),
    }
}

/// Like [`flow()`], but for messages and comparisons: what expands to too much is shown as its source text. Not for data.
///
/// ```
/// use krm_core::print::json;
/// use krm_yaml::Value;
///
/// assert_eq!(json::display(&Value::plain(".inf")), ".inf");
/// ```
pub fn display(value: &Value<'_>) -> String {
    Writer::of(value, true).out
}

/// A string as JSON, which is also valid YAML.
pub fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_double_quoted(text, &mut out);
    out
}

/// The output so far.
struct Writer {
    out: String,
    /// Whether numbers that are not valid JSON are copied.
    keeps_numbers: bool,
    /// Why the output does not represent the value.
    error: Option<JsonError>,
}

impl Writer {
    fn of(value: &Value<'_>, keeps_numbers: bool) -> Self {
        let mut writer = Self { out: String::new(), keeps_numbers, error: None };
        writer.value(value);
        writer
    }

    fn value(&mut self, value: &Value<'_>) {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Value::Number(text) => self.number(text),
            Value::String(text) => write_double_quoted(text, &mut self.out),
            Value::Sequence(items) => write_list(items, ['[', ']'], self, |it, out| out.value(it)),
            Value::Mapping(entries) => {
                write_list(entries, ['{', '}'], self, |(key, value), out| {
                    out.key(key);
                    out.out.push(':');
                    out.value(value);
                });
            }
            Value::Node(node) => self.node(*node),
            Value::OwnedNode(graft) => self.node(graft.node()),
        }
    }

    fn number(&mut self, text: &str) {
        match json_number(text) {
            Some(number) => self.out.push_str(&number),
            None if self.keeps_numbers => self.out.push_str(text),
            None => {
                self.error.get_or_insert_with(|| JsonError::Number(text.to_owned()));
            }
        }
    }

    /// Writes a node. If its aliases expand to too much, its source text is written as a string.
    fn node(&mut self, node: NodeRef<'_>) {
        let too_large = self.out.len() > MAX_BEFORE_NODE;
        let value = match too_large {
            true => Err(ExpansionError::Bytes(MAX_BEFORE_NODE)),
            false => node.to_value(),
        };
        match value {
            Ok(value) => self.value(&value),
            Err(error) => {
                self.error.get_or_insert(JsonError::Expansion(error));
                write_double_quoted(node.text(), &mut self.out);
            }
        }
    }

    fn key(&mut self, key: &Value<'_>) {
        match key {
            Value::String(text) | Value::Number(text) => write_double_quoted(text, &mut self.out),
            other => {
                let key = Self::of(other, self.keeps_numbers);
                self.error = self.error.take().or(key.error);
                write_double_quoted(&key.out, &mut self.out);
            }
        }
    }
}

impl std::fmt::Write for Writer {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.out.write_str(text)
    }
}

/// Writes items between delimiters, separated by commas.
pub(crate) fn write_list<T, W: std::fmt::Write>(
    items: &[T],
    delimiters: [char; 2],
    out: &mut W,
    mut each: impl FnMut(&T, &mut W),
) {
    // Writing to a string cannot fail.
    let _ = out.write_char(delimiters[0]);
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            let _ = out.write_char(',');
        }
        each(item, out);
    }
    let _ = out.write_char(delimiters[1]);
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
        assert_eq!(string("a\"b\\\n\t\u{1}é"), r#""a\"b\\\n\t\u0001é""#);
        assert_eq!(string("\u{85}\u{2028}\u{2029}"), r#""\u0085\u2028\u2029""#);
    }

    #[test]
    fn output_is_valid_yaml() {
        let odd = "\u{7f}\u{80}\u{85}\u{9f}\u{a0}\u{2028}\u{feff}\u{fffe}\u{ffff}\u{10ffff}";
        let file = krm_yaml::File::parse(string(odd)).unwrap();
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
            display(&Value::Mapping(entries)),
            r#"{"null":null,"1":null,"true":null,"[\"a\"]":null}"#
        );
    }
}
