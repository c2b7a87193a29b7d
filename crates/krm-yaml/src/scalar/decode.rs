//! Decodes the text of a scalar.

use std::borrow::Cow;

use crate::node::ScalarStyle;
use crate::span::{is_blank, is_break};

/// The value of a scalar. `indent` is the content indentation of a block scalar; `is_ended`: a line break follows it.
pub(crate) fn decode(raw: &str, style: ScalarStyle, indent: u32, is_ended: bool) -> Cow<'_, str> {
    match style {
        ScalarStyle::Plain if !has_break(raw) => Cow::Borrowed(raw),
        ScalarStyle::Plain => Cow::Owned(fold_flow(raw)),
        ScalarStyle::SingleQuoted => single_quoted(inner(raw)),
        ScalarStyle::DoubleQuoted => double_quoted(inner(raw)),
        ScalarStyle::Literal => Cow::Owned(literal(raw, indent, is_ended)),
        ScalarStyle::Folded => Cow::Owned(folded(raw, indent, is_ended)),
    }
}

/// The lines of a text, without their breaks; a trailing break gives a last empty line.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        match text.bytes().position(is_break) {
            Some(at) => {
                rest = Some(&text[crate::span::after_break(text, at as u32) as usize..]);
                Some(&text[..at])
            }
            None => {
                rest = None;
                Some(text)
            }
        }
    })
}

fn has_break(text: &str) -> bool {
    text.bytes().any(is_break)
}

fn inner(raw: &str) -> &str {
    raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default()
}

/// Joins the lines of a plain or single-quoted scalar.
fn fold_flow(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut empty = 0;
    let mut all = lines(text).peekable();
    let mut first = true;
    while let Some(line) = all.next() {
        let line = if first { line } else { line.trim_start_matches([' ', '\t']) };
        let line = if all.peek().is_some() { line.trim_end_matches([' ', '\t']) } else { line };
        if first {
            first = false;
        } else if line.is_empty() && all.peek().is_some() {
            empty += 1;
            continue;
        } else if empty == 0 {
            out.push(' ');
        } else {
            out.extend(std::iter::repeat_n('\n', empty));
            empty = 0;
        }
        out.push_str(line);
    }
    out
}

fn single_quoted(inner: &str) -> Cow<'_, str> {
    let folded = if has_break(inner) { Cow::Owned(fold_flow(inner)) } else { Cow::Borrowed(inner) };
    if folded.contains("''") { Cow::Owned(folded.replace("''", "'")) } else { folded }
}

fn double_quoted(inner: &str) -> Cow<'_, str> {
    if !inner.bytes().any(|b| b == b'\\' || is_break(b)) {
        return Cow::Borrowed(inner);
    }
    let mut out = String::with_capacity(inner.len());
    // Spaces after this length of `out` are literal, and removed at a line break.
    let mut solid = 0;
    let mut rest = inner;
    while let Some(next) = rest.chars().next() {
        match next {
            '\\' => {
                rest = escape(&rest[1..], &mut out);
                solid = out.len();
            }
            '\n' | '\r' => {
                out.truncate(solid.max(out.trim_end_matches([' ', '\t']).len()));
                let breaks;
                (breaks, rest) = skip_breaks(rest);
                match breaks {
                    1 => out.push(' '),
                    more => out.extend(std::iter::repeat_n('\n', more - 1)),
                }
                solid = out.len();
            }
            other => {
                out.push(other);
                rest = &rest[other.len_utf8()..];
            }
        }
    }
    Cow::Owned(out)
}

/// Skips line breaks and the spaces after each; returns the number of line breaks.
fn skip_breaks(mut rest: &str) -> (usize, &str) {
    let mut breaks = 0;
    loop {
        let after = crate::span::after_break(rest, 0) as usize;
        if after == 0 {
            return (breaks, rest);
        }
        breaks += 1;
        rest = rest[after..].trim_start_matches(is_blank_char);
    }
}

fn is_blank_char(c: char) -> bool {
    u8::try_from(c).is_ok_and(is_blank)
}

/// Decodes one escape sequence after its backslash; returns the rest.
fn escape<'a>(rest: &'a str, out: &mut String) -> &'a str {
    let Some(code) = rest.chars().next() else { return rest };
    let after = &rest[code.len_utf8()..];
    let plain = match code {
        '0' => '\0',
        'a' => '\x07',
        'b' => '\x08',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\x0b',
        'f' => '\x0c',
        'r' => '\r',
        'e' => '\x1b',
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        'x' => return hex(after, 2, out),
        'u' => return hex(after, 4, out),
        'U' => return hex(after, 8, out),
        '\n' | '\r' => {
            // An escaped line break is dropped; empty lines after it are not.
            let (breaks, rest) = skip_breaks(rest);
            out.extend(std::iter::repeat_n('\n', breaks - 1));
            return rest;
        }
        other => other,
    };
    out.push(plain);
    after
}

fn hex<'a>(rest: &'a str, digits: usize, out: &mut String) -> &'a str {
    let read = |text: &str| text.get(..digits).and_then(|hex| u32::from_str_radix(hex, 16).ok());
    let Some(code) = read(rest) else { return rest };
    let after = &rest[digits..];
    // JSON writes characters beyond 16 bits as a surrogate pair.
    if (0xd800..0xdc00).contains(&code)
        && let Some(low) = after.strip_prefix("\\u").and_then(read)
        && (0xdc00..0xe000).contains(&low)
    {
        out.extend(char::from_u32(0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)));
        return &after[2 + digits..];
    }
    out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
    after
}

/// The indicators after `|` or `>`.
struct Header {
    keep: bool,
    strip: bool,
}

/// Splits a block scalar into its header and its lines of content, dedented.
fn block_lines<'a>(raw: &'a str, indent: u32, is_ended: bool) -> (Header, Vec<&'a str>) {
    let mut all = lines(raw);
    let head = all.next().unwrap_or_default();
    let marks: &str = head.get(1..).unwrap_or_default();
    let marks = &marks[..marks.find([' ', '\t', '#']).unwrap_or(marks.len())];
    // Spec: §8.1.1.2, a last line without a line break has none to keep. A last line of only spaces counts as ended: the yaml-test-suite
    // expects that (L24T, JEF9).
    let is_ended = is_ended || raw.ends_with([' ', '\n', '\r']);
    let header = Header { keep: marks.contains('+'), strip: marks.contains('-') || !is_ended };
    let dedent = |line: &'a str| {
        let spaces = line.bytes().take_while(|&b| b == b' ').count();
        &line[spaces.min(indent as usize)..]
    };
    (header, all.map(dedent).collect())
}

fn literal(raw: &str, indent: u32, is_ended: bool) -> String {
    let (header, content) = block_lines(raw, indent, is_ended);
    let mut out = content.join("\n");
    if !content.is_empty() && !header.strip {
        out.push('\n');
    }
    out
}

fn folded(raw: &str, indent: u32, is_ended: bool) -> String {
    let (header, content) = block_lines(raw, indent, is_ended);
    let mut out = String::with_capacity(raw.len());
    let mut empty = 0;
    let mut last: Option<&str> = None;
    for line in &content {
        if line.is_empty() {
            empty += 1;
            continue;
        }
        match last {
            None => out.extend(std::iter::repeat_n('\n', empty)),
            Some(before) if is_spaced(before) || is_spaced(line) => {
                out.extend(std::iter::repeat_n('\n', empty + 1));
            }
            Some(_) if empty == 0 => out.push(' '),
            Some(_) => out.extend(std::iter::repeat_n('\n', empty)),
        }
        out.push_str(line);
        last = Some(line);
        empty = 0;
    }
    if header.keep && !header.strip {
        out.extend(std::iter::repeat_n('\n', empty + usize::from(last.is_some())));
    } else if !header.strip && last.is_some() {
        out.push('\n');
    }
    out
}

/// A line that starts with whitespace is not folded.
fn is_spaced(line: &str) -> bool {
    line.starts_with([' ', '\t'])
}
