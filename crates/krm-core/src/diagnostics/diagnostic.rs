//! The one shape of everything that people are told: what is wrong, where, and what to do.

use std::borrow::Cow;
use std::ops::Range;

use krm_yaml::{
    DiagnosticKind, EditError, EditErrorKind, File, ReadError, Span, SyntaxError, Value,
};

use super::kind::Kind;
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
        let hidden = secrets::hidden_spans(file, line).into_iter();
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

    /// Whether an excerpt shows something that is hidden on this line.
    fn hides(&self, excerpt: &str) -> bool {
        let Some(clear) = &self.clear else { return false };
        let mut hidden = clear.hidden.iter().map(|it| &clear.text[it.clone()]);
        !excerpt.is_empty() && hidden.any(|it| it.contains(excerpt) || excerpt.contains(it))
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
    summary: Box<Summary>,
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

/// What a diagnostic says. Boxed, because a diagnostic is returned as an error and should be small.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Summary {
    /// What is wrong, as a value that code can match on.
    kind: Kind,
    /// The message of the kind, with values of Secrets masked.
    message: String,
    /// What was being done, in front of the message.
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

    /// A diagnostic whose kind is not declared yet.
    #[doc(hidden)]
    pub fn untyped(severity: Severity, message: impl Into<String>) -> Self {
        Self::new(severity, super::kind::Untyped::Message { message: message.into().into() })
    }

    /// An error whose kind is not declared yet.
    #[doc(hidden)]
    pub fn untyped_error(message: impl Into<String>) -> Self {
        Self::error(super::kind::Untyped::Message { message: message.into().into() })
    }

    /// A warning whose kind is not declared yet.
    #[doc(hidden)]
    pub fn untyped_warning(message: impl Into<String>) -> Self {
        Self::warning(super::kind::Untyped::Message { message: message.into().into() })
    }

    /// Another message, for code that still edits messages.
    #[doc(hidden)]
    pub fn set_untyped(&mut self, message: impl Into<String>) {
        self.summary.message = message.into();
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

    /// Says what was being done when this happened: `context: message`.
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
        self.location = Some(Box::new(Location::of(file, span)));
        self.rewrite();
        self
    }

    /// Names a second place, and says what it has to do with the first.
    #[must_use]
    pub fn related(mut self, file: &File, span: Span, label: impl Into<String>) -> Self {
        self.related = Some(Box::new(Location::of(file, span).with_label(label)));
        self
    }

    /// Names the resource.
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

    /// Names the field.
    #[must_use]
    pub fn field(mut self, path: impl Into<Box<str>>) -> Self {
        self.field = Some(path.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.summary.notes.push(note.into());
        self
    }

    /// Further facts, such as the last lines that a function wrote to stderr.
    pub fn notes(&self) -> &[String] {
        &self.summary.notes
    }

    /// Shows the source lines as they are written, values of Secrets with them.
    pub fn reveal(&mut self) {
        let places = [&mut self.location, &mut self.related];
        places.into_iter().flatten().for_each(|place| place.reveal());
        self.rewrite();
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

    /// The diagnostic as data, for [`crate::print::json::write`]; what is not known is left out.
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
