//! Writes scalars, in the old style if that can represent the value.

use super::{ScalarType, resolve, resolve_1_1};
use crate::node::ScalarStyle;

/// The context that a scalar is written in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScalarContext {
    /// In a flow collection.
    pub(crate) flow: bool,
    /// As a key of a mapping.
    pub(crate) key: bool,
    /// In a JSON file, where every string is double-quoted.
    pub(crate) json: bool,
    /// The preferred quote.
    pub(crate) quote: char,
    /// The indentation of a block scalar, if one is possible.
    pub(crate) block: Option<BlockScalarIndent>,
}

/// The indentation of the lines of a block scalar.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockScalarIndent {
    pub(crate) column: u32,
    /// The column relative to the parent.
    pub(crate) width: u32,
    /// Whether the header has an indentation indicator.
    pub(crate) explicit: bool,
    /// Whether the file ends with it, without a line break.
    pub(crate) ends_file: bool,
}

/// The text of a scalar: the head goes on the line of the key, the lines below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScalarText {
    pub(crate) head: String,
    /// The indented lines of a block scalar; empty for other styles.
    pub(crate) lines: Vec<String>,
}

impl ScalarText {
    fn inline(head: String) -> Self {
        Self { head, lines: Vec::new() }
    }
}

/// Writes a string in the style `old`, or the closest one that can represent it.
pub(crate) fn write_scalar(text: &str, old: ScalarStyle, context: ScalarContext) -> ScalarText {
    if context.json {
        return ScalarText::inline(double_quoted(text));
    }
    let wants_lines = match old {
        ScalarStyle::Literal | ScalarStyle::Folded => !text.is_empty(),
        ScalarStyle::DoubleQuoted => false,
        ScalarStyle::Plain | ScalarStyle::SingleQuoted => text.contains('\n') && ends_simply(text),
    };
    if wants_lines
        && !context.flow
        && !context.key
        && let Some(place) = context.block
        && fits_block(text, old)
        && !(place.ends_file && text.ends_with('\n'))
    {
        return block(text, old, place);
    }
    let head = match old {
        ScalarStyle::DoubleQuoted => double_quoted(text),
        ScalarStyle::SingleQuoted if is_printable_line(text) => single_quoted(text),
        ScalarStyle::Plain => write_plain_or_quoted(text, context),
        _ => quoted(text, context.quote),
    };
    ScalarText::inline(head)
}

/// Writes a string plain if YAML 1.1 and 1.2 readers take it for that string, and quoted otherwise.
pub(crate) fn write_plain_or_quoted(text: &str, context: ScalarContext) -> String {
    if !context.json && is_plain(text, context.flow, context.key) {
        text.to_owned()
    } else if context.json {
        double_quoted(text)
    } else {
        quoted(text, context.quote)
    }
}

fn quoted(text: &str, quote: char) -> String {
    if quote == '\'' && is_printable_line(text) { single_quoted(text) } else { double_quoted(text) }
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_double_quoted(text, &mut out);
    out
}

/// Appends a string as a double-quoted scalar on one line. It only has escape sequences that JSON has, too, so it is valid JSON and YAML.
///
/// ```
/// let mut out = String::new();
/// krm_yaml::write_double_quoted("a \"b\"\n\u{85}", &mut out);
/// assert_eq!(out, r#""a \"b\"\n\u0085""#);
/// ```
pub fn write_double_quoted(text: &str, out: &mut String) {
    out.push('"');
    let mut start = 0;
    for (at, c) in text.char_indices() {
        if is_printable(c) && !matches!(c, '"' | '\\') {
            continue;
        }
        out.push_str(&text[start..at]);
        start = at + c.len_utf8();
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push_str(&text[start..]);
    out.push('"');
}

/// Whether a character can be written in a scalar without an escape sequence, on one line.
pub(crate) fn is_printable(c: char) -> bool {
    match c {
        '\u{2028}' | '\u{2029}' | '\u{feff}' => false,
        ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' => true,
        c => c >= '\u{10000}',
    }
}

fn is_printable_line(text: &str) -> bool {
    text.chars().all(is_printable)
}

/// At most one line break at the end.
fn ends_simply(text: &str) -> bool {
    !text.ends_with("\n\n")
}

fn fits_block(text: &str, old: ScalarStyle) -> bool {
    // Trailing spaces are invisible in a block scalar, and editors remove them.
    let hides_blanks = !old.is_block() && text.lines().any(|line| line.ends_with([' ', '\t']));
    let printable = text.chars().all(|c| c == '\n' || c == '\t' || is_printable(c));
    let content = text.trim_end_matches('\n');
    // A first or last line of only spaces would be read as indentation.
    let blank_edges = content.lines().next().is_none_or(|line| line.trim().is_empty())
        || content.lines().last().is_none_or(|line| line.trim().is_empty());
    printable && !content.is_empty() && !blank_edges && !hides_blanks
}

fn block(text: &str, old: ScalarStyle, place: BlockScalarIndent) -> ScalarText {
    let content = text.trim_end_matches('\n');
    let breaks = text.len() - content.len();
    let folds =
        old == ScalarStyle::Folded && !content.lines().any(|line| line.starts_with([' ', '\t']));
    let mut head = String::from(if folds { ">" } else { "|" });
    if place.explicit || content.starts_with([' ', '\t']) {
        head.push_str(&place.width.to_string());
    }
    match breaks {
        0 if place.ends_file && old.is_block() => {}
        0 => head.push('-'),
        1 => {}
        _ => head.push('+'),
    }
    let indent = " ".repeat(place.column as usize);
    let mut lines = Vec::new();
    let mut after_text = false;
    for line in content.split('\n') {
        if folds && after_text {
            lines.push(String::new());
        }
        after_text = !line.is_empty();
        lines.push(if line.is_empty() { String::new() } else { format!("{indent}{line}") });
    }
    lines.extend(std::iter::repeat_n(String::new(), breaks.saturating_sub(1)));
    ScalarText { head, lines }
}

/// Whether a string can be written without quotes and is the same string in YAML 1.1 and 1.2.
pub(crate) fn is_plain(text: &str, flow: bool, key: bool) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let second = text[first.len_utf8()..].chars().next();
    let opens_well = match first {
        // Compat: Kubernetes reads `?` and `:` in flow collections as indicators, whatever follows.
        '?' | ':' if flow => false,
        '-' | '?' | ':' => second.is_some_and(|c| c != ' ' && !(flow && is_flow_indicator(c))),
        ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
        | '@' | '`' | ' ' => false,
        _ => true,
    };
    let is_text = resolve(text) == ScalarType::String && resolve_1_1(text) == ScalarType::String;
    opens_well
        && is_text
        && !matches!(text, "<<" | "=")
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !(flow && text.chars().any(|c| is_flow_indicator(c) || c == '?'))
        && !(flow && text.contains(':') && text.contains(['\'', '"']))
        && !(key && text.len() > 1000)
        && !text.starts_with("---")
        && !text.starts_with("...")
        && !looks_like_a_number(text)
        && is_printable_line(text)
}

fn is_flow_indicator(c: char) -> bool {
    matches!(c, ',' | '[' | ']' | '{' | '}')
}

/// Whether some YAML readers take a string for a date or a number, although neither schema does.
fn looks_like_a_number(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &text[digits..];
    let is_date = digits == 4
        && rest.starts_with('-')
        && rest[1..].bytes().take_while(u8::is_ascii_digit).count() >= 1
        && text.bytes().all(|b| b.is_ascii_digit() || b"-:.TtZz +".contains(&b));
    let unsigned = text.trim_start_matches(['-', '+']);
    let is_prefixed =
        ["0x", "0X", "0o", "0O", "0b", "0B"].iter().any(|prefix| unsigned.starts_with(prefix));
    let spelled = is_prefixed
        && unsigned.len() > 2
        && unsigned[2..].bytes().all(|b| b.is_ascii_hexdigit() || b == b'_');
    let underscored = text.contains('_')
        && unsigned.starts_with(|c: char| c.is_ascii_digit())
        && unsigned.bytes().all(|b| b.is_ascii_digit() || b"_.eE+-".contains(&b));
    is_date || spelled || underscored
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: BlockScalarIndent =
        BlockScalarIndent { column: 2, width: 2, explicit: false, ends_file: false };
    const VALUE: ScalarContext =
        ScalarContext { flow: false, key: false, json: false, quote: '"', block: Some(PLACE) };

    #[test]
    fn ambiguous_strings_are_quoted() {
        let quoted = [
            "",
            "yes",
            "On",
            "n",
            "0o17",
            "017",
            "1_000",
            "12:30",
            ".inf",
            "~",
            "null",
            "1e3",
            "2001-12-14",
            "0b1",
            "a: b",
            "a #b",
            "- a",
            "#a",
            "@a",
            "a:",
            "---",
            "<<",
            "=",
            " a",
            "a ",
            "\u{feff}x",
        ];
        for text in quoted {
            let written = write_plain_or_quoted(text, VALUE);
            assert!(written.starts_with('"'), "{text:?} gave {written}");
        }
        for text in [
            "a",
            "a:b",
            "a#b",
            "-a",
            "http://x",
            "1.2.3",
            "10m",
            "$x",
            "a,b",
            "é",
            "nginx:1.8.1",
            "v1_2",
        ] {
            assert_eq!(write_plain_or_quoted(text, VALUE), text);
        }
        assert_eq!(write_plain_or_quoted("a,b", ScalarContext { flow: true, ..VALUE }), "\"a,b\"");
    }

    #[test]
    fn style_is_kept_if_it_can_represent_the_value() {
        let write = |text: &str, old| write_scalar(text, old, VALUE).head;
        assert_eq!(write("it's", ScalarStyle::SingleQuoted), "'it''s'");
        assert_eq!(write("a\tb", ScalarStyle::SingleQuoted), "\"a\\tb\"");
        assert_eq!(write("x", ScalarStyle::DoubleQuoted), "\"x\"");
        let block = write_scalar("a\n\n b\n", ScalarStyle::Folded, VALUE);
        assert_eq!(
            (block.head.as_str(), block.lines),
            ("|", vec!["  a".into(), String::new(), "   b".into()])
        );
        let folded = write_scalar("a\nb\n\nc", ScalarStyle::Folded, VALUE);
        assert_eq!(folded.head, ">-");
        assert_eq!(folded.lines, ["  a", "", "  b", "", "", "  c"]);
    }
}
