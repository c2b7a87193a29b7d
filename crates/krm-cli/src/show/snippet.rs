//! A diagnostic as people read it: the message, the source line with a caret, and what to do.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use krm_core::{Diagnostic, Location, Severity};

/// Renders one diagnostic, with a line break at its end.
pub(super) fn render(diagnostic: &Diagnostic, colored: bool) -> String {
    let renderer = if colored { Renderer::styled() } else { Renderer::plain() };
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let mut group = Group::with_title(level.primary_title(&*diagnostic.message));
    if let Some(file) = &diagnostic.file {
        group = with_places(group, file, diagnostic);
    }
    for hint in &diagnostic.hints {
        group = group.element(Level::HELP.message(&**hint));
    }
    format!("{}\n", renderer.render(&[group]))
}

fn with_places<'a>(group: Group<'a>, file: &'a str, diagnostic: &'a Diagnostic) -> Group<'a> {
    let Some(place) = &diagnostic.location else { return group.element(Origin::path(file)) };
    let mut snippet = lines(place).annotation(mark(AnnotationKind::Primary, place));
    let mut apart = None;
    match &diagnostic.related {
        Some(other) if other.line == place.line && other.text == place.text => {
            snippet = snippet.annotation(mark(AnnotationKind::Context, other));
        }
        other => apart = other.as_ref(),
    }
    let mut group = group.element(origin(file, place)).element(snippet);
    if let Some(other) = apart {
        let snippet = lines(other).annotation(mark(AnnotationKind::Context, other));
        group = group.element(origin(file, other)).element(snippet);
    }
    group
}

/// The place by its numbers: only a part of the file is handed to the renderer, and it cannot count the rest.
fn origin<'a>(file: &'a str, place: &Location) -> Origin<'a> {
    Origin::path(file).line(place.line as usize).char_column(place.column as usize)
}

fn lines(place: &Location) -> Snippet<'_, Annotation<'_>> {
    Snippet::source(&*place.text).line_start(place.line as usize)
}

fn mark<'a>(kind: AnnotationKind, place: &'a Location) -> Annotation<'a> {
    let annotation = kind.span(place.marked.clone());
    match &place.label {
        Some(label) => annotation.label(&**label),
        None => annotation,
    }
}
