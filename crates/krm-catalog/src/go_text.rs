//! Characters and string literals as Go's `strconv` writes them.

/// Whether a character is printable: letters, marks, numbers, punctuation, symbols and the ASCII space.
fn is_printable(c: char) -> bool {
    // The standard library has the table only behind `escape_debug`, which escapes marks at the beginning of a string as well.
    matches!(c, '\'' | '"' | '\\')
        || ['a', c].iter().collect::<String>().escape_debug().count() == 2
}

/// A string as a literal in double quotes.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            c => push_escaped(c, &mut out),
        }
    }
    out.push('"');
    out
}

/// A character as it is, or as an escape. Quotes are not escaped.
pub(crate) fn push_escaped(c: char, out: &mut String) {
    match c {
        '\\' => out.push_str("\\\\"),
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{b}' => out.push_str("\\v"),
        ' '..='~' => out.push(c),
        c if c < ' ' || c == '\u{7f}' => out.push_str(&format!("\\x{:02x}", u32::from(c))),
        c if is_printable(c) => out.push(c),
        c if u32::from(c) < 0x10000 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
        c => out.push_str(&format!("\\U{:08x}", u32::from(c))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_and_other_spaces_are_escaped() {
        assert!("aé日😀\u{301}~'\"\\ ".chars().all(is_printable));
        assert!(!"\n\u{7f}\u{a0}\u{200b}\u{2028}\u{e000}".chars().any(is_printable));
        assert_eq!(quote("a\"é\n\u{7f}\u{200b}\u{e0001}"), r#""a\"é\n\x7f\u200b\U000e0001""#);
    }
}
