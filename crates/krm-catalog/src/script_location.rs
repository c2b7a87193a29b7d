//! The location of a line of a script that is a string in a resource.

use krm_sdk::{Diagnostic, Resource};
use krm_yaml::{NodeRef, ScalarStyle, Span};

/// A position in a script: line and column in characters, from zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ScriptPosition {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl ScriptPosition {
    /// The byte offset in the script.
    #[cfg(feature = "starlark")]
    pub(crate) fn offset(self, text: &str) -> usize {
        let lines = text.split_inclusive('\n').take(self.line).map(str::len);
        lines.sum::<usize>() + self.offset_in_line(text)
    }

    /// The byte offset in the line.
    fn offset_in_line(self, text: &str) -> usize {
        let line = text.split('\n').nth(self.line).unwrap_or_default();
        line.chars().take(self.column).map(char::len_utf8).sum()
    }
}

/// Locates a diagnostic of a script in the file: at the line of a literal block scalar, otherwise at the whole field.
pub(crate) fn locate(
    diagnostic: Diagnostic,
    resource: &Resource,
    node: NodeRef<'_>,
    (text, begin, end): (&str, ScriptPosition, ScriptPosition),
) -> Diagnostic {
    let span = in_block_scalar(node, text, begin, end).unwrap_or(node.span());
    let diagnostic = diagnostic.at(resource.item().file(), span);
    match resource.path() {
        Some(path) => diagnostic.in_file(path.as_str()),
        None => diagnostic,
    }
}

/// The lines of a literal block scalar are lines of the file, each with the same indentation.
fn in_block_scalar(
    node: NodeRef<'_>,
    text: &str,
    begin: ScriptPosition,
    end: ScriptPosition,
) -> Option<Span> {
    if node.as_scalar()?.style() != ScalarStyle::Literal {
        return None;
    }
    let lines: Vec<&str> = node.text().split_inclusive('\n').collect();
    let line = lines.get(begin.line + 1)?;
    let written = text.split('\n').nth(begin.line)?;
    let indent = line.trim_end_matches(['\n', '\r']).len().checked_sub(written.len())?;
    let before: usize = lines[..=begin.line].iter().map(|line| line.len()).sum();
    let start = node.start() as usize + before + indent;
    let last = if end.line == begin.line { end.offset_in_line(text) } else { written.len() };
    let offset = |column: usize| u32::try_from(start + column).ok();
    let from = begin.offset_in_line(text);
    Some(Span { start: offset(from)?, end: offset(last.max(from))? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::CatalogKind;

    fn location(text: &str, line: usize, column: usize) -> (u32, u32, String) {
        let resource = Resource::parse(text).unwrap();
        let node = resource.get_in(["source"]).unwrap();
        let script = node.as_scalar().unwrap().value().into_owned();
        let (begin, end) =
            (ScriptPosition { line, column }, ScriptPosition { line, column: column + 1 });
        let error = Diagnostic::error(CatalogKind::Failed { message: "x".into() });
        let error = locate(error, &resource, node, (&script, begin, end));
        let at = error.location.unwrap();
        (at.line, at.column, at.text[at.marked].to_owned())
    }

    #[test]
    fn block_scalar_lines_are_located() {
        let text = "kind: A\nsource: |\n  a = 1\n\n  ü = b\nx: y\n";
        assert_eq!(location(text, 0, 4), (3, 7, "1".to_owned()));
        assert_eq!(location(text, 2, 4), (5, 7, "b".to_owned()));
        let kept = "kind: A\nlist:\n- source: |2-\n     a\n    b\nsource: |-\n    a\n      b";
        assert_eq!(location(kept, 1, 2), (8, 7, "b".to_owned()));
    }

    #[test]
    fn other_scalars_are_located_as_a_whole() {
        assert_eq!(location("kind: A\nsource: \"a\\nb\"\n", 1, 0), (2, 9, "\"a\\nb\"".to_owned()));
    }
}
