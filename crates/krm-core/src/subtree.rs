//! One node as a text of its own: as it is written, moved to the left edge, with the comments inside it.

use krm_yaml::{CommentPlace, DocumentRef, NodeRef, Span};

/// The text of a node with its tag, without its anchor, and without a line break at its end.
///
/// ```
/// let file = krm_yaml::File::parse("spec:\n  # how many\n  replicas: 3 # for now\nkind: A\n".to_owned())?;
/// let spec = file.document(0).and_then(|document| document.find(&"spec".parse().ok()?)).expect("it is there");
/// assert_eq!(krm_core::subtree::text(spec), "# how many\nreplicas: 3 # for now");
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
pub fn text(node: NodeRef<'_>) -> String {
    let node = node.resolve();
    let document = node.document();
    if node.parent().is_none() {
        return content(document).to_owned();
    }
    let source = document.file().text();
    if !node.is_block() {
        let line = document.file().line_at(node.start());
        let indentation = indentation(line.of(source));
        let text = shift_left(node.text(), indentation);
        return node.tag().map_or(text.clone(), |tag| format!("{tag} {text}"));
    }
    let span = with_comments(node);
    let depth = column(source, node.start());
    let first_line = &source[..span.start as usize];
    let lead = first_line.len() - first_line.trim_end_matches(' ').len();
    // The comment above the first entry brings its own indentation.
    let start = span.start as usize - if span.start < node.start() { lead } else { 0 };
    let text = &source[start..span.end as usize];
    let body = shift_left(text, depth);
    let body = body.trim_start_matches(' ');
    match node.tag() {
        Some(tag) => format!("{tag}\n{body}"),
        None => body.to_owned(),
    }
}

/// Everything between the markers of a document.
fn content(document: DocumentRef<'_>) -> &str {
    let span = document.span();
    let start = document.start_marker().map_or(span.start, |marker| marker.end);
    let end = document.end_marker().map_or(span.end, |marker| marker.start);
    let text = Span::new(start, end.max(start)).of(document.file().text());
    text.trim_start_matches('\u{feff}').trim_start_matches(['\r', '\n']).trim_end()
}

/// The node with the comments of everything in it.
fn with_comments(node: NodeRef<'_>) -> Span {
    let own = node.span();
    let inside = |owner: NodeRef<'_>| own.contains(owner.span()) && owner != node;
    let mut span = own;
    for comment in node.document().comments() {
        let Some(owner) = comment.owner else { continue };
        let below =
            owner == node && matches!(comment.place, CommentPlace::Below | CommentPlace::Free);
        // A comment beside the key that leads here is the key's.
        if inside(owner) || below {
            span = Span::new(span.start.min(comment.span.start), span.end.max(comment.span.end));
        }
    }
    span
}

fn column(source: &str, at: u32) -> usize {
    let before = &source[..at as usize];
    let line = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    before[line..].trim_start_matches('\u{feff}').chars().count()
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Takes up to `columns` spaces off every line but the first, and what only ends the text off its end.
fn shift_left(text: &str, columns: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let spaces = if at == 0 { 0 } else { indentation(line).min(columns) };
        out.push_str(&line[spaces..]);
    }
    let kept = out.trim_end_matches(['\n', '\r', ' ']).len();
    out.truncate(kept);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(source: &str, path: &str) -> String {
        let file = krm_yaml::File::parse(source.to_owned()).unwrap();
        text(file.document(0).unwrap().find(&path.parse().unwrap()).unwrap())
    }

    #[test]
    fn items_and_mappings_move_to_the_left_edge() {
        let source =
            "a:\n  b:\n    - x: 1\n      y: |\n        two\n          lines\n    # last\n    - z\n";
        assert_eq!(at(source, "a.b[0]"), "x: 1\ny: |\n  two\n    lines");
        assert_eq!(at(source, "a.b"), "- x: 1\n  y: |\n    two\n      lines\n# last\n- z");
        assert_eq!(
            at(source, "a"),
            "b:\n  - x: 1\n    y: |\n      two\n        lines\n  # last\n  - z"
        );
    }

    #[test]
    fn comments_inside_come_along_and_others_stay() {
        let source = "# head\na: # of a\n  # first\n  b: 1 # beside\n\n  # between\n\n  c: 2\n  # below\n# of d\nd: 1\n";
        assert_eq!(at(source, "a"), "# first\nb: 1 # beside\n\n# between\n\nc: 2\n# below");
    }

    #[test]
    fn brackets_stay_brackets() {
        let source = "a:\n  b: {x: 1,\n    y: 2\n  } # not mine\n";
        assert_eq!(at(source, "a.b"), "{x: 1,\n  y: 2\n}");
        assert_eq!(at("a: &x !t [1]\n", "a"), "!t [1]");
    }

    #[test]
    fn a_tag_of_a_block_stands_above_it() {
        assert_eq!(at("a: !t\n  b: 1\n", "a"), "!t\nb: 1");
    }

    #[test]
    fn the_root_is_the_document_without_its_markers() {
        assert_eq!(at("# head\n---\n# more\na: 1\n...\n", "."), "# more\na: 1");
        assert_eq!(at("\u{feff}# head\na: 1\n", "."), "# head\na: 1");
    }

    #[test]
    fn line_ends_are_kept() {
        assert_eq!(at("a:\r\n  b: 1\r\n  c: 2\r\nd: 3\r\n", "a"), "b: 1\r\nc: 2");
    }
}
