//! Paths to nodes: `spec.containers[name=web].ports[0]` and `/spec/containers/0`.

use std::fmt;
use std::str::FromStr;

use crate::error::PathErrorKind;
use crate::pattern::PatternStep;

/// One segment of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// A key of a mapping; a number also selects an element of a sequence (`.0.`).
    Key(String),
    /// An element of a sequence by its index: `[0]`.
    Index(usize),
    /// The first element whose field has this value: `[name=web]`.
    Match {
        /// The field.
        key: String,
        /// Its value.
        value: String,
    },
    /// The position after the last element: `[-]`, or `-` in a JSON pointer.
    End,
}

impl From<&str> for Segment {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<String> for Segment {
    fn from(key: String) -> Self {
        Self::Key(key)
    }
}

impl From<&String> for Segment {
    fn from(key: &String) -> Self {
        Self::Key(key.clone())
    }
}

impl From<usize> for Segment {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

impl From<&Segment> for Segment {
    fn from(segment: &Segment) -> Self {
        segment.clone()
    }
}

/// A path to a node, printed as it was parsed.
///
/// ```
/// use krm_yaml::{Path, Segment};
///
/// let path: Path = r"metadata.annotations.example\.com/owner".parse()?;
/// assert_eq!(path.segments()[2], Segment::Key("example.com/owner".to_owned()));
/// assert_eq!(path.to_string(), r"metadata.annotations.example\.com/owner");
/// assert_eq!(r#"a."b.c"[x=y][0]"#.parse::<Path>()?.segments().len(), 4);
/// assert_eq!("/a/b~1c".parse::<Path>()?.segments()[1], Segment::Key("b/c".to_owned()));
/// # Ok::<(), krm_yaml::PathError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    segments: Vec<Segment>,
    text: String,
}

impl Path {
    /// The maximum number of segments of a path that is parsed or created: documents have no more levels in block and flow style together.
    pub const MAX_SEGMENTS: usize = 2 * crate::parser::MAX_DEPTH as usize;

    /// The segments from the root.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The path without its last segment, and that segment; `None` for the root.
    pub fn split_last(&self) -> Option<(Path, &Segment)> {
        let (last, before) = self.segments.split_last()?;
        let mut parent = Path::default();
        for segment in before {
            parent.push(segment.clone());
        }
        Some((parent, last))
    }

    /// Appends a segment.
    pub fn push(&mut self, segment: Segment) {
        write_segment(&mut self.text, &segment);
        self.segments.push(segment);
    }

    /// The path with one more key.
    #[must_use]
    pub fn join(&self, key: &str) -> Path {
        let mut path = self.clone();
        path.push(Segment::Key(key.to_owned()));
        path
    }
}

/// A path of keys and indices, which are taken as they are: a key may contain dots.
///
/// ```
/// let path: krm_yaml::Path = ["data", "a.b"].into_iter().collect();
/// assert_eq!(path.to_string(), r#"data."a.b""#);
/// ```
impl<S: Into<Segment>> FromIterator<S> for Path {
    fn from_iter<I: IntoIterator<Item = S>>(segments: I) -> Self {
        let mut path = Path::default();
        segments.into_iter().for_each(|segment| path.push(segment.into()));
        path
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A path that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError {
    /// What is wrong.
    pub kind: PathErrorKind,
    /// Where in the path, in bytes.
    pub at: usize,
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at column {} of the path", self.kind, self.at + 1)
    }
}

impl std::error::Error for PathError {}

impl FromStr for Path {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let segments = match text.strip_prefix('/') {
            Some(pointer) => parse_pointer(pointer)?,
            None => read_steps(text, Wildcards::AreKeys)?
                .into_iter()
                .filter_map(|step| match step {
                    PatternStep::Plain(segment) => Some(segment),
                    PatternStep::FromEnd(_) | PatternStep::All | PatternStep::Deep => None,
                })
                .collect(),
        };
        if segments.len() > Self::MAX_SEGMENTS {
            let kind = PathErrorKind::TooDeep { limit: Self::MAX_SEGMENTS };
            return Err(PathError { kind, at: 0 });
        }
        Ok(Path { segments, text: text.to_owned() })
    }
}

/// Appends a segment to the text of a path.
pub(crate) fn write_segment(text: &mut String, segment: &Segment) {
    let dot = if text.is_empty() { "" } else { "." };
    text.push_str(&match segment {
        Segment::Key(key) => format!("{dot}{}", quote_key(key)),
        Segment::Index(index) => format!("[{index}]"),
        Segment::Match { key, value } if value.is_empty() => format!("[{}=]", quote_part(key)),
        Segment::Match { key, value } => format!("[{}={}]", quote_part(key), quote_part(value)),
        Segment::End => "[-]".to_owned(),
    });
}

/// The segments of a JSON pointer, after its first slash.
pub(crate) fn parse_pointer(pointer: &str) -> Result<Vec<Segment>, PathError> {
    let mut at = 1;
    let parts = pointer.split('/').map(|part| {
        let start = at;
        at += part.len() + 1;
        let mut key = String::with_capacity(part.len());
        let mut chars = part.chars();
        while let Some(c) = chars.next() {
            match (c, c == '~') {
                (_, true) => match chars.next() {
                    Some('0') => key.push('~'),
                    Some('1') => key.push('/'),
                    _ => {
                        return Err(PathError { kind: PathErrorKind::PointerEscape, at: start });
                    }
                },
                (c, false) => key.push(c),
            }
        }
        Ok(if key == "-" { Segment::End } else { Segment::Key(key) })
    });
    parts.collect()
}

/// What `*`, `**`, `[*]` and `[-1]` mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wildcards {
    /// They select any number of nodes, as in a [`PathPattern`](crate::PathPattern).
    Select,
    /// `*` and `**` are keys, and the others are errors: a [`Path`] leads to one node.
    AreKeys,
}

/// Parses the dotted notation.
pub(crate) fn read_steps(text: &str, wildcards: Wildcards) -> Result<Vec<PatternStep>, PathError> {
    Reader { text, at: 0, wildcards }.read()
}

/// A parser for the dotted notation.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    wildcards: Wildcards,
}

impl Reader<'_> {
    fn read(mut self) -> Result<Vec<PatternStep>, PathError> {
        let mut steps = Vec::new();
        if self.text == "." {
            return Ok(steps);
        }
        self.skip('.');
        while let Some(next) = self.peek() {
            if next == '[' {
                steps.push(self.bracket()?);
            } else {
                let start = self.at;
                let key = self.part(&['.', '['])?;
                // A star that is quoted or escaped is a key.
                steps.push(match &self.text[start..self.at] {
                    "*" if self.selects() => PatternStep::All,
                    "**" if self.selects() => PatternStep::Deep,
                    _ => PatternStep::Plain(Segment::Key(key)),
                });
            }
            match self.peek() {
                None | Some('[') => {}
                Some('.') => {
                    self.at += 1;
                    if self.peek().is_none() {
                        return Err(self.error(PathErrorKind::MissingKey));
                    }
                }
                Some(_) => return Err(self.expected("`.` or `[`")),
            }
        }
        Ok(steps)
    }

    fn selects(&self) -> bool {
        self.wildcards == Wildcards::Select
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        if there {
            self.at += wanted.len_utf8();
        }
        there
    }

    fn error(&self, kind: PathErrorKind) -> PathError {
        PathError { kind, at: self.at }
    }

    fn expected(&self, expected: &'static str) -> PathError {
        self.error(PathErrorKind::Expected { expected })
    }

    fn bracket(&mut self) -> Result<PatternStep, PathError> {
        self.at += 1;
        let start = self.at;
        let quoted = matches!(self.peek(), Some('"' | '\''));
        let first = self.part(&['=', ']'])?;
        let written = &self.text[start..self.at];
        if self.skip('=') {
            let value = if self.peek() == Some(']') { String::new() } else { self.part(&[']'])? };
            self.close()?;
            return Ok(PatternStep::Plain(Segment::Match { key: first, value }));
        }
        self.close()?;
        if self.selects() && written == "*" {
            return Ok(PatternStep::All);
        }
        let from_end = written.strip_prefix('-').filter(|_| self.selects());
        if let Some(count) = from_end.and_then(|it| it.parse().ok()).filter(|it| *it > 0) {
            return Ok(PatternStep::FromEnd(count));
        }
        Ok(PatternStep::Plain(match first.parse::<usize>() {
            _ if quoted => Segment::Key(first),
            Ok(index) => Segment::Index(index),
            Err(_) if first == "-" => Segment::End,
            Err(_) => {
                let expected = match self.wildcards {
                    Wildcards::AreKeys => "a number, `key=value` or a quoted key in the brackets",
                    Wildcards::Select => {
                        "a number, `*`, `key=value` or a quoted key in the brackets"
                    }
                };
                return Err(self.expected(expected));
            }
        }))
    }

    fn close(&mut self) -> Result<(), PathError> {
        if self.skip(']') { Ok(()) } else { Err(self.expected("`]`")) }
    }

    /// A key or a value up to one of `stops`, unless that is quoted or escaped.
    fn part(&mut self, stops: &[char]) -> Result<String, PathError> {
        let mut out = String::new();
        if let Some(quote @ ('"' | '\'')) = self.peek() {
            let opened = self.at;
            self.at += 1;
            loop {
                match self.peek() {
                    None => {
                        return Err(PathError { kind: PathErrorKind::UnclosedQuote, at: opened });
                    }
                    Some(c) if c == quote => {
                        self.at += 1;
                        return Ok(out);
                    }
                    Some('\\') if quote == '"' => self.escaped(&mut out)?,
                    Some(c) => self.take(c, &mut out),
                }
            }
        }
        let start = self.at;
        while let Some(c) = self.peek() {
            match c {
                '\\' => self.escaped(&mut out)?,
                c if stops.contains(&c) => break,
                c => self.take(c, &mut out),
            }
        }
        if self.at == start { Err(self.error(PathErrorKind::MissingKey)) } else { Ok(out) }
    }

    fn take(&mut self, c: char, out: &mut String) {
        out.push(c);
        self.at += c.len_utf8();
    }

    fn escaped(&mut self, out: &mut String) -> Result<(), PathError> {
        self.at += 1;
        let Some(c) = self.peek() else { return Err(self.error(PathErrorKind::TrailingBackslash)) };
        self.take(c, out);
        Ok(())
    }
}

/// A key, quoted if it could not be parsed otherwise.
fn quote_key(key: &str) -> String {
    // In a pattern these would select other keys.
    if matches!(key, "*" | "**") {
        return format!("\"{key}\"");
    }
    quote_unless(key, |c| !matches!(c, '.' | '[' | ']' | '"' | '\'' | '\\' | '/'))
}

fn quote_part(part: &str) -> String {
    quote_unless(part, |c| !matches!(c, '[' | ']' | '=' | '"' | '\'' | '\\'))
}

fn quote_unless(text: &str, is_plain: impl Fn(char) -> bool) -> String {
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Segment {
        Segment::Key(text.to_owned())
    }

    #[test]
    fn every_notation_is_parsed() {
        let all = |text: &str| text.parse::<Path>().unwrap().segments().to_vec();
        let matched = Segment::Match { key: "name".to_owned(), value: "nginx".to_owned() };
        assert_eq!(all("a.b[name=nginx].0.c"), [key("a"), key("b"), matched, key("0"), key("c")]);
        assert_eq!(all("a['x.y'][2]"), [key("a"), key("x.y"), Segment::Index(2)]);
        assert_eq!(all(".a.b"), [key("a"), key("b")]);
        assert_eq!(all("/a/~0~1/-"), [key("a"), key("~/"), Segment::End]);
        assert_eq!(all(""), []);
        assert_eq!(all("."), []);
    }

    #[test]
    fn paths_round_trip() {
        for text in ["a.b", ".a", "a['b']", "/a/0", r"a\.b.c"] {
            assert_eq!(text.parse::<Path>().unwrap().to_string(), text);
        }
        let path = Path::default().join("a.b/c").join("d\"e").join("");
        assert_eq!(path.to_string().parse::<Path>().unwrap().segments(), path.segments());
    }

    #[test]
    fn errors_have_a_column() {
        for (text, at) in
            [("a.", 2), ("a..b", 2), ("a[x]", 4), ("a[0", 3), ("a.\"b", 2), ("a\\", 2), ("/~x", 1)]
        {
            assert_eq!(text.parse::<Path>().unwrap_err().at, at, "{text}");
        }
    }
}
