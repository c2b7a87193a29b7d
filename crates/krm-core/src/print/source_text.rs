//! The source text of a node: as it is written, without the indentation of its parents, with the comments inside it.

use crate::functions::resource_list::serialize;
use krm_yaml::{Comment, CommentPosition, DocumentRef, File, NodeRef, ScalarStyle, Span};

/// The source text of a node with its tag, without its anchor, and without a line break at the end.
///
/// ```
/// let file = krm_yaml::File::parse("spec:\n  # how many\n  replicas: 3 # for now\nkind: A\n".to_owned())?;
/// let spec = file.document(0).and_then(|document| document.find(&"spec".parse().ok()?)).expect("spec exists");
/// assert_eq!(krm_core::print::source_text::text(spec), "# how many\nreplicas: 3 # for now");
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
pub fn text(node: NodeRef<'_>) -> String {
    let node = node.resolve();
    let needed = node.parent().is_some() && node.is_block();
    text_among(node, &if needed { node.document().comments() } else { Vec::new() })
}

/// The source texts of several nodes of one document, with the comments above them. A node with an alias of something outside
/// is serialized instead, with the alias expanded.
pub fn texts(nodes: &[NodeRef<'_>]) -> Vec<String> {
    let needs = |node: &&NodeRef<'_>| node.parent().is_some() && node.is_block();
    let comments = nodes.iter().find(needs).map(|node| node.document().comments());
    let comments = comments.unwrap_or_default();
    let is_part = |node: &NodeRef<'_>| node.parent().is_some();
    let as_written =
        |node: &NodeRef<'_>| above(*node, &comments) + &text_among(node.resolve(), &comments);
    let text = |node: &NodeRef<'_>| match is_part(node) && has_external_alias(*node, node.span()) {
        // If the expansion is too large, the alias is kept: the result is an error for its reader instead of another value.
        true => serialize(*node).unwrap_or_else(|| as_written(node)),
        false => as_written(node),
    };
    nodes.iter().map(text).collect()
}

fn serialize(node: NodeRef<'_>) -> Option<String> {
    let text = serialize::expanded(node).ok()?;
    Some(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

/// The source texts of several resources of one document, each as a document with the same meaning.
///
/// The text before a document marker belongs to the file. The last line keeps its line break, unless the file ends without
/// one: otherwise a literal block scalar would change its value.
pub(crate) fn document_texts(nodes: &[NodeRef<'_>]) -> Vec<String> {
    let all = match nodes {
        [node] if node.parent().is_none() => vec![text(*node)],
        _ => texts(nodes),
    };
    let ended = |(text, node): (String, &NodeRef<'_>)| match ends_file_without_line_break(*node) {
        true => text,
        false => ensure_trailing_newline(text),
    };
    all.into_iter().zip(nodes).map(ended).collect()
}

/// The source text of a resource as lines that can be put before others, with the comments above it.
pub(crate) fn lines(node: NodeRef<'_>) -> String {
    end_line(texts(&[node]).concat(), node)
}

/// Adds the line break at the end of a node's text. If the file ends without one, the text keeps its meaning: see [`closed`].
pub(crate) fn end_line(text: String, node: NodeRef<'_>) -> String {
    match ends_file_without_line_break(node) {
        true => closed(text),
        false => ensure_trailing_newline(text),
    }
}

fn ends_file_without_line_break(node: NodeRef<'_>) -> bool {
    let text = node.document().file().text();
    node.end() as usize == text.len() && !text.ends_with('\n')
}

/// The span of a document's text as [`document_texts`] returns it: its content and one line break. None if a line break is missing and
/// would have to be added.
pub(crate) fn document_span(document: DocumentRef<'_>) -> Option<Span> {
    let source = document.file().text();
    let start = content_span(document).start;
    let content = content(document);
    let end = start as usize + content.len();
    let rest = &source[end..];
    let line_break = match content.ends_with('\n') || rest.is_empty() {
        true => "",
        false => ["\n", "\r\n"].into_iter().find(|it| rest.starts_with(it))?,
    };
    Some(Span::new(start, (end + line_break.len()) as u32))
}

/// The comments above a node; for a document, those before its marker.
fn above(node: NodeRef<'_>, comments: &[Comment<'_>]) -> String {
    let document = node.document();
    let lines: Vec<&str> = match (node.parent(), document.start_marker()) {
        (Some(_), _) => {
            // Compat: kpt writes the comments above an item behind its dash, where they are line comments.
            let is_above = |comment: &Comment<'_>| {
                comment.position == CommentPosition::Head || comment.span.start < node.start()
            };
            let own = |comment: &&Comment<'_>| comment.owner == Some(node) && is_above(comment);
            comments.iter().filter(own).map(|comment| comment.text).collect()
        }
        (None, Some(marker)) => {
            let before = Span::new(document.span().start, marker.start).of(document.file().text());
            let lines = before.trim_start_matches('\u{feff}').trim().lines();
            lines.filter(|line| !line.starts_with('%')).collect()
        }
        (None, None) => Vec::new(),
    };
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Whether a node contains an alias of something outside of it.
fn has_external_alias(node: NodeRef<'_>, own: Span) -> bool {
    let outside = node.target().is_some_and(|target| !own.contains(target.span()));
    outside || node.children().any(|child| has_external_alias(child, own))
}

/// Adds a line break at the end if there is none, in the style of the text.
pub fn ensure_trailing_newline(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push_str(if text.contains("\r\n") { "\r\n" } else { "\n" });
    }
    text
}

/// Adds a line break at the end of the text of a file if there is none, without changing its meaning: see [`File::closed_text`].
///
/// For the text of a node, whose own line break was left out, use [`ensure_trailing_newline`].
pub(crate) fn closed(text: String) -> String {
    if text.is_empty() || text.ends_with('\n') {
        return text;
    }
    match File::parse(text.clone()) {
        Ok(file) => file.closed_text(),
        Err(_) => ensure_trailing_newline(text),
    }
}

fn text_among(node: NodeRef<'_>, comments: &[Comment<'_>]) -> String {
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
    let span = with_comments(node, comments);
    let depth = column(source, node.start());
    let first_line = &source[..span.start as usize];
    let lead = first_line.len() - first_line.trim_end_matches(' ').len();
    // The comment above the first entry brings its own indentation.
    let start = span.start as usize - if span.start < node.start() { lead } else { 0 };
    let text = &source[start..span.end as usize];
    let body = shift_left(text, depth);
    let mut body = body.trim_start_matches(' ').to_owned();
    if keeps_line_breaks(node) {
        let end = source[..node.end() as usize].trim_end().len();
        let blank = source[end..].split_inclusive('\n');
        let blank = blank.take_while(|line| line.trim().is_empty() && line.ends_with('\n'));
        body.extend(blank.map(|line| if line.ends_with("\r\n") { "\r\n" } else { "\n" }));
    }
    match node.tag() {
        Some(tag) => format!("{tag}\n{body}"),
        None => body,
    }
}

/// The text between the markers of a document, without insignificant blank lines around it.
fn content(document: DocumentRef<'_>) -> &str {
    let text = content_span(document).of(document.file().text());
    match document.root().is_some_and(keeps_line_breaks) {
        true => text,
        false => text.trim_end(),
    }
}

/// The span between the markers of a document, without the blank lines before it.
pub(crate) fn content_span(document: DocumentRef<'_>) -> Span {
    let whole = document.content_span();
    let text = whole.of(document.file().text());
    let kept = text.trim_start_matches('\u{feff}').trim_start_matches(['\r', '\n']);
    Span::new(whole.end - kept.len() as u32, whole.end)
}

/// Whether the last value is a block scalar that keeps its trailing line breaks (`|+` or `>+`).
fn keeps_line_breaks(node: NodeRef<'_>) -> bool {
    if let Some(last) = node.children().last() {
        return keeps_line_breaks(last);
    }
    let block = node
        .as_scalar()
        .filter(|scalar| matches!(scalar.style(), ScalarStyle::Literal | ScalarStyle::Folded));
    let header = block.and_then(|scalar| scalar.raw().lines().next());
    header.is_some_and(|header| header.split('#').next().is_some_and(|head| head.contains('+')))
}

/// The span of a node with all comments inside it.
fn with_comments(node: NodeRef<'_>, comments: &[Comment<'_>]) -> Span {
    let own = node.span();
    let inside = |owner: NodeRef<'_>| own.contains(owner.span()) && owner != node;
    let mut span = own;
    for comment in comments {
        let Some(owner) = comment.owner else { continue };
        let below = owner == node
            && matches!(comment.position, CommentPosition::Foot | CommentPosition::Free);
        // A line comment after the key belongs to the key.
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

/// Removes up to `columns` spaces from every line but the first, and trailing white space from the end.
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
    fn indentation_of_parents_is_removed() {
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
    fn only_comments_inside_the_node_are_included() {
        let source = "# head\na: # of a\n  # first\n  b: 1 # beside\n\n  # between\n\n  c: 2\n  # below\n# of d\nd: 1\n";
        assert_eq!(at(source, "a"), "# first\nb: 1 # beside\n\n# between\n\nc: 2\n# below");
    }

    #[test]
    fn flow_style_is_kept() {
        let source = "a:\n  b: {x: 1,\n    y: 2\n  } # not mine\n";
        assert_eq!(at(source, "a.b"), "{x: 1,\n  y: 2\n}");
        assert_eq!(at("a: &x !t [1]\n", "a"), "!t [1]");
    }

    #[test]
    fn tag_of_a_block_collection_is_on_its_own_line() {
        assert_eq!(at("a: !t\n  b: 1\n", "a"), "!t\nb: 1");
    }

    #[test]
    fn text_of_the_root_has_no_document_markers() {
        assert_eq!(at("# head\n---\n# more\na: 1\n...\n", "."), "# more\na: 1");
        assert_eq!(at("\u{feff}# head\na: 1\n", "."), "# head\na: 1");
    }

    #[test]
    fn trailing_line_breaks_of_keep_scalars_are_kept() {
        assert_eq!(at("a: |+\n  x\n\n---\nb: 1\n", "."), "a: |+\n  x\n\n");
        assert_eq!(at("a: x\n\n\n---\nb: 1\n", "."), "a: x");
        assert_eq!(at("- a: |+\n    x\n\n- b: 1\n", "[0]"), "a: |+\n  x\n\n");
        assert_eq!(at("- a: |+\n    x\n", "[0]"), "a: |+\n  x\n");
        assert_eq!(at("- a: |\n    x\n\n- b: 1\n", "[0]"), "a: |\n  x");
    }

    #[test]
    fn item_with_an_external_alias_is_serialized() {
        let file = krm_yaml::File::parse("- a: &x [1]\n- b: *x # c\n".to_owned()).unwrap();
        let items: Vec<_> = file.document(0).unwrap().root().unwrap().children().collect();
        assert_eq!(texts(&items), ["a: &x [1]", "b:\n- 1"]);
    }

    #[test]
    fn serialized_numbers_stay_numbers() {
        let text = "- a: &x [0x1F, .inf, 1e3, '0x1F']\n- b: *x\n";
        let file = krm_yaml::File::parse(text.to_owned()).unwrap();
        let items: Vec<_> = file.document(0).unwrap().root().unwrap().children().collect();
        assert_eq!(texts(&items)[1], "b:\n- 0x1F\n- .inf\n- 1e3\n- \"0x1F\"");
    }

    #[test]
    fn comments_above_nodes_are_included() {
        let source = "# licence\n---\n# head\nlist:\n# of one\n- a: 1\n# of two\n# again\n- b: 2\n";
        let file = krm_yaml::File::parse(source.to_owned()).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        assert_eq!(texts(&[root]), [source.replace("---\n", "").trim_end()]);
        let items: Vec<_> = root.as_mapping().unwrap().get("list").unwrap().children().collect();
        assert_eq!(texts(&items), ["# of one\na: 1", "# of two\n# again\nb: 2"]);
    }

    #[test]
    fn comments_behind_the_dash_are_included() {
        let source = "# zero\n- # of one\n  # more\n  a: 1\n  # below\n- # of two\n\n  # x\n  {b: 2}\n-\n  # y\n\n  c: 3\n- # z\n  - 1\n";
        let file = krm_yaml::File::parse(source.to_owned()).unwrap();
        let items: Vec<_> = file.document(0).unwrap().root().unwrap().children().collect();
        let expected =
            ["# of one\n# more\na: 1\n# below", "# of two\n# x\n{b: 2}", "# y\nc: 3", "# z\n- 1"];
        assert_eq!(texts(&items), expected);
    }

    #[test]
    fn line_endings_are_kept() {
        assert_eq!(at("a:\r\n  b: 1\r\n  c: 2\r\nd: 3\r\n", "a"), "b: 1\r\nc: 2");
    }
}
