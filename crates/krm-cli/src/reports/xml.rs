//! Text in XML.

use std::borrow::Cow;

use krm_core::print::visible_lines;

/// Escapes text for an attribute or an element. XML cannot represent control characters, so they are made visible.
pub(super) fn escape(text: &str) -> String {
    let visible: Cow<'_, str> = visible_lines(text);
    let mut escaped = String::with_capacity(visible.len());
    for c in visible.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
