//! A diagnostic as people read it: the message, the source line with a caret, and what to do.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use krm_core::{Diagnostic, Location, Severity};

/// Renders one diagnostic, with a line break at its end.
pub(super) fn render(diagnostic: &Diagnostic, colored: bool) -> String {
    let renderer = if colored { Renderer::styled() } else { Renderer::plain() };
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let mut group = match (&diagnostic.file, &diagnostic.location) {
        (Some(file), None) => {
            Group::with_title(level.primary_title(format!("{file}: {}", diagnostic.message())))
        }
        _ => Group::with_title(level.primary_title(diagnostic.message())),
    };
    let mut hints = Vec::new();
    match &diagnostic.location {
        Some(place) => {
            group = with_places(group, file_of(diagnostic), place, diagnostic.related.as_deref());
            let notes = diagnostic.notes().iter().map(|note| Level::NOTE.message(&**note));
            let hints = diagnostic.hints.iter().map(|hint| Level::HELP.message(&**hint));
            group = group.elements(notes.chain(hints));
        }
        // Without a source line there is no bar for notes and hints to hang on.
        None => {
            hints.extend(diagnostic.notes().iter().map(|note| format!("note: {note}\n")));
            hints.extend(diagnostic.hints.iter().map(|hint| format!("help: {hint}\n")));
        }
    }
    let text = format!("{}\n{}", renderer.render(&[group]), hints.concat());
    let places = [&diagnostic.location, &diagnostic.related].into_iter().flatten();
    places.fold(text, |text, place| put_column_right(text, file_of(diagnostic), place))
}

fn file_of(diagnostic: &Diagnostic) -> &str {
    diagnostic.file.as_deref().unwrap_or("<text>")
}

fn with_places<'a>(
    group: Group<'a>,
    file: &'a str,
    place: &'a Location,
    related: Option<&'a Location>,
) -> Group<'a> {
    let primary = AnnotationKind::Primary.span(place.marked.clone());
    let Some(other) = related else { return group.element(lines(file, place).annotation(primary)) };
    let label = other.label.as_deref().unwrap_or_default();
    if other.line != place.line || other.text != place.text {
        let second = AnnotationKind::Context.span(other.marked.clone()).label(label);
        return group
            .element(lines(file, place).annotation(primary))
            .element(lines(file, other).annotation(second));
    }
    if other.marked.start == place.marked.start {
        return group.element(lines(file, place).annotation(primary.label(label)));
    }
    let second = AnnotationKind::Context.span(other.marked.clone()).label(label);
    group.element(lines(file, place).annotation(primary).annotation(second))
}

fn lines<'a>(file: &'a str, place: &'a Location) -> Snippet<'a, Annotation<'a>> {
    Snippet::source(&*place.text).line_start(place.line as usize).path(file)
}

/// The renderer counts columns from where the excerpt begins, which of a very long line is not its start.
fn put_column_right(text: String, file: &str, place: &Location) -> String {
    let counted = place.text[..place.marked.start].chars().count() + 1;
    if counted == place.column as usize {
        return text;
    }
    let (wrong, right) = (
        format!("{file}:{}:{counted}", place.line),
        format!("{file}:{}:{}", place.line, place.column),
    );
    text.replacen(&wrong, &right, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::{File, Span};

    #[test]
    fn the_column_of_a_huge_line_is_the_true_one() {
        let file = File::parse(format!("[{}x]", "1, ".repeat(1000))).unwrap();
        let diagnostic =
            Diagnostic::untyped_error("here").in_file("a.json").at(&file, Span::new(3001, 3002));
        for colored in [false, true] {
            let text = render(&diagnostic, colored);
            assert!(text.contains("a.json:1:3002"), "{text}");
            assert!(text.len() < 2000, "{text}");
        }
    }
}
