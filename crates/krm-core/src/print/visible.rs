//! Text for people: characters that control a terminal or mislead a reader are escaped visibly.

use std::borrow::Cow;
use std::ops::Range;

/// A single line: control characters, line breaks and tabs included, are written as escapes such as `\u{1b}` or `\n`.
///
/// A name comes from a file that somebody else may have written. Printed as it is, it could move the cursor, change the title of the
/// terminal, reverse the order of characters, or begin a new line that looks like one of krm.
///
/// ```
/// use krm_core::print::visible_line;
///
/// assert_eq!(visible_line("web\u{1b}[2J\n[PASS]"), "web\\u{1b}[2J\\n[PASS]");
/// assert_eq!(visible_line("日本語"), "日本語");
/// ```
pub fn visible_line(text: &str) -> Cow<'_, str> {
    match text.contains(|c: char| c.is_control() || is_misleading(c)) {
        true => Cow::Owned(text.chars().flat_map(|c| Shown::of(c, true)).collect()),
        false => Cow::Borrowed(text),
    }
}

/// Several lines: the same, but line breaks and tabs are kept.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    match text.contains(|c: char| is_hidden_in_lines(c) || c == '\r') {
        true => Cow::Owned(escaped_lines(text)),
        false => Cow::Borrowed(text),
    }
}

/// The line of a log that people and programs read: a line that a CI system would take as a command is made inert.
///
/// GitHub Actions carries out lines that begin with `::`, and those that contain `##[`; Azure Pipelines those with `##vso[`.
pub fn log_line(line: &str) -> Cow<'_, str> {
    let line = visible_line(line);
    let indent = line.len() - line.trim_start().len();
    if line[indent..].starts_with("::") {
        return Cow::Owned(format!("{}\\u{{3a}}{}", &line[..indent], &line[indent + 1..]));
    }
    match has_commands(&line) {
        true => without_commands(&line).into_owned().into(),
        false => line,
    }
}

/// A text with the commands made inert that a CI system carries out wherever they are in a line.
pub fn without_commands(text: &str) -> Cow<'_, str> {
    match has_commands(text) {
        true => text.replace("##[", "\\u{23}#[").replace("##vso[", "\\u{23}#vso[").into(),
        false => Cow::Borrowed(text),
    }
}

fn has_commands(text: &str) -> bool {
    ["##[", "##vso["].iter().any(|command| text.contains(command))
}

/// The text behind the label of a message, such as `error: `. Its further lines are marked with a bar, so that none of them looks like
/// a line of krm.
pub fn log_text(text: &str) -> Cow<'_, str> {
    if !text.contains(|c: char| is_hidden_in_lines(c) || matches!(c, '\n' | '\r' | '#')) {
        return Cow::Borrowed(text);
    }
    let mut lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    // Behind a label no line begins.
    let first = format!("|{}", lines.next().unwrap_or_default());
    let mut shown = log_line(&first)[1..].to_owned();
    for line in lines {
        let bar = if line.trim_start().starts_with("| ") { "" } else { "| " };
        shown.push_str(&format!("\n{bar}{}", log_line(line)));
    }
    Cow::Owned(shown)
}

/// A source line with a marked range of bytes, for people: the text is escaped, and the range covers the same characters.
pub(crate) fn visible_range(text: &str, marked: &Range<usize>) -> Option<(String, Range<usize>)> {
    let end = text.trim_end_matches('\r').len();
    if !text[..end].contains(|c: char| is_hidden_in_lines(c) || c == '\r') {
        return None;
    }
    let mut shown = String::new();
    let mut range = 0..0;
    for (at, c) in text.char_indices() {
        if at <= marked.start {
            range.start = shown.len();
        }
        if at <= marked.end {
            range.end = shown.len();
        }
        shown.extend(Shown::of(c, c != '\t' && at < end));
    }
    for (bound, original) in [(&mut range.start, marked.start), (&mut range.end, marked.end)] {
        if original >= text.len() {
            *bound = shown.len();
        }
    }
    Some((shown, range))
}

fn escaped_lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let is_kept = match c {
            '\n' | '\t' => true,
            // The carriage return of a line break moves the cursor nowhere else.
            '\r' => chars.peek().is_none_or(|next| *next == '\n'),
            _ => false,
        };
        shown.extend(Shown::of(c, !is_kept));
    }
    shown
}

fn is_hidden_in_lines(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t' | '\r') || is_misleading(c)
}

/// Characters that change the direction of text, and separators that some programs take as line breaks.
fn is_misleading(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

/// A character, or its escape.
enum Shown {
    Plain(std::option::IntoIter<char>),
    Escaped(std::char::EscapeDefault),
}

impl Shown {
    fn of(c: char, is_escaped: bool) -> Self {
        match is_escaped && (c.is_control() || is_misleading(c)) {
            true => Self::Escaped(c.escape_default()),
            false => Self::Plain(Some(c).into_iter()),
        }
    }
}

impl Iterator for Shown {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        match self {
            Self::Plain(c) => c.next(),
            Self::Escaped(escape) => escape.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_and_direction_changes_are_escaped() {
        let text = "a\u{1b}]0;x\u{7}\u{9b}2J\u{7f}\u{202e}\u{2066}\u{2028}\u{85}\r\n\tb";
        let line = "a\\u{1b}]0;x\\u{7}\\u{9b}2J\\u{7f}\\u{202e}\\u{2066}\\u{2028}\\u{85}";
        assert_eq!(visible_line(text), format!("{line}\\r\\n\\tb"));
        assert_eq!(visible_lines(text), format!("{line}\r\n\tb"));
        assert_eq!(visible_lines("a\rb\r"), "a\\rb\r");
        assert!(matches!(visible_line("a é 日本 🎉"), Cow::Borrowed(_)));
        assert!(matches!(visible_lines("a\n\tb\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn commands_of_ci_systems_are_inert() {
        assert_eq!(log_line("::error::x"), "\\u{3a}:error::x");
        assert_eq!(log_line("  ::stop-commands::x"), "  \\u{3a}:stop-commands::x");
        assert_eq!(log_line("a\n::error::x"), "a\\n::error::x");
        assert_eq!(log_line("a ##[error]x ##vso[b]"), "a \\u{23}#[error]x \\u{23}#vso[b]");
        assert_eq!(log_line("a::b: 1"), "a::b: 1");
        assert_eq!(log_text("::a\n ::b\u{1b}\r\nc"), "::a\n|  \\u{3a}:b\\u{1b}\n| c");
        assert_eq!(log_text("a ##[b]"), "a \\u{23}#[b]");
    }

    #[test]
    fn marked_range_covers_the_same_characters() {
        let text = "a: \u{1b}x\u{9b}y z";
        let mark = |marked: &str| {
            let start = text.find(marked).unwrap();
            let (shown, range) = visible_range(text, &(start..start + marked.len())).unwrap();
            shown[range].to_owned()
        };
        assert_eq!(mark("\u{1b}x\u{9b}y"), "\\u{1b}x\\u{9b}y");
        assert_eq!(mark("y z"), "y z");
        assert_eq!(mark("a"), "a");
        assert_eq!(visible_range("a: 1", &(3..4)), None);
        assert_eq!(visible_range("a\u{1b}", &(2..2)).unwrap().1, 7..7);
    }
}
