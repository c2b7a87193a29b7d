//! Diagnostics: errors, warnings and infos with their location, related location and hints.

use std::borrow::Cow;
use std::ops::Range;

use krm_yaml::{
    DiagnosticKind, EditError, EditErrorKind, File, ReadError, Span, SyntaxError, Value,
};

use super::kind::Kind;
use crate::diagnostics::secrets;
use crate::functions::resource_list::ResourceListKind;
use crate::print::{log_text, visible_line, visible_range};

/// How many bytes of a source line are kept on each side of a location. A file can be one line of megabytes.
const MAX_CONTEXT: usize = 160;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// For information.
    Info,
    /// Probably a mistake.
    Warning,
    /// Something was not done because of this.
    Error,
}

impl Severity {
    /// The name, as printed: `info`, `warning` or `error`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A location in a file, with its source line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The line, from one.
    pub line: u32,
    /// The column in characters, from one.
    pub column: u32,
    /// The source line; only the part around the location if it is very long.
    pub text: String,
    /// The bytes of `text` to underline.
    pub marked: Range<usize>,
    /// The label of the underlined text.
    pub label: Option<String>,
    /// The original line, if `text` is masked because of a Secret.
    unmasked: Option<Box<UnmaskedLine>>,
}

/// A source line before masking, and the secret values near it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct UnmaskedLine {
    text: String,
    marked: Range<usize>,
    /// See [`secrets::hidden_texts`].
    hidden: Vec<String>,
}

impl Location {
    /// The location of a span, which is cut at the end of its first line. Values of Secrets are masked until
    /// [`Diagnostic::reveal`] is called.
    pub fn of(file: &File, span: Span) -> Self {
        let position = file.position(span.start);
        let line = file.line_at(span.start);
        let source = line.of(file.text());
        let start = (span.start - line.start) as usize;
        let end = (span.end.clamp(span.start, line.end) - line.start) as usize;
        let from = floor(source, start.saturating_sub(MAX_CONTEXT));
        let to = floor(source, source.len().min(start + MAX_CONTEXT));
        let text = source[from..to].trim_start_matches('\u{feff}');
        let shift = to - text.len();
        let marked = start.saturating_sub(shift)..end.min(to).saturating_sub(shift);
        let (line_start, text) = (line.start as usize + shift, text.to_owned());
        let inside = |at: u32| (at as usize).saturating_sub(line_start).min(text.len());
        let hidden = secrets::hidden_spans(file, line).into_iter();
        let hidden = hidden.map(|span| inside(span.start)..inside(span.end)).collect::<Vec<_>>();
        let (line, column) = (position.line, position.column);
        let location = Self { line, column, text, marked, label: None, unmasked: None };
        location.masked(&hidden, secrets::hidden_texts(file, span))
    }

    fn masked(mut self, spans: &[Range<usize>], hidden: Vec<String>) -> Self {
        if !spans.is_empty() || !hidden.is_empty() {
            let (text, marked) = secrets::mask_line(&self.text, &self.marked, spans);
            let text = std::mem::replace(&mut self.text, text);
            let marked = std::mem::replace(&mut self.marked, marked);
            self.unmasked = Some(Box::new(UnmaskedLine { text, marked, hidden }));
        }
        self
    }

    fn reveal(&mut self) {
        if let Some(line) = self.unmasked.take() {
            (self.text, self.marked) = (line.text, line.marked);
        }
    }

    /// Whether an excerpt quotes a secret value, or a part of one.
    fn hides(&self, excerpt: &str) -> bool {
        let Some(line) = &self.unmasked else { return false };
        let excerpt = excerpt.trim();
        let quotes = |hidden: &String| hidden.contains(excerpt) || excerpt.contains(&**hidden);
        !excerpt.is_empty() && line.hidden.iter().any(quotes)
    }

    /// The same location with a label.
    #[must_use]
    pub(crate) fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }
}

/// The character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// An error, a warning or an info. It is small enough to be returned as an error.
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
    /// The severity.
    pub severity: Severity,
    summary: Box<Summary>,
    /// The display path of the file: what the user typed, or relative to the working directory.
    pub file: Option<Box<str>>,
    /// The location in the file.
    pub location: Option<Box<Location>>,
    /// A second location that explains the first.
    pub related: Option<Box<Location>>,
    /// The label of the resource: `Deployment shop/web`.
    pub resource: Option<Box<str>>,
    /// The path of the field in the resource.
    pub field: Option<Box<str>>,
    /// What to do about it.
    pub hints: Vec<String>,
}

/// The message of a diagnostic. Boxed, because a diagnostic is returned as an error and should be small.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Summary {
    /// The kind, for code to match on.
    kind: Kind,
    /// The message of the kind, with values of Secrets masked.
    message: String,
    /// What was being done; a prefix of the message.
    context: Option<String>,
    /// Further facts, such as the last lines that a function wrote to stderr.
    notes: Vec<String>,
}

impl Diagnostic {
    /// A diagnostic without a location.
    pub fn new(severity: Severity, kind: impl Into<Kind>) -> Self {
        let kind = kind.into();
        let message = kind.message(&|_| false);
        Self {
            severity,
            hints: kind.hint(&|_| false).into_iter().collect(),
            summary: Box::new(Summary { kind, message, context: None, notes: Vec::new() }),
            file: None,
            location: None,
            related: None,
            resource: None,
            field: None,
        }
    }

    /// An error.
    pub fn error(kind: impl Into<Kind>) -> Self {
        Self::new(Severity::Error, kind)
    }

    /// A warning.
    pub fn warning(kind: impl Into<Kind>) -> Self {
        Self::new(Severity::Warning, kind)
    }

    /// What is wrong: lower case, one line, no full stop.
    pub fn message(&self) -> &str {
        &self.summary.message
    }

    /// The stable id of the kind.
    pub fn id(&self) -> &'static str {
        self.summary.kind.id()
    }

    /// The kind, where it is one of `K`.
    pub fn kind<K: DiagnosticKind>(&self) -> Option<&K> {
        self.summary.kind.downcast()
    }

    /// Adds what was being done when this happened as a prefix: `context: message`.
    #[must_use]
    pub fn context(mut self, context: impl Into<String>) -> Self {
        let outer = context.into();
        self.summary.context = Some(match self.summary.context.take() {
            Some(inner) => format!("{outer}: {inner}"),
            None => outer,
        });
        self.rewrite();
        self
    }

    /// Makes the message again, after something that it depends on changed.
    fn rewrite(&mut self) {
        let location = self.location.as_deref();
        let hides = |excerpt: &str| location.is_some_and(|it| it.hides(excerpt));
        let summary = &mut *self.summary;
        let message = summary.kind.message(&hides);
        let hint = summary.kind.hint(&hides);
        summary.message = match &summary.context {
            Some(context) => format!("{context}: {message}"),
            None => message,
        };
        // The hint of the kind is always the first.
        if let (Some(hint), Some(first)) = (hint, self.hints.first_mut()) {
            *first = hint;
        }
    }

    /// Whether this is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Sets the file.
    #[must_use]
    pub fn in_file(mut self, name: impl Into<Box<str>>) -> Self {
        self.file = Some(name.into());
        self
    }

    /// Sets the location.
    #[must_use]
    pub fn at(mut self, file: &File, span: Span) -> Self {
        self.location = Some(Box::new(Location::of(file, span)));
        self.rewrite();
        self
    }

    /// Sets a second location and its label.
    #[must_use]
    pub fn related(mut self, file: &File, span: Span, label: impl Into<String>) -> Self {
        self.related = Some(Box::new(Location::of(file, span).with_label(label)));
        self
    }

    /// Sets the resource.
    #[must_use]
    pub fn resource(mut self, label: impl Into<Box<str>>) -> Self {
        self.resource = Some(label.into());
        self
    }

    /// Points to the same file, location, resource and field as another diagnostic.
    #[must_use]
    pub fn located_as(mut self, other: &Self) -> Self {
        self.file.clone_from(&other.file);
        self.location.clone_from(&other.location);
        self.related.clone_from(&other.related);
        self.resource.clone_from(&other.resource);
        self.field.clone_from(&other.field);
        self.rewrite();
        self
    }

    /// Sets the path of the field.
    #[must_use]
    pub fn field(mut self, path: impl Into<Box<str>>) -> Self {
        self.field = Some(path.into());
        self
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds a note: a further fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.summary.notes.push(note.into());
        self
    }

    /// Further facts, such as the last lines that a function wrote to stderr.
    pub fn notes(&self) -> &[String] {
        &self.summary.notes
    }

    /// Removes the masks of secret values.
    pub fn reveal(&mut self) {
        let places = [&mut self.location, &mut self.related];
        places.into_iter().flatten().for_each(|place| place.reveal());
        self.rewrite();
    }

    /// Escapes control characters, for people: names and values come from files that somebody else may have written.
    pub fn make_visible(&mut self) {
        let show = |text: &mut String| {
            if let Cow::Owned(shown) = log_text(text) {
                *text = shown;
            }
        };
        match self.kind::<ResourceListKind>() {
            // Only functions write messages of several lines.
            Some(ResourceListKind::FunctionResult { .. }) => show(&mut self.summary.message),
            _ => self.summary.message = log_text(&visible_line(self.message())).into_owned(),
        }
        self.summary.notes.iter_mut().chain(&mut self.hints).for_each(show);
        for name in [&mut self.file, &mut self.resource, &mut self.field].into_iter().flatten() {
            if let Cow::Owned(shown) = visible_line(name) {
                *name = shown.into();
            }
        }
        for place in [&mut self.location, &mut self.related].into_iter().flatten() {
            if let Some((text, marked)) = visible_range(&place.text, &place.marked) {
                (place.text, place.marked) = (text, marked);
            }
            // The renderer indents further lines of a message, but not those of a label.
            if let Some(Cow::Owned(label)) = place.label.as_deref().map(visible_line) {
                place.label = Some(label);
            }
        }
    }

    /// Why a document cannot be read.
    pub fn from_syntax(error: &SyntaxError, file: &File) -> Self {
        let mut diagnostic = Self::error(error.kind.clone()).at(file, error.span);
        if let Some((span, label)) = error.related {
            diagnostic = diagnostic.related(file, span, label);
        }
        match error.is_template {
            true => diagnostic.hint("render the template first, or quote the value with `{{`"),
            false => diagnostic,
        }
    }

    /// Why an edit is refused.
    pub fn from_edit(error: &EditError, file: &File) -> Self {
        let diagnostic = Self::error(error.kind.clone());
        match error.kind {
            // There is no line to show.
            EditErrorKind::NoDocument => diagnostic,
            _ => diagnostic.at(file, error.span),
        }
    }

    /// The diagnostic as data, for [`crate::print::json::display`]; what is not known is left out.
    pub fn to_value(&self) -> Value<'_> {
        let mut entries = vec![
            entry("id", Value::from(self.id())),
            entry("severity", Value::from(self.severity.name())),
            entry("message", Value::from(self.message())),
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
        for (name, texts) in [("notes", self.notes()), ("hints", &self.hints)] {
            if !texts.is_empty() {
                let texts = texts.iter().map(|text| Value::from(text.as_str()));
                entries.push(entry(name, Value::Sequence(texts.collect())));
            }
        }
        Value::Mapping(entries)
    }
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{file}: {}", self.message()),
            None => f.write_str(self.message()),
        }
    }
}

impl std::error::Error for Diagnostic {}

impl From<&ReadError> for Diagnostic {
    fn from(error: &ReadError) -> Self {
        Self::error(error.clone())
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

    fn location(text: &str, start: u32, end: u32) -> Location {
        Location::of(&File::parse(text.to_owned()).unwrap(), Span::new(start, end))
    }

    #[test]
    fn location_marks_its_bytes_of_the_line() {
        let it = location("a: 1\r\nbé: two\r\n", 11, 14);
        assert_eq!((it.line, it.column, &it.text[it.marked.clone()]), (2, 5, "two"));
        assert_eq!(it.text, "bé: two");
    }

    #[test]
    fn location_of_several_lines_ends_with_the_first() {
        let it = location("a: [1,\n 2]\n", 3, 10);
        assert_eq!(&it.text[it.marked], "[1,");
    }

    #[test]
    fn byte_order_mark_is_not_part_of_the_line() {
        let it = location("\u{feff}a: 1\n", 3, 4);
        assert_eq!((it.column, it.text.as_str(), it.marked), (1, "a: 1", 0..1));
    }

    #[test]
    fn long_line_is_cut_around_the_location() {
        let text = format!("[{}x]", "é, ".repeat(50_000));
        let at = text.len() as u32 - 2;
        let it = location(&text, at, at + 1);
        assert!(it.text.len() <= 2 * MAX_CONTEXT + 2, "{}", it.text.len());
        assert_eq!((&it.text[it.marked], it.column), ("x", 150_002));
    }

    #[test]
    fn location_at_the_end_of_the_text_is_empty() {
        let it = location("a: 1\n", 5, 5);
        assert_eq!((it.line, it.text.as_str(), it.marked), (2, "", 0..0));
    }

    #[test]
    fn secret_values_are_masked_in_messages_and_revealed_on_request() {
        let text = "kind: Secret\nstringData:\n  pem: |\n    first\n    second\n";
        let file = File::parse(text.to_owned()).unwrap();
        let value = crate::diagnostics::CommonKind::InvalidValue {
            value: "first\nsecond\n".into(),
            expected: "a certificate".to_owned(),
        };
        let span = Span::new(text.find('|').unwrap() as u32, text.len() as u32);
        let mut error = Diagnostic::error(value).at(&file, span);
        assert_eq!(error.message(), "invalid value `***`: expected a certificate");
        error.reveal();
        assert!(error.message().contains("second"), "{}", error.message());
    }
}
