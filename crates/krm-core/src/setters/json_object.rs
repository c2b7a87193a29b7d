//! Parsing a JSON object in the middle of a comment.

use std::borrow::Cow;

use krm_yaml::File;

/// A member of an object: its key, and its value if that is a string.
pub(super) type Member<'a> = (Cow<'a, str>, Option<Cow<'a, str>>);

/// The members of the JSON object at `start`, and the offset of its end.
pub(super) fn members(text: &str, start: usize) -> Option<(Vec<Member<'_>>, usize)> {
    let mut at = skip_spaces(text, start + 1);
    let mut members = Vec::new();
    if text[at..].starts_with('}') {
        return Some((members, at + 1));
    }
    loop {
        let (key, end) = string(text, at)?;
        at = skip_spaces(text, end);
        at = skip_spaces(text, text[at..].starts_with(':').then_some(at + 1)?);
        let (value, end) = match string(text, at) {
            Some((value, end)) => (Some(value), end),
            None => (None, skip_value(text, at)?),
        };
        members.push((key, value));
        at = skip_spaces(text, end);
        match text.as_bytes().get(at)? {
            b',' => at = skip_spaces(text, at + 1),
            b'}' => return Some((members, at + 1)),
            _ => return None,
        }
    }
}

fn skip_spaces(text: &str, at: usize) -> usize {
    at + text[at..].len() - text[at..].trim_start().len()
}

/// The JSON string at `at`, and the offset of its end.
fn string(text: &str, at: usize) -> Option<(Cow<'_, str>, usize)> {
    let inside = text[at..].strip_prefix('"')?;
    let mut escaped = false;
    let end = inside.char_indices().find_map(|(at, c)| match c {
        _ if std::mem::take(&mut escaped) => None,
        '\\' => {
            escaped = true;
            None
        }
        '"' => Some(at),
        _ => None,
    })?;
    let end_at = at + end + 2;
    if !inside[..end].contains('\\') {
        return Some((inside[..end].into(), end_at));
    }
    // Every JSON string is a YAML double-quoted scalar with the same meaning.
    let file = File::parse(text[at..end_at].to_owned()).ok()?;
    let value = file.document(0)?.root()?.as_str()?.into_owned();
    Some((value.into(), end_at))
}

/// The offset after a JSON value that is not a string: an array, object, number or literal.
fn skip_value(text: &str, start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = start;
    loop {
        let byte = *text.as_bytes().get(at)?;
        match byte {
            b'"' => {
                at = string(text, at)?.1;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth > 0 => depth -= 1,
            b'}' | b',' if depth == 0 => return (at > start).then_some(at),
            _ => {}
        }
        at += 1;
        if depth == 0 && matches!(byte, b'}' | b']') {
            return Some(at);
        }
    }
}
