//! The events of a file in the notation of the yaml-test-suite, one per line.

use std::fmt::Write as _;

use crate::document::DocumentRef;
use crate::node::{CollectionStyle, NodeKind, ScalarStyle};
use crate::{File, NodeRef};

/// Writes the events of a whole file.
///
/// ```
/// let file = krm_yaml::File::parse("a: [1]\n".to_owned())?;
/// assert_eq!(
///     krm_yaml::events(&file),
///     "+STR\n+DOC\n+MAP\n=VAL :a\n+SEQ []\n=VAL :1\n-SEQ\n-MAP\n-DOC\n-STR\n"
/// );
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
pub fn events(file: &File) -> String {
    let mut out = String::from("+STR\n");
    for document in file.documents() {
        write_document(document, &mut out);
    }
    out.push_str("-STR\n");
    out
}

fn write_document(document: DocumentRef<'_>, out: &mut String) {
    let Some(root) = document.root() else { return };
    out.push_str(if document.start_marker().is_some() { "+DOC ---\n" } else { "+DOC\n" });
    write_node(root, &tag_handles(document), out);
    out.push_str(if document.end_marker().is_some() { "-DOC ...\n" } else { "-DOC\n" });
}

fn write_node(node: NodeRef<'_>, handles: &[(&str, &str)], out: &mut String) {
    let brackets = |open: &'static str| {
        if node.collection_style() == CollectionStyle::Block { "" } else { open }
    };
    match node.kind() {
        NodeKind::Mapping => write_collection(node, "MAP", brackets(" {}"), handles, out),
        NodeKind::Sequence => write_collection(node, "SEQ", brackets(" []"), handles, out),
        NodeKind::Alias => {
            out.push_str("=ALI ");
            out.push_str(node.text());
            out.push('\n');
        }
        NodeKind::Scalar(style) => {
            out.push_str("=VAL");
            write_properties(node, handles, out);
            out.push_str(match style {
                ScalarStyle::Plain => " :",
                ScalarStyle::SingleQuoted => " '",
                ScalarStyle::DoubleQuoted => " \"",
                ScalarStyle::Literal => " |",
                ScalarStyle::Folded => " >",
            });
            let value = node.as_scalar().map(|scalar| scalar.value()).unwrap_or_default();
            write_escaped(&value, out);
            out.push('\n');
        }
    }
}

fn write_collection(
    node: NodeRef<'_>,
    name: &str,
    brackets: &str,
    handles: &[(&str, &str)],
    out: &mut String,
) {
    let _ = write!(out, "+{name}{brackets}");
    write_properties(node, handles, out);
    out.push('\n');
    for child in node.children() {
        write_node(child, handles, out);
    }
    let _ = writeln!(out, "-{name}");
}

fn write_properties(node: NodeRef<'_>, handles: &[(&str, &str)], out: &mut String) {
    if let Some(anchor) = node.anchor() {
        let _ = write!(out, " &{anchor}");
    }
    if let Some(tag) = node.tag() {
        let _ = write!(out, " <{}>", expand_tag(tag, handles));
    }
}

/// The `%TAG` handles of a document with their prefixes.
fn tag_handles(document: DocumentRef<'_>) -> Vec<(&str, &str)> {
    let tags = document.directives().into_iter().filter_map(|line| {
        let mut parts = line.strip_prefix("%TAG")?.split_whitespace();
        Some((parts.next()?, parts.next()?))
    });
    tags.collect()
}

fn expand_tag(tag: &str, handles: &[(&str, &str)]) -> String {
    if let Some(verbatim) = tag.strip_prefix("!<") {
        return verbatim.trim_end_matches('>').to_owned();
    }
    let split = tag[1..].find('!').map_or(1, |at| at + 2);
    let (handle, suffix) = tag.split_at(split);
    let prefix = handles.iter().find(|(name, _)| *name == handle).map(|(_, prefix)| *prefix);
    let prefix = prefix.unwrap_or(if handle == "!!" { "tag:yaml.org,2002:" } else { handle });
    format!("{prefix}{}", percent_decode(suffix))
}

fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match (first, code.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn write_escaped(value: &str, out: &mut String) {
    for c in value.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\0' => out.push_str("\\0"),
            '\x08' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            other => out.push(other),
        }
    }
}
