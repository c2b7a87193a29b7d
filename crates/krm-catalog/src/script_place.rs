//! Where a line of a script stands that is a text in a resource.

use krm_sdk::{Diagnostic, Resource};
use krm_yaml::{NodeRef, ScalarStyle, Span};

/// A position in a script: line and column in characters, from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct At {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl At {
    /// The bytes of a text before this position.
    #[cfg(feature = "starlark")]
    pub(crate) fn offset(self, text: &str) -> usize {
        let lines = text.split_inclusive('\n').take(self.line).map(str::len);
        lines.sum::<usize>() + self.bytes(text)
    }

    /// The bytes of its line before this position.
    fn bytes(self, text: &str) -> usize {
        let line = text.split('\n').nth(self.line).unwrap_or_default();
        line.chars().take(self.column).map(char::len_utf8).sum()
    }
}

/// Names the place in the file: the line of the script where that can be told, or else the field that holds it.
pub(crate) fn tell(
    told: Diagnostic,
    resource: &Resource,
    node: NodeRef<'_>,
    (text, begin, end): (&str, At, At),
) -> Diagnostic {
    let span = in_block(node, text, begin, end).unwrap_or(node.span());
    let told = told.at(resource.item().file(), span);
    match resource.path() {
        Some(path) => told.in_file(path.as_str()),
        None => told,
    }
}

/// The lines of a `|` text are lines of the file, each behind the same indentation.
fn in_block(node: NodeRef<'_>, text: &str, begin: At, end: At) -> Option<Span> {
    if node.as_scalar()?.style() != ScalarStyle::Literal {
        return None;
    }
    let lines: Vec<&str> = node.text().split_inclusive('\n').collect();
    let line = lines.get(begin.line + 1)?;
    let written = text.split('\n').nth(begin.line)?;
    let indent = line.trim_end_matches(['\n', '\r']).len().checked_sub(written.len())?;
    let before: usize = lines[..=begin.line].iter().map(|line| line.len()).sum();
    let start = node.start() as usize + before + indent;
    let last = if end.line == begin.line { end.bytes(text) } else { written.len() };
    let offset = |column: usize| u32::try_from(start + column).ok();
    let from = begin.bytes(text);
    Some(Span { start: offset(from)?, end: offset(last.max(from))? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, line: usize, column: usize) -> (u32, u32, String) {
        let resource = Resource::parse(text).unwrap();
        let node = resource.get("source").unwrap();
        let script = node.as_scalar().unwrap().value().into_owned();
        let (begin, end) = (At { line, column }, At { line, column: column + 1 });
        let told = tell(Diagnostic::untyped_error("x"), &resource, node, (&script, begin, end));
        let place = told.location.unwrap();
        (place.line, place.column, place.text[place.marked].to_owned())
    }

    #[test]
    fn lines_of_a_block_are_lines_of_the_file() {
        let text = "kind: A\nsource: |\n  a = 1\n\n  ü = b\nx: y\n";
        assert_eq!(place(text, 0, 4), (3, 7, "1".to_owned()));
        assert_eq!(place(text, 2, 4), (5, 7, "b".to_owned()));
        let kept = "kind: A\nlist:\n- source: |2-\n     a\n    b\nsource: |-\n    a\n      b";
        assert_eq!(place(kept, 1, 2), (8, 7, "b".to_owned()));
    }

    #[test]
    fn other_texts_are_one_place() {
        assert_eq!(place("kind: A\nsource: \"a\\nb\"\n", 1, 0), (2, 9, "\"a\\nb\"".to_owned()));
    }
}
