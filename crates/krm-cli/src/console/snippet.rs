//! Diagnostics as text for people: the message, the source line with a caret, and hints.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use krm_core::{Diagnostic, Location, Severity};

/// Renders one diagnostic, including the final line break.
pub(super) fn render(diagnostic: &Diagnostic, colored: bool) -> String {
    let renderer = if colored { Renderer::styled() } else { Renderer::plain() };
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let title = match (&diagnostic.file, &diagnostic.location) {
        (Some(file), None) => level.primary_title(format!("{file}: {}", diagnostic.message())),
        _ => level.primary_title(diagnostic.message()),
    };
    let mut group = Group::with_title(title.id(diagnostic.id()));
    let mut hints = Vec::new();
    match &diagnostic.location {
        Some(location) => {
            let related = diagnostic.related.as_deref();
            group = with_locations(group, file_of(diagnostic), location, related);
            let notes = diagnostic.notes().iter().map(|note| Level::NOTE.message(&**note));
            let hints = diagnostic.hints.iter().map(|hint| Level::HELP.message(&**hint));
            group = group.elements(notes.chain(hints));
        }
        // Without a source line the renderer would draw `= help:` below a bar that leads nowhere.
        None => {
            let notes = diagnostic.notes().iter();
            hints.extend(notes.map(|note| format!("note: {}\n", indented(note))));
            let help = diagnostic.hints.iter();
            hints.extend(help.map(|hint| format!("help: {}\n", indented(hint))));
        }
    }
    let text = format!("{}\n{}", renderer.render(&[group]), hints.concat());
    let locations = [&diagnostic.location, &diagnostic.related].into_iter().flatten();
    locations.fold(text, |text, location| correct_column(text, file_of(diagnostic), location))
}

/// A text whose further lines are indented, so that none of them looks like a line of krm.
fn indented(text: &str) -> String {
    let mut lines = text.split('\n');
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| match line.starts_with(' ') {
        true => format!("{text}\n{line}"),
        false => format!("{text}\n      {line}"),
    })
}

fn file_of(diagnostic: &Diagnostic) -> &str {
    diagnostic.file.as_deref().unwrap_or("<text>")
}

fn with_locations<'a>(
    group: Group<'a>,
    file: &'a str,
    location: &'a Location,
    related: Option<&'a Location>,
) -> Group<'a> {
    let primary = AnnotationKind::Primary.span(location.marked.clone());
    let Some(other) = related else {
        return group.element(snippet(file, location).annotation(primary));
    };
    let label = other.label.as_deref().unwrap_or_default();
    if other.line != location.line || other.text != location.text {
        let second = AnnotationKind::Context.span(other.marked.clone()).label(label);
        return group
            .element(snippet(file, location).annotation(primary))
            .element(snippet(file, other).annotation(second));
    }
    if other.marked.start == location.marked.start {
        return group.element(snippet(file, location).annotation(primary.label(label)));
    }
    let second = AnnotationKind::Context.span(other.marked.clone()).label(label);
    group.element(snippet(file, location).annotation(primary).annotation(second))
}

fn snippet<'a>(file: &'a str, location: &'a Location) -> Snippet<'a, Annotation<'a>> {
    Snippet::source(&*location.text).line_start(location.line as usize).path(file)
}

/// Corrects the column in the header of a snippet.
///
/// The renderer counts columns from the start of the excerpt, and of a very long line the excerpt is only a part. It has no
/// option for a first column, as it has `line_start` for the first line.
fn correct_column(text: String, file: &str, location: &Location) -> String {
    let counted = location.text[..location.marked.start].chars().count() + 1;
    if counted == location.column as usize {
        return text;
    }
    let rendered = format!("{file}:{}:{counted}", location.line);
    let correct = format!("{file}:{}:{}", location.line, location.column);
    text.replacen(&rendered, &correct, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::FileKind;
    use krm_yaml::{File, Span};

    #[test]
    fn column_in_a_truncated_line_counts_from_the_line_start() {
        let file = File::parse(format!("[{}x]", "1, ".repeat(1000))).unwrap();
        let diagnostic = Diagnostic::error(FileKind::FileExists)
            .in_file("a.json")
            .at(&file, Span::new(3001, 3002));
        for colored in [false, true] {
            let text = render(&diagnostic, colored);
            assert!(text.contains("a.json:1:3002"), "{text}");
            assert!(text.len() < 2000, "{text}");
        }
    }
}
