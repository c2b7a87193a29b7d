//! The one shape of everything that people are told: what is wrong, where, and what to do.

use std::borrow::Cow;
use std::ops::Range;

use krm_yaml::{EditError, File, PathEditError, ReadError, Span, SyntaxError, Value};

use crate::diagnostics::secrets;

/// How many bytes of a line are shown to each side of a place: a file can be one line of megabytes.
const MOST_CONTEXT: usize = 160;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Good to know.
    Info,
    /// Probably not what was meant.
    Warning,
    /// Something was not done because of it.
    Error,
}

impl Severity {
    /// The word for it, as messages and exports spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A place in a file, with the source line that it stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Line, from one.
    pub line: u32,
    /// Column in characters, from one.
    pub column: u32,
    /// The source line; of a very long one only the part around the place.
    pub text: String,
    /// The bytes of `text` that are meant.
    pub marked: Range<usize>,
    /// What there is to say about this very place.
    pub label: Option<String>,
    /// What is written there, where values of a Secret are hidden.
    clear: Option<Box<Clear>>,
}

/// A source line as it is written, and what of it nobody should see.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Clear {
    text: String,
    marked: Range<usize>,
    hidden: Vec<Range<usize>>,
}

impl Location {
    /// The place of a span. One that covers several lines is cut at the end of its first. Values of Secrets are hidden
    /// until somebody asks to [`Diagnostic::reveal`] them.
    pub fn of(file: &File, span: Span) -> Self {
        let position = file.position(span.start);
        let line = file.line_at(span.start);
        let source = line.of(file.text());
        let start = (span.start - line.start) as usize;
        let end = (span.end.clamp(span.start, line.end) - line.start) as usize;
        let from = floor(source, start.saturating_sub(MOST_CONTEXT));
        let to = floor(source, source.len().min(start + MOST_CONTEXT));
        let text = source[from..to].trim_start_matches('\u{feff}');
        let shift = to - text.len();
        let marked = start.saturating_sub(shift)..end.min(to).saturating_sub(shift);
        let (line_start, text) = (line.start as usize + shift, text.to_owned());
        let inside = |at: u32| (at as usize).saturating_sub(line_start).min(text.len());
        let hidden = secrets::hidden(file, line).into_iter();
        let hidden = hidden.map(|span| inside(span.start)..inside(span.end)).collect();
        let (line, column) = (position.line, position.column);
        Self { line, column, text, marked, label: None, clear: None }.masked(hidden)
    }

    fn masked(mut self, hidden: Vec<Range<usize>>) -> Self {
        if !hidden.is_empty() {
            let (text, marked) = secrets::mask_line(&self.text, &self.marked, &hidden);
            let text = std::mem::replace(&mut self.text, text);
            let marked = std::mem::replace(&mut self.marked, marked);
            self.clear = Some(Box::new(Clear { text, marked, hidden }));
        }
        self
    }

    fn reveal(&mut self) {
        if let Some(clear) = self.clear.take() {
            (self.text, self.marked) = (clear.text, clear.marked);
        }
    }

    /// Words about this place that quote nothing of what is hidden in it.
    fn redact(&self, words: String) -> String {
        let Some(clear) = &self.clear else { return words };
        let hidden: Vec<&str> = clear.hidden.iter().map(|it| &clear.text[it.clone()]).collect();
        secrets::redact(&words, &hidden)
    }

    /// The same place with words of its own.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }
}

/// The character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Something to tell: an error, a warning, a finding of a function. It is small enough to be returned as an error.
///
/// ```
/// use krm_core::Diagnostic;
/// use krm_yaml::File;
///
/// let file = File::parse("a: [1\n".to_owned())?;
/// let error = file.errors().next().expect("the bracket is never closed");
/// let diagnostic = Diagnostic::from_syntax(error, &file).in_file("deploy.yaml");
/// assert_eq!(diagnostic.file.as_deref(), Some("deploy.yaml"));
/// assert!(diagnostic.is_error());
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong: lower case, no full stop.
    pub message: String,
    /// The file, as people know it: the name they typed, or the path in its package.
    pub file: Option<Box<str>>,
    /// Where in the file.
    pub location: Option<Box<Location>>,
    /// A second place that explains the first.
    pub related: Option<Box<Location>>,
    /// The resource, where one is meant: `apps/v1 Deployment web`.
    pub resource: Option<Box<str>>,
    /// The path of the field in it.
    pub field: Option<Box<str>>,
    /// What to do about it.
    pub hints: Vec<String>,
}

impl Diagnostic {
    /// Says something, anywhere.
    pub fn new(severity: Severity, message: impl Into<String>) -> Self {
        Self {
            severity,
            message: message.into(),
            file: None,
            location: None,
            related: None,
            resource: None,
            field: None,
            hints: Vec::new(),
        }
    }

    /// An error.
    pub fn error(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, message)
    }

    /// A warning.
    pub fn warning(message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, message)
    }

    /// Whether something was not done because of it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Names the file.
    #[must_use]
    pub fn in_file(mut self, name: impl Into<Box<str>>) -> Self {
        self.file = Some(name.into());
        self
    }

    /// Names the place.
    #[must_use]
    pub fn at(mut self, file: &File, span: Span) -> Self {
        let place = Location::of(file, span);
        self.message = place.redact(self.message);
        self.location = Some(Box::new(place));
        self
    }

    /// Names a second place, and says what it has to do with the first.
    #[must_use]
    pub fn related(mut self, file: &File, span: Span, label: impl Into<String>) -> Self {
        self.related = Some(Box::new(Location::of(file, span).with_label(label)));
        self
    }

    /// Names the field.
    #[must_use]
    pub fn field(mut self, path: impl Into<Box<str>>) -> Self {
        self.field = Some(path.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        self.hints.push(match &self.location {
            Some(place) => place.redact(hint),
            None => hint,
        });
        self
    }

    /// Shows the source lines as they are written, values of Secrets with them.
    pub fn reveal(&mut self) {
        let places = [&mut self.location, &mut self.related];
        places.into_iter().flatten().for_each(|place| place.reveal());
    }

    /// Why a document cannot be read.
    pub fn from_syntax(error: &SyntaxError, file: &File) -> Self {
        let mut diagnostic = Self::error(&error.message).at(file, error.span);
        if let Some((span, label)) = &error.related {
            diagnostic = diagnostic.related(file, *span, label);
        }
        match &error.hint {
            Some(hint) => diagnostic.hint(hint),
            None => diagnostic,
        }
    }

    /// Why an edit is refused.
    pub fn from_edit(error: &EditError, file: &File) -> Self {
        Self::error(&error.message).at(file, error.span)
    }

    /// Why an edit at a path is refused.
    pub fn from_path_edit(error: &PathEditError, file: &File) -> Self {
        match error {
            PathEditError::Refused(error) => Self::from_edit(error, file),
            PathEditError::NotFound { span, .. } => Self::error(error.to_string()).at(file, *span),
            PathEditError::NoDocument => Self::error(error.to_string()),
        }
    }

    /// The diagnostic as data, for [`crate::print::json::write`]; what is not known is left out.
    pub fn to_value(&self) -> Value<'_> {
        let mut entries = vec![
            entry("severity", Value::from(self.severity.name())),
            entry("message", Value::from(self.message.as_str())),
        ];
        for (name, value) in
            [("file", &self.file), ("resource", &self.resource), ("field", &self.field)]
        {
            entries.extend(value.as_deref().map(|value| entry(name, Value::from(value))));
        }
        if let Some(location) = &self.location {
            entries.push(entry("line", Value::int(location.line.into())));
            entries.push(entry("column", Value::int(location.column.into())));
            entries.push(entry("source", Value::from(location.text.as_str())));
        }
        entries.extend(self.related.as_deref().map(|place| entry("related", related(place))));
        if !self.hints.is_empty() {
            let hints = self.hints.iter().map(|hint| Value::from(hint.as_str()));
            entries.push(entry("hints", Value::Sequence(hints.collect())));
        }
        Value::Mapping(entries)
    }
}

impl From<&ReadError> for Diagnostic {
    fn from(error: &ReadError) -> Self {
        let diagnostic = Self::error(error.to_string());
        match error {
            ReadError::Utf16 => diagnostic
                .hint("save the file as UTF-8, for example with `iconv -f UTF-16 -t UTF-8`"),
            ReadError::InvalidUtf8 { .. } => diagnostic
                .hint("save the file as UTF-8, for example with `iconv -f LATIN1 -t UTF-8`"),
            _ => diagnostic,
        }
    }
}

fn related(place: &Location) -> Value<'_> {
    Value::Mapping(vec![
        entry("line", Value::int(place.line.into())),
        entry("column", Value::int(place.column.into())),
        entry("message", Value::from(place.label.as_deref().unwrap_or_default())),
    ])
}

fn entry<'a>(name: &'static str, value: Value<'a>) -> (Value<'a>, Value<'a>) {
    (Value::String(Cow::Borrowed(name)), value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, start: u32, end: u32) -> Location {
        Location::of(&File::parse(text.to_owned()).unwrap(), Span::new(start, end))
    }

    #[test]
    fn a_place_marks_its_bytes_of_the_line() {
        let it = place("a: 1\r\nbé: two\r\n", 11, 14);
        assert_eq!((it.line, it.column, &it.text[it.marked.clone()]), (2, 5, "two"));
        assert_eq!(it.text, "bé: two");
    }

    #[test]
    fn a_place_over_several_lines_ends_with_the_first() {
        let it = place("a: [1,\n 2]\n", 3, 10);
        assert_eq!(&it.text[it.marked], "[1,");
    }

    #[test]
    fn a_byte_order_mark_is_not_shown() {
        let it = place("\u{feff}a: 1\n", 3, 4);
        assert_eq!((it.column, it.text.as_str(), it.marked), (1, "a: 1", 0..1));
    }

    #[test]
    fn of_a_huge_line_the_part_around_the_place_is_kept() {
        let text = format!("[{}x]", "é, ".repeat(50_000));
        let at = text.len() as u32 - 2;
        let it = place(&text, at, at + 1);
        assert!(it.text.len() <= 2 * MOST_CONTEXT + 2, "{}", it.text.len());
        assert_eq!((&it.text[it.marked], it.column), ("x", 150_002));
    }

    #[test]
    fn a_place_at_the_end_of_the_text_is_empty() {
        let it = place("a: 1\n", 5, 5);
        assert_eq!((it.line, it.text.as_str(), it.marked), (2, "", 0..0));
    }
}
