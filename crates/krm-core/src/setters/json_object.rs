//! One JSON object in the middle of a text: where it ends, and its texts.

use std::borrow::Cow;

use krm_yaml::File;

/// A member of an object: its key, and its value where that is a text.
pub(super) type Member<'a> = (Cow<'a, str>, Option<Cow<'a, str>>);

/// The members of the JSON object at `start`, and where it ends.
pub(super) fn members(text: &str, start: usize) -> Option<(Vec<Member<'_>>, usize)> {
    let mut at = blanks(text, start + 1);
    let mut members = Vec::new();
    if text[at..].starts_with('}') {
        return Some((members, at + 1));
    }
    loop {
        let (key, end) = string(text, at)?;
        at = blanks(text, end);
        at = blanks(text, text[at..].starts_with(':').then_some(at + 1)?);
        let (value, end) = match string(text, at) {
            Some((value, end)) => (Some(value), end),
            None => (None, other(text, at)?),
        };
        members.push((key, value));
        at = blanks(text, end);
        match text.as_bytes().get(at)? {
            b',' => at = blanks(text, at + 1),
            b'}' => return Some((members, at + 1)),
            _ => return None,
        }
    }
}

fn blanks(text: &str, at: usize) -> usize {
    at + text[at..].len() - text[at..].trim_start().len()
}

/// A JSON string at `at`, and where it ends.
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
    // JSON's escapes are YAML's.
    let file = File::parse(text[at..end_at].to_owned()).ok()?;
    let value = file.document(0)?.root()?.as_str()?.into_owned();
    Some((value.into(), end_at))
}

/// Past a JSON value that is no string: brackets with all inside, a number, a word.
fn other(text: &str, start: usize) -> Option<usize> {
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
