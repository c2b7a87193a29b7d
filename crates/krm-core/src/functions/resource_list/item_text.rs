//! The text of an item in an input list: the document without its markers, with annotations added.

use std::ops::Range;

use krm_yaml::{CollectionStyle, DocumentRef, Edit, File, NodeRef, ScalarStyle, Span};

use super::annotations::is_wire_annotation;
use super::{Item, ResourceListKind, serialize};
use crate::compare::equal_in_yaml_1_2;
use crate::model::resource::{field, is_null, scalar_text};
use crate::print::json;
use crate::print::source_text;
use crate::{Diagnostic, annotate};

/// The name and value of an annotation.
pub(super) type Annotation<'a> = (&'a str, String);

/// The text of an item with annotations added, and a line break at its end.
///
/// In the common layout, lines are inserted below `annotations:` or `metadata:`, which cannot fail and needs no verification. Any other
/// layout is edited, and a resource whose annotations are aliased is sent expanded.
///
/// A null that is not written in flow style (`{a: }`) is sent as `null`, because Go's libraries print it again as the empty string. That
/// cannot be distinguished from a function that sets the empty string. Block scalars that go-yaml prints with another value are sent
/// quoted: it adds an empty line before an indented line of a folded scalar, and writes wrong indentation indicators.
pub(super) fn text(item: &Item, annotations: &[Annotation<'_>]) -> Result<String, Diagnostic> {
    let root = item.root();
    if let Some(body) = body(root)
        && !is_misprinted(root)
        && let Some(insertion) = AnnotationInsertion::of(root)
    {
        return Ok(insert_lines(item.text(), body, &insertion, annotations));
    }
    let pairs: Vec<(&str, &str)> = annotations.iter().map(|(name, it)| (*name, &**it)).collect();
    let source = body(root).map(|body| rewritten(ended(body.of(item.text()))));
    let source = source.and_then(|text| edited(text, &pairs));
    let expanded = || serialize::expanded(root).ok().and_then(|text| edited(text, &pairs));
    source.or_else(expanded).ok_or_else(|| {
        let kind = ResourceListKind::CannotAnnotate { resource: item.resource().label() };
        let error = Diagnostic::error(kind).at(item.file(), root.span());
        match &item.path {
            Some(path) => error.in_file(path.as_str()),
            None => error,
        }
    })
}

/// The text of an item without added annotations, with a line break at its end.
pub(super) fn plain(item: &Item) -> String {
    let root = item.root();
    match body(root).map(|body| ended(body.of(item.text()))) {
        Some(text) if is_misprinted(root) => rewritten(text),
        Some(text) => text,
        None => serialize::expanded(item.root()).unwrap_or_else(|_| ended(item.text())),
    }
}

/// The part of a document that can be moved into a list as it is; none if the document must be expanded: directives cannot be moved, a
/// lone `\r` is a line break that indentation does not handle, and a block scalar without a final line break would get one.
fn body(root: NodeRef<'_>) -> Option<Span> {
    let document = root.document();
    let span = source_text::content_span(document);
    let text = span.of(document.file().text());
    let has_lone_cr = || text.replace("\r\n", "").contains('\r');
    let needs_line_break = !text.ends_with('\n') && ends_in_block_scalar(document);
    let is_unmovable = needs_line_break
        || text.contains('\r') && has_lone_cr()
        || document.start_marker().is_some() && !document.directives().is_empty();
    (!is_unmovable).then_some(span)
}

/// Whether the last value of a document is a block scalar that reaches the end of the file.
fn ends_in_block_scalar(document: DocumentRef<'_>) -> bool {
    let last = document.root().and_then(|root| root.descendants().last());
    let is_block = |node: &NodeRef<'_>| node.as_scalar().is_some_and(|it| it.style().is_block());
    let is_last = |node: &NodeRef<'_>| node.end() as usize == document.file().text().len();
    last.filter(is_block).is_some_and(|node| is_last(&node))
}

fn ended(text: &str) -> String {
    source_text::ensure_trailing_newline(text.to_owned())
}

fn edited(text: String, annotations: &[(&str, &str)]) -> Option<String> {
    let file = File::parse(text).ok()?;
    let root = file.documents().find_map(|document| document.root())?;
    let mut edit = Edit::new(&file);
    annotate::add(&mut edit, root, annotations).ok()?;
    edit.apply().ok()
}

/// Whether Go's libraries print a part of a document with another meaning.
fn is_misprinted(root: NodeRef<'_>) -> bool {
    root.descendants().any(|node| is_unwritten_null(node) || is_misprinted_block_scalar(node))
}

/// A document with those parts written in another way. They are replaced in the text, because setting a value to itself is not an edit.
fn rewritten(text: String) -> String {
    let Ok(file) = File::parse(text.clone()) else { return text };
    let Some(root) = file.documents().find_map(|document| document.root()) else { return text };
    let source = file.text();
    let nulls =
        root.descendants().filter(|it| is_unwritten_null(*it)).filter_map(NodeRef::key).map(
            |key| {
                let end = key.end() as usize;
                let gap = source[end..].find(|c| c != ' ').unwrap_or_default();
                match source[end + gap..].starts_with(':') {
                    true => (end + gap + 1..end + gap + 1, " null".to_owned()),
                    false => (end..end, ": null".to_owned()),
                }
            },
        );
    let scalars = root.descendants().filter(|it| is_misprinted_block_scalar(*it));
    let scalars = scalars.filter_map(|node| {
        let range = node.start() as usize..node.end() as usize;
        let mut new = String::new();
        krm_yaml::write_double_quoted(&node.as_scalar()?.value(), &mut new);
        if source[range.clone()].ends_with('\n') {
            new.push('\n');
        }
        Some((range, new))
    });
    let mut replacements: Vec<(Range<usize>, String)> = nulls.chain(scalars).collect();
    replacements.sort_by_key(|(range, _)| range.start);
    let (mut new, mut copied) = (String::with_capacity(source.len() + 16), 0);
    for (range, text) in replacements {
        new.push_str(&source[copied..range.start]);
        new.push_str(&text);
        copied = range.end;
    }
    new.push_str(&source[copied..]);
    let written = File::parse(new).ok();
    let is_same = written.as_ref().is_some_and(|written| {
        let roots: Vec<NodeRef<'_>> = written.documents().filter_map(|it| it.root()).collect();
        written.errors().next().is_none() && roots.len() == 1 && equal_in_yaml_1_2(roots[0], root)
    });
    written.filter(|_| is_same).map_or(text, File::into_text)
}

/// Whether this is a block scalar that go-yaml misprints: a folded one with a line that starts with a blank, or one whose value starts
/// with a space or a line break, which needs an indentation indicator. One with a comment in its header is sent as it is.
fn is_misprinted_block_scalar(node: NodeRef<'_>) -> bool {
    let Some(scalar) = node.as_scalar().filter(|it| it.style().is_block()) else {
        return false;
    };
    let mut lines = node.document().file().text()[node.start() as usize..].lines();
    let (header, first) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let is_folded = scalar.style() == ScalarStyle::Folded;
    let may_be_indicated =
        first.trim().is_empty() || header.contains(|it: char| it.is_ascii_digit());
    // Most are literal and start with a word: their values are not copied.
    if header.contains('#') || !(is_folded || may_be_indicated) {
        return false;
    }
    let value = scalar.value();
    value.starts_with([' ', '\n']) || is_folded && (value.contains("\n ") || value.contains("\n\t"))
}

/// Whether this is a value in flow style that is null because nothing is written.
fn is_unwritten_null(node: NodeRef<'_>) -> bool {
    node.as_scalar().is_some()
        && node.span().is_empty()
        && node.key().is_some()
        && node.parent().is_some_and(|it| it.collection_style() == CollectionStyle::Flow)
        && is_null(node)
}

/// Where lines for annotations are inserted.
struct AnnotationInsertion {
    /// The start of the line before which they are inserted.
    at: u32,
    /// Their indentation.
    indent: usize,
    /// Whether `annotations:` is inserted, too.
    is_new: bool,
}

impl AnnotationInsertion {
    /// The insertion for a document in the common layout: `metadata` and `annotations` are block mappings, there are no aliases, and no
    /// annotation of the ResourceList exists yet.
    fn of(root: NodeRef<'_>) -> Option<Self> {
        if root.document().aliases().next().is_some() || !root.is_block() {
            return None;
        }
        let metadata = root.as_mapping()?.entry("metadata")?;
        let Some(entry) = metadata.value.as_mapping()?.entry("annotations") else {
            return Self::below(metadata.key, metadata.value, true);
        };
        let annotations = entry.value.as_mapping()?;
        let is_wire =
            |name: NodeRef<'_>| scalar_text(name).is_some_and(|it| is_wire_annotation(&it));
        if annotations.entries().any(|entry| is_wire(entry.key)) {
            return None;
        }
        Self::below(entry.key, entry.value, false)
    }

    fn below(key: NodeRef<'_>, mapping: NodeRef<'_>, is_new: bool) -> Option<Self> {
        let source = key.document().file().text();
        let first = mapping.children().next()?;
        let has_properties = |node: NodeRef<'_>| node.anchor().is_some() || node.tag().is_some();
        if !mapping.is_block() || has_properties(mapping) || has_properties(first) {
            return None;
        }
        let line = source[..first.start() as usize].rfind('\n')? + 1;
        let indent = &source[line..first.start() as usize];
        let below = &source[key.end() as usize..];
        let at = key.end() as usize + below.find('\n')? + 1;
        let is_common = at <= line && indent.bytes().all(|byte| byte == b' ');
        is_common.then_some(Self { at: at as u32, indent: indent.len(), is_new })
    }
}

fn insert_lines(
    source: &str,
    body: Span,
    insertion: &AnnotationInsertion,
    annotations: &[Annotation<'_>],
) -> String {
    let line_break = if source[..insertion.at as usize].ends_with("\r\n") { "\r\n" } else { "\n" };
    let mut out = String::with_capacity((body.end - body.start) as usize + 256);
    out.push_str(&source[body.start as usize..insertion.at as usize]);
    let mut line = |indent: usize, parts: [&str; 2]| {
        out.extend(std::iter::repeat_n(' ', indent));
        out.extend(parts.into_iter().chain([line_break]));
    };
    if insertion.is_new {
        line(insertion.indent, ["annotations:", ""]);
    }
    let indent = insertion.indent + if insertion.is_new { 2 } else { 0 };
    for (name, value) in annotations {
        let value = if crate::print::is_plain_scalar(value) { value } else { &json::string(value) };
        line(indent, [&format!("{name}: "), value]);
    }
    out.push_str(&source[insertion.at as usize..body.end as usize]);
    source_text::ensure_trailing_newline(out)
}

/// The annotations of a resource, as strings.
pub(super) fn own(root: NodeRef<'_>) -> impl Iterator<Item = (String, String)> {
    let annotations = field(root, "metadata").and_then(|it| field(it, "annotations"));
    let entries = annotations.filter(|it| !is_null(*it)).and_then(NodeRef::as_mapping);
    let entries = entries.into_iter().flat_map(|mapping| mapping.entries());
    entries.filter_map(|entry| {
        Some((scalar_text(entry.key)?.into_owned(), scalar_text(entry.value)?.into_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn annotated(source: &str) -> String {
        let item = Item::parse(source.to_owned()).unwrap();
        let text = text(&item, &[("a.b/c", "d/e.yaml".to_owned()), ("a.b/n", "0".to_owned())]);
        let text = text.unwrap();
        let file = File::parse(text.clone()).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        let all: Vec<_> = own(root).filter(|(name, _)| name.starts_with("a.b")).collect();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(all, [pair("a.b/c", "d/e.yaml"), pair("a.b/n", "0")], "{text}");
        text
    }

    #[test]
    fn block_scalars_that_go_misprints_are_sent_quoted() {
        let head = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n";
        let folds = "x:\n- y: >-\n    a(b,\n      c\n    )\n  # comment\n- z: >\n    a\n    b\n\n- >+\n  a\n   b\n\n- |\n\n  a\n- |2\n   a\nw: 1\n";
        let sent = annotated(&format!("{head}{folds}"));
        let expected = "x:\n- y: \"a(b,\\n  c\\n)\"\n  # comment\n- z: >\n    a\n    b\n\n- \"a\\n b\\n\\n\"\n\n- \"\\na\\n\"\n- \" a\\n\"\nw: 1\n";
        assert!(sent.ends_with(expected), "{sent}");
        let item = Item::parse(format!("{head}{folds}")).unwrap();
        assert!(plain(&item).ends_with(expected), "{}", plain(&item));
    }

    #[test]
    fn unwritten_nulls_in_flow_style_are_written() {
        let head = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n";
        let nulls = "x: {a: , b: 1, c}\ny: {{ .Image }}\nz:\n";
        let sent = annotated(&format!("{head}{nulls}"));
        assert!(
            sent.contains("x: {a: null , b: 1, c: null}\ny: {{ .Image: null }: null}\n"),
            "{sent}"
        );
        let file = File::parse(sent).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        assert!(!root.descendants().any(is_unwritten_null));
        let before = File::parse(nulls.to_owned()).unwrap();
        let before = before.document(0).unwrap().root().unwrap().as_mapping().unwrap();
        for entry in before.entries() {
            let now = field(root, &entry.key.as_scalar().unwrap().value()).unwrap();
            assert!(equal_in_yaml_1_2(entry.value, now), "{}", now.text());
        }
    }

    #[test]
    fn annotations_are_inserted_below_their_key() {
        let head = "apiVersion: v1\nkind: Pod\n";
        assert_eq!(
            annotated(&format!("{head}metadata: # m\n    # of it\n    name: a\n")),
            format!(
                "{head}metadata: # m\n    annotations:\n      a.b/c: d/e.yaml\n      a.b/n: \"0\"\n    # of it\n    name: a\n"
            )
        );
        assert_eq!(
            annotated(&format!(
                "---\r\n{head}metadata:\r\n  annotations:\r\n    # x\r\n    x: y\r\n"
            )),
            format!(
                "{head}metadata:\r\n  annotations:\r\n    a.b/c: d/e.yaml\r\n    a.b/n: \"0\"\r\n    # x\r\n    x: y\r\n"
            )
        );
    }

    #[test]
    fn other_layouts_are_edited_or_expanded() {
        let head = "apiVersion: v1\nkind: Pod\n";
        for metadata in [
            "",
            "metadata:\n",
            "metadata: {name: a}\n",
            "metadata: {name: a, annotations: {}}\n",
            "metadata:\n  annotations: {x: y}\n",
            "metadata:\n  annotations:\n  name: a\n",
            "metadata: !!map\n  name: a\n",
            "metadata:\n  ? name\n  : a\n",
            "metadata:\n  annotations: &a\n    x: y\nspec: *a\n",
            "m: &m {annotations: {q: r}}\nmetadata:\n  <<: *m\n  name: a\n",
            "metadata:\n  name: a\nx: |\n  no end",
        ] {
            annotated(&format!("{head}{metadata}"));
        }
        annotated("{\"apiVersion\": \"v1\",\n \"kind\": \"Pod\"}\n");
        annotated("%TAG !e! tag:example.com,2000:\n---\napiVersion: v1\nkind: Pod\nx: !e!y z\n");
        annotated("apiVersion: v1\rkind: Pod\r");
    }
}
